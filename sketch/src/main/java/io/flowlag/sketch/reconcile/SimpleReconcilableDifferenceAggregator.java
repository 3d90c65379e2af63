package io.flowlag.sketch.reconcile;

import io.flowlag.common.hash.KeyedMix;

/**
 * Simple RDA (RDA paper, section IV), one measurement point's side of it: one array of cells, each packet in up to k of them,
 * each cell with a hash of its identifiers. It is here to be compared with: a packet may lie in two cells that are collapsed with
 * opposite signs, which takes it out of the standard deviation (the paper's flaw), and a cell is a third longer than RDA's.
 *
 * <p>One thread at a time. It owns {@link SynopsisGeometry#memoryBytes} octets off the heap. Allocates at construction; never on
 * update.
 */
public final class SimpleReconcilableDifferenceAggregator extends Synopsis {
    private final BankHashes hashes;
    private final long hashSeed;
    private final int hashFunctions;
    private final int cells;

    /**
     * An empty aggregator.
     *
     * @param geometry of family SRDA.
     * @param seed     that both measurement points share.
     */
    public SimpleReconcilableDifferenceAggregator(final SynopsisGeometry geometry, final long seed) {
        super(SynopsisFamily.SRDA, geometry, seed);
        hashFunctions = geometry.banks();
        hashes = new BankHashes(hashFunctions, seed, SeedIndex.BANK);
        hashSeed = hashSeed(seed);
        cells = geometry.cells();
    }

    /**
     * Adds a packet.
     *
     * @param identifier  of the packet: its digest.
     * @param timestampNs relative to the interval's start; it may lie outside the interval.
     */
    public void update(final long identifier, final long timestampNs) {
        countPackets(1);
        for (int choice = 0; choice < hashFunctions; choice++) {
            final int cell = cell(hashes, choice, identifier, cells);
            if (cell >= 0) {
                addToCell(cell, identifier, timestampNs);
            }
        }
    }

    static long hashSeed(final long seed) {
        return KeyedMix.derivedSeed(seed, SeedIndex.SIMPLE_HASH);
    }

    /** The cell that one hash function chooses; -1 if one before it chose the same. */
    static int cell(final BankHashes hashes, final int choice, final long identifier, final int cells) {
        final int cell = BankHashes.cell(hashes.mixed(choice, identifier), cells);
        for (int earlier = 0; earlier < choice; earlier++) {
            if (cell == BankHashes.cell(hashes.mixed(earlier, identifier), cells)) {
                return -1;
            }
        }
        return cell;
    }

    /** Package-private so that a test can lay packets where the paper's figures have them. */
    void addToCell(final int cell, final long identifier, final long timestampNs) {
        final int offset = cellOffset(cell);
        xorLong(offset + SynopsisDescriptor.CELL_IDENTIFIER_OFFSET, identifier);
        addLong(offset + SynopsisDescriptor.CELL_TIMESTAMP_SUM_OFFSET, timestampNs);
        addLong(offset + SynopsisDescriptor.CELL_COUNT_OFFSET, 1);
        xorLong(offset + SynopsisDescriptor.SIMPLE_CELL_HASH_OFFSET, KeyedMix.mix(identifier, hashSeed));
    }
}
