package io.flowlag.tests.lab.joint;

import io.flowlag.tests.lab.report.Numbers;

import java.util.Arrays;

/** Errors of estimates, for flows within a range of sizes that were not witnesses. */
final class Score {
    private static final double FAR = 10;
    static final int[] SIZE_LIMITS = {1, 2, 4, 10, 30, 100, 300, 1000, Integer.MAX_VALUE};

    final int flows;
    /** Quartiles of absolute errors. */
    final double[] jointNs = new double[3];
    final double[] rliNs = new double[3];
    final double[] ldsNs = new double[3];
    final double jointRelative;
    final double rliRelative;
    final double ldsRelative;
    final double coverage;
    final double halfWidthRatio;
    final double quarterRatio;
    /** See {@link OracleWidth}. */
    final double oracleRatio;
    /** Of flows whose truth is more than ten half widths away. */
    final double farShare;
    /** In half widths, each at least 1 ns. */
    final double largestMiss;

    Score(final Interval interval, final double[] meanNs, final double[] boundNs, final int least, final int limit) {
        int count = 0;
        final int all = interval.problem.flows();
        final int[] chosen = new int[all];
        for (int flow = 0; flow < all; flow++) {
            if (!interval.isWitness[flow] && interval.packets[flow] >= least && interval.packets[flow] < limit) {
                chosen[count++] = flow;
            }
        }
        flows = count;
        final double[] joint = new double[count];
        final double[] rli = new double[count];
        final double[] lds = new double[count];
        final double[] relative = new double[count];
        final double[] rliRelatives = new double[count];
        final double[] ldsRelatives = new double[count];
        final double[] width = new double[count];
        final double[] shift = new double[count];
        final double[] level = new double[count];
        int covered = 0;
        int far = 0;
        double worst = 0;
        for (int i = 0; i < count; i++) {
            final int flow = chosen[i];
            final double truth = interval.truthNs[flow];
            joint[i] = Math.abs(meanNs[flow] - truth);
            rli[i] = Math.abs(interval.rliNs[flow] - truth);
            lds[i] = Double.isNaN(interval.ldsNs[flow]) ? truth : Math.abs(interval.ldsNs[flow] - truth);
            relative[i] = joint[i] / truth;
            rliRelatives[i] = rli[i] / truth;
            ldsRelatives[i] = lds[i] / truth;
            width[i] = boundNs[flow];
            covered += joint[i] <= width[i] ? 1 : 0;
            shift[i] = Math.abs(meanNs[flow] - interval.rliNs[flow]);
            level[i] = Math.abs(interval.rliNs[flow]);
            final double miss = joint[i] / Math.max(1, width[i]);
            far += miss > FAR ? 1 : 0;
            worst = Math.max(worst, miss);
        }
        coverage = covered / (double)count;
        quarterRatio = quarterRatio(joint, width);
        for (int quartile = 0; quartile < 3; quartile++) {
            jointNs[quartile] = Numbers.quantile(joint, 0.25 * (quartile + 1));
            rliNs[quartile] = Numbers.quantile(rli, 0.25 * (quartile + 1));
            ldsNs[quartile] = Numbers.quantile(lds, 0.25 * (quartile + 1));
        }
        jointRelative = Numbers.quantile(relative, 0.5);
        rliRelative = Numbers.quantile(rliRelatives, 0.5);
        ldsRelative = Numbers.quantile(ldsRelatives, 0.5);
        farShare = far / (double)count;
        largestMiss = worst;
        oracleRatio = OracleWidth.medianNs(joint, width, shift, level) / jointNs[1];
        halfWidthRatio = Numbers.quantile(width, 0.5) / jointNs[1];
    }

    private static double quarterRatio(final double[] error, final double[] width) {
        final Integer[] order = new Integer[error.length];
        Arrays.setAll(order, i -> i);
        Arrays.sort(order, (a, b) -> Double.compare(width[a], width[b]));
        final int quarter = error.length / 4;
        final double[] narrow = new double[quarter];
        final double[] wide = new double[quarter];
        for (int i = 0; i < quarter; i++) {
            narrow[i] = error[order[i]];
            wide[i] = error[order[error.length - 1 - i]];
        }
        return Numbers.quantile(wide, 0.5) / Numbers.quantile(narrow, 0.5);
    }
}
