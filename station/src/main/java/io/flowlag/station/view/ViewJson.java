package io.flowlag.station.view;

import com.fasterxml.jackson.core.JsonProcessingException;
import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.ObjectMapper;
import com.fasterxml.jackson.databind.node.ArrayNode;
import com.fasterxml.jackson.databind.node.ObjectNode;
import io.flowlag.common.http.HttpResponse;
import io.flowlag.network.window.WindowHistogram;
import io.flowlag.station.schema.SegmentWindow;
import io.flowlag.station.schema.Verdict;
import org.agrona.concurrent.UnsafeBuffer;
import org.eclipse.jetty.http.HttpStatus;

import java.util.Locale;
import java.util.concurrent.TimeUnit;

/** Windows and verdicts as {@code docs/station/openapi.yaml} has them. What is not known is absent. Any thread. */
final class ViewJson {
    private static final ObjectMapper MAPPER = new ObjectMapper();
    private static final double[] QUANTILES = {0.5, 0.9, 0.99};
    private static final int EXACT_LOSS = 1;

    private ViewJson() {
    }

    static ObjectNode object() {
        return MAPPER.createObjectNode();
    }

    static HttpResponse response(final JsonNode body) {
        return response(200, "application/json", body);
    }

    /** A fault as RFC 9457 has it. */
    static HttpResponse problem(final int status, final String detail) {
        final ObjectNode body = object();
        body.put("type", "about:blank").put("title", HttpStatus.getMessage(status)).put("status", status).put("detail", detail);
        return response(status, "application/problem+json", body);
    }

    private static HttpResponse response(final int status, final String type, final JsonNode body) {
        try {
            return HttpResponse.of(status, type, MAPPER.writeValueAsString(body));
        } catch (final JsonProcessingException ex) {
            throw new IllegalStateException(ex);
        }
    }

    /** Puts ns since the epoch as whole ms; 0 is not known. */
    static void putTime(final ObjectNode node, final String name, final long timeNs) {
        if (timeNs > 0) {
            node.put(name, TimeUnit.NANOSECONDS.toMillis(timeNs));
        }
    }

    /** Puts what is known. */
    static void put(final ObjectNode node, final String name, final boolean isKnown, final double value) {
        if (isKnown && Double.isFinite(value)) {
            node.put(name, value);
        }
    }

    /** The mean less the floor, NaN if one of them is not known. */
    static double excessNs(final SegmentWindow window) {
        return window.hasMeanNs() && window.hasFloorNs() ? window.getMeanNs() - window.getFloorNs() : Double.NaN;
    }

    /** A segment, its class and its newest window. */
    static ObjectNode segment(final SegmentWindow window, final boolean isCurrent) {
        final ObjectNode node = object();
        node.put("network", window.getNetwork()).put("segment", window.getSegment());
        if (window.hasDscp()) {
            node.put("class", window.getDscp());
        }
        node.put("is_mapped", window.getIsMapped()).put("is_current", isCurrent);
        addWindow(node, window);
        return node;
    }

    /** Adds a window. */
    static void addWindow(final ObjectNode node, final SegmentWindow window) {
        putTime(node, "start_ms", window.getStartNs());
        putTime(node, "end_ms", window.getEndNs());
        node.put("is_final", window.getFinal());
        if (window.getSourceValue() > 0) {
            node.put("source", window.getSource().name().replaceFirst("SOURCE_", "").toLowerCase(Locale.ROOT));
        }
        node.put("packets", window.getPackets()).put("samples", window.getSamples()).put("intervals", window.getIntervals());
        if (window.hasMissingIntervals()) {
            node.put("missing_intervals", window.getMissingIntervals());
        }
        if (window.hasMissingRecords()) {
            node.put("missing_records", window.getMissingRecords());
        }
        put(node, "mean_ns", window.hasMeanNs(), window.getMeanNs());
        put(node, "deviation_ns", window.hasDeviationNs(), window.getDeviationNs());
        put(node, "minimum_ns", window.hasMinimumNs(), window.getMinimumNs());
        put(node, "maximum_ns", window.hasMaximumNs(), window.getMaximumNs());
        put(node, "bound_ns", window.hasBoundNs(), window.getBoundNs());
        put(node, "clock_bound_ns", window.hasClockBoundNs(), window.getClockBoundNs());
        put(node, "floor_ns", window.hasFloorNs(), window.getFloorNs());
        put(node, "excess_ns", true, excessNs(window));
        if (window.hasLost()) {
            node.put("lost_packets", window.getLost());
            node.put("loss_kind", window.getLossKind() == EXACT_LOSS ? "exact" : "upper_bound");
        }
        addQuantiles(node, window);
        node.put("is_floor_moved", window.getIsFloorMoved());
    }

    private static void addQuantiles(final ObjectNode node, final SegmentWindow window) {
        final byte[] octets = window.getHistogram().toByteArray();
        final WindowHistogram histogram = octets.length == 0 ? null : new WindowHistogram();
        if (histogram != null && histogram.add(new UnsafeBuffer(octets), 0, octets.length)) {
            node.put("quantile_samples", histogram.count());
            node.put("quantile_error_ratio", histogram.relativeError());
            for (final double quantile : QUANTILES) {
                put(node, "p" + Math.round(100 * quantile) + "_ns", true, histogram.quantileNs(quantile));
            }
        }
    }

    /** A verdict. */
    static ObjectNode verdict(final Verdict verdict, final boolean isCurrent) {
        final ObjectNode node = object();
        node.put("id", verdict.getId()).put("network", verdict.getNetwork());
        if (verdict.hasDscp()) {
            node.put("class", verdict.getDscp());
        }
        putTime(node, "start_ms", verdict.getStartNs());
        putTime(node, "end_ms", verdict.getEndNs());
        putTime(node, "since_ms", verdict.getSinceNs());
        node.put("is_final", verdict.getFinal()).put("is_current", isCurrent);
        node.put("kind", verdict.getKind().name().replaceFirst("KIND_", "").toLowerCase(Locale.ROOT));
        final ArrayNode suspects = node.putArray("suspects");
        verdict.getSuspectsList().forEach((suspect) -> suspects.addObject().put("from", suspect.getFrom())
            .put("to", suspect.getTo()).put("probability", suspect.getProbability()));
        put(node, "effect_ns", verdict.hasEffectNs(), verdict.getEffectNs());
        put(node, "effect_low_ns", verdict.hasEffectLowNs(), verdict.getEffectLowNs());
        put(node, "effect_high_ns", verdict.hasEffectHighNs(), verdict.getEffectHighNs());
        put(node, "confidence", verdict.hasConfidence(), verdict.getConfidence());
        verdict.getEvidenceList().forEach(node.putArray("evidence")::add);
        if (verdict.hasClock()) {
            node.put("clock", verdict.getClock());
        }
        node.put("is_one_route", verdict.getIsOneRoute());
        return node;
    }
}
