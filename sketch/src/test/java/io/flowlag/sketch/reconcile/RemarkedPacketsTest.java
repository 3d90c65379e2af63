package io.flowlag.sketch.reconcile;

import io.flowlag.common.hash.KeyedMix;
import net.jqwik.api.ForAll;
import net.jqwik.api.Property;
import net.jqwik.api.constraints.IntRange;

import java.util.Random;
import java.util.stream.IntStream;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

/** A traffic class at two points, where some packets are lost, some come from nowhere, and some change their class. */
class RemarkedPacketsTest {
    private static final long SEED = 0xc1a55;
    private static final int CELLS = 1024;
    private static final int PACKETS = 3000;
    private static final int CLASSES = 2;

    private final PacketCache sent = new PacketCache(2 * PACKETS, SEED);
    private final PacketCache received = new PacketCache(2 * PACKETS, SEED);
    private final RdaReconciler reconciler = new RdaReconciler(CELLS, SEED, 0.95);
    private final SynopsisGeometry geometry = SynopsisGeometry.rda(4, CELLS / 4);
    private final ReconcilableDifferenceAggregator senderSide = new ReconcilableDifferenceAggregator(geometry, SEED);
    private final ReconcilableDifferenceAggregator receiverSide = new ReconcilableDifferenceAggregator(geometry, SEED);

    /** Filled piece by piece, which must be the same. */
    private void fill(final int classIndex, final int slotCount) {
        final ReconcilableDifferenceAggregator atOnce = new ReconcilableDifferenceAggregator(geometry, SEED);
        sent.fill(atOnce, FlowSample.ALL, classIndex);
        senderSide.clear();
        receiverSide.clear();
        for (int slot = 0; slot != ListedTimes.NOT_FOUND;) {
            slot = sent.fill(senderSide, FlowSample.ALL, classIndex, slot, slotCount);
        }
        for (int slot = 0; slot != ListedTimes.NOT_FOUND;) {
            slot = received.fill(receiverSide, FlowSample.ALL, classIndex, slot, slotCount);
        }
        assertTrue(senderSide.image().contentEquals(atOnce.image()));
    }

    @Property(tries = 20)
    void shouldEstimateWhatWasSentInTheClass(@ForAll final long seed, @ForAll @IntRange(min = 1, max = 9999) final int slots) {
        final Random random = new Random(seed);
        final long[] sums = new long[CLASSES];
        final long[] counts = new long[CLASSES];
        final long[] remarked = new long[CLASSES];
        final MissingPackets missing = new MissingPackets(PACKETS, SEED);
        sent.clear();
        received.clear();
        for (int i = 0; i < PACKETS; i++) {
            final long identifier = KeyedMix.mix(i, seed);
            final int classIndex = random.nextInt(CLASSES);
            final long delayNs = random.nextLong(1_000_000);
            final int kind = random.nextInt(100);
            if (kind > 1) {
                sent.add(identifier, i % 50, i * 1000L, 100, 1, classIndex);
            }
            if (kind != 3) {
                final int newClass = kind > 1 && kind < 10 ? 1 - classIndex : classIndex;
                received.add(identifier, i % 50, i * 1000L + delayNs, 100, 1, newClass);
                counts[classIndex] += kind > 1 ? 1 : 0;
                sums[classIndex] += kind > 1 ? delayNs : 0;
                remarked[classIndex] += newClass == classIndex ? 0 : 1;
            }
        }
        fill(PacketCache.ANY_CLASS, slots);
        assertEquals(SynopsisPairing.PAIRED, reconciler.decode(senderSide.image(), receiverSide.image()));
        assertTrue(reconciler.difference().complete());
        final PacketDifference known = reconciler.newDifference();
        known.set(reconciler.difference());
        missing.collect(known, true, sent);
        final MissingPacketSource lost = new MissingPacketSource(PACKETS);
        assertTrue(IntStream.range(0, known.size()).noneMatch(known::lost) || lost.wrap(missing.image()));
        final AggregateEstimate estimate = new AggregateEstimate();
        for (int i = 0; i < CLASSES; i++) {
            final int classIndex = i;
            fill(classIndex, slots);
            assertEquals(SynopsisPairing.PAIRED, reconciler.decodeClass(senderSide.image(), receiverSide.image(), known, item -> {
                final PacketDetails source = known.lost(item) ? lost : received;
                return source.classIndex(source.find(known.identifier(item))) == classIndex;
            }));
            reconciler.repairClass(lost, received, estimate);
            assertTrue(estimate.exact());
            assertEquals((double)sums[classIndex] / counts[classIndex], estimate.meanNs(), 1e-6);
            assertEquals(counts[classIndex], estimate.samples());
            assertEquals(remarked[classIndex], estimate.remarkedPackets());
            assertEquals(0, estimate.unrepairedItems());
        }
    }
}
