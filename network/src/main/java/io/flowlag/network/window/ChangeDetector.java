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
 * The history is the windows of the seven days before an hour. Each hour of the day of which it has {@value #ENOUGH_DAYS} days
 * has its own reference and deviation, once such hours have a day's windows; before, all windows have one. They are the mean of
 * those windows that are within three deviations of the median, where a deviation is 1.4826 times the median distance, and their
 * deviation as of a normal variable cut there. Windows of alarms are left out while they are the fewer. All is taken at the
 * begin of an hour.
 * <p>
 * One thread; 17 octets for each window of seven days and an hour. Allocates at construction and each hour.
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
    /** Of a window: that it raised no alarm, that it did, and that it did in this hour, which learned without that. */
    private static final byte USUAL = 0;
    private static final byte RISE = 1;
    private static final byte NEW_RISE = 2;

    private final long windowNs;
    private final int perHour;
    /** Windows of seven days. */
    private final int most;
    /** By window modulo their number; NaN without one. */
    private final float[] means;
    private final float[] sigmas;
    /** Whether a window is one of those that raised an alarm. */
    private final byte[] rises;
    private final RankBets bets;
    private final double[] statistics = new double[RankBets.KINDS];
    private long newest = NONE;
    /** The first window after the statistic was last below 1. */
    private long riseBegin;
    /** Of this hour; null if it is not judged. */
    private Reference reference;

    /**
     * What is known, to be kept elsewhere. Immutable: the arrays are not to be changed.
     *
     * @param means      of the windows, that of the n-th since the epoch at n modulo their number; NaN without one.
     * @param sigmas     of these.
     * @param rises      whether each is of a rise: not, or one known when the hour began, or one since then.
     * @param statistics by kind of rise.
     * @param newest     window.
     * @param riseBegin  the first window since the statistic was below 1.
     */
    public record State(float[] means, float[] sigmas, byte[] rises, double[] statistics, long newest, long riseBegin) {
    }

    /** With the length of a window, a divisor of an hour. */
    public ChangeDetector(final long windowNs) {
        if (windowNs <= 0 || HOUR_NS % windowNs != 0) {
            throw new IllegalArgumentException("windowNs=" + windowNs + ": must divide an hour");
        }
        this.windowNs = windowNs;
        perHour = Math.toIntExact(HOUR_NS / windowNs);
        most = Math.multiplyExact(DAYS * HOURS, perHour);
        means = new float[Math.addExact(most, perHour)];
        Arrays.fill(means, Float.NaN);
        sigmas = new float[means.length];
        rises = new byte[means.length];
        bets = new RankBets(most, perHour);
    }

    /** With what was known by windows of the same length. Learns this hour's reference again. */
    public ChangeDetector(final long windowNs, final State state) {
        this(windowNs);
        if (state.means.length != means.length) {
            throw new IllegalArgumentException("a state of " + state.means.length + " windows: must be " + means.length);
        }
        System.arraycopy(state.means, 0, means, 0, means.length);
        System.arraycopy(state.sigmas, 0, sigmas, 0, means.length);
        System.arraycopy(state.rises, 0, rises, 0, means.length);
        System.arraycopy(state.statistics, 0, statistics, 0, statistics.length);
        newest = state.newest;
        riseBegin = state.riseBegin;
        if (newest != NONE) {
            learn();
        }
        for (long each = begin(); reference != null && each <= newest; each++) {
            if (!Double.isNaN(means[slot(each)])) {
                bets.rank(reference.score(means[slot(each)], sigmas[slot(each)]));
            }
        }
    }

    /** {@return a copy of what is known} */
    public State state() {
        return new State(means.clone(), sigmas.clone(), rises.clone(), statistics.clone(), newest, riseBegin);
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
            means[slot(each)] = Float.NaN;
        }
        final boolean isNewHour = newest < Math.floorDiv(window, perHour) * perHour;
        newest = window;
        if (isNewHour) {
            for (int slot = 0; slot < rises.length; slot++) {
                rises[slot] = rises[slot] == USUAL ? USUAL : RISE;
            }
            learn();
        }
        if (!Double.isFinite(meanNs + sigmaNs)) {
            return false;
        }
        means[slot(window)] = (float)meanNs;
        sigmas[slot(window)] = (float)sigmaNs;
        rises[slot(window)] = USUAL;
        if (reference == null) {
            riseBegin = newest + 1;
            return false;
        }
        return judge(reference.score(means[slot(window)], sigmas[slot(window)]));
    }

    /** {@return the usual mean of this hour, or NaN if it is not known} */
    public double usualNs() {
        return reference == null ? Double.NaN : reference.meanNs;
    }

    private int slot(final long window) {
        return (int)Math.floorMod(window, (long)means.length);
    }

    /** {@return the first window of the newest one's hour} */
    private long begin() {
        return Math.floorDiv(newest, perHour) * perHour;
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
                rises[slot(each)] = rises[slot(each)] == RISE ? RISE : NEW_RISE;
            }
            Arrays.fill(statistics, 0);
        }
        if (isAlarm || sum < 1) {
            riseBegin = newest + 1;
        }
        return isAlarm;
    }

    private void learn() {
        reference = learn(true);
        reference = reference == null ? learn(false) : reference;
    }

    /**
     * Learns the scores of the history.
     *
     * @param isByHour whether each hour of the day has its reference; else there is one.
     * @return the reference of this hour; null if it cannot be told.
     */
    private Reference learn(final boolean isByHour) {
        final long oldest = begin() - most;
        final int[] windows = new int[HOURS];
        final int[] risen = new int[HOURS];
        for (int i = 0; i < most; i++) {
            if (!Double.isNaN(means[slot(oldest + i)])) {
                windows[group(oldest + i, isByHour)]++;
                risen[group(oldest + i, isByHour)] += rises[slot(oldest + i)] == RISE ? 1 : 0;
            }
        }
        final int now = group(newest, isByHour);
        final int least = isByHour ? Math.max(LEAST_WINDOWS, ENOUGH_DAYS * perHour) : LEAST_WINDOWS;
        if (windows[now] < least || isByHour && Arrays.stream(windows).filter((each) -> each >= least).sum() < HOURS * perHour) {
            return null;
        }
        final Reference[] references = new Reference[HOURS];
        final double[][] values = new double[HOURS][];
        Arrays.setAll(values, (group) -> new double[windows[group]]);
        final int[] counts = new int[HOURS];
        final boolean[] isTaken = new boolean[most];
        for (int i = 0; i < most; i++) {
            final int slot = slot(oldest + i);
            final int group = group(oldest + i, isByHour);
            isTaken[i] = windows[group] >= least && !Double.isNaN(means[slot]) &&
                !(rises[slot] == RISE && 2 * risen[group] < windows[group]);
            if (isTaken[i]) {
                values[group][counts[group]++] = means[slot];
            }
        }
        Arrays.setAll(references, (group) -> counts[group] == 0 ? null : Reference.of(values[group], counts[group]));
        final float[] scores = new float[most];
        for (int i = 0; i < most; i++) {
            final int slot = slot(oldest + i);
            scores[i] = isTaken[i] ? references[group(oldest + i, isByHour)].score(means[slot], sigmas[slot]) : Float.NaN;
        }
        bets.learn(scores);
        return references[now];
    }

    private int group(final long window, final boolean isByHour) {
        return isByHour ? (int)Math.floorMod(Math.floorDiv(window, (long)perHour), (long)HOURS) : 0;
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
