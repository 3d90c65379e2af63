package io.flowlag.common.hash;

/**
 * First places of keys in open-addressed tables, by a secret of this process, so that a peer that chooses keys cannot aim them at
 * one region. Two keys get the same place with a probability of at most 2 / length (multiply-shift, Dietzfelbinger et al., "A
 * Reliable Randomized Algorithm for the Closest-Pair Problem", 1997). A place never leaves the process, and no result depends on
 * it. Stateless, any thread; allocates never.
 */
public final class SecretPlace {
    private static final long FACTOR = Secrets.next() | 1;

    private SecretPlace() {
    }

    /**
     * The first place of a key.
     *
     * @param mask length of the table, a power of two, minus 1.
     * @return 0 to mask.
     */
    public static int of(final long key, final int mask) {
        return (int)(key * FACTOR >>> Long.numberOfLeadingZeros(mask)) & mask;
    }
}
