package io.flowlag.sketch.joint;

/** Median and central interval of the mixture that {@link MixturePrior} measured last. Belongs to its thread; allocates never. */
final class Quantiles {
    private static final int STEPS = 40;
    private static final double TOLERANCE = 1e-4;
    private static final double COVERED = 0.95;
    private static final double NORMAL_HALF_WIDTH = 1.96;
    private static final double LEAST_SHARE = 1e-4;

    private final MixturePrior posterior;
    private final double[] share = new double[MixturePrior.COMPONENTS];
    private final double[] mean = new double[MixturePrior.COMPONENTS];
    private final double[] inverseDeviation = new double[MixturePrior.COMPONENTS];
    private int count;
    private double origin;
    private double deviation;

    Quantiles(final MixturePrior posterior) {
        this.posterior = posterior;
    }

    /** Takes the posterior over; returns the median. */
    double median() {
        count = 0;
        double total = 0;
        for (int index = 0; index < posterior.count; index++) {
            if (posterior.share[index] > LEAST_SHARE) {
                share[count] = posterior.share[index];
                mean[count] = posterior.componentMean[index];
                inverseDeviation[count++] = 1 / Math.sqrt(posterior.componentVariance[index]);
                total += posterior.share[index];
            }
        }
        for (int index = 0; index < count; index++) {
            share[index] /= total;
        }
        origin = posterior.origin();
        deviation = Math.sqrt(posterior.variance);
        final double start = posterior.mean - origin;
        if (count == 1) {
            return origin + mean[0];
        }
        double low = Double.POSITIVE_INFINITY;
        double high = Double.NEGATIVE_INFINITY;
        for (int index = 0; index < count; index++) {
            low = Math.min(low, mean[index]);
            high = Math.max(high, mean[index]);
        }
        double at = Math.max(low, Math.min(high, start));
        for (int step = 0; step < STEPS && high - low > TOLERANCE * deviation * 0.01; step++) {
            double below = 0;
            double density = 0;
            for (int index = 0; index < count; index++) {
                final double u = (at - mean[index]) * inverseDeviation[index];
                below += share[index] * FastMath.normalCdf(u);
                density += share[index] * inverseDeviation[index] * FastMath.normalDensity(u);
            }
            final double error = below - 0.5;
            if (Math.abs(error) < TOLERANCE) {
                break;
            }
            low = error < 0 ? at : low;
            high = error > 0 ? at : high;
            final double next = at - error / density;
            at = next > low && next < high ? next : 0.5 * (low + high);
        }
        return origin + at;
    }

    /** Half width of the interval around a value that holds 95 % of the last posterior. */
    double halfWidth(final double about) {
        final double centre = about - origin;
        if (count == 1) {
            return NORMAL_HALF_WIDTH / inverseDeviation[0] + Math.abs(centre - mean[0]);
        }
        double low = 0;
        double high = 5 * deviation + 2 * Math.abs(about - posterior.mean);
        while (inside(centre, high) < COVERED && high < 1e300) {
            low = high;
            high *= 2;
        }
        double at = Math.min(high, 2 * deviation);
        for (int step = 0; step < STEPS && high - low > 1e-3 * high; step++) {
            double inside = 0;
            double density = 0;
            for (int index = 0; index < count; index++) {
                final double above = (centre + at - mean[index]) * inverseDeviation[index];
                final double below = (centre - at - mean[index]) * inverseDeviation[index];
                inside += share[index] * (FastMath.normalCdf(above) - FastMath.normalCdf(below));
                density += share[index] * inverseDeviation[index] *
                    (FastMath.normalDensity(above) + FastMath.normalDensity(below));
            }
            final double error = inside - COVERED;
            if (Math.abs(error) < TOLERANCE) {
                break;
            }
            low = error < 0 ? at : low;
            high = error > 0 ? at : high;
            final double next = at - error / density;
            at = next > low && next < high ? next : 0.5 * (low + high);
        }
        return at;
    }

    private double inside(final double centre, final double half) {
        double inside = 0;
        for (int index = 0; index < count; index++) {
            inside += share[index] * (FastMath.normalCdf((centre + half - mean[index]) * inverseDeviation[index]) -
                FastMath.normalCdf((centre - half - mean[index]) * inverseDeviation[index]));
        }
        return inside;
    }
}
