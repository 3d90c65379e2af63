package io.flowlag.tests.lab.heldout;

import io.flowlag.sketch.image.SketchGeometry;
import io.flowlag.sketch.lda.LdaEstimate;
import io.flowlag.sketch.lda.LdaEstimator;
import io.flowlag.sketch.lda.LossyDifferenceAggregator;
import io.flowlag.sketch.reconcile.AggregateEstimate;
import io.flowlag.sketch.reconcile.FlowSample;
import io.flowlag.sketch.reconcile.PacketCache;
import io.flowlag.sketch.reconcile.RdaReconciler;
import io.flowlag.sketch.reconcile.ReconcilableDifferenceAggregator;
import io.flowlag.sketch.reconcile.SynopsisGeometry;
import io.flowlag.tests.lab.comparator.FineComb;
import io.flowlag.tests.lab.comparator.FineCombEstimator;
import io.flowlag.tests.lab.method.LdaMethod;

import java.util.Arrays;
import java.util.stream.IntStream;

/**
 * The aggregators of the LDA and RDA papers over intervals that each point cuts by its own clock, as the papers have it, and what
 * theory expects of them: a packet whose two timestamps are in different intervals is like a lost one and an unexpected one.
 */
final class OwnIntervals {
    /** Length of an interval. */
    static final long LENGTH_NS = 1_000_000_000;
    /** Cells of a FineComb, and of both banks of an LDA or an RDA together. */
    static final int CELLS = 1_024;
    private static final int BANKS = 2;
    private static final double CONFIDENCE = 0.95;
    private static final int PACKET_BYTES = 500;
    private static final double SECOND_NS = 1e9;

    /** The compared aggregators. */
    enum Kind {
        LDA, FINECOMB, RDA
    }

    /**
     * Means over the intervals of a trace.
     *
     * @param apart          packets of an interval that the other point has not in it, of both points together.
     * @param apartExpected  the same from the packets a second, the mean delay and the offset.
     * @param usable         share of the packets behind the mean; for LDA of those that it samples.
     * @param usableExpected the same by the papers' theorems, from the packets apart that are expected.
     * @param meanErrorNs    mean less that of the interval's packets.
     * @param deviationErrorNs standard deviation less that of the interval's packets.
     * @param falseLosses    losses that are none, of all intervals.
     * @param packets        of an interval.
     * @param meanNs         true mean delay.
     */
    record Figures(double apart, double apartExpected, double usable, double usableExpected, double meanErrorNs,
        double deviationErrorNs, long falseLosses, double packets, double meanNs) {
        /** {@return what Lemma 2 says of the deviation, 2 δ μ (n - 1), in s²} */
        double lemma2(final long offsetNs) {
            return 2 * (offsetNs / SECOND_NS) * (meanNs / SECOND_NS) * (packets - 1);
        }
    }

    private final HeldOutTrace trace;
    private final long offsetNs;
    private final int[] packets;
    private final int intervals = (int)(HeldOutTrace.DURATION_NS / LENGTH_NS);

    OwnIntervals(final HeldOutTrace trace, final long offsetNs) {
        this.trace = trace;
        this.offsetNs = offsetNs;
        packets = IntStream.range(0, trace.packets()).filter(each -> trace.delayNs(each) >= 0).toArray();
    }

    /** The figures of an aggregator over the packets that arrive. */
    Figures figures(final Kind kind, final long seed) {
        final double ofInterval = (double)packets.length / intervals;
        final double delayNs = Arrays.stream(packets).mapToLong(trace::delayNs).average().orElseThrow();
        final double ofOnePoint = Math.min(ofInterval, ofInterval * Math.abs(delayNs + offsetNs) / LENGTH_NS);
        final double[][] rows = new double[intervals][];
        for (int i = 0; i < intervals; i++) {
            rows[i] = interval(kind, i, ofInterval, seed);
        }
        final double[] means = IntStream.range(0, rows[0].length).mapToDouble(column ->
            Arrays.stream(rows).mapToDouble(row -> row[column]).filter(value -> !Double.isNaN(value)).average()
                .orElse(Double.NaN)).toArray();
        return new Figures(means[0], 2 * ofOnePoint, means[1], expected(kind, ofInterval, ofOnePoint), means[2], means[3],
            Math.round(means[4] * intervals), ofInterval, delayNs);
    }

    /** Packets apart, share that is usable, errors of mean and deviation, false losses. */
    private double[] interval(final Kind kind, final long number, final double ofInterval, final long seed) {
        final int[] sent = Arrays.stream(packets).filter(each -> is(trace.sentNs(each), number)).toArray();
        final int[] received = Arrays.stream(packets).filter(each -> is(trace.arrivalNs(each), number)).toArray();
        final long both = Arrays.stream(sent).filter(each -> is(trace.arrivalNs(each), number)).count();
        final double meanNs = Arrays.stream(sent).mapToLong(trace::delayNs).average().orElseThrow();
        final double deviationNs = Math.sqrt(
            Arrays.stream(sent).mapToDouble(each -> Math.pow(trace.delayNs(each) - meanNs, 2)).average().orElseThrow());
        final double[] found = switch (kind) {
            case LDA -> lda(sent, received, ofInterval, seed);
            case FINECOMB -> fineComb(sent, received, number, seed);
            case RDA -> rda(sent, received, seed);
        };
        return new double[] {sent.length + received.length - 2.0 * both, found[0], found[1] - meanNs, found[2] - deviationNs,
            found[3]};
    }

    private static boolean is(final long timeNs, final long number) {
        return Math.floorDiv(timeNs, LENGTH_NS) == number;
    }

    private double[] lda(final int[] sent, final int[] received, final double ofInterval, final long seed) {
        final SketchGeometry geometry = LdaMethod.banks(CELLS / BANKS, ofInterval, 0.005, 0.1);
        final LossyDifferenceAggregator sender = new LossyDifferenceAggregator(geometry, seed);
        final LossyDifferenceAggregator receiver = new LossyDifferenceAggregator(geometry, seed);
        final LossyDifferenceAggregator all = new LossyDifferenceAggregator(geometry, seed);
        for (final int packet : sent) {
            sender.update(trace.digest(packet), trace.sentNs(packet), PACKET_BYTES);
            all.update(trace.digest(packet), trace.sentNs(packet) + 1, PACKET_BYTES);
        }
        for (final int packet : received) {
            receiver.update(trace.digest(packet), trace.arrivalNs(packet), PACKET_BYTES);
        }
        final LdaEstimator estimator = new LdaEstimator(CONFIDENCE);
        final LdaEstimate estimate = new LdaEstimate();
        estimator.estimate(sender.image(), all.image(), estimate);
        final double sampled = estimate.samples();
        estimator.estimate(sender.image(), receiver.image(), estimate);
        return new double[] {estimate.hasMean() ? estimate.samples() / sampled : 0,
            estimate.hasMean() ? estimate.meanNs() : Double.NaN,
            estimate.hasStandardDeviation() ? estimate.standardDeviationNs() : Double.NaN,
            Math.max(0, sent.length - received.length)};
    }

    /** With an ideal stash, which takes out what only the receiver has; a cell with a packet of the sender alone is lost. */
    private double[] fineComb(final int[] sent, final int[] received, final long number, final long seed) {
        final FineComb sender = new FineComb(FineComb.geometry(CELLS), seed);
        final FineComb receiver = new FineComb(FineComb.geometry(CELLS), seed);
        for (final int packet : sent) {
            sender.update(trace.digest(packet), trace.sentNs(packet));
        }
        for (final int packet : received) {
            receiver.update(trace.digest(packet), trace.arrivalNs(packet));
        }
        final int[] lost = Arrays.stream(sent).filter(each -> !is(trace.arrivalNs(each), number)).toArray();
        final int[] reordered = Arrays.stream(received).filter(each -> !is(trace.sentNs(each), number)).toArray();
        final FineCombEstimator estimator = new FineCombEstimator(CELLS, 1, seed, CONFIDENCE);
        estimator.pair(sender.image(), receiver.image());
        estimator.repairIdeally(Arrays.stream(lost).mapToLong(trace::digest).toArray(),
            Arrays.stream(reordered).mapToLong(trace::digest).toArray(),
            Arrays.stream(reordered).mapToLong(trace::arrivalNs).toArray());
        final AggregateEstimate estimate = new AggregateEstimate();
        estimator.estimate(estimate);
        return row(estimate, sent.length, Math.max(0, sent.length - received.length));
    }

    private double[] rda(final int[] sent, final int[] received, final long seed) {
        final PacketCache ofSender = cache(sent, seed, true);
        final PacketCache ofReceiver = cache(received, seed, false);
        final SynopsisGeometry geometry = SynopsisGeometry.rda(BANKS, CELLS / BANKS);
        final ReconcilableDifferenceAggregator sender = new ReconcilableDifferenceAggregator(geometry, seed);
        final ReconcilableDifferenceAggregator receiver = new ReconcilableDifferenceAggregator(geometry, seed);
        ofSender.fill(sender, FlowSample.ALL, PacketCache.ANY_CLASS);
        ofReceiver.fill(receiver, FlowSample.ALL, PacketCache.ANY_CLASS);
        final RdaReconciler reconciler = new RdaReconciler(geometry.totalCells(), seed, CONFIDENCE);
        reconciler.decode(sender.image(), receiver.image());
        final AggregateEstimate estimate = new AggregateEstimate();
        reconciler.repair(ofSender, ofReceiver, estimate);
        return row(estimate, sent.length,
            IntStream.range(0, reconciler.difference().size()).filter(reconciler.difference()::lost).count());
    }

    private PacketCache cache(final int[] ofPoint, final long seed, final boolean isSender) {
        final PacketCache cache = new PacketCache(Math.max(PacketCache.MIN_CAPACITY, ofPoint.length), seed);
        for (final int packet : ofPoint) {
            cache.add(trace.digest(packet), 0, isSender ? trace.sentNs(packet) : trace.arrivalNs(packet), PACKET_BYTES, 1, 0);
        }
        return cache;
    }

    private static double[] row(final AggregateEstimate estimate, final int sent, final double falseLosses) {
        return new double[] {estimate.hasMean() ? estimate.samples() / sent : 0,
            estimate.hasMean() ? estimate.meanNs() : Double.NaN,
            estimate.hasStandardDeviation() ? estimate.standardDeviationNs() : Double.NaN, falseLosses};
    }

    /**
     * Usable packets. LDA: cells without a packet of one point alone, by bank. FineComb: Theorem 1. RDA: all up to the difference
     * of Theorem 2, beyond it Lemma 1 as if no cell were decoded.
     */
    private static double expected(final Kind kind, final double ofInterval, final double ofOnePoint) {
        return switch (kind) {
            case LDA -> {
                final SketchGeometry geometry = LdaMethod.banks(CELLS / BANKS, ofInterval, 0.005, 0.1);
                double usable = 0;
                double sampled = 0;
                for (int bank = 0; bank < BANKS; bank++) {
                    final double rate = geometry.samplingRate(bank);
                    usable += rate * Math.exp(-2 * ofOnePoint * rate / geometry.columns());
                    sampled += rate;
                }
                yield usable / sampled;
            }
            case FINECOMB -> Math.exp(-ofOnePoint / CELLS) * (ofInterval - ofOnePoint) / ofInterval;
            case RDA -> (ofInterval - ofOnePoint) / ofInterval * (2 * ofOnePoint <= CELLS / BANKS / 2.0 ? 1 :
                1 - Math.pow(1 - Math.exp(-2 * ofOnePoint * BANKS / CELLS), BANKS));
        };
    }
}
