package io.flowlag.exporter.decode;

import io.flowlag.common.hash.SipHash;
import io.flowlag.common.memory.OffHeapBuffer;
import org.agrona.DirectBuffer;

import java.nio.ByteOrder;

/**
 * The hash of a flow's addresses, protocol and ports, the same at both measurement points: SipHash-2-4 of a canonical form.
 * <pre>
 *   0  16 + version          1   20 or 22
 *   1  protocol              1
 *   2  0                     2
 *   4  source port           2   0 in a fragment
 *   6  destination port      2   0 in a fragment
 *   8  source           4 | 16
 *      destination      4 | 16
 * </pre>
 * All fields are big-endian. One thread. Allocates at construction.
 */
public final class SegmentFlowHash {
    private static final int TAG = 16;
    private static final int PROTOCOL_OFFSET = 1;
    private static final int SOURCE_PORT_OFFSET = PROTOCOL_OFFSET + 3;
    private static final int DESTINATION_PORT_OFFSET = SOURCE_PORT_OFFSET + 2;
    private static final int ADDRESSES_OFFSET = DESTINATION_PORT_OFFSET + 2;
    private static final int MAX_LENGTH_BYTES = ADDRESSES_OFFSET + 32;

    private final OffHeapBuffer canonical = OffHeapBuffer.allocate(MAX_LENGTH_BYTES + 8);
    private final SipHash hash;

    public SegmentFlowHash(final SipHash hash) {
        this.hash = hash;
    }

    /**
     * Begins with a flow, for {@link #hash(long, long, long, long)}.
     *
     * @param ipVersion       4 or 6.
     * @param sourcePort      0 for fragments.
     * @param destinationPort 0 for fragments.
     */
    public SegmentFlowHash flow(final int ipVersion, final int protocol, final int sourcePort, final int destinationPort) {
        canonical.putByte(0, (byte)(TAG + ipVersion));
        canonical.putByte(PROTOCOL_OFFSET, (byte)protocol);
        canonical.putShort(SOURCE_PORT_OFFSET, (short)sourcePort, ByteOrder.BIG_ENDIAN);
        canonical.putShort(DESTINATION_PORT_OFFSET, (short)destinationPort, ByteOrder.BIG_ENDIAN);
        return this;
    }

    /**
     * Hashes the flow of the last call of {@link #flow}.
     *
     * @param sourceHigh first 8 octets of the address as a big-endian number; not used for IPv4.
     * @param sourceLow  last 8 octets; for IPv4 the address.
     * @return 64 bits.
     */
    public long hash(
        final long sourceHigh, final long sourceLow, final long destinationHigh, final long destinationLow) {
        if (canonical.getByte(0) == TAG + 4) {
            canonical.putInt(ADDRESSES_OFFSET, (int)sourceLow, ByteOrder.BIG_ENDIAN);
            canonical.putInt(ADDRESSES_OFFSET + 4, (int)destinationLow, ByteOrder.BIG_ENDIAN);
            return hash.hash(canonical, 0, ADDRESSES_OFFSET + 8);
        }
        canonical.putLong(ADDRESSES_OFFSET, sourceHigh, ByteOrder.BIG_ENDIAN);
        canonical.putLong(ADDRESSES_OFFSET + 8, sourceLow, ByteOrder.BIG_ENDIAN);
        canonical.putLong(ADDRESSES_OFFSET + 16, destinationHigh, ByteOrder.BIG_ENDIAN);
        canonical.putLong(ADDRESSES_OFFSET + 24, destinationLow, ByteOrder.BIG_ENDIAN);
        return hash.hash(canonical, 0, MAX_LENGTH_BYTES);
    }

    /** Hashes the flow of a packet whose hash was skipped, see {@link PacketDescriptor#FLAG_FLOW_HASH_LEFT}. Returns 64 bits. */
    public long hash(final DirectBuffer descriptor, final int offset) {
        final boolean isFragment = (PacketDescriptor.flags(descriptor, offset) & PacketDescriptor.FLAG_FRAGMENT) != 0;
        return flow(
            PacketDescriptor.ipVersion(descriptor, offset), PacketDescriptor.protocol(descriptor, offset),
            isFragment ? 0 : PacketDescriptor.sourcePort(descriptor, offset),
            isFragment ? 0 : PacketDescriptor.destinationPort(descriptor, offset)).hash(
            PacketDescriptor.sourceHigh(descriptor, offset), PacketDescriptor.sourceLow(descriptor, offset),
            PacketDescriptor.destinationHigh(descriptor, offset), PacketDescriptor.destinationLow(descriptor, offset));
    }

    /**
     * The first eight octets of the canonical form of an unfragmented TCP or UDP packet in IPv4; the others are the addresses.
     *
     * @param protocol TCP or UDP.
     * @param ports    source and destination, their octets as a little-endian number.
     * @return the octets as a little-endian number.
     */
    static long plainWord(final int protocol, final int ports) {
        return TAG + 4 | (long)protocol << 8 * PROTOCOL_OFFSET | (long)ports << 8 * SOURCE_PORT_OFFSET;
    }
}
