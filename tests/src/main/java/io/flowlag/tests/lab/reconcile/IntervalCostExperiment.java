package io.flowlag.tests.lab.reconcile;

import io.flowlag.sketch.reconcile.AggregateEstimate;
import io.flowlag.sketch.reconcile.FlowSample;
import io.flowlag.sketch.reconcile.PacketCache;
import io.flowlag.sketch.reconcile.PacketDifference;
import io.flowlag.sketch.reconcile.RdaReconciler;
import io.flowlag.sketch.reconcile.RdaSizing;
import io.flowlag.sketch.reconcile.ReconcilableDifferenceAggregator;
import io.flowlag.sketch.reconcile.SignedCounts;
import io.flowlag.sketch.reconcile.SynopsisGeometry;
import io.flowlag.sketch.reconcile.SynopsisVerifier;
import org.agrona.concurrent.UnsafeBuffer;

import java.util.stream.IntStream;

/**
 * Figures 12 to 15 of the RDA paper: cost of an interval after its end. The wire's time is octets over 1 Gbit/s, since nothing is
 * sent here; the paper's figures include its servers' network stack. All other times are the best of the seeds.
 */
public final class IntervalCostExperiment {
    /** Octets of a packet that is asked for and answered: identifier; identifier, timestamp sum, copies. */
    private static final int MISSING_PACKET_BYTES = 8 + 8 + 8 + 2;
    private static final double BITS_PER_MS = 1e6;
    private static final double NS_PER_MS = 1e6;
    private static final int PACKETS = 80_000;
    private static final int COUNTS = 1_024;
    private static final double CONFIDENCE = 0.95;

    private IntervalCostExperiment() {
    }

    /**
     * Figures 12 and 13: an interval of one second at 940 Mbit/s, 80 000 packets of 1500 octets, by the size of the difference.
     *
     * @param scale share of the packets and differences.
     * @return a row for each difference.
     */
    public static Rows stages(final int seeds, final double scale) {
        final Rows table = Rows.of(
            "Figures 12 and 13: ms from the interval's end to its result, 80 000 packets in caches",
            "difference", "estimate", "fill", "octets", "wire", "verify and decode", "missing octets", "missing wire",
            "repair, mean, deviation");
        for (final int paper : new int[]{0, 100, 1_000, 5_000}) {
            table.add(stages(seeds, (int)(paper * scale), (int)(PACKETS * scale)));
        }
        return table;
    }

    /**
     * Figures 14 and 15: octets on the wire and time of mean and deviation, by cells.
     *
     * @param scale share of the cells.
     * @return a row for each number of cells.
     */
    public static Rows cells(final int seeds, final double scale) {
        final Rows table = Rows.of(
            "Figures 14 and 15: by cells over two banks", "cells", "octets", "wire ms", "missing packets", "missing octets",
            "missing wire ms", "mean and deviation ms");
        for (final int paper : new int[]{2_000, 5_000, 10_000, 20_000, 100_000}) {
            final int cells = (int)(paper * scale);
            final SynopsisGeometry geometry = SynopsisGeometry.rda(2, Math.max(1, cells / 2));
            final ReconcilableDifferenceAggregator sender = new ReconcilableDifferenceAggregator(geometry, 0);
            final ReconcilableDifferenceAggregator receiver = new ReconcilableDifferenceAggregator(geometry, 0);
            for (int packet = 0; packet < 10 * cells; packet++) {
                sender.update(packet, packet);
                receiver.update(packet, packet + packet % 100);
            }
            final RdaReconciler reconciler = new RdaReconciler(geometry.totalCells(), 0, CONFIDENCE);
            reconciler.decode(sender.image(), receiver.image());
            final PacketCache none = new PacketCache(16, 0);
            final AggregateEstimate estimate = new AggregateEstimate();
            double best = Double.MAX_VALUE;
            for (int seed = 0; seed < 5 * seeds; seed++) {
                final long start = System.nanoTime();
                reconciler.repair(none, none, estimate);
                best = Math.min(best, System.nanoTime() - start);
            }
            final int octets = geometry.imageLength();
            final int missing = cells / 10;
            table.add(cells, octets, octets * 8 / BITS_PER_MS, missing, missing * MISSING_PACKET_BYTES,
                missing * MISSING_PACKET_BYTES * 8 / BITS_PER_MS, best / NS_PER_MS);
        }
        return table;
    }

    private static double[] stages(final int seeds, final int differences, final int packets) {
        final PacketCache sent = new PacketCache(packets, 0);
        final PacketCache received = new PacketCache(packets, 0);
        final ReconcileTraffic traffic = new ReconcileTraffic(0, packets, Math.max(1, differences));
        final boolean[] lost = traffic.lost(differences / 2);
        for (int i = 0; i < packets; i++) {
            sent.add(traffic.identifiers[i], 1, traffic.sentNs[i], 1_500, 1, 0);
            if (!lost[i]) {
                received.add(traffic.identifiers[i], 1, traffic.sentNs[i] + traffic.delaysNs[i], 1_500, 1, 0);
            }
        }
        for (int i = 0; i < differences - differences / 2; i++) {
            received.add(traffic.reordered[i], 1, traffic.reorderedNs[i], 1_500, 1, 0);
        }
        final double[] best = {differences, 1e9, 1e9, 0, 0, 1e9, 0, 0, 1e9};
        final SynopsisGeometry largest = SynopsisGeometry.rda(4, 50_000);
        final ReconcilableDifferenceAggregator sender = new ReconcilableDifferenceAggregator(largest, 0);
        final ReconcilableDifferenceAggregator receiver = new ReconcilableDifferenceAggregator(largest, 0);
        final RdaReconciler reconciler = new RdaReconciler(largest.totalCells(), 0, CONFIDENCE);
        final AggregateEstimate estimate = new AggregateEstimate();
        final UnsafeBuffer wire = new UnsafeBuffer(new byte[largest.imageLength()]);
        for (int seed = 0; seed < seeds; seed++) {
            long start = System.nanoTime();
            final SignedCounts own = new SignedCounts(COUNTS, 0);
            final SignedCounts other = new SignedCounts(COUNTS, 0);
            sent.fill(own, FlowSample.ALL, PacketCache.ANY_CLASS);
            received.fill(other, FlowSample.ALL, PacketCache.ANY_CLASS);
            final SynopsisGeometry geometry = RdaSizing.forEstimate(
                own.estimate(other.image()), SignedCounts.relativeDeviation(COUNTS), 1_250, sender.capacityBytes());
            best[1] = least(best[1], start);
            start = System.nanoTime();
            sender.reshape(geometry);
            receiver.reshape(geometry);
            sent.fill(sender, FlowSample.ALL, PacketCache.ANY_CLASS);
            received.fill(receiver, FlowSample.ALL, PacketCache.ANY_CLASS);
            best[2] = least(best[2], start);
            start = System.nanoTime();
            final int length = receiver.encode(wire, 0);
            SynopsisVerifier.verify(wire, 0, length);
            reconciler.decode(sender.image(), receiver.image());
            best[5] = least(best[5], start);
            start = System.nanoTime();
            reconciler.repair(sent, received, estimate);
            best[8] = least(best[8], start);
            best[3] = length + own.image().length();
        }
        final PacketDifference difference = reconciler.difference();
        final long reordered = difference.size() - IntStream.range(0, difference.size()).filter(difference::lost).count();
        best[4] = best[3] * 8 / BITS_PER_MS;
        best[6] = reordered * MISSING_PACKET_BYTES;
        best[7] = best[6] * 8 / BITS_PER_MS;
        return best;
    }

    private static double least(final double best, final long start) {
        return Math.min(best, (System.nanoTime() - start) / NS_PER_MS);
    }
}
