package io.flowlag.common.hash;

import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

import java.util.SplittableRandom;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

class SecretPlaceTest {
    private static final int KEYS = 4096;
    private static final int MASK = 2 * KEYS - 1;

    /** Keys that differ in one part of their bits only. */
    @ParameterizedTest
    @CsvSource({"ffffffff, 0", "ffffffff, 32", "ffff, 48", "ffff, 24", "ffffffffffff, 0"})
    void shouldSpreadKeysHoweverTheyAreChosen(final String bits, final int shift) {
        final SplittableRandom random = new SplittableRandom(1);
        final boolean[] isTaken = new boolean[MASK + 1];
        int taken = 0;
        for (int i = 0; i < KEYS; i++) {
            final long key = (random.nextLong() & Long.parseLong(bits, 16)) << shift ^ 0x1234_5678_9abc_def0L;
            final int place = SecretPlace.of(key, MASK);
            assertEquals(place, SecretPlace.of(key, MASK));
            taken += isTaken[place] ? 0 : 1;
            isTaken[place] = true;
        }
        assertTrue(taken > KEYS / 4, taken + " places");
    }

    @ParameterizedTest
    @CsvSource({"0", "1", "3", "1073741823", "2147483647"})
    void shouldStayWithinTheTable(final int mask) {
        final SplittableRandom random = new SplittableRandom(2);
        for (int i = 0; i < KEYS; i++) {
            final int place = SecretPlace.of(random.nextLong(), mask);
            assertTrue(place >= 0 && place <= mask, place + " of " + mask);
        }
    }
}
