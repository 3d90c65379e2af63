package io.flowlag.exporter.delay;

/**
 * Which of a record's two means is nearer, and the factor for its bound, from records of witness flows ({@link BoundCheck}). One
 * is drawn in each interval to what all flows have: best for few intervals, and where flows differ little. The other is not, or
 * once for all intervals: it does not err the same way in each. It is taken for a size and a number of intervals where the
 * median of its errors times its bound is less. One thread. Allocates at construction.
 */
public final class RecordCheck {
    private final BoundCheck drawn = new BoundCheck();
    private final BoundCheck other = new BoundCheck();

    /** A witness flow's record of so many packets, in about so many equal intervals, with the errors of both means. */
    public void add(
        final long packets, final double intervals, final double errorNs, final double otherErrorNs, final double boundNs) {
        drawn.add(packets, intervals, errorNs, boundNs);
        if (BoundCheck.isOfSeveral(intervals)) {
            other.add(packets, intervals, otherErrorNs, boundNs);
        }
    }

    /** {@return whether the other mean is better for so many packets, in about so many equal intervals} */
    public boolean isOther(final long packets, final double intervals) {
        return other.median(packets, intervals) * other.factor(packets, intervals) <
            drawn.median(packets, intervals) * drawn.factor(packets, intervals);
    }

    /** {@return the factor for the bound of the better mean} */
    public double factor(final long packets, final double intervals) {
        return (isOther(packets, intervals) ? other : drawn).factor(packets, intervals);
    }
}
