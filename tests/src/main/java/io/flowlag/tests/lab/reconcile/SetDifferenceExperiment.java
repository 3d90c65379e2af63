package io.flowlag.tests.lab.reconcile;

import io.flowlag.sketch.image.SketchGeometry;
import io.flowlag.sketch.image.SketchImage;
import io.flowlag.sketch.lda.LdaEstimate;
import io.flowlag.sketch.lda.LdaEstimator;
import io.flowlag.sketch.lda.LossyDifferenceAggregator;
import io.flowlag.sketch.reconcile.AggregateEstimate;
import io.flowlag.sketch.reconcile.FlowSample;
import io.flowlag.sketch.reconcile.PacketCache;
import io.flowlag.sketch.reconcile.RdaReconciler;
import io.flowlag.sketch.reconcile.RdaSizing;
import io.flowlag.sketch.reconcile.ReconcilableDifferenceAggregator;
import io.flowlag.sketch.reconcile.SignedCounts;
import io.flowlag.sketch.reconcile.SynopsisGeometry;
import io.flowlag.sketch.reconcile.SynopsisPairing;
import io.flowlag.tests.lab.comparator.CollapsedCells;
import io.flowlag.tests.lab.comparator.FineComb;
import io.flowlag.tests.lab.comparator.FineCombEstimator;

import java.util.Arrays;

/**
 * Figures 7 and 8 of the RDA paper: relative errors of mean and standard deviation as the set difference grows, all synopses of
 * the same length (240 000 octets at the paper's scale: RDA of 2 banks of 5000 cells). FineComb is repaired ideally, as in the
 * paper. LDA's cells are 16 octets, as in the paper: counts alone tell which are usable. Beside: the product's LDA with digests,
 * RDA with four banks, and RDA late-bound from packet caches, whose length follows the difference, and the two RDA decoded
 * further with the packets of the sender.
 */
public final class SetDifferenceExperiment {
    /** Names of the compared, in the order of the columns. */
    static final String[] METHODS =
        {"RDA 2 banks", "RDA 4 banks", "RDA late", "FineComb", "LDA", "LDA digest", "RDA 2 further", "RDA 4 further"};
    private static final int PAPER_CELLS = 5_000;
    private static final int CELL_LENGTH = 24;
    private static final int LDA_CELL_LENGTH = 16;
    private static final int DIGEST_CELL_LENGTH = 32;
    private static final int ESTIMATOR_COUNTS = 1_024;
    private static final int[] DIFFERENCES = {0, 500, 1_000, 1_500, 2_000, 2_500, 3_000, 4_000, 5_000, 6_000, 8_000, 10_000};
    private static final int MOST = 10_000;
    private static final double CONFIDENCE = 0.95;
    private static final int PACKET_BYTES = 500;

    private final double scale;
    private final int packets;
    private final int seeds;
    private final int cells;
    private final double[][][] meanErrors;
    private final double[][][] deviationErrors;
    /** By the formula that FineComb has too. */
    private final double[][][] collapsedErrors;
    private final double[][][] extras;

    private SetDifferenceExperiment(final int seeds, final double scale, final int packets) {
        this.seeds = seeds;
        this.scale = scale;
        this.packets = packets;
        cells = scaled(PAPER_CELLS);
        meanErrors = new double[DIFFERENCES.length][METHODS.length][seeds];
        deviationErrors = new double[DIFFERENCES.length][METHODS.length][seeds];
        collapsedErrors = new double[DIFFERENCES.length][METHODS.length][seeds];
        extras = new double[DIFFERENCES.length][5][seeds];
    }

    /**
     * Runs it.
     *
     * @param seeds how many, from 0.
     * @param scale 1 for the paper's packets, cells and differences; a share of all three otherwise.
     * @return medians over the seeds: errors of the mean (Figure 7), of the deviation (Figure 8), ways to the deviation, and
     *         the deviation of RDA and FineComb by one formula.
     */
    public static Rows[] run(final int seeds, final double scale) {
        return run(seeds, scale, (int)Math.round(scale * ReconcileTraffic.DC_PACKETS));
    }

    /**
     * Runs it with a number of packets of its own: errors of the deviation hardly depend on it, times do.
     *
     * @param seeds how many, from 0.
     * @param scale share of the paper's cells and differences.
     */
    public static Rows[] run(final int seeds, final double scale, final int packets) {
        final SetDifferenceExperiment experiment = new SetDifferenceExperiment(seeds, scale, packets);
        for (int seed = 0; seed < seeds; seed++) {
            experiment.measure(seed);
        }
        return experiment.tables();
    }

    private int scaled(final int value) {
        return (int)Math.round(value * scale);
    }

    private Rows[] tables() {
        final Rows mean = Rows.of("Figure 7: relative error of the mean", columns());
        final Rows deviation = Rows.of("Figure 8: relative error of the standard deviation", columns());
        final Rows ways = Rows.of(
            "RDA of 2 banks: relative error of the standard deviation by the paper's formula, by the same with the mean taken " +
                "out first, and cell by cell; clean cells; octets of the late-bound RDA and its estimator",
            "difference", "F - mean²", "collapsed", "cells", "clean cells", "late octets");
        final Rows alike = Rows.of(
            "Figure 8 with one formula for all, the collapsed one that FineComb has: relative error of the standard deviation",
            "difference", "RDA 2 banks", "RDA late", "FineComb", "FineComb / RDA 2 banks", "FineComb / RDA late");
        for (int row = 0; row < DIFFERENCES.length; row++) {
            final double[] means = new double[METHODS.length + 1];
            final double[] deviations = new double[METHODS.length + 1];
            means[0] = scaled(DIFFERENCES[row]);
            deviations[0] = means[0];
            for (int method = 0; method < METHODS.length; method++) {
                means[method + 1] = Rows.median(meanErrors[row][method]);
                deviations[method + 1] = Rows.median(deviationErrors[row][method]);
            }
            mean.add(means);
            deviation.add(deviations);
            ways.add(means[0], Rows.median(extras[row][0]), Rows.median(extras[row][1]), deviations[1],
                Rows.median(extras[row][2]), Rows.median(extras[row][3]));
            final double twoBanks = Rows.median(collapsedErrors[row][0]);
            final double late = Rows.median(collapsedErrors[row][2]);
            final double fineComb = Rows.median(collapsedErrors[row][3]);
            alike.add(means[0], twoBanks, late, fineComb, fineComb / twoBanks, fineComb / late);
        }
        return new Rows[]{mean, deviation, ways, alike};
    }

    private static String[] columns() {
        final String[] columns = new String[METHODS.length + 1];
        columns[0] = "difference";
        System.arraycopy(METHODS, 0, columns, 1, METHODS.length);
        return columns;
    }

    private void measure(final int seed) {
        final ReconcileTraffic traffic =
            new ReconcileTraffic(seed, packets, scaled(MOST));
        final PacketCache sent = new PacketCache(traffic.packets + scaled(MOST), seed);
        final PacketCache received = new PacketCache(traffic.packets + scaled(MOST), seed);
        for (int row = 0; row < DIFFERENCES.length; row++) {
            final int losses = scaled(DIFFERENCES[row]) / 2;
            final boolean[] lost = traffic.lost(losses);
            final double[] truth = traffic.truth(lost);
            sent.clear();
            received.clear();
            fillCaches(traffic, lost, losses, sent, received);
            final int end = row;
            rda(SynopsisGeometry.rda(2, cells), seed, sent, received, truth, row, 0);
            rda(SynopsisGeometry.rda(4, cells / 2), seed, sent, received, truth, row, 1);
            rda(SynopsisGeometry.rda(2, cells), seed, sent, received, truth, row, 6);
            rda(SynopsisGeometry.rda(4, cells / 2), seed, sent, received, truth, row, 7);
            late(seed, sent, received, truth, row);
            fineComb(traffic, lost, losses, seed, truth, row);
            lda(traffic, lost, losses, seed, truth, row);
        }
    }

    private static void fillCaches(
        final ReconcileTraffic traffic,
        final boolean[] lost,
        final int losses,
        final PacketCache sent,
        final PacketCache received) {
        for (int i = 0; i < traffic.packets; i++) {
            sent.add(traffic.identifiers[i], i & 1023, traffic.sentNs[i], PACKET_BYTES, 1, 0);
            if (!lost[i]) {
                received.add(traffic.identifiers[i], i & 1023, traffic.sentNs[i] + traffic.delaysNs[i], PACKET_BYTES, 1, 0);
            }
        }
        for (int i = 0; i < losses; i++) {
            received.add(traffic.reordered[i], i & 1023, traffic.reorderedNs[i], PACKET_BYTES, 1, 0);
        }
    }

    private void rda(
        final SynopsisGeometry geometry,
        final int seed,
        final PacketCache sent,
        final PacketCache received,
        final double[] truth,
        final int row,
        final int method) {
        final ReconcilableDifferenceAggregator sender = new ReconcilableDifferenceAggregator(geometry, seed);
        final ReconcilableDifferenceAggregator receiver = new ReconcilableDifferenceAggregator(geometry, seed);
        sent.fill(sender, FlowSample.ALL, PacketCache.ANY_CLASS);
        received.fill(receiver, FlowSample.ALL, PacketCache.ANY_CLASS);
        final RdaReconciler reconciler = new RdaReconciler(geometry.totalCells(), seed, CONFIDENCE);
        final AggregateEstimate estimate = new AggregateEstimate();
        if (reconciler.decode(sender.image(), receiver.image()) != SynopsisPairing.PAIRED) {
            throw new IllegalStateException("not paired");
        }
        if (method >= 6) {
            reconciler.decodeFurther(sent, true);
        }
        reconciler.repair(sent, received, estimate);
        final CollapsedCells collapsed = CollapsedCells.of(reconciler.cells(), true, estimate.meanNs());
        note(estimate, collapsed, truth, row, method, seed);
        if (method == 0) {
            final double second = collapsed.secondMomentNs2() - estimate.meanNs() * estimate.meanNs();
            extras[row][0][seed] = Math.abs(Math.sqrt(Math.max(0, second)) - truth[1]) / truth[1];
            extras[row][1][seed] = Math.abs(collapsed.standardDeviationNs() - truth[1]) / truth[1];
            extras[row][2][seed] = estimate.cleanCells();
        }
    }

    private void late(
        final int seed, final PacketCache sent, final PacketCache received, final double[] truth, final int row) {
        final SignedCounts own = new SignedCounts(ESTIMATOR_COUNTS, seed);
        final SignedCounts other = new SignedCounts(ESTIMATOR_COUNTS, seed);
        sent.fill(own, FlowSample.ALL, PacketCache.ANY_CLASS);
        received.fill(other, FlowSample.ALL, PacketCache.ANY_CLASS);
        final SynopsisGeometry geometry = RdaSizing.forEstimate(
            own.estimate(other.image()), SignedCounts.relativeDeviation(ESTIMATOR_COUNTS), 2 * cells, 1 << 24);
        rda(geometry, seed, sent, received, truth, row, 2);
        extras[row][3][seed] = geometry.imageLength() + own.image().length();
    }

    private void fineComb(
        final ReconcileTraffic traffic,
        final boolean[] lost,
        final int losses,
        final int seed,
        final double[] truth,
        final int row) {
        final SynopsisGeometry geometry = FineComb.geometry(2 * cells);
        final FineComb sender = new FineComb(geometry, seed);
        final FineComb receiver = new FineComb(geometry, seed);
        for (int i = 0; i < traffic.packets; i++) {
            sender.update(traffic.identifiers[i], traffic.sentNs[i]);
            if (!lost[i]) {
                receiver.update(traffic.identifiers[i], traffic.sentNs[i] + traffic.delaysNs[i]);
            }
        }
        for (int i = 0; i < losses; i++) {
            receiver.update(traffic.reordered[i], traffic.reorderedNs[i]);
        }
        final FineCombEstimator estimator = new FineCombEstimator(2 * cells, 2, seed, CONFIDENCE);
        final AggregateEstimate estimate = new AggregateEstimate();
        estimator.pair(sender.image(), receiver.image());
        estimator.repairIdeally(
            traffic.lostIdentifiers(losses), Arrays.copyOf(traffic.reordered, losses),
            Arrays.copyOf(traffic.reorderedNs, losses));
        estimator.estimate(estimate);
        meanErrors[row][3][seed] = Math.abs(estimate.meanNs() - truth[0]) / truth[0];
        collapsedErrors[row][3][seed] = Math.abs(estimator.collapsed(estimate).standardDeviationNs() - truth[1]) / truth[1];
        deviationErrors[row][3][seed] = collapsedErrors[row][3][seed];
    }

    private void lda(
        final ReconcileTraffic traffic,
        final boolean[] lost,
        final int losses,
        final int seed,
        final double[] truth,
        final int row) {
        final int octets = 2 * cells * CELL_LENGTH;
        for (int kind = 0; kind < 2; kind++) {
            final int ldaCells = octets / (kind == 0 ? LDA_CELL_LENGTH : DIGEST_CELL_LENGTH) / 2 * 2;
            final SketchGeometry geometry = SketchGeometry.lda(ldaCells, 0);
            final LossyDifferenceAggregator sender = new LossyDifferenceAggregator(geometry, seed);
            final LossyDifferenceAggregator receiver = new LossyDifferenceAggregator(geometry, seed);
            for (int i = 0; i < traffic.packets; i++) {
                sender.update(traffic.identifiers[i], traffic.sentNs[i], PACKET_BYTES);
                if (!lost[i]) {
                    receiver.update(traffic.identifiers[i], traffic.sentNs[i] + traffic.delaysNs[i], PACKET_BYTES);
                }
            }
            for (int i = 0; i < losses; i++) {
                receiver.update(traffic.reordered[i], traffic.reorderedNs[i], PACKET_BYTES);
            }
            final double[] values = kind == 0 ?
                byCounts(sender.image(), receiver.image()) : byDigests(sender.image(), receiver.image());
            meanErrors[row][4 + kind][seed] = Math.abs(values[0] - truth[0]) / truth[0];
            deviationErrors[row][4 + kind][seed] = Math.abs(values[1] - truth[1]) / truth[1];
        }
    }

    private static double[] byDigests(final SketchImage sender, final SketchImage receiver) {
        final LdaEstimate estimate = new LdaEstimate();
        new LdaEstimator(CONFIDENCE).estimate(sender, receiver, estimate);
        return new double[]{estimate.meanNs(), estimate.standardDeviationNs()};
    }

    /** LDA as the RDA paper has it (section II-C, equations 1 to 3): counts that agree make a cell useful. */
    private static double[] byCounts(final SketchImage sender, final SketchImage receiver) {
        double sum = 0;
        double count = 0;
        for (int cell = 0; cell < sender.columns(); cell++) {
            if (sender.count(0, cell) == receiver.count(0, cell)) {
                sum += receiver.timestampSumNs(0, cell) - sender.timestampSumNs(0, cell);
                count += sender.count(0, cell);
            }
        }
        double squares = 0;
        double packets = 0;
        for (int cell = 0; cell < sender.columns(); cell += 2) {
            final long own = sender.count(0, cell) + sender.count(0, cell + 1);
            if (own == receiver.count(0, cell) + receiver.count(0, cell + 1)) {
                final double difference = receiver.timestampSumNs(0, cell) - sender.timestampSumNs(0, cell) -
                    (receiver.timestampSumNs(0, cell + 1) - sender.timestampSumNs(0, cell + 1));
                squares += difference * difference;
                packets += own;
            }
        }
        final double mean = sum / count;
        return new double[]{mean, Math.sqrt(Math.max(0, squares / packets - mean * mean))};
    }

    private void note(
        final AggregateEstimate estimate, final CollapsedCells collapsed, final double[] truth, final int row, final int method,
        final int seed) {
        meanErrors[row][method][seed] = Math.abs(estimate.meanNs() - truth[0]) / truth[0];
        deviationErrors[row][method][seed] = Math.abs(estimate.standardDeviationNs() - truth[1]) / truth[1];
        collapsedErrors[row][method][seed] = Math.abs(collapsed.standardDeviationNs() - truth[1]) / truth[1];
    }
}
