package io.flowlag.rli.clock;

import java.util.Arrays;

/**
 * One direction of a {@link ClockEstimator}: its envelopes, its level, and the least delays of the intervals that wait for a
 * decision. Delays are relative to a base; NaN is absent. One thread. Allocates at construction.
 */
final class Side {
    /** How many times the usual excess over the envelope a change must exceed. */
    private static final double NOISES = 3;
    private static final double NOISE_WEIGHT = 0.125;

    private final Envelope bounding;
    private final Envelope levelled;
    private final long changeNs;
    private final long ageNs;
    private final long[] timesNs;
    private final double[] delaysNs;
    private final double[] excessesNs;
    private int intervals;
    private long openTimeNs;
    private double openNs = Double.NaN;
    /** Of the present path over the shortest one: delays less this are in the levelled envelope. */
    private double detourNs;
    private double noiseNs;
    private double toleranceNs;

    /**
     * A side without delays.
     *
     * @param bounding of the delays as they are: the hard constraints.
     * @param levelled of the delays less the detour of a path that changed.
     */
    Side(final ClockSettings settings, final Envelope bounding, final Envelope levelled) {
        this.bounding = bounding;
        this.levelled = levelled;
        changeNs = settings.changeNs();
        ageNs = settings.ageNs();
        toleranceNs = changeNs;
        final int most = 2 * settings.confirmIntervals() + 1;
        timesNs = new long[most];
        delaysNs = new double[most];
        excessesNs = new double[most];
    }

    /** Keeps the least delay of the open interval, the slope taken out. */
    void offer(final long timeNs, final double delayNs, final double slope) {
        if (Double.isNaN(openNs) || delayNs - slope * (timeNs - openTimeNs) < openNs) {
            openTimeNs = timeNs;
            openNs = delayNs;
        }
    }

    boolean isOpenEmpty() {
        return Double.isNaN(openNs);
    }

    /**
     * The open interval's delay waits at this index.
     *
     * @param slope      expected of the delays.
     * @param slopeError by which it may be wrong.
     * @param isKnown    whether there is a level to compare with.
     */
    void close(final int index, final double slope, final double slopeError, final boolean isKnown) {
        timesNs[index] = openTimeNs;
        delaysNs[index] = openNs;
        excessesNs[index] = Double.NaN;
        if (isKnown && !isOpenEmpty()) {
            // After a step the time since then may be below 0, or beyond what the level is good for.
            final long sinceNs = Math.max(0, Math.min(openTimeNs - levelled.newestNs(), ageNs));
            excessesNs[index] = openNs - detourNs - levelled.height(levelled.newestNs() + sinceNs, slope);
            toleranceNs = changeNs + NOISES * noiseNs + slopeError * sinceNs;
        }
        openNs = Double.NaN;
    }

    double toleranceNs() {
        return toleranceNs;
    }

    /** {@return the least excess over the level from an index to before another, ns; NaN if there is none} */
    double change(final int from, final int to) {
        double leastNs = Double.NaN;
        for (int i = from; i < to; i++) {
            if (!(excessesNs[i] >= leastNs)) {
                leastNs = Double.isNaN(excessesNs[i]) ? leastNs : excessesNs[i];
            }
        }
        return leastNs;
    }

    boolean isFall(final double changeOfNs) {
        return changeOfNs < -toleranceNs;
    }

    boolean isRise(final double changeOfNs) {
        return changeOfNs > toleranceNs;
    }

    /** Lets the last that waits be the first. */
    void keepLast(final int last) {
        timesNs[0] = timesNs[last];
        delaysNs[0] = delaysNs[last];
        excessesNs[0] = excessesNs[last];
    }

    /** Puts delays that waited into the envelopes where nothing changed. A fall that did not last is a wrong timestamp. */
    void settle(final int to) {
        for (int i = 0; i < to; i++) {
            if (!isFall(excessesNs[i])) {
                add(i, true);
                if (!Double.isNaN(excessesNs[i])) {
                    noiseNs += NOISE_WEIGHT * (Math.max(0, Math.min(excessesNs[i], toleranceNs)) - noiseNs);
                }
            }
        }
    }

    /**
     * Puts delays that waited into the envelopes after another path began. Those of the first interval may be of either path.
     *
     * @param byNs change of the level, 0 if this side has none.
     */
    void settleChanged(final int to, final double byNs) {
        detourNs += byNs;
        if (byNs != 0 && Math.abs(detourNs) <= toleranceNs) {
            detourNs = 0;
        } else if (detourNs < 0) {
            levelled.raise(detourNs);
            detourNs = 0;
        }
        for (int i = 0; i < to; i++) {
            add(i, i > 0);
        }
    }

    /**
     * Forgets all but some of the delays that wait.
     *
     * @param byNs by how much the base of the delays becomes larger.
     */
    void restart(final int from, final int to, final double byNs) {
        bounding.clear();
        levelled.clear();
        intervals = 0;
        detourNs = 0;
        for (int i = from; i < to; i++) {
            delaysNs[i] -= byNs;
            add(i, true);
        }
    }

    private void add(final int index, final boolean isLevelled) {
        if (!Double.isNaN(delaysNs[index])) {
            intervals++;
            bounding.add(timesNs[index], delaysNs[index]);
            if (isLevelled) {
                levelled.add(timesNs[index], delaysNs[index] - detourNs);
            }
        }
    }

    /** {@return the index from which the excess stays as it is at last, 1 or more: a slewed clock changes for a while} */
    int steadySince(final int to) {
        int from = to;
        while (from > 1 && !(Math.abs(excessesNs[from - 1] - excessesNs[to - 1]) > toleranceNs)) {
            from--;
        }
        return from;
    }

    /** {@return the last delay that waits, or 0} */
    double waitingNs(final int to) {
        return to == 0 || Double.isNaN(delaysNs[to - 1]) ? 0 : delaysNs[to - 1];
    }

    /** {@return whether there are delays of as many intervals since the last restart} */
    boolean hasIntervals(final int least) {
        return intervals >= least && bounding.count() > 1 && levelled.count() > 1;
    }

    /** Forgets what was measured altogether. */
    void clear() {
        restart(0, 0, 0);
        openNs = Double.NaN;
        noiseNs = 0;
        toleranceNs = changeNs;
        Arrays.fill(excessesNs, Double.NaN);
    }
}
