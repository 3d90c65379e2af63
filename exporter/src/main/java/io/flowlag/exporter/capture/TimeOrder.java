package io.flowlag.exporter.capture;

/** Tells a wrong timestamp from a packet out of order, for those who merge packets by time. Stateless; allocates never. */
public final class TimeOrder {
    /** More than packets of one source are out of order. */
    public static final long TIME_SET_NS = 1_000_000_000L;

    private TimeOrder() {
    }

    /**
     * Whether a packet's timestamp stands out between those of the packets around it. One that is followed by times from before
     * the last packet's is not, however early: the clock was set back.
     *
     * @param lastNs   of the packet before it, strays left out; {@link PacketSource#MIN_TIMESTAMP_NS} if there was none.
     * @param behindNs of the packet behind it.
     * @return whether it is a stray, which others need not wait for.
     */
    public static boolean isStray(final long lastNs, final long headNs, final long behindNs) {
        return !isBefore(behindNs, lastNs) && (isBefore(headNs, lastNs) || headNs - behindNs > TIME_SET_NS);
    }

    /**
     * Whether a time is so far before another that the clock was set back.
     *
     * @param otherNs of the packet before it.
     */
    public static boolean isBefore(final long timeNs, final long otherNs) {
        return timeNs < otherNs - TIME_SET_NS;
    }
}
