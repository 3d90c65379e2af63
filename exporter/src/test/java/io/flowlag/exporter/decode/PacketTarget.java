package io.flowlag.exporter.decode;

import io.flowlag.common.hash.SipHash;
import io.flowlag.common.memory.CheckedBuffer;
import io.flowlag.exporter.capture.CaptureException;
import io.flowlag.exporter.capture.CapturedPacket;
import io.flowlag.exporter.capture.FilterSupplier;
import io.flowlag.exporter.capture.LinkType;
import io.flowlag.exporter.capture.PacketHandler;
import io.flowlag.exporter.capture.PacketSource;
import io.flowlag.exporter.capture.file.CaptureFiles;
import io.flowlag.exporter.fuzz.Corpus;
import io.flowlag.exporter.fuzz.FuzzTarget;
import io.flowlag.exporter.fuzz.GuardedMemory;
import io.flowlag.exporter.fuzz.RealCaptures;
import io.flowlag.exporter.status.CounterId;
import io.flowlag.exporter.status.Counters;
import org.agrona.concurrent.UnsafeBuffer;

import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;

import static org.junit.jupiter.api.Assertions.assertEquals;

/**
 * The decoder, with every option on. An input is a link type (2 octets), whether a VLAN tag was removed (1), how much longer
 * the packet was on the wire (1, times 64), and the captured octets, behind which nothing may be read.
 */
public final class PacketTarget implements FuzzTarget {
    private static final int PREFIX_BYTES = 4;
    private static final int MAX_BYTES = 768;
    private static final int PACKETS_OF_EACH_CAPTURE = 12;
    private static final int WIRE_UNIT_BYTES = 64;
    private static final int VLAN_TAG = 0x8100 << 16 | 42;
    private static final int FRAGMENT_TABLE_ENTRIES = 64;

    private final Counters counters = new Counters();
    private final PacketDecoder decoder = new PacketDecoder(new PacketDecoder.Context().innerTunnels(true).jumboLengths(true)
        .digest(new SipHash(1, 2)).fragmentTableEntries(FRAGMENT_TABLE_ENTRIES), counters);
    private final GuardedMemory memory = new GuardedMemory(MAX_BYTES);
    private final CheckedBuffer packet = new CheckedBuffer(0, 0);
    private final Input captured = new Input(packet);
    private final UnsafeBuffer descriptor = new UnsafeBuffer(new byte[PacketDescriptor.LENGTH_BYTES]);
    private long timestampNs = 1_700_000_000_000_000_000L;

    /** A packet of any link type. */
    private static final class Input extends CapturedPacket {
        private Input(final UnsafeBuffer octets) {
            super(octets, LinkType.RAW, 1);
        }

        private Input linkType(final int value) {
            linkType = value;
            return this;
        }
    }

    /** A target. */
    public PacketTarget() {
    }

    @Override
    public List<byte[]> seeds() {
        final List<byte[]> seeds = new ArrayList<>(Corpus.of("decoder"));
        HostilePacketTest.goodPackets().forEach((each) -> {
            seeds.add(input(LinkType.RAW, each));
            seeds.add(input(LinkType.ETHERNET, Frames.ethernet(each[0] >> 4 == 4 ? 0x0800 : 0x86DD, each)));
        });
        RealCaptures.files().forEach((each) -> addPackets(each, seeds));
        return seeds;
    }

    private static void addPackets(final Path capture, final List<byte[]> seeds) {
        final PacketHandler handler = captured -> {
            final byte[] octets = new byte[Math.min(captured.capturedLengthBytes(), MAX_BYTES - PREFIX_BYTES)];
            captured.buffer().getBytes(captured.offset(), octets);
            seeds.add(input(captured.linkType(), octets));
        };
        try (PacketSource source = CaptureFiles.open(List.of(capture.toString()), FilterSupplier.ALL)) {
            source.poll(handler, PACKETS_OF_EACH_CAPTURE);
        } catch (final CaptureException ex) {
            // An unreadable link type; the target of capture files covers these.
            return;
        }
    }

    private static byte[] input(final int linkType, final byte[] octets) {
        final byte[] input = new byte[PREFIX_BYTES + octets.length];
        input[0] = (byte)(linkType >> 8);
        input[1] = (byte)linkType;
        System.arraycopy(octets, 0, input, PREFIX_BYTES, octets.length);
        return input;
    }

    @Override
    public long take(final byte[] octets, final int length) {
        if (length < PREFIX_BYTES) {
            return 0;
        }
        final int linkType = (octets[0] & 0xFF) << 8 | octets[1] & 0xFF;
        final int vlanTag = (octets[2] & 1) == 0 ? CapturedPacket.NO_VLAN_TAG : VLAN_TAG;
        final int capturedBytes = length - PREFIX_BYTES;
        memory.wrap(packet, octets, PREFIX_BYTES, capturedBytes);
        counters.increment(CounterId.CAPTURED);
        captured.linkType(linkType).set(0, capturedBytes, capturedBytes + WIRE_UNIT_BYTES * (octets[3] & 0xFF), ++timestampNs);
        captured.vlanTag(vlanTag);
        final int result = decoder.decode(captured, descriptor, 0);
        final CounterId counter = CounterId.of(result);
        counters.increment(counter);
        if (result != PacketDecoder.DECODED) {
            if (!counter.isRefusal()) {
                throw new AssertionError(counter + " is no answer");
            }
            return (long)result << 32 | linkType;
        }
        final int payloadBytes = decoder.udpPayloadLengthBytes();
        if (payloadBytes > 0) {
            packet.boundsCheck(decoder.udpPayloadOffset(), payloadBytes);
        }
        final int version = PacketDescriptor.ipVersion(descriptor, 0);
        if (version != 4 && version != 6) {
            throw new AssertionError("IP version " + version);
        }
        return (long)linkType << 48 ^ (long)PacketDescriptor.flags(descriptor, 0) << 32
            ^ (long)PacketDescriptor.protocol(descriptor, 0) << 16 ^ version;
    }

    @Override
    public void check() {
        assertEquals(counters.get(CounterId.CAPTURED), counters.get(CounterId.DECODED) + counters.refused());
    }

    @Override
    public int maxInputBytes() {
        return MAX_BYTES;
    }

    @Override
    public long allocationBoundBytes() {
        return 0;
    }
}
