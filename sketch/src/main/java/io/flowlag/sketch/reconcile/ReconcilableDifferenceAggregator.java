package io.flowlag.sketch.reconcile;

/**
 * Reconcilable Difference Aggregator (RDA paper, section V-A), one measurement point's side of it: k banks of m cells, each
 * packet in one cell of every bank. A cell holds the XOR of identifiers, the sum of timestamps, the count, and a check: the sum
 * of the low halves of the bank's own hash, whose high half chooses the cell. The check takes the place of the upper half of the
 * paper's 64-bit count. {@link RdaReconciler} compares the two sides.
 *
 * <p>One thread at a time. It owns {@link SynopsisGeometry#memoryBytes} octets off the heap. An update touches one cell of each
 * bank and the preamble. Allocates at construction; never on update.
 */
public final class ReconcilableDifferenceAggregator extends Synopsis {
    private final BankHashes hashes;
    private final PacketGroup groups;
    private int banks;
    private int cells;

    /**
     * An empty aggregator.
     *
     * @param geometry of family RDA; the largest that {@link #reshape} may ask for.
     * @param seed     that both measurement points share.
     */
    public ReconcilableDifferenceAggregator(final SynopsisGeometry geometry, final long seed) {
        super(SynopsisFamily.RDA, geometry, seed);
        hashes = new BankHashes(SynopsisFamily.RDA.maxBanks(), seed);
        groups = new PacketGroup(seed);
        banks = geometry.banks();
        cells = geometry.cells();
    }

    /**
     * Empties the aggregator and gives it another size within its memory: late binding. The interval must be given again.
     *
     * @param geometry of family RDA, not longer than {@link #capacityBytes}.
     */
    public void reshape(final SynopsisGeometry geometry) {
        form(geometry);
        banks = geometry.banks();
        cells = geometry.cells();
    }

    /**
     * Adds a packet that is seen once.
     *
     * @param identifier  of the packet: its digest.
     * @param timestampNs relative to the interval's start; it may lie outside the interval.
     */
    public void update(final long identifier, final long timestampNs) {
        change(identifier, timestampNs, 1);
    }

    /**
     * Adds all packets of one identifier.
     *
     * @param identifier     of the packets: their digest.
     * @param timestampSumNs sum of their timestamps, relative to the interval's start.
     * @param copies         how many, at least 1.
     */
    public void add(final long identifier, final long timestampSumNs, final int copies) {
        change(groups.identifier(identifier, copies), timestampSumNs, copies);
    }

    /** Removes what {@link #add} added with the same arguments. */
    public void remove(final long identifier, final long timestampSumNs, final int copies) {
        change(groups.identifier(identifier, copies), -timestampSumNs, -copies);
    }

    private void change(final long group, final long timestampNs, final int copies) {
        countPackets(copies);
        for (int bank = 0, firstCell = 0; bank < banks; bank++, firstCell += cells) {
            final long mixed = hashes.mixed(bank, group);
            final int offset = cellOffset(firstCell + BankHashes.cell(mixed, cells));
            final int check = BankHashes.check(mixed);
            xorLong(offset + SynopsisDescriptor.CELL_IDENTIFIER_OFFSET, group);
            addLong(offset + SynopsisDescriptor.CELL_TIMESTAMP_SUM_OFFSET, timestampNs);
            addInt(offset + SynopsisDescriptor.CELL_COUNT_OFFSET, copies);
            addInt(offset + SynopsisDescriptor.CELL_CHECK_OFFSET, copies > 0 ? check : -check);
        }
    }
}
