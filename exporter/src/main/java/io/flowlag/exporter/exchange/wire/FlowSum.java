package io.flowlag.exporter.exchange.wire;

import org.agrona.DirectBuffer;
import org.agrona.MutableDirectBuffer;
import org.agrona.concurrent.UnsafeBuffer;

import java.nio.ByteOrder;

import static io.flowlag.exporter.exchange.wire.ExchangeHeader.BYTE_ORDER;

/**
 * What a point saw of one flow in an interval, with the flow's full key: an entry of FLOW_SUMS and WITNESS. Sums are modulo
 * 2^64, as in a sketch's cell. One layout, in memory and on the wire.
 * <pre>
 *   0  family          1   4 or 6
 *   1  protocol        1
 *   2  sourcePort      2   0 for fragments
 *   4  destinationPort 2
 *   6  classIndex      2   traffic class of the flow's first packet at the point, 0-63
 *   8  source         16   IPv4: the first 4 octets, the others 0
 *  24  destination    16
 *  40  packets         8   1 to {@link #MAX_PACKETS}
 *  48  timestampSumNs  8   sum of (timestamp - interval's start)
 *  56  digestSum       8   sum of packet digests
 *  64  bytes           8   0 to {@link #MAX_BYTES}
 * </pre>
 * One thread at a time; it owns no memory; allocates at construction.
 */
public final class FlowSum {
    /** Octets of a flow's sums. */
    public static final int LENGTH_BYTES = 72;
    /** 38 million a second in the longest interval, an hour. All flows that fit a list have less than 2^62. */
    public static final long MAX_PACKETS = 1L << 37;
    /** Each of the most packets as long as one can be. */
    public static final long MAX_BYTES = MAX_PACKETS << 17;

    private static final int FAMILY_OFFSET = 0;
    private static final int PROTOCOL_OFFSET = FAMILY_OFFSET + 1;
    private static final int SOURCE_PORT_OFFSET = PROTOCOL_OFFSET + 1;
    private static final int DESTINATION_PORT_OFFSET = SOURCE_PORT_OFFSET + 2;
    private static final int CLASS_INDEX_OFFSET = DESTINATION_PORT_OFFSET + 2;
    private static final int SOURCE_OFFSET = CLASS_INDEX_OFFSET + 2;
    private static final int DESTINATION_OFFSET = SOURCE_OFFSET + 16;
    private static final int PACKETS_OFFSET = DESTINATION_OFFSET + 16;
    private static final int TIMESTAMP_SUM_OFFSET = PACKETS_OFFSET + 8;
    private static final int DIGEST_SUM_OFFSET = TIMESTAMP_SUM_OFFSET + 8;
    private static final int BYTES_OFFSET = DIGEST_SUM_OFFSET + 8;

    private final UnsafeBuffer entry = new UnsafeBuffer(0, 0);

    /**
     * Writes the sums of a flow.
     *
     * @param offset          of the {@link #LENGTH_BYTES} octets.
     * @param source          4 or 16 octets.
     * @param destination     as many.
     * @param protocol        number of the transport protocol.
     * @param sourcePort      0 for fragments.
     * @param destinationPort 0 for fragments.
     * @param packets         at least 1.
     * @param timestampSumNs  sum of timestamps since the interval's start, modulo 2^64.
     * @param digestSum       sum of packet digests, modulo 2^64.
     * @param bytes           octets of the packets.
     */
    public static void encode(
        final MutableDirectBuffer buffer,
        final int offset,
        final byte[] source,
        final byte[] destination,
        final int protocol,
        final int sourcePort,
        final int destinationPort,
        final long packets,
        final long timestampSumNs,
        final long digestSum,
        final long bytes) {
        buffer.setMemory(offset, LENGTH_BYTES, (byte)0);
        buffer.putByte(offset + FAMILY_OFFSET, (byte)(source.length == 4 ? 4 : 6));
        buffer.putByte(offset + PROTOCOL_OFFSET, (byte)protocol);
        buffer.putShort(offset + SOURCE_PORT_OFFSET, (short)sourcePort, BYTE_ORDER);
        buffer.putShort(offset + DESTINATION_PORT_OFFSET, (short)destinationPort, BYTE_ORDER);
        buffer.putBytes(offset + SOURCE_OFFSET, source);
        buffer.putBytes(offset + DESTINATION_OFFSET, destination);
        buffer.putLong(offset + PACKETS_OFFSET, packets, BYTE_ORDER);
        buffer.putLong(offset + TIMESTAMP_SUM_OFFSET, timestampSumNs, BYTE_ORDER);
        buffer.putLong(offset + DIGEST_SUM_OFFSET, digestSum, BYTE_ORDER);
        buffer.putLong(offset + BYTES_OFFSET, bytes, BYTE_ORDER);
    }

    /**
     * Writes the sums of a flow whose addresses are numbers.
     *
     * @param offset          of the {@link #LENGTH_BYTES} octets.
     * @param family          4 or 6.
     * @param sourceHigh      first 8 octets of the address as a big-endian number; not used for IPv4.
     * @param sourceLow       last 8 octets; for IPv4 the address.
     * @param protocol        number of the transport protocol.
     * @param sourcePort      0 for fragments.
     * @param destinationPort 0 for fragments.
     */
    public static void encodeKey(
        final MutableDirectBuffer buffer,
        final int offset,
        final int family,
        final long sourceHigh,
        final long sourceLow,
        final long destinationHigh,
        final long destinationLow,
        final int protocol,
        final int sourcePort,
        final int destinationPort) {
        buffer.setMemory(offset, LENGTH_BYTES, (byte)0);
        buffer.putByte(offset + FAMILY_OFFSET, (byte)family);
        buffer.putByte(offset + PROTOCOL_OFFSET, (byte)protocol);
        buffer.putShort(offset + SOURCE_PORT_OFFSET, (short)sourcePort, BYTE_ORDER);
        buffer.putShort(offset + DESTINATION_PORT_OFFSET, (short)destinationPort, BYTE_ORDER);
        encodeAddress(buffer, offset + SOURCE_OFFSET, family, sourceHigh, sourceLow);
        encodeAddress(buffer, offset + DESTINATION_OFFSET, family, destinationHigh, destinationLow);
    }

    private static void encodeAddress(
        final MutableDirectBuffer buffer, final int offset, final int family, final long high, final long low) {
        if (family == 4) {
            buffer.putInt(offset, (int)low, ByteOrder.BIG_ENDIAN);
        } else {
            buffer.putLong(offset, high, ByteOrder.BIG_ENDIAN);
            buffer.putLong(offset + Long.BYTES, low, ByteOrder.BIG_ENDIAN);
        }
    }

    /**
     * Writes the sums of a flow behind its key.
     *
     * @param buffer         has the key.
     * @param offset         of the {@link #LENGTH_BYTES} octets.
     * @param packets        at least 1.
     * @param timestampSumNs sum of timestamps since the interval's start, modulo 2^64.
     * @param digestSum      sum of packet digests, modulo 2^64.
     * @param bytes          octets of the packets.
     */
    public static void encodeSums(
        final MutableDirectBuffer buffer,
        final int offset,
        final long packets,
        final long timestampSumNs,
        final long digestSum,
        final long bytes) {
        buffer.putLong(offset + PACKETS_OFFSET, packets, BYTE_ORDER);
        buffer.putLong(offset + TIMESTAMP_SUM_OFFSET, timestampSumNs, BYTE_ORDER);
        buffer.putLong(offset + DIGEST_SUM_OFFSET, digestSum, BYTE_ORDER);
        buffer.putLong(offset + BYTES_OFFSET, bytes, BYTE_ORDER);
    }

    /**
     * Writes the traffic class of a flow behind its key.
     *
     * @param buffer     has the key.
     * @param offset     of the {@link #LENGTH_BYTES} octets.
     * @param classIndex of the flow's first packet, in the order of the settings.
     */
    public static void encodeClass(final MutableDirectBuffer buffer, final int offset, final int classIndex) {
        buffer.putShort(offset + CLASS_INDEX_OFFSET, (short)classIndex, BYTE_ORDER);
    }

    static ExchangeResult verify(final DirectBuffer buffer, final int offset) {
        final int family = buffer.getByte(offset + FAMILY_OFFSET);
        final int classIndex = buffer.getShort(offset + CLASS_INDEX_OFFSET, BYTE_ORDER);
        if (family != 4 && family != 6 || !isWithin(buffer.getLong(offset + PACKETS_OFFSET, BYTE_ORDER), 1, MAX_PACKETS) ||
            !isWithin(buffer.getLong(offset + BYTES_OFFSET, BYTE_ORDER), 0, MAX_BYTES) || classIndex < 0 ||
            classIndex >= ExchangeSettings.MAX_CLASSES) {
            return ExchangeResult.VALUE;
        }
        final boolean isPadded = family == 6 || MessageFlyweight.isZero(buffer, offset + SOURCE_OFFSET + 4, 12) &&
            MessageFlyweight.isZero(buffer, offset + DESTINATION_OFFSET + 4, 12);
        return isPadded ? ExchangeResult.ACCEPTED : ExchangeResult.RESERVED;
    }

    private static boolean isWithin(final long value, final long least, final long most) {
        return value >= least && value <= most;
    }

    /**
     * Wraps verified sums.
     *
     * @param offset of the first octet.
     */
    public FlowSum wrap(final DirectBuffer buffer, final int offset) {
        entry.wrap(buffer, offset, LENGTH_BYTES);
        return this;
    }

    /** {@return 4 or 6} */
    public int family() {
        return entry.getByte(FAMILY_OFFSET);
    }

    /** {@return the number of the transport protocol} */
    public int protocol() {
        return entry.getByte(PROTOCOL_OFFSET) & 0xff;
    }

    /** {@return the port, 0 for fragments} */
    public int sourcePort() {
        return entry.getShort(SOURCE_PORT_OFFSET, BYTE_ORDER) & 0xffff;
    }

    /** {@return the port, 0 for fragments} */
    public int destinationPort() {
        return entry.getShort(DESTINATION_PORT_OFFSET, BYTE_ORDER) & 0xffff;
    }

    /**
     * Copies the source address.
     *
     * @param target receives 4 or 16 octets, after the family.
     */
    public void source(final byte[] target) {
        entry.getBytes(SOURCE_OFFSET, target, 0, family() == 4 ? 4 : 16);
    }

    /** {@return first 8 octets of the source as a big-endian number; 0 for IPv4} */
    public long sourceHigh() {
        return high(SOURCE_OFFSET);
    }

    /** {@return last 8 octets of the source as a big-endian number; for IPv4 the address} */
    public long sourceLow() {
        return low(SOURCE_OFFSET);
    }

    /** {@return first 8 octets of the destination as a big-endian number; 0 for IPv4} */
    public long destinationHigh() {
        return high(DESTINATION_OFFSET);
    }

    /** {@return last 8 octets of the destination as a big-endian number; for IPv4 the address} */
    public long destinationLow() {
        return low(DESTINATION_OFFSET);
    }

    private long high(final int offset) {
        return family() == 4 ? 0 : entry.getLong(offset, ByteOrder.BIG_ENDIAN);
    }

    private long low(final int offset) {
        return family() == 4 ? entry.getInt(offset, ByteOrder.BIG_ENDIAN) & 0xffff_ffffL :
            entry.getLong(offset + Long.BYTES, ByteOrder.BIG_ENDIAN);
    }

    /** {@return the traffic class of the flow's first packet, in the order of the settings} */
    public int classIndex() {
        return entry.getShort(CLASS_INDEX_OFFSET, BYTE_ORDER) & 0xffff;
    }

    /** {@return count of packets} */
    public long packets() {
        return entry.getLong(PACKETS_OFFSET, BYTE_ORDER);
    }

    /** {@return sum of timestamps since the interval's start in ns, modulo 2^64} */
    public long timestampSumNs() {
        return entry.getLong(TIMESTAMP_SUM_OFFSET, BYTE_ORDER);
    }

    /** {@return sum of packet digests, modulo 2^64} */
    public long digestSum() {
        return entry.getLong(DIGEST_SUM_OFFSET, BYTE_ORDER);
    }

    /** {@return octets of the packets} */
    public long bytes() {
        return entry.getLong(BYTES_OFFSET, BYTE_ORDER);
    }
}
