package io.flowlag.sketch.lds;

/**
 * The distribution of other flows' packets in a cell: the probability of more than x (LDS paper, section 3.1, Q = Σ K_i S_i).
 * It does not use the paper's approximation that one large flow alone causes them, which is far off with many small flows in a
 * cell. Flows arrive as a Poisson process, sizes are Pareto's in steps of x/1000 that keep their mean, and the distribution of
 * the sum follows by Panjer's recursion. Immutable, any thread; allocates.
 */
final class CollidingPackets {
    private static final int STEPS = 1000;
    /** With more flows of at least one step, more than x packets are nearly certain. */
    private static final double MOST_FLOWS = 700;

    /** The probability that a flow brings so many steps. */
    private final double[] shares = new double[STEPS + 1];

    CollidingPackets(final ParetoFit sizes, final double tolerablePackets) {
        final double step = tolerablePackets / STEPS;
        for (int i = 1; i <= STEPS; i++) {
            shares[i] = Math.max(0, (2 * limitedMean(sizes, i * step) - limitedMean(sizes, (i - 1) * step) -
                limitedMean(sizes, (i + 1) * step)) / step);
        }
        shares[0] = Math.max(0, 1 - limitedMean(sizes, step) / step);
    }

    /** The probability that flows bring more than is tolerable. Returns within 0 and 1. */
    double tail(final double meanFlows) {
        final double bringingFlows = meanFlows * (1 - shares[0]);
        if (bringingFlows > MOST_FLOWS) {
            return 1;
        }
        final double[] sums = new double[STEPS + 1];
        sums[0] = Math.exp(-bringingFlows);
        double within = sums[0];
        for (int i = 1; i <= STEPS; i++) {
            double sum = 0;
            for (int j = 1; j <= i; j++) {
                sum += j * shares[j] * sums[i - j];
            }
            sums[i] = meanFlows / i * sum;
            within += sums[i];
        }
        return Math.max(0, 1 - within);
    }

    /** The mean of a size or a limit, whichever is less. */
    private static double limitedMean(final ParetoFit sizes, final double limit) {
        if (limit <= sizes.scale()) {
            return limit;
        }
        final double ratio = limit / sizes.scale();
        final double power = 1 - sizes.shape();
        return sizes.scale() * (1 + (Math.abs(power) < 1e-9 ? Math.log(ratio) : Math.expm1(power * Math.log(ratio)) / power));
    }
}
