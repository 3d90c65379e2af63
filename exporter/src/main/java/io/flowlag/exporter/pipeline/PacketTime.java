package io.flowlag.exporter.pipeline;

import io.flowlag.exporter.capture.PacketSource;

/**
 * The time by the packets of files: the latest timestamp so far. A late packet changes nothing. When {@link #LATE_PACKETS} in a
 * row are late by more than {@link #LATE_NS}, the earlier time was wrong and time continues with theirs. Causes are a damaged
 * timestamp, a clock that was set back, or an earlier capture after a later one. Otherwise silent flows would never end.
 * <p>
 * One thread. Never allocates.
 */
public final class PacketTime {
    /** So many late packets in a row set time back: few compared with a cache, many compared with reordering on a path. */
    public static final int LATE_PACKETS = 1000;
    /** How late they all are, at least. */
    public static final long LATE_NS = 1_000_000_000L;

    private long nowNs = PacketSource.MIN_TIMESTAMP_NS;
    private long latestLateNs;
    private int lateCount;
    private boolean isSetBack;

    /** No time before the first packet. */
    public PacketTime() {
        // the first packet sets the time
    }

    /** Takes the time of the next packet, UNIX epoch. Returns the time now. */
    public long after(final long timestampNs) {
        isSetBack = false;
        if (nowNs - timestampNs <= LATE_NS) {
            nowNs = Math.max(nowNs, timestampNs);
            lateCount = 0;
            return nowNs;
        }
        latestLateNs = lateCount == 0 ? timestampNs : Math.max(latestLateNs, timestampNs);
        lateCount++;
        if (lateCount == LATE_PACKETS) {
            nowNs = latestLateNs;
            lateCount = 0;
            isSetBack = true;
        }
        return nowNs;
    }

    /** {@return whether the last packet set time back} */
    boolean isSetBack() {
        return isSetBack;
    }
}
