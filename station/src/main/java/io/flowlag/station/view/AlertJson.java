package io.flowlag.station.view;

import com.fasterxml.jackson.databind.node.ArrayNode;
import com.fasterxml.jackson.databind.node.ObjectNode;
import io.flowlag.station.schema.Alert;

import java.nio.charset.StandardCharsets;
import java.time.Instant;
import java.util.Collection;
import java.util.Locale;
import java.util.Map;
import java.util.SortedMap;
import java.util.TreeMap;

/** Alerts for REST, and as Prometheus Alertmanager has them: what it takes, and what it sends to webhooks. Any thread. */
final class AlertJson {
    private static final String FIRING = "firing";
    private static final long NS_PER_S = 1_000_000_000;
    /** What Alertmanager writes for an alert that has no end. */
    private static final String NO_END = "0001-01-01T00:00:00Z";
    private static final long FNV_START = 0xcbf29ce484222325L;
    private static final long FNV_PRIME = 0x100000001b3L;
    private static final int SEPARATOR = 255;

    private AlertJson() {
    }

    /** An alert as {@code docs/station/openapi.yaml} has it. */
    static ObjectNode rest(final Alert alert, final boolean isCurrent) {
        final ObjectNode node = ViewJson.object();
        node.put("id", alert.getId()).put("network", alert.getNetwork());
        if (alert.hasDscp()) {
            node.put("class", alert.getDscp());
        }
        node.put("kind", kind(alert)).put("severity", severity(alert)).put("summary", alert.getSummary());
        if (alert.hasSegment()) {
            node.put("segment", alert.getSegment());
        }
        if (alert.hasSlo()) {
            node.put("slo", alert.getSlo());
        }
        if (alert.hasVerdict()) {
            node.put("verdict", alert.getVerdict());
        }
        ViewJson.putTime(node, "starts_ms", alert.getStartsNs());
        ViewJson.putTime(node, "ends_ms", alert.getEndsNs());
        node.put("is_current", isCurrent);
        ViewJson.put(node, alert.getKind() == Alert.Kind.BUDGET_BURNS ? "burn_ratio" : "effect_ns", alert.hasValue(),
            alert.getValue());
        return node;
    }

    static String kind(final Alert alert) {
        return alert.getKind().name().replaceFirst("KIND_", "").toLowerCase(Locale.ROOT);
    }

    /** {@return the word that alert rules of docs/observe have too} */
    static String severity(final Alert alert) {
        return alert.getSeverity() == Alert.Severity.PAGE ? "critical" : "warning";
    }

    /** {@return what tells alerts apart; the same while an alert is on} */
    private static SortedMap<String, String> labels(final Alert alert) {
        final StringBuilder name = new StringBuilder("Flowlag");
        for (final String word : kind(alert).split("_")) {
            name.append(Character.toUpperCase(word.charAt(0))).append(word, 1, word.length());
        }
        final SortedMap<String, String> labels = new TreeMap<>(Map.of(
            "alertname", name.toString(), "severity", severity(alert), "network", alert.getNetwork(), "id", alert.getId()));
        if (alert.hasDscp()) {
            labels.put("class", Integer.toString(alert.getDscp()));
        }
        if (alert.hasSegment()) {
            labels.put("segment", alert.getSegment());
        }
        if (alert.hasSlo()) {
            labels.put("slo", alert.getSlo());
        }
        return labels;
    }

    private static void putLabels(final ObjectNode node, final Alert alert) {
        labels(alert).forEach(node.putObject("labels")::put);
        node.putObject("annotations").put("summary", alert.getSummary());
    }

    /** {@return a time without zeros at its end, as Go writes it} */
    private static String time(final long timeNs) {
        return Instant.ofEpochSecond(timeNs / NS_PER_S, timeNs % NS_PER_S).toString().replaceFirst("(\\.[0-9]*?)0+Z$", "$1Z");
    }

    /**
     * {@return the body of {@code POST /api/v2/alerts}; an alert that is on has no end, so Alertmanager ends it if it does not
     * come again}
     *
     * @param page address of the page of alerts; empty for none.
     */
    static ArrayNode postable(final Collection<Alert> alerts, final String page) {
        final ArrayNode body = ViewJson.object().arrayNode();
        for (final Alert alert : alerts) {
            final ObjectNode node = body.addObject();
            putLabels(node, alert);
            node.put("startsAt", time(alert.getStartsNs()));
            if (alert.hasEndsNs()) {
                node.put("endsAt", time(alert.getEndsNs()));
            }
            if (!page.isEmpty()) {
                node.put("generatorURL", page);
            }
        }
        return body;
    }

    /** {@return what Alertmanager sends to webhooks, version 4, as one group of all} */
    static ObjectNode webhook(final Collection<Alert> alerts, final String page) {
        final ObjectNode body = ViewJson.object();
        final boolean isFiring = alerts.stream().anyMatch((alert) -> !alert.hasEndsNs());
        body.put("version", "4").put("groupKey", "{}:{}").put("truncatedAlerts", 0).put("status", isFiring ? FIRING : "resolved")
            .put("receiver", "flowlag");
        body.putObject("groupLabels");
        SortedMap<String, String> common = null;
        final ArrayNode nodes = ViewJson.object().arrayNode();
        for (final Alert alert : alerts) {
            final SortedMap<String, String> labels = labels(alert);
            final ObjectNode node = nodes.addObject().put("status", alert.hasEndsNs() ? "resolved" : FIRING);
            putLabels(node, alert);
            node.put("startsAt", time(alert.getStartsNs())).put("endsAt", alert.hasEndsNs() ? time(alert.getEndsNs()) : NO_END);
            node.put("generatorURL", page).put("fingerprint", fingerprint(labels));
            if (common == null) {
                common = new TreeMap<>(labels);
            } else {
                common.entrySet().retainAll(labels.entrySet());
            }
        }
        final ObjectNode commonLabels = body.putObject("commonLabels");
        if (common != null) {
            common.forEach(commonLabels::put);
        }
        final ObjectNode annotations = body.putObject("commonAnnotations");
        if (alerts.stream().map(Alert::getSummary).distinct().count() == 1) {
            annotations.put("summary", alerts.iterator().next().getSummary());
        }
        body.put("externalURL", page.replaceFirst("#.*", ""));
        body.set("alerts", nodes);
        return body;
    }

    /** FNV-1a of names and values in order, each with an octet 255 behind it: as Prometheus does it. */
    static String fingerprint(final SortedMap<String, String> labels) {
        long hash = FNV_START;
        for (final Map.Entry<String, String> label : labels.entrySet()) {
            for (final String text : new String[]{label.getKey(), label.getValue()}) {
                for (final byte octet : text.getBytes(StandardCharsets.UTF_8)) {
                    hash = (hash ^ octet & 0xff) * FNV_PRIME;
                }
                hash = (hash ^ SEPARATOR) * FNV_PRIME;
            }
        }
        return String.format("%016x", hash);
    }
}
