package io.flowlag.exporter.delay.interval.records;

/**
 * Sums of the flows of one interval at both points, flow by flow: exact delay sums where the points have the same packets, and
 * losses where they do not. A flow is a row of the sender's table. One thread; it owns no memory; allocates nothing.
 */
public final class FlowSumPairs {
    private FlowSums sent;
    private FlowSums received;

    /** What both points say of a flow. */
    public enum Agreement {
        /** Count and digest sum are equal: the same packets. */
        EXACT,
        /** The receiver has fewer packets, but some. */
        LOST,
        /** The receiver has none. */
        SENT_ONLY,
        /** As many packets, but others; or more than were sent; or none in common, once repaired. */
        DIFFERENT
    }

    /** Nothing paired. */
    public FlowSumPairs() {
        // pair() brings the tables
    }

    /**
     * Pairs the tables of an interval.
     *
     * @param newReceived of the receiver, of the same interval.
     */
    public FlowSumPairs pair(final FlowSums newSent, final FlowSums newReceived) {
        sent = newSent;
        received = newReceived;
        return this;
    }

    /** Forgets the tables. */
    public void unpair() {
        sent = null;
        received = null;
    }

    /** {@return flows that the sender has} */
    public int count() {
        return sent == null ? 0 : sent.count();
    }

    /** {@return the sender's table; null if nothing is paired} */
    public FlowSums sent() {
        return sent;
    }

    /** {@return the receiver's table; null if nothing is paired} */
    public FlowSums received() {
        return received;
    }

    /** Whether the receiver has packets of a flow. */
    public boolean hasReceived(final int row) {
        return received.find(sent.flowHash(row)) != FlowSums.NONE;
    }

    /** Compares a flow. Returns what both points say. */
    public Agreement agreement(final int row) {
        final int other = received.find(sent.flowHash(row));
        if (other == FlowSums.NONE) {
            return Agreement.SENT_ONLY;
        }
        if (received.packets(other) == 0 || sent.packets(row) == 0) {
            return Agreement.DIFFERENT;
        }
        if (received.packets(other) < sent.packets(row)) {
            return Agreement.LOST;
        }
        return received.packets(other) == sent.packets(row) && received.digestSum(other) == sent.digestSum(row) ?
            Agreement.EXACT : Agreement.DIFFERENT;
    }

    /**
     * The sum of the delays of the flow's packets.
     *
     * @param row of the sender's table, {@link Agreement#EXACT}.
     * @return ns, signed, exact.
     */
    public long delaySumNs(final int row) {
        return received.timestampSumNs(received.find(sent.flowHash(row))) - sent.timestampSumNs(row);
    }

    /** Packets that the sender has more than the receiver. Returns packets, signed. */
    public long lostPackets(final int row) {
        final int other = received.find(sent.flowHash(row));
        return sent.packets(row) - (other == FlowSums.NONE ? 0 : received.packets(other));
    }
}
