package io.flowlag.tests.lab.reconcile;

import io.flowlag.sketch.reconcile.AggregateEstimate;
import io.flowlag.sketch.reconcile.DifferenceDecoder;
import io.flowlag.sketch.reconcile.FlowSample;
import io.flowlag.sketch.reconcile.PacketCache;
import io.flowlag.sketch.reconcile.PacketDifference;
import io.flowlag.sketch.reconcile.RdaReconciler;
import io.flowlag.sketch.reconcile.ReconcilableDifferenceAggregator;
import io.flowlag.sketch.reconcile.SynopsisGeometry;
import io.flowlag.tests.lab.comparator.CollapsedCells;
import io.flowlag.tests.lab.comparator.FineComb;
import io.flowlag.tests.lab.comparator.FineCombEstimator;
import io.flowlag.tests.lab.report.Experiment;
import io.flowlag.tests.lab.report.Results;
import io.flowlag.tests.lab.report.Setup;
import io.flowlag.tests.lab.report.Table;

import java.util.HashSet;
import java.util.Set;
import java.util.SplittableRandom;

/**
 * Theorems 1 and 2 and Lemmas 1 to 3 of the RDA paper against the product's own code: cells of a FineComb that lost packets
 * spoil, how often an RDA of twice the difference is not decoded, packets that are of no use then, what a constant offset of the
 * clocks does, and how many samples keep a mean within a share of itself.
 */
public final class RdaTheorems implements Experiment {
    private static final double CONFIDENCE = 0.95;
    private static final int PACKETS = 20_000;
    private static final int PACKET_BYTES = 500;
    private static final int[] COMB_CELLS = {100, 1_000};
    private static final double[] LOST_PER_CELL = {0.1, 0.5, 1, 2};
    private static final int RDA_CELLS = 500;
    private static final int SAMPLED = 1_000;
    private static final int[] DIFFERENCES = {8, 32, 128};
    private static final double WEIBULL_SHAPE = 0.6;
    private static final double WEIBULL_MEAN = 1.5046;
    private static final double WEIBULL_DEVIATION = 2.6451;
    private static final double PARETO_SHAPE = 2.5;
    private static final long[] OFFSETS_NS = {-1_000_000, 1_000, 1_000_000, 10_000_000};

    @Override
    public void run(final Setup setup, final Results results) {
        final Table comb = results.table("theorem1", "Cells of a FineComb that hold a lost packet; medians over seeds", "cells",
            "lost packets", "m (1 - exp(-n/m))", "found", "found / expected");
        for (final int cells : COMB_CELLS) {
            for (final double perCell : LOST_PER_CELL) {
                final int lost = (int)Math.round(perCell * cells);
                final double expected = cells * (1 - Math.exp(-(double)lost / cells));
                final double found = setup.medians(seed -> new double[] {spoiled(cells, lost, seed)})[0];
                comb.row(cells, lost, expected, found, found / expected);
            }
        }
        results.compare("cells with lost packets, 100 cells, 50 lost", 40, comb.number("found", 100, 50));

        final Table useless = results.table("lemma1", "Share of packets all of whose cells stay undecoded, 500 cells a bank; " +
            "medians over seeds", "banks", "difference", "cells not repaired, mean of banks %", "product of the shares %",
            "found %");
        for (final int banks : new int[] {2, 4}) {
            for (final int difference : new int[] {RDA_CELLS, 2 * RDA_CELLS, 4 * RDA_CELLS}) {
                final double[] row = setup.medians(seed -> useless(banks, difference, seed));
                useless.row(banks, difference, 100 * row[0], 100 * row[1], 100 * row[2]);
            }
        }

        final Table clocks = results.table("lemma2", "A receiver's clock that is off by a constant, RDA 2 x 500, 100 packets " +
            "lost; medians over seeds", "offset ns", "mean shifted by ns", "deviation shifted by ns, cell by cell",
            "collapsed", "by F - mean²");
        final double[] without = setup.medians(seed -> deviations(seed, 0));
        for (final long offsetNs : OFFSETS_NS) {
            final double[] row = setup.medians(seed -> {
                final double[] with = deviations(seed, offsetNs);
                final double[] plain = deviations(seed, 0);
                for (int i = 0; i < with.length; i++) {
                    with[i] -= plain[i];
                }
                return with;
            });
            clocks.row(offsetNs, row[0], row[1], row[2], row[3]);
        }
        results.compare("mean shifted by a clock that is 1 ms off, ms", 1,
            clocks.number("mean shifted by ns", 1_000_000L) / 1e6);
        results.note("Lemma 2 gives 2 δ μ (n - 1) for the shift of the deviation, which is no time but its square. A constant " +
            "offset moves the mean by itself and no deviation, unless squares are summed before the mean is taken out; the " +
            "deviation here is " + Math.round(without[1] / 1e3) + " µs.");
        failures(setup, results);
        samples(setup, results);
    }

    private static void failures(final Setup setup, final Results results) {
        final int trials = setup.size(2_000, 10_000, 100_000);
        final Table table = results.table("theorem2", "RDA with twice as many cells a bank as packets differ, not decoded, of " +
            trials, "banks", "difference d", "not decoded %", "two packets share all cells, expected %", "d^-banks %");
        for (int banks = 2; banks <= 4; banks++) {
            for (final int difference : DIFFERENCES) {
                final SynopsisGeometry geometry = SynopsisGeometry.rda(banks, 2 * difference);
                int failed = 0;
                for (int trial = 1; trial <= trials; trial++) {
                    failed += isDecoded(geometry, difference, trial) ? 0 : 1;
                }
                table.row(banks, difference, 100.0 * failed / trials,
                    100 * -Math.expm1(-difference * (difference - 1) / 2.0 / Math.pow(2 * difference, banks)),
                    100 * Math.pow(difference, -banks));
            }
        }
        results.note("Theorem 2 states at most O(d^-k) for k banks. Two packets that share their cells in all banks cannot be " +
            "told apart, which alone has d^(2-k) / 2^(k+1).");
    }

    private static boolean isDecoded(final SynopsisGeometry geometry, final int difference, final long seed) {
        final ReconcilableDifferenceAggregator sender = new ReconcilableDifferenceAggregator(geometry, seed);
        new SplittableRandom(seed).longs(difference).forEach(identifier -> sender.add(identifier, 0, 1));
        final DifferenceDecoder decoder = new DifferenceDecoder(geometry.totalCells(), seed);
        final PacketDifference found = decoder.newDifference();
        decoder.decode(sender.image(), new ReconcilableDifferenceAggregator(geometry, seed).image(), found);
        return found.complete();
    }

    private static void samples(final Setup setup, final Results results) {
        final int trials = setup.size(300, 1_000, 10_000);
        final Table table = results.table("lemma3", "Means of as many samples as Lemma 3 asks for, of " + trials, "delays",
            "epsilon", "phi", "samples", "outside %");
        final SplittableRandom random = new SplittableRandom(1);
        for (final boolean isWeibull : new boolean[] {true, false}) {
            final double mean = isWeibull ? WEIBULL_MEAN : PARETO_SHAPE / (PARETO_SHAPE - 1);
            final double deviation = isWeibull ? WEIBULL_DEVIATION : mean / Math.sqrt(PARETO_SHAPE * (PARETO_SHAPE - 2));
            for (final double epsilon : new double[] {0.1, 0.5}) {
                for (final double phi : new double[] {0.05, 0.2}) {
                    final long samples = (long) Math.ceil(
                        2 * deviation * deviation * Math.log(2 / phi) / (epsilon * epsilon * mean * mean));
                    int outside = 0;
                    for (int trial = 0; trial < trials; trial++) {
                        final double found = random.doubles(samples).map(draw -> isWeibull ?
                            Math.pow(-Math.log(1 - draw), 1 / WEIBULL_SHAPE) : Math.pow(1 - draw, -1 / PARETO_SHAPE)).sum();
                        outside += Math.abs(found / samples - mean) > epsilon * mean ? 1 : 0;
                    }
                    table.row(isWeibull ? "Weibull 0.6" : "Pareto 2.5", epsilon, phi, samples, 100.0 * outside / trials);
                }
            }
        }
    }

    private static double spoiled(final int cells, final int lost, final long seed) {
        final ReconcileTraffic traffic = new ReconcileTraffic(seed, PACKETS, lost);
        final boolean[] isLost = traffic.lost(lost);
        final SynopsisGeometry geometry = FineComb.geometry(cells);
        final FineComb sender = new FineComb(geometry, seed);
        final FineComb receiver = new FineComb(geometry, seed);
        for (int i = 0; i < PACKETS; i++) {
            sender.update(traffic.identifiers[i], traffic.sentNs[i]);
            if (!isLost[i]) {
                receiver.update(traffic.identifiers[i], traffic.sentNs[i] + traffic.delaysNs[i]);
            }
        }
        final FineCombEstimator estimator = new FineCombEstimator(cells, 1, seed, CONFIDENCE);
        final AggregateEstimate estimate = new AggregateEstimate();
        estimator.pair(sender.image(), receiver.image());
        estimator.estimate(estimate);
        return estimate.totalCells() - estimate.cleanCells();
    }

    /** Mean share of cells that are not repaired, product of the banks' shares, and share of packets that are useless. */
    private static double[] useless(final int banks, final int difference, final long seed) {
        final ReconcileTraffic traffic = new ReconcileTraffic(seed, PACKETS, difference);
        final SynopsisGeometry geometry = SynopsisGeometry.rda(banks, RDA_CELLS);
        final PacketCache sent = new PacketCache(PACKETS, seed);
        final PacketCache received = new PacketCache(PACKETS, seed);
        final RdaReconciler reconciler = decode(traffic, geometry, sent, received, difference, seed, 0);
        final Set<Long> listed = new HashSet<>();
        for (int i = 0; i < reconciler.difference().size(); i++) {
            listed.add(reconciler.difference().identifier(i));
        }
        final ReconcilableDifferenceAggregator rest = new ReconcilableDifferenceAggregator(geometry, seed);
        for (final long identifier : traffic.lostIdentifiers(difference)) {
            if (!listed.contains(identifier)) {
                rest.add(identifier, 0, 1);
            }
        }
        double mean = 0;
        double product = 1;
        for (int bank = 0; bank < banks; bank++) {
            double bad = 0;
            for (int cell = 0; cell < RDA_CELLS; cell++) {
                bad += rest.image().count(bank * RDA_CELLS + cell) == 0 ? 0 : 1;
            }
            mean += bad / RDA_CELLS / banks;
            product *= bad / RDA_CELLS;
        }
        final ReconcilableDifferenceAggregator one = new ReconcilableDifferenceAggregator(geometry, seed);
        final boolean[] isLost = traffic.lost(difference);
        int sampled = 0;
        int bad = 0;
        for (int i = 0; i < PACKETS && sampled < SAMPLED; i++) {
            if (!isLost[i]) {
                sampled++;
                one.add(traffic.identifiers[i], 0, 1);
                boolean isUseless = true;
                for (int cell = 0; cell < geometry.totalCells(); cell++) {
                    isUseless &= one.image().count(cell) == 0 || rest.image().count(cell) != 0;
                }
                one.remove(traffic.identifiers[i], 0, 1);
                bad += isUseless ? 1 : 0;
            }
        }
        return new double[] {mean, product, (double)bad / sampled};
    }

    /** Mean, and the deviation by three formulas. */
    private static double[] deviations(final long seed, final long offsetNs) {
        final int lost = 100;
        final ReconcileTraffic traffic = new ReconcileTraffic(seed, PACKETS, lost);
        final PacketCache sent = new PacketCache(PACKETS, seed);
        final PacketCache received = new PacketCache(PACKETS, seed);
        final RdaReconciler reconciler =
            decode(traffic, SynopsisGeometry.rda(2, RDA_CELLS), sent, received, lost, seed, offsetNs);
        final AggregateEstimate estimate = new AggregateEstimate();
        reconciler.repair(sent, received, estimate);
        final CollapsedCells collapsed = CollapsedCells.of(reconciler.cells(), true, estimate.meanNs());
        return new double[] {estimate.meanNs(), estimate.standardDeviationNs(), collapsed.standardDeviationNs(),
            Math.sqrt(Math.max(0, collapsed.secondMomentNs2() - estimate.meanNs() * estimate.meanNs()))};
    }

    private static RdaReconciler decode(
        final ReconcileTraffic traffic, final SynopsisGeometry geometry, final PacketCache sent, final PacketCache received,
        final int lost, final long seed, final long offsetNs) {
        final boolean[] isLost = traffic.lost(lost);
        for (int i = 0; i < PACKETS; i++) {
            sent.add(traffic.identifiers[i], 0, traffic.sentNs[i], PACKET_BYTES, 1, 0);
            if (!isLost[i]) {
                received.add(traffic.identifiers[i], 0, traffic.sentNs[i] + traffic.delaysNs[i] + offsetNs, PACKET_BYTES, 1, 0);
            }
        }
        final ReconcilableDifferenceAggregator sender = new ReconcilableDifferenceAggregator(geometry, seed);
        final ReconcilableDifferenceAggregator receiver = new ReconcilableDifferenceAggregator(geometry, seed);
        sent.fill(sender, FlowSample.ALL, PacketCache.ANY_CLASS);
        received.fill(receiver, FlowSample.ALL, PacketCache.ANY_CLASS);
        final RdaReconciler reconciler = new RdaReconciler(geometry.totalCells(), seed, CONFIDENCE);
        reconciler.decode(sender.image(), receiver.image());
        return reconciler;
    }
}
