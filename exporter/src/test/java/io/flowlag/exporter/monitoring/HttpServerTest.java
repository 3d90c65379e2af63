package io.flowlag.exporter.monitoring;

import io.flowlag.exporter.status.Heartbeat;
import org.junit.jupiter.api.Test;

import java.io.IOException;
import java.net.HttpURLConnection;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.net.URI;
import java.util.Queue;
import java.util.concurrent.ConcurrentLinkedQueue;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertInstanceOf;
import static org.junit.jupiter.api.Assertions.assertTrue;

class HttpServerTest {
    @Test
    void shouldReportAnErrorOfItsHandlerAndBeat() throws IOException {
        final Queue<Throwable> errors = new ConcurrentLinkedQueue<>();
        try (HttpServer server = new HttpServer(new InetSocketAddress(InetAddress.getLoopbackAddress(), 0), 4, HttpServer.STEP_NS,
            (request) -> {
                throw new StackOverflowError("of the test");
            }, errors::add)) {
            assertTrue(Heartbeat.living().stream().anyMatch((each) -> "http".equals(each.roleName())));
            final HttpURLConnection connection = (HttpURLConnection)URI.create(
                "http://127.0.0.1:" + server.address().getPort() + "/").toURL().openConnection();
            assertEquals(500, connection.getResponseCode());
            assertEquals(1, errors.size(), errors::toString);
            assertInstanceOf(StackOverflowError.class, errors.peek());
        }
    }
}
