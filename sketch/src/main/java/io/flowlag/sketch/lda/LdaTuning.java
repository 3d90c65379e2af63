package io.flowlag.sketch.lda;

import io.flowlag.sketch.image.SketchGeometry;

/** Tunes a bank of an LDA to a number of losses (LDA paper, section III-D). Stateless, any thread. */
public final class LdaTuning {
    /** The paper's α, which makes the guaranteed sample size largest. */
    public static final double ALPHA = 0.5;

    private LdaTuning() {
    }

    /**
     * The sampling rate p = α·m / (L + 1), at most 1.
     *
     * @param cells          m, of the bank.
     * @param expectedLosses L, in an interval.
     * @return share of packets.
     */
    public static double samplingRate(final int cells, final double expectedLosses) {
        return Math.min(1, ALPHA * cells / (expectedLosses + 1));
    }

    /**
     * The zeros that a packet's hash must begin with: the largest power of a half that is not above the sampling rate.
     *
     * @param cells          m, of the bank.
     * @param expectedLosses L, in an interval.
     * @return count of zeros, at most {@link SketchGeometry#MAX_LEADING_ZEROS}.
     */
    public static int leadingZeros(final int cells, final double expectedLosses) {
        final int zeros = -Math.getExponent(samplingRate(cells, expectedLosses));
        return Math.min(zeros, SketchGeometry.MAX_LEADING_ZEROS);
    }

    /**
     * The sample size that a single bank tuned so may expect at least, α(1 - α)·m/(L + 1)·R (equation 2).
     *
     * @param cells           m, of the bank.
     * @param losses          L, not less than m.
     * @param receivedPackets R.
     * @return packets.
     */
    public static double expectedSamples(final int cells, final double losses, final double receivedPackets) {
        return ALPHA * (1 - ALPHA) * cells / (losses + 1) * receivedPackets;
    }
}
