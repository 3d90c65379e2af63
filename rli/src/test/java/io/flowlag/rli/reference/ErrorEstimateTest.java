package io.flowlag.rli.reference;

import net.jqwik.api.ForAll;
import net.jqwik.api.Property;
import net.jqwik.api.constraints.LongRange;
import org.junit.jupiter.api.Test;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertTrue;

class ErrorEstimateTest {
    @Property
    void shouldNeverBeBelowTheErrorAndHardlyAbove(
        @ForAll @LongRange(min = 0, max = 2_000_000_000_000_000_000L) final long errorNs) {
        final int estimate = ErrorEstimate.of(errorNs, true);

        assertTrue(ErrorEstimate.errorNs(estimate) >= errorNs);
        assertTrue(ErrorEstimate.errorNs(estimate) <= errorNs + errorNs / 100 + 2);
        assertTrue(ErrorEstimate.isSynchronized(estimate));
        assertFalse(ErrorEstimate.isPtp(estimate));
        assertTrue((estimate & 0xFF) > 0, "RFC 4656: the multiplier is not 0");
    }

    @Test
    void shouldBeMultiplierTimesTwoToTheScale() {
        final int oneSecond = 1 << 15 | 25 << 8 | 128;

        assertEquals(oneSecond, ErrorEstimate.of(1_000_000_000L, true));
        assertEquals(1_000_000_000L, ErrorEstimate.errorNs(oneSecond));
        assertEquals(Long.MAX_VALUE, ErrorEstimate.errorNs(0x3FFF));
        assertTrue(ErrorEstimate.isPtp(1 << 14));
        assertFalse(ErrorEstimate.isSynchronized(ErrorEstimate.of(0, false)));
    }
}
