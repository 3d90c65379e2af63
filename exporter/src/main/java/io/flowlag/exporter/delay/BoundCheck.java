package io.flowlag.exporter.delay;

import java.util.Arrays;

/**
 * The factor for an estimator's bounds that makes them hold for 95 % of witness flows of a size: the 95th percentile of errors
 * over bounds. Sizes with few witnesses use those of all sizes; without enough of these, bounds stay unchanged. Bounds become
 * narrower only with many witnesses of a size. Of several intervals the size is that of one.
 * <p>
 * The bound of a record of several intervals is the average of theirs, as if errors were alike. Cells are hashed anew in each
 * interval, so errors partly average out. How far is learned from witnesses of the size with about as many intervals; what does
 * not average out, such as the error of references, is in their errors. The factor of several intervals is one that holds for
 * 95 % with a confidence of 90 %. Without enough such witnesses it is that of fewer intervals.
 * <p>
 * One thread. Allocates at construction.
 */
public final class BoundCheck {
    private static final int SIZES = 10;
    private static final int ALL_SIZES = 0;
    /** Packets an interval where the next class begins. */
    private static final int[] LIMITS = {2, 4, 10, 32, 100, 316, 1000, 3162};
    /** Classes of one interval, of 2, of 3 to 5, 6 to 11 and so on. */
    private static final int SPANS = 7;
    private static final double SEVERAL = 1.5;
    private static final int KEPT = 512;
    /** Fewer samples give no estimate of the 95th percentile. */
    private static final int LEAST_OF_ALL = 19;
    private static final int LEAST_OF_SIZE = 60;
    private static final int MANY_OF_SIZE = 200;
    private static final int RENEWED = 16;
    private static final double COVERED = 0.95;
    /** Standard deviations below which 90 % of a normal variable are. */
    private static final double CONFIDENT = 1.28;

    private final float[][] ratios = new float[SPANS * SIZES][KEPT];
    private final float[] sorted = new float[KEPT];
    private final int[] counts = new int[SPANS * SIZES];
    private final double[] factors = new double[SPANS * SIZES];
    private final double[] medians = new double[SPANS * SIZES];

    /** No witness yet: bounds stay unchanged. */
    public BoundCheck() {
        Arrays.fill(factors, 1);
    }

    /** Whether a bound is of so many intervals that its errors may average out. */
    public static boolean isOfSeveral(final double intervals) {
        return intervals >= SEVERAL;
    }

    /** A witness flow of so many packets, in about so many equal intervals. */
    public void add(final long packets, final double intervals, final double errorNs, final double boundNs) {
        final float ratio = (float)(errorNs / Math.max(1, boundNs));
        final int span = span(intervals);
        if (span == 0) {
            add(ALL_SIZES, LEAST_OF_ALL, ratio);
        }
        add(index(span, each(packets, intervals)), LEAST_OF_SIZE, ratio);
    }

    private void add(final int index, final int least, final float ratio) {
        ratios[index][counts[index]++ % KEPT] = ratio;
        if (counts[index] == least || counts[index] > least && counts[index] % RENEWED == 0) {
            final int kept = Math.min(KEPT, counts[index]);
            System.arraycopy(ratios[index], 0, sorted, 0, kept);
            Arrays.sort(sorted, 0, kept);
            final double spare = index < SIZES ? 0 : CONFIDENT * Math.sqrt(COVERED * (1 - COVERED) * kept);
            final double factor = sorted[Math.min(kept, (int)Math.ceil(COVERED * (kept + 1) + spare)) - 1];
            final boolean mayNarrow = index >= SIZES || index != ALL_SIZES && kept >= MANY_OF_SIZE;
            factors[index] = mayNarrow ? factor : Math.max(1, factor);
            medians[index] = sorted[kept / 2];
        }
    }

    /** {@return the factor for the bound of a flow of so many packets, in about so many equal intervals} */
    public double factor(final long packets, final double intervals) {
        final int index = known(packets, intervals);
        return factors[counts[index] >= LEAST_OF_SIZE ? index : ALL_SIZES];
    }

    /** {@return the median of errors over bounds that belongs to the factor; NaN if that is of one interval} */
    double median(final long packets, final double intervals) {
        final int index = known(packets, intervals);
        return index >= SIZES ? medians[index] : Double.NaN;
    }

    private int known(final long packets, final double intervals) {
        final double each = each(packets, intervals);
        int span = span(intervals);
        while (span > 0 && counts[index(span, each)] < LEAST_OF_SIZE) {
            span--;
        }
        return index(span, each);
    }

    private static double each(final long packets, final double intervals) {
        return isOfSeveral(intervals) ? packets / intervals : packets;
    }

    private static int span(final double intervals) {
        return Math.max(0, Math.min(SPANS - 1, Math.getExponent(intervals / SEVERAL) + 1));
    }

    /** The class of so many packets an interval: half a decade, or a whole one of single intervals; one packet has its own. */
    private static int index(final int span, final double packets) {
        int size = 1;
        while (size < SIZES - 1 && packets >= LIMITS[size - 1]) {
            size++;
        }
        return span == 0 ? size | 1 : span * SIZES + size;
    }
}
