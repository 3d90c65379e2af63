package io.flowlag.network.locate;

import java.util.Arrays;

/**
 * Few slow groups as a sum of single effects (Wang and others 2020, "A simple new approach to variable selection in regression").
 * Each is one of these, and there with probability ½:
 * <ul>
 * <li>a group that is slower or, with a smaller probability, quicker than usual: half-normal of one of four variances
 * <li>a step of a clock, which all segments into it have and all out of it with the other sign: normal of one of the same. The
 * normal errors of clocks in Σ have no tails for it: several slow groups would be likelier
 * <li>an error of one segment, of either sign: errors have heavier tails than normal ones, and the routes of a new segment may be
 * longer than its floor's. It is normal of one of two variances, in deviations of its segment
 * </ul>
 * What one effect leaves is fitted by the next, in rounds, until no mean moves. One thread; used once.
 */
final class SingleEffects {
    private static final double PRESENT = 0.5;
    /** Of groups and clocks, in limits of slowness; the last one is that of the largest delay if this is larger. */
    private static final double[] SIZES = {0.5, 1, 3, 10};
    /** That an effect which is there is an error, and that it is the length of routes, where segments are new. */
    private static final double ERROR = 0.005;
    private static final double LENGTH = 0.5;
    /** That an effect which is there is a group that is quicker than usual, and that it is a clock. */
    private static final double QUICKER = 0.02;
    private static final double CLOCK = 0.005;
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

    /** Columns: slow groups, as many quicker ones, with their shares negative, errors of each segment, steps of clocks. */
    private final int groupCount;
    /** Where errors begin; columns before are not negative. And where clocks begin. */
    private final int firstError;
    private final int firstClock;
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
    /** What χ² has of the square of an error or a quicker group, by the largest sizes that errors of its segments may have. */
    private final double[] perSquare;
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
        firstError = 2 * groupCount;
        firstClock = firstError + y.length;
        final int clockCount = precision.unknownClocks().length;
        final int count = firstClock + clockCount;
        segments = new int[count][];
        shares = new double[count][];
        logPrior = new double[count];
        deviations = new double[count][];
        shrinkage = new double[count][];
        largest = new double[count];
        live = new int[count];
        perSquare = new double[count];
        leastSize = SIZES[0] * slowNs;
        final double[] sizesNs = Arrays.stream(SIZES).map((size) -> size * slowNs).toArray();
        for (int i = 0; i < y.length; i++) {
            sizesNs[SIZES.length - 1] =
                Math.max(sizesNs[SIZES.length - 1], Double.isInfinite(sigma[i]) ? 0 : Math.abs(y[i]));
        }
        double errors = 0;
        for (int i = 0; i < y.length; i++) {
            final double probability = Double.isInfinite(sigma[i]) ? 0 : (isNew[i] ? LENGTH : ERROR) / y.length;
            final double[] sizes = isNew[i] ? sizesNs : ERROR_SIZES;
            final double unit = isNew[i] ? 1 : sigma[i];
            put(firstError + i, new int[] {i}, ONE, probability);
            size(firstError + i, sizes, probability == 0 ? 0 : unit);
            errors += probability;
            perSquare[firstError + i] = 1 / Math.pow(sizes[sizes.length - 1] * unit, 2);
        }
        final double clocks = clockCount == 0 ? 0 : CLOCK;
        for (int clock = 0; clock < clockCount; clock++) {
            put(firstClock + clock, precision.clockSegments(clock), precision.clockSigns(clock), clocks / clockCount);
            size(firstClock + clock, sizesNs, 1);
        }
        final double all = Arrays.stream(prior).sum();
        for (int group = 0; group < groupCount; group++) {
            final double probability = (1 - errors - clocks - QUICKER) * prior[group] / all;
            put(group, groups.segments(group), groups.shares(group), probability);
            size(group, sizesNs, 1);
            final int quicker = groupCount + group;
            put(quicker, segments[group], Arrays.stream(shares[group]).map((share) -> -share).toArray(),
                QUICKER * prior[group] / all);
            deviations[quicker] = deviations[group];
            shrinkage[quicker] = shrinkage[group];
            largest[quicker] = largest[group];
            for (int i = 0; i < segments[group].length; i++) {
                perSquare[quicker] += shares[group][i] * shares[group][i] * perSquare[firstError + segments[group][i]];
            }
        }
        left = new double[count];
        alpha = new double[count];
        segmentSums = new double[y.length];
        weighted = new double[y.length];
        precision.apply(y, weighted);
        project(left);
    }

    private void put(final int column, final int[] ofSegments, final double[] withShares, final double probability) {
        segments[column] = ofSegments;
        shares[column] = withShares;
        logPrior[column] = Math.log(PRESENT * probability);
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
        for (int column = 0; column < result.length; column++) {
            if (column >= groupCount && column < firstError) {
                result[column] = -result[column - groupCount];
            } else {
                double sum = 0;
                for (int i = 0; i < segments[column].length; i++) {
                    sum += shares[column][i] * weighted[segments[column][i]];
                }
                result[column] = sum;
            }
        }
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
     * that for a group, slower or quicker.
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
            sum += shrinkage[column][size] * (column < firstError ? 2 * NormalTail.scaledCdf(z) : Math.exp(z * z / 2));
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
                (column < firstError ? LOG_2 + NormalTail.logCdf(z) : 0);
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
                (column < firstError ? NormalTail.positiveMean(z, NormalTail.logCdf(z)) : z);
        }
        return mean;
    }

    /** The probability that a group has the effect that was judged last. */
    double alpha(final int group) {
        return alpha[group];
    }

    /** The probability that a group is slow by the effect that was judged last. */
    double present() {
        double sum = 0;
        for (int group = 0; group < groupCount; group++) {
            sum += alpha[group];
        }
        return sum;
    }

    /** The probability that the clock of a row of {@link Precision} stepped by the effect that was judged last. */
    double clockAlpha(final int row) {
        return alpha[firstClock + row];
    }

    /** How far it did if it did, by an effect. */
    double clockStep(final int effect, final int row) {
        return means[effect][firstClock + row] == 0 ? 0 : meanAt(effect, firstClock + row);
    }

    /** χ² of errors and quicker groups. */
    double errorSquares() {
        double sum = 0;
        for (int column = groupCount; column < firstClock; column++) {
            final double mean = mean(column);
            sum += mean == 0 ? 0 : mean * mean * perSquare[column];
        }
        return sum;
    }

    /** Of all effects. */
    private double mean(final int column) {
        double mean = 0;
        for (final double[] effect : means) {
            mean += effect[column];
        }
        return mean;
    }

    /** What the means of all effects leave of the delays of segments, or those of slow groups and clocks alone. */
    double[] leave(final double[] delays, final boolean withErrors) {
        final double[] leftOver = delays.clone();
        for (int column = 0; column < alpha.length; column++) {
            final double mean = withErrors || column < groupCount || column >= firstClock ? mean(column) : 0;
            for (int i = 0; mean != 0 && i < segments[column].length; i++) {
                leftOver[segments[column][i]] -= shares[column][i] * mean;
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
