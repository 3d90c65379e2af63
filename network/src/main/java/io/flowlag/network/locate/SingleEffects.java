package io.flowlag.network.locate;

import java.util.Arrays;

/**
 * Few slow groups as a sum of single effects (Wang and others 2020, "A simple new approach to variable selection in regression"):
 * each is at one group at most, and not negative, or it is an error of one segment, of either sign: errors have heavier tails
 * than normal ones, and the routes of a new segment may be longer than its floor's. An effect is there with probability ½. A
 * group's size is half-normal of one of four variances, an error's is normal of one of two, in deviations of its segment. What
 * one effect leaves is fitted by the next, in rounds, until no mean moves. One thread; used once.
 */
final class SingleEffects {
    private static final double PRESENT = 0.5;
    /** Of groups, in limits of slowness. */
    private static final double[] SIZES = {0.5, 1, 3, 10};
    /** That an effect which is there is an error, and that it is the length of routes, where segments are new. */
    private static final double ERROR = 0.005;
    private static final double LENGTH = 0.5;
    /** In deviations. */
    private static final double[] ERROR_SIZES = {3, 6};
    private static final double LOG_2 = Math.log(2);
    private static final double STEADY_NS = 1000;
    /** A probability whose share of an effect is not fitted. */
    private static final double NEGLIGIBLE = 1e-6;
    /** ln of a probability that is none. */
    private static final double NONE = -30;
    /** Deviations from which on factors are too large for a number. */
    private static final double LARGE = 30;
    private static final int MOST_ROUNDS = 100;
    private static final int MOST_DOUBLINGS = 3;
    private static final int BISECTIONS = 50;
    private static final double[] ONE = {1};

    /** Groups; behind them, as many columns of one segment as there are segments, for errors. */
    private final int groupCount;
    private final int[][] segments;
    private final double[][] shares;
    private final Precision precision;
    private final double leastSize;
    private final double[] logPrior;
    /** √u and √(w/(w + v)) by column and size, the sizes ascending. */
    private final double[][] deviations;
    private final double[][] shrinkage;
    /** √u of the largest size. */
    private final double[] largest;
    /** Of the errors of a segment. */
    private final double[] largestSize;
    /** AᵀW of the delays less all effects. */
    private final double[] left;
    /** AᵀW A of the means of each effect, and these. */
    private double[][] fitted;
    private double[][] means;
    /** Of each effect, whether it is likelier there than not: otherwise its means are taken for 0. */
    private boolean[] isThere = new boolean[0];
    /** Of the last effect that was judged: the probability of each column, and of none. */
    private final double[] alpha;
    private double absent;
    /** The columns of which that is not negligible. */
    private final int[] live;
    private int liveCount;
    private final double[] logFactors = new double[SIZES.length];
    private final double[] segmentSums;
    private final double[] weighted;

    /**
     * For the delays of segments.
     *
     * @param sigma of their errors; infinite for a segment that says nothing.
     * @param isNew of each, whether it may have routes that are as much longer than its floor's as slow hops are slow.
     * @param prior of groups, not normalised.
     */
    SingleEffects(final HopGroups groups, final Precision precision, final double[] y, final double[] sigma,
        final boolean[] isNew, final double[] prior, final double slowNs) {
        this.precision = precision;
        groupCount = groups.count();
        final int count = groupCount + y.length;
        segments = new int[count][];
        shares = new double[count][];
        logPrior = new double[count];
        deviations = new double[count][];
        shrinkage = new double[count][];
        largest = new double[count];
        live = new int[count];
        largestSize = new double[y.length];
        leastSize = SIZES[0] * slowNs;
        double errors = 0;
        for (int i = 0; i < y.length; i++) {
            final int column = groupCount + i;
            final double probability = Double.isInfinite(sigma[i]) ? 0 : (isNew[i] ? LENGTH : ERROR) / y.length;
            segments[column] = new int[] {i};
            shares[column] = ONE;
            logPrior[column] = Math.log(PRESENT * probability);
            size(column, isNew[i] ? SIZES : ERROR_SIZES, probability == 0 ? 0 : isNew[i] ? slowNs : sigma[i]);
            errors += probability;
            largestSize[i] = isNew[i] ? SIZES[SIZES.length - 1] * slowNs : ERROR_SIZES[ERROR_SIZES.length - 1] * sigma[i];
        }
        final double all = Arrays.stream(prior).sum();
        for (int group = 0; group < groupCount; group++) {
            segments[group] = groups.segments(group);
            shares[group] = groups.shares(group);
            logPrior[group] = Math.log(PRESENT * (1 - errors) * prior[group] / all);
            size(group, SIZES, slowNs);
        }
        left = new double[count];
        alpha = new double[count];
        segmentSums = new double[y.length];
        weighted = new double[y.length];
        precision.apply(y, weighted);
        project(left);
    }

    private void size(final int column, final double[] sizes, final double unit) {
        final double w = precision.square(segments[column], shares[column]);
        deviations[column] = new double[sizes.length];
        shrinkage[column] = new double[sizes.length];
        for (int size = 0; size < sizes.length; size++) {
            final double scale = sizes[size] * unit;
            shrinkage[column][size] = 1 / Math.sqrt(1 + scale * scale * w);
            deviations[column][size] = scale * shrinkage[column][size];
            largest[column] = deviations[column][size];
        }
    }

    /** Aᵀ of the weighted segments. */
    private void project(final double[] result) {
        for (int group = 0; group < groupCount; group++) {
            double sum = 0;
            for (int i = 0; i < segments[group].length; i++) {
                sum += shares[group][i] * weighted[segments[group][i]];
            }
            result[group] = sum;
        }
        System.arraycopy(weighted, 0, result, groupCount, weighted.length);
    }

    /** Fits so many effects, and twice as many while all are in use, three times at most. */
    void solve(final int effects) {
        int count = Math.min(effects, alpha.length);
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
            isFull &= count < Math.min(effects << MOST_DOUBLINGS, alpha.length);
            count = Math.min(2 * count, alpha.length);
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
            fitted[effect] = new double[alpha.length];
            means[effect] = new double[alpha.length];
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
        for (int column = 0; column < alpha.length; column++) {
            final double mean = isThere[effect] ? alpha[column] * meanAt(effect, column) : 0;
            moved = Math.max(moved, Math.abs(mean - means[effect][column]));
            means[effect][column] = mean;
            if (mean != 0) {
                for (int i = 0; i < segments[column].length; i++) {
                    segmentSums[segments[column][i]] += shares[column][i] * mean;
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
        // No factor is above 2 exp(z²/2), by Φ < 1. First comes the likeliest by that, then only those that are not negligible.
        int likeliest = 0;
        for (int column = 0; column < alpha.length; column++) {
            final double z = (left[column] + fitted[effect][column]) * largest[column];
            alpha[column] = LOG_2 + z * z / 2 + logPrior[column];
            likeliest = alpha[column] > alpha[likeliest] ? column : likeliest;
        }
        final double none = Math.log(1 - PRESENT);
        double highest = Math.max(none, factorAt(effect, likeliest) + logPrior[likeliest]);
        liveCount = 0;
        for (int column = 0; column < alpha.length; column++) {
            if (alpha[column] > highest + NONE) {
                alpha[column] = factorAt(effect, column) + logPrior[column];
                highest = Math.max(highest, alpha[column]);
                live[liveCount++] = column;
            } else {
                alpha[column] = 0;
            }
        }
        absent = Math.exp(none - highest);
        double sum = absent;
        for (int i = 0; i < liveCount; i++) {
            alpha[live[i]] = Math.exp(alpha[live[i]] - highest);
            sum += alpha[live[i]];
        }
        absent /= sum;
        for (int i = 0; i < liveCount; i++) {
            alpha[live[i]] /= sum;
        }
    }

    /**
     * ln of the mean Bayes factor over sizes, of an effect at a column: of a size it is √(w/(w + v)) exp(z²/2), and 2 Φ(z) times
     * that for a group.
     */
    private double factorAt(final int effect, final int column) {
        final double slope = left[column] + fitted[effect][column];
        final double[] deviation = deviations[column];
        if (Math.abs(slope) * deviation[deviation.length - 1] > LARGE) {
            return logFactorAt(slope, column);
        }
        double sum = 0;
        for (int size = 0; size < deviation.length; size++) {
            final double z = slope * deviation[size];
            sum += shrinkage[column][size] * (column < groupCount ? 2 * NormalTail.scaledCdf(z) : Math.exp(z * z / 2));
        }
        return Math.log(sum / deviation.length);
    }

    /** The same for any slope; sets those of the sizes too. */
    private double logFactorAt(final double slope, final int column) {
        final int sizes = deviations[column].length;
        double highest = Double.NEGATIVE_INFINITY;
        for (int size = 0; size < sizes; size++) {
            final double z = slope * deviations[column][size];
            logFactors[size] = Math.log(shrinkage[column][size]) + z * z / 2 +
                (column < groupCount ? LOG_2 + NormalTail.logCdf(z) : 0);
            highest = Math.max(highest, logFactors[size]);
        }
        double sum = 0;
        for (int size = 0; size < sizes; size++) {
            sum += Math.exp(logFactors[size] - highest);
        }
        return highest + Math.log(sum / sizes);
    }

    private double meanAt(final int effect, final int column) {
        if (alpha[column] < NEGLIGIBLE) {
            return 0;
        }
        final double slope = left[column] + fitted[effect][column];
        final double factor = logFactorAt(slope, column) + Math.log(deviations[column].length);
        double mean = 0;
        for (int size = 0; size < deviations[column].length; size++) {
            final double z = slope * deviations[column][size];
            mean += Math.exp(logFactors[size] - factor) * deviations[column][size] *
                (column < groupCount ? NormalTail.positiveMean(z, NormalTail.logCdf(z)) : z);
        }
        return mean;
    }

    /** The probability that a group has the effect that was judged last. */
    double alpha(final int group) {
        return alpha[group];
    }

    /** The probability that a group has the effect that was judged last: otherwise there is none, or a segment's error. */
    double present() {
        double sum = 0;
        for (int group = 0; group < groupCount; group++) {
            sum += alpha[group];
        }
        return sum;
    }

    /** χ² of the errors, in the largest size that each was thought to have. */
    double errorSquares() {
        double sum = 0;
        for (int column = groupCount; column < alpha.length; column++) {
            double mean = 0;
            for (final double[] effect : means) {
                mean += effect[column];
            }
            sum += mean == 0 ? 0 : mean * mean / (largestSize[column - groupCount] * largestSize[column - groupCount]);
        }
        return sum;
    }

    /** What the means of all effects of groups leave of the delays of segments, or of those and the errors. */
    double[] leave(final double[] delays, final boolean withErrors) {
        final double[] leftOver = delays.clone();
        for (final double[] effect : means) {
            for (int column = 0; column < (withErrors ? effect.length : groupCount); column++) {
                for (int i = 0; effect[column] != 0 && i < segments[column].length; i++) {
                    leftOver[segments[column][i]] -= shares[column][i] * effect[column];
                }
            }
        }
        return leftOver;
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
        double high = leastSize;
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
