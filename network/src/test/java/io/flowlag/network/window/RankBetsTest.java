package io.flowlag.network.window;

import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

import java.util.Arrays;
import java.util.Random;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

/** What makes the sum of worths a martingale, and what correlation costs. */
class RankBetsTest {
    private static final int SCORES = 400;

    /** Over all ranks, and whatever the scores are. */
    @ParameterizedTest
    @ValueSource(doubles = {0, 1, 5})
    void shouldBeWorthOneOnAverage(final double tail) {
        final Random random = new Random(2);
        final float[] scores = new float[SCORES];
        for (int i = 0; i < SCORES; i++) {
            scores[i] = (float)(random.nextGaussian() * Math.exp(tail * random.nextDouble()));
        }
        final float[] sorted = scores.clone();
        Arrays.sort(sorted);
        final double[] sums = new double[RankBets.KINDS];
        for (int i = 0; i <= SCORES; i++) {
            final RankBets bets = new RankBets(SCORES, 1);
            bets.learn(scores);
            final int bin = bets.rank(i == SCORES ? Float.MAX_VALUE : sorted[i]);
            for (int kind = 0; kind < RankBets.KINDS; kind++) {
                sums[kind] += bets.worth(kind, bin) / (SCORES + 1);
            }
        }
        for (int kind = 0; kind < RankBets.KINDS; kind++) {
            assertEquals(1, sums[kind], 1e-9, "kind " + kind);
        }
    }

    @Test
    void shouldRankScoresAmongThoseSince() {
        final RankBets bets = new RankBets(SCORES, SCORES);
        final float[] scores = new float[SCORES];
        for (int i = 0; i < SCORES; i++) {
            scores[i] = i * 7 % SCORES;
        }
        bets.learn(scores);
        assertEquals(0, bets.rank(SCORES));
        assertEquals(1, bets.rank(SCORES), "as many as one are not smaller");
        assertEquals(0, bets.rank(SCORES + 1));
        assertTrue(bets.rank(-1) > bets.rank(SCORES / 2));
    }

    @ParameterizedTest
    @ValueSource(doubles = {0, 0.3, 0.6, 0.8})
    void shouldTellTheVarianceOfCorrelatedSums(final double correlation) {
        final Random random = new Random(3);
        final double[] values = new double[10_080];
        double value = 0;
        for (int i = 0; i < values.length; i++) {
            value = correlation * value + random.nextGaussian();
            values[i] = i % 1000 == 0 ? Double.NaN : value;
        }
        final double inflation = (1 + correlation) / (1 - correlation);
        final double told = VarianceInflation.of(values);
        assertTrue(told >= 0.9 * inflation && told <= 1.3 * inflation, told + " of " + inflation);
    }

    @Test
    void shouldSeeNoCorrelationInConstants() {
        final double[] constants = new double[1000];
        Arrays.fill(constants, 0.1);
        assertEquals(1, VarianceInflation.of(constants));
        assertEquals(1, VarianceInflation.of(new double[] {Double.NaN, 1, Double.NaN, 2}));
    }
}
