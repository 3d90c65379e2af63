package io.flowlag.network.window;

import java.util.Arrays;
import java.util.SplittableRandom;
import java.util.stream.IntStream;

/**
 * What the rank of a score among earlier ones is worth as evidence for rises of several kinds: its probability after the rise
 * over that without one, where each rank is as likely as any other. After a rise by a shift scores are earlier ones plus the
 * shift; these say how often each rank occurs then. After a rise of the last kind, of any size, the probability of a rank from
 * above is in proportion to its inverse. Ranks are taken together in bins; each ends at 1.2 times the rank at which the one above
 * it ends.
 * <p>
 * The evidence of correlated windows adds up to too much: worths are raised to the power of one over the variance inflation of
 * their logarithms. One thread; allocates as it learns.
 */
final class RankBets {
    /** In deviations. */
    private static final double[] SHIFTS = {1, 3, 5, 6.5, 8.5, 11, 14, 18, 24, 31, 40, 52, 67, 87};
    private static final double[] WEIGHTS =
        {0.05, 0.5, 0.03, 0.03, 0.03, 0.03, 0.03, 0.03, 0.03, 0.03, 0.03, 0.03, 0.03, 0.03, 0.09};
    /** Of rises: by each shift, and of any size. */
    static final int KINDS = WEIGHTS.length;
    /** The first kinds, whose worths tell correlation. */
    private static final int TELLING_KINDS = 2;
    /** Of windows after a rise: as likely of any rank, so that one that has not risen does not end all evidence. */
    private static final double EVEN_SHARE = 0.01;
    /** Of a rank. */
    private static final int MOST_WORTH = 30_000;
    private static final double WIDER = 1.2;
    private static final int MOST_BINS = 96;
    private static final int WALKS = 100;
    private static final double LEAST_OVERSHOOT = 0.1;
    private static final int MOST_STEPS = 100;
    private static final double WALKED = Math.log(10_000);

    private final float[] sorted;
    private int count;
    /** Scores since it learned. */
    private final float[] recent;
    private int recentCount;
    /** The last rank of each bin. */
    private int[] ends;
    /** By kind and bin. */
    private final double[][] worths = new double[KINDS][];
    /** Of the telling kinds: the mean of a threshold over the evidence that exceeds it, after a rise; else 1. */
    private final double[] overshoots = new double[KINDS];

    /** For so many earlier scores, and so many from one time of learning to the next. */
    RankBets(final int most, final int mostRecent) {
        sorted = new float[most];
        recent = new float[mostRecent];
    }

    /** {@return the weight of a kind's evidence: the larger, the more it exceeds a threshold when it does} */
    double weight(final int kind) {
        return WEIGHTS[kind] / overshoots[kind];
    }

    /** {@return what a rank of a bin is worth as evidence for a kind} */
    double worth(final int kind, final int bin) {
        return worths[kind][bin];
    }

    /** {@return the bin of a score's rank, from above, among the earlier scores and those since, to which it belongs then} */
    int rank(final float score) {
        int rank = 1 + count - firstFrom(score);
        for (int i = 0; i < recentCount; i++) {
            rank += recent[i] >= score ? 1 : 0;
        }
        final double scaled = rank * (count + 1.0) / (count + recentCount + 1);
        recent[recentCount++] = score;
        int bin = 0;
        while (bin < ends.length - 1 && scaled > ends[bin]) {
            bin++;
        }
        return bin;
    }

    /** The first of the sorted scores that is not smaller. */
    private int firstFrom(final float score) {
        int low = 0;
        int high = count;
        while (low < high) {
            final int middle = (low + high) >>> 1;
            if (sorted[middle] < score) {
                low = middle + 1;
            } else {
                high = middle;
            }
        }
        return low;
    }

    /** Learns earlier scores, in the order of time; NaN where there is none. */
    void learn(final float[] scores) {
        count = 0;
        recentCount = 0;
        for (final float score : scores) {
            if (!Float.isNaN(score)) {
                sorted[count++] = score;
            }
        }
        Arrays.sort(sorted, 0, count);
        final int[] all = new int[MOST_BINS];
        int bins = 0;
        double end = Math.max(1, (count + 1) / MOST_WORTH);
        while (end < count + 1) {
            all[bins++] = (int)end;
            end = Math.max(Math.floor(end) + 1, end * WIDER);
        }
        all[bins++] = count + 1;
        ends = Arrays.copyOf(all, bins);
        for (int kind = 0; kind < KINDS; kind++) {
            worths[kind] = kind < SHIFTS.length ? ofShift(SHIFTS[kind]) : ofAnySize();
        }
        final double[][] shares = new double[KINDS][];
        Arrays.setAll(shares, (kind) ->
            IntStream.range(0, ends.length).mapToDouble((bin) -> worths[kind][bin] * width(bin)).toArray());
        discount(scores);
        Arrays.setAll(overshoots, (kind) -> kind < TELLING_KINDS ? overshoot(shares[kind], worths[kind]) : 1);
    }

    /** By walks of a seed: so much rarer is a false alarm than one in as many windows as the threshold. */
    private static double overshoot(final double[] shares, final double[] worth) {
        final double[] logarithms = Arrays.stream(worth).map(Math::log).toArray();
        final SplittableRandom random = new SplittableRandom(1);
        double sum = 0;
        for (int walk = 0; walk < WALKS; walk++) {
            double evidence = 0;
            for (int step = 0; step < MOST_STEPS && evidence <= WALKED; step++) {
                int bin = 0;
                for (double left = random.nextDouble() - shares[0]; left > 0 && bin < shares.length - 1; left -= shares[bin]) {
                    bin++;
                }
                evidence += logarithms[bin];
            }
            sum += Math.exp(Math.min(0, WALKED - evidence));
        }
        return Math.max(LEAST_OVERSHOOT, sum / WALKS);
    }

    /** The share of ranks that a bin has. */
    private double width(final int bin) {
        return (ends[bin] - (bin == 0 ? 0 : ends[bin - 1])) / (count + 1.0);
    }

    private double[] ofShift(final double shift) {
        final double[] worth = new double[ends.length];
        int before = 0;
        for (int bin = 0; bin < ends.length; bin++) {
            // Earlier scores that the shift lifts above the one of the bin's last rank.
            final int lifted = ends[bin] > count ? count :
                count - firstFrom(Math.nextUp((float)(sorted[count - ends[bin]] - shift)));
            worth[bin] = EVEN_SHARE + (1 - EVEN_SHARE) * (lifted - before) / count / width(bin);
            before = lifted;
        }
        return worth;
    }

    private double[] ofAnySize() {
        final double[] worth = new double[ends.length];
        final double sum = 1 + Math.log((count + 1.0) / ends[0]);
        for (int bin = 0; bin < ends.length; bin++) {
            worth[bin] = (bin == 0 ? 1 : Math.log((double)ends[bin] / ends[bin - 1])) / sum / width(bin);
        }
        return worth;
    }

    private void discount(final float[] scores) {
        final int[] bins = new int[scores.length];
        Arrays.setAll(bins, (i) -> Float.isNaN(scores[i]) ? -1 : binOfLearned(scores[i]));
        double inflation = 1;
        for (int kind = 0; kind < TELLING_KINDS; kind++) {
            final double[] logarithms = Arrays.stream(worths[kind]).map(Math::log).toArray();
            final double[] values = new double[scores.length];
            Arrays.setAll(values, (i) -> bins[i] < 0 ? Double.NaN : logarithms[bins[i]]);
            inflation = Math.max(inflation, VarianceInflation.of(values));
        }
        final double power = 1 / inflation;
        for (final double[] worth : worths) {
            Arrays.setAll(worth, (bin) -> Math.pow(worth[bin], power));
        }
    }

    /** From below, where most scores are. */
    private int binOfLearned(final float score) {
        int bin = ends.length - 1;
        while (bin > 0 && (ends[bin - 1] == count || sorted[count - ends[bin - 1] - 1] < score)) {
            bin--;
        }
        return bin;
    }
}
