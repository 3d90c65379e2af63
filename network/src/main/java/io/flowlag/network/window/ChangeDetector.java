package io.flowlag.network.window;

import java.util.Arrays;

/**
 * Tells when the mean delay of a segment has risen, by the statistic of Shiryaev and Roberts. With u the mean less its reference,
 * over the deviation of both, at most {@value #MOST_SHIFT}, so that a single window is no change, S ← (1 + S) exp(δu − δ²/2)/c
 * for shifts δ of 1 and 3, and an alarm when their mean, of weights 0.1 and 0.9, is above {@value #THRESHOLD}. c is the mean of
 * the exponential without a shift, so that this mean less the number of windows is a martingale: the mean time to a false alarm
 * is the mean at the alarm, which exceeds the threshold. For normal means whose reference is known it is 1.4·10⁶ windows, and a
 * rise of three deviations raises an alarm within three windows with probability 0.56: not much sooner is possible.
 * Means with heavy tails raise more false alarms ({@code flowlag lab network-locate}).
 * <p>
 * The reference is the mean of the same hour in the last seven days, or, until there are enough days, of all hours in the last
 * 24, of those windows that are within three deviations of the median, where a deviation is 1.4826 times the median distance;
 * its deviation is that of these windows, as of a normal variable cut there. Both are taken at the begin of an hour.
 * One thread; memory of seven days of windows; allocates at construction and each hour.
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
    private static final double THRESHOLD = 400_000;
    private static final double MEDIAN_DISTANCE = 1.4826;
    private static final double CUT = 3;
    /** Of a normal variable cut at three deviations. */
    private static final double DEVIATION_OF_CUT = 0.98658;
    private static final double[] WEIGHTS = {0.1, 0.9};
    /** δ²/2 + ln c of shifts 1 and 3: c is Φ(4 − δ) + exp(4δ − δ²/2) Φ(−4). */
    private static final double[] LOSSES = {0.4996988641, 4.3930912805};

    private final int perHour;
    /** Means by hour of the day; a ring each. */
    private final double[][] means = new double[HOURS][];
    private final long[] counts = new long[HOURS];
    private final double[] statistics = new double[LOSSES.length];
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
        double sum = 0;
        for (int i = 0; i < LOSSES.length; i++) {
            statistics[i] = (1 + statistics[i]) * Math.exp((2 * i + 1) * shift - LOSSES[i]);
            sum += WEIGHTS[i] * statistics[i];
        }
        final boolean isAlarm = sum > THRESHOLD;
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
        final double median = median(count);
        final double[] values = Arrays.copyOf(sorted, count);
        for (int i = 0; i < count; i++) {
            sorted[i] = Math.abs(sorted[i] - median);
        }
        final double most = CUT * MEDIAN_DISTANCE * median(count);
        final double[] near = Arrays.stream(values).filter((each) -> Math.abs(each - median) <= most).toArray();
        reference = Arrays.stream(near).average().orElse(median);
        deviation = Math.sqrt(Arrays.stream(near).map((each) -> (each - reference) * (each - reference)).average().orElse(0)) /
            DEVIATION_OF_CUT;
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
