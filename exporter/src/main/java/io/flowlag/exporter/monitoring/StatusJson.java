package io.flowlag.exporter.monitoring;

import com.fasterxml.jackson.core.JsonProcessingException;
import com.fasterxml.jackson.databind.util.RawValue;
import io.flowlag.exporter.listing.FlowQuery;
import io.flowlag.exporter.listing.FlowRow;
import io.flowlag.exporter.listing.Grouping;
import io.flowlag.exporter.listing.RowTraffic;
import io.flowlag.exporter.status.DelayHistogram;
import io.flowlag.exporter.status.StatisticsWriter;

import java.io.ByteArrayOutputStream;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;

/** Status as JSON. Unknown values are omitted. Safe from any thread. */
final class StatusJson {
    static final String TYPE = "application/json; charset=utf-8";
    private static final int SHOWN_FLOWS = History.FLOWS;
    /** Of the listed flows, in addition to the flows themselves. */
    private static final List<String> GROUPINGS = WorstOfHour.GROUPINGS.subList(1, WorstOfHour.GROUPINGS.size());
    private static final String HOST = host();
    private static final String VERSION = StatusJson.class.getPackage().getImplementationVersion();

    String health(final StatusSnapshot snapshot) {
        final Map<String, Object> health = new LinkedHashMap<>();
        health.put("status", word(snapshot));
        health.put("time_ms", snapshot.statistics().nowMs());
        health.put("checks", snapshot.health());
        return text(health);
    }

    String status(final StatusSnapshot snapshot) {
        final Map<String, Object> status = new LinkedHashMap<>();
        status.put("host", HOST);
        status.put("version", VERSION == null ? "(development)" : VERSION);
        status.put("pid", snapshot.pid());
        status.put("status", word(snapshot));
        status.put("checks", snapshot.health());
        status.put("errors", snapshot.errors());
        if (snapshot.segments().size() == 1) {
            status.put("segment", snapshot.segments().get(0));
        } else if (!snapshot.segments().isEmpty()) {
            status.put("segments", snapshot.segments());
        }
        final List<FlowView> flows = snapshot.flows().flows();
        status.put("living_flows", snapshot.flows().livingCount());
        status.put("ended_flows", snapshot.flows().endedCount());
        status.put("flows", flows.subList(0, Math.min(SHOWN_FLOWS, flows.size())));
        final Map<String, Object> groups = new LinkedHashMap<>();
        groups.put("flow", flowRows(flows));
        for (final String each : GROUPINGS) {
            groups.put(each, rows(FlowRows.of(flows, FlowQuery.ALL.by(Grouping.parse(each)).first(SHOWN_FLOWS))));
        }
        status.put("groups", groups);
        final Map<String, Object> worst = new LinkedHashMap<>();
        snapshot.flows().worst().forEach((name, each) -> worst.put(name, rows(each)));
        status.put("worst_of_hour", worst);
        status.put("histogram_boundaries_ns", DelayHistogram.boundariesNs());
        status.put("histograms", histograms(snapshot));
        final ByteArrayOutputStream statistics = new ByteArrayOutputStream();
        try {
            StatisticsWriter.write(snapshot.statistics(), statistics);
        } catch (final IOException ex) {
            throw new UncheckedIOException(ex);
        }
        status.put("statistics", new RawValue(statistics.toString(StandardCharsets.UTF_8).strip()));
        return text(status);
    }

    private static List<Map<String, Object>> histograms(final StatusSnapshot snapshot) {
        final List<Map<String, Object>> histograms = new ArrayList<>();
        for (int i = 0; i < snapshot.histograms().size(); i++) {
            final String segment =
                snapshot.histograms().size() == 1 ? "" : "segment " + snapshot.segments().get(i).segmentId() + ", ";
            for (final DelayHistogram each : snapshot.histograms().get(i)) {
                final String name = segment + History.className(each.senderIndex(), each.segment(), each.dscp());
                histograms.add(Map.of("name", name, "estimates", each.estimates()));
            }
        }
        return histograms;
    }

    /** A flow of several records has no quantiles: it gets those of its newest record that has some. */
    private static List<Map<String, Object>> flowRows(final List<FlowView> flows) {
        final Map<String, FlowRow> newest = new HashMap<>();
        for (final FlowRow row : FlowRows.of(flows, FlowQuery.ALL)) {
            if (row.delay().spread().p50Ns() != null) {
                newest.merge(row.key().text(), row,
                    (one, other) -> one.traffic().endNs() > other.traffic().endNs() ? one : other);
            }
        }
        final List<Map<String, Object>> rows = rows(FlowRows.slowest(flows, SHOWN_FLOWS));
        rows.forEach((each) -> each.put("newest_record", newest.containsKey(each.get("name")) ?
            row(newest.get(each.get("name"))) : null));
        return rows;
    }

    private static List<Map<String, Object>> rows(final List<FlowRow> rows) {
        return rows.stream().map(StatusJson::row).toList();
    }

    private static Map<String, Object> row(final FlowRow row) {
        final Map<String, Object> fields = new LinkedHashMap<>();
        fields.put("name", row.key().text());
        fields.put("records", row.traffic().flows());
        fields.put("packets", row.traffic().packets());
        fields.put("octets", row.traffic().octets());
        fields.put("start_ns", row.traffic().startNs());
        fields.put("end_ns", row.traffic().endNs());
        fields.put("living", row.traffic().endReason() == RowTraffic.LIVING);
        fields.put("measured", row.delay().measured());
        fields.put("mean_ns", row.delay().meanNs());
        fields.put("bound_ns", row.delay().boundNs());
        fields.put("exact", row.delay().isExact());
        fields.put("interpolated_mean_ns", row.delay().interpolatedNs());
        fields.put("sketch_mean_ns", row.delay().sketchNs());
        fields.put("sd_ns", row.delay().spread().standardDeviationNs());
        fields.put("min_ns", row.delay().spread().minimumNs());
        fields.put("p50_ns", row.delay().spread().p50Ns());
        fields.put("p90_ns", row.delay().spread().p90Ns());
        fields.put("p99_ns", row.delay().spread().p99Ns());
        fields.put("max_ns", row.delay().spread().maximumNs());
        fields.put("usual_ns", row.spell() == null ? null : row.spell().usualNs());
        fields.put("worst_ns", row.spell() == null ? null : row.spell().worstNs());
        fields.put("lost", row.loss().packets());
        fields.put("lost_mark", row.loss().mark());
        return fields;
    }

    private static String host() {
        try {
            return Files.readString(Path.of("/proc/sys/kernel/hostname")).strip();
        } catch (final IOException ex) {
            return "(unknown)";
        }
    }

    private static String word(final StatusSnapshot snapshot) {
        return snapshot.isOk() ? "ok" : "failing";
    }

    private static String text(final Object value) {
        try {
            return StatisticsWriter.mapper().writeValueAsString(value);
        } catch (final JsonProcessingException ex) {
            throw new UncheckedIOException(ex);
        }
    }
}
