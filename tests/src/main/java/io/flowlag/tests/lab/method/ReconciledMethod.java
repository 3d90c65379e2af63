package io.flowlag.tests.lab.method;

import io.flowlag.sketch.reconcile.AggregateEstimate;
import io.flowlag.sketch.reconcile.FlowSample;
import io.flowlag.sketch.reconcile.PacketCache;
import io.flowlag.sketch.reconcile.RdaReconciler;
import io.flowlag.sketch.reconcile.RdaSizing;
import io.flowlag.sketch.reconcile.ReconcilableDifferenceAggregator;
import io.flowlag.sketch.reconcile.SignedCounts;
import io.flowlag.sketch.reconcile.SynopsisGeometry;

import java.util.Arrays;
import java.util.stream.IntStream;

/** RDA, late bound: one mean of all packets that both points have, which is every flow's estimate. */
public final class ReconciledMethod extends Simple.Named {
    private static final double CONFIDENCE = 0.95;
    private static final int COUNTS = 1024;
    private static final int LEAST_CELLS = 1024;
    private static final int MISSING_PACKET_BYTES = 40;
    private static final int MOST_BYTES = 1 << 28;

    private final long seed;

    /** The method. */
    public ReconciledMethod(final long seed) {
        super("RDA, late bound");
        this.seed = seed;
    }

    @Override
    public Cost estimate(final PathTrace trace, final double[] meansNs) {
        final PacketCache sent = new PacketCache(Math.max(PacketCache.MIN_CAPACITY, trace.packets()), seed);
        final PacketCache received = new PacketCache(Math.max(PacketCache.MIN_CAPACITY, trace.packets()), seed);
        for (int packet = 0; packet < trace.packets(); packet++) {
            sent.add(trace.digestOf(packet), 0, trace.sentNsOf(packet), trace.bytesOf(packet), 1, 0);
            if (!trace.isLost(packet)) {
                received.add(trace.digestOf(packet), 0, trace.arrivalNsOf(packet), trace.bytesOf(packet), 1, 0);
            }
        }
        final SignedCounts senderCounts = new SignedCounts(COUNTS, seed);
        final SignedCounts receiverCounts = new SignedCounts(COUNTS, seed);
        sent.fill(senderCounts, FlowSample.ALL, PacketCache.ANY_CLASS);
        received.fill(receiverCounts, FlowSample.ALL, PacketCache.ANY_CLASS);
        final SynopsisGeometry geometry = RdaSizing.forEstimate(
            receiverCounts.estimate(senderCounts.image()), SignedCounts.relativeDeviation(COUNTS), LEAST_CELLS, MOST_BYTES);
        final ReconcilableDifferenceAggregator sender = new ReconcilableDifferenceAggregator(geometry, seed);
        final ReconcilableDifferenceAggregator receiver = new ReconcilableDifferenceAggregator(geometry, seed);
        sent.fill(sender, FlowSample.ALL, PacketCache.ANY_CLASS);
        received.fill(receiver, FlowSample.ALL, PacketCache.ANY_CLASS);
        final RdaReconciler reconciler = new RdaReconciler(geometry.totalCells(), seed, CONFIDENCE);
        reconciler.decode(sender.image(), receiver.image());
        final AggregateEstimate estimate = new AggregateEstimate();
        reconciler.repair(sent, received, estimate);
        Arrays.fill(meansNs, estimate.hasMean() ? estimate.meanNs() : Double.NaN);
        final long cacheBytes = PacketCache.memoryBytes(Math.max(PacketCache.MIN_CAPACITY, trace.packets()));
        return new Cost(
            2 * (cacheBytes + geometry.memoryBytes() + senderCounts.image().length()),
            senderCounts.image().length() + geometry.imageLength() +
                IntStream.range(0, reconciler.difference().size()).filter(reconciler.difference()::lost).count() *
                MISSING_PACKET_BYTES);
    }
}
