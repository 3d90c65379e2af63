package io.flowlag.exporter.delay;

import java.util.Arrays;

/**
 * The factor for an estimator's bounds that makes them hold for 95 % of witness flows of a size: the 95th percentile of errors
 * over bounds. Sizes with few witnesses use those of all sizes; without enough of these, bounds stay unchanged. Bounds become
 * narrower only with many witnesses of a size. One thread. Allocates at construction.
 */
final class BoundCheck {
    private static final int SIZES = 6;
    private static final int ALL_SIZES = 0;
    private static final int KEPT = 512;
    /** Fewer samples give no estimate of the 95th percentile. */
    private static final int LEAST_OF_ALL = 19;
    private static final int LEAST_OF_SIZE = 60;
    private static final int MANY_OF_SIZE = 200;
    private static final int RENEWED = 16;
    private static final double COVERED = 0.95;

    private final double[][] ratios = new double[SIZES][KEPT];
    private final double[] sorted = new double[KEPT];
    private final int[] counts = new int[SIZES];
    private final double[] factors = new double[SIZES];

    BoundCheck() {
        Arrays.fill(factors, 1);
    }

    /** A witness flow of so many packets. */
    void add(final long packets, final double errorNs, final double boundNs) {
        final double ratio = errorNs / Math.max(1, boundNs);
        add(ALL_SIZES, ratio);
        add(size(packets), ratio);
    }

    private void add(final int size, final double ratio) {
        ratios[size][counts[size]++ % KEPT] = ratio;
        final int least = size == ALL_SIZES ? LEAST_OF_ALL : LEAST_OF_SIZE;
        if (counts[size] == least || counts[size] > least && counts[size] % RENEWED == 0) {
            final int kept = Math.min(KEPT, counts[size]);
            System.arraycopy(ratios[size], 0, sorted, 0, kept);
            Arrays.sort(sorted, 0, kept);
            final double factor = sorted[Math.min(kept, (int)Math.ceil(COVERED * (kept + 1))) - 1];
            factors[size] = size != ALL_SIZES && kept >= MANY_OF_SIZE ? factor : Math.max(1, factor);
        }
    }

    /** {@return the factor for the bound of a flow of so many packets} */
    double factor(final long packets) {
        final int size = size(packets);
        return factors[counts[size] >= LEAST_OF_SIZE ? size : ALL_SIZES];
    }

    /** The size class: the number of digits, with a class of its own for a single packet. */
    private static int size(final long packets) {
        return packets < 2 ? 1 : packets < 10 ? 2 : packets < 100 ? 3 : packets < 1000 ? 4 : 5;
    }
}
