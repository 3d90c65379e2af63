package io.flowlag.station.view;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.ObjectMapper;
import com.sun.net.httpserver.HttpServer;
import io.flowlag.station.schema.Alert;
import org.agrona.concurrent.SystemEpochNanoClock;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

import java.io.IOException;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.net.ServerSocket;
import java.net.URI;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Queue;
import java.util.TreeSet;
import java.util.concurrent.BlockingQueue;
import java.util.concurrent.ConcurrentLinkedQueue;
import java.util.concurrent.LinkedBlockingQueue;
import java.util.concurrent.TimeUnit;

import static io.flowlag.station.view.Samples.S;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertNotNull;
import static org.junit.jupiter.api.Assumptions.assumeTrue;

/**
 * A real Alertmanager takes alerts and their ends, and what it then sends to a webhook is what the station itself sends to one.
 * {@code -Dflowlag.alertmanager} names the program where it is not installed: its package would start a service on the machine.
 */
class AlertmanagerTest {
    private static final Path PROGRAM =
        Path.of(System.getProperty("flowlag.alertmanager", "/usr/bin/prometheus-alertmanager"));

    @TempDir
    private Path directory;
    private final BlockingQueue<JsonNode> bodies = new LinkedBlockingQueue<>();
    private final Queue<Throwable> errors = new ConcurrentLinkedQueue<>();
    private volatile List<Alert> alerts = List.of();

    @Test
    void shouldTakeAlertsAndSendWhatTheStationSends() throws Exception {
        assumeTrue(Boolean.getBoolean("flowlag.require.tools") || Files.isExecutable(PROGRAM),
            "Alertmanager is not installed (Debian package prometheus-alertmanager)");
        final InetAddress loopback = InetAddress.getLoopbackAddress();
        final HttpServer receiver = HttpServer.create(new InetSocketAddress(loopback, 0), 0);
        receiver.createContext("/", (exchange) -> {
            bodies.add(new ObjectMapper().readTree(exchange.getRequestBody().readAllBytes()));
            exchange.sendResponseHeaders(200, -1);
            exchange.close();
        });
        receiver.start();
        final int port = freePort(loopback);
        final Path settings = Files.writeString(directory.resolve("alertmanager.yml"), """
            route: {receiver: back, group_wait: 1ms, group_interval: 1ms}
            receivers: [{name: back, webhook_configs: [{url: 'http://127.0.0.1:%d/'}]}]
            """.formatted(receiver.getAddress().getPort()));
        final Process program = new ProcessBuilder(
            PROGRAM.toString(), "--config.file=" + settings, "--web.listen-address=127.0.0.1:" + port,
            "--cluster.listen-address=", "--storage.path=" + directory.resolve("data")).redirectErrorStream(true)
            .redirectOutput(directory.resolve("log").toFile()).start();
        final AlertWebhook.Timing timing =
            new AlertWebhook.Timing(Duration.ofMillis(50), Duration.ofMillis(50), Duration.ofHours(1));
        final Alert on = Samples.alert("changed", SystemEpochNanoClock.INSTANCE.nanoTime() - 60 * S).build();
        final Alert over = on.toBuilder().setEndsNs(on.getStartsNs() + 50 * S + 123_456_700).build();
        try (AlertWebhook toManager = webhook("http://127.0.0.1:" + port + "/api/v2/alerts", timing);
            AlertWebhook toReceiver = webhook(receiverUri(receiver), timing)) {
            for (final Alert now : List.of(on, over)) {
                alerts = List.of(now);
                toManager.wake(); // tries until the program listens
                final JsonNode fromManager = next();
                toReceiver.wake();
                final JsonNode own = next();
                final JsonNode theirs = fromManager.at("/alerts/0");
                assertEquals(names(fromManager), names(own));
                assertEquals(names(theirs), names(own.at("/alerts/0")));
                for (final String name : List.of("status", "labels", "annotations", "startsAt", "endsAt", "generatorURL",
                    "fingerprint")) {
                    assertEquals(theirs.get(name), own.at("/alerts/0").get(name), name);
                }
                for (final String name : List.of("version", "status", "groupLabels", "commonLabels", "commonAnnotations",
                    "groupKey", "truncatedAlerts")) {
                    assertEquals(fromManager.get(name), own.get(name), name);
                }
            }
        } finally {
            program.destroy();
            program.waitFor();
            receiver.stop(0);
        }
    }

    private static String receiverUri(final HttpServer receiver) {
        return "http://127.0.0.1:" + receiver.getAddress().getPort() + "/";
    }

    private AlertWebhook webhook(final String target, final AlertWebhook.Timing timing) {
        return new AlertWebhook(new AlertWebhook.Settings(URI.create(target), "http://127.0.0.1:8080/#alerts", timing),
            () -> alerts, SystemEpochNanoClock.INSTANCE, errors::add);
    }

    private static int freePort(final InetAddress address) throws IOException {
        try (ServerSocket socket = new ServerSocket(0, 1, address)) {
            return socket.getLocalPort();
        }
    }

    private JsonNode next() throws InterruptedException {
        final JsonNode body = bodies.poll(60, TimeUnit.SECONDS);
        assertNotNull(body, () -> "nothing came: " + errors);
        return body;
    }

    private static List<String> names(final JsonNode node) {
        final TreeSet<String> names = new TreeSet<>();
        node.fieldNames().forEachRemaining(names::add);
        return new ArrayList<>(names);
    }
}
