package io.flowlag.sketch.joint;

/**
 * Split-conformal factors for each size bin: the smallest factor by which the half widths of 95 % of the witnesses must be
 * stretched to hold the truth. Bins with few witnesses borrow those of earlier intervals, then of the nearest sizes. Allocates at
 * construction.
 */
final class Calibration {
    /** With fewer, no bound can be promised for 95 %. */
    static final int LEAST_WITNESSES = 19;
    private static final int POOLED_WITNESSES = 200;
    /** Witnesses kept of the same size, from earlier intervals: with 200 alone the covered share varies by 1.5 %. */
    private static final int OWN_WITNESSES = 1000;
    private static final int KEPT = 2048;
    /** Doubles that a calibration holds, nearly. */
    static final long VALUES = 2L * CellSystem.SIZE_BINS * KEPT;
    private static final double LARGEST_RATIO = 1e12;
    private static final double COVERED = 0.95;

    private final RecentValues ratios = new RecentValues(KEPT);
    private final double[] pool = new double[CellSystem.SIZE_BINS * KEPT];
    private final double[] factor = new double[CellSystem.SIZE_BINS];
    private final boolean[] isConcluded = new boolean[CellSystem.SIZE_BINS];
    private int pooled;

    void begin() {
        ratios.begin();
    }

    void add(final int sizeBin, final double value) {
        if (value >= 0 && value < LARGEST_RATIO) {
            ratios.add(sizeBin, value);
        }
    }

    void forget(final int sizeBin) {
        ratios.forget(sizeBin);
    }

    void forget() {
        ratios.forget();
    }

    /** Whether a size has enough witnesses. */
    boolean isConcluded(final int sizeBin) {
        return isConcluded[sizeBin];
    }

    void conclude() {
        for (int sizeBin = 0; sizeBin < factor.length; sizeBin++) {
            pooled = 0;
            for (int distance = 0; distance < factor.length && pooled < POOLED_WITNESSES; distance++) {
                take(sizeBin - distance, distance == 0 ? OWN_WITNESSES : POOLED_WITNESSES);
                if (distance > 0) {
                    take(sizeBin + distance, POOLED_WITNESSES);
                }
            }
            isConcluded[sizeBin] = pooled >= LEAST_WITNESSES;
            factor[sizeBin] = isConcluded[sizeBin] ? quantile() : 1;
        }
    }

    /** 1 without enough witnesses. */
    double factor(final int sizeBin) {
        return factor[sizeBin];
    }

    private void take(final int sizeBin, final int least) {
        if (sizeBin >= 0 && sizeBin < factor.length) {
            pooled = ratios.take(sizeBin, least, pool, pooled);
        }
    }

    private double quantile() {
        final int rank = (int)Math.ceil(COVERED * (pooled + 1));
        return Selection.smallest(pool, pooled, Math.min(pooled, rank) - 1);
    }
}
