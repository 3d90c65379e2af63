package io.flowlag.sketch.estimate;

/** Hoeffding's inequality as the LDA paper uses it (section III-D, equation 1). Stateless, any thread; allocates never. */
public final class Hoeffding {
    private Hoeffding() {
    }

    /**
     * Width of a bound in standard errors: equation (1), P[|D - μ| ≥ εμ] ≤ 2 exp(-ε² S μ² / 2σ²), solved for εμ in
     * units of σ/√S.
     *
     * @param confidence of the bound, between 0 and 1.
     * @return √(2 ln(2 / (1 - confidence))).
     */
    public static double factor(final double confidence) {
        if (!(confidence > 0 && confidence < 1)) {
            throw new IllegalArgumentException("confidence=" + confidence + " is not between 0 and 1");
        }
        return Math.sqrt(2 * Math.log(2 / (1 - confidence)));
    }
}
