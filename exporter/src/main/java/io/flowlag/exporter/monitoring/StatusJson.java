package io.flowlag.exporter.monitoring;

import com.fasterxml.jackson.core.JsonProcessingException;
import com.fasterxml.jackson.databind.util.RawValue;
import io.flowlag.exporter.status.StatisticsWriter;

import java.io.ByteArrayOutputStream;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.charset.StandardCharsets;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;

/** Status as JSON. Unknown values are omitted. Safe from any thread. */
final class StatusJson {
    static final String TYPE = "application/json; charset=utf-8";
    private static final int SHOWN_FLOWS = 20;

    String health(final StatusSnapshot snapshot) {
        final Map<String, Object> health = new LinkedHashMap<>();
        health.put("status", word(snapshot));
        health.put("time_ms", snapshot.statistics().nowMs());
        health.put("checks", snapshot.health());
        return text(health);
    }

    String status(final StatusSnapshot snapshot, final List<HistoryRow> history) {
        final Map<String, Object> status = new LinkedHashMap<>();
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
        status.put("history", history);
        final ByteArrayOutputStream statistics = new ByteArrayOutputStream();
        try {
            StatisticsWriter.write(snapshot.statistics(), statistics);
        } catch (final IOException ex) {
            throw new UncheckedIOException(ex);
        }
        status.put("statistics", new RawValue(statistics.toString(StandardCharsets.UTF_8).strip()));
        return text(status);
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
