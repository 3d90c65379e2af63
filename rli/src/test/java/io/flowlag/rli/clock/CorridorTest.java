package io.flowlag.rli.clock;

import net.jqwik.api.ForAll;
import net.jqwik.api.Property;
import net.jqwik.api.constraints.DoubleRange;
import net.jqwik.api.constraints.IntRange;

import java.util.Random;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

/** Envelopes and what is between them, against all delays and all corners of the polygon. */
class CorridorTest {
    private static final long SECOND_NS = 1_000_000_000L;
    private static final double STEEPEST = 1e-3;

    private static ClockSettings settings(final double wanderPpbPerS, final int points) {
        return new ClockSettings(STEEPEST * 1e6, wanderPpbPerS, 0, 0, 0, 20_000, 4, points, Long.MAX_VALUE);
    }

    private static double[][] delays(final Random random, final int count) {
        final double[][] delays = new double[count][2];
        double timeNs = 0;
        for (int i = 0; i < count; i++) {
            timeNs += Math.rint(SECOND_NS * (0.01 + 3 * random.nextDouble()));
            delays[i][0] = timeNs;
            delays[i][1] = Math.rint(100_000 - 50_000 * Math.log(1 - random.nextDouble()));
        }
        return delays;
    }

    private static void fill(final Envelope envelope, final double[][] delays) {
        for (final double[] delay : delays) {
            envelope.add((long)delay[0], delay[1]);
        }
    }

    private static double raisedNs(final double[] delay, final double nowNs, final double wanderPpbPerS) {
        final double ageNs = nowNs - delay[0];
        return delay[1] + 0.5e-18 * wanderPpbPerS * ageNs * ageNs;
    }

    @Property(tries = 200)
    void shouldForgetNothingThatBoundsALineNowOrLater(
        @ForAll final long seed, @ForAll @DoubleRange(min = 0, max = 1000) final double wanderPpbPerS,
        @ForAll @DoubleRange(min = -1000, max = 1000) final double slopePpm,
        @ForAll @IntRange(min = 1, max = 60) final int count) {
        final double slope = slopePpm * 1e-6;
        final double[][] delays = delays(new Random(seed), count);
        final Envelope envelope = new Envelope(settings(wanderPpbPerS, 64));
        fill(envelope, delays);
        for (long laterNs = 0; laterNs < 1000 * SECOND_NS; laterNs += 300 * SECOND_NS) {
            final long nowNs = (long)delays[count - 1][0] + laterNs;
            double leastNs = Double.POSITIVE_INFINITY;
            for (final double[] delay : delays) {
                leastNs = Math.min(leastNs, raisedNs(delay, nowNs, wanderPpbPerS) + slope * (nowNs - delay[0]));
            }
            assertEquals(leastNs, envelope.height(nowNs, slope), 1e-3);
        }
    }

    @Property(tries = 100)
    void shouldKeepAsManyAsItHolds(@ForAll final long seed, @ForAll @IntRange(min = 4, max = 32) final int points) {
        final Envelope small = new Envelope(settings(10, points));
        final Envelope large = new Envelope(settings(10, 4096));
        final Random random = new Random(seed);
        final double[][] delays = delays(random, 500);
        for (final double[] delay : delays) {
            small.add((long)delay[0], delay[1]);
            large.add((long)delay[0], delay[1]);
            assertTrue(small.count() <= points);
            // What was forgotten may only loosen a bound.
            assertTrue(small.height((long)delay[0], 0) >= large.height((long)delay[0], 0) - 1e-3);
        }
        assertEquals(delays[499][0], small.newestNs());
    }

    /** The extremes of offset and drift are corners of the polygon: cuts of two constraints that keep all others. */
    @Property(tries = 200)
    void shouldFindTheCornersOfThePolygon(
        @ForAll final long seed, @ForAll @DoubleRange(min = 0, max = 100) final double wanderPpbPerS,
        @ForAll @DoubleRange(min = -400_000, max = 400_000) final double offsetNs) {
        final Random random = new Random(seed);
        final double[][] there = delays(random, 8);
        final double[][] back = delays(random, 8);
        final Corridor corridor = new Corridor(settings(wanderPpbPerS, 64));
        final double nowNs = Math.max(there[7][0], back[7][0]);
        // Rows (a, b, c) of x a + ρ b <= c.
        final double[][] rows = new double[18][];
        for (int i = 0; i < 8; i++) {
            there[i][1] += offsetNs;
            back[i][1] -= offsetNs;
            rows[i] = new double[] {1, there[i][0] - nowNs, raisedNs(there[i], nowNs, wanderPpbPerS)};
            rows[8 + i] = new double[] {-1, nowNs - back[i][0], raisedNs(back[i], nowNs, wanderPpbPerS)};
        }
        rows[16] = new double[] {0, 1, STEEPEST};
        rows[17] = new double[] {0, -1, STEEPEST};
        fill(corridor.forward, there);
        fill(corridor.backward, back);
        corridor.moveTo((long)nowNs);
        final double[] extremes = corners(rows);

        final double leastDrift = corridor.edge(0, -1);
        corridor.width(leastDrift);
        assertEquals(extremes[0], corridor.lowerNs(), 0.01);
        assertEquals(extremes[2], leastDrift, 1e-9);
        final double mostDrift = corridor.edge(0, 1);
        corridor.width(mostDrift);
        assertEquals(extremes[1], corridor.upperNs(), 0.01);
        assertEquals(extremes[3], mostDrift, 1e-9);

        final double greatestNs = corridor.greatestWidth();
        for (int i = -1000; i <= 1000; i++) {
            assertTrue(corridor.width(i * STEEPEST / 1000) <= greatestNs + 0.01);
        }
        assertTrue(Double.isNaN(corridor.edge(greatestNs + 1, -1)) && Double.isNaN(corridor.edge(greatestNs + 1, 1)));
        assertTrue(corridor.width(corridor.edge(greatestNs - 1, 1)) >= greatestNs - 1.01);
    }

    private static double[] corners(final double[][] rows) {
        final double[] extremes = {Double.POSITIVE_INFINITY, Double.NEGATIVE_INFINITY, Double.POSITIVE_INFINITY,
            Double.NEGATIVE_INFINITY};
        for (int i = 0; i < rows.length; i++) {
            for (int j = 0; j < i; j++) {
                final double determinant = rows[i][0] * rows[j][1] - rows[j][0] * rows[i][1];
                if (determinant == 0) {
                    continue;
                }
                final double x = (rows[i][2] * rows[j][1] - rows[j][2] * rows[i][1]) / determinant;
                final double drift = (rows[i][0] * rows[j][2] - rows[j][0] * rows[i][2]) / determinant;
                boolean isInside = true;
                for (final double[] row : rows) {
                    isInside &= x * row[0] + drift * row[1] <= row[2] + 1e-3 * Math.max(Math.abs(row[0]), 1e-9);
                }
                if (isInside) {
                    extremes[0] = Math.min(extremes[0], x);
                    extremes[1] = Math.max(extremes[1], x);
                    extremes[2] = Math.min(extremes[2], drift);
                    extremes[3] = Math.max(extremes[3], drift);
                }
            }
        }
        return extremes;
    }

    @Property(tries = 100)
    void shouldNeverWidenByMoreDelays(@ForAll final long seed) {
        final Random random = new Random(seed);
        final double[][] there = delays(random, 40);
        final double[][] back = delays(random, 40);
        final Corridor few = new Corridor(settings(10, 128));
        final Corridor many = new Corridor(settings(10, 128));
        for (int i = 0; i < 40; i++) {
            many.forward.add((long)there[i][0], there[i][1]);
            many.backward.add((long)back[i][0], back[i][1]);
            if (random.nextBoolean()) {
                few.forward.add((long)there[i][0], there[i][1]);
            }
            if (random.nextBoolean()) {
                few.backward.add((long)back[i][0], back[i][1]);
            }
        }
        final long nowNs = (long)Math.max(there[39][0], back[39][0]);
        few.moveTo(nowNs);
        many.moveTo(nowNs);
        for (final int side : new int[] {-1, 1}) {
            final double ofMany = many.edge(0, side);
            final double ofFew = few.edge(0, side);
            assertTrue(side * ofMany <= side * ofFew + 1e-9);
            many.width(ofMany);
            few.width(ofFew);
            assertTrue(side < 0 ? many.lowerNs() >= few.lowerNs() - 0.01 : many.upperNs() <= few.upperNs() + 0.01);
        }
    }
}
