package io.flowlag.exporter.reference;

import org.junit.jupiter.api.Test;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertTrue;

class UnstampedReferencesTest {
    private final UnstampedReferences times = new UnstampedReferences();

    @Test
    void shouldFindTheReferenceOfAStamp() {
        times.onSent(500, 1_000, 2_000);
        times.onSent(501, 3_000, 4_000);

        assertTrue(times.find(0, 1_500, true));
        assertEquals(500, times.sequenceNumber());
        times.removeOldest();
        assertTrue(times.find(1, 3_000, true));
        assertEquals(501, times.sequenceNumber());
        assertEquals(3_000, times.callBeginNs());
        times.removeOldest();

        assertEquals(0, times.waitingCount());
        assertEquals(0, times.missingCount() + times.strangeCount());
    }

    @Test
    void shouldCountReferencesThatWereOvertaken() {
        for (int i = 0; i < 3; i++) {
            times.onSent(i, i * 1_000, i * 1_000 + 100);
        }
        assertTrue(times.find(2, 2_050, true));
        assertEquals(2, times.sequenceNumber());
        assertEquals(2, times.missingCount());
    }

    @Test
    void shouldRefuseAStampThatBelongsToAnotherPacket() {
        times.onSent(7, 1_000, 2_000);

        assertFalse(times.find(0, 999, true));
        assertFalse(times.find(0, 2_001, true));
        assertFalse(times.find(1, 1_500, true));
        assertFalse(times.find(-1, 1_500, true));
        assertEquals(4, times.strangeCount());
        assertTrue(times.find(0, 2_001, false), "behind the queue a stamp comes late");
    }

    @Test
    void shouldForgetTheOldestWhenFull() {
        for (int i = 0; i <= UnstampedReferences.CAPACITY; i++) {
            times.onSent(i, i, i);
        }
        assertEquals(UnstampedReferences.CAPACITY, times.waitingCount());
        assertEquals(1, times.missingCount());
        assertFalse(times.find(0, 0, true));
        assertTrue(times.find(1, 1, true));
    }

    @Test
    void shouldBeginAgain() {
        times.onSent(1, 1_000, 2_000);
        times.reset();
        assertEquals(1, times.missingCount());

        times.onSent(2, 5_000, 6_000);
        assertFalse(times.find(0, 1_500, true), "a stamp from before");
        assertTrue(times.find(0, 5_500, true));
        assertEquals(2, times.sequenceNumber());
    }
}
