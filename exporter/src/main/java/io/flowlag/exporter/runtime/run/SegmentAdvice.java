package io.flowlag.exporter.runtime.run;

import io.flowlag.exporter.config.ExporterConfig;
import io.flowlag.exporter.delay.exact.MatchCounter;
import io.flowlag.exporter.delay.exact.MatchCounters;
import io.flowlag.exporter.status.CounterId;
import io.flowlag.exporter.status.Counters;

import java.util.Locale;
import java.util.Map;
import java.util.function.Consumer;

/**
 * Advises a process with both points on causes of wrong numbers. These are a selector without packets, swapped points, failed
 * bounds, late packets, and too little memory or time to match every flow. Each is logged once, in one line. One thread.
 */
final class SegmentAdvice {
    private static final long LEAST_PACKETS = 100;
    private static final long LEAST_FLOWS = 100;
    private static final double LEAST_HELD = 0.9;
    private static final double NS_PER_MS = 1e6;
    private static final double NS_PER_S = 1e9;
    /** Live packets are remembered this much longer than they are waited for, plus spare room. */
    private static final double GRACE_S = 1;
    private static final double ROOM = 1.5;

    private final ExporterConfig config;
    private final Consumer<String> lines;
    private boolean isSelectionTold;
    private boolean isSwapTold;
    private boolean areBoundsTold;
    private boolean isRefusalTold;
    private long toldWaitNs;
    private long toldOneIn = 1;
    private long lookNs;
    private long sent;
    private double sentPerSecond;

    /** No advice yet, for a process with both points. */
    SegmentAdvice(final ExporterConfig config, final Consumer<String> lines) {
        this.config = config;
        this.lines = lines;
        toldWaitNs = config.segment().maximumDelayNs();
    }

    /**
     * Checks the counters.
     *
     * @param matched packets of both points.
     * @param delay   the counters of the delay stage by name.
     * @param nowNs   by any monotonic clock.
     */
    void look(final MatchCounters matched, final Counters counters, final Map<String, Long> delay, final long nowNs) {
        measureRate(matched, nowNs);
        tellSelection(matched, counters);
        tellSwap(matched);
        tellBounds(delay);
        tellWait(matched);
        tellShare(matched);
    }

    private void measureRate(final MatchCounters matched, final long nowNs) {
        final long sentNow = matched.get(MatchCounter.SENT) + matched.get(MatchCounter.UNEXPECTED);
        if (lookNs != 0 && nowNs > lookNs) {
            sentPerSecond = Math.max(sentPerSecond, (sentNow - sent) * NS_PER_S / (nowNs - lookNs));
        }
        lookNs = nowNs;
        sent = sentNow;
    }

    private void tellSelection(final MatchCounters matched, final Counters counters) {
        final long outside = counters.get(CounterId.SENDER_OUTSIDE_SEGMENT) + counters.get(CounterId.OUTSIDE_SEGMENT);
        if (!isSelectionTold && outside >= LEAST_PACKETS && matched.get(MatchCounter.SENT) == 0 &&
            matched.get(MatchCounter.RECEIVED) == 0) {
            isSelectionTold = true;
            lines.accept("none of " + outside + " packets is of the segment: check segment.source, segment.destination and " +
                "segment.vlan, and that --ingress (" + config.segment().points().ingress() + ") and --egress (" +
                config.segment().points().egress() + ") are not swapped");
        }
    }

    private void tellSwap(final MatchCounters matched) {
        final long negative = matched.get(MatchCounter.NEGATIVE);
        if (!isSwapTold && negative >= LEAST_PACKETS && 2 * negative > matched.get(MatchCounter.MATCHED)) {
            isSwapTold = true;
            lines.accept(negative + " of " + matched.get(MatchCounter.MATCHED) + " matched packets have a negative delay: " +
                "--ingress (" + config.segment().points().ingress() + ") and --egress (" + config.segment().points().egress() +
                ") seem to be swapped");
        }
    }

    private void tellBounds(final Map<String, Long> delay) {
        final long bounded = delay.getOrDefault("bounded_flows", 0L);
        final long held = delay.getOrDefault("bounds_held", 0L);
        if (!areBoundsTold && bounded >= LEAST_FLOWS && held < LEAST_HELD * bounded) {
            areBoundsTold = true;
            lines.accept("the error bound by references holds for " + held + " of " + bounded + " flows only, as matched " +
                "packets show; more references (rli.ceiling, rli.policy) would make it truer");
        }
    }

    private void tellWait(final MatchCounters matched) {
        if (matched.waitNs() > toldWaitNs) {
            toldWaitNs = matched.waitNs();
            lines.accept(String.format(Locale.ROOT, "packets come later than segment.max-delay (%.0f ms): a packet is " +
                "waited for %.0f ms from now on", config.segment().maximumDelayNs() / NS_PER_MS, toldWaitNs / NS_PER_MS));
        }
        if (!isRefusalTold && matched.refusedWaitNs() > 0) {
            isRefusalTold = true;
            lines.accept(String.format(Locale.ROOT, "packets come up to %.0f ms late, and there is no memory to wait for " +
                "them: they count as lost; segment.exact-packets=%d would do", matched.refusedWaitNs() / 2 / NS_PER_MS,
                packetsThatDo(matched.refusedWaitNs())));
        }
    }

    private void tellShare(final MatchCounters matched) {
        final long oneIn = matched.matchedOneIn();
        if (oneIn > toldOneIn) {
            final boolean isFull =
                matched.get(MatchCounter.SENT_OVERFLOW) + matched.get(MatchCounter.RECEIVED_OVERFLOW) > 0;
            lines.accept("one flow in " + oneIn + " is matched from now on: " + (isFull ?
                "the packets under way do not fit into segment.exact-packets=" + config.segment().exactPackets() + "; " +
                packetsThatDo(matched.waitNs()) + " would do" : "this process gets too little time and drops packets") +
                "; the other flows have " + others());
        } else if (oneIn < toldOneIn) {
            lines.accept(oneIn == 1 ? "every flow is matched again" : "one flow in " + oneIn + " is matched again");
        }
        toldOneIn = oneIn;
    }

    private String others() {
        if (!config.pairs().segments().isEmpty()) {
            return "no mean";
        }
        final boolean isReferred = config.rli().references().target() != null ||
            config.rli().injection().policy() == ExporterConfig.Policy.PASSIVE;
        if (config.lds().enabled()) {
            return isReferred && config.joint().enabled() ? "joint means" : "means by sketches";
        }
        return isReferred ? "means by references" : config.segment().exact() ? "means interpolated between matched packets" :
            "no mean; lds.enabled=on or rli.target gives them one";
    }

    private long packetsThatDo(final long waitNs) {
        return (long)Math.ceil(ROOM * sentPerSecond * (waitNs / NS_PER_S + GRACE_S));
    }
}
