package io.flowlag.exporter.delay;

/**
 * Which of a record's two means is nearer, and the factor for its bound, from records of witness flows ({@link BoundCheck}). In
 * each interval one mean is drawn to what all flows have: best for few intervals, and where flows differ little. The other is
 * that of the flow's cells alone: it errs more, but not always the same way. It is taken for a size and a number of intervals
 * where the median of its errors times its bound is less. One thread. Allocates at construction.
 */
public final class RecordCheck {
    private final BoundCheck drawn = new BoundCheck();
    private final BoundCheck byCells = new BoundCheck();

    /** A witness flow's record of so many packets, in about so many equal intervals, with the errors of both means. */
    public void add(
        final long packets, final double intervals, final double errorNs, final double cellsErrorNs, final double boundNs) {
        drawn.add(packets, intervals, errorNs, boundNs);
        if (BoundCheck.isOfSeveral(intervals)) {
            byCells.add(packets, intervals, cellsErrorNs, boundNs);
        }
    }

    /** {@return whether the mean by cells alone is better for so many packets, in about so many equal intervals} */
    public boolean isByCells(final long packets, final double intervals) {
        return byCells.median(packets, intervals) * byCells.factor(packets, intervals) <
            drawn.median(packets, intervals) * drawn.factor(packets, intervals);
    }

    /** {@return the factor for the bound of the better mean} */
    public double factor(final long packets, final double intervals) {
        return (isByCells(packets, intervals) ? byCells : drawn).factor(packets, intervals);
    }
}
