package io.flowlag.exporter.listing;

/**
 * The packets of a row. Immutable. Null is unknown.
 *
 * @param flows     records behind the row.
 * @param startNs   since the UNIX epoch.
 * @param endReason as element 136 has it; 0 if there is none, {@link #LIVING} while the flow lives.
 * @param sample    what the packets stand for; null if they are all.
 */
public record RowTraffic(
    long flows, Long packets, Long octets, Long startNs, Long durationNs, int endReason, RowSample sample) {
    /** The flow has not ended. */
    public static final int LIVING = -1;

    /** Of all packets. */
    public RowTraffic(
        final long flows, final Long packets, final Long octets, final Long startNs, final Long durationNs,
        final int endReason) {
        this(flows, packets, octets, startNs, durationNs, endReason, null);
    }

    /** {@return time of the newest packet, ns since the UNIX epoch; null if unknown} */
    public Long endNs() {
        return startNs == null || durationNs == null ? null : Long.valueOf(startNs + durationNs);
    }
}
