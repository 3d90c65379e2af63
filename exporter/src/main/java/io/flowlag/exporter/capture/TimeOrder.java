package io.flowlag.exporter.capture;

/** Distinguishes a wrong timestamp from a packet out of order, for merging packets by time. Stateless; never allocates. */
public final class TimeOrder {
    /** More than the reordering of packets within one source. */
    public static final long TIME_SET_NS = 1_000_000_000L;

    private TimeOrder() {
    }

    /**
     * Whether a packet's timestamp is far from those of the packets around it. If the next packet is earlier than the last one,
     * it is not, however early: the clock was set back.
     *
     * @param lastNs   of the packet before it, without strays; {@link PacketSource#MIN_TIMESTAMP_NS} if there was none.
     * @param behindNs of the packet after it.
     * @return whether it is a stray, which others need not wait for.
     */
    public static boolean isStray(final long lastNs, final long headNs, final long behindNs) {
        return !isBefore(behindNs, lastNs) && (isBefore(headNs, lastNs) || headNs - behindNs > TIME_SET_NS);
    }

    /** Whether a time is so far before that of the packet before it that the clock was set back. */
    public static boolean isBefore(final long timeNs, final long otherNs) {
        return timeNs < otherNs - TIME_SET_NS;
    }
}
