package io.flowlag.exporter.delay.interval;

import java.lang.reflect.Field;
import java.util.SplittableRandom;
import java.util.function.IntPredicate;

import static org.junit.jupiter.api.Assertions.assertTrue;

/** Taken places of an open-addressed table, which a test reads where they are, and keys aimed at one of them. */
public final class TakenPlaces {
    /** How many keys are aimed. */
    public static final int KEYS = 4096;
    /** A table that is half full and has places at random has no run of this length. */
    private static final int MOST_PROBES = 256;

    private TakenPlaces() {
    }

    /** Different keys with equal upper halves, which a sender with the digest key can find. */
    public static long[] aimedKeys() {
        return new SplittableRandom(22).longs().map((key) -> key & 0xffff_ffffL | 0x5_0000_0000L).distinct().limit(KEYS)
            .toArray();
    }

    /** Reads a private field. */
    public static <T> T field(final Object table, final String name, final Class<T> type) {
        try {
            final Field field = table.getClass().getDeclaredField(name);
            field.setAccessible(true);
            return type.cast(field.get(table));
        } catch (final ReflectiveOperationException ex) {
            throw new IllegalStateException(ex);
        }
    }

    /** Checks that no search takes many probes: it ends at a free place, so no run of taken ones is long. */
    public static void assertFewProbes(final int length, final IntPredicate isTaken) {
        int run = 0;
        int longest = 0;
        int taken = 0;
        for (int i = 0; i < 2 * length; i++) {
            run = isTaken.test(i % length) ? run + 1 : 0;
            longest = Math.max(longest, run);
            taken += i < length && run > 0 ? 1 : 0;
        }
        assertTrue(taken == KEYS && longest < MOST_PROBES, taken + " places taken, " + longest + " in a row");
    }
}
