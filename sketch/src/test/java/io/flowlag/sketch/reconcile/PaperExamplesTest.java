package io.flowlag.sketch.reconcile;

import io.flowlag.common.hash.KeyedMix;
import io.flowlag.sketch.image.SketchGeometry;
import io.flowlag.sketch.image.SketchImage;
import io.flowlag.sketch.lda.LdaEstimate;
import io.flowlag.sketch.lda.LdaEstimator;
import io.flowlag.sketch.lda.LossyDifferenceAggregator;
import org.junit.jupiter.api.Test;

import java.util.HashMap;
import java.util.Map;
import java.util.TreeSet;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

/**
 * Figures 2, 3 and 4 of the RDA paper, number by number. Packets P1 to P6 and P9 with the timestamps of the figures; identifiers
 * are searched for that hash to the cells in which the figures have them.
 */
class PaperExamplesTest {
    private static final long SEED = 0x5eed;
    private static final double CONFIDENCE = 0.98;
    private static final long[] SENT = {0, 70, 150, 200, 250, 310, 330};
    private static final long[] RECEIVED = {0, 110, 260, 310, 390, 0, 450, 0, 0, 760};
    /** Figure 2: the cell of each packet. */
    private static final int[] LDA_CELLS = {-1, 0, 1, 0, 2, 3, 4, -1, -1, 3};
    private static final double TRUE_MEAN = 102.5;

    private final Map<Integer, Long> identifiers = new HashMap<>();

    /** Every count agrees, yet P5 was swapped for P9: the paper's LDA is off by half, where a digest sees it. */
    @Test
    void shouldComputeFigureTwo() {
        final SketchGeometry geometry = SketchGeometry.lda(6, 0);
        final LossyDifferenceAggregator sender = new LossyDifferenceAggregator(geometry, SEED);
        final LossyDifferenceAggregator receiver = new LossyDifferenceAggregator(geometry, SEED);
        for (final int packet : new int[]{1, 2, 3, 4, 5, 6}) {
            sender.update(ldaIdentifier(packet), SENT[packet], 100);
        }
        for (final int packet : new int[]{1, 2, 3, 4, 6, 9}) {
            receiver.update(ldaIdentifier(packet), RECEIVED[packet], 100);
        }

        assertSums(sender.image(), 270, 150, 250, 310, 330);
        assertSums(receiver.image(), 420, 260, 390, 760, 450);
        assertEquals(161.67, meanByCounts(sender.image(), receiver.image()), 0.005);

        final LdaEstimate estimate = new LdaEstimate();
        new LdaEstimator(CONFIDENCE).estimate(sender.image(), receiver.image(), estimate);
        assertEquals(104, estimate.meanNs(), 1e-9);
        assertEquals(5, estimate.samples());
    }

    /** The same packets in an RDA: no packet is twice in a bank. */
    @Test
    void shouldReconcileFigureThreeInBanks() {
        final SynopsisGeometry geometry = SynopsisGeometry.rda(2, 8);
        final ReconcilableDifferenceAggregator sender = new ReconcilableDifferenceAggregator(geometry, SEED);
        final ReconcilableDifferenceAggregator receiver = new ReconcilableDifferenceAggregator(geometry, SEED);
        final ListedPackets sent = new ListedPackets();
        final ListedPackets received = new ListedPackets();
        for (final int packet : new int[]{1, 2, 3, 4, 5, 6}) {
            sender.update(packet, SENT[packet]);
            sent.with(packet, SENT[packet], 1);
        }
        for (final int packet : new int[]{1, 2, 4, 6, 9}) {
            receiver.update(packet, RECEIVED[packet]);
            received.with(packet, RECEIVED[packet], 1);
        }
        final RdaReconciler reconciler = new RdaReconciler(geometry.totalCells(), SEED, CONFIDENCE);
        final AggregateEstimate estimate = new AggregateEstimate();

        assertEquals(SynopsisPairing.PAIRED, reconciler.decode(sender.image(), receiver.image()));
        reconciler.repair(sent, received, estimate);

        assertEquals("[3 lost, 5 lost, 9 reordered]", listed(reconciler.difference()));
        assertTrue(estimate.exact());
        assertEquals(TRUE_MEAN, estimate.meanNs(), 1e-9);
        assertEquals(0, estimate.boundNs());
        assertEquals(4, estimate.samples());
        assertEquals(2, estimate.lostPackets());
        assertEquals(1, estimate.unexpectedPackets());
        assertEquals(1, estimate.netLostPackets());
    }

    private static String listed(final PacketDifference difference) {
        final TreeSet<String> items = new TreeSet<>();
        for (int item = 0; item < difference.size(); item++) {
            items.add(difference.identifier(item) + (difference.lost(item) ? " lost" : " reordered"));
        }
        return items.toString();
    }

    private static void assertSums(final SketchImage image, final long... sums) {
        for (int cell = 0; cell < sums.length; cell++) {
            assertEquals(sums[cell], image.timestampSumNs(0, cell));
        }
    }

    private static double meanByCounts(final SketchImage sender, final SketchImage receiver) {
        double sum = 0;
        double count = 0;
        for (int cell = 0; cell < sender.columns(); cell++) {
            if (sender.count(0, cell) == receiver.count(0, cell)) {
                sum += receiver.timestampSumNs(0, cell) - sender.timestampSumNs(0, cell);
                count += sender.count(0, cell);
            }
        }
        return sum / count;
    }

    private long ldaIdentifier(final int packet) {
        return identifiers.computeIfAbsent(packet, key -> {
            long identifier = key * 1_000_000L;
            while (LDA_CELLS[key] != KeyedMix.reduceLow(KeyedMix.mix(identifier, KeyedMix.derivedSeed(SEED, 0)), 6)) {
                identifier++;
            }
            return identifier;
        });
    }
}
