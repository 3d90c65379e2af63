package io.flowlag.exporter.status;

/**
 * The product's accounting identity: sums that hold when nothing is in transit inside the process. Every packet and every record
 * is accounted for.
 */
public final class AccountingIdentity {
    private AccountingIdentity() {
    }

    /**
     * Packets captured that are neither decoded, refused, filtered, left out by sampling nor lost in the kernel. Returns 0 when
     * the identity holds.
     */
    public static long unexplainedCaptured(final Counters counters) {
        return counters.get(CounterId.CAPTURED) -
            (counters.get(CounterId.DECODED) + counters.refused() + counters.get(CounterId.FILTERED) +
            counters.get(CounterId.NOT_SAMPLED) + counters.get(CounterId.LOST_IN_KERNEL));
    }

    /**
     * Packets decoded that are neither metered, of the sender point, references, own traffic nor dropped at the ring. Returns 0
     * when the identity holds.
     */
    public static long unexplainedDecoded(final Counters counters) {
        return counters.get(CounterId.DECODED) -
            (counters.get(CounterId.METERED) + counters.get(CounterId.SENDER_POINT) +
            counters.get(CounterId.REFERENCE_PACKETS) +
            counters.get(CounterId.OWN_TRAFFIC) + counters.get(CounterId.DROPPED_AT_PACKET_RING));
    }

    /**
     * Records made that do not wait for their interval, and were neither dropped before the exporting stage nor taken by it.
     * Returns 0 when the identity holds.
     */
    public static long unexplainedRecords(final Counters counters) {
        return counters.get(CounterId.RECORDS_MADE) -
            (counters.get(CounterId.RECORDS_WAITING) + counters.get(CounterId.DROPPED_AT_RECORD_RING) +
            counters.get(CounterId.RECORDS_TAKEN));
    }
}
