package io.flowlag.sketch.reconcile;

import io.flowlag.sketch.support.Allocation;
import org.junit.jupiter.api.Test;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

class ReconcileAllocationTest {
    private static final int PACKETS = 20_000;
    private static final long SEED = 1;

    @Test
    void shouldAllocateNothingWhenTheCacheTakesPacketsOrOverflows() {
        final PacketCache cache = new PacketCache(PACKETS / 4, SEED);

        Allocation.assertNone(() -> {
            for (int packet = 0; packet < PACKETS; packet++) {
                cache.add(packet % (PACKETS - 100), packet % 999, packet, 100, 1, 0);
            }
            cache.settle();
            cache.clear();
            cache.begin(1, 1_000);
        });
    }

    @Test
    void shouldAllocateNothingWhenSynopsesTakePackets() {
        final ReconcilableDifferenceAggregator rda =
            new ReconcilableDifferenceAggregator(SynopsisGeometry.rda(2, 1_000), SEED);
        final SignedCounts counts = new SignedCounts(1_000, SEED);

        Allocation.assertNone(() -> {
            for (int packet = 0; packet < PACKETS; packet++) {
                rda.update(packet, packet);
                counts.add(packet);
            }
        });
    }

    @Test
    void shouldAllocateNothingWhenItDecodesAndRepairs() {
        final SynopsisGeometry geometry = SynopsisGeometry.rda(4, 1_000);
        final PacketCache sent = new PacketCache(PACKETS, SEED);
        final PacketCache received = new PacketCache(PACKETS, SEED);
        for (int packet = 0; packet < PACKETS; packet++) {
            if (packet % 25 != 0) {
                sent.add(packet, packet % 99, packet, 100, 1, 0);
            }
            if (packet % 21 != 0) {
                received.add(packet, packet % 99, packet + 50, 100, 1, 0);
            }
        }
        final ReconcilableDifferenceAggregator sender = new ReconcilableDifferenceAggregator(geometry, SEED);
        final ReconcilableDifferenceAggregator receiver = new ReconcilableDifferenceAggregator(geometry, SEED);
        sent.fill(sender, FlowSample.ALL, PacketCache.ANY_CLASS);
        received.fill(receiver, FlowSample.ALL, PacketCache.ANY_CLASS);
        final RdaReconciler reconciler = new RdaReconciler(geometry.totalCells(), SEED, 0.98);
        final AggregateEstimate estimate = new AggregateEstimate();

        Allocation.assertNone(() -> {
            reconciler.decode(sender.image(), receiver.image());
            reconciler.decodeFurther(sent, true);
            reconciler.repair(sent, received, estimate);
        });

        assertTrue(estimate.exact());
        assertEquals(50, estimate.meanNs());
        assertEquals(0, estimate.standardDeviationNs(), 1e-9);
    }

    @Test
    void shouldTakeTheMemoryOfItsGeometry() {
        final SynopsisGeometry geometry = SynopsisGeometry.rda(2, 5_000);
        final ReconcilableDifferenceAggregator rda = new ReconcilableDifferenceAggregator(geometry, SEED);

        assertEquals(64 + 2 * 5_000 * 24, geometry.imageLength());
        assertEquals(geometry.imageLength(), rda.capacityBytes());
        assertEquals(geometry.imageLength() + 64, geometry.memoryBytes());
        assertEquals(0, rda.image().buffer().addressOffset() % 64);
        rda.reshape(SynopsisGeometry.rda(4, 100));
        assertEquals(64 + 4 * 100 * 24, rda.image().length());
        assertEquals(geometry.imageLength(), rda.capacityBytes());
    }
}
