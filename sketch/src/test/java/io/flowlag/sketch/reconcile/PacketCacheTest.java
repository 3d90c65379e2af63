package io.flowlag.sketch.reconcile;

import io.flowlag.common.hash.KeyedMix;
import io.flowlag.common.memory.OffHeapBuffer;
import net.jqwik.api.ForAll;
import net.jqwik.api.Property;
import net.jqwik.api.constraints.IntRange;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

import java.lang.reflect.Field;
import java.nio.ByteOrder;
import java.util.HashMap;
import java.util.Map;
import java.util.SplittableRandom;
import java.util.stream.LongStream;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertNotEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

class PacketCacheTest {
    private static final long SEED = 0x5eed;
    private static final double CONFIDENCE = 0.98;
    private static final int BYTES = 100;

    @Test
    void shouldFindEveryPacketOfEveryFlowWhileThereIsRoom() {
        final int packets = 3_000;
        final PacketCache cache = new PacketCache(packets, SEED);
        final SplittableRandom random = new SplittableRandom(1);
        final long[] identifiers = random.longs(packets).toArray();
        for (int i = 0; i < packets; i++) {
            assertEquals(CacheResult.CACHED, cache.add(identifiers[i], i % 7, i, BYTES + i, 1 + i % 3, 0));
        }

        for (int i = 0; i < packets; i++) {
            final int entry = cache.find(identifiers[i]);
            assertEquals(1, cache.copies(entry));
            assertEquals(i, cache.timestampSumNs(entry));
            assertEquals(i % 7, cache.flowHash(entry));
            assertEquals(BYTES + i, cache.bytes(entry));
            assertEquals(1 + i % 3, cache.weight(entry));
            assertFalse(cache.collided(entry));
        }
        assertEquals(ListedTimes.NOT_FOUND, cache.find(random.nextLong()));
        assertEquals(packets, cache.heldPackets());
        assertEquals(FlowSample.ALL, cache.flowThreshold());
        cache.clear();
        assertEquals(ListedTimes.NOT_FOUND, cache.find(identifiers[0]));
        assertEquals(0, cache.offeredPackets());
    }

    /** Whatever comes: the flows below the threshold are held in full, those above are not, and the counts add up. */
    @Property(tries = 60)
    void shouldHoldTheFlowsBelowTheThresholdInFullAndNoOthers(
        @ForAll final long start,
        @ForAll @IntRange(min = 1, max = 300) final int flows,
        @ForAll @IntRange(min = 0, max = 6_000) final int packets) {
        final PacketCache cache = new PacketCache(400, SEED);
        final SplittableRandom random = new SplittableRandom(start);
        final long[] identifiers = new long[packets];
        final long[] flowHashes = new long[packets];
        final Map<Long, Integer> copies = new HashMap<>();
        final long[] flowHash = random.longs(flows).toArray();
        for (int i = 0; i < packets; i++) {
            final boolean copy = i > 0 && random.nextInt(10) == 0;
            final int original = copy ? random.nextInt(i) : i;
            identifiers[i] = copy ? identifiers[original] : random.nextLong();
            flowHashes[i] = copy ? flowHashes[original] : flowHash[random.nextInt(flows)];
            copies.merge(identifiers[i], 1, Integer::sum);
            cache.add(identifiers[i], flowHashes[i], i, BYTES, 1, 0);
            assertTrue(cache.entries() <= 1_024 - 1_024 / 16);
        }
        cache.settle();

        long held = 0;
        final long rankSeed = FlowSample.rankSeed(SEED);
        for (int i = 0; i < packets; i++) {
            final int entry = cache.find(identifiers[i]);
            final boolean sampled = FlowSample.rank(flowHashes[i], rankSeed) < cache.flowThreshold();
            assertEquals(sampled, entry != ListedTimes.NOT_FOUND);
            if (sampled) {
                held++;
                assertEquals(copies.get(identifiers[i]), cache.copies(entry));
            }
        }
        assertEquals(held, cache.heldPackets());
        assertEquals(packets, cache.offeredPackets());
        assertEquals(
            packets, cache.heldPackets() + cache.notSampledPackets() + cache.withdrawnPackets() + cache.saturatedPackets());
        assertTrue(cache.entries() <= 400);
    }

    /** A peer that knows the seed aims identifiers at neighbouring slots, around the end of the table. */
    @Property(tries = 30)
    void shouldKeepAimedIdentifiersNearTheirFirstSlot(
        @ForAll final long start, @ForAll @IntRange(min = 1, max = 400) final int flows) {
        final PacketCache cache = new PacketCache(3_072, SEED);
        final SplittableRandom random = new SplittableRandom(start);
        final long[] identifiers = LongStream.iterate(start, (each) -> each + 1)
            .filter((each) -> (firstSlot(each, cache) + 4 & cache.slots() - 1) < 8).limit(3_000).toArray();
        final long[] flowHash = random.longs(flows).toArray();
        for (int i = 0; i < identifiers.length; i++) {
            cache.add(identifiers[i], flowHash[i % flows], i, BYTES, 1, 0);
            final int copied = random.nextInt(i + 1);
            cache.add(identifiers[copied], flowHash[copied % flows], i, BYTES, 1, 0);
        }
        cache.settle();

        int held = 0;
        for (int i = 0; i < identifiers.length; i++) {
            final int entry = cache.find(identifiers[i]);
            final boolean isSampled = FlowSample.rank(flowHash[i % flows], FlowSample.rankSeed(SEED)) < cache.flowThreshold();
            assertEquals(isSampled, entry != ListedTimes.NOT_FOUND);
            if (isSampled) {
                held += cache.copies(entry);
                final int distance = entry - firstSlot(identifiers[i], cache) & cache.slots() - 1;
                assertTrue(distance < PacketCache.MOST_PROBES, "distance " + distance);
            }
        }
        assertEquals(held, cache.heldPackets());
        assertEquals(2L * identifiers.length,
            cache.heldPackets() + cache.notSampledPackets() + cache.withdrawnPackets() + cache.saturatedPackets());
    }

    /** In a long row of taken slots, an identifier beyond the last place that it may have is not looked for, and never moved. */
    @Test
    void shouldSearchAndWithdrawInFewSteps() throws Exception {
        final PacketCache cache = new PacketCache(3_072, SEED);
        final long rankSeed = FlowSample.rankSeed(SEED);
        final boolean isFirstHigher = FlowSample.rank(1, rankSeed) > FlowSample.rank(2, rankSeed);
        final Map<Integer, Long> identifiers = new HashMap<>();
        LongStream.range(0, 200_000).forEach((each) -> identifiers.put(firstSlot(each, cache), each));
        final int beyond = PacketCache.MOST_PROBES + 1;
        for (int slot = 0; slot <= beyond; slot++) {
            cache.add(identifiers.get(slot), slot > 0 ^ isFirstHigher ? 1 : 2, slot, BYTES, 1, 0);
            assertEquals(slot, cache.find(identifiers.get(slot)));
        }
        final long planted = LongStream.iterate(200_000, (each) -> each + 1).filter((each) -> firstSlot(each, cache) == 0)
            .findFirst().orElseThrow();
        final Field buffer = PacketCache.class.getDeclaredField("buffer");
        buffer.setAccessible(true);
        ((OffHeapBuffer)buffer.get(cache)).putLong(32 * beyond, planted, ByteOrder.LITTLE_ENDIAN);

        assertEquals(ListedTimes.NOT_FOUND, cache.find(planted));
        cache.lowerThreshold(Math.max(FlowSample.rank(1, rankSeed), FlowSample.rank(2, rankSeed)));
        cache.settle();
        assertEquals(ListedTimes.NOT_FOUND, cache.find(identifiers.get(0)));
        assertEquals(beyond, cache.heldPackets());
        assertEquals(planted, cache.identifier(beyond));
    }

    private static int firstSlot(final long identifier, final PacketCache cache) {
        return (int)KeyedMix.mix(identifier, KeyedMix.derivedSeed(SEED, SeedIndex.CACHE_SLOT)) & cache.slots() - 1;
    }

    /** Overload by packets: at any load a good part of the room is used, and the sample is the flows' share of it. */
    @ParameterizedTest
    @CsvSource({"2", "5", "20"})
    void shouldUseItsRoomUnderOverload(final int overload) {
        final int capacity = 12_000;
        final PacketCache cache = new PacketCache(capacity, SEED);
        final SplittableRandom random = new SplittableRandom(2);
        for (int i = 0; i < capacity * overload; i++) {
            cache.add(random.nextLong(), random.nextInt(20_000), i, BYTES, 1, 0);
        }
        cache.settle();

        assertTrue(cache.entries() > capacity / 2, "entries " + cache.entries());
        assertTrue(cache.entries() <= capacity, "entries " + cache.entries());
    }

    /** Two points that overflow at different times agree on the flows below the lower threshold, and on nothing else. */
    @Test
    void shouldAgreeBetweenPointsThatOverflowDifferently() {
        final PacketCache sent = new PacketCache(2_000, SEED);
        final PacketCache received = new PacketCache(3_000, SEED);
        final SplittableRandom random = new SplittableRandom(3);
        final Map<Long, Long> lost = new HashMap<>();
        double delaySumNs = 0;
        long common = 0;
        final long[][] packets = new long[20_000][];
        for (int i = 0; i < packets.length; i++) {
            packets[i] = new long[]{random.nextLong(), random.nextInt(500), random.nextInt(1_000), random.nextInt(100)};
        }
        for (int i = 0; i < packets.length; i++) {
            sent.add(packets[i][0], packets[i][1], i * 100L, BYTES, 1, 0);
            if (packets[i][3] == 0) {
                lost.put(packets[i][0], packets[i][1]);
            } else {
                received.add(packets[i][0], packets[i][1], i * 100L + packets[i][2], BYTES, 1, 0);
            }
        }
        assertNotEquals(sent.flowThreshold(), received.flowThreshold());
        final long threshold = Math.min(sent.flowThreshold(), received.flowThreshold());
        for (final long[] packet : packets) {
            final boolean sampled = FlowSample.rank(packet[1], FlowSample.rankSeed(SEED)) < threshold;
            if (sampled && packet[3] != 0) {
                delaySumNs += packet[2];
                common++;
            } else if (!sampled) {
                lost.remove(packet[0]);
            }
        }

        final AggregateEstimate estimate = new AggregateEstimate();
        final PacketDifference difference = reconcile(sent, received, threshold, estimate);

        assertTrue(common > 500);
        assertTrue(estimate.exact());
        assertEquals(delaySumNs / common, estimate.meanNs(), 1e-9);
        assertEquals(common, estimate.samples());
        assertEquals(lost.size(), estimate.lostPackets());
        assertEquals(lost.size(), difference.size());
        for (int item = 0; item < difference.size(); item++) {
            assertTrue(difference.lost(item));
            assertEquals(lost.get(difference.identifier(item)), sent.flowHash(sent.find(difference.identifier(item))));
        }
    }

    /** An equal number of copies at both points counts in full, whichever copy is which; unequal ones are taken out whole. */
    @Test
    void shouldUseCopiesThatBothPointsSawEquallyOftenAndNoOthers() {
        final PacketCache sent = new PacketCache(100, SEED);
        final PacketCache received = new PacketCache(100, SEED);
        // 1: once each. 2: three times each, delays 10, 20, 30. 3: one of two lost. 4: doubled on the way. 5: both lost.
        add(sent, 1, 0);
        add(received, 1, 50);
        add(sent, 2, 100, 200, 300);
        add(received, 2, 220, 110, 330);
        add(sent, 3, 400, 90_000);
        add(received, 3, 90_010);
        add(sent, 4, 500);
        add(received, 4, 510, 520);
        add(sent, 5, 600, 700);

        final AggregateEstimate estimate = new AggregateEstimate();
        final PacketDifference difference = reconcile(sent, received, FlowSample.ALL, estimate);

        assertTrue(estimate.exact());
        assertEquals((50 + 10 + 20 + 30) / 4.0, estimate.meanNs(), 1e-9);
        assertEquals(4, estimate.samples());
        assertEquals(3, estimate.lostPackets());
        assertEquals(1, estimate.unexpectedPackets());
        assertEquals(2, estimate.netLostPackets());
        assertEquals(5, difference.size());
        assertEquals(4, sent.copyPackets());
        assertEquals(3, received.copyPackets());
    }

    /** Two packets of different flows with one digest: their delays count, but no flow is named. */
    @Test
    void shouldCountHashCollidingIdentifiersAndKeepTheMeanRight() {
        final PacketCache sent = new PacketCache(100, SEED);
        final PacketCache received = new PacketCache(100, SEED);
        assertEquals(CacheResult.CACHED, sent.add(7, 1, 10, BYTES, 1, 0));
        assertEquals(CacheResult.COLLISION, sent.add(7, 2, 20, BYTES, 1, 0));
        assertEquals(CacheResult.CACHED, received.add(7, 2, 120, BYTES, 1, 0));
        assertEquals(CacheResult.COLLISION, received.add(7, 1, 130, BYTES, 1, 0));

        final AggregateEstimate estimate = new AggregateEstimate();
        reconcile(sent, received, FlowSample.ALL, estimate);

        assertEquals(110, estimate.meanNs(), 1e-9);
        assertTrue(estimate.exact());
        assertTrue(sent.collided(sent.find(7)));
        assertEquals(2, sent.copies(sent.find(7)));
        assertEquals(2L * BYTES, sent.bytes(sent.find(7)));
        assertEquals(1, sent.collidingPackets());
    }

    @Test
    void shouldLeaveOutAnIdentifierWithTooManyCopies() {
        final PacketCache sent = new PacketCache(100, SEED);
        final PacketCache received = new PacketCache(100, SEED);
        add(sent, 1, 0);
        add(received, 1, 50);
        final int copies = PacketCache.MAX_COPIES + 3;
        for (int i = 0; i < copies; i++) {
            sent.add(9, 1, i, BYTES, 1, 0);
            received.add(9, 1, i + 1_000, BYTES, 1, 0);
        }

        final AggregateEstimate estimate = new AggregateEstimate();
        reconcile(sent, received, FlowSample.ALL, estimate);

        assertEquals(50, estimate.meanNs(), 1e-9);
        assertEquals(copies, sent.saturatedPackets());
        assertEquals(1, sent.heldPackets());
    }

    /** A flow that alone is more than the cache leaves it, and what is left is still whole. */
    @Test
    void shouldGiveUpAFlowThatIsLargerThanTheCache() {
        final PacketCache cache = new PacketCache(100, SEED);
        for (int i = 0; i < 10_000; i++) {
            cache.add(i, 77, i, BYTES, 1, 0);
        }
        cache.settle();

        assertEquals(0, cache.heldPackets());
        assertTrue(cache.flowThreshold() <= FlowSample.rank(77, FlowSample.rankSeed(SEED)));
    }

    @Test
    void shouldSampleNothingWithoutRoom() {
        final PacketCache cache = new PacketCache(0, SEED);
        for (int i = 0; i < 100; i++) {
            assertEquals(CacheResult.NOT_SAMPLED, cache.add(i, i, i, BYTES, 1, 0));
        }
        cache.settle();
        assertEquals(0, cache.heldPackets());
        assertEquals(ListedTimes.NOT_FOUND, cache.find(7));
        assertEquals(64 + 32, PacketCache.memoryBytes(0));
    }

    @Test
    void shouldTakeTheMemoryOfItsFormula() {
        assertEquals(64 + 32 * 32, PacketCache.memoryBytes(16));
        assertEquals(64 + 32 * (1 << 20), PacketCache.memoryBytes(3 << 18));
        assertEquals(64 + 32 * (1 << 21), PacketCache.memoryBytes((3 << 18) + 1));
        assertThrows(IllegalArgumentException.class, () -> new PacketCache(15, SEED));
        assertThrows(IllegalArgumentException.class, () -> PacketCache.memoryBytes(1 << 25));
    }

    private static void add(final PacketCache cache, final long identifier, final long... timestampsNs) {
        for (final long timestampNs : timestampsNs) {
            cache.add(identifier, 1, timestampNs, BYTES, 1, 0);
        }
    }

    /** Late binding as two points do it: estimate, size, fill, decode, repair. */
    private static PacketDifference reconcile(
        final PacketCache sent, final PacketCache received, final long threshold, final AggregateEstimate estimate) {
        sent.settle();
        received.settle();
        final int counts = 256;
        final SignedCounts sentCounts = new SignedCounts(counts, SEED);
        final SignedCounts receivedCounts = new SignedCounts(counts, SEED);
        sent.fill(sentCounts, threshold, PacketCache.ANY_CLASS);
        received.fill(receivedCounts, threshold, PacketCache.ANY_CLASS);
        final SynopsisGeometry largest = SynopsisGeometry.rda(RdaSizing.BANKS, 10_000);
        final ReconcilableDifferenceAggregator sender = new ReconcilableDifferenceAggregator(largest, SEED);
        final ReconcilableDifferenceAggregator receiver = new ReconcilableDifferenceAggregator(largest, SEED);
        final SynopsisGeometry geometry = RdaSizing.forEstimate(
            sentCounts.estimate(receivedCounts.image()), SignedCounts.relativeDeviation(counts), 0, sender.capacityBytes());
        sender.reshape(geometry);
        receiver.reshape(geometry);
        sent.fill(sender, threshold, PacketCache.ANY_CLASS);
        received.fill(receiver, threshold, PacketCache.ANY_CLASS);
        final RdaReconciler reconciler = new RdaReconciler(geometry.totalCells(), SEED, CONFIDENCE);
        assertEquals(SynopsisPairing.PAIRED, reconciler.decode(sender.image(), receiver.image()));
        reconciler.repair(sent, received, estimate);
        return reconciler.difference();
    }
}
