package io.flowlag.tests.lab.comparator;

import io.flowlag.sketch.reconcile.AggregateEstimate;
import io.flowlag.sketch.reconcile.BankHashes;
import io.flowlag.sketch.reconcile.ListedTimes;
import io.flowlag.sketch.reconcile.SynopsisGeometry;
import io.flowlag.sketch.reconcile.SynopsisImage;
import io.flowlag.sketch.reconcile.SynopsisPairing;
import org.agrona.concurrent.UnsafeBuffer;
import org.junit.jupiter.api.Test;

import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.SplittableRandom;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertTrue;

/**
 * Figures 2, 3 and 4 of the RDA paper by the methods that RDA is compared with. Packets P1 to P6 and P9 have the timestamps of
 * the figures; their identifiers are searched for, so that they hash to the cells of the figures.
 */
class SimpleRdaTest {
    private static final long SEED = 0x5eed;
    private static final double CONFIDENCE = 0.98;
    private static final long[] SENT = {0, 70, 150, 200, 250, 310, 330};
    private static final long[] RECEIVED = {0, 110, 260, 310, 390, 0, 450, 0, 0, 760};
    /** Figure 2: the cell of each packet. */
    private static final int[] LDA_CELLS = {-1, 0, 1, 0, 2, 3, 4, -1, -1, 3};
    /** Figures 3 and 4: the two cells of each packet; those of P3, P5 and P9 are not legible, and are chosen. */
    private static final int[][] SRDA_CELLS = {
        {}, {0, 1}, {3, 4}, {0, 3}, {2, 3}, {1, 2}, {1, 4}, {}, {}, {2, 4}};
    private static final double TRUE_MEAN = 102.5;

    private final Map<Integer, Long> identifiers = new HashMap<>();
    private final SimpleRdaReconciler reconciler = new SimpleRdaReconciler(5, SEED, CONFIDENCE);

    /** FineComb discards the cell that LDA was wrong about. */
    @Test
    void shouldDiscardThePairOfFigureTwoInFineComb() {
        final SynopsisGeometry geometry = FineComb.geometry(5);
        final FineComb sender = new FineComb(geometry, SEED);
        final FineComb receiver = new FineComb(geometry, SEED);
        for (final int packet : new int[]{1, 2, 3, 4, 5, 6}) {
            sender.addToCell(LDA_CELLS[packet], packet, SENT[packet]);
        }
        for (final int packet : new int[]{1, 2, 3, 4, 6, 9}) {
            receiver.addToCell(LDA_CELLS[packet], packet, RECEIVED[packet]);
        }
        final AggregateEstimate estimate = new AggregateEstimate();
        final FineCombEstimator estimator = new FineCombEstimator(5, 2, SEED, CONFIDENCE);

        assertEquals(SynopsisPairing.PAIRED, estimator.pair(sender.image(), receiver.image()));
        estimator.estimate(estimate);

        assertEquals(104, estimate.meanNs(), 1e-9);
        assertEquals(4, estimate.cleanCells());
        assertFalse(estimate.exact());
    }

    /** Figures 3 and 4: no cell is clean, three packets are listed, all cells are repaired, the mean is 820 / 8. */
    @Test
    void shouldComputeFiguresThreeAndFour() {
        final AggregateEstimate estimate = figureThree();

        assertTrue(estimate.exact());
        assertEquals(5, estimate.cleanCells());
        assertEquals(TRUE_MEAN, estimate.meanNs(), 1e-9);
    }

    /** Section IV-D: P1 lies in the first and second cell, P4 in the third and fourth; collapsed they vanish. */
    @Test
    void shouldShowTheFlawOfTheSimpleAggregatorsStandardDeviation() {
        final AggregateEstimate estimate = figureThree();
        final CollapsedCells collapsed = reconciler.collapsed(estimate);

        assertEquals(2, collapsed.pairs());
        assertEquals(4416.7, collapsed.secondMomentNs2(), 0.05);
        assertEquals(-6089.6, collapsed.secondMomentNs2() - estimate.meanNs() * estimate.meanNs(), 0.05);
    }

    /** Whatever cells hold, decoding ends and lists at most as many items as there are cells. */
    @Test
    void shouldSurviveAnyCells() {
        final SynopsisGeometry geometry = SimpleReconcilableDifferenceAggregator.geometry(3, 48);
        final SynopsisImage own = new SimpleReconcilableDifferenceAggregator(geometry, SEED).image();
        final UnsafeBuffer octets = new UnsafeBuffer(new byte[geometry.imageLength()]);
        final SimpleRdaReconciler decoder = new SimpleRdaReconciler(48, SEED, CONFIDENCE);
        final SplittableRandom random = new SplittableRandom(7);
        for (int run = 0; run < 1_000; run++) {
            octets.putBytes(0, own.buffer(), 0, own.length());
            for (int change = 0; change < 1 + run % 100; change++) {
                octets.putByte(own.offset(0) + random.nextInt(48 * 32), (byte)random.nextInt(3));
            }
            final SynopsisImage image = new SynopsisImage().wrap(octets, 0, octets.capacity());

            assertEquals(SynopsisPairing.PAIRED, decoder.decode(own, image));
            assertTrue(decoder.listed().size() <= 48);
        }
    }

    private AggregateEstimate figureThree() {
        final SynopsisGeometry geometry = SimpleReconcilableDifferenceAggregator.geometry(2, 5);
        final SimpleReconcilableDifferenceAggregator sender = new SimpleReconcilableDifferenceAggregator(geometry, SEED);
        final SimpleReconcilableDifferenceAggregator receiver = new SimpleReconcilableDifferenceAggregator(geometry, SEED);
        final ListedPackets sent = new ListedPackets(new ArrayList<>());
        final ListedPackets received = new ListedPackets(new ArrayList<>());
        for (final int packet : new int[]{1, 2, 3, 4, 5, 6}) {
            sender.update(simpleIdentifier(packet), SENT[packet]);
            sent.packets().add(new long[]{simpleIdentifier(packet), SENT[packet]});
        }
        for (final int packet : new int[]{1, 2, 4, 6, 9}) {
            receiver.update(simpleIdentifier(packet), RECEIVED[packet]);
            received.packets().add(new long[]{simpleIdentifier(packet), RECEIVED[packet]});
        }
        final AggregateEstimate estimate = new AggregateEstimate();
        assertEquals(SynopsisPairing.PAIRED, reconciler.decode(sender.image(), receiver.image()));
        assertEquals(3, reconciler.listed().size());
        assertEquals(2, reconciler.listed().stream().filter(SimpleRdaReconciler.Item::isLost).count());
        assertTrue(reconciler.isComplete());
        for (final SimpleRdaReconciler.Item item : reconciler.listed()) {
            assertEquals(item.isLost(), sent.find(item.identifier()) != ListedTimes.NOT_FOUND);
        }
        reconciler.repair(sent, received, estimate);
        return estimate;
    }

    private long simpleIdentifier(final int packet) {
        return identifiers.computeIfAbsent(packet, key -> {
            final BankHashes hashes = new BankHashes(2, SEED);
            long identifier = key * 1_000_000L;
            while (SRDA_CELLS[key][0] != SimpleReconcilableDifferenceAggregator.cell(hashes, 0, identifier, 5) ||
                SRDA_CELLS[key][1] != SimpleReconcilableDifferenceAggregator.cell(hashes, 1, identifier, 5)) {
                identifier++;
            }
            return identifier;
        });
    }

    /** Packets that are known by identifier and timestamp. */
    private record ListedPackets(List<long[]> packets) implements ListedTimes {
        @Override
        public int find(final long identifier) {
            for (int i = 0; i < packets.size(); i++) {
                if (packets.get(i)[0] == identifier) {
                    return i;
                }
            }
            return NOT_FOUND;
        }

        @Override
        public int copies(final int entry) {
            return 1;
        }

        @Override
        public long timestampSumNs(final int entry) {
            return packets.get(entry)[1];
        }
    }
}
