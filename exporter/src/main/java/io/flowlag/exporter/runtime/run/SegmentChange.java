package io.flowlag.exporter.runtime.run;

import io.flowlag.common.config.Prefix;
import io.flowlag.exporter.config.ExporterConfig;
import io.flowlag.exporter.config.ExporterConfig.Selector;
import io.flowlag.exporter.config.Pairs;

import java.util.List;

/** Times at which settings of a segment can change. Stateless. */
public final class SegmentChange {
    /** Exceeds the time to send settings to the other end and the clocks' difference. */
    private static final long LEAD_NS = 2_000_000_000L;
    /** The sender begins with the second interval from the present one. */
    private static final long LEAD_INTERVALS = 2;
    private static final long MOST_WAIT_NS = 600_000_000_000L;

    private SegmentChange() {
    }

    /**
     * Whether segments have the same packets as before. The longest match has a packet, so a segment may also lose packets to a
     * changed one, or gain them from it.
     */
    static boolean[] areSameWays(final List<ExporterConfig> before, final List<ExporterConfig> after) {
        final boolean[] areSame = new boolean[after.size()];
        for (int i = 0; i < areSame.length; i++) {
            areSame[i] = selector(before.get(i)).equals(selector(after.get(i))) &&
                selectors(before.get(i).pairs()).equals(selectors(after.get(i).pairs()));
            for (int j = 0; j < areSame.length; j++) {
                final Selector own = selector(after.get(i));
                final Selector former = selector(before.get(j));
                final Selector newer = selector(after.get(j));
                areSame[i] &= former.equals(newer) || !share(former, own) && !share(newer, own) ||
                    after.get(i).segment().role() != after.get(j).segment().role();
            }
        }
        return areSame;
    }

    private static List<Selector> selectors(final Pairs pairs) {
        return pairs.segments().stream().map(ExporterConfig.Segment::selector).toList();
    }

    private static Selector selector(final ExporterConfig config) {
        return config.segment().selector();
    }

    private static boolean share(final Selector one, final Selector other) {
        return (one.vlanId() < 0 || other.vlanId() < 0 || one.vlanId() == other.vlanId()) &&
            share(one.sources(), other.sources()) && share(one.destinations(), other.destinations());
    }

    private static boolean share(final List<Prefix> some, final List<Prefix> others) {
        return some.isEmpty() || others.isEmpty() || some.stream().anyMatch((each) -> others.stream().anyMatch(each::overlaps));
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
