package io.flowlag.exporter.monitoring;

import com.fasterxml.jackson.annotation.JsonInclude;
import com.fasterxml.jackson.core.JsonProcessingException;
import io.flowlag.common.http.HttpServer;
import io.flowlag.common.http.MetricFamily;
import io.flowlag.exporter.delay.interval.records.SketchCounter;
import io.flowlag.exporter.status.AggregateDelay;
import io.flowlag.exporter.status.Counters;
import io.flowlag.exporter.status.DelayDistribution;
import io.flowlag.exporter.status.DelayHistogram;
import io.flowlag.exporter.status.DelayStatistics;
import io.flowlag.exporter.status.DelaySummary;
import io.flowlag.exporter.status.DestinationStatistics;
import io.flowlag.exporter.status.LatencySummary;
import io.flowlag.exporter.status.SketchStatistics;
import io.flowlag.exporter.status.SourceStatistics;
import io.flowlag.exporter.status.SpoolStatistics;
import io.flowlag.exporter.status.Statistics;
import io.flowlag.exporter.status.StatisticsWriter;
import io.flowlag.rli.receiver.ReceiverCounter;

import java.io.UncheckedIOException;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.Collections;
import java.util.Comparator;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.Set;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import java.util.stream.Stream;

/**
 * Every metric that a process can serve, sorted by name. {@link Metrics} generates the list from statistics with every optional
 * part. Stateless.
 */
public final class MetricList {
    private static final Pattern BASE_UNIT = Pattern.compile("_(seconds_per_byte|seconds|bytes|ratio)(_total)?$");
    private static final String SESSION = "_session_0";
    private static final Set<String> BY_SENDER =
        Set.of("stamp_correction_ns", "stamp_error_ns", "serialisation_ns_per_byte", "reference_paths",
            "clock_drift_ppb", "clock_offset_ns", "clock_offset_error_ns", "clock_offset_drift_ppb");

    /** A metric as {@code /metrics} names it; the unit is empty where the value is a count. */
    record Row(String name, String type, @JsonInclude(JsonInclude.Include.NON_EMPTY) String unit, String help) {
    }

    private MetricList() {
    }

    /** {@return one line a metric: name, type, unit ({@code -} for a count) and help, in columns} */
    public static List<String> lines() {
        final List<Row> rows = rows();
        final int nameColumns = rows.stream().mapToInt((row) -> row.name().length()).max().orElseThrow();
        return rows.stream().map((row) -> String.format(Locale.ROOT, "%-" + nameColumns + "s  %-9s  %-16s  %s",
            row.name(), row.type(), row.unit().isEmpty() ? "-" : row.unit(), row.help())).toList();
    }

    /** {@return an array of objects with name, type, help and, unless the value is a count, unit} */
    public static String json() {
        try {
            return StatisticsWriter.mapper().writerWithDefaultPrettyPrinter().writeValueAsString(rows());
        } catch (final JsonProcessingException ex) {
            throw new UncheckedIOException(ex);
        }
    }

    static List<Row> rows() {
        return Stream.concat(
            Metrics.of(snapshot()).stream(), HttpServer.metrics((status) -> 0, 0, 0).stream())
            .map(MetricList::row).sorted(Comparator.comparing(Row::name)).toList();
    }

    private static Row row(final MetricFamily family) {
        final String name = family.name() + (family.type() == MetricFamily.Type.COUNTER ? "_total" : "");
        final Matcher unit = BASE_UNIT.matcher(name);
        return new Row(
            name, family.type().name().toLowerCase(Locale.ROOT), unit.find() ? unit.group(1) : "", family.help());
    }

    private static StatusSnapshot snapshot() {
        final DelayHistogram.Buckets buckets =
            new DelayHistogram.Buckets(Collections.nCopies(DelayHistogram.boundariesNs().length, 0L), 0, 0);
        final SpoolStatistics spool = new SpoolStatistics(0, 0, 0, 0, 0, 0, 0, 0, 0);
        final Statistics statistics = new Statistics(
            new Counters(), List.of(new SourceStatistics("", 0, 0, 0, null)),
            List.of(new DestinationStatistics("", 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, spool)), List.of(delay()),
            new LatencySummary(buckets, 0, 0, 0, 0, 0), 0, 0, 0, List.of());
        return new StatusSnapshot(
            0, statistics, List.of(), List.of(List.of(new DelayHistogram(0, null, 0, -1, buckets, buckets))),
            List.of(new HealthCheck("", true, "")), List.of(), FlowList.EMPTY);
    }

    private static DelayStatistics delay() {
        final DelayDistribution delays = new DelayDistribution(1, 0, 0, 0L, 0, 0, 0L, 0L, 0L, 0L, 0L, 0L);
        final List<DelaySummary> summaries = List.of(new DelaySummary(0, null, 0, -1, 0, 0, delays, delays, delays, 0, 0, 1, 0L));
        final List<AggregateDelay> aggregates = List.of(new AggregateDelay(-1, 0, 0L, 0L, 0L));
        return new DelayStatistics(
            "", 0, "", 0, counters(), gauges(), summaries, summaries, List.of(new SketchStatistics(
                0, "", 0, 0L, 0L, 0, 0, aggregates, 0L, List.of(), aggregates, null, null, null)), Map.of());
    }

    /** Receiver, sketches and exchange also count by session, if there are several senders. */
    private static Map<String, Long> counters() {
        final List<String> labels = new ArrayList<>(MetricCatalogue.delayCounters().keySet());
        labels.add("exchange_refused_any");
        final List<String> bySession = Stream.of(
            Arrays.stream(ReceiverCounter.values()).map(ReceiverCounter::label),
            Arrays.stream(SketchCounter.values()).map(SketchCounter::label),
            labels.stream().filter((label) -> label.startsWith("exchange_"))).flatMap((each) -> each).toList();
        bySession.forEach((label) -> labels.add(label + SESSION));
        final Map<String, Long> counters = new LinkedHashMap<>();
        labels.forEach((label) -> counters.put(label, 0L));
        return counters;
    }

    private static Map<String, Double> gauges() {
        final Map<String, Double> gauges = new LinkedHashMap<>();
        for (final String label : MetricCatalogue.gauges().keySet()) {
            gauges.put(label, 0.0);
            if (BY_SENDER.contains(label)) {
                gauges.put(label + SESSION, 0.0);
            }
        }
        return gauges;
    }
}
