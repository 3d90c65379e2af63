package io.flowlag.sketch.quantile;

import net.jqwik.api.ForAll;
import net.jqwik.api.Property;
import net.jqwik.api.constraints.DoubleRange;
import net.jqwik.api.constraints.IntRange;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

import java.math.BigInteger;
import java.util.Arrays;
import java.util.SplittableRandom;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

class SampledRanksTest {
    private static final long TAILS = 40;

    private static BigInteger choose(final int all, final int drawn) {
        BigInteger ways = drawn < 0 || drawn > all ? BigInteger.ZERO : BigInteger.ONE;
        for (int i = 0; i < drawn && ways.signum() > 0; i++) {
            ways = ways.multiply(BigInteger.valueOf(all - i)).divide(BigInteger.valueOf(i + 1));
        }
        return ways;
    }

    /** Whether fewer than a count of the sample are among the smallest with a probability of at most a tail. */
    private static boolean isRarelyBelow(final int count, final int smallest, final int all, final int drawn) {
        BigInteger below = BigInteger.ZERO;
        for (int i = 0; i < count; i++) {
            below = below.add(choose(smallest, i).multiply(choose(all - smallest, drawn - i)));
        }
        return below.multiply(BigInteger.valueOf(TAILS)).compareTo(choose(all, drawn)) <= 0;
    }

    /** The law: the lower rank is the largest, the upper one the smallest, whose tail by exact counting is small enough. */
    @Property(tries = 300)
    void shouldGiveTheNarrowestRanksOfTheHypergeometricLaw(
        @ForAll @IntRange(min = 1, max = 150) final int all, @ForAll @DoubleRange(min = 0, max = 1) final double share,
        @ForAll @DoubleRange(min = 0.01, max = 1) final double quantile) {
        final int drawn = Math.max(1, (int)(share * all));
        final int rank = (int)QuantileSketch.rank(quantile, all);
        final int lower = (int)SampledRanks.lower(quantile, all, drawn);
        assertTrue(isRarelyBelow(lower, rank, all, drawn));
        assertTrue(lower == drawn || !isRarelyBelow(lower + 1, rank, all, drawn));
        final int fromTop = drawn + 1 - (int)SampledRanks.upper(quantile, all, drawn);
        assertTrue(isRarelyBelow(fromTop, all + 1 - rank, all, drawn));
        assertTrue(fromTop == drawn || !isRarelyBelow(fromTop + 1, all + 1 - rank, all, drawn));
    }

    @Test
    void shouldGiveTheQuantileItselfIfAllValuesAreSampled() {
        for (final long all : new long[] {1, 20, 999, 1_000, 5_000_000}) {
            for (final double quantile : new double[] {0.5, 0.9, 0.99, 0.999, 1}) {
                assertEquals(QuantileSketch.rank(quantile, all), SampledRanks.lower(quantile, all, all));
                assertEquals(QuantileSketch.rank(quantile, all), SampledRanks.upper(quantile, all, all));
            }
        }
    }

    /** For a few of very many the law is the binomial one, whose ranks tables have: 40 and 61 of 100 for the median. */
    @Test
    void shouldGiveTheBinomialRanksForAFewOfMany() {
        assertEquals(40, SampledRanks.lower(0.5, 1L << 50, 100));
        assertEquals(61, SampledRanks.upper(0.5, 1L << 50, 100));
        assertEquals(0, SampledRanks.lower(0.5, 1L << 50, 5), "no lower bound");
        assertEquals(6, SampledRanks.upper(0.5, 1L << 50, 5), "no upper bound");
    }

    /** Draws from a seed: the true quantile of all is within for 95 % and more, and the ranks are not far apart for nothing. */
    @ParameterizedTest
    @CsvSource({"0.5, 2000, 100", "0.9, 2000, 400", "0.99, 20000, 3000", "0.5, 300, 270", "0.99, 3000, 2700"})
    void shouldEncloseTheQuantileOfAllInNinetyFiveOfAHundredDraws(final double quantile, final int all, final int drawn) {
        final SplittableRandom random = new SplittableRandom(drawn);
        final int[] values = new int[all];
        Arrays.setAll(values, i -> i + 1);
        final long truth = QuantileSketch.rank(quantile, all);
        final int lower = (int)SampledRanks.lower(quantile, all, drawn);
        final int upper = (int)SampledRanks.upper(quantile, all, drawn);
        final int draws = 2_000;
        int held = 0;
        int narrowerHeld = 0;
        for (int draw = 0; draw < draws; draw++) {
            for (int i = 0; i < drawn; i++) {
                final int other = i + random.nextInt(all - i);
                final int value = values[i];
                values[i] = values[other];
                values[other] = value;
            }
            final int[] sample = Arrays.copyOf(values, drawn);
            Arrays.sort(sample);
            held += sample[lower - 1] <= truth && truth <= sample[upper - 1] ? 1 : 0;
            narrowerHeld += sample[lower + (upper - lower) / 4 - 1] <= truth &&
                truth <= sample[upper - (upper - lower) / 4 - 1] ? 1 : 0;
        }
        assertTrue(held >= 0.94 * draws, "held " + held);
        assertTrue(narrowerHeld < 0.94 * draws, "half as wide held " + narrowerHeld);
    }
}
