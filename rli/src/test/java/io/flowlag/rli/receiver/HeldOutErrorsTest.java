package io.flowlag.rli.receiver;

import org.junit.jupiter.api.Test;

import java.util.Random;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertTrue;

class HeldOutErrorsTest {
    private static final long SPAN_NS = 1_000_000L;

    private final HeldOutErrors errors = new HeldOutErrors(60_000_000_000L, 3);

    private void normal(final int count) {
        final Random random = new Random(3);
        for (int i = 0; i < count; i++) {
            errors.record(100 + 1000 * random.nextGaussian(), SPAN_NS, 1);
        }
    }

    @Test
    void shouldNarrowWithTheSpansThatAFlowHasMet() {
        normal(20_000);
        assertEquals(100, errors.meanNs(), 25);
        assertEquals(1000, errors.standardDeviationNs(), 20);
        assertEquals(1970, errors.quantile95Ns(), 50);
        assertEquals(errors.quantile95Ns(), errors.halfWidthNs(1, 0));
        assertEquals(errors.quantile95Ns(), errors.halfWidthNs(1, 100 * SPAN_NS));
        assertEquals(errors.quantile95Ns(), errors.halfWidthNs(1_000_000, SPAN_NS - 1));
        assertEquals(100 + 196, errors.halfWidthNs(1_000_000, 99 * SPAN_NS), 30);
    }

    @Test
    void shouldCountAnErrorAsOftenAsPacketsWereEstimatedThatWay() {
        for (int i = 0; i < 900; i++) {
            errors.record(10, SPAN_NS, 1);
        }
        for (int i = 0; i < 100; i++) {
            errors.record(1010, 10 * SPAN_NS, 91);
        }
        errors.rotate();
        final double weight = 900 + 9_100;
        assertEquals(1000, errors.count());
        assertEquals((900 * 10 + 9_100 * 1010) / weight, errors.meanNs(), 1e-9);
        assertEquals(1010, errors.quantile95Ns());
        // A flow of one average span of (900 + 91 000) / 10 000 = 9.19 ms has met one error and one more.
        assertEquals(errors.quantile95Ns(), errors.halfWidthNs(1_000, 9 * SPAN_NS));
    }

    @Test
    void shouldHaveNoBoundFromFewErrors() {
        normal((int)HeldOutErrors.LEAST_COUNT - 1);
        assertFalse(errors.hasBound());
        errors.record(0, SPAN_NS, 0);
        assertTrue(errors.hasBound());
        assertTrue(errors.quantile95Ns() > 0);
    }

    @Test
    void shouldForgetTheLastPeriodButOne() {
        normal(1000);
        errors.rotate();
        assertTrue(errors.hasBound());
        for (int i = 0; i < 1000; i++) {
            errors.record(5, SPAN_NS, 3);
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
