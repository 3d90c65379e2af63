package io.flowlag.exporter.status;

import com.fasterxml.jackson.core.JsonGenerator;

import java.io.IOException;
import java.util.List;
import java.util.Map;

/** Writes the object {@code delay} of the statistics. Stateless. */
final class DelayStatisticsWriter {
    private DelayStatisticsWriter() {
    }

    static void write(final JsonGenerator json, final DelayStatistics delay) throws IOException {
        json.writeObjectFieldStart("delay");
        json.writeStringField("role", delay.role());
        json.writeNumberField("segment_id", delay.segmentId());
        if (!delay.policy().isEmpty()) {
            json.writeStringField("policy", delay.policy());
        }
        if (delay.clockErrorNs() >= 0) {
            json.writeNumberField("clock_error_ns", delay.clockErrorNs());
        }
        json.writeObjectFieldStart("counters");
        for (final Map.Entry<String, Long> each : delay.counters().entrySet()) {
            json.writeNumberField(each.getKey(), each.getValue());
        }
        json.writeEndObject();
        json.writeObjectFieldStart("gauges");
        for (final Map.Entry<String, Double> each : delay.gauges().entrySet()) {
            json.writeNumberField(each.getKey(), each.getValue());
        }
        json.writeEndObject();
        json.writeObjectFieldStart("identity");
        json.writeBooleanField("holds", delay.isAccountedFor());
        for (final Map.Entry<String, Long> each : delay.unexplained().entrySet()) {
            json.writeNumberField(each.getKey(), each.getValue());
        }
        json.writeEndObject();
        summaries(json, "interval", delay.interval());
        summaries(json, "total", delay.total());
        if (!delay.sketches().isEmpty()) {
            json.writeArrayFieldStart("sketches");
            for (final SketchStatistics each : delay.sketches()) {
                sketches(json, each);
            }
            json.writeEndArray();
        }
        json.writeEndObject();
    }

    private static void sketches(final JsonGenerator json, final SketchStatistics sketches) throws IOException {
        json.writeStartObject();
        json.writeNumberField("sender", sketches.senderIndex());
        json.writeStringField("geometry", sketches.geometry());
        json.writeNumberField("memory_bytes", sketches.memoryBytes());
        if (sketches.startNs() != null) {
            json.writeNumberField("start_ns", sketches.startNs());
            json.writeNumberField("end_ns", sketches.endNs());
            json.writeNumberField("usable_cells", sketches.usableCells());
            json.writeNumberField("occupied_cells", sketches.occupiedCells());
            number(json, "unexplained_lost", sketches.unexplainedLost());
            aggregates(json, "interval", sketches.interval());
            json.writeArrayFieldStart("heavy_flows");
            for (final HeavyFlow each : sketches.heavyFlows()) {
                json.writeStartObject();
                json.writeStringField("source", each.source());
                json.writeStringField("destination", each.destination());
                json.writeNumberField("protocol", each.protocol());
                json.writeNumberField("source_port", each.sourcePort());
                json.writeNumberField("destination_port", each.destinationPort());
                json.writeNumberField("packets", each.packets());
                json.writeEndObject();
            }
            json.writeEndArray();
        }
        aggregates(json, "total", sketches.total());
        if (sketches.weightWarning() != null) {
            json.writeStringField("weight_warning", sketches.weightWarning());
        }
        if (sketches.joint() != null) {
            joint(json, sketches.joint());
        }
        if (sketches.reconcile() != null) {
            reconcile(json, sketches.reconcile());
        }
        json.writeEndObject();
    }

    private static void reconcile(final JsonGenerator json, final ReconcileStatistics reconcile) throws IOException {
        json.writeObjectFieldStart("reconcile");
        json.writeNumberField("start_ns", reconcile.startNs());
        json.writeNumberField("end_ns", reconcile.endNs());
        json.writeStringField("status", reconcile.status());
        json.writeNumberField("octets", reconcile.octets());
        aggregates(json, "interval", reconcile.interval());
        aggregates(json, "total", reconcile.total());
        json.writeEndObject();
    }

    private static void joint(final JsonGenerator json, final JointStatistics joint) throws IOException {
        json.writeObjectFieldStart("joint");
        json.writeNumberField("start_ns", joint.startNs());
        json.writeNumberField("end_ns", joint.endNs());
        json.writeStringField("status", joint.status());
        json.writeStringField("tier", joint.tier());
        json.writeNumberField("health", joint.health());
        json.writeNumberField("flows", joint.flows());
        json.writeNumberField("answered_flows", joint.answeredFlows());
        json.writeNumberField("vouched_flows", joint.vouchedFlows());
        json.writeNumberField("witnesses", joint.witnesses());
        number(json, "mean_ns", joint.meanNs());
        json.writeNumberField("took_ns", joint.tookNs());
        json.writeEndObject();
    }

    private static void aggregates(final JsonGenerator json, final String name, final List<AggregateDelay> aggregates)
        throws IOException {
        json.writeArrayFieldStart(name);
        for (final AggregateDelay each : aggregates) {
            json.writeStartObject();
            if (each.dscp() >= 0) {
                json.writeNumberField("dscp", each.dscp());
            }
            json.writeNumberField("samples", each.samples());
            number(json, "mean_ns", each.meanNs());
            number(json, "sd_ns", each.standardDeviationNs());
            number(json, "lost", each.lostPackets());
            json.writeEndObject();
        }
        json.writeEndArray();
    }

    private static void summaries(final JsonGenerator json, final String name, final List<DelaySummary> summaries)
        throws IOException {
        json.writeArrayFieldStart(name);
        for (final DelaySummary summary : summaries) {
            json.writeStartObject();
            json.writeNumberField("sender", summary.senderIndex());
            json.writeNumberField("class", summary.classIndex());
            if (summary.dscp() >= 0) {
                json.writeNumberField("dscp", summary.dscp());
            }
            json.writeNumberField("start_ns", summary.startNs());
            json.writeNumberField("end_ns", summary.endNs());
            distribution(json, "matched", summary.matched());
            distribution(json, "estimates", summary.estimates());
            distribution(json, "references", summary.references());
            json.writeNumberField("references_lost", summary.lostReferences());
            json.writeNumberField("oversize", summary.oversizePackets());
            json.writeNumberField("held_out", summary.heldOutCount());
            number(json, "held_out_p95_ns", summary.heldOutP95Ns());
            json.writeEndObject();
        }
        json.writeEndArray();
    }

    private static void distribution(final JsonGenerator json, final String name, final DelayDistribution distribution)
        throws IOException {
        json.writeObjectFieldStart(name);
        json.writeNumberField("count", distribution.count());
        if (distribution.count() > 0) {
            json.writeNumberField("negative", distribution.negativeCount());
            json.writeNumberField("mean_ns", distribution.meanNs());
            number(json, "sd_ns", distribution.standardDeviationNs());
            json.writeNumberField("min_ns", distribution.minimumNs());
            json.writeNumberField("max_ns", distribution.maximumNs());
            number(json, "p50_ns", distribution.p50Ns());
            number(json, "p90_ns", distribution.p90Ns());
            number(json, "p95_ns", distribution.p95Ns());
            number(json, "p99_ns", distribution.p99Ns());
            number(json, "p999_ns", distribution.p999Ns());
            number(json, "pdv_ns", distribution.delayVariationNs());
        }
        json.writeEndObject();
    }

    private static void number(final JsonGenerator json, final String name, final Long value) throws IOException {
        if (value != null) {
            json.writeNumberField(name, value);
        }
    }
}
