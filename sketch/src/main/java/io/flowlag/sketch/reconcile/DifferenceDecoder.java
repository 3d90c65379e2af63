package io.flowlag.sketch.reconcile;

import java.util.function.IntPredicate;

/**
 * Lists the difference of two RDA (RDA paper, Algorithm 1). It subtracts them cell by cell, which cancels common packets, then
 * peels. A cell that holds one item names it; the item is removed from the other banks, whose cells may then hold one. The result
 * does not depend on the order of peeling.
 *
 * <p>One thread at a time. Takes 20 octets for each cell of its capacity, and 24 for each listed item, at construction;
 * allocates nothing later. O(cells + items · banks).
 */
public final class DifferenceDecoder {
    /** Peeling lists an item a cell at most; guesses can list more. */
    private static final int ITEMS_PER_CELL = 2;
    /** Passes over a cache: a difference of 100 000 took 6 or fewer, and the limit bounds the work on hostile cells. */
    private static final int MAX_ROUNDS = 8;

    private final PureTest pureTest;
    private final int capacity;
    private final BankHashes hashes;
    private final PacketGroup groups;
    private final long[] identifiers;
    private final int[] counts;
    private final int[] checks;
    private final int[] pureCells;
    private int banks;
    private int cells;
    private int pureCount;
    private boolean missed;

    /**
     * A decoder with the safe test of pure cells.
     *
     * @param capacity most cells of a difference, over all banks.
     * @param seed     that both measurement points share.
     */
    public DifferenceDecoder(final int capacity, final long seed) {
        this(capacity, seed, PureTest.CELL_INDEX_AND_CHECK);
    }

    /**
     * A decoder.
     *
     * @param capacity most cells of a difference, over all banks.
     * @param seed     that both measurement points share.
     * @param pureTest what makes a cell pure.
     */
    public DifferenceDecoder(final int capacity, final long seed, final PureTest pureTest) {
        if (capacity < 1) {
            throw new IllegalArgumentException("capacity=" + capacity + " is less than 1");
        }
        this.pureTest = pureTest;
        this.capacity = capacity;
        hashes = new BankHashes(SynopsisFamily.RDA.maxBanks(), seed);
        groups = new PacketGroup(seed);
        identifiers = new long[capacity];
        counts = new int[capacity];
        checks = new int[capacity];
        pureCells = new int[capacity];
    }

    /** Makes a list that holds any difference that this decoder can decode. Returns an empty list. */
    public PacketDifference newDifference() {
        return new PacketDifference(ITEMS_PER_CELL * capacity);
    }

    /**
     * Decodes.
     *
     * @param sender image of the sender, of family RDA.
     * @param result is filled if the two are paired, else emptied.
     * @return {@link SynopsisPairing#PAIRED}, or why the pair is refused.
     */
    public SynopsisPairing decode(
        final SynopsisImage sender, final SynopsisImage receiver, final PacketDifference result) {
        final SynopsisPairing pairing = subtract(sender, receiver, result);
        if (pairing == SynopsisPairing.PAIRED) {
            peel(result);
        }
        return pairing;
    }

    /**
     * Decodes two images of a part of the packets when some of the difference is known. Known items are listed first and removed
     * from the cells; the remainder is peeled.
     *
     * @param sender   image of the sender, of family RDA.
     * @param known    list of a difference; another than the result.
     * @param isOfPart whether the item of an index in that list is in the images.
     * @param result   is filled if the two are paired, else emptied.
     * @return {@link SynopsisPairing#PAIRED}, or why the pair is refused.
     */
    public SynopsisPairing decode(
        final SynopsisImage sender, final SynopsisImage receiver, final PacketDifference known, final IntPredicate isOfPart,
        final PacketDifference result) {
        final SynopsisPairing pairing = subtract(sender, receiver, result);
        if (pairing == SynopsisPairing.PAIRED) {
            pureCount = 0;
            for (int item = 0; item < known.size && result.size < result.identifiers.length; item++) {
                if (isOfPart.test(item)) {
                    takeOut(groups.identifier(known.identifiers[item], known.copies(item)), known.signedCopies[item]);
                    result.add(known.identifiers[item], known.signedCopies[item]);
                }
            }
            peel(result);
        }
        return pairing;
    }

    private SynopsisPairing subtract(
        final SynopsisImage sender, final SynopsisImage receiver, final PacketDifference result) {
        result.clear();
        final SynopsisPairing pairing = SynopsisPairing.check(SynopsisFamily.RDA, sender, receiver);
        if (pairing != SynopsisPairing.PAIRED) {
            return pairing;
        }
        final int totalCells = sender.totalCells();
        if (totalCells > capacity || totalCells > result.identifiers.length) {
            return SynopsisPairing.TOO_LARGE;
        }
        begin(sender.banks(), sender.cells());
        for (int cell = 0; cell < totalCells; cell++) {
            identifiers[cell] = sender.identifier(cell) ^ receiver.identifier(cell);
            counts[cell] = (int)(receiver.count(cell) - sender.count(cell));
            checks[cell] = receiver.check(cell) - sender.check(cell);
        }
        return pairing;
    }

    /** Begins a difference whose cells are {@link #set} one by one, to be {@link #peel}ed then. */
    public void begin(final int bankCount, final int cellCount) {
        banks = bankCount;
        cells = cellCount;
    }

    /** Sets a cell's surplus at the receiver; the identifiers are those of both. */
    public void set(final int cell, final long identifier, final int count, final int check) {
        identifiers[cell] = identifier;
        counts[cell] = count;
        checks[cell] = check;
    }

    /** Whether a cell is equal at both points after decoded items are removed. */
    boolean clean(final int cell) {
        return counts[cell] == 0 && identifiers[cell] == 0 && checks[cell] == 0;
    }

    /** Adds to a list what the cells hold. */
    public void peel(final PacketDifference result) {
        final int totalCells = banks * cells;
        final int mostItems = Math.min(result.size + totalCells, result.identifiers.length);
        do {
            findPureCells(totalCells);
            drainPureCells(mostItems, result);
        } while (missed && result.size < mostItems);
        countUndecoded(result);
    }

    /**
     * Continues after {@link #decode} with the packets of one point. If a cell holds two items and one is a packet of this
     * point, removing it leaves a pure cell. So each packet whose cells differ in all banks is removed on trial. This needs the
     * check of {@link PureTest#CELL_INDEX_AND_CHECK}: it is wrong once in m times 2^32 trials. It repeats passes over the cache
     * until one finds nothing, at most 8, O(slots · banks) each.
     *
     * @param cache      packets of one point, of flows that the images are of.
     * @param fromSender whether it is the sender's, so that what is found is lost; the receiver's is reordered.
     * @param classIndex of the images, or {@link PacketCache#ANY_CLASS}.
     * @param result     of the last {@link #decode}, to be added to.
     */
    public void decodeFurther(
        final PacketCache cache, final boolean fromSender, final int classIndex, final PacketDifference result) {
        if (pureTest == PureTest.CELL_INDEX) {
            throw new IllegalStateException("pureTest=" + pureTest + " is too weak for guesses");
        }
        int before = -1;
        for (int round = 0; round < MAX_ROUNDS && result.size > before && !result.complete(); round++) {
            before = result.size;
            for (int slot = 0; slot < cache.slots() && result.size < result.identifiers.length; slot++) {
                if (cache.countableOfClass(slot, classIndex)) {
                    tryPacket(cache.identifier(slot), cache.copies(slot), fromSender ? -1 : 1, result);
                }
            }
            countUndecoded(result);
        }
    }

    private void tryPacket(final long identifier, final int copies, final int sign, final PacketDifference result) {
        final long group = groups.identifier(identifier, copies);
        boolean tells = false;
        for (int bank = 0, firstCell = 0; bank < banks; bank++, firstCell += cells) {
            final long mixed = hashes.mixed(bank, group);
            final int cell = firstCell + BankHashes.cell(mixed, cells);
            if (clean(cell)) {
                return;
            }
            tells |= pure(
                cell, identifiers[cell] ^ group, counts[cell] - sign * copies, checks[cell] - sign * BankHashes.check(mixed));
        }
        if (tells) {
            pureCount = 0;
            missed = false;
            takeOut(group, sign * copies);
            result.add(identifier, sign * copies);
            drainPureCells(result.identifiers.length, result);
        }
    }

    private void countUndecoded(final PacketDifference result) {
        result.undecodedCells = 0;
        for (int cell = 0; cell < banks * cells; cell++) {
            result.undecodedCells += clean(cell) ? 0 : 1;
        }
    }

    private void findPureCells(final int totalCells) {
        pureCount = 0;
        missed = false;
        for (int cell = 0; cell < totalCells; cell++) {
            if (pure(cell)) {
                pureCells[pureCount++] = cell;
            }
        }
    }

    /** Peels pure cells. Each item has a cell of its own, so only false or hostile cells can exceed the limit. */
    private void drainPureCells(final int mostItems, final PacketDifference result) {
        while (pureCount > 0 && result.size < mostItems) {
            final int cell = pureCells[--pureCount];
            if (pure(cell)) {
                final int copies = counts[cell];
                final long group = identifiers[cell];
                takeOut(group, copies);
                result.add(groups.identifier(group, Math.abs(copies)), copies);
            }
        }
    }

    private void takeOut(final long group, final int copies) {
        for (int bank = 0, firstCell = 0; bank < banks; bank++, firstCell += cells) {
            final long mixed = hashes.mixed(bank, group);
            final int cell = firstCell + BankHashes.cell(mixed, cells);
            identifiers[cell] ^= group;
            counts[cell] -= copies;
            checks[cell] -= copies > 0 ? BankHashes.check(mixed) : -BankHashes.check(mixed);
            if (pure(cell)) {
                note(cell);
            }
        }
    }

    /** Notes a cell. A cell can be noted twice, so the notes can overflow; then all cells are searched again. */
    private void note(final int cell) {
        if (pureCount < capacity) {
            pureCells[pureCount++] = cell;
        } else {
            missed = true;
        }
    }

    private boolean pure(final int cell) {
        return counts[cell] != 0 && pure(cell, identifiers[cell], counts[cell], checks[cell]);
    }

    private boolean pure(final int cell, final long identifier, final int count, final int check) {
        if (count == 0) {
            return false;
        }
        final int bank = cell / cells;
        final long mixed = hashes.mixed(bank, identifier);
        if (BankHashes.cell(mixed, cells) != cell - bank * cells) {
            return false;
        }
        return pureTest == PureTest.CELL_INDEX ?
            Math.abs(count) == 1 : check == (count > 0 ? BankHashes.check(mixed) : -BankHashes.check(mixed));
    }
}
