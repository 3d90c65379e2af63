package io.flowlag.exporter.decode;

import io.flowlag.common.memory.CheckedBuffer;
import io.flowlag.exporter.capture.CapturedPacket;
import io.flowlag.exporter.capture.LinkType;
import io.flowlag.exporter.fuzz.GuardedMemory;
import io.flowlag.exporter.status.CounterId;
import io.flowlag.exporter.status.Counters;
import org.agrona.concurrent.UnsafeBuffer;

import static org.junit.jupiter.api.Assertions.assertEquals;

/** A decoder with its counters and one descriptor, given frames as captured octets behind which nothing can be read. */
final class Decoding {
    static final long TIMESTAMP_NS = 1_700_000_000_123_456_789L;
    static final int INTERFACE_ID = 42;

    final Counters counters = new Counters();
    final UnsafeBuffer descriptor = new UnsafeBuffer(new byte[PacketDescriptor.LENGTH_BYTES]);
    long timestampNs = TIMESTAMP_NS;
    int vlanTag = CapturedPacket.NO_VLAN_TAG;

    private static final GuardedMemory MEMORY = new GuardedMemory(1 << 18);

    private final CheckedBuffer octets = new CheckedBuffer(0, 0);
    private final PacketDecoder decoder;

    Decoding(final PacketDecoder.Context context) {
        decoder = new PacketDecoder(context, counters);
    }

    Decoding() {
        this(new PacketDecoder.Context());
    }

    CounterId result(final int linkType, final byte[] captured, final int wireLengthBytes) {
        MEMORY.wrap(octets, captured, 0, captured.length);
        final CapturedPacket packet = new CapturedPacket(octets, linkType, INTERFACE_ID)
            .set(0, captured.length, wireLengthBytes, timestampNs);
        packet.vlanTag(vlanTag);
        return CounterId.of(decoder.decode(packet, descriptor, 0));
    }

    CounterId result(final int linkType, final byte[] captured) {
        return result(linkType, captured, captured.length);
    }

    /** Decodes a valid frame to its flow key as text. */
    String decode(final int linkType, final byte[] captured, final int wireLengthBytes) {
        assertEquals(CounterId.DECODED, result(linkType, captured, wireLengthBytes));
        return DecodedFlows.key(descriptor);
    }

    String decode(final int linkType, final byte[] captured) {
        return decode(linkType, captured, captured.length);
    }

    String ethernet(final byte[] captured) {
        return decode(LinkType.ETHERNET, captured);
    }

    String ip(final byte[] captured) {
        return decode(LinkType.RAW, captured);
    }

    CounterId ipResult(final byte[] captured) {
        return result(LinkType.RAW, captured);
    }

    boolean hasFlag(final int flag) {
        return (PacketDescriptor.flags(descriptor, 0) & flag) == flag;
    }

    long count(final CounterId id) {
        return counters.get(id);
    }
}
