package io.flowlag.exporter.delay;

import org.junit.jupiter.api.Test;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertTrue;

/** Which of two means a record has, by hand-made errors of 60 witnesses: the fewest that teach. */
class RecordCheckTest {
    private static final int INTERVALS = 20;
    private static final long PACKETS = 50 * INTERVALS;
    private static final double BOUND_NS = 100;
    private final RecordCheck check = new RecordCheck();

    @Test
    void shouldKeepFirstMeanAndItsBoundWithFewWitnesses() {
        for (int i = 1; i < 60; i++) {
            check.add(PACKETS, INTERVALS, 10 * i, i, BOUND_NS);
        }

        assertFalse(check.isOther(PACKETS, INTERVALS));
        assertEquals(1, check.factor(PACKETS, INTERVALS));
    }

    /** Of 60 errors, only the largest is above 95 % of all with a confidence of 90 %. */
    @Test
    void shouldTakeNearerMeanWithItsFactorForItsSizeAndIntervals() {
        for (int i = 1; i <= 60; i++) {
            check.add(PACKETS, INTERVALS, 10 * i, 5 * i, BOUND_NS);
        }

        assertTrue(check.isOther(PACKETS, INTERVALS));
        assertEquals(3, check.factor(PACKETS, INTERVALS), 1e-6);
        assertFalse(check.isOther(10 * PACKETS, INTERVALS), "another size");
        assertFalse(check.isOther(50, 1), "one interval");
        assertEquals(1, check.factor(50, 1), "one interval");
    }

    /** The other mean errs a tenth as much, except for three witnesses: its bound would be 100 times as wide. */
    @Test
    void shouldLeaveMeanWithWideBound() {
        for (int i = 1; i <= 60; i++) {
            check.add(PACKETS, INTERVALS, BOUND_NS, i <= 3 ? 100 * BOUND_NS : BOUND_NS / 10, BOUND_NS);
        }

        assertFalse(check.isOther(PACKETS, INTERVALS));
        assertEquals(1, check.factor(PACKETS, INTERVALS), 1e-6);
    }
}
