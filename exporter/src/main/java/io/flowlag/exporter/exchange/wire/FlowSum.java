package io.flowlag.exporter.exchange.wire;

import io.flowlag.exporter.decode.FlowKeyLayout;
import io.flowlag.exporter.delay.interval.records.FlowSums;
import org.agrona.DirectBuffer;
import org.agrona.MutableDirectBuffer;
import org.agrona.concurrent.UnsafeBuffer;

import java.nio.ByteOrder;

import static io.flowlag.exporter.exchange.wire.ExchangeHeader.BYTE_ORDER;

/**
 * What a point saw of one flow in an interval, with the flow's full key: an entry of FLOW_SUMS and WITNESS. Sums are modulo
 * 2^64, as in a sketch's cell.
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
    public static final int LENGTH_BYTES = 72;
    /** 38 million a second in the longest interval, an hour. All flows that fit a list have less than 2^62. */
    static final long MAX_PACKETS = 1L << 37;
    /** Each of the most packets as long as one can be. */
    static final long MAX_BYTES = MAX_PACKETS << 17;
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

    /** Writes the {@link #LENGTH_BYTES} octets of a row of a table. */
    public static void encode(final MutableDirectBuffer buffer, final int offset, final FlowSums table, final int row) {
        final int family = table.ipVersion(row);
        buffer.setMemory(offset, LENGTH_BYTES, (byte)0);
        buffer.putByte(offset + FAMILY_OFFSET, (byte)family);
        buffer.putByte(offset + PROTOCOL_OFFSET, (byte)table.protocol(row));
        buffer.putShort(offset + SOURCE_PORT_OFFSET, (short)table.sourcePort(row), BYTE_ORDER);
        buffer.putShort(offset + DESTINATION_PORT_OFFSET, (short)table.destinationPort(row), BYTE_ORDER);
        buffer.putShort(offset + CLASS_INDEX_OFFSET, (short)table.classIndex(row), BYTE_ORDER);
        encodeAddress(buffer, offset + SOURCE_OFFSET, family, table.sourceHigh(row), table.sourceLow(row));
        encodeAddress(buffer, offset + DESTINATION_OFFSET, family, table.destinationHigh(row), table.destinationLow(row));
        buffer.putLong(offset + PACKETS_OFFSET, table.packets(row), BYTE_ORDER);
        buffer.putLong(offset + TIMESTAMP_SUM_OFFSET, table.timestampSumNs(row), BYTE_ORDER);
        buffer.putLong(offset + DIGEST_SUM_OFFSET, table.digestSum(row), BYTE_ORDER);
        buffer.putLong(offset + BYTES_OFFSET, table.bytes(row), BYTE_ORDER);
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

    static ExchangeResult verify(final DirectBuffer buffer, final int offset) {
        final int family = buffer.getByte(offset + FAMILY_OFFSET);
        final int classIndex = buffer.getShort(offset + CLASS_INDEX_OFFSET, BYTE_ORDER);
        if (family != 4 && family != 6 || classIndex < 0 || classIndex >= ExchangeSettings.MAX_CLASSES ||
            !MessageFlyweight.isWithin(buffer.getLong(offset + PACKETS_OFFSET, BYTE_ORDER), 1, MAX_PACKETS) ||
            !MessageFlyweight.isWithin(buffer.getLong(offset + BYTES_OFFSET, BYTE_ORDER), 0, MAX_BYTES)) {
            return ExchangeResult.VALUE;
        }
        final boolean isPadded = family == 6 || MessageFlyweight.isZero(buffer, offset + SOURCE_OFFSET + 4, 12) &&
            MessageFlyweight.isZero(buffer, offset + DESTINATION_OFFSET + 4, 12);
        return isPadded ? ExchangeResult.ACCEPTED : ExchangeResult.RESERVED;
    }

    /** Wraps verified sums. */
    FlowSum wrap(final DirectBuffer buffer, final int offset) {
        entry.wrap(buffer, offset, LENGTH_BYTES);
        return this;
    }

    /** Writes the 5-tuple in the layout of {@link FlowKeyLayout}. */
    public void copyKey(final MutableDirectBuffer buffer, final int offset) {
        final int family = entry.getByte(FAMILY_OFFSET);
        FlowKeyLayout.sourceHigh(buffer, offset, high(SOURCE_OFFSET, family));
        FlowKeyLayout.sourceLow(buffer, offset, low(SOURCE_OFFSET, family));
        FlowKeyLayout.destinationHigh(buffer, offset, high(DESTINATION_OFFSET, family));
        FlowKeyLayout.destinationLow(buffer, offset, low(DESTINATION_OFFSET, family));
        FlowKeyLayout.sourcePort(buffer, offset, entry.getShort(SOURCE_PORT_OFFSET, BYTE_ORDER));
        FlowKeyLayout.destinationPort(buffer, offset, entry.getShort(DESTINATION_PORT_OFFSET, BYTE_ORDER));
        FlowKeyLayout.protocol(buffer, offset, entry.getByte(PROTOCOL_OFFSET));
        FlowKeyLayout.ipVersion(buffer, offset, family);
    }

    private long high(final int offset, final int family) {
        return family == 4 ? 0 : entry.getLong(offset, ByteOrder.BIG_ENDIAN);
    }

    private long low(final int offset, final int family) {
        return family == 4 ? entry.getInt(offset, ByteOrder.BIG_ENDIAN) & 0xffff_ffffL :
            entry.getLong(offset + Long.BYTES, ByteOrder.BIG_ENDIAN);
    }

    public int classIndex() {
        return entry.getShort(CLASS_INDEX_OFFSET, BYTE_ORDER) & 0xffff;
    }

    public long packets() {
        return entry.getLong(PACKETS_OFFSET, BYTE_ORDER);
    }

    public long timestampSumNs() {
        return entry.getLong(TIMESTAMP_SUM_OFFSET, BYTE_ORDER);
    }

    public long digestSum() {
        return entry.getLong(DIGEST_SUM_OFFSET, BYTE_ORDER);
    }

    public long bytes() {
        return entry.getLong(BYTES_OFFSET, BYTE_ORDER);
    }
}
