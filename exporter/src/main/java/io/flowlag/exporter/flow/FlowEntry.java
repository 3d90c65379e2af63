package io.flowlag.exporter.flow;

import io.flowlag.common.memory.OffHeapBuffer;
import io.flowlag.exporter.decode.FlowKeyLayout;
import io.flowlag.exporter.decode.PacketDescriptor;
import org.agrona.DirectBuffer;
import org.agrona.MutableDirectBuffer;

import java.net.Inet6Address;
import java.net.InetAddress;
import java.net.UnknownHostException;
import java.nio.ByteBuffer;

/**
 * The layout of a flow in the cache, and of a finished flow on its way to the exporting stage (the same octets, copied). Two
 * cache lines: the key, and the counters; behind them the octets that other stages reserve for their own state per flow.
 * <pre>
 *   0  key                   48   see {@link FlowKeyLayout}; class of service, VLAN and interface of the first packet, which
 *                                are part of the key when configured; at 39 the end reason, 0 until the flow ends
 *  48  generation             4   changes each time that the slot is given to a new flow
 *  52  keyHashLow             4   with keyHashHigh the keyed hash of the flow key
 *  56  keyHashHigh            4
 *  60  icmpTypeCode           2   of the first packet
 *  62  tcpControlBits         2   of all packets, or-ed
 *  64  packetCount            8
 *  72  octetCount             8   IP octets
 *  80  startNs                8   smallest packet timestamp
 *  88  endNs                  8   largest packet timestamp
 *  96  flowId                 8   unique in the life of the process
 * 104  minimumLengthBytes     4   IP octets of the shortest packet, unsigned
 * 108  maximumLengthBytes     4   of the longest packet
 * 112  minimumTtl             1
 * 113  maximumTtl             1
 * 114  observationPoint       1   packet source of the first packet
 * 115  additions              1   what follows the state of other stages, see {@link FlowAdditions}
 * 116  timerNext              4   links of the timer wheel, slot numbers
 * 120  timerPrevious          4
 * 124  timerBucket            4
 * 128  state of other stages      a multiple of 64 octets, may be none; then the additions
 * </pre>
 * Fields are in the byte order of the machine. Stateless; the thread that owns the memory may call it.
 */
public final class FlowEntry extends FlowKeyLayout {
    /** Octets before the state of other stages. */
    public static final int BASE_LENGTH_BYTES = 128;

    /** TCP FIN or RST was seen: the flow ends after a short wait for stragglers. */
    public static final int FLAG_TCP_ENDED = 1 << 1;
    /** The slot holds a flow. */
    public static final int FLAG_LIVE = 1 << 2;
    /** The packets of the flow are of another segment now: it ends before its next packet. */
    public static final int FLAG_MOVED = 1 << 3;

    private static final int END_REASON_OFFSET = OWN_OFFSET;
    private static final int GENERATION_OFFSET = KEY_LENGTH_BYTES;
    private static final int KEY_HASH_LOW_OFFSET = GENERATION_OFFSET + 4;
    private static final int KEY_HASH_HIGH_OFFSET = KEY_HASH_LOW_OFFSET + 4;
    private static final int ICMP_TYPE_CODE_OFFSET = KEY_HASH_HIGH_OFFSET + 4;
    private static final int TCP_CONTROL_BITS_OFFSET = ICMP_TYPE_CODE_OFFSET + 2;
    private static final int PACKET_COUNT_OFFSET = TCP_CONTROL_BITS_OFFSET + 2;
    private static final int OCTET_COUNT_OFFSET = PACKET_COUNT_OFFSET + 8;
    private static final int START_NS_OFFSET = OCTET_COUNT_OFFSET + 8;
    private static final int END_NS_OFFSET = START_NS_OFFSET + 8;
    private static final int FLOW_ID_OFFSET = END_NS_OFFSET + 8;
    private static final int MINIMUM_LENGTH_OFFSET = FLOW_ID_OFFSET + 8;
    private static final int MAXIMUM_LENGTH_OFFSET = MINIMUM_LENGTH_OFFSET + 4;
    private static final int MINIMUM_TTL_OFFSET = MAXIMUM_LENGTH_OFFSET + 4;
    private static final int MAXIMUM_TTL_OFFSET = MINIMUM_TTL_OFFSET + 1;
    private static final int OBSERVATION_POINT_OFFSET = MAXIMUM_TTL_OFFSET + 1;
    private static final int ADDITIONS_OFFSET = OBSERVATION_POINT_OFFSET + 1;
    private static final int TIMER_NEXT_OFFSET = ADDITIONS_OFFSET + 1;
    private static final int TIMER_PREVIOUS_OFFSET = TIMER_NEXT_OFFSET + 4;
    private static final int TIMER_BUCKET_OFFSET = TIMER_PREVIOUS_OFFSET + 4;

    private FlowEntry() {
    }

    /**
     * Copies the observations of a flow from another entry: everything but the place in the cache (generation, hash, timer).
     * The copy is of a flow that has not ended.
     */
    static void copySeen(
        final MutableDirectBuffer buffer, final int offset, final DirectBuffer source, final int sourceOffset) {
        final int seenOffset = ICMP_TYPE_CODE_OFFSET;
        buffer.putBytes(offset, source, sourceOffset, GENERATION_OFFSET);
        buffer.putBytes(offset + seenOffset, source, sourceOffset + seenOffset, TIMER_NEXT_OFFSET - seenOffset);
        endReason(buffer, offset, 0);
        flags(buffer, offset, flags(source, sourceOffset) & ~FLAG_MOVED | FLAG_LIVE);
    }

    /** Begins a flow with its first packet, which is not counted yet; id and additions are the cache's. */
    static void begin(final OffHeapBuffer buffer, final int offset, final DirectBuffer descriptor, final int descriptorOffset) {
        buffer.putBytes(offset, descriptor, descriptorOffset, KEY_LENGTH_BYTES);
        endReason(buffer, offset, 0);
        icmpTypeCode(buffer, offset, PacketDescriptor.icmpTypeCode(descriptor, descriptorOffset));
        observationPoint(buffer, offset, PacketDescriptor.observationPoint(descriptor, descriptorOffset));
        final int flags = PacketDescriptor.flags(descriptor, descriptorOffset);
        final boolean hasVlan = (flags & PacketDescriptor.FLAG_VLAN) != 0;
        vlanId(buffer, offset, hasVlan ? PacketDescriptor.vlanId(descriptor, descriptorOffset) : 0);
        flags(buffer, offset, FLAG_LIVE | flags & (FLAG_VLAN | FLAG_LEAVING));

        tcpControlBits(buffer, offset, 0);
        packetCount(buffer, offset, 0);
        octetCount(buffer, offset, 0);
        startNs(buffer, offset, PacketDescriptor.timestampNs(descriptor, descriptorOffset));
        endNs(buffer, offset, PacketDescriptor.timestampNs(descriptor, descriptorOffset));
        minimumLengthBytes(buffer, offset, -1);
        maximumLengthBytes(buffer, offset, 0);
        minimumTtl(buffer, offset, 0xFF);
        maximumTtl(buffer, offset, 0);
    }

    /** Counts a packet of the flow. */
    static void count(final OffHeapBuffer buffer, final int offset, final DirectBuffer descriptor, final int descriptorOffset) {
        final long timestampNs = PacketDescriptor.timestampNs(descriptor, descriptorOffset);
        final int lengthBytes = PacketDescriptor.ipLengthBytes(descriptor, descriptorOffset);
        final int ttl = PacketDescriptor.ttl(descriptor, descriptorOffset);
        final int packets = PacketDescriptor.segmentCount(descriptor, descriptorOffset);
        packetCount(buffer, offset, packetCount(buffer, offset) + packets);
        octetCount(buffer, offset, octetCount(buffer, offset) + (lengthBytes & 0xFFFF_FFFFL));
        tcpControlBits(
            buffer, offset, tcpControlBits(buffer, offset) | PacketDescriptor.tcpControlBits(descriptor, descriptorOffset));
        if (timestampNs > endNs(buffer, offset)) {
            endNs(buffer, offset, timestampNs);
        } else if (timestampNs < startNs(buffer, offset)) {
            startNs(buffer, offset, timestampNs);
        }
        if (Integer.compareUnsigned(lengthBytes, minimumLengthBytes(buffer, offset)) < 0) {
            minimumLengthBytes(buffer, offset, lengthBytes);
        }
        if (Integer.compareUnsigned(lengthBytes, maximumLengthBytes(buffer, offset)) > 0) {
            maximumLengthBytes(buffer, offset, lengthBytes);
        }
        if (ttl < minimumTtl(buffer, offset)) {
            minimumTtl(buffer, offset, ttl);
        }
        if (ttl > maximumTtl(buffer, offset)) {
            maximumTtl(buffer, offset, ttl);
        }
    }

    /** Whether the first packet of a flow came before that of another. */
    static boolean isBefore(final DirectBuffer buffer, final int offset, final int otherOffset) {
        final int order = Long.compare(startNs(buffer, offset), startNs(buffer, otherOffset));
        return order < 0 || order == 0 && flowId(buffer, offset) < flowId(buffer, otherOffset);
    }

    /** {@return the address of the source as text; allocates} */
    public static String sourceText(final DirectBuffer buffer, final int offset) {
        return text(ipVersion(buffer, offset), sourceHigh(buffer, offset), sourceLow(buffer, offset));
    }

    /** {@return the address of the destination as text; allocates} */
    public static String destinationText(final DirectBuffer buffer, final int offset) {
        return text(ipVersion(buffer, offset), destinationHigh(buffer, offset), destinationLow(buffer, offset));
    }

    private static String text(final int ipVersion, final long high, final long low) {
        try {
            final InetAddress address = ipVersion == 6 ?
                Inet6Address.getByAddress(null, ByteBuffer.allocate(2 * Long.BYTES).putLong(high).putLong(low).array(), -1) :
                InetAddress.getByAddress(ByteBuffer.allocate(Integer.BYTES).putInt((int)low).array());
            return address.getHostAddress();
        } catch (final UnknownHostException ex) {
            throw new IllegalStateException(ex);
        }
    }

    /** Reads the value of flowEndReason. */
    public static int endReason(final DirectBuffer buffer, final int offset) {
        return buffer.getByte(offset + END_REASON_OFFSET) & 0xFF;
    }

    public static void endReason(final MutableDirectBuffer buffer, final int offset, final int value) {
        buffer.putByte(offset + END_REASON_OFFSET, (byte)value);
    }

    public static int generation(final DirectBuffer buffer, final int offset) {
        return buffer.getInt(offset + GENERATION_OFFSET);
    }

    public static void generation(final MutableDirectBuffer buffer, final int offset, final int value) {
        buffer.putInt(offset + GENERATION_OFFSET, value);
    }

    /** Writes the low half of the hash of the key. */
    public static void keyHashLow(final MutableDirectBuffer buffer, final int offset, final int value) {
        buffer.putInt(offset + KEY_HASH_LOW_OFFSET, value);
    }

    /** Reads the high half of the hash of the key. */
    public static int keyHashHigh(final DirectBuffer buffer, final int offset) {
        return buffer.getInt(offset + KEY_HASH_HIGH_OFFSET);
    }

    public static void keyHashHigh(final MutableDirectBuffer buffer, final int offset, final int value) {
        buffer.putInt(offset + KEY_HASH_HIGH_OFFSET, value);
    }

    /** Reads the type * 256 + code of the first packet. */
    public static int icmpTypeCode(final DirectBuffer buffer, final int offset) {
        return buffer.getShort(offset + ICMP_TYPE_CODE_OFFSET) & 0xFFFF;
    }

    public static void icmpTypeCode(final MutableDirectBuffer buffer, final int offset, final int value) {
        buffer.putShort(offset + ICMP_TYPE_CODE_OFFSET, (short)value);
    }

    /** Reads the TCP flags of all packets. */
    public static int tcpControlBits(final DirectBuffer buffer, final int offset) {
        return buffer.getShort(offset + TCP_CONTROL_BITS_OFFSET) & 0xFFFF;
    }

    public static void tcpControlBits(final MutableDirectBuffer buffer, final int offset, final int value) {
        buffer.putShort(offset + TCP_CONTROL_BITS_OFFSET, (short)value);
    }

    public static long packetCount(final DirectBuffer buffer, final int offset) {
        return buffer.getLong(offset + PACKET_COUNT_OFFSET);
    }

    public static void packetCount(final MutableDirectBuffer buffer, final int offset, final long value) {
        buffer.putLong(offset + PACKET_COUNT_OFFSET, value);
    }

    /** Reads the IP octets. */
    public static long octetCount(final DirectBuffer buffer, final int offset) {
        return buffer.getLong(offset + OCTET_COUNT_OFFSET);
    }

    public static void octetCount(final MutableDirectBuffer buffer, final int offset, final long value) {
        buffer.putLong(offset + OCTET_COUNT_OFFSET, value);
    }

    /** Reads the smallest packet timestamp, UNIX epoch, ns. */
    public static long startNs(final DirectBuffer buffer, final int offset) {
        return buffer.getLong(offset + START_NS_OFFSET);
    }

    public static void startNs(final MutableDirectBuffer buffer, final int offset, final long value) {
        buffer.putLong(offset + START_NS_OFFSET, value);
    }

    /** Reads the largest packet timestamp, UNIX epoch, ns. */
    public static long endNs(final DirectBuffer buffer, final int offset) {
        return buffer.getLong(offset + END_NS_OFFSET);
    }

    public static void endNs(final MutableDirectBuffer buffer, final int offset, final long value) {
        buffer.putLong(offset + END_NS_OFFSET, value);
    }

    /** Reads the number unique in the life of the process. */
    public static long flowId(final DirectBuffer buffer, final int offset) {
        return buffer.getLong(offset + FLOW_ID_OFFSET);
    }

    public static void flowId(final MutableDirectBuffer buffer, final int offset, final long value) {
        buffer.putLong(offset + FLOW_ID_OFFSET, value);
    }

    /** Reads the IP octets of the shortest packet. */
    public static int minimumLengthBytes(final DirectBuffer buffer, final int offset) {
        return buffer.getInt(offset + MINIMUM_LENGTH_OFFSET);
    }

    public static void minimumLengthBytes(final MutableDirectBuffer buffer, final int offset, final int value) {
        buffer.putInt(offset + MINIMUM_LENGTH_OFFSET, value);
    }

    /** Reads the IP octets of the longest packet. */
    public static int maximumLengthBytes(final DirectBuffer buffer, final int offset) {
        return buffer.getInt(offset + MAXIMUM_LENGTH_OFFSET);
    }

    public static void maximumLengthBytes(final MutableDirectBuffer buffer, final int offset, final int value) {
        buffer.putInt(offset + MAXIMUM_LENGTH_OFFSET, value);
    }

    /** Reads the smallest TTL or hop limit. */
    public static int minimumTtl(final DirectBuffer buffer, final int offset) {
        return buffer.getByte(offset + MINIMUM_TTL_OFFSET) & 0xFF;
    }

    public static void minimumTtl(final MutableDirectBuffer buffer, final int offset, final int value) {
        buffer.putByte(offset + MINIMUM_TTL_OFFSET, (byte)value);
    }

    /** Reads the largest TTL or hop limit. */
    public static int maximumTtl(final DirectBuffer buffer, final int offset) {
        return buffer.getByte(offset + MAXIMUM_TTL_OFFSET) & 0xFF;
    }

    public static void maximumTtl(final MutableDirectBuffer buffer, final int offset, final int value) {
        buffer.putByte(offset + MAXIMUM_TTL_OFFSET, (byte)value);
    }

    /** Reads the packet source of the first packet. */
    public static int observationPoint(final DirectBuffer buffer, final int offset) {
        return buffer.getByte(offset + OBSERVATION_POINT_OFFSET) & 0xFF;
    }

    public static void observationPoint(final MutableDirectBuffer buffer, final int offset, final int value) {
        buffer.putByte(offset + OBSERVATION_POINT_OFFSET, (byte)value);
    }

    /** Reads what follows the state of other stages. */
    public static int additions(final DirectBuffer buffer, final int offset) {
        return buffer.getByte(offset + ADDITIONS_OFFSET);
    }

    /** Sets what follows the state of other stages, see {@link FlowAdditions}. */
    public static void additions(final MutableDirectBuffer buffer, final int offset, final int value) {
        buffer.putByte(offset + ADDITIONS_OFFSET, (byte)value);
    }

    /** Reads the next slot in the timer's bucket, or -1. */
    public static int timerNext(final DirectBuffer buffer, final int offset) {
        return buffer.getInt(offset + TIMER_NEXT_OFFSET);
    }

    public static void timerNext(final MutableDirectBuffer buffer, final int offset, final int value) {
        buffer.putInt(offset + TIMER_NEXT_OFFSET, value);
    }

    /** Reads the previous slot in the timer's bucket, or -1. */
    public static int timerPrevious(final DirectBuffer buffer, final int offset) {
        return buffer.getInt(offset + TIMER_PREVIOUS_OFFSET);
    }

    public static void timerPrevious(final MutableDirectBuffer buffer, final int offset, final int value) {
        buffer.putInt(offset + TIMER_PREVIOUS_OFFSET, value);
    }

    /** Reads the timer bucket, or -1. */
    public static int timerBucket(final DirectBuffer buffer, final int offset) {
        return buffer.getInt(offset + TIMER_BUCKET_OFFSET);
    }

    public static void timerBucket(final MutableDirectBuffer buffer, final int offset, final int value) {
        buffer.putInt(offset + TIMER_BUCKET_OFFSET, value);
    }

    /** {@return whether an entry is half of a biflow} */
    public static boolean isOfBiflow(final DirectBuffer entry, final int offset) {
        return (additions(entry, offset) & FlowAdditions.REVERSE) != 0;
    }

    /** {@return the octets of the first entry of a record: all of them, or half of a biflow's} */
    public static int entryLengthBytes(final DirectBuffer record, final int offset, final int lengthBytes) {
        return isOfBiflow(record, offset) ? lengthBytes / 2 : lengthBytes;
    }

    /** {@return the packets of a record, of both directions} */
    public static long recordPacketCount(final DirectBuffer record, final int offset, final int lengthBytes) {
        return packetCount(record, offset) + (isOfBiflow(record, offset) ?
            packetCount(record, offset + lengthBytes / 2) : 0);
    }

    /** {@return the IP octets of a record, of both directions} */
    public static long recordOctetCount(final DirectBuffer record, final int offset, final int lengthBytes) {
        return octetCount(record, offset) + (isOfBiflow(record, offset) ?
            octetCount(record, offset + lengthBytes / 2) : 0);
    }
}
