package io.flowlag.exporter.delay;

import io.flowlag.sketch.quantile.QuantileSketch;
import org.agrona.concurrent.UnsafeBuffer;

/**
 * The relative errors of the means of flows against matching, by estimator, over flow records that have a mean by each. The
 * metering thread writes; any thread may read. Allocates at construction.
 */
final class EstimateErrors {
    private static final double PPM = 1e6;
    private static final double MEDIAN = 0.5;

    private final UnsafeBuffer rli = new UnsafeBuffer(new byte[QuantileSketch.LENGTH_BYTES]);
    private final UnsafeBuffer lds = new UnsafeBuffer(new byte[QuantileSketch.LENGTH_BYTES]);
    private final UnsafeBuffer joint = new UnsafeBuffer(new byte[QuantileSketch.LENGTH_BYTES]);
    private volatile long count;
    private volatile double rliMedian;
    private volatile double ldsMedian;
    private volatile double jointMedian;

    void record(final long matchedNs, final long rliNs, final long ldsNs, final long jointNs) {
        if (matchedNs == 0) {
            return;
        }
        rliMedian = median(rli, matchedNs, rliNs);
        ldsMedian = median(lds, matchedNs, ldsNs);
        jointMedian = median(joint, matchedNs, jointNs);
        count = QuantileSketch.count(joint, 0);
    }

    private static double median(final UnsafeBuffer errors, final long matchedNs, final long estimateNs) {
        QuantileSketch.record(errors, 0, Math.round(PPM * Math.abs((double)(estimateNs - matchedNs) / matchedNs)));
        return QuantileSketch.quantile(errors, 0, MEDIAN) / PPM;
    }

    /** {@return flow records that were compared} */
    long count() {
        return count;
    }

    /** {@return the median relative error by references; 0 below 64 millionths, as for the others} */
    double rliMedian() {
        return rliMedian;
    }

    /** {@return the median relative error by sketches} */
    double ldsMedian() {
        return ldsMedian;
    }

    /** {@return the median relative error by joint estimation} */
    double jointMedian() {
        return jointMedian;
    }
}
