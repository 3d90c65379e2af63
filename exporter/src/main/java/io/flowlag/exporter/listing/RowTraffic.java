package io.flowlag.exporter.listing;

/**
 * The packets of a row. Immutable. Null is unknown.
 *
 * @param flows     records behind the row.
 * @param startNs   since the UNIX epoch.
 * @param endReason as element 136 has it; 0 if there is none, {@link #LIVING} while the flow lives.
 */
public record RowTraffic(long flows, Long packets, Long octets, Long startNs, Long durationNs, int endReason) {
    /** The flow has not ended. */
    public static final int LIVING = -1;

    /** {@return time of the newest packet, ns since the UNIX epoch; null if unknown} */
    public Long endNs() {
        return startNs == null || durationNs == null ? null : Long.valueOf(startNs + durationNs);
    }
}
