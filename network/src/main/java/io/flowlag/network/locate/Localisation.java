package io.flowlag.network.locate;

import java.util.List;

/**
 * What the segments of a window say together. The arrays are not to be changed.
 *
 * @param verdicts          slow hops, the largest effect first.
 * @param usualNs           the usual queueing of a hop.
 * @param clocks            how far each is off.
 * @param chiSquare         of the residuals, before any widening.
 * @param isFit             whether that is below its quantile of 0.999; otherwise routes or bounds are wrong, and all bounds were
 *     widened.
 * @param unexplainedNs     the excess of each segment, for {@link UsualExcess}: without the clocks if the usual one is known, and
 *     NaN if the segment has suspects.
 * @param residuals         if it is not: the segments of the largest residuals, the largest first.
 */
public record Localisation(List<HopVerdict> verdicts, double usualNs, Clocks clocks, double chiSquare, boolean isFit,
    double[] unexplainedNs, List<Integer> residuals) {
    private static final double MOST_DEVIATIONS = 3;
    private static final double LEAST_OFFSET_NS = 100_000;

    /**
     * Errors of clocks since floors and usual excesses were learned.
     *
     * @param offsetsNs    of each clock.
     * @param deviationsNs standard deviation of each offset.
     * @param isStepped    whether it is among the fewest clocks one of which has stepped, with the wanted probability.
     */
    public record Clocks(double[] offsetsNs, double[] deviationsNs, boolean[] isStepped) {
    }

    /** {@return whether a clock is off: by more than 100 µs, and by more than three deviations or with others that may be} */
    public boolean isClockOff(final int clock) {
        final double offset = Math.abs(clocks.offsetsNs[clock]);
        return offset > LEAST_OFFSET_NS &&
            (clocks.isStepped[clock] || offset > MOST_DEVIATIONS * clocks.deviationsNs[clock]);
    }
}
