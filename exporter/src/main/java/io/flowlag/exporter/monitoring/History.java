package io.flowlag.exporter.monitoring;

import io.flowlag.exporter.status.AggregateDelay;
import io.flowlag.exporter.status.CounterId;
import io.flowlag.exporter.status.DelayStatistics;
import io.flowlag.exporter.status.DelaySummary;
import io.flowlag.exporter.status.Statistics;

import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.Deque;
import java.util.List;
import java.util.Map;

/** The last rows for the status page, bounded in rows and classes. One thread adds. */
final class History {
    /** Rows kept. */
    static final int ROWS = 600;
    /** Classes of a row; with more the page would be unreadable. */
    static final int CLASSES = 16;
    /** Gauges of the estimate of a sender's clock, without the sender. */
    static final String CLOCK_OFFSET = "clock_offset_ns";
    static final String CLOCK_OFFSET_ERROR = "clock_offset_error_ns";

    private final Deque<HistoryRow> rows = new ArrayDeque<>();
    private volatile List<HistoryRow> published = List.of();

    void add(final Statistics statistics) {
        final List<HistoryRow.ClassPoint> classes = new ArrayList<>();
        final List<HistoryRow.ClockPoint> clocks = new ArrayList<>();
        Double share = null;
        for (final DelayStatistics delay : statistics.delays()) {
            final String segment = statistics.delays().size() == 1 ? "" : "segment " + delay.segmentId() + ", ";
            final List<AggregateDelay> sketched = delay.sketchedInterval();
            final int count = Math.max(1, Math.max(delay.interval().size(), sketched.size()));
            for (int i = 0; i < count && classes.size() < CLASSES; i++) {
                classes.add(point(segment, delay, i < sketched.size() ? sketched.get(i) : null, i));
            }
            clocks(delay).forEach((each) ->
                clocks.add(new HistoryRow.ClockPoint(segment + each.name(), each.offsetNs(), each.errorNs())));
            share = share != null ? share : known(delay.gauges().get("reference_share"));
        }
        if (rows.size() == ROWS) {
            rows.removeFirst();
        }
        rows.addLast(new HistoryRow(
            statistics.nowMs(), statistics.counters().get(CounterId.CAPTURED),
            statistics.counters().get(CounterId.LOST_IN_KERNEL) + statistics.counters().get(CounterId.DROPPED_AT_PACKET_RING),
            share, classes, clocks));
        published = List.copyOf(rows);
    }

    /** {@return the estimates of senders' clocks that are known} */
    static List<HistoryRow.ClockPoint> clocks(final DelayStatistics delay) {
        final List<HistoryRow.ClockPoint> clocks = new ArrayList<>();
        delay.gauges().forEach((label, value) -> {
            final String suffix = label.startsWith(CLOCK_OFFSET) ? label.substring(CLOCK_OFFSET.length()) : null;
            if (suffix != null && clocks.size() < CLASSES) {
                clocks.add(new HistoryRow.ClockPoint(("clock" + suffix).replace('_', ' '), Math.round(value),
                    Math.round(delay.gauges().get(CLOCK_OFFSET_ERROR + suffix))));
            }
        });
        return clocks;
    }

    /** {@return the rows, the oldest first; safe from any thread} */
    List<HistoryRow> rows() {
        return published;
    }

    private static HistoryRow.ClassPoint point(
        final String segment, final DelayStatistics delay, final AggregateDelay sketched, final int index) {
        final DelaySummary summary = index < delay.interval().size() ? delay.interval().get(index) : null;
        final boolean hasDelays = summary != null && summary.delays().count() > 0;
        final boolean hasEstimates = summary != null && summary.estimates().count() > 0;
        final boolean hasReferences = summary != null && summary.references().count() > 0;
        return new HistoryRow.ClassPoint(
            segment + className(summary, sketched),
            hasDelays && summary.isMatched(),
            hasDelays ? summary.delays().meanNs() : null,
            hasDelays ? summary.delays().p95Ns() : null,
            hasDelays ? summary.delays().p99Ns() : null,
            hasEstimates ? summary.estimates().meanNs() : null,
            hasReferences ? summary.references().meanNs() : null,
            sketched == null ? null : sketched.meanNs(),
            sketched == null ? null : sketched.lostPackets(),
            new HistoryRow.Injection(
                gauge(delay.gauges(), "utilization", index), gauge(delay.gauges(), "packets_per_reference", index)));
    }

    /** {@return the name of a class for people; either argument may be null} */
    static String className(final DelaySummary summary, final AggregateDelay sketched) {
        final int dscp = summary != null ? summary.dscp() : sketched != null ? sketched.dscp() : -1;
        final String name = dscp < 0 ? "all" : "dscp " + dscp;
        if (summary != null && summary.segment() != null) {
            return dscp < 0 ? summary.segment().text() : summary.segment().text() + " " + name;
        }
        return summary == null || summary.senderIndex() == 0 ? name : name + ", sender " + summary.senderIndex();
    }

    private static Double gauge(final Map<String, Double> gauges, final String name, final int index) {
        return known(gauges.get(index == 0 && gauges.containsKey(name) ? name : name + "_class_" + index));
    }

    private static Double known(final Double value) {
        return value == null || value.isNaN() || value.isInfinite() ? null : value;
    }
}
