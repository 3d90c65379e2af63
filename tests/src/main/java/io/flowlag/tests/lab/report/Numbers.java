package io.flowlag.tests.lab.report;

import java.util.Arrays;
import java.util.Locale;

/** Order statistics, and numbers as text. NaN marks absent values, which are left out. */
public final class Numbers {
    private static final double[] CDF_SHARES = cdfShares();

    private Numbers() {
    }

    private static double[] cdfShares() {
        final double[] shares = new double[49];
        for (int i = 0; i < shares.length; i++) {
            shares[i] = (i + 1) / 50.0;
        }
        return shares;
    }

    /**
     * The value that a share of the values does not exceed.
     *
     * @param values in any order; left as they are.
     * @param share  0 to 1.
     * @return the value; NaN if there is none.
     */
    public static double quantile(final double[] values, final double share) {
        final double[] sorted = present(values);
        if (sorted.length == 0) {
            return Double.NaN;
        }
        return sorted[(int) Math.min(sorted.length - 1, Math.floor(share * sorted.length))];
    }

    /**
     * The middle value; of an even number the mean of the two in the middle.
     *
     * @param values in any order; left as they are.
     * @return the median; NaN if there is none.
     */
    public static double median(final double[] values) {
        final double[] sorted = present(values);
        return sorted.length == 0 ? Double.NaN : (sorted[(sorted.length - 1) / 2] + sorted[sorted.length / 2]) / 2;
    }

    /**
     * The mean of what is present.
     *
     * @param values in any order.
     * @return the mean; NaN if there is none.
     */
    public static double mean(final double[] values) {
        return Arrays.stream(values).filter(value -> !Double.isNaN(value)).average().orElse(Double.NaN);
    }

    /**
     * The distribution of values, for a plot.
     *
     * @param values in any order.
     * @return values that 2, 4, …, 98 % of the values do not exceed; NaN if there is none.
     */
    public static double[] percentiles(final double[] values) {
        final double[] sorted = present(values);
        return Arrays.stream(CDF_SHARES).map(share -> sorted.length == 0 ? Double.NaN :
            sorted[(int) Math.min(sorted.length - 1, Math.floor(share * sorted.length))]).toArray();
    }

    /** {@return the shares that {@link #percentiles} belongs to, 0 to 1} */
    public static double[] shares() {
        return CDF_SHARES.clone();
    }

    private static double[] present(final double[] values) {
        final double[] sorted = Arrays.stream(values).filter(value -> !Double.isNaN(value)).toArray();
        Arrays.sort(sorted);
        return sorted;
    }

    /**
     * A number to read: four significant digits, no exponent between 0.001 and 10 million.
     *
     * @param value any; NaN is absent.
     */
    public static String text(final double value) {
        if (Double.isNaN(value)) {
            return "–";
        }
        final double magnitude = Math.abs(value);
        if (magnitude == 0 || value == Math.rint(value) && magnitude < 1e9) {
            return String.format(Locale.ROOT, "%d", (long) value);
        }
        if (magnitude >= 1e7 || magnitude < 1e-3) {
            return String.format(Locale.ROOT, "%.2e", value);
        }
        final int digits = Math.max(0, 3 - (int) Math.floor(Math.log10(magnitude)));
        return String.format(Locale.ROOT, "%." + digits + "f", value);
    }
}
