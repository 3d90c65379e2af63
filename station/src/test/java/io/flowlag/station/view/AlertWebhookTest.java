package io.flowlag.station.view;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.ObjectMapper;
import com.sun.net.httpserver.HttpExchange;
import com.sun.net.httpserver.HttpServer;
import io.flowlag.station.schema.Alert;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;

import java.io.IOException;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.net.URI;
import java.time.Duration;
import java.util.List;
import java.util.Queue;
import java.util.TreeMap;
import java.util.concurrent.BlockingQueue;
import java.util.concurrent.ConcurrentLinkedQueue;
import java.util.concurrent.LinkedBlockingQueue;
import java.util.concurrent.TimeUnit;

import static io.flowlag.station.view.Samples.S;
import static io.flowlag.station.view.Samples.START_NS;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertNotNull;
import static org.junit.jupiter.api.Assertions.assertNull;
import static org.junit.jupiter.api.Assertions.assertTrue;

/** Alerts at a webhook: what is sent when, in Alertmanager's documented forms, and what happens if it fails. */
class AlertWebhookTest {
    private static final Duration SHORT = Duration.ofMillis(5);
    private static final Duration NEVER = Duration.ofHours(1);
    private static final String PAGE = "http://127.0.0.1:8080/#alerts";

    private final BlockingQueue<JsonNode> bodies = new LinkedBlockingQueue<>();
    private final BlockingQueue<Integer> statuses = new LinkedBlockingQueue<>();
    private final Queue<Throwable> errors = new ConcurrentLinkedQueue<>();
    private volatile List<Alert> alerts = List.of();
    private volatile long nowNs = START_NS;
    private HttpServer receiver;

    @BeforeEach
    void listen() throws IOException {
        receiver = HttpServer.create(new InetSocketAddress(InetAddress.getLoopbackAddress(), 0), 0);
        receiver.createContext("/", this::answer);
        receiver.start();
    }

    @AfterEach
    void end() {
        receiver.stop(0);
    }

    private void answer(final HttpExchange exchange) throws IOException {
        assertEquals("POST", exchange.getRequestMethod());
        assertEquals("application/json", exchange.getRequestHeaders().getFirst("Content-Type"));
        final JsonNode body = new ObjectMapper().readTree(exchange.getRequestBody().readAllBytes());
        final Integer status = statuses.poll();
        exchange.sendResponseHeaders(status == null ? 200 : status, -1);
        exchange.close();
        bodies.add(body);
    }

    private AlertWebhook webhook(final String path, final Duration repeat) {
        final URI target = URI.create("http://127.0.0.1:" + receiver.getAddress().getPort() + path);
        return new AlertWebhook(new AlertWebhook.Settings(target, PAGE, new AlertWebhook.Timing(SHORT, SHORT, repeat)),
            () -> alerts, () -> nowNs, errors::add);
    }

    private JsonNode next() throws InterruptedException {
        final JsonNode body = bodies.poll(60, TimeUnit.SECONDS);
        assertNotNull(body, "no request came");
        return body;
    }

    private void give(final AlertWebhook webhook, final Alert... now) {
        alerts = List.of(now);
        webhook.wake();
    }

    /** Fields of webhook_config in Alertmanager's documentation. */
    @Test
    void shouldTellWebhooksOnceOfComingAndEnding() throws Exception {
        final Alert on = Samples.alert("changed", START_NS).build();
        alerts = List.of(Samples.alert("before", START_NS - 9 * S).setEndsNs(START_NS - S).build());
        try (AlertWebhook webhook = webhook("/hook", NEVER)) {
            give(webhook, on, alerts.get(0));
            final JsonNode firing = next();
            assertEquals(List.of("4", "{}:{}", "0", "firing", "flowlag"), List.of(firing.get("version").asText(),
                firing.get("groupKey").asText(), firing.get("truncatedAlerts").asText(), firing.get("status").asText(),
                firing.get("receiver").asText()));
            assertTrue(firing.get("groupLabels").isEmpty());
            assertEquals("FlowlagDelayChanged", firing.at("/commonLabels/alertname").asText());
            assertEquals("http://127.0.0.1:8080/", firing.get("externalURL").asText());
            assertEquals(1, firing.get("alerts").size(), "what was over before is not sent");
            final JsonNode alert = firing.at("/alerts/0");
            assertEquals("firing", alert.get("status").asText());
            assertEquals(new ObjectMapper().readTree("""
                {"alertname": "FlowlagDelayChanged", "class": "0", "id": "changed", "network": "backbone", "segment": "zrh-gva",
                "severity": "critical", "slo": "voice"}"""), alert.get("labels"));
            assertEquals(on.getSummary(), alert.at("/annotations/summary").asText());
            assertEquals("2025-11-24T16:00:00Z", alert.get("startsAt").asText());
            assertEquals("0001-01-01T00:00:00Z", alert.get("endsAt").asText());
            assertEquals(PAGE, alert.get("generatorURL").asText());
            assertTrue(alert.get("fingerprint").asText().matches("[0-9a-f]{16}"));

            give(webhook, on.toBuilder().setValue(9).build()); // the next window
            give(webhook, on.toBuilder().setEndsNs(START_NS + 60 * S).build());
            final JsonNode resolved = next();
            assertEquals("resolved", resolved.get("status").asText());
            assertEquals("2025-11-24T16:01:00Z", resolved.at("/alerts/0/endsAt").asText());
            assertEquals(alert.get("fingerprint"), resolved.at("/alerts/0/fingerprint"), "the same alert");
        }
        assertNull(bodies.poll(), "nothing else");
        assertTrue(errors.isEmpty(), errors::toString);
    }

    /** Fields of postableAlerts in Alertmanager's API, version 2. */
    @Test
    void shouldRepeatToAlertmanagerWhatIsOn() throws Exception {
        try (AlertWebhook webhook = webhook("/prefix/api/v2/alerts", SHORT)) {
            give(webhook, Samples.alert("changed", START_NS).build());
            for (int i = 0; i < 3; i++) {
                final JsonNode alert = next().get(0);
                assertEquals("FlowlagDelayChanged", alert.at("/labels/alertname").asText());
                assertEquals("2025-11-24T16:00:00Z", alert.get("startsAt").asText());
                assertFalse(alert.has("endsAt"), "Alertmanager ends it if it does not come again");
                assertEquals(PAGE, alert.get("generatorURL").asText());
            }
            give(webhook, Samples.alert("changed", START_NS).setEndsNs(START_NS + S / 2).build());
            JsonNode last = next();
            while (!last.get(0).has("endsAt")) {
                last = next();
            }
            assertEquals("2025-11-24T16:00:00.5Z", last.at("/0/endsAt").asText());
        }
        assertNull(bodies.poll(), "an end is sent once");
    }

    @Test
    void shouldTryAgainWhatFails() throws Exception {
        statuses.addAll(List.of(503, 429, 500, 200));
        try (AlertWebhook webhook = webhook("/hook", NEVER)) {
            give(webhook, Samples.alert("changed", START_NS).build());
            for (int i = 0; i < 4; i++) {
                assertEquals("firing", next().get("status").asText());
            }
            give(webhook, Samples.alert("changed", START_NS).setEndsNs(START_NS + S).build());
            assertEquals("resolved", next().get("status").asText());
            assertEquals(3, webhook.failedCount());
            assertEquals(3, errors.size(), "each fault once: " + errors);
            assertTrue(errors.peek().getMessage().contains("status 503: correct alerts.webhook"), errors::toString);
        }
    }

    @Test
    void shouldCountWhatItDrops() throws Exception {
        statuses.addAll(List.of(400, 500));
        try (AlertWebhook webhook = webhook("/hook", NEVER)) {
            give(webhook, Samples.alert("refused", START_NS).build());
            next();
            final Alert over = Samples.alert("late", START_NS).setEndsNs(START_NS + S).build();
            nowNs = START_NS + AlertWebhook.KEPT.toNanos() + 2 * S;
            give(webhook, Samples.alert("refused", START_NS).build(), over, Samples.alert("new", START_NS).build());
            assertEquals("new", next().at("/alerts/0/labels/id").asText(), "500");
            final JsonNode again = next();
            assertEquals(1, again.get("alerts").size());
            assertEquals(2, webhook.droppedCount(), "one refused, one whose end is long over");
        }
    }

    /** By the FNV-1a of the empty text, and of one label that was computed with another program. */
    @Test
    void shouldHaveTheFingerprintsOfPrometheus() {
        final TreeMap<String, String> labels = new TreeMap<>();
        assertEquals("cbf29ce484222325", AlertJson.fingerprint(labels));
        labels.put("a", "b");
        assertEquals("d2b371819297f98a", AlertJson.fingerprint(labels));
    }
}
