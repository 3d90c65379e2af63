package io.flowlag.rli.receiver;

import org.junit.jupiter.api.Test;

import java.util.Random;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertTrue;

class HeldOutErrorsTest {
    private static final long DELAY_NS = 5_000_000L;
    private static final int LENGTH_BYTES = 700;
    private static final long BURST_PACKETS = 100_000;

    private final HeldOutErrors errors = new HeldOutErrors(60_000_000_000L, 3);

    private void record(final double errorNs, final long delayNs, final long packetCount) {
        errors.record(errorNs, delayNs, LENGTH_BYTES, 0, packetCount, 0);
    }

    /** Of a flow that has met so many errors of the usual scale. */
    private long halfWidthNs(final long spans) {
        return halfWidthNs(spans, DELAY_NS, 0);
    }

    private long halfWidthNs(final long spans, final long meanNs, final double unknownShare) {
        return errors.halfWidthNs(errors.scales().meanNs() / Math.sqrt(spans), spans, meanNs, unknownShare);
    }

    private long halfWidthNs(final long spans, final long meanNs, final double unknownShare, final double lengthBytes) {
        return errors.halfWidthNs(errors.scales().meanNs() / Math.sqrt(spans), spans, meanNs, unknownShare, lengthBytes);
    }

    /** The quantile of quotients is the upper end of its step. */
    private void assertSingle() {
        final double wantedNs = errors.quantile95Ns();
        assertEquals(wantedNs, halfWidthNs(1), 0.06 * wantedNs);
        assertEquals(halfWidthNs(1), errors.halfWidthNs(Double.NaN, 1000, DELAY_NS, 0), "unknown scale");
    }

    private void normal(final int count) {
        final Random random = new Random(3);
        for (int i = 0; i < count; i++) {
            record(100 + 1000 * random.nextGaussian(), DELAY_NS, 1);
        }
    }

    @Test
    void shouldNarrowWithTheSpansThatAFlowHasMet() {
        normal(20_000);
        assertEquals(100, errors.meanNs(), 25);
        assertEquals(1000, errors.standardDeviationNs(), 20);
        assertEquals(1970, errors.quantile95Ns(), 50);
        assertSingle();
        assertEquals(100 + 196, halfWidthNs(100), 30);
    }

    @Test
    void shouldWidenWithTheShareOfPacketsThatHaveNoEstimate() {
        final Random random = new Random(3);
        for (int i = 0; i < 20_000; i++) {
            record(1000 * random.nextGaussian(), DELAY_NS + Math.round(100_000 * random.nextGaussian()), 1);
        }
        final long estimatedNs = halfWidthNs(100);
        assertEquals(estimatedNs, halfWidthNs(100, DELAY_NS, 0, LENGTH_BYTES));
        assertEquals(196_000, halfWidthNs(100, DELAY_NS, 1, LENGTH_BYTES), 4_000);
        assertEquals(196_000 + DELAY_NS, halfWidthNs(100, 0, 1, LENGTH_BYTES), 6_000);
        assertEquals(0.9 * estimatedNs + 0.1 * 196_000, halfWidthNs(100, DELAY_NS, 0.1, LENGTH_BYTES), 500);
        errors.rotate();
        assertEquals(196_000, halfWidthNs(100, DELAY_NS, 1, LENGTH_BYTES), 4_000);
    }

    @Test
    void shouldWidenForFlowsOfOtherSizesWhereErrorsHaveToDoWithSize() {
        final Random random = new Random(9);
        for (int i = 0; i < 20_000; i++) {
            final int lengthBytes = random.nextBoolean() ? 100 : 1300;
            final double extraBytes = lengthBytes - LENGTH_BYTES;
            errors.record(0.05 * extraBytes + 100 * random.nextGaussian(), DELAY_NS, lengthBytes, extraBytes, 1, 0);
        }
        final long likeAllNs = halfWidthNs(1_000_000, DELAY_NS, 0, LENGTH_BYTES);
        assertTrue(likeAllNs < 5, () -> "no size but the mean one: " + likeAllNs);
        assertEquals(2 * 0.05 * 600, halfWidthNs(1_000_000, DELAY_NS, 0, 100), 8);
        assertEquals(2 * 0.05 * 600, halfWidthNs(1_000_000, DELAY_NS, 0, 1300), 8);
        errors.rotate();
        assertEquals(2 * 0.05 * 600, halfWidthNs(1_000_000, DELAY_NS, 0, 1300), 8);
    }

    @Test
    void shouldNotWidenByTheErrorOfAFewReferencesOfAnotherSize() {
        errors.record(50_000, DELAY_NS, LENGTH_BYTES - 20, -20, 1, 0);
        normal(20_000);
        assertEquals(halfWidthNs(100, DELAY_NS, 0), halfWidthNs(100, DELAY_NS, 0, 1300));
        assertEquals(halfWidthNs(100, DELAY_NS, 0), halfWidthNs(100, DELAY_NS, 0, LENGTH_BYTES + 1));
    }

    @Test
    void shouldCountAnErrorAsOftenAsPacketsWereEstimatedThatWay() {
        for (int i = 0; i < 1000; i++) {
            record(i % 10 == 0 ? 1010 : 10, DELAY_NS, i % 10 == 0 ? 91 : 1);
        }
        errors.rotate();
        final double weight = 900 + 9_100;
        assertEquals(1000, errors.count());
        assertEquals((900 * 10 + 9_100 * 1010) / weight, errors.meanNs(), 1e-9);
        assertEquals(1010, errors.quantile95Ns());
        assertSingle();
    }

    @Test
    void shouldHaveNoBoundFromFewErrors() {
        normal((int)HeldOutErrors.LEAST_COUNT - 1);
        assertFalse(errors.hasBound());
        record(0, DELAY_NS, 0);
        assertTrue(errors.hasBound());
        assertTrue(errors.quantile95Ns() > 0);
    }

    @Test
    void shouldHaveNoBoundFromAFewErrorsThatOutweighTheRest() {
        final Random random = new Random(1);
        for (int i = 0; i < 200; i++) {
            record(1000 * random.nextGaussian(), DELAY_NS, i % 100 == 50 ? BURST_PACKETS : 1);
        }
        assertEquals(200, errors.count());
        assertFalse(errors.hasBound());
        errors.rotate();
        assertFalse(errors.hasBound());

        normal(1000);
        assertTrue(errors.hasCurrentBound());
        assertFalse(errors.hasBound());
        errors.rotate();
        assertTrue(errors.hasBound());
    }

    @Test
    void shouldHaveABoundFromErrorsOfModeratelyDifferentWeight() {
        final Random random = new Random(5);
        int count = 0;
        while (!errors.hasBound()) {
            // Packets of two gaps of random length.
            final double gaps = -Math.log(random.nextDouble()) - Math.log(random.nextDouble());
            record(1000 * random.nextGaussian(), DELAY_NS, Math.round(20 * gaps));
            count++;
        }
        assertEquals(1.5 * HeldOutErrors.LEAST_COUNT, count, 0.2 * HeldOutErrors.LEAST_COUNT);
    }

    /** The bound as soon as there is one, for an error of one more gap, where one reference in 20 has the burst beside it. */
    @Test
    void shouldCoverWhatItSaysWhereSomeErrorsOutweighTheRest() {
        final Random random = new Random(7);
        final int runs = 400;
        final int triesPerRun = 10;
        int coveredCount = 0;
        for (int run = 0; run < runs; run++) {
            errors.rotate();
            errors.rotate();
            while (!errors.hasBound()) {
                record(1000 * random.nextGaussian(), DELAY_NS, random.nextInt(20) == 0 ? BURST_PACKETS : 1);
            }
            for (int i = 0; i < triesPerRun; i++) {
                coveredCount += Math.abs(1000 * random.nextGaussian()) <= halfWidthNs(1) ? 1 : 0;
            }
        }
        assertTrue(coveredCount >= 0.92 * runs * triesPerRun, coveredCount + " of " + runs * triesPerRun);
    }

    @Test
    void shouldEndAPeriodWhenItHasABoundOrIsFarTooLong() {
        final int heldOutPeriods = 3;
        final ClassStatistics statistics = new ClassStatistics(60_000_000_000L, 2, heldOutPeriods);
        record(statistics, 200, 1);
        rotate(statistics, heldOutPeriods);
        assertEquals(0, statistics.heldOut().currentCount());
        assertEquals(200, statistics.heldOut().count());

        record(statistics, 198, 1);
        record(statistics, 2, BURST_PACKETS);
        rotate(statistics, ClassStatistics.LONGEST * heldOutPeriods - 1);
        assertEquals(200, statistics.heldOut().currentCount());
        rotate(statistics, 1);
        assertEquals(0, statistics.heldOut().currentCount());

        record(statistics, (int)HeldOutErrors.LEAST_COUNT - 1, 1);
        rotate(statistics, 2 * ClassStatistics.LONGEST * heldOutPeriods);
        assertEquals(HeldOutErrors.LEAST_COUNT - 1, statistics.heldOut().currentCount());
    }

    private static void record(final ClassStatistics statistics, final int count, final long packetCount) {
        for (int i = 0; i < count; i++) {
            statistics.heldOut().record(10, DELAY_NS, LENGTH_BYTES, 0, packetCount, 0);
        }
    }

    private static void rotate(final ClassStatistics statistics, final int count) {
        for (int i = 0; i < count; i++) {
            statistics.rotate();
        }
    }

    @Test
    void shouldForgetTheLastPeriodButOne() {
        normal(1000);
        errors.rotate();
        assertTrue(errors.hasBound());
        for (int i = 0; i < 1000; i++) {
            record(5, DELAY_NS, 3);
        }
        assertEquals(2000, errors.count());
        errors.rotate();
        assertEquals(1000, errors.count());
        assertEquals(5, errors.meanNs(), 1e-9);
        assertEquals(5, errors.quantile95Ns());
        errors.rotate();
        assertFalse(errors.hasBound());
    }
}
