package io.flowlag.exporter.sketching;

import io.flowlag.sketch.estimate.FlowEstimator;

/**
 * Reads what the end of an interval needs of its records, some dozens of them at a time, before they are looked at one by one:
 * so the processor waits for many places of the memory at once. Changes nothing. The metering thread owns it. Allocates at
 * construction.
 */
final class ReadAhead {
    /** How many at a time: what they need fits into the processor's nearest caches. */
    static final int RECORDS = 32;

    private final SketchRecords records;
    private final FlowTotals totals;
    private final FlowEstimator estimator;
    private long touched;

    /**
     * Reads for a loop over the records of intervals.
     *
     * @param records   of the receiver point.
     * @param totals    of flows; null if the loop does without.
     * @param estimator whose images the loop looks into; null if it does without.
     */
    ReadAhead(final SketchRecords records, final FlowTotals totals, final FlowEstimator estimator) {
        this.records = records;
        this.totals = totals;
        this.estimator = estimator;
    }

    /** To be called for each record of the interval before it is looked at. */
    void before(final PointInterval interval, final int index) {
        if (index % RECORDS != 0) {
            return;
        }
        final int end = Math.min(index + RECORDS, interval.recordCount());
        long octets = 0;
        for (int i = index; i < end; i++) {
            octets += records.touch(interval.record(i));
            octets += estimator == null ? 0 : records.touchAnswers(interval.record(i));
        }
        for (int i = index; i < end && (totals != null || estimator != null); i++) {
            final long flowHash = records.flowHash(interval.record(i));
            octets += (totals == null ? 0 : totals.touch(flowHash)) + (estimator == null ? 0 : estimator.touch(flowHash));
        }
        touched += octets;
    }
}
