package io.flowlag.exporter.monitoring;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.ObjectMapper;
import io.flowlag.common.http.HttpServer;
import io.flowlag.exporter.status.Heartbeat;
import net.jqwik.api.ForAll;
import net.jqwik.api.Property;
import net.jqwik.api.constraints.Size;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

import java.io.IOException;
import java.io.UncheckedIOException;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.net.Socket;
import java.net.SocketException;
import java.net.SocketTimeoutException;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.regex.Pattern;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertTrue;

/** The HTTP server and what it serves, good and hostile requests. */
class StatusServerTest {
    private static final String HOST = "Host: localhost\r\n";
    private static final Pattern LOADED = Pattern.compile("(?:src|href)=\"(/[^\"]+)\"");
    /**
     * Fewer than wait in the kernel to be accepted. If it refused some, they would come again later, and each would close another
     * connection.
     */
    private static final int ACCEPTED_TOGETHER = 50;

    private static void assertLoaded(final StatusServerFixture fixture, final String path) {
        try {
            final StatusServerFixture.Answer answer = fixture.get(path);
            assertEquals(200, answer.status(), path);
            final String type = path.endsWith(".css") ? "css" : "javascript";
            assertTrue(answer.head().contains("Content-Type: text/" + type), answer.head());
        } catch (final IOException ex) {
            throw new UncheckedIOException(ex);
        }
    }

    private static byte[] octets(final String text) {
        return text.getBytes(StandardCharsets.ISO_8859_1);
    }

    @Test
    void shouldServeMetricsHealthStatusAndPage() throws IOException {
        try (StatusServerFixture fixture = new StatusServerFixture(Snapshots.of(2))) {
            final StatusServerFixture.Answer metrics = fixture.get("/metrics?x=y");
            assertEquals(200, metrics.status());
            assertTrue(metrics.head().contains("Content-Type: text/plain; version=0.0.4; charset=utf-8"), metrics.head());
            StrictMetrics.parse(metrics.body(), false);
            final StatusServerFixture.Answer open = fixture.send(octets(
                "GET /metrics HTTP/1.1\r\n" + HOST + "Accept: application/openmetrics-text;version=1.0.0,*/*;q=0.1\r\n\r\n"));
            assertTrue(open.head().contains("application/openmetrics-text; version=1.0.0"), open.head());
            StrictMetrics.parse(open.body(), true);

            assertTrue(Heartbeat.living().stream().anyMatch((each) -> "http".equals(each.roleName())));
            final StatusServerFixture.Answer health = fixture.get("/healthz");
            assertEquals(200, health.status());
            assertEquals("ok", new ObjectMapper().readTree(health.body()).get("status").asText());
            final JsonNode status = new ObjectMapper().readTree(fixture.get("/status.json").body());
            assertEquals(20, status.get("flows").size());
            assertEquals(Snapshots.HOSTILE, status.get("statistics").get("sources").get(1).get("name").asText());

            final StatusServerFixture.Answer page = fixture.get("/");
            assertTrue(page.head().contains(
                "Content-Security-Policy: default-src 'none'; style-src 'self'; script-src 'self'; connect-src 'self'"),
                page.head());
            assertFalse(page.head().contains("unsafe"), page.head());
            assertFalse(page.body().contains("<style") || page.body().contains("<script>") || page.body().contains("://"),
                "nothing inline, nothing from elsewhere");
            LOADED.matcher(page.body()).results().forEach((each) -> assertLoaded(fixture, each.group(1)));
            assertEquals(List.of(), fixture.errors());
        }
    }

    @Test
    void shouldSayIllWith503() throws IOException {
        try (StatusServerFixture fixture = new StatusServerFixture(Snapshots.of(3))) {
            final StatusServerFixture.Answer health = fixture.get("/healthz");
            assertEquals(503, health.status());
            final JsonNode json = new ObjectMapper().readTree(health.body());
            assertEquals("failing", json.get("status").asText());
            assertFalse(json.get("checks").get(1).get("ok").asBoolean());
        }
        try (StatusServerFixture fixture = new StatusServerFixture(null)) {
            assertEquals(503, fixture.get("/metrics").status());
            assertEquals(200, fixture.get("/").status());
        }
    }

    @Test
    void shouldAnswerHeadWithoutABody() throws IOException {
        try (StatusServerFixture fixture = new StatusServerFixture(Snapshots.of(2))) {
            final StatusServerFixture.Answer answer = fixture.send(octets("HEAD /metrics HTTP/1.1\r\n" + HOST + "\r\n"));
            assertEquals(200, answer.status());
            assertEquals("", answer.body());
        }
    }

    @Test
    void shouldRefuseWhatItDoesNotServe() throws IOException {
        try (StatusServerFixture fixture = new StatusServerFixture(Snapshots.of(2))) {
            assertEquals(400, fixture.get("/../etc/passwd").status());
            assertEquals(404, fixture.get("//metrics").status());
            assertEquals(404, fixture.get("/metrics/").status());
            assertEquals(404, fixture.get("/%6detrics").status());
            for (final String method : List.of("POST", "PUT", "DELETE", "TRACE", "BREW")) {
                final StatusServerFixture.Answer answer =
                    fixture.send(octets(method + " /metrics HTTP/1.1\r\n" + HOST + "Content-Length: 3\r\n\r\nabc"));
                assertEquals(405, answer.status(), method);
                assertTrue(answer.head().contains("Allow: GET, HEAD"), method);
            }
            assertEquals(421, fixture.send(octets("GET / HTTP/1.1\r\nHost: evil.example\r\n\r\n")).status());
            assertEquals(200, fixture.send(octets("GET / HTTP/1.1\r\nHost: [::1]:80\r\n\r\n")).status());
            assertEquals(400, fixture.send(octets("GET / HTTP/1.1\r\n\r\n")).status(), "no host");
            assertEquals(200, fixture.send(octets("GET / HTTP/1.0\r\n\r\n")).status());
            assertEquals(400, fixture.send(octets("GET / HTTP/1.1\r\n" + HOST + HOST + "\r\n")).status(), "two hosts");
            assertEquals(400, fixture.send(octets("GET / HTTP/1.1\r\n" + HOST + " folded: x\r\n\r\n")).status());
            assertEquals(200, fixture.send(octets("GET http://localhost/ HTTP/1.1\r\n" + HOST + "\r\n")).status());
            assertEquals(400, fixture.send(octets("GET http://evil.example/ HTTP/1.1\r\n" + HOST + "\r\n")).status());
            assertEquals(421, fixture.send(
                octets("GET http://evil.example/ HTTP/1.1\r\nHost: evil.example\r\n\r\n")).status());
            assertEquals(400, fixture.send(octets("\u0016\u0003\u0001 a TLS client")).status());
            assertEquals(505, fixture.send(octets("GET / HTTP/2.0\r\n" + HOST + "\r\n")).status());
            assertEquals(414, fixture.get("/" + "a".repeat(2000)).status());
            assertEquals(List.of(), fixture.errors());
        }
    }

    @Test
    void shouldRefuseGiantHeads() throws IOException {
        try (StatusServerFixture fixture = new StatusServerFixture(Snapshots.of(2))) {
            assertEquals(431, fixture.send(
                octets("GET / HTTP/1.1\r\n" + HOST + "X: " + "a".repeat(HttpServer.MAXIMUM_HEAD_BYTES) + "\r\n\r\n")).status());
            assertEquals(431, fixture.send(
                octets("GET / HTTP/1.1\r\n" + HOST + "X: y\r\n".repeat(HttpServer.MAXIMUM_HEAD_BYTES / 6))).status());
            assertEquals(414, fixture.send(octets("GET /" + "a".repeat(HttpServer.MAXIMUM_HEAD_BYTES))).status());
            assertEquals(200, fixture.get("/healthz").status());
        }
    }

    /** Clients that say nothing, or an octet now and then, do not keep others out. */
    @Test
    void shouldServeBesideAThousandConnectionsThatSayNothing() throws IOException {
        final List<Socket> silent = new ArrayList<>();
        try (StatusServerFixture fixture = new StatusServerFixture(Snapshots.of(2))) {
            for (int i = 0; i < 1000; i++) {
                final Socket socket = fixture.connect();
                silent.add(socket);
                if (i % 3 == 0) {
                    send(socket, octets("G"));
                }
                if (i % ACCEPTED_TOGETHER == 0) {
                    assertEquals(200, fixture.get("/healthz").status());
                }
            }
            final String metrics = fixture.get("/metrics").body();
            final Map<String, Double> samples = StrictMetrics.parse(metrics, false).samples();
            final double ended = samples.get("flowlag_http_evicted_connections_total{}") +
                samples.get("flowlag_http_overdue_connections_total{}");
            assertTrue(ended >= 1000 - StatusServerFixture.CONNECTIONS, ended + " ended");
            assertEquals(List.of(), fixture.errors());
        } finally {
            for (final Socket socket : silent) {
                socket.close();
            }
        }
    }

    /** The server may have ended the connection by then. */
    private static void send(final Socket socket, final byte[] octets) throws IOException {
        try {
            socket.getOutputStream().write(octets);
        } catch (final SocketException ex) {
            assertTrue(socket.isConnected());
        }
    }

    /**
     * Two hundred clients that send an octet now and then, or ask and read nothing: others are answered, threads stay bounded. No
     * deadline helps: it is an hour away.
     */
    @ParameterizedTest
    @ValueSource(booleans = {false, true})
    void shouldServeBesideSlowClients(final boolean isAsking) throws IOException {
        final List<Socket> slow = new ArrayList<>();
        final Set<Thread> before = Thread.getAllStackTraces().keySet();
        try (StatusServerFixture fixture = new StatusServerFixture(Snapshots.of(2))) {
            for (int i = 1; i <= 200; i++) {
                final Socket socket = new Socket();
                socket.setReceiveBufferSize(1024);
                socket.connect(new InetSocketAddress(InetAddress.getLoopbackAddress(), fixture.port()));
                slow.add(socket);
                send(socket, octets(isAsking ? "GET /metrics HTTP/1.1\r\n" + HOST + "\r\n" : "G"));
                if (i % ACCEPTED_TOGETHER == 0) {
                    assertEquals(200, fixture.get("/healthz").status());
                }
            }
            for (int octet = 0; octet < 3; octet++) {
                for (final Socket socket : slow) {
                    send(socket, octets("E"));
                }
                assertEquals(200, fixture.get("/healthz").status());
            }
            final Set<Thread> after = new HashSet<>(Thread.getAllStackTraces().keySet());
            after.removeAll(before);
            assertTrue(after.stream().filter((each) -> each.getName().startsWith("http")).count() <= 5, after::toString);
            assertEquals(List.of(), fixture.errors());
        } finally {
            for (final Socket socket : slow) {
                socket.close();
            }
        }
    }

    /** An octet now and then does not move the deadline. */
    @Test
    void shouldEndSlowRequestsAtTheirDeadline() throws IOException {
        try (StatusServerFixture fixture = new StatusServerFixture(Snapshots.of(2), 1_000_000_000L);
            Socket socket = fixture.connect()) {
            socket.setSoTimeout(100);
            final long startNs = System.nanoTime();
            boolean isOpen = true;
            while (isOpen) {
                assertTrue(System.nanoTime() - startNs < 30_000_000_000L, "still open");
                send(socket, octets("G"));
                isOpen = isOpen(socket);
            }
            assertEquals(1, StrictMetrics.parse(fixture.get("/metrics").body(), false).samples()
                .get("flowlag_http_overdue_connections_total{}"));
        }
    }

    private static boolean isOpen(final Socket socket) throws IOException {
        try {
            return socket.getInputStream().read() >= 0;
        } catch (final SocketTimeoutException ex) {
            return true;
        } catch (final SocketException ex) {
            return false;
        }
    }

    @Test
    void shouldTakeARequestOctetByOctet() throws IOException {
        try (StatusServerFixture fixture = new StatusServerFixture(Snapshots.of(2)); Socket socket = fixture.connect()) {
            socket.setTcpNoDelay(true);
            for (final byte octet : octets("GET /healthz HTTP/1.1\r\n" + HOST + "\r\n")) {
                socket.getOutputStream().write(octet);
            }
            assertEquals(200, StatusServerFixture.read(socket).status());
        }
    }

    /** No octets cause an unexpected exception, and every answer carries the security policy. */
    @Property(tries = 100)
    void shouldSurviveAnything(@ForAll @Size(max = 300) final byte[] octets, @ForAll final boolean hasGoodBeginning)
        throws IOException {
        try (StatusServerFixture fixture = new StatusServerFixture(Snapshots.of(2)); Socket socket = fixture.connect()) {
            send(socket, octets(hasGoodBeginning ? "GET / HTTP/1.1\r\n" + HOST : ""));
            send(socket, octets);
            send(socket, octets("\r\n\r\n"));
            socket.shutdownOutput();
            final StatusServerFixture.Answer answer = StatusServerFixture.read(socket);
            assertTrue(
                answer.status() == 0 || answer.head().contains("Content-Security-Policy: default-src 'none'"), answer.head());
            assertEquals(200, fixture.get("/healthz").status());
            assertEquals(List.of(), fixture.errors());
        }
    }
}
