package io.flowlag.tests.lab.reconcile;

import io.flowlag.sketch.estimate.FlowEstimate;
import io.flowlag.sketch.estimate.FlowEstimator;
import io.flowlag.sketch.image.CellEditor;
import io.flowlag.sketch.image.PairingResult;
import io.flowlag.sketch.image.SketchGeometry;
import io.flowlag.sketch.lds.LossyDifferenceSketch;
import io.flowlag.sketch.reconcile.FlowSample;
import io.flowlag.sketch.reconcile.LdsRepair;
import io.flowlag.sketch.reconcile.PacketCache;
import io.flowlag.sketch.reconcile.PacketDifference;
import io.flowlag.sketch.reconcile.RdaReconciler;
import io.flowlag.sketch.reconcile.RdaSizing;
import io.flowlag.sketch.reconcile.ReconcilableDifferenceAggregator;
import io.flowlag.sketch.reconcile.SignedCounts;
import io.flowlag.sketch.reconcile.SynopsisGeometry;
import io.flowlag.sketch.reconcile.SynopsisPairing;

import java.util.Arrays;
import java.util.HashMap;
import java.util.Map;
import java.util.SplittableRandom;

/**
 * Effect of repair on an LDS of 4 rows of 0.12 cells a flow, every packet in every row, under uniform loss and bursts of 100.
 * Flows have bounded Pareto sizes (shape 0.8); delays are Weibull of shape 0.6 with the flow's own scale. Estimates know the
 * flows' packets. The exchange of reconciliation is the estimator's image, the aggregator's, and 32 octets a lost packet.
 */
public final class LdsRepairExperiment {
    private static final int PAPER_FLOWS = 146_000;
    private static final double COLUMNS_PER_FLOW = 0.12;
    private static final int ROWS = 4;
    private static final double SIZE_SHAPE = 0.8;
    private static final int LARGEST_FLOW = 50_000;
    private static final double DELAY_SHAPE = 0.6;
    private static final int LARGE_FLOW = 100;
    private static final int BURST = 100;
    private static final int PACKET_BYTES = 500;
    private static final int COUNTS = 1_024;
    private static final int LOST_PACKET_BYTES = 32;
    private static final double CONFIDENCE = 0.95;

    private final int seed;
    private final int[] flowOf;
    private final long[] flowHashes;
    private final long[] identifiers;
    private final long[] delaysNs;
    private final SketchGeometry geometry;

    private LdsRepairExperiment(final int seed, final double scale) {
        this.seed = seed;
        final SplittableRandom random = new SplittableRandom(seed);
        final int flows = (int)(PAPER_FLOWS * scale);
        geometry = SketchGeometry.lds(ROWS, (int)(COLUMNS_PER_FLOW * flows), 1);
        flowHashes = random.longs(flows).toArray();
        final int[] sizes = new int[flows];
        final double tail = Math.pow(LARGEST_FLOW, -SIZE_SHAPE);
        for (int flow = 0; flow < flows; flow++) {
            sizes[flow] = (int)Math.pow(1 - random.nextDouble() * (1 - tail), -1 / SIZE_SHAPE);
        }
        flowOf = new int[Arrays.stream(sizes).sum()];
        for (int flow = 0, packet = 0; flow < flows; flow++) {
            Arrays.fill(flowOf, packet, packet + sizes[flow], flow);
            packet += sizes[flow];
        }
        for (int i = flowOf.length - 1; i > 0; i--) {
            final int other = random.nextInt(i + 1);
            final int moved = flowOf[i];
            flowOf[i] = flowOf[other];
            flowOf[other] = moved;
        }
        final double[] scalesNs = new double[flows];
        for (int flow = 0; flow < flows; flow++) {
            scalesNs[flow] = 2e6 * Math.pow(4, 2 * random.nextDouble() - 1);
        }
        identifiers = random.longs(flowOf.length).toArray();
        delaysNs = new long[flowOf.length];
        for (int i = 0; i < flowOf.length; i++) {
            delaysNs[i] = Math.round(scalesNs[flowOf[i]] * Math.pow(-Math.log(1 - random.nextDouble()), 1 / DELAY_SHAPE));
        }
    }

    /**
     * Runs it.
     *
     * @param seeds how many, from 0.
     * @param scale share of the LDS paper's 146 000 flows, and of its cells.
     * @return medians over the seeds, a row for each loss; burst is 1 where losses come in bursts of 100.
     */
    public static Rows run(final int seeds, final double scale) {
        final Rows table = Rows.of("LDS, flows from 100 packets on: median error", "loss %", "burst", "no loss", "with loss",
            "none %", "repaired", "repaired / no loss", "flows with exact loss %", "lost packets", "octets", "octets of LDS");
        final double[] rates = {0.001, 0.005, 0.01, 0.05};
        for (int burst = 0; burst < 2; burst++) {
            for (final double rate : rates) {
                final double[][] rows = new double[8][seeds];
                for (int run = 0; run < seeds; run++) {
                    final double[] row = new LdsRepairExperiment(run, scale).measure(rate, burst == 1);
                    for (int i = 0; i < row.length; i++) {
                        rows[i][run] = row[i];
                    }
                }
                final double[] median = Arrays.stream(rows).mapToDouble(Rows::median).toArray();
                table.add(100 * rate, burst, median[0], median[1], 100 * median[2], median[3], median[3] / median[0],
                    100 * median[4], median[5], median[6], median[7]);
            }
        }
        return table;
    }

    private boolean[] lost(final double rate, final boolean bursts) {
        final SplittableRandom random = new SplittableRandom(seed + 1_000);
        final boolean[] lost = new boolean[flowOf.length];
        for (int i = 0; i < lost.length; i++) {
            if (bursts && random.nextDouble() < rate / BURST) {
                Arrays.fill(lost, i, Math.min(lost.length, i + BURST), true);
            } else if (!bursts) {
                lost[i] = random.nextDouble() < rate;
            }
        }
        return lost;
    }

    /** Errors without loss, with it, share without estimate, repaired; flows with exact loss; lost; octets; octets of the LDS. */
    private double[] measure(final double rate, final boolean bursts) {
        final boolean[] none = new boolean[flowOf.length];
        final boolean[] lost = lost(rate, bursts);
        final PacketCache sent = new PacketCache(flowOf.length, seed);
        final PacketCache received = new PacketCache(flowOf.length, seed);
        final LossyDifferenceSketch sender = new LossyDifferenceSketch(geometry, seed);
        final LossyDifferenceSketch all = new LossyDifferenceSketch(geometry, seed);
        final LossyDifferenceSketch receiver = new LossyDifferenceSketch(geometry, seed);
        for (int i = 0; i < flowOf.length; i++) {
            final long flow = flowHashes[flowOf[i]];
            sender.update(flow, identifiers[i], i, PACKET_BYTES, 1);
            all.update(flow, identifiers[i], i + delaysNs[i], PACKET_BYTES, 1);
            sent.add(identifiers[i], flow, i, PACKET_BYTES, 1, 0);
            if (!lost[i]) {
                receiver.update(flow, identifiers[i], i + delaysNs[i], PACKET_BYTES, 1);
                received.add(identifiers[i], flow, i + delaysNs[i], PACKET_BYTES, 1, 0);
            }
        }
        final double[] result = new double[8];
        result[0] = errors(sender, all, none)[0];
        final double[] damaged = errors(sender, receiver, lost);
        result[1] = damaged[0];
        result[2] = damaged[1];
        result[6] = reconcile(sent, received, sender, lost, result);
        result[3] = errors(sender, receiver, lost)[0];
        result[7] = geometry.imageLength();
        return result;
    }

    private double reconcile(
        final PacketCache sent,
        final PacketCache received,
        final LossyDifferenceSketch sender,
        final boolean[] lost,
        final double[] result) {
        final SignedCounts own = new SignedCounts(COUNTS, seed);
        final SignedCounts other = new SignedCounts(COUNTS, seed);
        sent.fill(own, FlowSample.ALL, PacketCache.ANY_CLASS);
        received.fill(other, FlowSample.ALL, PacketCache.ANY_CLASS);
        final SynopsisGeometry size = RdaSizing.forAssisted(
            own.estimate(other.image()), SignedCounts.relativeDeviation(COUNTS), 0, 1 << 28);
        final ReconcilableDifferenceAggregator sentPackets = new ReconcilableDifferenceAggregator(size, seed);
        final ReconcilableDifferenceAggregator receivedPackets = new ReconcilableDifferenceAggregator(size, seed);
        sent.fill(sentPackets, FlowSample.ALL, PacketCache.ANY_CLASS);
        received.fill(receivedPackets, FlowSample.ALL, PacketCache.ANY_CLASS);
        final RdaReconciler reconciler = new RdaReconciler(size.totalCells(), seed, CONFIDENCE);
        if (reconciler.decode(sentPackets.image(), receivedPackets.image()) != SynopsisPairing.PAIRED) {
            throw new IllegalStateException("not paired");
        }
        reconciler.decodeFurther(sent, true);
        final PacketDifference difference = reconciler.difference();
        new LdsRepair(geometry, seed).repair(difference, true, sent, new CellEditor().wrap(sender));
        final Map<Long, Long> losses = new HashMap<>();
        LdsRepair.forEachLoss(
            difference, sent, received,
            (identifier, flow, classIndex, packets, copies) -> losses.merge(flow, packets, Long::sum));
        final long[] truth = new long[flowHashes.length];
        int count = 0;
        for (int i = 0; i < flowOf.length; i++) {
            truth[flowOf[i]] += lost[i] ? 1 : 0;
            count += lost[i] ? 1 : 0;
        }
        int exact = 0;
        for (int flow = 0; flow < truth.length; flow++) {
            exact += truth[flow] == losses.getOrDefault(flowHashes[flow], 0L) ? 1 : 0;
        }
        result[4] = exact / (double)truth.length;
        result[5] = count;
        return own.image().length() + size.imageLength() + (double)LOST_PACKET_BYTES * difference.size();
    }

    /** The median error of flows of at least 100 packets that arrived, 1 for those without estimate, and their share. */
    private double[] errors(
        final LossyDifferenceSketch sender, final LossyDifferenceSketch receiver, final boolean[] lost) {
        final FlowEstimator estimator = new FlowEstimator(geometry, seed);
        if (estimator.pair(sender.image(), receiver.image()) != PairingResult.PAIRED) {
            throw new IllegalStateException("not paired");
        }
        final double[] sums = new double[flowHashes.length];
        final int[] counts = new int[flowHashes.length];
        for (int i = 0; i < flowOf.length; i++) {
            sums[flowOf[i]] += lost[i] ? 0 : delaysNs[i];
            counts[flowOf[i]] += lost[i] ? 0 : 1;
        }
        final FlowEstimate estimate = new FlowEstimate();
        final double[] errors = new double[flowHashes.length];
        int large = 0;
        int absent = 0;
        for (int flow = 0; flow < flowHashes.length; flow++) {
            if (counts[flow] >= LARGE_FLOW) {
                estimator.estimate(flowHashes[flow], 1, counts[flow], estimate);
                final double truthNs = sums[flow] / counts[flow];
                errors[large++] = estimate.hasMean() ? Math.abs(estimate.meanNs() - truthNs) / truthNs : 1;
                absent += estimate.hasMean() ? 0 : 1;
            }
        }
        return new double[]{Rows.median(Arrays.copyOf(errors, large)), absent / (double)large};
    }
}
