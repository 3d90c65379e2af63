package io.flowlag.sketch.joint;

/**
 * Exponential and normal distribution at the precision that a prior learned from data deserves, several times faster than
 * {@link Math}. Stateless, any thread; allocates once, when the class is loaded.
 */
final class FastMath {
    private static final double LOG2_E = 1.4426950408889634;
    /** Adding it rounds to an integer in the low bits of the significand. */
    private static final double ROUNDER = 0x1.8p52;
    private static final int EXPONENT_BIAS = 1023;
    private static final int MANTISSA_BITS = 52;
    private static final double SMALLEST_EXPONENT = -700;
    private static final double TABLE_LIMIT = 8;
    private static final int STEPS_PER_UNIT = 256;
    private static final double[] NORMAL_CDF = new double[(int)(2 * TABLE_LIMIT) * STEPS_PER_UNIT + 2];
    private static final double DENSITY_AT_0 = 0.3989422804014327;

    static {
        // Simpson's rule, from the left.
        final double step = 1.0 / STEPS_PER_UNIT;
        double sum = 6.22e-16;
        for (int i = 0; i < NORMAL_CDF.length; i++) {
            NORMAL_CDF[i] = Math.min(1, sum);
            final double x = -TABLE_LIMIT + i * step;
            sum += step / 6 * (exactDensity(x) + 4 * exactDensity(x + step / 2) + exactDensity(x + step));
        }
    }

    private FastMath() {
    }

    private static double exactDensity(final double x) {
        return DENSITY_AT_0 * Math.exp(-x * x / 2);
    }

    /** e^x for x of at most 0, relative error below 1e-8; 0 below -700. */
    static double exp(final double x) {
        if (!(x > SMALLEST_EXPONENT)) {
            return 0;
        }
        final double scaled = x * LOG2_E;
        final double rounded = scaled + ROUNDER;
        final double f = (scaled - (rounded - ROUNDER)) * 0.6931471805599453;
        final double series = 1 + f * (1 + f * (0.5 + f * (1.0 / 6 + f * (1.0 / 24 + f * (1.0 / 120 + f * (1.0 / 720 +
            f * (1.0 / 5040)))))));
        final long exponent = (int)Double.doubleToRawLongBits(rounded) + EXPONENT_BIAS;
        return series * Double.longBitsToDouble(exponent << MANTISSA_BITS);
    }

    /** Probability that a standard normal variable is below x, absolute error below 1e-6. */
    static double normalCdf(final double x) {
        final double position = (x + TABLE_LIMIT) * STEPS_PER_UNIT;
        if (!(position > 0)) {
            return 0;
        }
        if (position >= NORMAL_CDF.length - 1) {
            return 1;
        }
        final int index = (int)position;
        return NORMAL_CDF[index] + (position - index) * (NORMAL_CDF[index + 1] - NORMAL_CDF[index]);
    }

    /** Density of a standard normal variable. */
    static double normalDensity(final double x) {
        return DENSITY_AT_0 * exp(-x * x / 2);
    }
}
