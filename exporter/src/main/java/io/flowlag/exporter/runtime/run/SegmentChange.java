package io.flowlag.exporter.runtime.run;

import io.flowlag.exporter.config.ExporterConfig;

/** Times at which settings of a segment can change. Stateless. */
public final class SegmentChange {
    /** Exceeds the time to send settings to the other end and the clocks' difference. */
    private static final long LEAD_NS = 2_000_000_000L;
    /** The sender begins with the second interval from the present one. */
    private static final long LEAD_INTERVALS = 2;
    private static final long MOST_WAIT_NS = 600_000_000_000L;

    private SegmentChange() {
    }

    /** Whether two configurations select the same packets. */
    static boolean isSameWay(final ExporterConfig one, final ExporterConfig other) {
        return one.segment().selector().sources().equals(other.segment().selector().sources()) &&
            one.segment().selector().destinations().equals(other.segment().selector().destinations()) &&
            one.segment().selector().vlanId() == other.segment().selector().vlanId();
    }

    /**
     * The first time at which intervals of both lengths begin and that both ends can meet.
     *
     * @param beforeNs length of intervals until then.
     * @param afterNs  length of intervals from then on.
     * @param nowNs    since the epoch.
     * @return ns since the epoch.
     * @throws IllegalArgumentException if there is none soon; the message names the remedy.
     */
    public static long fromNs(final long beforeNs, final long afterNs, final long nowNs) {
        final long longestNs = Math.max(beforeNs, afterNs);
        long stepNs = longestNs;
        while (stepNs % beforeNs != 0 || stepNs % afterNs != 0) {
            stepNs += longestNs;
            if (stepNs > MOST_WAIT_NS) {
                throw new IllegalArgumentException("segment.interval=" + afterNs + "ns: intervals of " + beforeNs + "ns and of " +
                    afterNs + "ns do not begin together within " + MOST_WAIT_NS / 60_000_000_000L +
                    " minutes; take a multiple or a part of the old one, or restart");
            }
        }
        final long leastNs = nowNs + LEAD_NS + LEAD_INTERVALS * longestNs;
        return leastNs + Math.floorMod(-leastNs, stepNs);
    }
}
