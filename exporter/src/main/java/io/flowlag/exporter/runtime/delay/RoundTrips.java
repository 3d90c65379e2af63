package io.flowlag.exporter.runtime.delay;

import io.flowlag.exporter.delay.PacketSides;
import io.flowlag.exporter.delay.exact.SegmentFlows;
import io.flowlag.exporter.delay.exact.TruthWriter;
import io.flowlag.rli.counters.DelayCounters;

import java.io.PrintStream;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.List;
import java.util.Locale;

/** Prints the connections measured in both directions: the mean of each direction, and their sum. */
final class RoundTrips {
    private static final int SHOWN = 20;
    private static final String ROW = "%-5s %-22s %5s %-22s %5s %12s %12s %13s%n";

    private final SegmentFlows flows;

    private RoundTrips(final SegmentFlows flows) {
        this.flows = flows;
    }

    /** Prints the largest of the matched flows; the stage has ended. */
    static void print(final SegmentFlows flows, final PacketSides sides, final PrintStream out) {
        new RoundTrips(flows).print(sides, out);
    }

    private void print(final PacketSides sides, final PrintStream out) {
        final List<Integer> there = new ArrayList<>();
        for (int flow = 0; flow < flows.limit(); flow++) {
            if (flows.isLive(flow) && count(flow) > 0 && count(flows.findReverse(flow)) > 0 && !sides.isBackward(
                flows.sourceHigh(flow), flows.sourceLow(flow), flows.destinationHigh(flow), flows.destinationLow(flow))) {
                there.add(flow);
            }
        }
        out.printf(Locale.ROOT, "%nthe captures hold both directions, and each was measured (< marks the way back); " +
            "%d connections were measured both ways%s%n", there.size(), there.isEmpty() ? "" : ":");
        if (there.isEmpty()) {
            return;
        }
        there.sort(Comparator.comparingLong((Integer flow) -> -count(flow)));
        out.printf(Locale.ROOT, ROW, "proto", "src", "sport", "dst", "dport", "there_us", "back_us", "round_trip_us");
        for (final int flow : there.subList(0, Math.min(SHOWN, there.size()))) {
            final long thereNs = meanNs(flow);
            final long backNs = meanNs(flows.findReverse(flow));
            out.printf(Locale.ROOT, ROW, flows.protocol(flow),
                text(flow, flows.sourceHigh(flow), flows.sourceLow(flow)), flows.sourcePort(flow),
                text(flow, flows.destinationHigh(flow), flows.destinationLow(flow)), flows.destinationPort(flow),
                DelayTable.micros(thereNs), DelayTable.micros(backNs), DelayTable.micros(thereNs + backNs));
        }
        if (there.size() > SHOWN) {
            out.printf(Locale.ROOT, "... the %d with most packets of %d%n", SHOWN, there.size());
        }
    }

    private long count(final int flow) {
        return flow == SegmentFlows.NO_FLOW ? 0 : DelayCounters.count(flows.delayBuffer(), flows.delayOffset(flow));
    }

    private long meanNs(final int flow) {
        return DelayCounters.meanNs(flows.delayBuffer(), flows.delayOffset(flow));
    }

    private String text(final int flow, final long high, final long low) {
        final StringBuilder text = new StringBuilder();
        TruthWriter.appendAddress(flows.ipVersion(flow), high, low, text);
        return text.toString();
    }
}
