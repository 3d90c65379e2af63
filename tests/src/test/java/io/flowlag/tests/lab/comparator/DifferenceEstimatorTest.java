package io.flowlag.tests.lab.comparator;

import io.flowlag.sketch.reconcile.SignedCounts;
import org.junit.jupiter.api.Test;

import java.util.Arrays;
import java.util.SplittableRandom;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

/** Estimators of the same length, 8 KiB: the signed counts are the ones that late binding relies on, and here is why. */
class DifferenceEstimatorTest {
    private static final int ITEMS = 60_000;
    private static final int SEEDS = 15;
    private static final int SIGNED_COUNTS = 1_024;
    private static final int MIN_HASHES = 1_024;
    private static final int STRATA = 14;
    private static final int STRATUM_BANK_CELLS = 12;

    @Test
    void shouldBeBeyondMinHashAndStrataOfTheSameLength() {
        for (final int items : new int[]{60, 600}) {
            final double signed = mean(errors(0, items));
            final double minHash = mean(errors(1, items));
            final double strata = mean(errors(2, items));
            assertTrue(3 * signed < minHash, items + " items: " + signed + ", MinHash " + minHash);
            assertTrue(signed < strata, items + " items: " + signed + ", strata " + strata);
        }
    }

    @Test
    void shouldEstimateLargeDifferencesByMinHashAndStrata() {
        assertTrue(median(errors(1, 20_000)) < 0.2);
        assertTrue(median(errors(2, 20_000)) < 0.5);
    }

    @Test
    void shouldSayThatEqualSetsDoNotDiffer() {
        for (int kind = 0; kind < 3; kind++) {
            final DifferenceEstimator estimator = estimator(kind, 1);
            for (int item = 0; item < 1_000; item++) {
                estimator.add(item);
            }
            assertEquals(0, estimator.estimate(estimator.image()));
            assertEquals(0, estimator(kind, 1).estimate(estimator(kind, 1).image()));
        }
    }

    @Test
    void shouldNotEstimateWhatCannotBeCompared() {
        for (int kind = 0; kind < 3; kind++) {
            final DifferenceEstimator estimator = estimator(kind, 1);
            assertTrue(Double.isNaN(estimator.estimate(estimator(kind, 2).image())));
            assertTrue(Double.isNaN(estimator.estimate(estimator((kind + 1) % 3, 1).image())));
        }
    }

    /** MinHash by hand: sets smaller than k are known in full. */
    @Test
    void shouldBeExactByMinHashWhereAllHashesAreKept() {
        final MinHashEstimator own = new MinHashEstimator(64, 3);
        final MinHashEstimator other = new MinHashEstimator(64, 3);
        for (int item = 0; item < 40; item++) {
            own.add(item);
            other.add(item + 10);
        }

        assertEquals(20, own.estimate(other.image()), 1e-9);
        own.empty();
        assertEquals(40, own.estimate(other.image()), 1e-9);
    }

    private static double[] errors(final int kind, final int items) {
        final double[] errors = new double[SEEDS];
        for (int seed = 0; seed < SEEDS; seed++) {
            final SplittableRandom random = new SplittableRandom(seed);
            final DifferenceEstimator own = estimator(kind, seed);
            final DifferenceEstimator other = estimator(kind, seed);
            for (int item = 0; item < ITEMS; item++) {
                final long identifier = random.nextLong();
                if (item >= items || item % 3 == 0) {
                    own.add(identifier);
                }
                if (item >= items || item % 3 != 0) {
                    other.add(identifier);
                }
            }
            errors[seed] = Math.abs(own.estimate(other.image()) / items - 1);
        }
        return errors;
    }

    private static double median(final double[] errors) {
        return Arrays.stream(errors).sorted().toArray()[errors.length / 2];
    }

    private static double mean(final double[] errors) {
        return Arrays.stream(errors).average().orElseThrow();
    }

    private static DifferenceEstimator estimator(final int kind, final long seed) {
        return switch (kind) {
            case 0 -> DifferenceEstimator.of(new SignedCounts(SIGNED_COUNTS, seed));
            case 1 -> new MinHashEstimator(MIN_HASHES, seed);
            default -> new StrataEstimator(STRATA, STRATUM_BANK_CELLS, seed);
        };
    }
}
