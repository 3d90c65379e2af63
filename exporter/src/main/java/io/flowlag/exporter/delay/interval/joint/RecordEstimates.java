package io.flowlag.exporter.delay.interval.joint;

import io.flowlag.common.memory.OffHeapBuffer;
import io.flowlag.rli.counters.SpanCounters;
import org.agrona.BitUtil;

/**
 * Sums of packet estimates by record and open interval: count, sum, sum of squares, and error scale, 32 octets each. One thread.
 * Allocates at construction, off the heap.
 */
final class RecordEstimates {
    private static final int COUNT_OFFSET = 0;
    private static final int SUM_OFFSET = COUNT_OFFSET + 8;
    private static final int SQUARE_SUM_OFFSET = SUM_OFFSET + 8;
    private static final int SPAN_OFFSET = SQUARE_SUM_OFFSET + 8;
    private static final int LENGTH_BYTES = SPAN_OFFSET + SpanCounters.LENGTH_BYTES;
    private static final int CHUNK_RECORDS_SHIFT = 12;
    private static final int CHUNK_RECORDS = 1 << CHUNK_RECORDS_SHIFT;

    private final OffHeapBuffer[] chunks;
    private final int slots;

    /** Creates an empty table for at most so many intervals in a row that are open at once. */
    RecordEstimates(final int capacity, final int openIntervals) {
        slots = BitUtil.findNextPositivePowerOfTwo(openIntervals);
        chunks = new OffHeapBuffer[chunks(capacity)];
        for (int i = 0; i < chunks.length; i++) {
            chunks[i] = OffHeapBuffer.allocate(CHUNK_RECORDS * slots * LENGTH_BYTES);
        }
    }

    /** {@return octets, by formula} */
    static long memoryBytes(final int capacity, final int openIntervals) {
        return (long)chunks(capacity) * CHUNK_RECORDS * BitUtil.findNextPositivePowerOfTwo(openIntervals) * LENGTH_BYTES;
    }

    void clear(final int record, final long intervalNumber) {
        buffer(record).setMemory(at(record, intervalNumber), LENGTH_BYTES, (byte)0);
    }

    void add(
        final int record, final long intervalNumber, final long delayNs, final long spanNumber, final float errorScaleNs) {
        final OffHeapBuffer buffer = buffer(record);
        final int at = at(record, intervalNumber);
        SpanCounters.record(buffer, at + SPAN_OFFSET, spanNumber, errorScaleNs, buffer.getLong(at + COUNT_OFFSET));
        buffer.putLong(at + COUNT_OFFSET, buffer.getLong(at + COUNT_OFFSET) + 1);
        buffer.putLong(at + SUM_OFFSET, buffer.getLong(at + SUM_OFFSET) + delayNs);
        buffer.putDouble(at + SQUARE_SUM_OFFSET, buffer.getDouble(at + SQUARE_SUM_OFFSET) + (double)delayNs * delayNs);
    }

    long count(final int record, final long intervalNumber) {
        return buffer(record).getLong(at(record, intervalNumber) + COUNT_OFFSET);
    }

    long sumNs(final int record, final long intervalNumber) {
        return buffer(record).getLong(at(record, intervalNumber) + SUM_OFFSET);
    }

    double squareSumNs2(final int record, final long intervalNumber) {
        return buffer(record).getDouble(at(record, intervalNumber) + SQUARE_SUM_OFFSET);
    }

    /** {@return error scale of the estimates' mean, ns; NaN if unknown or there are none} */
    double errorScaleNs(final int record, final long intervalNumber) {
        return SpanCounters.meanScaleNs(
            buffer(record), at(record, intervalNumber) + SPAN_OFFSET, count(record, intervalNumber));
    }

    private OffHeapBuffer buffer(final int record) {
        return chunks[record >> CHUNK_RECORDS_SHIFT];
    }

    private int at(final int record, final long intervalNumber) {
        return ((record & CHUNK_RECORDS - 1) * slots + (int)(intervalNumber & slots - 1)) * LENGTH_BYTES;
    }

    private static int chunks(final int capacity) {
        return (capacity + CHUNK_RECORDS - 1) / CHUNK_RECORDS;
    }
}
