package io.flowlag.tests.lab.joint;

import io.flowlag.tests.lab.report.Numbers;

import java.util.Arrays;

/**
 * Smallest width of bounds that hold for 95 % of the flows of each kind, for an oracle that knows the errors of a kind but not
 * their flows. A kind is the flow's size and one more property: the width of the estimator's own bound, the cells' shift from
 * RLI's mean, that mean, or the first two together. Groups are small and their errors are those that are scored, so the oracle is
 * optimistic.
 */
final class OracleWidth {
    private static final double COVERED = 0.95;
    /** Of a kind, at least: with fewer their largest errors are chance. */
    private static final int LEAST_FLOWS = 100;
    private static final int MOST_GROUPS = 100;

    private OracleWidth() {
    }

    /** {@return the smallest median half width over the kinds, ns; the known properties are not negative} */
    static double medianNs(final double[] errorNs, final double[] boundNs, final double[] shiftNs, final double[] levelNs) {
        final int groups = Math.max(1, Math.min(MOST_GROUPS, errorNs.length / LEAST_FLOWS));
        final int[] all = new int[errorNs.length];
        Arrays.setAll(all, i -> i);
        double least = Double.MAX_VALUE;
        for (final double[] known : new double[][] {boundNs, shiftNs, levelNs}) {
            final double[] widthNs = new double[errorNs.length];
            for (final int[] group : split(all, known, groups)) {
                widen(group, errorNs, widthNs);
            }
            least = Math.min(least, Numbers.median(widthNs));
        }
        final int side = (int)Math.sqrt(groups);
        final double[] widthNs = new double[errorNs.length];
        for (final int[] wide : split(all, boundNs, side)) {
            for (final int[] group : split(wide, shiftNs, side)) {
                widen(group, errorNs, widthNs);
            }
        }
        return Math.min(least, Numbers.median(widthNs));
    }

    /** Splits flows in the order of a property into equal parts. */
    private static int[][] split(final int[] flows, final double[] known, final int groups) {
        final long[] order = new long[flows.length];
        for (int i = 0; i < flows.length; i++) {
            // Non-negative floats are ordered like their bits.
            order[i] = (long)Float.floatToIntBits((float)known[flows[i]]) << Integer.SIZE | flows[i];
        }
        Arrays.sort(order);
        final int[][] parts = new int[groups][];
        for (int i = 0; i < groups; i++) {
            final int from = (int)((long)order.length * i / groups);
            parts[i] = new int[(int)((long)order.length * (i + 1) / groups) - from];
            for (int j = 0; j < parts[i].length; j++) {
                parts[i][j] = (int)order[from + j];
            }
        }
        return parts;
    }

    private static void widen(final int[] group, final double[] errorNs, final double[] widthNs) {
        final double[] errors = new double[group.length];
        for (int i = 0; i < group.length; i++) {
            errors[i] = errorNs[group[i]];
        }
        final double width = Numbers.quantile(errors, COVERED);
        for (final int flow : group) {
            widthNs[flow] = width;
        }
    }
}
