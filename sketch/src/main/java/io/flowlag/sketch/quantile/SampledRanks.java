package io.flowlag.sketch.quantile;

/**
 * Which values of a sample enclose a quantile of all the values that it was drawn from, each with equal chances and at most once.
 * The number of sampled values at or below the quantile is hypergeometric, so the ranks are exact for any distribution of the
 * values. A sample of all values gives the quantile itself. Stateless; allocates never.
 */
public final class SampledRanks {
    /** Probability, at most, that the quantile is below the lower value, and that it is above the upper one. */
    public static final double TAIL = 0.025;

    private static final double NEGLIGIBLE = 1e-14;

    private SampledRanks() {
    }

    /**
     * The rank of the sampled value that the quantile is not below.
     *
     * @param quantile   above 0, at most 1.
     * @param population values in all, at least 1.
     * @param sample     values drawn, 1 to all.
     * @return 1 for the smallest, to the size of the sample; 0 if the sample is too small for a lower bound.
     */
    public static long lower(final double quantile, final long population, final long sample) {
        return lower(QuantileSketch.rank(quantile, population), population, sample);
    }

    /**
     * The rank of the sampled value that the quantile is not above.
     *
     * @param quantile   above 0, at most 1.
     * @param population values in all, at least 1.
     * @param sample     values drawn, 1 to all.
     * @return 1 for the smallest, to the size of the sample; one more if the sample is too small for an upper bound.
     */
    public static long upper(final double quantile, final long population, final long sample) {
        return sample + 1 - lower(population + 1 - QuantileSketch.rank(quantile, population), population, sample);
    }

    /**
     * The largest number that so many of the sampled values reach, but for the tail, where they are counted that are among the
     * smallest of all. Probabilities are relative to that of the mode until their sum is known.
     */
    private static long lower(final long smallest, final long population, final long sample) {
        final long most = Math.min(smallest, sample);
        final long least = Math.max(0, smallest + sample - population);
        final long mode =
            Math.max(least, Math.min(most, (long)((smallest + 1.0) * (sample + 1.0) / (population + 2.0))));
        double above = 0;
        double term = 1;
        for (long count = mode; count < most && term > NEGLIGIBLE; count++) {
            term *= ratio(count, smallest, population, sample);
            above += term;
        }
        double below = 0;
        term = 1;
        for (long count = mode; count > least && term > NEGLIGIBLE; count--) {
            term /= ratio(count - 1, smallest, population, sample);
            below += term;
        }
        final double allowed = TAIL * (above + 1 + below);
        long rank = mode;
        term = 1;
        while (rank > least && below > allowed) {
            term /= ratio(rank - 1, smallest, population, sample);
            below -= term;
            rank--;
        }
        return rank;
    }

    /** The probability of one more than a count, over that of the count. */
    private static double ratio(final long count, final long smallest, final long population, final long sample) {
        return (double)(smallest - count) / (count + 1) * (sample - count) / (population - smallest - sample + count + 1);
    }
}
