package io.flowlag.exporter.exchange.link;

import org.junit.jupiter.api.Test;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertTrue;

/** A host that connects without end fills no log. */
class LineLimitTest {
    private static final long MS = 1_000_000;

    @Test
    void shouldTellAFewInAWhileAndCountTheOthers() {
        final LineLimit limit = new LineLimit(2);
        final long startNs = Long.MAX_VALUE - 1000 * MS;
        int told = 0;
        for (int i = 0; i < 100; i++) {
            told += limit.mayTell(startNs + i * MS) ? 1 : 0;
        }
        assertEquals(2, told);
        assertFalse(limit.mayTell(startNs + 4999 * MS));
        assertTrue(limit.mayTell(startNs + 5000 * MS));
        assertEquals("; 99 more since the last such line", limit.takeUntold());
        assertTrue(limit.mayTell(startNs + 5001 * MS));
        assertEquals("", limit.takeUntold());
        assertFalse(limit.mayTell(startNs + 5002 * MS));
    }
}
