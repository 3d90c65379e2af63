package io.flowlag.sketch.lda;

import io.flowlag.sketch.image.SketchGeometry;

/** Tunes a bank of an LDA to a number of losses (LDA paper, section III-D). Stateless, any thread. */
public final class LdaTuning {
    /** The paper's α, which makes the guaranteed sample size largest. */
    public static final double ALPHA = 0.5;

    private LdaTuning() {
    }

    /** The sampling rate p = α·m / (L + 1), at most 1. Returns share of packets. */
    public static double samplingRate(final int cells, final double expectedLosses) {
        return Math.min(1, ALPHA * cells / (expectedLosses + 1));
    }

    /**
     * Leading zeros of a packet's hash for which a bank expects the most packets in usable cells: those that maximise p·(1 -
     * p/m)^L with p = 2^-zeros. It is near m/L, twice the rate above, which maximises a lower bound of the same. Returns count
     * of zeros, at most {@link SketchGeometry#MAX_LEADING_ZEROS}.
     */
    public static int leadingZeros(final int cells, final double expectedLosses) {
        int best = 0;
        for (int zeros = 1; zeros <= SketchGeometry.MAX_LEADING_ZEROS; zeros++) {
            best = logOfShare(zeros, cells, expectedLosses) > logOfShare(best, cells, expectedLosses) ? zeros : best;
        }
        return best;
    }

    /**
     * The share of packets that are expected in usable cells after so many losses: Σ q·(1 - q/m)^L over the banks, each with its
     * share q of the packets.
     */
    public static double usableShare(final SketchGeometry banks, final double losses) {
        double share = 0;
        for (int bank = 0; bank < banks.rows(); bank++) {
            final double rate = banks.samplingRate(bank);
            share += rate * Math.exp(losses * Math.log1p(-rate / banks.columns()));
        }
        return share;
    }

    private static double logOfShare(final int zeros, final int cells, final double losses) {
        final double rate = Math.scalb(1.0, -zeros);
        return Math.log(rate) + losses * Math.log1p(-rate / cells);
    }
}
