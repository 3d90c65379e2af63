package io.flowlag.common.hash;

/**
 * A keyed mixer of 64-bit integers: spreads values that are hashes already over cells, rows, and samples, independently for each
 * seed. For one seed it is a bijection, so different values stay different. With seed 0 it is the output function of SplitMix64.
 * Not attack-resistant; the keyed hash that goes in provides that. Test vectors are in {@code docs/sketch.md}. Stateless, any
 * thread; allocates never.
 */
public final class KeyedMix {
    private static final long FIRST_MULTIPLIER = 0xbf58476d1ce4e5b9L;
    private static final long SECOND_MULTIPLIER = 0x94d049bb133111ebL;
    private static final long GOLDEN_RATIO = 0x9e3779b97f4a7c15L;

    private KeyedMix() {
    }

    /** Mixes a value under a seed. Returns 64 bits, each of which depends on every bit of value and seed. */
    public static long mix(final long value, final long seed) {
        long x = value ^ seed;
        x = (x ^ (x >>> 30)) * FIRST_MULTIPLIER;
        x += Long.rotateLeft(seed, 32);
        x = (x ^ (x >>> 27)) * SECOND_MULTIPLIER;
        return x ^ (x >>> 31);
    }

    /**
     * The seed of one of several functions that come from one seed.
     *
     * @param seed that both measurement points share.
     * @return the function's seed.
     */
    public static long derivedSeed(final long seed, final int index) {
        return mix((index + 1L) * GOLDEN_RATIO, seed);
    }

    /**
     * The seed of one interval's cells. Another one each interval puts a flow into cells with other flows, so that their part in
     * its errors averages out.
     *
     * @param seed that both measurement points share; 0 is the seed of every interval.
     */
    public static long intervalSeed(final long seed, final long intervalNumber) {
        return seed == 0 ? 0 : mix(intervalNumber, derivedSeed(seed, -5));
    }

    /** A fingerprint that distinguishes seeds of two points without revealing them: 32 bits that no sketch uses. */
    public static int fingerprint(final long seed) {
        return (int)(derivedSeed(seed, -2) >>> 32);
    }

    /**
     * Maps the high half of a mixed value to [0, bound) by multiplication.
     *
     * @param mixed result of {@link #mix}.
     * @param bound exclusive, at least 1.
     */
    public static int reduceHigh(final long mixed, final int bound) {
        return (int)((mixed >>> 32) * bound >>> 32);
    }

    /**
     * Maps the low half of a mixed value to [0, bound) by multiplication; independent of {@link #reduceHigh}.
     *
     * @param mixed result of {@link #mix}.
     * @param bound exclusive, at least 1.
     */
    public static int reduceLow(final long mixed, final int bound) {
        return (int)((mixed & 0xffff_ffffL) * bound >>> 32);
    }
}
