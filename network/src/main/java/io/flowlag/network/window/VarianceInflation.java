package io.flowlag.network.window;

/** By how much the variance of sums of consecutive values is above that of sums of independent ones. */
final class VarianceInflation {
    private static final int[] BLOCKS = {28, 112};
    /** What is within so many deviations of none is none. */
    private static final double SURE = 2;
    /** Of the mean square of blocks, over that of one block: 2 if sums are normal. */
    private static final double VARIANCE_OF_SQUARES = 3;
    private static final double MOST_CORRELATION = 0.95;

    private VarianceInflation() {
    }

    /**
     * The largest of three estimates: as if the process were autoregressive, from neighbours; and from blocks of two lengths.
     *
     * @param values in the order of time; NaN where there is none.
     * @return 1 or more.
     */
    static double of(final double[] values) {
        double sum = 0;
        int count = 0;
        double first = Double.NaN;
        for (final double value : values) {
            if (!Double.isNaN(value)) {
                first = Double.isNaN(first) ? value : first;
                sum += value - first;
                count++;
            }
        }
        final double mean = first + sum / count;
        double squares = 0;
        double products = 0;
        int pairs = 0;
        for (int i = 0; i < values.length; i++) {
            if (!Double.isNaN(values[i])) {
                squares += (values[i] - mean) * (values[i] - mean);
                if (i > 0 && !Double.isNaN(values[i - 1])) {
                    products += (values[i] - mean) * (values[i - 1] - mean);
                    pairs++;
                }
            }
        }
        if (squares == 0 || pairs == 0) {
            return 1;
        }
        final double variance = squares / count;
        final double correlation = Math.min(MOST_CORRELATION, products / pairs / variance);
        double most = correlation > SURE / Math.sqrt(pairs) ? (1 + correlation) / (1 - correlation) : 1;
        for (final int length : BLOCKS) {
            most = Math.max(most, ofBlocks(values, length, mean, variance));
        }
        return most;
    }

    private static double ofBlocks(final double[] values, final int length, final double mean, final double variance) {
        double squares = 0;
        int count = 0;
        for (int i = 0; i + length <= values.length; i += length) {
            double block = 0;
            for (int j = i; j < i + length; j++) {
                block += values[j] - mean;
            }
            if (!Double.isNaN(block)) {
                squares += block * block;
                count++;
            }
        }
        final double ratio = squares / count / length / variance;
        return ratio > 1 + SURE * Math.sqrt(VARIANCE_OF_SQUARES / count) ? ratio : 1;
    }
}
