package io.flowlag.network.window;

import java.util.Arrays;

/**
 * Tells when the mean delay of a segment has risen, by the statistic of Shiryaev and Roberts. With u the mean less its reference,
 * over the deviation of both, S ← (1 + S) exp(δu − δ²/2) for shifts δ of ½, 1, 2 and 4, and an alarm when their mean is above
 * 10⁶. S less the number of windows is a martingale without a shift, so that the mean time to a false alarm is at least 10⁶
 * windows if the reference is true. u counts as {@value #MOST_SHIFT} at most: a single window is no change.
 * <p>
 * The reference is the median of the same hour in the last seven days, or, until there are enough days, of all hours in the last
 * 24; its deviation is 1.4826 times the median distance from it. Both are taken at the begin of an hour. A rise of three
 * deviations raises the alarm in its fourth window at the median. One thread; memory of seven days of windows.
 */
public final class ChangeDetector {
    private static final long HOUR_NS = 3_600_000_000_000L;
    private static final int HOURS = 24;
    private static final int DAYS = 7;
    /** Days of the same hour that are enough. */
    private static final int ENOUGH_DAYS = 4;
    /** A window before there are so many is not judged. */
    private static final int LEAST_WINDOWS = 120;
    private static final double MOST_SHIFT = 4;
    private static final double THRESHOLD = 1e6;
    private static final double MEDIAN_DISTANCE = 1.4826;
    private static final int SHIFTS = 4;

    private final int perHour;
    /** Means by hour of the day; a ring each. */
    private final double[][] means = new double[HOURS][];
    private final long[] counts = new long[HOURS];
    private final double[] statistics = new double[SHIFTS];
    private final double[] sorted;
    private long hour = Long.MIN_VALUE;
    private double reference = Double.NaN;
    private double deviation;

    /** With the length of a window, at most an hour. */
    public ChangeDetector(final long windowNs) {
        perHour = Math.toIntExact(HOUR_NS / windowNs);
        for (int i = 0; i < HOURS; i++) {
            means[i] = new double[DAYS * perHour];
        }
        sorted = new double[Math.max(DAYS, HOURS) * perHour];
    }

    /**
     * Judges a window, and learns it.
     *
     * @param startNs of the window; not before that of the window before.
     * @param meanNs  its mean delay.
     * @param sigmaNs standard deviation of the mean's error.
     * @return whether it is the alarm of a change; the statistic begins anew then.
     */
    public boolean onWindow(final long startNs, final double meanNs, final double sigmaNs) {
        final long nowHour = Math.floorDiv(startNs, HOUR_NS);
        if (nowHour != hour) {
            hour = nowHour;
            refer(Math.floorMod(hour, HOURS));
        }
        final boolean isAlarm = !Double.isNaN(reference) && judge(meanNs, sigmaNs);
        final double[] ring = means[Math.floorMod(hour, HOURS)];
        ring[(int)(counts[Math.floorMod(hour, HOURS)]++ % ring.length)] = meanNs;
        return isAlarm;
    }

    private boolean judge(final double meanNs, final double sigmaNs) {
        final double spread = Math.sqrt(sigmaNs * sigmaNs + deviation * deviation);
        final double shift = spread == 0 ? Math.signum(meanNs - reference) * MOST_SHIFT :
            Math.min(MOST_SHIFT, (meanNs - reference) / spread);
        double ratio = Math.exp(shift / 2);
        double delta = 0.5;
        double sum = 0;
        for (int i = 0; i < SHIFTS; i++) {
            statistics[i] = (1 + statistics[i]) * ratio * Math.exp(-delta * delta / 2);
            sum += statistics[i];
            ratio *= ratio;
            delta *= 2;
        }
        final boolean isAlarm = sum / SHIFTS > THRESHOLD;
        if (isAlarm) {
            Arrays.fill(statistics, 0);
        }
        return isAlarm;
    }

    private void refer(final int hourOfDay) {
        int count = 0;
        if (counts[hourOfDay] >= (long)ENOUGH_DAYS * perHour) {
            count = take(hourOfDay, DAYS * perHour, count);
        } else {
            for (int i = 0; i < HOURS; i++) {
                count = take(i, perHour, count);
            }
        }
        if (count < LEAST_WINDOWS) {
            reference = Double.NaN;
            return;
        }
        reference = median(count);
        for (int i = 0; i < count; i++) {
            sorted[i] = Math.abs(sorted[i] - reference);
        }
        deviation = MEDIAN_DISTANCE * median(count);
    }

    /** Takes the last means of an hour of the day. */
    private int take(final int hourOfDay, final int most, final int begin) {
        final double[] ring = means[hourOfDay];
        int count = begin;
        for (long i = Math.max(0, counts[hourOfDay] - most); i < counts[hourOfDay]; i++) {
            sorted[count++] = ring[(int)(i % ring.length)];
        }
        return count;
    }

    private double median(final int count) {
        Arrays.sort(sorted, 0, count);
        return (sorted[(count - 1) / 2] + sorted[count / 2]) / 2;
    }
}
