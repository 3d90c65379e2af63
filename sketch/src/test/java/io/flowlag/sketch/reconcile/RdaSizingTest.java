package io.flowlag.sketch.reconcile;

import org.junit.jupiter.api.Test;

import java.util.SplittableRandom;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

class RdaSizingTest {
    private static final long SEED = 0x5eed;
    private static final int LARGE = 1 << 24;

    @Test
    void shouldFollowTheEstimateWithinTheMemory() {
        assertEquals(SynopsisGeometry.rda(4, 15), RdaSizing.forEstimate(0, 0, 0, LARGE));
        assertEquals(SynopsisGeometry.rda(4, 390), RdaSizing.forEstimate(1_000, 0, 0, LARGE));
        assertEquals(SynopsisGeometry.rda(4, 503), RdaSizing.forEstimate(1_000, 0.1, 0, LARGE));
        assertEquals(SynopsisGeometry.rda(4, 1_250), RdaSizing.forEstimate(10, 0.1, 5_000, LARGE));
        final SynopsisGeometry all = RdaSizing.forEstimate(1e9, 0.1, 0, 1 << 20);
        assertTrue(all.imageLength() <= 1 << 20 && all.imageLength() > (1 << 20) - 4 * 24);
        assertEquals(all, RdaSizing.forEstimate(Double.NaN, 0.1, 0, 1 << 20));
        assertEquals(all, RdaSizing.forEstimate(Double.POSITIVE_INFINITY, 0.1, 0, 1 << 20));
    }

    /** At these sizes less than 1 in 1000 may fail: 2000 intervals fail 2 times in the mean at most, 12 are beyond chance. */
    @Test
    void shouldDecodeAllButAFewWithFourBanks() {
        for (final int items : new int[]{5, 50, 150, 500}) {
            final SynopsisGeometry geometry = RdaSizing.forEstimate(items, 0, 0, LARGE);
            final int runs = 2_000;
            final int failures = runs - decoded(geometry, items, runs);
            assertTrue(failures <= 12, items + " items: " + failures + " failures");
        }
    }

    /** Smaller by a third, and as sure, with the sender's packets: two thirds of the items are lost. */
    @Test
    void shouldDecodeAllButAFewWithTheSendersPackets() {
        for (final int items : new int[]{5, 50, 500}) {
            final SynopsisGeometry geometry = RdaSizing.forAssisted(items, 0, 0, LARGE);
            assertTrue(500 > items || geometry.totalCells() < 0.75 * RdaSizing.forEstimate(items, 0, 0, LARGE).totalCells());
            final SplittableRandom random = new SplittableRandom(items);
            final PacketCache sent = new PacketCache(1_000, SEED);
            final ReconcilableDifferenceAggregator sender = new ReconcilableDifferenceAggregator(geometry, SEED);
            final ReconcilableDifferenceAggregator receiver = new ReconcilableDifferenceAggregator(geometry, SEED);
            final DifferenceDecoder decoder = new DifferenceDecoder(geometry.totalCells(), SEED);
            final PacketDifference difference = decoder.newDifference();
            int failures = 0;
            for (int run = 0; run < 300; run++) {
                sent.clear();
                receiver.clear();
                sender.clear();
                for (int packet = 0; packet < 1_000; packet++) {
                    final long identifier = random.nextLong();
                    if (packet >= items || packet % 3 != 0) {
                        sent.add(identifier, 1, packet, 100, 1, 0);
                    }
                    if (packet >= items || packet % 3 == 0) {
                        receiver.update(identifier, packet);
                    }
                }
                sent.fill(sender, FlowSample.ALL, PacketCache.ANY_CLASS);
                receiver.begin(sender.intervalNumber(), sender.image().intervalNs());
                assertEquals(SynopsisPairing.PAIRED, decoder.decode(sender.image(), receiver.image(), difference));
                decoder.decodeFurther(sent, true, PacketCache.ANY_CLASS, difference);
                failures += difference.complete() ? 0 : 1;
            }
            // One in a thousand would be 0.3 in the mean.
            assertTrue(failures <= 4, items + " items: " + failures + " failures");
        }
    }

    /** The paper's size, m = 2d with two banks: √(1 - (d/m)²) = 87 % decode for every d; Theorem 2 has all but O(d^-2). */
    @Test
    void shouldDecodeAsOftenWithTwoBanksAsRingsAllow() {
        for (final int items : new int[]{100, 400}) {
            final int runs = 1_000;
            final double decoded = decoded(SynopsisGeometry.rda(2, 2 * items), items, runs) / (double)runs;
            // Five deviations of a share of 0.87 over 1000 runs, and a little for small d.
            assertEquals(0.866, decoded, 0.06, items + " items");
        }
    }

    private static int decoded(final SynopsisGeometry geometry, final int items, final int runs) {
        final SplittableRandom random = new SplittableRandom(items);
        final ReconcilableDifferenceAggregator sender = new ReconcilableDifferenceAggregator(geometry, SEED);
        final ReconcilableDifferenceAggregator receiver = new ReconcilableDifferenceAggregator(geometry, SEED);
        final DifferenceDecoder decoder = new DifferenceDecoder(geometry.totalCells(), SEED);
        final PacketDifference difference = decoder.newDifference();
        int decoded = 0;
        for (int run = 0; run < runs; run++) {
            sender.clear();
            receiver.clear();
            for (int item = 0; item < items; item++) {
                (item % 3 == 0 ? receiver : sender).update(random.nextLong(), item);
            }
            decoder.decode(sender.image(), receiver.image(), difference);
            decoded += difference.complete() ? 1 : 0;
        }
        return decoded;
    }
}
