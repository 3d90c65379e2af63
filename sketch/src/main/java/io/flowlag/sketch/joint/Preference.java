package io.flowlag.sketch.joint;

/**
 * Decides for each flow size whether RLI's own mean is better than the joint one. With few cells, two kinds of flows are
 * indistinguishable, and the prior shifts all of them to the benefit of the smaller kind. Only judges of the same size decide,
 * from this interval and, if few, earlier ones; other sizes carry no information. Allocates at construction.
 */
final class Preference {
    /** With fewer, no preference is made. */
    private static final int LEAST_JUDGES = 30;
    private static final int POOLED_JUDGES = 200;
    private static final int KEPT = 1024;
    /** Doubles that it holds, nearly. */
    static final long VALUES = 2L * (CellSystem.SIZE_BINS + 1) * KEPT;
    private static final int QUARTILES = 4;
    /** Errors below this do not differ. */
    private static final double LEAST_ERROR_NS = 1;
    /** Threshold on the sum of the logarithms of the quartiles' ratios: about 3 % each. */
    private static final double CLEAR = 0.1;

    private final RecentValues ownNs = new RecentValues(KEPT);
    private final RecentValues rliNs = new RecentValues(KEPT);
    private final double[] ownPool = new double[KEPT];
    private final double[] rliPool = new double[KEPT];
    private final boolean[] isRli = new boolean[CellSystem.SIZE_BINS];
    private int pooled;

    void begin() {
        ownNs.begin();
        rliNs.begin();
    }

    void add(final int sizeBin, final double ownErrorNs, final double rliErrorNs) {
        if (ownErrorNs < Double.MAX_VALUE && rliErrorNs < Double.MAX_VALUE) {
            ownNs.add(sizeBin, Math.max(LEAST_ERROR_NS, ownErrorNs));
            rliNs.add(sizeBin, Math.max(LEAST_ERROR_NS, rliErrorNs));
        }
    }

    boolean isRli(final int sizeBin) {
        return isRli[sizeBin];
    }

    void conclude() {
        for (int sizeBin = 0; sizeBin < isRli.length; sizeBin++) {
            pooled = ownNs.take(sizeBin, POOLED_JUDGES, ownPool, 0);
            rliNs.take(sizeBin, POOLED_JUDGES, rliPool, 0);
            isRli[sizeBin] = pooled >= LEAST_JUDGES && advantage() > CLEAR;
        }
    }

    /** Sum over the quartiles of the logarithm of the joint error over RLI's. */
    private double advantage() {
        double sum = 0;
        for (int quartile = 1; quartile < QUARTILES; quartile++) {
            final int rank = pooled * quartile / QUARTILES;
            sum += Math.log(Selection.smallest(ownPool, pooled, rank) / Selection.smallest(rliPool, pooled, rank));
        }
        return sum;
    }
}
