package io.flowlag.sketch.reconcile;

import io.flowlag.sketch.support.Packets;
import org.junit.jupiter.api.Test;

import java.util.SplittableRandom;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

class SignedCountsTest {
    private static final int ITEMS = 60_000;
    private static final int SEEDS = 15;
    private static final int COUNTS = 1_024;

    @Test
    void shouldEstimateWithinItsDeviation() {
        for (final int items : new int[]{1, 100, 3_000, 30_000}) {
            final double[] errors = new double[SEEDS];
            for (int seed = 0; seed < SEEDS; seed++) {
                errors[seed] = error(items, seed);
            }
            final double median = Packets.median(errors, SEEDS);
            // The median of a normal variable's magnitude is 0.67 deviations; twice that is beyond any doubt over 15 seeds.
            assertTrue(median <= 1.35 * SignedCounts.relativeDeviation(COUNTS), items + " items: " + median);
        }
    }

    @Test
    void shouldSayThatEqualSetsDoNotDiffer() {
        final SignedCounts counts = new SignedCounts(COUNTS, 1);
        for (int item = 0; item < 1_000; item++) {
            counts.add(item);
        }
        assertEquals(0, counts.estimate(counts.image()));
    }

    @Test
    void shouldNotEstimateWhatCannotBeCompared() {
        final SignedCounts counts = new SignedCounts(COUNTS, 1);
        assertTrue(Double.isNaN(counts.estimate(new SignedCounts(COUNTS, 2).image())));
        assertTrue(Double.isNaN(
            counts.estimate(new ReconcilableDifferenceAggregator(SynopsisGeometry.rda(1, COUNTS), 1).image())));
    }

    private static double error(final int items, final int seed) {
        final SplittableRandom random = new SplittableRandom(seed);
        final SignedCounts own = new SignedCounts(COUNTS, seed);
        final SignedCounts other = new SignedCounts(COUNTS, seed);
        for (int item = 0; item < ITEMS; item++) {
            final long identifier = random.nextLong();
            if (item >= items || item % 3 == 0) {
                own.add(identifier);
            }
            if (item >= items || item % 3 != 0) {
                other.add(identifier);
            }
        }
        return Math.abs(own.estimate(other.image()) / items - 1);
    }
}
