package io.flowlag.rli.receiver;

/**
 * The scale of an interpolated delay's error, by what its two references tell: the time between their departures, within which a
 * packet between them must have left too, and how far the lower of their delays is above the least one, since an empty queue
 * holds no surprise. A scale is the mean |error| of held-out references that were like it in both, in steps of half an octave.
 * Where few were, it leans towards the mean of all with such departures, and that towards the mean of all.
 *
 * <p>The errors of a period count half as much as those of the next. One thread. Allocates at construction.
 */
final class ErrorScales {
    /** A scale is given from so many errors on. */
    static final int LEAST_COUNT = 20;

    private static final int STEPS = 64;
    private static final int ALL = STEPS * STEPS + STEPS;
    /** As many errors have the mean that a scale leans towards. */
    private static final float LEANING = 20;
    /** Of a double's bits: the exponent, and the first bit of the mantissa. */
    private static final int STEP_SHIFT = 51;
    private static final int FIRST_STEP = 2 * Double.MAX_EXPONENT;
    private static final long NONE = Long.MAX_VALUE;

    /** By departures and delay, then by departures, then of all. */
    private final float[] counts = new float[ALL + 1];
    private final float[] sumsNs = new float[ALL + 1];
    private long leastDelayNs = NONE;
    private long leastDelayBeforeNs = NONE;

    /** {@return octets, by formula} */
    static long memoryBytes() {
        return 2L * (ALL + 1) * Float.BYTES;
    }

    /** A reference's delay, without what its own length adds. */
    void onDelay(final double delayNs) {
        leastDelayNs = Math.min(leastDelayNs, Math.round(delayNs));
    }

    /**
     * Which errors are alike.
     *
     * @param departuresNs time between the departures of the two references.
     * @param delayNs      the lower of their delays, without what their own lengths add.
     * @return an index for {@link #scaleNs} and {@link #record}.
     */
    int kind(final double departuresNs, final double delayNs) {
        return step(departuresNs) * STEPS + step(delayNs - Math.min(leastDelayNs, leastDelayBeforeNs));
    }

    private static int step(final double ns) {
        return Math.min(STEPS - 1, (int)(Double.doubleToRawLongBits(Math.max(1, ns)) >>> STEP_SHIFT) - FIRST_STEP);
    }

    /** Adds an error, of either sign. */
    void record(final int kind, final double errorNs) {
        final float absoluteNs = (float)Math.abs(errorNs);
        add(kind, absoluteNs);
        add(STEPS * STEPS + kind / STEPS, absoluteNs);
        add(ALL, absoluteNs);
    }

    private void add(final int index, final float absoluteNs) {
        counts[index]++;
        sumsNs[index] += absoluteNs;
    }

    /** {@return the scale of such an error, 1 ns or more; 0 while it is not known} */
    float scaleNs(final int kind) {
        if (counts[ALL] < LEAST_COUNT) {
            return 0;
        }
        return Math.max(1, leaning(kind, leaning(STEPS * STEPS + kind / STEPS, sumsNs[ALL] / counts[ALL])));
    }

    private float leaning(final int index, final float towardsNs) {
        return (sumsNs[index] + LEANING * towardsNs) / (counts[index] + LEANING);
    }

    /** {@return the scale of an error of which nothing is known; only with an error} */
    double meanNs() {
        return Math.max(1, sumsNs[ALL] / counts[ALL]);
    }

    /** Begins a new period. */
    void rotate() {
        for (int i = 0; i <= ALL; i++) {
            counts[i] /= 2;
            sumsNs[i] /= 2;
        }
        leastDelayBeforeNs = leastDelayNs;
        leastDelayNs = NONE;
    }
}
