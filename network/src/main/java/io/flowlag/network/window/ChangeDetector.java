package io.flowlag.network.window;

import java.util.Arrays;

/**
 * Tells when the mean delay of a segment has risen, whatever the distribution of its means, from ranks by the statistic of
 * Shiryaev and Roberts (Gordon and Pollak, Annals of Statistics 23, 1995). A window's score is its mean less the reference, over
 * the deviation of both; without a change its rank among the scores of the history and of its hour is as likely as any other.
 * {@link RankBets} has what the rank is worth, 1 on average then: S ← (1 + S)·worth for each kind of rise, and an alarm when the
 * weighted sum of all S is above {@value #THRESHOLD}. Each S less the number of windows is a martingale, so that the mean time to
 * a false alarm is about the threshold for windows that are exchangeable. But references are estimates, and windows correlate;
 * worths are discounted by the correlation that the history shows. Simulated queues had two false alarms in three million windows
 * ({@code flowlag lab network-alarms}). No single window is an alarm.
 * <p>
 * The history is the windows of the last seven days. Each hour of the day of which it has {@value #ENOUGH_DAYS} days has its own
 * reference and deviation, once such hours have a day's windows; before, all windows have one. They are the mean of those
 * windows that are within three deviations of the median, where a deviation is 1.4826 times the median distance, and their
 * deviation as of a normal variable cut there. Windows of alarms are left out while they are the fewer. All is taken at the
 * begin of an hour.
 * <p>
 * One thread; 17 octets for each window of seven days. Allocates at construction and each hour.
 */
public final class ChangeDetector {
    private static final long HOUR_NS = 3_600_000_000_000L;
    private static final int HOURS = 24;
    private static final int DAYS = 7;
    /** Days of the same hour that are enough. */
    private static final int ENOUGH_DAYS = 4;
    /** Before there are so many no window is judged, and no hour has its own reference. */
    private static final int LEAST_WINDOWS = 120;
    private static final double THRESHOLD = 3_000_000;
    private static final long NONE = Long.MIN_VALUE;

    private final long windowNs;
    private final int perHour;
    /** By window modulo their number; NaN without one. */
    private final double[] means;
    private final float[] sigmas;
    /** Whether a window is one of those that raised an alarm. */
    private final boolean[] isRise;
    private final RankBets bets;
    private final double[] statistics = new double[RankBets.KINDS];
    private long hour = NONE;
    private long newest = NONE;
    /** The first window after the statistic was last below 1. */
    private long riseBegin;
    /** Of this hour; null if it is not judged. */
    private Reference reference;

    /** With the length of a window, a divisor of an hour. */
    public ChangeDetector(final long windowNs) {
        if (windowNs <= 0 || HOUR_NS % windowNs != 0) {
            throw new IllegalArgumentException("windowNs=" + windowNs + ": must divide an hour");
        }
        this.windowNs = windowNs;
        perHour = Math.toIntExact(HOUR_NS / windowNs);
        means = new double[Math.multiplyExact(DAYS * HOURS, perHour)];
        Arrays.fill(means, Double.NaN);
        sigmas = new float[means.length];
        isRise = new boolean[means.length];
        bets = new RankBets(means.length, perHour);
    }

    /**
     * Judges a window, and learns it.
     *
     * @param startNs of the window; after that of the window before.
     * @param meanNs  its mean delay; a window without a finite one is as none.
     * @param sigmaNs standard deviation of the mean's error; a window without a finite one is as none.
     * @return whether it is the alarm of a change; the statistic begins anew then.
     */
    public boolean onWindow(final long startNs, final double meanNs, final double sigmaNs) {
        final long window = Math.floorDiv(startNs, windowNs);
        if (window <= newest) {
            throw new IllegalArgumentException("startNs=" + startNs + ": must be after the window before");
        }
        for (long each = Math.max(newest + 1, window - means.length + 1); each <= window; each++) {
            means[slot(each)] = Double.NaN;
        }
        newest = window;
        if (hour != Math.floorDiv(startNs, HOUR_NS)) {
            hour = Math.floorDiv(startNs, HOUR_NS);
            reference = learn(true);
            reference = reference == null ? learn(false) : reference;
        }
        if (!Double.isFinite(meanNs + sigmaNs)) {
            return false;
        }
        means[slot(window)] = meanNs;
        sigmas[slot(window)] = (float)sigmaNs;
        isRise[slot(window)] = false;
        if (reference == null) {
            riseBegin = newest + 1;
            return false;
        }
        return judge(reference.score(meanNs, sigmas[slot(window)]));
    }

    private int slot(final long window) {
        return (int)Math.floorMod(window, (long)means.length);
    }

    private boolean judge(final float score) {
        final int bin = bets.rank(score);
        double sum = 0;
        for (int i = 0; i < RankBets.KINDS; i++) {
            statistics[i] = (1 + statistics[i]) * bets.worth(i, bin);
            sum += bets.weight(i) * statistics[i];
        }
        final boolean isAlarm = sum > THRESHOLD;
        if (isAlarm) {
            for (long each = Math.max(riseBegin, newest - means.length + 1); each <= newest; each++) {
                isRise[slot(each)] = true;
            }
            Arrays.fill(statistics, 0);
        }
        if (isAlarm || sum < 1) {
            riseBegin = newest + 1;
        }
        return isAlarm;
    }

    /**
     * Learns the scores of the history.
     *
     * @param isByHour whether each hour of the day has its reference; else there is one.
     * @return the reference of this hour; null if it cannot be told.
     */
    private Reference learn(final boolean isByHour) {
        final int[] windows = new int[HOURS];
        final int[] rises = new int[HOURS];
        for (int slot = 0; slot < means.length; slot++) {
            if (!Double.isNaN(means[slot])) {
                windows[group(slot, isByHour)]++;
                rises[group(slot, isByHour)] += isRise[slot] ? 1 : 0;
            }
        }
        final int now = group(slot(newest), isByHour);
        final int least = isByHour ? Math.max(LEAST_WINDOWS, ENOUGH_DAYS * perHour) : LEAST_WINDOWS;
        if (windows[now] < least || isByHour && Arrays.stream(windows).filter((each) -> each >= least).sum() < HOURS * perHour) {
            return null;
        }
        final Reference[] references = new Reference[HOURS];
        final double[][] values = new double[HOURS][];
        Arrays.setAll(values, (group) -> new double[windows[group]]);
        final int[] counts = new int[HOURS];
        final boolean[] isTaken = new boolean[means.length];
        for (int slot = 0; slot < means.length; slot++) {
            final int group = group(slot, isByHour);
            isTaken[slot] = windows[group] >= least && !Double.isNaN(means[slot]) &&
                !(isRise[slot] && 2 * rises[group] < windows[group]);
            if (isTaken[slot]) {
                values[group][counts[group]++] = means[slot];
            }
        }
        Arrays.setAll(references, (group) -> counts[group] == 0 ? null : Reference.of(values[group], counts[group]));
        final float[] scores = new float[means.length];
        final int oldest = slot(newest + 1);
        for (int i = 0, slot = oldest; i < scores.length; i++, slot = slot + 1 == scores.length ? 0 : slot + 1) {
            scores[i] = isTaken[slot] ? references[group(slot, isByHour)].score(means[slot], sigmas[slot]) : Float.NaN;
        }
        bets.learn(scores);
        return references[now];
    }

    private int group(final int slot, final boolean isByHour) {
        return isByHour ? slot / perHour % HOURS : 0;
    }

    /** What means usually are. */
    private record Reference(double meanNs, double deviationNs) {
        private static final double MEDIAN_DISTANCE = 1.4826;
        private static final double CUT = 3;
        /** Of a normal variable cut at three deviations. */
        private static final double DEVIATION_OF_CUT = 0.98658;

        /** Of the first means. */
        private static Reference of(final double[] means, final int count) {
            Arrays.sort(means, 0, count);
            final double median = (means[(count - 1) / 2] + means[count / 2]) / 2;
            int low = 0;
            int high = count - 1;
            // What is left is nearer than what was dropped.
            while (high - low >= count / 2 + 1) {
                if (median - means[low] > means[high] - median) {
                    low++;
                } else {
                    high--;
                }
            }
            final double most = CUT * MEDIAN_DISTANCE * Math.max(median - means[low], means[high] - median);
            double sum = 0;
            double squares = 0;
            int near = 0;
            for (int i = 0; i < count; i++) {
                final double distance = means[i] - median;
                if (Math.abs(distance) <= most) {
                    sum += distance;
                    squares += distance * distance;
                    near++;
                }
            }
            final double mean = sum / near;
            return new Reference(median + mean, Math.sqrt(Math.max(0, squares / near - mean * mean)) / DEVIATION_OF_CUT);
        }

        /** Finite, also where nothing deviates. */
        private float score(final double mean, final float sigmaNs) {
            final double spread = Math.sqrt((double)sigmaNs * sigmaNs + deviationNs * deviationNs);
            return mean == meanNs ? 0 : (float)Math.max(-Float.MAX_VALUE, Math.min(Float.MAX_VALUE, (mean - meanNs) / spread));
        }
    }
}
