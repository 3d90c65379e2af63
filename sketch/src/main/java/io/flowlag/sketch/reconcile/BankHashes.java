package io.flowlag.sketch.reconcile;

import io.flowlag.common.hash.KeyedMix;

/**
 * Each bank's own hash of an identifier: its high half chooses the cell, its low half is what the identifier adds to the cell's
 * check. Immutable, any thread; allocates at construction.
 */
final class BankHashes {
    private final long[] seeds;

    BankHashes(final int banks, final long seed, final int firstIndex) {
        seeds = new long[banks];
        for (int bank = 0; bank < banks; bank++) {
            seeds[bank] = KeyedMix.derivedSeed(seed, firstIndex + bank);
        }
    }

    long mixed(final int bank, final long identifier) {
        return KeyedMix.mix(identifier, seeds[bank]);
    }

    static int cell(final long mixed, final int cells) {
        return KeyedMix.reduceHigh(mixed, cells);
    }

    static int check(final long mixed) {
        return (int)mixed;
    }
}
