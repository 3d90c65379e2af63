package io.flowlag.exporter.monitoring;

import com.fasterxml.jackson.core.JsonFactory;
import com.fasterxml.jackson.core.JsonGenerator;
import io.flowlag.exporter.status.DistinctError;
import io.flowlag.exporter.status.StatisticsWriter;

import java.io.ByteArrayOutputStream;
import java.io.IOException;
import java.io.StringWriter;
import java.io.UncheckedIOException;
import java.nio.charset.StandardCharsets;
import java.util.List;

/** Status as JSON. Unknown values are omitted from objects, and null in the columns of the history. Safe from any thread. */
final class StatusJson {
    static final String TYPE = "application/json; charset=utf-8";
    private static final int SHOWN_FLOWS = 20;

    /** Writes to a generator. */
    @FunctionalInterface
    interface Content {
        void write(JsonGenerator json) throws IOException;
    }

    private final JsonFactory factory = new JsonFactory();

    String health(final StatusSnapshot snapshot) {
        return text((json) -> {
            json.writeStartObject();
            json.writeStringField("status", snapshot.isWell() ? "ok" : "ill");
            json.writeNumberField("time_ms", snapshot.statistics().nowMs());
            checks(json, snapshot.health());
            json.writeEndObject();
        });
    }

    String status(final StatusSnapshot snapshot, final List<HistoryRow> history) {
        final ByteArrayOutputStream statistics = new ByteArrayOutputStream();
        return text((json) -> {
            new StatisticsWriter().write(snapshot.statistics(), statistics);
            json.writeStartObject();
            json.writeNumberField("pid", snapshot.pid());
            json.writeStringField("status", snapshot.isWell() ? "ok" : "ill");
            checks(json, snapshot.health());
            json.writeArrayFieldStart("errors");
            for (final DistinctError error : snapshot.errors()) {
                json.writeStartObject();
                json.writeStringField("kind", error.kind());
                json.writeNumberField("count", error.count());
                json.writeNumberField("first_ms", error.firstMs());
                json.writeNumberField("last_ms", error.lastMs());
                json.writeEndObject();
            }
            json.writeEndArray();
            if (snapshot.segment() != null) {
                json.writeObjectFieldStart("segment");
                json.writeStringField("role", snapshot.segment().role());
                json.writeNumberField("segment_id", snapshot.segment().segmentId());
                json.writeArrayFieldStart("points");
                for (final String point : snapshot.segment().points()) {
                    json.writeString(point);
                }
                json.writeEndArray();
                json.writeStringField("policy", snapshot.segment().policy());
                json.writeEndObject();
            }
            json.writeNumberField("living_flows", snapshot.flows().livingCount());
            json.writeNumberField("ended_flows", snapshot.flows().endedCount());
            json.writeArrayFieldStart("flows");
            for (final FlowView flow : snapshot.flows().flows().subList(0,
                Math.min(SHOWN_FLOWS, snapshot.flows().flows().size()))) {
                flow(json, flow);
            }
            json.writeEndArray();
            history(json, history);
            json.writeFieldName("statistics");
            json.writeRawValue(statistics.toString(StandardCharsets.UTF_8).strip());
            json.writeEndObject();
        });
    }

    /** One object a line. */
    String flows(final List<FlowView> flows) {
        final StringBuilder lines = new StringBuilder();
        flows.forEach((flow) -> lines.append(text((json) -> flow(json, flow))).append('\n'));
        return lines.toString();
    }

    private static void checks(final JsonGenerator json, final List<HealthCheck> checks) throws IOException {
        json.writeArrayFieldStart("checks");
        for (final HealthCheck check : checks) {
            json.writeStartObject();
            json.writeStringField("name", check.name());
            json.writeBooleanField("well", check.isWell());
            json.writeStringField("text", check.text());
            json.writeEndObject();
        }
        json.writeEndArray();
    }

    private static void flow(final JsonGenerator json, final FlowView flow) throws IOException {
        json.writeStartObject();
        json.writeStringField("source", flow.source());
        json.writeStringField("destination", flow.destination());
        json.writeNumberField("protocol", flow.protocol());
        json.writeNumberField("source_port", flow.sourcePort());
        json.writeNumberField("destination_port", flow.destinationPort());
        json.writeNumberField("dscp", flow.dscp());
        json.writeNumberField("class", flow.classIndex());
        json.writeBooleanField("living", flow.endReason() == null);
        if (flow.endReason() != null) {
            json.writeStringField("end_reason", flow.endReason());
        }
        json.writeNumberField("packets", flow.packets());
        json.writeNumberField("octets", flow.octets());
        json.writeNumberField("start_ns", flow.startNs());
        json.writeNumberField("end_ns", flow.endNs());
        if (flow.estimator() != null) {
            json.writeStringField("estimator", flow.estimator());
            json.writeNumberField("segment_id", flow.segmentId());
        }
        number(json, "samples", flow.samples());
        number(json, "mean_ns", flow.meanNs());
        if (flow.isExact()) {
            json.writeBooleanField("exact", true);
        }
        number(json, "bound_ns", flow.boundNs());
        number(json, "sd_ns", flow.standardDeviationNs());
        number(json, "min_ns", flow.minimumNs());
        number(json, "max_ns", flow.maximumNs());
        number(json, "interpolated_mean_ns", flow.referenceMeanNs());
        number(json, "sketch_mean_ns", flow.sketchMeanNs());
        number(json, "lost", flow.lostPackets());
        if (flow.isLossExact() != null) {
            json.writeBooleanField("loss_exact", flow.isLossExact());
        }
        json.writeEndObject();
    }

    private static void history(final JsonGenerator json, final List<HistoryRow> history) throws IOException {
        json.writeArrayFieldStart("history");
        for (final HistoryRow row : history) {
            json.writeStartObject();
            json.writeNumberField("t", row.timeMs());
            json.writeNumberField("captured", row.captured());
            json.writeNumberField("dropped", row.dropped());
            number(json, "reference_share", row.referenceShare());
            json.writeArrayFieldStart("classes");
            for (final HistoryRow.ClassPoint point : row.classes()) {
                json.writeStartObject();
                json.writeStringField("name", point.name());
                json.writeBooleanField("exact", point.isExact());
                number(json, "mean_ns", point.meanNs());
                number(json, "p95_ns", point.p95Ns());
                number(json, "p99_ns", point.p99Ns());
                number(json, "interpolated_mean_ns", point.interpolatedMeanNs());
                number(json, "reference_mean_ns", point.referenceMeanNs());
                number(json, "sketch_mean_ns", point.sketchMeanNs());
                number(json, "lost", point.lost());
                number(json, "utilization", point.utilization());
                number(json, "packets_per_reference", point.packetsPerReference());
                json.writeEndObject();
            }
            json.writeEndArray();
            json.writeEndObject();
        }
        json.writeEndArray();
    }

    private static void number(final JsonGenerator json, final String name, final Long value) throws IOException {
        if (value != null) {
            json.writeNumberField(name, value);
        }
    }

    private static void number(final JsonGenerator json, final String name, final Double value) throws IOException {
        if (value != null && !value.isNaN() && !value.isInfinite()) {
            json.writeNumberField(name, value);
        }
    }

    private String text(final Content content) {
        final StringWriter text = new StringWriter();
        try (JsonGenerator json = factory.createGenerator(text)) {
            content.write(json);
        } catch (final IOException ex) {
            throw new UncheckedIOException(ex);
        }
        return text.toString();
    }
}
