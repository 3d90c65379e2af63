package io.flowlag.tests.lab.network;

import io.flowlag.network.locate.HopGroups;
import io.flowlag.network.locate.UsualExcess;

import java.util.Arrays;
import java.util.HashSet;
import java.util.Set;
import java.util.stream.IntStream;

/**
 * What others do with the same segments: a lasso and non-negative least squares, both by coordinate descent, whose groups above
 * the limit are named; and the fewest groups that explain all slow segments and no other (a Boolean cover, taken greedily).
 */
public final class HopComparators {
    private static final double LIMIT_NS = 500_000;
    private static final double SURE_DEVIATIONS = 3;
    private static final double STEADY_NS = 1000;
    private static final int MOST_SWEEPS = 60;

    private final HopGroups groups;
    private final double[] y;
    private final double[] variances;

    /** For a window, of which they know the usual wait of a hop, or the usual excess of segments. */
    public HopComparators(final HopWindow window) {
        groups = window.groups;
        y = new double[window.excessNs.length];
        variances = new double[y.length];
        for (int i = 0; i < y.length; i++) {
            final double length = window.usual[i].knowledge() == UsualExcess.Knowledge.KNOWN ? 0 :
                Arrays.stream(window.segments.get(i).shares()).sum();
            y[i] = window.excessNs[i] - window.usual[i].excessNs() - window.usualNs * length;
            variances[i] = window.sigmaNs[i] * window.sigmaNs[i] + length * window.usualNs * window.usualNs;
        }
    }

    /** The groups of a lasso with a penalty in deviations; 0 is least squares alone. */
    public Set<Integer> lasso(final double penalty) {
        return above(fit(penalty), LIMIT_NS);
    }

    /** Those of them whose excess is above a limit. */
    static Set<Integer> above(final double[] excessNs, final double limitNs) {
        final Set<Integer> named = new HashSet<>();
        IntStream.range(0, excessNs.length).filter((group) -> excessNs[group] > limitNs).forEach(named::add);
        return named;
    }

    /** The excess of each group by a lasso. */
    double[] fit(final double penalty) {
        final double[] left = y.clone();
        final double[] x = new double[groups.count()];
        double moved = Double.MAX_VALUE;
        for (int sweep = 0; sweep < MOST_SWEEPS && moved > STEADY_NS; sweep++) {
            moved = 0;
            for (int group = 0; group < x.length; group++) {
                double slope = 0;
                double curve = 0;
                for (int i = 0; i < groups.segments(group).length; i++) {
                    final int segment = groups.segments(group)[i];
                    final double share = groups.shares(group)[i];
                    slope += share * left[segment] / variances[segment];
                    curve += share * share / variances[segment];
                }
                final double next = curve == 0 ? 0 : Math.max(0, x[group] + (slope - penalty / 1e6) / curve);
                for (int i = 0; i < groups.segments(group).length; i++) {
                    left[groups.segments(group)[i]] -= groups.shares(group)[i] * (next - x[group]);
                }
                moved = Math.max(moved, Math.abs(next - x[group]));
                x[group] = next;
            }
        }
        return x;
    }

    /** The groups that cover the slow segments. */
    public Set<Integer> cover() {
        final boolean[] isSlow = new boolean[y.length];
        for (int i = 0; i < y.length; i++) {
            isSlow[i] = y[i] > LIMIT_NS && y[i] > SURE_DEVIATIONS * Math.sqrt(variances[i]);
        }
        final int[] candidates = IntStream.range(0, groups.count())
            .filter((group) -> Arrays.stream(groups.segments(group)).allMatch((segment) -> isSlow[segment])).toArray();
        final Set<Integer> named = new HashSet<>();
        long most = 1;
        while (most > 0) {
            most = 0;
            int best = 0;
            for (final int group : candidates) {
                final long covered = Arrays.stream(groups.segments(group)).filter((segment) -> isSlow[segment]).count();
                if (covered > most) {
                    most = covered;
                    best = group;
                }
            }
            if (most > 0) {
                named.add(best);
                Arrays.stream(groups.segments(best)).forEach((segment) -> isSlow[segment] = false);
            }
        }
        return named;
    }
}
