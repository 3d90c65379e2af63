package io.flowlag.network.locate;

import java.util.Arrays;

/**
 * Few slow groups as a sum of single effects (Wang and others 2020, "A simple new approach to variable selection in regression"):
 * each is at one group at most, and not negative. An effect is there with probability ½; if it is, its size is half-normal of one
 * of four variances. What one effect leaves is fitted by the next, in rounds, until no mean moves. One thread; used once.
 */
final class SingleEffects {
    private static final double PRESENT = 0.5;
    private static final double[] SIZES = {0.5, 1, 3, 10};
    private static final double LOG_2 = Math.log(2);
    private static final double STEADY_NS = 1000;
    /** A probability whose share of an effect is not fitted. */
    private static final double NEGLIGIBLE = 1e-6;
    /** Deviations from which on factors are too large for a number. */
    private static final double LARGE = 30;
    private static final int MOST_ROUNDS = 100;
    private static final int MOST_DOUBLINGS = 3;
    private static final int BISECTIONS = 50;

    private final HopGroups groups;
    private final Precision precision;
    private final double[] variances;
    private final double[] logPrior;
    /** aᵀW a of each group. */
    private final double[] w;
    /** √u and √(w/(w + v)) by group and size. */
    private final double[][] deviations;
    private final double[][] shrinkage;
    /** AᵀW of the delays less all effects. */
    private final double[] left;
    /** AᵀW A of the means of each effect, and these. */
    private double[][] fitted;
    private double[][] means;
    /** Of each effect, whether it is likelier there than not: otherwise its means are taken for 0. */
    private boolean[] isThere = new boolean[0];
    /** Of the last effect that was judged: the probability of each group, and of none. */
    private final double[] alpha;
    private double absent;
    private final double[] logFactors = new double[SIZES.length];
    private final double[] segmentSums;
    private final double[] weighted;

    SingleEffects(
        final HopGroups groups, final Precision precision, final double[] y, final double[] prior, final double slowNs) {
        this.groups = groups;
        this.precision = precision;
        final int count = groups.count();
        variances = Arrays.stream(SIZES).map((size) -> size * slowNs * size * slowNs).toArray();
        final double all = Arrays.stream(prior).sum();
        logPrior = Arrays.stream(prior).map((each) -> Math.log(PRESENT * each / all)).toArray();
        w = new double[count];
        deviations = new double[count][];
        shrinkage = new double[count][];
        for (int group = 0; group < count; group++) {
            w[group] = precision.square(groups.segments(group), groups.shares(group));
            deviations[group] = new double[SIZES.length];
            shrinkage[group] = new double[SIZES.length];
            for (int size = 0; size < SIZES.length; size++) {
                deviations[group][size] = Math.sqrt(1 / (w[group] + 1 / variances[size]));
                shrinkage[group][size] = 1 / Math.sqrt(1 + variances[size] * w[group]);
            }
        }
        left = new double[count];
        alpha = new double[count];
        segmentSums = new double[y.length];
        weighted = new double[y.length];
        precision.apply(y, weighted);
        project(left);
    }

    /** Aᵀ of the weighted segments. */
    private void project(final double[] result) {
        for (int group = 0; group < result.length; group++) {
            final int[] segments = groups.segments(group);
            final double[] shares = groups.shares(group);
            double sum = 0;
            for (int i = 0; i < segments.length; i++) {
                sum += shares[i] * weighted[segments[i]];
            }
            result[group] = sum;
        }
    }

    /** Fits so many effects, and twice as many while all are in use, three times at most. */
    void solve(final int effects) {
        int count = Math.min(effects, groups.count());
        fitted = new double[0][];
        boolean isFull = true;
        while (isFull) {
            grow(count);
            int rounds = 0;
            double moved = Double.MAX_VALUE;
            while (rounds < MOST_ROUNDS && moved >= STEADY_NS) {
                moved = 0;
                isFull = true;
                for (int effect = 0; effect < count && isFull; effect++) {
                    moved = Math.max(moved, update(effect));
                    isFull = isThere[effect] || hasLater(effect);
                }
                rounds++;
            }
            isFull &= count < Math.min(effects << MOST_DOUBLINGS, groups.count());
            count = Math.min(2 * count, groups.count());
        }
    }

    /** Whether one behind an effect is there: those that are not are all the same. */
    private boolean hasLater(final int effect) {
        for (int later = effect + 1; later < isThere.length; later++) {
            if (isThere[later]) {
                return true;
            }
        }
        return false;
    }

    private void grow(final int count) {
        final int before = fitted.length;
        isThere = Arrays.copyOf(isThere, count);
        fitted = Arrays.copyOf(fitted, count);
        means = means == null ? new double[count][] : Arrays.copyOf(means, count);
        for (int effect = before; effect < count; effect++) {
            fitted[effect] = new double[groups.count()];
            means[effect] = new double[groups.count()];
        }
    }

    int count() {
        return fitted.length;
    }

    private double update(final int effect) {
        judge(effect);
        double moved = 0;
        isThere[effect] = absent < PRESENT;
        Arrays.fill(segmentSums, 0);
        for (int group = 0; group < alpha.length; group++) {
            final double mean = isThere[effect] ? alpha[group] * meanAt(effect, group) : 0;
            moved = Math.max(moved, Math.abs(mean - means[effect][group]));
            means[effect][group] = mean;
            if (mean > 0) {
                final int[] segments = groups.segments(group);
                for (int i = 0; i < segments.length; i++) {
                    segmentSums[segments[i]] += groups.shares(group)[i] * mean;
                }
            }
        }
        for (int group = 0; group < left.length; group++) {
            left[group] += fitted[effect][group];
        }
        if (isThere[effect]) {
            precision.apply(segmentSums, weighted);
            project(fitted[effect]);
            for (int group = 0; group < left.length; group++) {
                left[group] -= fitted[effect][group];
            }
        } else {
            Arrays.fill(fitted[effect], 0);
        }
        return moved;
    }

    /** The posterior of an effect, given the others. */
    void judge(final int effect) {
        double highest = Math.log(1 - PRESENT);
        for (int group = 0; group < alpha.length; group++) {
            alpha[group] = factorAt(effect, group) + logPrior[group];
            highest = Math.max(highest, alpha[group]);
        }
        absent = Math.exp(Math.log(1 - PRESENT) - highest);
        double sum = absent;
        for (int group = 0; group < alpha.length; group++) {
            alpha[group] = Math.exp(alpha[group] - highest);
            sum += alpha[group];
        }
        absent /= sum;
        for (int group = 0; group < alpha.length; group++) {
            alpha[group] /= sum;
        }
    }

    /** ln of the mean Bayes factor over sizes, of an effect at a group: of a size it is 2 √(w/(w + v)) Φ(z) exp(z²/2). */
    private double factorAt(final int effect, final int group) {
        final double slope = left[group] + fitted[effect][group];
        if (slope * deviations[group][SIZES.length - 1] > LARGE) {
            return logFactorAt(slope, group);
        }
        double sum = 0;
        for (int size = 0; size < SIZES.length; size++) {
            sum += shrinkage[group][size] * NormalTail.scaledCdf(slope * deviations[group][size]);
        }
        return Math.log(2 * sum / SIZES.length);
    }

    /** The same for any slope; sets those of the sizes too. */
    private double logFactorAt(final double slope, final int group) {
        double highest = Double.NEGATIVE_INFINITY;
        for (int size = 0; size < SIZES.length; size++) {
            final double z = slope * deviations[group][size];
            logFactors[size] = LOG_2 + Math.log(shrinkage[group][size]) + NormalTail.logCdf(z) + z * z / 2;
            highest = Math.max(highest, logFactors[size]);
        }
        double sum = 0;
        for (int size = 0; size < SIZES.length; size++) {
            sum += Math.exp(logFactors[size] - highest);
        }
        return highest + Math.log(sum / SIZES.length);
    }

    private double meanAt(final int effect, final int group) {
        if (alpha[group] < NEGLIGIBLE) {
            return 0;
        }
        final double slope = left[group] + fitted[effect][group];
        final double factor = logFactorAt(slope, group) + Math.log(SIZES.length);
        double mean = 0;
        for (int size = 0; size < SIZES.length; size++) {
            final double z = slope * deviations[group][size];
            mean += Math.exp(logFactors[size] - factor) * deviations[group][size] *
                NormalTail.positiveMean(z, NormalTail.logCdf(z));
        }
        return mean;
    }

    /** The probability of each group to have the effect that was judged last; together they are 1 less {@link #absent}. */
    double[] alpha() {
        return alpha;
    }

    /** The probability that there is no effect, as judged last. */
    double absent() {
        return absent;
    }

    /** The mean of all effects of a group. */
    double mean(final int group) {
        double sum = 0;
        for (final double[] effect : means) {
            sum += effect[group];
        }
        return sum;
    }

    /** The probability that an effect at a group, if it is there, is above a size. */
    private double above(final int effect, final int group, final double sizeNs) {
        final double slope = left[group] + fitted[effect][group];
        final double factor = logFactorAt(slope, group) + Math.log(SIZES.length);
        double sum = 0;
        for (int size = 0; size < SIZES.length; size++) {
            final double deviation = deviations[group][size];
            final double z = slope * deviation;
            sum += Math.exp(logFactors[size] - factor + NormalTail.logCdf(z - sizeNs / deviation) - NormalTail.logCdf(z));
        }
        return sum;
    }

    /** The probability that the effect judged last, if it is at one of these groups, is above a size. */
    double above(final int effect, final int[] suspects, final double sizeNs) {
        double sum = 0;
        double all = 0;
        for (final int group : suspects) {
            sum += alpha[group] * above(effect, group, sizeNs);
            all += alpha[group];
        }
        return sum / all;
    }

    /** The size that the effect judged last is above with a probability. */
    double quantile(final int effect, final int[] suspects, final double probability) {
        double low = 0;
        double high = Math.sqrt(variances[0]);
        while (above(effect, suspects, high) > probability) {
            high *= 2;
        }
        for (int i = 0; i < BISECTIONS; i++) {
            final double middle = (low + high) / 2;
            if (above(effect, suspects, middle) > probability) {
                low = middle;
            } else {
                high = middle;
            }
        }
        return (low + high) / 2;
    }
}
