package io.flowlag.sketch.estimate;

/**
 * How far the mean of a sample lies from that of all, in standard errors: √(2 ln(2 / (1 − confidence))), Hoeffding's factor as
 * the LDA paper has it, or where that is too little, t(ν) (1 + 4.4/√n), with t Student's quantile at ν degrees of freedom of the
 * deviation. The second factor is for long tails: a sample that misses the tail has too low a mean and too low a deviation, and
 * looks like a normal one, so every sample has it. It was measured: at 0.95 it suffices for independent delays from 3 of a
 * normal, an exponential, a log-normal (σ = 1) and a Pareto (2.5) distribution. Nothing can be said for delays so rare that no
 * sample has them. Immutable, any thread; allocates at construction only.
 */
public final class SampleBound {
    private static final int LEAST_SAMPLES = 3;
    /** The approximation of Student's quantile is within 1 % from two degrees of freedom on. */
    private static final double LEAST_DEGREES = 2;
    private static final double TAIL = 4.4;

    private final double hoeffding;
    private final double normal;

    /** A bound with a confidence between 0 and 1. */
    public SampleBound(final double confidence) {
        hoeffding = Hoeffding.factor(confidence);
        normal = normalQuantile(hoeffding);
    }

    /** √(−2 ln p) to the normal quantile of 1 − p, within 0.00045 (Abramowitz and Stegun, 26.2.23). */
    private static double normalQuantile(final double root) {
        return root - (2.515517 + root * (0.802853 + root * 0.010328)) /
            (1 + root * (1.432788 + root * (0.189269 + root * 0.001308)));
    }

    /**
     * {@return the factor}, or NaN where a bound would say nothing: below 3 samples or 2 degrees of freedom.
     *
     * @param samples behind the mean.
     * @param degrees of freedom of the deviation: what it is computed from, less the means taken from the same.
     */
    public double factor(final double samples, final double degrees) {
        return samples >= LEAST_SAMPLES && degrees >= LEAST_DEGREES ?
            Math.max(hoeffding, student(degrees) * (1 + TAIL / Math.sqrt(samples))) : Double.NaN;
    }

    /** Student's quantile from the normal one, after Peizer and Pratt (1968). */
    private double student(final double degrees) {
        final double scaled = normal * (degrees - 5.0 / 6) / (degrees - 2.0 / 3 + 0.1 / degrees);
        return Math.sqrt(degrees * Math.expm1(normal * scaled / (degrees - 2.0 / 3 + 0.1 / degrees)));
    }
}
