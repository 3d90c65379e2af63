package io.flowlag.network.locate;

import java.util.ArrayList;
import java.util.Arrays;
import java.util.Comparator;
import java.util.HashSet;
import java.util.List;
import java.util.Set;
import java.util.function.IntToDoubleFunction;
import java.util.stream.IntStream;

/**
 * Finds slow hops from the excess of segments in a window:
 * <pre>
 *   z = A x + C o + e     A  share of a segment that takes a group of hops      x  excess of groups, not negative
 *                         C  +1 at a segment's receiver's clock, −1 at its sender's    o  offsets of clocks, o ~ N(0, K)
 *   y = z − b |s|         b  median of z / |s|: the usual queueing of a hop, with deviation b     |s|  hops of a segment
 *   y = z − u             u  {@link UsualExcess} of the segment, if it is known; then without b² |s|
 *   Σ = D + C K Cᵀ        D  σ² + b² |s|
 * </pre>
 * Few hops are slow and few clocks step: x − b and what o has beyond K are sums of {@link SingleEffects}. If χ² of the residuals
 * is above its quantile of 0.999, Σ is widened by χ² over its degrees of freedom, and solved again. Used
 * by one thread; segments may be reused for the windows of a topology.
 */
public final class HopLocator {
    /** Errors below this are none. */
    private static final double LEAST_SIGMA_NS = 1000;
    private static final double BOUND_DEVIATIONS = 1.959963984540054;
    private static final double TAIL = 0.025;
    private static final int RESIDUALS = 5;

    /**
     * What is asked for.
     *
     * @param slowNs     excess of a hop from which on it is slow.
     * @param confidence probability of a verdict, that suspects hold the slow hop, and that its effect is above {@code slowNs}.
     * @param effects    how many slow hops are looked for at first; more if all are found.
     */
    public record Settings(double slowNs, double confidence, int effects) {
        /** 500 µs, 0.95 and 10. */
        public static final Settings USUAL = new Settings(500_000, 0.95, 10);
    }

    private final List<MeasuredSegment> segments;
    private final HopGroups groups;
    private final double[] clockSigma;
    private final double[] lengths;
    private final Settings settings;

    /**
     * For the segments of a topology.
     *
     * @param segments      measured.
     * @param groups        of these.
     * @param clockBoundsNs bound of the error of each clock, 95 %; 0 for a clock that is exact.
     * @param settings      what is asked for.
     */
    public HopLocator(final List<MeasuredSegment> segments, final HopGroups groups, final double[] clockBoundsNs,
        final Settings settings) {
        this.segments = List.copyOf(segments);
        this.groups = groups;
        this.settings = settings;
        clockSigma = Arrays.stream(clockBoundsNs).map((bound) -> bound / BOUND_DEVIATIONS).toArray();
        lengths = segments.stream().mapToDouble(MeasuredSegment::length).toArray();
    }

    /** {@return for each group the number of its hops: each hop is as likely to be slow as any other} */
    public double[] evenPrior() {
        return IntStream.range(0, groups.count()).mapToDouble((group) -> groups.hops(group).length).toArray();
    }

    /**
     * Finds the slow hops of a window.
     *
     * @param excessNs of each segment: mean less floor.
     * @param sigmaNs  standard deviation of each one's error, without the clocks; infinite for a segment that says nothing.
     * @param prior    of each group; not normalised.
     */
    public Localisation locate(final double[] excessNs, final double[] sigmaNs, final double[] prior) {
        final UsualExcess.Value[] usual = new UsualExcess.Value[excessNs.length];
        Arrays.fill(usual, UsualExcess.Value.COMMON);
        return locate(excessNs, sigmaNs, usual, prior);
    }

    /**
     * Finds the slow hops of a window.
     *
     * @param excessNs of each segment: mean less floor.
     * @param sigmaNs  standard deviation of each one's error, without the clocks; infinite for a segment that says nothing.
     * @param usual    excess of each one.
     * @param prior    of each group; not normalised.
     */
    public Localisation locate(
        final double[] excessNs, final double[] sigmaNs, final UsualExcess.Value[] usual, final double[] prior) {
        final int[] known = IntStream.range(0, excessNs.length).filter((i) -> Double.isFinite(sigmaNs[i])).toArray();
        final double ofHop =
            Math.max(0, median(Arrays.stream(known).mapToDouble((i) -> excessNs[i] / lengths[i]).sorted().toArray()));
        final double[] y = new double[excessNs.length];
        final double[] variances = new double[excessNs.length];
        final boolean[] isNew = new boolean[excessNs.length];
        for (int i = 0; i < y.length; i++) {
            final boolean isKnown = usual[i].knowledge() == UsualExcess.Knowledge.KNOWN;
            y[i] = excessNs[i] - (isKnown ? usual[i].excessNs() : ofHop * lengths[i]);
            variances[i] = Math.max(LEAST_SIGMA_NS * LEAST_SIGMA_NS, sigmaNs[i] * sigmaNs[i]) +
                (isKnown ? 0 : ofHop * ofHop * lengths[i]);
            isNew[i] = usual[i].knowledge() == UsualExcess.Knowledge.NEW;
        }
        final Solution first = new Solution(y, variances, clockSigma, isNew, prior);
        final boolean isFit = first.chiSquare <= NormalTail.chiSquare999(Math.max(1, known.length));
        final double widening = isFit ? 1 : first.chiSquare / known.length;
        final Solution last = isFit ? first : new Solution(y, Arrays.stream(variances).map((each) -> each * widening).toArray(),
            Arrays.stream(clockSigma).map((each) -> each * Math.sqrt(widening)).toArray(), isNew, prior);
        final List<HopVerdict> verdicts = last.verdicts();
        final Localisation.Clocks clocks = last.clocks();
        return new Localisation(verdicts, ofHop, clocks, first.chiSquare, isFit,
            unexplained(excessNs, usual, clocks.offsetsNs(), verdicts), isFit ? List.of() :
                largest(last.left, last.precision.clockOffsets(last.residuals), variances));
    }

    private static double median(final double[] sorted) {
        return sorted.length == 0 ? 0 : (sorted[(sorted.length - 1) / 2] + sorted[sorted.length / 2]) / 2;
    }

    /** Clocks count since the usual excess is known, as floors have them too. */
    private double[] unexplained(final double[] excessNs, final UsualExcess.Value[] usual, final double[] offsets,
        final List<HopVerdict> verdicts) {
        final double[] left = withoutClocks(excessNs, offsets);
        for (int i = 0; i < left.length; i++) {
            left[i] = usual[i].knowledge() == UsualExcess.Knowledge.KNOWN ? left[i] : excessNs[i];
        }
        for (final HopVerdict verdict : verdicts) {
            for (final HopVerdict.Suspect suspect : verdict.suspects()) {
                Arrays.stream(groups.segments(groups.of(suspect.hop()))).forEach((segment) -> left[segment] = Double.NaN);
            }
        }
        return left;
    }

    private double[] withoutClocks(final double[] delaysNs, final double[] offsets) {
        return IntStream.range(0, delaysNs.length).mapToDouble((i) ->
            delaysNs[i] - offsets[segments.get(i).receiverClock()] + offsets[segments.get(i).senderClock()]).toArray();
    }

    private List<Integer> largest(final double[] left, final double[] offsets, final double[] variances) {
        final double[] residuals = withoutClocks(left, offsets);
        return IntStream.range(0, left.length).boxed().sorted(Comparator.comparingDouble((final Integer segment) ->
            -Math.abs(residuals[segment]) / Math.sqrt(variances[segment]))).limit(RESIDUALS).toList();
    }

    /** The fewest of so many that have a probability together, the likeliest first. */
    private static int[] fewest(final int count, final IntToDoubleFunction probability, final double wanted) {
        final int[] order = IntStream.range(0, count).boxed().sorted(Comparator.comparingDouble(
            (final Integer each) -> -probability.applyAsDouble(each))).mapToInt(Integer::intValue).toArray();
        int taken = 0;
        double sum = 0;
        while (sum < wanted && taken < order.length) {
            sum += probability.applyAsDouble(order[taken++]);
        }
        return Arrays.copyOf(order, taken);
    }

    /** Effects for one Σ. */
    private final class Solution {
        private final Precision precision;
        private final SingleEffects effects;
        /** Of the delays, without all effects, and without slow groups and clocks that stepped alone. */
        private final double[] residuals;
        private final double[] left;
        private final double chiSquare;

        private Solution(final double[] y, final double[] variances, final double[] sigmaOfClocks,
            final boolean[] isNew, final double[] prior) {
            precision = new Precision(segments, variances, sigmaOfClocks);
            effects = new SingleEffects(
                groups, precision, y, Arrays.stream(variances).map(Math::sqrt).toArray(), isNew, prior, settings.slowNs);
            effects.solve(settings.effects);
            residuals = effects.leave(y, true);
            left = effects.leave(y, false);
            final double[] weighted = new double[y.length];
            precision.apply(residuals, weighted);
            chiSquare = IntStream.range(0, y.length).mapToDouble((segment) -> weighted[segment] * residuals[segment]).sum() +
                effects.errorSquares();
        }

        private List<HopVerdict> verdicts() {
            final List<HopVerdict> verdicts = new ArrayList<>();
            final Set<Integer> named = new HashSet<>();
            for (int effect = 0; effect < effects.count(); effect++) {
                effects.judge(effect);
                if (effects.present() > settings.confidence) {
                    final int[] suspects = suspects();
                    if (effects.above(effect, suspects, settings.slowNs) >= settings.confidence && named.add(suspects[0])) {
                        verdicts.add(verdict(effect, suspects));
                    }
                }
            }
            verdicts.sort(Comparator.comparingDouble(HopVerdict::effectNs).reversed());
            return verdicts;
        }

        /** The fewest groups, the likeliest first. */
        private int[] suspects() {
            return fewest(groups.count(), effects::alpha, settings.confidence * effects.present());
        }

        /** Steps by single effects, and what is left by the normal errors of clocks. */
        private Localisation.Clocks clocks() {
            final double[] offsets = precision.clockOffsets(residuals);
            final double[] variances = new double[offsets.length];
            final boolean[] isStepped = new boolean[offsets.length];
            for (int clock = 0; clock < offsets.length; clock++) {
                variances[clock] = Math.pow(precision.clockSigma(clock, clockSigma), 2);
            }
            final int[] unknown = precision.unknownClocks();
            for (int effect = 0; effect < effects.count(); effect++) {
                effects.judge(effect);
                double present = 0;
                for (int i = 0; i < unknown.length; i++) {
                    final double alpha = effects.clockAlpha(i);
                    final double step = effects.clockStep(effect, i);
                    offsets[unknown[i]] += alpha * step;
                    variances[unknown[i]] += alpha * (1 - alpha) * step * step;
                    present += alpha;
                }
                if (present > settings.confidence) {
                    for (final int i : fewest(unknown.length, effects::clockAlpha, settings.confidence * present)) {
                        isStepped[unknown[i]] = true;
                    }
                }
            }
            return new Localisation.Clocks(offsets, Arrays.stream(variances).map(Math::sqrt).toArray(), isStepped);
        }

        private HopVerdict verdict(final int effect, final int[] chosen) {
            final List<HopVerdict.Suspect> suspects = new ArrayList<>();
            final Set<Integer> common = new HashSet<>(Arrays.stream(groups.segments(chosen[0])).boxed().toList());
            for (final int group : chosen) {
                final int[] hops = groups.hops(group);
                final double probability = effects.alpha(group) / effects.present() / hops.length;
                Arrays.stream(hops).forEach((hop) -> suspects.add(new HopVerdict.Suspect(hop, probability)));
                common.retainAll(Arrays.stream(groups.segments(group)).boxed().toList());
            }
            return new HopVerdict(suspects, !common.isEmpty(), effects.quantile(effect, chosen, 1.0 / 2),
                effects.quantile(effect, chosen, 1 - TAIL), effects.quantile(effect, chosen, TAIL), effects.present());
        }
    }
}
