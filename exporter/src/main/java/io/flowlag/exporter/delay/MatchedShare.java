package io.flowlag.exporter.delay;

import io.flowlag.exporter.delay.exact.ExactMatcher;
import io.flowlag.exporter.delay.exact.MatchCounter;
import io.flowlag.exporter.delay.exact.MatchCounters;
import io.flowlag.exporter.delay.exact.SegmentFlows;

/**
 * Reduces the share of matched flows where memory or time is short. Halves it if packets found no room in a second, or this
 * process dropped more than 1 % as many packets as it saw in each of five seconds. Doubles it after ten minutes without a reason
 * to halve it, while three quarters of the memory are free. Of a flow either all packets are matched or none. The metering thread
 * owns it. Allocates at construction.
 */
final class MatchedShare {
    private static final long LOOK_NS = 1_000_000_000L;
    private static final long CALM_NS = 600 * LOOK_NS;
    private static final int DROPPING_LOOKS = 5;
    private static final double MOST_DROPPED = 0.01;
    private static final double ROOMY = 0.25;

    private final ExactMatcher matcher;
    private final MatchCounters counters;
    private final int maxPackets;
    private long nextLookNs = Long.MIN_VALUE;
    private long nextStepNs = Long.MIN_VALUE;
    private long calmSinceNs;
    private long overflowed;
    private long seen;
    private long dropped;
    private int droppingLooks;

    /** Every flow is matched. */
    MatchedShare(final ExactMatcher matcher, final int maxPackets) {
        this.matcher = matcher;
        this.maxPackets = maxPackets;
        counters = matcher.counters();
    }

    /** This process dropped packets. */
    void onOwnLoss(final long packets) {
        dropped += packets;
    }

    /** Time has passed, by the packets that came last. Returns whether more flows are matched from now on. */
    boolean hasGrown(final long nowNs) {
        if (nowNs < nextLookNs && nextLookNs - nowNs <= LOOK_NS) {
            return false;
        }
        if (nowNs < nextLookNs) {
            // The clock was set back.
            nextStepNs = nowNs;
            calmSinceNs = nowNs;
        }
        nextLookNs = nowNs + LOOK_NS;
        final long overflowedBefore = overflowed;
        final long seenBefore = seen;
        overflowed = counters.get(MatchCounter.SENT_OVERFLOW) + counters.get(MatchCounter.RECEIVED_OVERFLOW);
        seen = counters.get(MatchCounter.SENT) + counters.get(MatchCounter.RECEIVED);
        droppingLooks = dropped > MOST_DROPPED * (seen - seenBefore) ? droppingLooks + 1 : 0;
        dropped = 0;
        if (overflowed > overflowedBefore || droppingLooks >= DROPPING_LOOKS) {
            halve(nowNs);
            return false;
        }
        final boolean isCalm = droppingLooks == 0 && nowNs - calmSinceNs >= CALM_NS;
        if (counters.matchedOneIn() > 1 && isCalm && matcher.size() < ROOMY * maxPackets) {
            calmSinceNs = nowNs;
            matcher.matchOneIn((int)counters.matchedOneIn() / 2, nowNs);
            return true;
        }
        return false;
    }

    /**
     * Halves the share, unless it was halved too recently to have an effect: entries of flows that are left out expire only with
     * time; until then the matcher may still overflow.
     */
    private void halve(final long nowNs) {
        calmSinceNs = nowNs;
        if (nowNs >= nextStepNs && counters.matchedOneIn() < SegmentFlows.MOST_ONE_IN) {
            nextStepNs = nowNs + counters.waitNs() + 2 * LOOK_NS;
            droppingLooks = 0;
            matcher.matchOneIn(2 * (int)counters.matchedOneIn(), nowNs);
        }
    }
}
