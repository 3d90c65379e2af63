package io.flowlag.sketch.reconcile;

import io.flowlag.common.hash.KeyedMix;
import io.flowlag.sketch.image.ImageResult;
import io.flowlag.sketch.support.Allocation;
import org.agrona.concurrent.UnsafeBuffer;
import org.junit.jupiter.api.Test;

import java.lang.reflect.Field;
import java.util.stream.LongStream;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertTrue;

class MissingPacketsTest {
    private static final long SEED = 0x5eed;
    private static final int PACKETS = 500;
    private static final int BYTES = 70;

    /** The last of the packets is seen three times. */
    static PacketCache cache(final int packets, final long seed) {
        final PacketCache cache = new PacketCache(Math.max(16, packets), seed);
        for (int packet = 1; packet <= packets; packet++) {
            cache.add(packet, packet % 7, packet * 10L, BYTES, 2, 0);
        }
        cache.add(packets, packets % 7, packets * 10L, BYTES, 2, 0);
        cache.add(packets, 99, packets * 10L, BYTES, 2, 0);
        return cache;
    }

    static PacketDifference onlySent(final int packets, final long seed) {
        final SynopsisGeometry geometry = SynopsisGeometry.rda(4, packets);
        final ReconcilableDifferenceAggregator sender = new ReconcilableDifferenceAggregator(geometry, seed);
        final ReconcilableDifferenceAggregator receiver = new ReconcilableDifferenceAggregator(geometry, seed);
        cache(packets, seed).fill(sender, FlowSample.ALL, PacketCache.ANY_CLASS);
        receiver.begin(0, sender.image().intervalNs());
        final DifferenceDecoder decoder = new DifferenceDecoder(geometry.totalCells(), seed);
        final PacketDifference difference = decoder.newDifference();
        assertEquals(SynopsisPairing.PAIRED, decoder.decode(sender.image(), receiver.image(), difference));
        assertTrue(difference.complete());
        return difference;
    }

    @Test
    void shouldTellTheOtherPointWhatItLacks() {
        final MissingPackets missing = new MissingPackets(PACKETS, SEED);
        assertEquals(PACKETS, missing.collect(onlySent(PACKETS, SEED), true, cache(PACKETS, SEED)));
        final int length = missing.image().length();
        final UnsafeBuffer wire = new UnsafeBuffer(new byte[length]);
        missing.encode(wire, 0);
        assertEquals(ImageResult.ACCEPTED, SynopsisVerifier.verify(wire, 0, length));
        assertEquals(64 + 32 * PACKETS, length);
        final SynopsisImage image = new SynopsisImage().wrap(wire, 0, length);
        final MissingPacketSource source = new MissingPacketSource(PACKETS);

        assertTrue(source.wrap(image));

        for (int packet = 1; packet < PACKETS; packet++) {
            final int entry = source.find(packet);
            assertEquals(1, source.copies(entry));
            assertEquals(packet * 10L, source.timestampSumNs(entry));
            assertEquals(packet % 7, image.missingFlowHash(entry));
            assertEquals(BYTES, image.missingBytes(entry));
        }
        assertEquals(3, source.copies(source.find(PACKETS)));
        assertEquals(30L * PACKETS, source.timestampSumNs(source.find(PACKETS)));
        assertEquals(3L * BYTES, image.missingBytes(source.find(PACKETS)));
        assertEquals(ListedTimes.NOT_FOUND, source.find(PACKETS + 1));
        assertEquals(PACKETS + 2, image.packets());
        source.clear();
        assertEquals(ListedTimes.NOT_FOUND, source.find(1));
    }

    @Test
    void shouldLeaveOutWhatDoesNotFitAndRefuseOtherImages() {
        final MissingPackets missing = new MissingPackets(PACKETS / 2, SEED);
        final PacketDifference difference = onlySent(PACKETS, SEED);

        assertEquals(PACKETS / 2, missing.collect(difference, true, cache(PACKETS, SEED)));
        assertEquals(0, missing.collect(difference, false, cache(PACKETS, SEED)));

        assertFalse(new MissingPacketSource(PACKETS / 2 - 1).wrap(missing.image()));
        final MissingPacketSource source = new MissingPacketSource(PACKETS);
        assertFalse(source.wrap(new SignedCounts(8, SEED).image()));
        assertEquals(ListedTimes.NOT_FOUND, source.find(1));
    }

    /** Packets with one slot by the seed that both points share, as a sender may choose them. */
    @Test
    void shouldFindAimedPacketsWithFewProbes() throws ReflectiveOperationException {
        final long slotSeed = KeyedMix.derivedSeed(SEED, SeedIndex.CACHE_SLOT);
        final long[] aimed = LongStream.iterate(1, (identifier) -> identifier + 1)
            .filter((identifier) -> (KeyedMix.mix(identifier, slotSeed) & 1023) == 0).limit(PACKETS).toArray();
        final PacketCache cache = new PacketCache(PACKETS, SEED);
        final MissingPackets missing = new MissingPackets(PACKETS, SEED);
        missing.start(PACKETS, cache);
        for (final long each : aimed) {
            cache.add(each, 1, 0, BYTES, 1, 0);
            assertTrue(missing.add(each, cache));
        }
        final MissingPacketSource source = new MissingPacketSource(PACKETS);
        assertTrue(source.wrap(missing.image()));
        final Field field = MissingPacketSource.class.getDeclaredField("records");
        field.setAccessible(true);
        final int[] records = (int[])field.get(source);
        int run = 0;
        int longest = 0;
        for (int i = 0; i < 2 * records.length; i++) {
            run = records[i % records.length] == ListedTimes.NOT_FOUND ? 0 : run + 1;
            longest = Math.max(longest, run);
        }
        assertTrue(longest < 128, longest + " in a row");
        for (int i = 0; i < PACKETS; i++) {
            assertEquals(i, source.find(aimed[i]));
        }
    }

    @Test
    void shouldAllocateNothingWhenItReads() {
        final MissingPackets missing = new MissingPackets(PACKETS, SEED);
        missing.collect(onlySent(PACKETS, SEED), true, cache(PACKETS, SEED));
        final MissingPacketSource source = new MissingPacketSource(PACKETS);

        Allocation.assertNone(() -> {
            source.wrap(missing.image());
            source.find(1);
        });
    }
}
