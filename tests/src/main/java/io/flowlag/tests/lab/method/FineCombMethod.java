package io.flowlag.tests.lab.method;

import io.flowlag.sketch.reconcile.AggregateEstimate;
import io.flowlag.sketch.reconcile.SynopsisGeometry;
import io.flowlag.tests.lab.comparator.FineComb;
import io.flowlag.tests.lab.comparator.FineCombEstimator;

import java.util.Arrays;

/** FineComb, repaired ideally as in the RDA paper's evaluation: one mean of all packets, which is every flow's estimate. */
public final class FineCombMethod extends Simple.Named {
    private static final double CONFIDENCE = 0.95;

    private final SynopsisGeometry geometry;
    private final long seed;

    /** The method. */
    public FineCombMethod(final int cells, final long seed) {
        super("FineComb, " + cells);
        geometry = FineComb.geometry(cells);
        this.seed = seed;
    }

    @Override
    public Cost estimate(final PathTrace trace, final double[] meansNs) {
        final FineComb sender = new FineComb(geometry, seed);
        final FineComb receiver = new FineComb(geometry, seed);
        final long[] lost = new long[trace.packets()];
        int losses = 0;
        for (int packet = 0; packet < trace.packets(); packet++) {
            sender.update(trace.digestOf(packet), trace.sentNsOf(packet));
            if (trace.isLost(packet)) {
                lost[losses++] = trace.digestOf(packet);
            } else {
                receiver.update(trace.digestOf(packet), trace.arrivalNsOf(packet));
            }
        }
        final FineCombEstimator estimator = new FineCombEstimator(geometry.cells(), 1, seed, CONFIDENCE);
        estimator.pair(sender.image(), receiver.image());
        estimator.repairIdeally(Arrays.copyOf(lost, losses), new long[0], new long[0]);
        final AggregateEstimate estimate = new AggregateEstimate();
        estimator.estimate(estimate);
        Arrays.fill(meansNs, estimate.hasMean() ? estimate.meanNs() : Double.NaN);
        return new Cost(2 * geometry.memoryBytes(), geometry.imageLength());
    }
}
