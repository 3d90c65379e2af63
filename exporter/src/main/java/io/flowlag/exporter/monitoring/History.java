package io.flowlag.exporter.monitoring;

import com.fasterxml.jackson.core.JsonGenerator;
import io.flowlag.exporter.listing.FlowQuery;
import io.flowlag.exporter.listing.FlowRow;
import io.flowlag.exporter.listing.Grouping;
import io.flowlag.exporter.listing.RowKey;
import io.flowlag.exporter.status.AggregateDelay;
import io.flowlag.exporter.status.CounterId;
import io.flowlag.exporter.status.DelayDistribution;
import io.flowlag.exporter.status.DelayStatistics;
import io.flowlag.exporter.status.DelaySummary;
import io.flowlag.exporter.status.DelayView;
import io.flowlag.exporter.status.IntervalDelays;
import io.flowlag.exporter.status.ReconcileStatistics;
import io.flowlag.exporter.status.SegmentName;
import io.flowlag.exporter.status.SketchStatistics;
import io.flowlag.exporter.status.Statistics;
import io.flowlag.exporter.status.StatisticsWriter;

import java.io.IOException;
import java.io.StringWriter;
import java.io.UncheckedIOException;
import java.io.Writer;
import java.time.Instant;
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.Deque;
import java.util.HashMap;
import java.util.HashSet;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.concurrent.locks.ReentrantLock;
import java.util.function.Function;

/**
 * What the process keeps for its status page: an hour of each class in steps of 10 s, a day in steps of a minute, some minutes of
 * the slowest flows. Bounded, see {@link #MEMORY_BYTES}. An interval that is longer than a step has no part in it. One thread
 * adds, and never waits: what comes while the history is read is taken afterwards. Any thread reads.
 */
final class History {
    /** Of classes, clocks and all packets. Those that come after these have no history, and are counted. */
    static final int SERIES = 24;
    /** Snapshots that wait for a reader; the oldest beyond them is left out, and counted. */
    static final int MOST_WAITING = 2;
    /** Gauges of the estimate of a sender's clock, without the sender. */
    static final String CLOCK_OFFSET = "clock_offset_ns";
    static final String CLOCK_OFFSET_ERROR = "clock_offset_error_ns";
    static final String METERED = "all packets metered";
    /** Slowest flows of a snapshot; their history is kept, and goes on while they are of more of the slowest. */
    static final int FLOWS = 20;
    static final int FLOW_POINTS = 300;
    private static final int FOLLOWED_FLOWS = 32;
    private static final int KEPT_FLOWS = 2048;
    /** Records of a snapshot that are compared with those of the last one, the slowest. */
    private static final int RECORDS = 400;
    private static final long SECOND_NS = 1_000_000_000L;
    private static final long FINE_NS = 10 * SECOND_NS;
    private static final long COARSE_NS = 60 * SECOND_NS;
    private static final int FINE_STEPS = 360;
    private static final int COARSE_STEPS = 1440;
    private static final long NS_PER_MS = 1_000_000L;
    private static final double PPM = 1e6;
    /** A record, a step and what is kept of a flow otherwise, with their parts, as objects. */
    private static final long RECORD_BYTES = 512;
    private static final long FLOW_POINT_BYTES = 144;
    private static final long FLOW_BYTES = 320;
    private static final FlowQuery BY_FLOW = FlowQuery.ALL.by(Grouping.ofFlows()).first(0);
    /** Octets on the heap, by formula. */
    static final long MEMORY_BYTES = HistorySteps.memoryBytes(FINE_STEPS, SERIES) +
        HistorySteps.memoryBytes(COARSE_STEPS, SERIES) + FOLLOWED_FLOWS * FLOW_POINTS * FLOW_POINT_BYTES +
        (KEPT_FLOWS + 2 * RECORDS) * FLOW_BYTES + (1 + MOST_WAITING) * RECORDS * RECORD_BYTES;

    private final List<HistorySteps> steps = List.of(
        new HistorySteps(FINE_NS, FINE_STEPS, SERIES), new HistorySteps(COARSE_NS, COARSE_STEPS, SERIES));
    private final List<Told> told = new ArrayList<>();
    private final RowHistory flows = new RowHistory(FLOW_POINTS, FLOWS, FOLLOWED_FLOWS, KEPT_FLOWS);
    private List<RowKey> slowest = List.of();
    private final Map<String, Long> counts = new HashMap<>();
    /** Classes with delays of their packets: those by sketches are then not used. */
    private final Set<String> measured = new HashSet<>();
    private final ReentrantLock lock = new ReentrantLock();
    /** Of the thread that adds. */
    private final Deque<Runnable> waiting = new ArrayDeque<>();
    private volatile long snapshotsLeftOut;

    /** What is taken from a delay stage. */
    private static final class Told {
        private long intervals;
        private List<SketchStatistics> sketches = List.of();
    }

    /** The clock of this host less that of a sender, as estimated, and the largest error. */
    record ClockPoint(String name, long offsetNs, long errorNs) {
    }

    /** Takes what ended since the last call, unless the history is read. */
    void poll(final List<? extends DelayView> delays) {
        whenUnread(() -> take(delays));
    }

    /**
     * Takes the counters and gauges of a snapshot, and its flows.
     *
     * @param scannedMs when the flows were as they are here.
     * @param records   of flows, the slowest first; null if none were scanned since the last snapshot.
     */
    void add(final Statistics statistics, final long scannedMs, final List<FlowRow> records) {
        final List<FlowRow> compared = records == null ? null : records.stream().limit(RECORDS).toList();
        if (waiting.size() == MOST_WAITING) {
            waiting.removeFirst();
            snapshotsLeftOut++;
        }
        waiting.add(() -> {
            take(statistics);
            if (compared != null) {
                take(scannedMs, compared);
            }
        });
        whenUnread(() -> { });
    }

    private void whenUnread(final Runnable last) {
        if (!lock.tryLock()) {
            return;
        }
        try {
            while (!waiting.isEmpty()) {
                waiting.removeFirst().run();
            }
            last.run();
        } finally {
            lock.unlock();
        }
    }

    private void take(final List<? extends DelayView> delays) {
        for (int i = 0; i < delays.size(); i++) {
            if (told.size() == i) {
                told.add(new Told());
            }
            final DelayView delay = delays.get(i);
            final Told before = told.get(i);
            final String segment = delays.size() > 1 ? "segment " + delay.segment().segmentId() + ", " : "";
            for (; before.intervals < delay.intervalCount(); before.intervals++) {
                final List<IntervalDelays> interval = delay.interval(before.intervals);
                if (interval != null) {
                    interval.forEach((each) -> add(segment, each));
                }
            }
            final List<SketchStatistics> sketches = delay.sketches();
            for (int j = 0; j < sketches.size(); j++) {
                if (j >= before.sketches.size() || !sketches.get(j).isOfInterval(before.sketches.get(j))) {
                    add(segment, sketches.get(j), before.intervals == 0);
                }
            }
            before.sketches = sketches;
        }
    }

    private void add(final String segment, final IntervalDelays interval) {
        final DelaySummary summary = interval.summary();
        final DelayDistribution delays = summary.delays();
        final String name = segment + className(summary.senderIndex(), summary.segment(), summary.dscp());
        final long boundNs = summary.isMatched() ? interval.matchedBoundNs() : interval.estimatesBoundNs();
        if (delays.count() > 0) {
            measured.add(name);
        }
        for (final HistorySteps each : steps) {
            if (each.holds(summary.endNs() - summary.startNs())) {
                each.add(name, summary.startNs(), HistoryField.PACKETS, interval.packets());
                if (delays.count() > 0) {
                    each.addDelays(name, summary.startNs(), interval.packets(), delays, boundNs < 0 ? Double.NaN : boundNs,
                        interval.histogram());
                }
            }
        }
    }

    private void add(final String segment, final SketchStatistics sketches, final boolean arePacketsUnknown) {
        final ReconcileStatistics reconciled = sketches.reconcile();
        for (int i = 0; i < sketches.interval().size(); i++) {
            final AggregateDelay delay = sketches.interval().get(i);
            final String name = segment + className(sketches.senderIndex(), null, delay.dscp());
            final Long known = reconciled != null && sketches.startNs().equals(reconciled.startNs()) &&
                i < reconciled.interval().size() ? reconciled.interval().get(i).lostPackets() : null;
            final Long lost = known == null ? delay.lostPackets() : known;
            for (final HistorySteps each : steps) {
                if (!each.holds(sketches.endNs() - sketches.startNs())) {
                    continue;
                }
                each.add(name, sketches.startNs(), HistoryField.LOST, lost == null ? HistorySteps.UNKNOWN : lost);
                if (arePacketsUnknown) {
                    each.add(name, sketches.startNs(), HistoryField.PACKETS,
                        delay.packets() == null ? HistorySteps.UNKNOWN : delay.packets());
                }
                if (delay.meanNs() != null && !measured.contains(name)) {
                    each.addMean(name, sketches.startNs(), delay.packets() == null ? 0 : delay.packets(), delay.samples(),
                        delay.meanNs(), delay.boundNs() == null ? Double.NaN : delay.boundNs());
                }
            }
        }
    }

    private void take(final long scannedMs, final List<FlowRow> records) {
        final List<FlowRow> rows = FlowRows.ordered(records, BY_FLOW);
        flows.add(scannedMs, records, rows, BY_FLOW.grouping()::of);
        slowest = rows.stream().limit(FLOWS).map(FlowRow::key).toList();
    }

    private void take(final Statistics statistics) {
        final long nowNs = statistics.nowMs() * NS_PER_MS;
        count(METERED, nowNs, HistoryField.PACKETS, since(METERED, statistics.counters().get(CounterId.METERED)));
        count(METERED, nowNs, HistoryField.OCTETS, since("octets", statistics.counters().get(CounterId.METERED_OCTETS)));
        for (final DelayStatistics delay : statistics.delays()) {
            final String segment = statistics.delays().size() == 1 ? "" : "segment " + delay.segmentId() + ", ";
            addLoss(segment, delay, nowNs);
            for (int i = 0; i < delay.interval().size(); i++) {
                final DelaySummary summary = delay.interval().get(i);
                final Double utilization = delay.gauges().get(
                    i == 0 && delay.gauges().containsKey("utilization") ? "utilization" : "utilization_class_" + i);
                if (utilization != null && Double.isFinite(utilization)) {
                    set(segment + className(summary.senderIndex(), summary.segment(), summary.dscp()), nowNs,
                        HistoryField.UTILIZATION_PPM, PPM * utilization);
                }
            }
            clocks(delay).forEach((each) -> {
                set(segment + each.name(), nowNs, HistoryField.CLOCK_OFFSET_NS, each.offsetNs());
                set(segment + each.name(), nowNs, HistoryField.CLOCK_ERROR_NS, each.errorNs());
            });
        }
    }

    /** Matching counts the losses of all classes of a segment together. */
    private void addLoss(final String segment, final DelayStatistics delay, final long nowNs) {
        final Map<String, String> names = new LinkedHashMap<>();
        for (final DelaySummary each : delay.interval()) {
            names.merge("match_lost" + (each.segment() == null ? "" : "_segment_" + each.segment().id()),
                className(each.senderIndex(), each.segment(), each.dscp()),
                (one, other) -> (each.segment() == null ? "" : each.segment().text() + ' ') + "all classes");
        }
        names.keySet().retainAll(delay.counters().keySet());
        if (names.isEmpty()) {
            return;
        }
        final long undecided = since(segment + "undecided", delay.counters().getOrDefault("match_sent_undecided", 0L));
        final boolean isWhole = delay.gauges().getOrDefault("match_share", 1.0) >= 1;
        names.forEach((label, name) -> {
            final long lost = since(segment + label, delay.counters().get(label));
            count(segment + name, nowNs, HistoryField.LOST, isWhole && undecided == 0 ? lost : HistorySteps.UNKNOWN);
            count(segment + name, nowNs, HistoryField.LOST_BOUND, isWhole ? lost + undecided : HistorySteps.UNKNOWN);
        });
    }

    /** {@return by how much a counter has grown since it was last asked for} */
    private long since(final String name, final long value) {
        final Long before = counts.put(name, value);
        return value - (before == null ? 0 : before);
    }

    private void count(final String name, final long nowNs, final HistoryField field, final double value) {
        steps.forEach((each) -> each.add(name, nowNs, field, value));
    }

    private void set(final String name, final long nowNs, final HistoryField field, final double value) {
        steps.forEach((each) -> each.set(name, nowNs, field, value));
    }

    /** {@return all as JSON, of flows the slowest ones, or the one with a name if that is not null} */
    String json(final String flow) {
        final StringWriter text = new StringWriter();
        write(text, flow);
        return text.toString();
    }

    /** Writes the same to memory. */
    void write(final Writer text, final String flow) {
        lock.lock();
        try (JsonGenerator json = StatisticsWriter.mapper().createGenerator(text)) {
            json.writeStartObject();
            json.writeNumberField("memory_bound_bytes", MEMORY_BYTES);
            json.writeNumberField("series_left_out", steps.get(0).leftOut());
            json.writeNumberField("snapshots_left_out", snapshotsLeftOut);
            json.writeArrayFieldStart("steps");
            for (final HistorySteps each : steps) {
                each.write(json);
            }
            json.writeEndArray();
            json.writeArrayFieldStart("flows");
            final List<RowKey> kept = flows.rows();
            for (final RowKey each : flow == null ? slowest : kept) {
                if (flow == null || each.text().equals(flow)) {
                    write(json, each);
                }
            }
            json.writeEndArray();
            json.writeArrayFieldStart("recent_flows");
            for (final RowKey each : kept) {
                if (!slowest.contains(each)) {
                    json.writeString(each.text());
                }
            }
            json.writeEndArray();
            json.writeEndObject();
        } catch (final IOException ex) {
            throw new UncheckedIOException(ex);
        } finally {
            lock.unlock();
        }
    }

    private void write(final JsonGenerator json, final RowKey row) throws IOException {
        final List<RowHistory.Step> own = flows.steps(row);
        json.writeStartObject();
        json.writeStringField("name", row.text());
        write(json, "times", own, (each) -> Instant.ofEpochMilli(each.timeMs()).toString());
        write(json, "packets_per_second", own, RowHistory.Step::packetsPerSecond);
        write(json, "delay_mean_ns", own, RowHistory.Step::meanNs);
        write(json, "lost", own, RowHistory.Step::lost);
        write(json, "lost_since", own,
            (each) -> each.sinceMs() == null ? null : Instant.ofEpochMilli(each.sinceMs()).toString());
        json.writeEndObject();
    }

    /** The oldest first. */
    private static void write(
        final JsonGenerator json, final String name, final List<RowHistory.Step> own,
        final Function<RowHistory.Step, Object> value) throws IOException {
        json.writeArrayFieldStart(name);
        for (int i = own.size() - 1; i >= 0; i--) {
            json.writeObject(value.apply(own.get(i)));
        }
        json.writeEndArray();
    }

    /** {@return the estimates of senders' clocks that are known} */
    static List<ClockPoint> clocks(final DelayStatistics delay) {
        final List<ClockPoint> clocks = new ArrayList<>();
        delay.gauges().forEach((label, value) -> {
            final String suffix = label.startsWith(CLOCK_OFFSET) ? label.substring(CLOCK_OFFSET.length()) : null;
            if (suffix != null && clocks.size() < SERIES) {
                clocks.add(new ClockPoint(("clock" + suffix).replace('_', ' '), Math.round(value),
                    Math.round(delay.gauges().get(CLOCK_OFFSET_ERROR + suffix))));
            }
        });
        return clocks;
    }

    /** {@return the name of a class for people; either argument may be null} */
    static String className(final DelaySummary summary, final AggregateDelay sketched) {
        return summary == null ? className(0, null, sketched == null ? -1 : sketched.dscp()) :
            className(summary.senderIndex(), summary.segment(), summary.dscp());
    }

    /** {@return the name of a class of a sender or segment} */
    static String className(final int senderIndex, final SegmentName segment, final int dscp) {
        final String name = dscp < 0 ? "all" : "dscp " + dscp;
        if (segment != null) {
            return dscp < 0 ? segment.text() : segment.text() + " " + name;
        }
        return senderIndex == 0 ? name : name + ", sender " + senderIndex;
    }
}
