package io.flowlag.sketch.estimate;

import io.flowlag.common.memory.OffHeapBuffer;
import io.flowlag.sketch.image.SketchGeometry;
import io.flowlag.sketch.image.SketchImage;

/**
 * The comparison of both points' cells, written once an interval. Reading a flow's cell takes one cache line instead of one at
 * each point. A cell's place follows from its row and column.
 * <pre>
 *   0  receivedCount   8
 *   8  bytes           8   at the receiver
 *  16  delaySumNs      8   where the cell agrees; elsewhere the sender's count
 *  24  agreement       8   1 where counts and digests agree, else 0
 * </pre>
 * One thread. Allocates at construction, off the heap.
 */
final class ComparedCells {
    private static final int RECEIVED_COUNT_OFFSET = 0;
    private static final int BYTES_OFFSET = RECEIVED_COUNT_OFFSET + 8;
    private static final int DELAY_SUM_OFFSET = BYTES_OFFSET + 8;
    private static final int AGREEMENT_OFFSET = DELAY_SUM_OFFSET + 8;
    private static final int LENGTH_BYTES = AGREEMENT_OFFSET + 8;

    private final OffHeapBuffer cells;
    private final int columns;
    private boolean hasSender;

    ComparedCells(final SketchGeometry geometry) {
        cells = OffHeapBuffer.allocateUntouched(Math.toIntExact(memoryBytes(geometry)));
        columns = geometry.columns();
    }

    /** {@return octets, by formula} */
    static long memoryBytes(final SketchGeometry geometry) {
        return (long)geometry.rows() * geometry.columns() * LENGTH_BYTES;
    }

    /** Begins to compare: without a sender the receiver's cells are an SDS's. */
    void begin(final boolean isPair) {
        hasSender = isPair;
    }

    /** Compares a cell of both images; of an SDS the sender's is null. */
    void compare(final SketchImage sender, final SketchImage receiver, final int row, final int column) {
        final int at = place(row, column);
        final long count = receiver.count(row, column);
        final boolean agrees = Cells.agree(sender, receiver, row, column);
        cells.putLong(at + RECEIVED_COUNT_OFFSET, count);
        cells.putLong(at + BYTES_OFFSET, receiver.bytes(row, column));
        cells.putLong(
            at + DELAY_SUM_OFFSET,
            agrees ? Cells.delaySumNs(sender, receiver, row, column) : sender.count(row, column));
        cells.putLong(at + AGREEMENT_OFFSET, agrees ? 1 : 0);
    }

    int columns() {
        return columns;
    }

    /** {@return whether there is a sender; if not, its counts are 0} */
    boolean hasSender() {
        return hasSender;
    }

    /** {@return where a cell lies} */
    int place(final int row, final int column) {
        return (row * columns + column) * LENGTH_BYTES;
    }

    /** Reads from a cell to bring it into the processor's cache. */
    long touch(final int place) {
        return cells.getLong(place);
    }

    long sentCount(final int place) {
        return !agrees(place) ? cells.getLong(place + DELAY_SUM_OFFSET) : hasSender ? receivedCount(place) : 0;
    }

    long receivedCount(final int place) {
        return cells.getLong(place + RECEIVED_COUNT_OFFSET);
    }

    /** {@return sum of the weighted delays of a usable cell's packets, ns, as {@link Cells#delaySumNs}} */
    long delaySumNs(final int place) {
        return cells.getLong(place + DELAY_SUM_OFFSET);
    }

    long bytes(final int place) {
        return cells.getLong(place + BYTES_OFFSET);
    }

    /** As {@link Cells#agree}. */
    boolean agrees(final int place) {
        return cells.getLong(place + AGREEMENT_OFFSET) != 0;
    }

    /** As {@link Cells#usable}. */
    boolean isUsable(final int place) {
        return receivedCount(place) > 0 && agrees(place);
    }

    /** Whether the receiver certainly has packets that the sender lacks. A cell that lost more than it gained hides them. */
    boolean isGained(final int place) {
        return !agrees(place) && receivedCount(place) >= sentCount(place);
    }

    /** As {@link Cells#occupied}. */
    boolean isOccupied(final int place) {
        return receivedCount(place) != 0 || sentCount(place) != 0;
    }
}
