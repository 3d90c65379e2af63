package io.flowlag.exporter.listing;

/**
 * A line of a listing: a flow record, a flow, or a group of records. Immutable.
 *
 * @param spell of a time that stands out; null else.
 */
public record FlowRow(RowKey key, RowTraffic traffic, RowDelay delay, RowLoss loss, RowTcp tcp, RowSpell spell) {
    /** Of no time that stands out. */
    public FlowRow(
        final RowKey key, final RowTraffic traffic, final RowDelay delay, final RowLoss loss, final RowTcp tcp) {
        this(key, traffic, delay, loss, tcp, null);
    }

    /** Nothing is known of TCP. */
    public FlowRow(final RowKey key, final RowTraffic traffic, final RowDelay delay, final RowLoss loss) {
        this(key, traffic, delay, loss, RowTcp.NONE);
    }

    /** {@return lost packets as a share of those sent, 0 to 1, in the records that know their loss; null if unknown} */
    public Double lossShare() {
        final Long packets = loss.ofPackets() != null ? loss.ofPackets() : traffic.packets();
        if (loss.packets() == null || packets == null || loss.packets() + packets <= 0) {
            return null;
        }
        return (double)loss.packets() / (loss.packets() + packets);
    }
}
