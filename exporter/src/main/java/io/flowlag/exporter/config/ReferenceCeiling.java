package io.flowlag.exporter.config;

/**
 * Average bandwidth limit of references: a share of the link's capacity, or a rate. Immutable.
 *
 * @param share of the capacity, above 0 and up to 1; 0 if it is a rate.
 * @param bps   the rate, bits/s; 0 if it is a share.
 */
public record ReferenceCeiling(double share, long bps) {
    /** {@return whether it is a share, which needs a capacity} */
    boolean isShare() {
        return share > 0;
    }

    /** {@return bits/s on a link of that capacity; 0 if it is a share and the capacity is unknown} */
    long bpsAt(final long capacityBps) {
        return isShare() ? Math.round(share * capacityBps) : bps;
    }
}
