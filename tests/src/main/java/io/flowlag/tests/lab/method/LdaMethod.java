package io.flowlag.tests.lab.method;

import io.flowlag.sketch.image.SketchGeometry;
import io.flowlag.sketch.lda.LdaEstimate;
import io.flowlag.sketch.lda.LdaEstimator;
import io.flowlag.sketch.lda.LdaTuning;
import io.flowlag.sketch.lda.LossyDifferenceAggregator;

import java.util.Arrays;

/** LDA: one mean of all packets, which is every flow's estimate. */
public final class LdaMethod extends Simple.Named {
    private static final double CONFIDENCE = 0.98;

    private final SketchGeometry geometry;
    private final long seed;

    /** The method. */
    public LdaMethod(final SketchGeometry geometry, final long seed) {
        super("LDA, " + geometry.rows() + " x " + geometry.columns());
        this.geometry = geometry;
        this.seed = seed;
    }

    /** The paper's two banks of 512 cells, tuned to 0.5 and 10 % loss. */
    public static SketchGeometry twoBanks(final double packets) {
        return banks(512, packets, 0.005, 0.1);
    }

    /**
     * Banks tuned to separate losses by the paper's p = α·m / (L + 1), as distinct powers of a half.
     *
     * @param lossRates one for each bank, rising.
     */
    public static SketchGeometry banks(final int cells, final double packets, final double... lossRates) {
        final int[] zeros = new int[lossRates.length];
        for (int i = 0; i < zeros.length; i++) {
            final double share = Math.min(1, LdaTuning.samplingRate(cells, packets * lossRates[i]));
            zeros[i] = Math.max((int) Math.round(-Math.log(share) / Math.log(2)), i == 0 ? 0 : zeros[i - 1] + 1);
        }
        return SketchGeometry.lda(cells, zeros);
    }

    @Override
    public Cost estimate(final PathTrace trace, final double[] meansNs) {
        final LdaEstimate estimate = estimate(trace);
        Arrays.fill(meansNs, estimate.hasMean() ? estimate.meanNs() : Double.NaN);
        return new Cost(2 * SketchGeometry.memoryBytes(geometry), geometry.imageLength());
    }

    /** The estimate itself. Returns mean, deviation and bound. */
    public LdaEstimate estimate(final PathTrace trace) {
        final LossyDifferenceAggregator sender = new LossyDifferenceAggregator(geometry, seed);
        final LossyDifferenceAggregator receiver = new LossyDifferenceAggregator(geometry, seed);
        for (int packet = 0; packet < trace.packets(); packet++) {
            sender.update(trace.digestOf(packet), trace.sentNsOf(packet), trace.bytesOf(packet));
            if (!trace.isLost(packet)) {
                receiver.update(trace.digestOf(packet), trace.arrivalNsOf(packet), trace.bytesOf(packet));
            }
        }
        final LdaEstimate estimate = new LdaEstimate();
        new LdaEstimator(CONFIDENCE).estimate(sender.image(), receiver.image(), estimate);
        return estimate;
    }
}
