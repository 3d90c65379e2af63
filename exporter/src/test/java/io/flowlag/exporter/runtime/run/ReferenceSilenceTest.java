package io.flowlag.exporter.runtime.run;

import org.junit.jupiter.api.Test;

import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertTrue;

class ReferenceSilenceTest {

    private static final long PATIENCE_NS = 1_000;

    private final ReferenceSilence silence = new ReferenceSilence(PATIENCE_NS);

    @Test
    void referencesThatMayStillBeInTheQueueAreNotMissed() {
        assertFalse(silence.isToTell(50, 0, 0));
        assertFalse(silence.isToTell(60, 0, PATIENCE_NS - 1));
        assertFalse(silence.isToTell(70, 1, PATIENCE_NS));
    }

    @Test
    void referencesThatNeverComeAreToldOnce() {
        assertFalse(silence.isToTell(49, 0, 0));
        assertFalse(silence.isToTell(50, 0, PATIENCE_NS));
        assertTrue(silence.isToTell(50, 0, 2 * PATIENCE_NS));
        assertFalse(silence.isToTell(50, 0, 3 * PATIENCE_NS));
    }
}
