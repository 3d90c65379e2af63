package io.flowlag.network.locate;

/** The normal distribution far into its tails, to a relative error of 1.2·10⁻⁷. */
final class NormalTail {
    private static final double SQRT_2 = Math.sqrt(2);
    private static final double LOG_2 = Math.log(2);
    private static final double LOG_SQRT_2_PI = Math.log(2 * Math.PI) / 2;
    /**
     * erfc(x) = t exp(−x² + p(t)) with t = 1/(1 + x/2), for x from 0 on (Numerical Recipes, section 6.2): p, the highest power
     * first.
     */
    private static final double[] POLYNOMIAL = {0.17087277, -0.82215223, 1.48851587, -1.13520398, 0.27886807, -0.18628806,
        0.09678418, 0.37409196, 1.00002368, -1.26551223};

    private NormalTail() {
    }

    /** ln Φ(z). */
    static double logCdf(final double z) {
        final double logTail = logErfc(Math.abs(z) / SQRT_2) - LOG_2;
        return z < 0 ? logTail : Math.log1p(-Math.exp(logTail));
    }

    /** Φ(z) exp(z²/2), for z up to 37. */
    static double scaledCdf(final double z) {
        final double tail = scaledErfc(Math.abs(z) / SQRT_2) / 2;
        return z < 0 ? tail : Math.exp(z * z / 2) - tail;
    }

    /** erfc(x) exp(x²). */
    private static double scaledErfc(final double x) {
        final double t = 1 / (1 + x / 2);
        return t * Math.exp(polynomial(t));
    }

    private static double logErfc(final double x) {
        final double t = 1 / (1 + x / 2);
        return Math.log(t) - x * x + polynomial(t);
    }

    private static double polynomial(final double t) {
        double sum = 0;
        for (final double coefficient : POLYNOMIAL) {
            sum = sum * t + coefficient;
        }
        return sum;
    }

    /** z + φ(z)/Φ(z): the mean of a normal variable of mean z and deviation 1 that is not negative. */
    static double positiveMean(final double z, final double logCdf) {
        return Math.max(0, z + Math.exp(-z * z / 2 - LOG_SQRT_2_PI - logCdf));
    }

    /** The quantile of 0.999 of χ² (Wilson and Hilferty). */
    static double chiSquare999(final double degrees) {
        final double part = 2 / (9 * degrees);
        return degrees * Math.pow(1 - part + 3.0902 * Math.sqrt(part), 3);
    }
}
