package io.flowlag.common.hash;

import net.jqwik.api.Assume;
import net.jqwik.api.ForAll;
import net.jqwik.api.Property;
import net.jqwik.api.constraints.IntRange;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

import java.util.SplittableRandom;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertNotEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

class KeyedMixTest {
    /** Multiplicative inverses modulo 2^64 of the mixer's two multipliers. */
    private static final long FIRST_INVERSE = inverse(0xbf58476d1ce4e5b9L);
    private static final long SECOND_INVERSE = inverse(0x94d049bb133111ebL);

    @ParameterizedTest
    @CsvSource({
        "0000000000000000, 0000000000000000, 0000000000000000",
        "9e3779b97f4a7c15, 0000000000000000, e220a8397b1dcdaf",
        "3c6ef372fe94f82a, 0000000000000000, 6e789e6aa1b965f4",
        "daa66d2c7ddf743f, 0000000000000000, 06c45d188009454f",
        "0000000000000000, 0000000000000001, 117caa59cd6cb54d",
        "0000000000000001, 0000000000000000, 5692161d100b05e5",
        "0000000000000001, 0000000000000001, ad3a494c3c56affa",
        "0123456789abcdef, fedcba9876543210, b72aad844dad6967",
        "ffffffffffffffff, ffffffffffffffff, 99ddc2a133bb8540",
        "ffffffffffffffff, 0000000000000000, b4d055fcf2cbbd7b",
        "00000000deadbeef, 0f1e2d3c4b5a6978, 21c2f1730cc3795a"
    })
    void shouldMixAsPublished(final String value, final String seed, final String mixed) {
        assertEquals(mixed, "%016x".formatted(KeyedMix.mix(hex(value), hex(seed))));
    }

    @Test
    void shouldBeTheJdksSplitMixUnderSeedZero() {
        final SplittableRandom random = new SplittableRandom(0);

        for (int index = 0; index < 1_000; index++) {
            assertEquals(random.nextLong(), KeyedMix.derivedSeed(0, index));
        }
    }

    @Property
    void shouldBeInvertibleUnderEverySeed(@ForAll final long value, @ForAll final long seed) {
        assertEquals(value, unmix(KeyedMix.mix(value, seed), seed));
    }

    @Property
    void shouldReduceIntoTheBound(@ForAll final long mixed, @ForAll @IntRange(min = 1) final int bound) {
        final int high = KeyedMix.reduceHigh(mixed, bound);
        final int low = KeyedMix.reduceLow(mixed, bound);

        assertTrue(0 <= high && high < bound && 0 <= low && low < bound);
    }

    @Test
    void shouldReduceTheLargestValueToTheLargestIndex() {
        assertEquals(Integer.MAX_VALUE - 1, KeyedMix.reduceHigh(-1, Integer.MAX_VALUE));
        assertEquals(6, KeyedMix.reduceLow(-1, 7));
    }

    @Property
    void shouldTellSeedsApartByDerivedSeeds(@ForAll final long seed, @ForAll @IntRange(min = 0, max = 31) final int index) {
        assertNotEquals(KeyedMix.derivedSeed(seed, index), KeyedMix.derivedSeed(seed, index + 1));
        assertNotEquals(KeyedMix.derivedSeed(seed, index), KeyedMix.derivedSeed(seed + 1, index));
    }

    @Property
    void shouldTellIntervalsApart(@ForAll final long seed, @ForAll final long number) {
        Assume.that(seed != 0);
        assertNotEquals(KeyedMix.intervalSeed(seed, number), KeyedMix.intervalSeed(seed, number + 1));
        assertEquals(KeyedMix.mix(number, KeyedMix.derivedSeed(seed, -5)), KeyedMix.intervalSeed(seed, number));
        assertEquals(0, KeyedMix.intervalSeed(0, number));
    }

    @Test
    void shouldFlipHalfTheBitsWhenOneBitOfValueOrSeedFlips() {
        final SplittableRandom random = new SplittableRandom(1);
        final int samples = 2_000;
        for (int bit = 0; bit < Long.SIZE; bit++) {
            long valueFlips = 0;
            long seedFlips = 0;
            for (int sample = 0; sample < samples; sample++) {
                final long value = random.nextLong();
                final long seed = random.nextLong();
                final long mixed = KeyedMix.mix(value, seed);
                valueFlips += Long.bitCount(mixed ^ KeyedMix.mix(value ^ 1L << bit, seed));
                seedFlips += Long.bitCount(mixed ^ KeyedMix.mix(value, seed ^ 1L << bit));
            }
            assertEquals(32, valueFlips / (double)samples, 1.0, "value bit " + bit);
            assertEquals(32, seedFlips / (double)samples, 1.0, "seed bit " + bit);
        }
    }

    private static long unmix(final long mixed, final long seed) {
        long x = mixed ^ (mixed >>> 31) ^ (mixed >>> 62);
        x *= SECOND_INVERSE;
        x ^= (x >>> 27) ^ (x >>> 54);
        x -= Long.rotateLeft(seed, 32);
        x *= FIRST_INVERSE;
        x ^= (x >>> 30) ^ (x >>> 60);
        return x ^ seed;
    }

    private static long inverse(final long odd) {
        long x = odd;
        for (int step = 0; step < 6; step++) {
            x *= 2 - odd * x;
        }
        return x;
    }

    private static long hex(final String text) {
        return Long.parseUnsignedLong(text, 16);
    }
}
