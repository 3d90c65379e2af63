package io.flowlag.exporter.delay;

import io.flowlag.common.config.Prefix;

import java.util.List;

/**
 * Class of an address by its longest prefix of a list, all of one IP version: binary search on lengths (Waldvogel, Varghese,
 * Turner, Plattner, "Scalable high speed IP routing lookups", SIGCOMM 1997). Markers in a hash table tell whether there are
 * longer prefixes.
 * <p>
 * With L different lengths above 0 a search takes at most ⌈log2(L + 1)⌉ probes: 6 of IPv4, 8 of IPv6. A probe reads at most
 * {@value #MAX_PROBE_SLOTS} adjacent slots, so no choice of addresses makes a search long. With p prefixes above length 0 the
 * table takes at most 256 p ⌈log2(L + 1)⌉ octets, at least 256. Immutable. Allocates at construction.
 */
final class PrefixClasses {
    static final int MAX_PROBE_SLOTS = 16;

    private static final int LEAST_SLOTS = 8;
    private static final int SLOTS_PER_ENTRY = 4;
    /** A slot: the level above 0 with the class, the address, and an unused word, so that no slot crosses a cache line. */
    private static final int SLOT_WORDS = 4;
    private static final int HIGH = 1;
    private static final int LOW = 2;
    private static final long MULTIPLIER_1 = 0x9E37_79B9_7F4A_7C15L;
    private static final long MULTIPLIER_2 = 0xC2B2_AE3D_27D4_EB4FL;

    private final int root;
    private final long[] highMasks;
    private final long[] lowMasks;
    private final int shift;
    private long[] slots;
    private long seed;

    /**
     * Classes of prefixes.
     *
     * @param prefixes in order, the one of length 0 first; see {@link Prefixes}.
     * @param classes  of the prefixes, 0 or more.
     */
    PrefixClasses(final Prefixes prefixes, final int[] classes) {
        root = classes[0];
        final List<Prefix> levels = prefixes.oneOfEachLength();
        highMasks = levels.stream().mapToLong(Prefix::highMask).toArray();
        lowMasks = levels.stream().mapToLong(Prefix::lowMask).toArray();
        final int probes = Integer.SIZE - Integer.numberOfLeadingZeros(levels.size());
        final int room = Math.max(LEAST_SLOTS, (prefixes.count() - 1) * probes * SLOTS_PER_ENTRY);
        final int bits = Integer.SIZE - Integer.numberOfLeadingZeros(room - 1);
        shift = Long.SIZE - bits;
        do {
            seed++;
            slots = new long[SLOT_WORDS << bits];
        } while (!isFilled(prefixes, levels, classes));
    }

    /** {@return whether each prefix and marker has a slot, and a search ends soon} */
    private boolean isFilled(final Prefixes prefixes, final List<Prefix> levels, final int[] classes) {
        for (int i = 1; i < prefixes.count(); i++) {
            final Prefix prefix = prefixes.get(i);
            int least = 0;
            int most = levels.size() - 1;
            while (least <= most) {
                final int level = least + most >>> 1;
                final int lengthBits = levels.get(level).lengthBits();
                if (lengthBits <= prefix.lengthBits()) {
                    final int slot = slot(level, prefix.high() & highMasks[level], prefix.low() & lowMasks[level]);
                    slots[slot] = (long)(level + 1) << Integer.SIZE | classes[prefixes.ancestor(i, lengthBits)];
                    slots[slot + HIGH] = prefix.high() & highMasks[level];
                    slots[slot + LOW] = prefix.low() & lowMasks[level];
                    least = level + 1;
                } else {
                    most = level - 1;
                }
            }
        }
        return longestRun() < MAX_PROBE_SLOTS;
    }

    private int longestRun() {
        int longest = 0;
        int run = 0;
        for (int slot = 0; slot < 2 * slots.length && longest < MAX_PROBE_SLOTS; slot += SLOT_WORDS) {
            run = slots[slot & slots.length - 1] == 0 ? 0 : run + 1;
            longest = Math.max(longest, run);
        }
        return longest;
    }

    /** The class of an address, of which the first eight octets are 0 for IPv4. */
    int of(final long high, final long low) {
        int found = root;
        int least = 0;
        int most = lowMasks.length - 1;
        while (least <= most) {
            final int level = least + most >>> 1;
            final long entry = slots[slot(level, high & highMasks[level], low & lowMasks[level])];
            if (entry == 0) {
                most = level - 1;
            } else {
                found = (int)entry;
                least = level + 1;
            }
        }
        return found;
    }

    /** {@return octets of the table} */
    long memoryBytes() {
        return (long)slots.length * Long.BYTES;
    }

    /** The slot of a prefix, or the free one where it is absent. */
    private int slot(final int level, final long high, final long low) {
        final long mixed = ((high ^ seed) * MULTIPLIER_1 ^ low) * MULTIPLIER_2;
        int slot = (int)((mixed ^ mixed >>> Integer.SIZE ^ level) * MULTIPLIER_1 >>> shift) * SLOT_WORDS;
        while (slots[slot] != 0 &&
            !(slots[slot] >>> Integer.SIZE == level + 1 && slots[slot + LOW] == low && slots[slot + HIGH] == high)) {
            slot = slot + SLOT_WORDS & slots.length - 1;
        }
        return slot;
    }
}
