package io.flowlag.tests.lab.comparator;

import io.flowlag.sketch.reconcile.BankHashes;
import io.flowlag.sketch.reconcile.Synopsis;
import io.flowlag.sketch.reconcile.SynopsisFamily;
import io.flowlag.sketch.reconcile.SynopsisGeometry;

/**
 * FineComb (Lee, Goldberg, Kompella, Varghese, SIGMETRICS 2011; RDA paper, section III-C), one measurement point's side of it:
 * one bank of cells, each packet in one of them, each cell with the XOR of its packets' identifiers (the parity string).
 * {@link FineCombEstimator} compares the two sides.
 *
 * <p>One thread at a time. It owns {@link SynopsisGeometry#memoryBytes} octets off the heap. Allocates at construction; never on
 * update.
 */
public final class FineComb extends Synopsis {
    private static final int TIMESTAMP_SUM_OFFSET = 8;
    private static final int COUNT_OFFSET = 16;

    private final BankHashes hashes;
    private final int cells;

    /**
     * An empty FineComb.
     *
     * @param seed that both measurement points share.
     */
    public FineComb(final SynopsisGeometry geometry, final long seed) {
        super(SynopsisFamily.FINE_COMB, geometry, seed);
        hashes = new BankHashes(1, seed);
        cells = geometry.cells();
    }

    /** The geometry of a FineComb. */
    public static SynopsisGeometry geometry(final int cells) {
        return new SynopsisGeometry(SynopsisFamily.FINE_COMB, 1, cells);
    }

    /**
     * Adds a packet.
     *
     * @param identifier  of the packet: its digest.
     * @param timestampNs relative to the interval's start; it may lie outside the interval.
     */
    public void update(final long identifier, final long timestampNs) {
        addToCell(BankHashes.cell(hashes.mixed(0, identifier), cells), identifier, timestampNs);
    }

    /** Package-private so that a test can place packets as in the paper's figures. */
    void addToCell(final int cell, final long identifier, final long timestampNs) {
        countPackets(1);
        final int offset = cellOffset(cell);
        xorLong(offset, identifier);
        addLong(offset + TIMESTAMP_SUM_OFFSET, timestampNs);
        addLong(offset + COUNT_OFFSET, 1);
    }
}
