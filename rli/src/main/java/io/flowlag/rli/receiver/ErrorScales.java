package io.flowlag.rli.receiver;

import java.util.Arrays;

/**
 * The scale of an interpolated delay's error, by three properties of its two references:
 * <ul>
 *   <li>the time between their departures, within which a packet between them left too, in steps of half an octave;</li>
 *   <li>how far the lower of their delays is above the least one, in octaves: an empty queue changes little;</li>
 *   <li>how much the delay changes in that time: a queue drains, hardly changes, or is filled by a burst.</li>
 * </ul>
 * A scale is the mean |error| of held-out references that were like it in all three. With few of these, it shrinks towards the
 * mean of those alike in the first two, that towards the mean of those alike in the first, and that towards the mean of all.
 * Where departures are further apart than average, the mean of all grows in proportion: in a queue an error is at most the time
 * between departures.
 *
 * <p>The errors of a period count half as much as those of the next. One thread. Allocates at construction.
 */
final class ErrorScales {
    /** Errors needed for a scale. */
    static final int LEAST_COUNT = 20;

    private static final int STEPS = 64;
    private static final int OCTAVES = STEPS / 2;
    /** Limits between the kinds of delay change, as ratios to the time between departures. */
    private static final double[] CHANGES = {-0.75, -0.1, 1};
    private static final int KINDS_OF_CHANGE = CHANGES.length + 1;
    /** A kind is an index into the first part; the other parts hold the means by two, one and none of its properties. */
    private static final int BY_DELAY = STEPS * OCTAVES * KINDS_OF_CHANGE;
    private static final int BY_DEPARTURES = BY_DELAY + STEPS * OCTAVES;
    private static final int ALL = BY_DEPARTURES + STEPS;
    /** Weight, in errors, of the mean that a scale shrinks towards. */
    private static final float LEANING = 20;
    /** Shift that keeps a double's exponent and the first bit of its mantissa. */
    private static final int STEP_SHIFT = 51;
    private static final int FIRST_STEP = 2 * Double.MAX_EXPONENT;
    private static final long NONE = Long.MAX_VALUE;

    private final float[] counts = new float[ALL + 1];
    private final float[] sumsNs = new float[ALL + 1];
    /** Of the times between departures of all errors. */
    private double departuresSumNs;
    private long leastDelayNs = NONE;
    private long leastDelayBeforeNs = NONE;

    /** {@return octets, by formula} */
    static long memoryBytes() {
        return 2L * (ALL + 1) * Float.BYTES;
    }

    /** Adds a reference's delay, without its own transmission time. */
    void onDelay(final double delayNs) {
        leastDelayNs = Math.min(leastDelayNs, Math.round(delayNs));
    }

    /**
     * Returns the kind of an error.
     *
     * @param departuresNs time between the departures of the two references.
     * @param fromDelayNs  of the first, without its own transmission time.
     * @return an index for {@link #scaleNs} and {@link #record}.
     */
    int kind(final double departuresNs, final double fromDelayNs, final double toDelayNs) {
        final double aboveNs = aboveLeastNs(Math.min(fromDelayNs, toDelayNs));
        final double change = (toDelayNs - fromDelayNs) / Math.max(1, departuresNs);
        int kindOfChange = 0;
        while (kindOfChange < CHANGES.length && change > CHANGES[kindOfChange]) {
            kindOfChange++;
        }
        return (step(departuresNs) * OCTAVES + step(aboveNs) / 2) * KINDS_OF_CHANGE + kindOfChange;
    }

    /** {@return how far a delay is above the least one; negative below it} */
    double aboveLeastNs(final double delayNs) {
        return delayNs - Math.min(leastDelayNs, leastDelayBeforeNs);
    }

    private static int step(final double ns) {
        return Math.min(STEPS - 1, (int)(Double.doubleToRawLongBits(Math.max(1, ns)) >>> STEP_SHIFT) - FIRST_STEP);
    }

    private static int byDelay(final int kind) {
        return BY_DELAY + kind / KINDS_OF_CHANGE;
    }

    private static int byDepartures(final int kind) {
        return BY_DEPARTURES + kind / (OCTAVES * KINDS_OF_CHANGE);
    }

    /** The lower end of its step. */
    private static double departuresNs(final int kind) {
        return Double.longBitsToDouble((long)(kind / (OCTAVES * KINDS_OF_CHANGE) + FIRST_STEP) << STEP_SHIFT);
    }

    /** Adds an error, of either sign. */
    void record(final int kind, final double errorNs) {
        final float absoluteNs = (float)Math.abs(errorNs);
        add(kind, absoluteNs);
        add(byDelay(kind), absoluteNs);
        add(byDepartures(kind), absoluteNs);
        add(ALL, absoluteNs);
        departuresSumNs += departuresNs(kind);
    }

    private void add(final int index, final float absoluteNs) {
        counts[index]++;
        sumsNs[index] += absoluteNs;
    }

    /** {@return the scale of such an error, 1 ns or more; 0 while unknown} */
    float scaleNs(final int kind) {
        if (counts[ALL] < LEAST_COUNT) {
            return 0;
        }
        final double longer = Math.max(1, departuresNs(kind) * counts[ALL] / departuresSumNs);
        final float ofAllNs = (float)(longer * sumsNs[ALL] / counts[ALL]);
        return Math.max(1, leaning(kind, leaning(byDelay(kind), leaning(byDepartures(kind), ofAllNs))));
    }

    private float leaning(final int index, final float towardsNs) {
        return (sumsNs[index] + LEANING * towardsNs) / (counts[index] + LEANING);
    }

    /** {@return the mean scale over all errors; only with an error} */
    double meanNs() {
        return Math.max(1, sumsNs[ALL] / counts[ALL]);
    }

    /** Forgets all errors; the least delay stays. */
    void forget() {
        Arrays.fill(counts, 0);
        Arrays.fill(sumsNs, 0);
        departuresSumNs = 0;
    }

    /** Begins a new period. */
    void rotate() {
        for (int i = 0; i <= ALL; i++) {
            counts[i] /= 2;
            sumsNs[i] /= 2;
        }
        departuresSumNs /= 2;
        leastDelayBeforeNs = leastDelayNs;
        leastDelayNs = NONE;
    }
}
