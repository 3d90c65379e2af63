package io.flowlag.tests.lab.comparator;

import io.flowlag.sketch.reconcile.AggregateEstimate;
import io.flowlag.sketch.reconcile.SynopsisPairing;
import org.junit.jupiter.api.Test;

import java.util.SplittableRandom;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertTrue;

class FineCombTest {
    private static final long SEED = 0x5eed;
    private static final int CELLS = 200;
    private static final int STASH = 60;
    private static final int PACKETS = 4_000;
    private static final int REORDERED = 20;

    private final FineComb sender = new FineComb(FineComb.geometry(CELLS), SEED);
    private final FineComb receiver = new FineComb(FineComb.geometry(CELLS), SEED);
    private final FineCombStash stash = new FineCombStash(STASH);
    private final FineCombEstimator estimator = new FineCombEstimator(CELLS, STASH, SEED, 0.98);
    private final AggregateEstimate estimate = new AggregateEstimate();
    private final long[] reordered = new long[REORDERED];
    private final long[] reorderedTimesNs = new long[REORDERED];
    private double trueMeanNs;

    @Test
    void shouldRepairCellsThatOnlyReorderedPacketsDamaged() {
        fill(0);

        assertEquals(SynopsisPairing.PAIRED, estimator.pair(sender.image(), receiver.image()));
        estimator.estimate(estimate);
        assertFalse(estimate.exact());
        estimator.pair(sender.image(), receiver.image());
        estimator.repair(stash, false, 1_000_000);
        estimator.estimate(estimate);

        assertTrue(estimate.exact());
        assertEquals(trueMeanNs, estimate.meanNs(), 1e-6);
        assertTrue(estimator.repairedCells() > 10);
        assertEquals(0, estimator.abandonedCells());
    }

    /** What the RDA paper describes tries the whole stash for every cell: the same repair for many times the combinations. */
    @Test
    void shouldNeedFarMoreCombinationsWithTheWholeStash() {
        fill(0);
        estimator.pair(sender.image(), receiver.image());
        estimator.repair(stash, false, 1_000_000);
        final long combinations = estimator.combinations();
        final int repaired = estimator.repairedCells();

        estimator.pair(sender.image(), receiver.image());
        estimator.repair(stash, true, 10_000_000);

        assertEquals(repaired, estimator.repairedCells());
        assertTrue(estimator.combinations() > 10 * combinations);
    }

    @Test
    void shouldStopAtTheLimitOfCombinationsAndCountIt() {
        fill(0);
        estimator.pair(sender.image(), receiver.image());

        estimator.repair(stash, true, 3);

        assertTrue(estimator.abandonedCells() > 0);
        assertTrue(estimator.combinations() <= 4L * CELLS);
        estimator.estimate(estimate);
        assertTrue(estimate.hasMean());
    }

    /** Lost packets cannot be repaired, not even by one who knows them. */
    @Test
    void shouldLoseTheCellsOfLostPacketsWhateverTheRepair() {
        final int losses = 30;
        final long[] lost = fill(losses);
        estimator.pair(sender.image(), receiver.image());
        estimator.repair(stash, false, 1_000_000);
        estimator.estimate(estimate);
        final int byStash = estimate.cleanCells();

        estimator.pair(sender.image(), receiver.image());
        estimator.repairIdeally(lost, reordered, reorderedTimesNs);
        estimator.estimate(estimate);

        assertTrue(estimate.cleanCells() >= byStash);
        assertTrue(estimate.cleanCells() < CELLS && estimate.cleanCells() >= CELLS - losses);
        // Theorem 1: m·e^(-L/m) cells are left in the mean.
        assertEquals(CELLS * Math.exp(-losses / (double)CELLS), estimate.cleanCells(), 8);
    }

    /** Returns the lost ones; the reordered are the first and the last that the receiver saw. */
    private long[] fill(final int losses) {
        final SplittableRandom random = new SplittableRandom(5);
        final long[] lost = new long[losses];
        double sumNs = 0;
        for (int i = 0; i < REORDERED / 2; i++) {
            reorder(i, random.nextLong(), i);
        }
        for (int i = 0; i < PACKETS; i++) {
            final long identifier = random.nextLong();
            final int delayNs = random.nextInt(1_000);
            sender.update(identifier, i * 10);
            if (i * (long)losses / PACKETS != (i + 1) * (long)losses / PACKETS) {
                lost[(int)(i * (long)losses / PACKETS)] = identifier;
            } else {
                receiver.update(identifier, i * 10 + delayNs);
                stash.offer(identifier, i * 10 + delayNs);
                sumNs += delayNs;
            }
        }
        for (int i = REORDERED / 2; i < REORDERED; i++) {
            reorder(i, random.nextLong(), PACKETS * 10);
        }
        trueMeanNs = sumNs / (PACKETS - losses);
        return lost;
    }

    private void reorder(final int index, final long identifier, final long timestampNs) {
        reordered[index] = identifier;
        reorderedTimesNs[index] = timestampNs;
        receiver.update(identifier, timestampNs);
        stash.offer(identifier, timestampNs);
    }
}
