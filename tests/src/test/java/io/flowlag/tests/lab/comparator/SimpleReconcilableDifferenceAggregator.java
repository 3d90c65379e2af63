package io.flowlag.tests.lab.comparator;

import io.flowlag.common.hash.KeyedMix;
import io.flowlag.sketch.reconcile.BankHashes;
import io.flowlag.sketch.reconcile.Synopsis;
import io.flowlag.sketch.reconcile.SynopsisFamily;
import io.flowlag.sketch.reconcile.SynopsisGeometry;
import io.flowlag.sketch.reconcile.SynopsisImage;

import java.nio.ByteOrder;

/**
 * Simple RDA (RDA paper, section IV), one measurement point's side of it: one array of cells, each packet in up to k of them,
 * each cell with a hash of its identifiers. A packet may lie in two cells that are collapsed with
 * opposite signs, which takes it out of the standard deviation (the paper's flaw), and a cell is a third longer than RDA's.
 *
 * <p>One thread at a time. It owns {@link SynopsisGeometry#memoryBytes} octets off the heap. Allocates at construction; never on
 * update.
 */
public final class SimpleReconcilableDifferenceAggregator extends Synopsis {
    private static final int SEED_INDEX = 95;
    private static final int TIMESTAMP_SUM_OFFSET = 8;
    private static final int COUNT_OFFSET = 16;
    private static final int HASH_OFFSET = 24;

    private final BankHashes hashes;
    private final long hashSeed;
    private final int hashFunctions;
    private final int cells;

    /**
     * An empty aggregator.
     *
     * @param seed that both measurement points share.
     */
    public SimpleReconcilableDifferenceAggregator(final SynopsisGeometry geometry, final long seed) {
        super(SynopsisFamily.SRDA, geometry, seed);
        hashFunctions = geometry.banks();
        hashes = new BankHashes(hashFunctions, seed);
        hashSeed = hashSeed(seed);
        cells = geometry.cells();
    }

    /** The geometry of an sRDA. */
    public static SynopsisGeometry geometry(final int hashFunctions, final int cells) {
        return new SynopsisGeometry(SynopsisFamily.SRDA, hashFunctions, cells);
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

    static long identifierHash(final SynopsisImage image, final int cell) {
        return image.buffer().getLong(image.offset(cell) + HASH_OFFSET, ByteOrder.LITTLE_ENDIAN);
    }

    static long hashSeed(final long seed) {
        return KeyedMix.derivedSeed(seed, SEED_INDEX);
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

    private void addToCell(final int cell, final long identifier, final long timestampNs) {
        final int offset = cellOffset(cell);
        xorLong(offset, identifier);
        addLong(offset + TIMESTAMP_SUM_OFFSET, timestampNs);
        addLong(offset + COUNT_OFFSET, 1);
        xorLong(offset + HASH_OFFSET, KeyedMix.mix(identifier, hashSeed));
    }
}
