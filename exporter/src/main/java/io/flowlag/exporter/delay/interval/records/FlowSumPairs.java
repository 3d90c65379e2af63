package io.flowlag.exporter.delay.interval.records;

/**
 * The sums of an interval's flows at both points, paired by flow. They give exact delay sums where the points have the same
 * packets, and losses otherwise. A flow is a row of the sender's table. One thread; owns no memory; allocates nothing.
 */
public final class FlowSumPairs {
    private FlowSums sent;
    private FlowSums received;

    /** The result of comparing a flow. */
    public enum Agreement {
        /** Count and digest sum are equal: the same packets. */
        SAME_PACKETS,
        /** The receiver has fewer packets, but at least one. */
        LOST,
        /** The receiver has no packets. */
        SENT_ONLY,
        /** The points have equally many but different packets, the receiver has more, or the repair left none in common. */
        DIFFERENT
    }

    /** Pairs the tables of both points of an interval. */
    public FlowSumPairs pair(final FlowSums newSent, final FlowSums newReceived) {
        sent = newSent;
        received = newReceived;
        return this;
    }

    /** Releases the tables. */
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

    /** Compares the sums of a flow. */
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
            Agreement.SAME_PACKETS : Agreement.DIFFERENT;
    }

    /** Reads the exact delay sum of a flow's packets, ns, signed; the agreement is {@link Agreement#SAME_PACKETS}. */
    public long delaySumNs(final int row) {
        return received.timestampSumNs(received.find(sent.flowHash(row))) - sent.timestampSumNs(row);
    }

    /** Reads the sender's packets minus the receiver's; signed. */
    public long lostPackets(final int row) {
        final int other = received.find(sent.flowHash(row));
        return sent.packets(row) - (other == FlowSums.NONE ? 0 : received.packets(other));
    }
}
