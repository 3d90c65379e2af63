package io.flowlag.sketch.reconcile;

import net.jqwik.api.Arbitraries;
import net.jqwik.api.Arbitrary;
import net.jqwik.api.Combinators;
import net.jqwik.api.ForAll;
import net.jqwik.api.Property;
import net.jqwik.api.Provide;
import net.jqwik.api.constraints.IntRange;
import org.junit.jupiter.api.Test;

import java.util.ArrayList;
import java.util.Collections;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Random;
import java.util.SplittableRandom;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

/** Laws of every RDA, for any geometry, seed, and packets. */
class PeelingLawsTest {
    /** A packet as both points saw it: how often, and when; 0 copies: not at all. */
    record Packet(long identifier, int sentCopies, int receivedCopies, long sentSumNs, long receivedSumNs) {
    }

    @Provide
    Arbitrary<SynopsisGeometry> geometries() {
        return Combinators.combine(Arbitraries.integers().between(1, 5), Arbitraries.integers().between(1, 60))
            .as(SynopsisGeometry::rda);
    }

    /** Identifiers are digests, so they are mixed; a third of the packets is lost or gained, a few are copies. */
    @Provide
    Arbitrary<List<Packet>> streams() {
        return Combinators.combine(Arbitraries.longs(), Arbitraries.integers().between(0, 150)).as((start, count) -> {
            final SplittableRandom random = new SplittableRandom(start);
            final List<Packet> packets = new ArrayList<>();
            for (int i = 0; i < count; i++) {
                final int copies = random.nextInt(10) == 0 ? 1 + random.nextInt(4) : 1;
                final int sent = random.nextInt(6) == 0 ? 0 : copies;
                final int received = random.nextInt(6) == 0 ? 0 : random.nextInt(20) == 0 ? copies + 1 : copies;
                packets.add(new Packet(random.nextLong(), sent, received, random.nextLong(), random.nextLong()));
            }
            return packets;
        });
    }

    @Property
    void shouldListOnlyWhatOnePointLacks(
        @ForAll("geometries") final SynopsisGeometry geometry,
        @ForAll final long seed,
        @ForAll("streams") final List<Packet> packets) {
        final PacketDifference difference = decode(geometry, seed, packets);
        final Map<String, Long> truth = differenceOf(packets);

        for (int item = 0; item < difference.size(); item++) {
            assertTrue(truth.remove(key(difference, item)) != null, "listed but never was, or listed twice");
        }
        assertEquals(difference.complete(), truth.isEmpty());
    }

    /** Guesses with one point's packets add to the list, and only what is true; nothing is missing when it is complete. */
    @Property(tries = 300)
    void shouldListOnlyWhatIsTrueWhenItDecodesFurther(
        @ForAll("geometries") final SynopsisGeometry geometry,
        @ForAll final long seed,
        @ForAll("streams") final List<Packet> packets) {
        final PacketCache sent = new PacketCache(1_000, seed);
        final PacketCache received = new PacketCache(1_000, seed);
        for (final Packet packet : packets) {
            for (int copy = 0; copy < packet.sentCopies; copy++) {
                sent.add(packet.identifier, 1, copy, 100, 1, 0);
            }
            for (int copy = 0; copy < packet.receivedCopies; copy++) {
                received.add(packet.identifier, 1, copy, 100, 1, 0);
            }
        }
        final ReconcilableDifferenceAggregator sender = new ReconcilableDifferenceAggregator(geometry, seed);
        final ReconcilableDifferenceAggregator receiver = new ReconcilableDifferenceAggregator(geometry, seed);
        sent.fill(sender, FlowSample.ALL, PacketCache.ANY_CLASS);
        received.fill(receiver, FlowSample.ALL, PacketCache.ANY_CLASS);
        final DifferenceDecoder decoder = new DifferenceDecoder(geometry.totalCells(), seed);
        final PacketDifference difference = decoder.newDifference();
        assertEquals(SynopsisPairing.PAIRED, decoder.decode(sender.image(), receiver.image(), difference));
        final int before = difference.size();
        decoder.decodeFurther(sent, true, PacketCache.ANY_CLASS, difference);
        decoder.decodeFurther(received, false, PacketCache.ANY_CLASS, difference);
        final Map<String, Long> truth = differenceOf(packets);

        assertTrue(difference.size() >= before);
        for (int item = 0; item < difference.size(); item++) {
            assertTrue(truth.remove(key(difference, item)) != null, "listed but never was, or listed twice");
        }
        assertEquals(difference.complete(), truth.isEmpty());
    }

    /** 300 lost packets in 4 banks of 75 cells: a cell an item, where peeling four banks needs 1.3. */
    @Test
    void shouldDecodeFurtherWherePeelingIsStuck() {
        final SynopsisGeometry geometry = SynopsisGeometry.rda(4, 75);
        final SplittableRandom random = new SplittableRandom(1);
        for (int seed = 0; seed < 20; seed++) {
            final ReconcilableDifferenceAggregator sender = new ReconcilableDifferenceAggregator(geometry, seed);
            final ReconcilableDifferenceAggregator receiver = new ReconcilableDifferenceAggregator(geometry, seed);
            final PacketCache sent = new PacketCache(3_000, seed);
            for (int packet = 0; packet < 3_000; packet++) {
                final long identifier = random.nextLong();
                sent.add(identifier, 1, packet, 100, 1, 0);
                sender.update(identifier, packet);
                if (packet >= 300) {
                    receiver.update(identifier, packet);
                }
            }
            final DifferenceDecoder decoder = new DifferenceDecoder(geometry.totalCells(), seed);
            final PacketDifference difference = decoder.newDifference();
            decoder.decode(sender.image(), receiver.image(), difference);
            assertTrue(difference.size() < 200 && !difference.complete());

            decoder.decodeFurther(sent, true, PacketCache.ANY_CLASS, difference);

            assertTrue(difference.complete());
            assertEquals(300, difference.size());
        }
    }

    /**
     * Nothing is deleted here but what was inserted: what remains is what was inserted and not deleted, for a table large enough.
     */
    @Property
    void shouldDecodeInsertedMinusDeletedToTheRest(
        @ForAll final long seed, @ForAll("streams") final List<Packet> packets, @ForAll @IntRange(max = 149) final int kept) {
        final SynopsisGeometry geometry = SynopsisGeometry.rda(4, 300);
        final ReconcilableDifferenceAggregator inserted = new ReconcilableDifferenceAggregator(geometry, seed);
        final ReconcilableDifferenceAggregator empty = new ReconcilableDifferenceAggregator(geometry, seed);
        for (final Packet packet : packets) {
            inserted.add(packet.identifier, packet.receivedSumNs, packet.receivedCopies + 1);
        }
        for (final Packet packet : packets.subList(Math.min(kept, packets.size()), packets.size())) {
            inserted.remove(packet.identifier, packet.receivedSumNs, packet.receivedCopies + 1);
        }
        final DifferenceDecoder decoder = new DifferenceDecoder(geometry.totalCells(), seed);
        final PacketDifference difference = decoder.newDifference();

        assertEquals(SynopsisPairing.PAIRED, decoder.decode(empty.image(), inserted.image(), difference));

        final Map<Long, Integer> truth = new HashMap<>();
        packets.subList(0, Math.min(kept, packets.size())).forEach(p -> truth.put(p.identifier, p.receivedCopies + 1));
        final Map<Long, Integer> listed = new HashMap<>();
        for (int item = 0; item < difference.size(); item++) {
            listed.put(difference.identifier(item), difference.copies(item));
        }
        // Two of 149 packets share a cell in all four banks of 300 once in a million; then neither is listed.
        assertEquals(difference.complete(), truth.equals(listed));
        assertTrue(truth.size() - listed.size() <= 4);
    }

    @Property
    void shouldNotMindTheOrderOfPacketsOrOfPeeling(
        @ForAll("geometries") final SynopsisGeometry geometry,
        @ForAll final long seed,
        @ForAll("streams") final List<Packet> packets,
        @ForAll final long shuffle) {
        final List<Packet> shuffled = new ArrayList<>(packets);
        Collections.shuffle(shuffled, new Random(shuffle));

        assertTrue(sender(geometry, seed, packets).image().contentEquals(sender(geometry, seed, shuffled).image()));
        assertEquals(keys(decode(geometry, seed, packets)), keys(peeledInAnotherOrder(geometry, seed, packets, shuffle)));
    }

    @Property
    void shouldGiveTheExactMeanOfCommonPacketsWhenItDecodesAll(
        @ForAll final long seed, @ForAll("streams") final List<Packet> packets) {
        final SynopsisGeometry geometry = SynopsisGeometry.rda(4, 200);
        final RdaReconciler reconciler = new RdaReconciler(geometry.totalCells(), seed, 0.98);
        final ReconcilableDifferenceAggregator sender = new ReconcilableDifferenceAggregator(geometry, seed);
        final ReconcilableDifferenceAggregator receiver = new ReconcilableDifferenceAggregator(geometry, seed);
        final ListedPackets sent = new ListedPackets();
        final ListedPackets received = new ListedPackets();
        long delaySumNs = 0;
        long common = 0;
        long lost = 0;
        for (final Packet packet : packets) {
            final long delayNs = packet.receivedSumNs % 1_000_000;
            if (packet.sentCopies > 0) {
                sender.add(packet.identifier, packet.sentSumNs, packet.sentCopies);
                sent.with(packet.identifier, packet.sentSumNs, packet.sentCopies);
            }
            if (packet.receivedCopies > 0) {
                receiver.add(packet.identifier, packet.sentSumNs + delayNs, packet.receivedCopies);
                received.with(packet.identifier, packet.sentSumNs + delayNs, packet.receivedCopies);
            }
            final boolean same = packet.sentCopies == packet.receivedCopies;
            delaySumNs += same && packet.sentCopies > 0 ? delayNs : 0;
            common += same ? packet.sentCopies : 0;
            lost += Math.max(0, packet.sentCopies - packet.receivedCopies);
        }
        final AggregateEstimate estimate = new AggregateEstimate();

        assertEquals(SynopsisPairing.PAIRED, reconciler.decode(sender.image(), receiver.image()));
        reconciler.repair(sent, received, estimate);

        if (reconciler.difference().complete() && common > 0) {
            assertTrue(estimate.exact());
            assertEquals(delaySumNs / (double)common, estimate.meanNs(), 1e-6);
            assertEquals(common, estimate.samples());
            assertEquals(lost, estimate.lostPackets());
        }
        assertEquals(0, estimate.unrepairedItems());
    }

    private static PacketDifference decode(
        final SynopsisGeometry geometry, final long seed, final List<Packet> packets) {
        final DifferenceDecoder decoder = new DifferenceDecoder(geometry.totalCells(), seed);
        final PacketDifference difference = decoder.newDifference();
        assertEquals(
            SynopsisPairing.PAIRED,
            decoder.decode(sender(geometry, seed, packets).image(), receiver(geometry, seed, packets).image(), difference));
        return difference;
    }

    /** Peels with maps, any pure cell at random: what the decoder's order must agree with. */
    private static PacketDifference peeledInAnotherOrder(
        final SynopsisGeometry geometry, final long seed, final List<Packet> packets, final long shuffle) {
        final Random random = new Random(shuffle);
        final PacketGroup groups = new PacketGroup(seed);
        final BankHashes hashes = new BankHashes(geometry.banks(), seed);
        final List<long[]> items = new ArrayList<>();
        for (final Packet packet : packets) {
            if (packet.sentCopies != packet.receivedCopies) {
                if (packet.receivedCopies > 0) {
                    items.add(new long[]{packet.identifier, packet.receivedCopies, 1});
                }
                if (packet.sentCopies > 0) {
                    items.add(new long[]{packet.identifier, packet.sentCopies, -1});
                }
            }
        }
        final Map<Integer, List<long[]>> cells = new HashMap<>();
        for (final long[] item : items) {
            for (int bank = 0; bank < geometry.banks(); bank++) {
                cells.computeIfAbsent(cell(geometry, hashes, groups, bank, item), key -> new ArrayList<>()).add(item);
            }
        }
        final PacketDifference result = new PacketDifference(geometry.totalCells() + items.size());
        boolean progress = true;
        while (progress) {
            final List<List<long[]>> pure = new ArrayList<>(cells.values().stream().filter(c -> c.size() == 1).toList());
            progress = !pure.isEmpty();
            if (progress) {
                final long[] item = pure.get(random.nextInt(pure.size())).get(0);
                result.add(item[0], (int)(item[1] * item[2]));
                cells.values().forEach(c -> c.remove(item));
            }
        }
        return result;
    }

    private static int cell(
        final SynopsisGeometry geometry, final BankHashes hashes, final PacketGroup groups, final int bank, final long[] item) {
        final long group = groups.identifier(item[0], (int)item[1]);
        return bank * geometry.cells() + BankHashes.cell(hashes.mixed(bank, group), geometry.cells());
    }

    private static Map<String, Long> differenceOf(final List<Packet> packets) {
        final Map<String, Long> truth = new HashMap<>();
        for (final Packet packet : packets) {
            if (packet.sentCopies != packet.receivedCopies) {
                if (packet.sentCopies > 0) {
                    truth.put(packet.identifier + "x" + -packet.sentCopies, 1L);
                }
                if (packet.receivedCopies > 0) {
                    truth.put(packet.identifier + "x" + packet.receivedCopies, 1L);
                }
            }
        }
        return truth;
    }

    private static List<String> keys(final PacketDifference difference) {
        final List<String> keys = new ArrayList<>();
        for (int item = 0; item < difference.size(); item++) {
            keys.add(key(difference, item));
        }
        Collections.sort(keys);
        return keys;
    }

    private static String key(final PacketDifference difference, final int item) {
        return difference.identifier(item) + "x" +
            (difference.lost(item) ? -difference.copies(item) : difference.copies(item));
    }

    private static ReconcilableDifferenceAggregator sender(
        final SynopsisGeometry geometry, final long seed, final List<Packet> packets) {
        final ReconcilableDifferenceAggregator aggregator = new ReconcilableDifferenceAggregator(geometry, seed);
        packets.stream().filter(p -> p.sentCopies > 0)
            .forEach(p -> aggregator.add(p.identifier, p.sentSumNs, p.sentCopies));
        return aggregator;
    }

    private static ReconcilableDifferenceAggregator receiver(
        final SynopsisGeometry geometry, final long seed, final List<Packet> packets) {
        final ReconcilableDifferenceAggregator aggregator = new ReconcilableDifferenceAggregator(geometry, seed);
        packets.stream().filter(p -> p.receivedCopies > 0)
            .forEach(p -> aggregator.add(p.identifier, p.receivedSumNs, p.receivedCopies));
        return aggregator;
    }
}
