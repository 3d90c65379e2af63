package io.flowlag.exporter.listing;

import io.flowlag.exporter.delay.FlowDelay;
import io.flowlag.sketch.quantile.QuantileSketch;

/**
 * The delay of a row, ns, signed. Immutable. Null is unknown.
 *
 * @param measured       packets that the mean covers.
 * @param boundNs        95 % error bound of the mean.
 * @param isExact        whether the mean covers every packet's own delay.
 * @param estimator      as element 12 has it; 0 if there is none, {@link #MIXED} for records of several.
 * @param interpolatedNs mean by references, where the mean has another estimator.
 * @param sketchNs       mean by sketches.
 */
public record RowDelay(
    Long meanNs, Long measured, Long boundNs, boolean isExact, int estimator, RowSpread spread, Long interpolatedNs,
    Long sketchNs) {
    /** Estimators differ. */
    public static final int MIXED = -1;
    /** No delay. */
    public static final RowDelay NONE = new RowDelay(null, null, null, false, 0, RowSpread.UNKNOWN, null, null);

    private static final double PPM = 1e6;

    /** {@return how far quantiles of matched packets may be off, in a million of themselves; null if that is not known} */
    Long quantileErrorPpm() {
        return estimator != FlowDelay.ESTIMATOR_MATCHED || spread.p50Ns() == null || spread.minimumNs() == null ||
            spread.maximumNs() == null ? null :
            Long.valueOf((long)Math.ceil(PPM * QuantileSketch.relativeError(spread.minimumNs(), spread.maximumNs())));
    }
}
