package io.flowlag.exporter.delay.interval.compare;

import io.flowlag.exporter.delay.interval.TakenPlaces;
import org.junit.jupiter.api.Test;

import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertTrue;

class DigestSetTest {
    @Test
    void shouldFindAimedDigestsWithFewProbes() {
        final DigestSet set = new DigestSet(TakenPlaces.KEYS);
        final long[] digests = TakenPlaces.aimedKeys();
        for (final long each : digests) {
            set.add(each);
        }
        final int[] counts = TakenPlaces.field(set, "counts", int[].class);
        TakenPlaces.assertFewProbes(counts.length, (place) -> counts[place] != 0);
        for (final long each : digests) {
            assertTrue(set.take(each));
            assertFalse(set.take(each));
        }
    }

    @Test
    void shouldHoldNothingWithoutRoom() {
        assertFalse(new DigestSet(0).take(7));
    }
}
