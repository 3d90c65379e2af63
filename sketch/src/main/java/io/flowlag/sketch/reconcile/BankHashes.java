package io.flowlag.sketch.reconcile;

import io.flowlag.common.hash.KeyedMix;

/**
 * Each bank's own hash of an identifier: its high half chooses the cell, its low half is what the identifier adds to the cell's
 * check. Immutable, any thread; allocates at construction.
 */
public final class BankHashes {
    private final long[] seeds;

    /** The hashes of so many banks, from the seed that both measurement points share. */
    public BankHashes(final int banks, final long seed) {
        seeds = new long[banks];
        for (int bank = 0; bank < banks; bank++) {
            seeds[bank] = KeyedMix.derivedSeed(seed, SeedIndex.BANK + bank);
        }
    }

    /** {@return a bank's hash of an identifier} */
    public long mixed(final int bank, final long identifier) {
        return KeyedMix.mix(identifier, seeds[bank]);
    }

    /** {@return the cell that a hash chooses} */
    public static int cell(final long mixed, final int cells) {
        return KeyedMix.reduceHigh(mixed, cells);
    }

    /** {@return what a hash adds to its cell's check} */
    public static int check(final long mixed) {
        return (int)mixed;
    }
}
