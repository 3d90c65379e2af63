package io.flowlag.exporter.monitoring;

import java.util.ArrayList;
import java.util.List;
import java.util.Locale;

/** Flows as a table, or as JSON with one object a line. Stateless. */
public final class FlowListing {
    private static final String FORMAT = "%-39s %-39s %-5s %6s %6s %8s %9s %9s %9s %9s %9s %7s %s";

    private FlowListing() {
    }

    /** As a table with a header, in the given order. */
    public static List<String> lines(final List<FlowView> flows) {
        final List<String> lines = new ArrayList<>();
        lines.add(String.format(Locale.ROOT, FORMAT, "source", "destination", "proto", "sport", "dport", "packets", "mean",
            "bound", "sd", "rli", "lds", "lost", "state"));
        for (final FlowView flow : flows) {
            lines.add(String.format(Locale.ROOT, FORMAT, flow.source(), flow.destination(), flow.protocolName(),
                flow.sourcePort(), flow.destinationPort(), Durations.count(flow.packets()), Durations.text(flow.meanNs()),
                flow.bound(), Durations.text(flow.standardDeviationNs()), Durations.text(flow.referenceMeanNs()),
                Durations.text(flow.sketchMeanNs()), lost(flow), flow.endReason() == null ? "living" : flow.endReason()));
        }
        return lines;
    }

    static String lost(final FlowView flow) {
        return flow.lostPackets() == null ? "-" : (flow.isLossExact() ? "" : "<=") + Durations.count(flow.lostPackets());
    }

    /** As JSON in the given order: one object a line, each with its end of line. */
    public static String json(final List<FlowView> flows) {
        return new StatusJson().flows(flows);
    }
}
