package io.flowlag.common.http;

import org.eclipse.jetty.util.thread.Invocable.InvocationType;
import org.junit.jupiter.api.Test;

import java.net.HttpURLConnection;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.net.Socket;
import java.net.URI;
import java.util.Optional;
import java.util.Queue;
import java.util.concurrent.ConcurrentLinkedQueue;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;
import javax.net.ssl.SSLContext;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertInstanceOf;
import static org.junit.jupiter.api.Assertions.assertTrue;

class HttpServerTest {
    @Test
    void shouldReportAnErrorOfItsHandlerAndTick() throws Exception {
        final CountDownLatch ticks = new CountDownLatch(2);
        final Queue<Throwable> errors = new ConcurrentLinkedQueue<>();
        try (HttpServer server = new HttpServer(new InetSocketAddress(InetAddress.getLoopbackAddress(), 0), 4, HttpServer.STEP_NS,
            (request) -> {
                throw new StackOverflowError("of the test");
            }, InvocationType.BLOCKING, errors::add, Optional.empty(), ticks::countDown)) {
            assertTrue(ticks.await(10, TimeUnit.SECONDS), "no tick of the pool");
            final HttpURLConnection connection = (HttpURLConnection)URI.create(
                "http://127.0.0.1:" + server.address().getPort() + "/").toURL().openConnection();
            assertEquals(500, connection.getResponseCode());
            assertEquals(1, errors.size(), errors::toString);
            assertInstanceOf(StackOverflowError.class, errors.peek());
        }
    }

    @Test
    void shouldEndAHandshakeThatTakesTooLong() throws Exception {
        final InetAddress loopback = InetAddress.getLoopbackAddress();
        final Queue<Throwable> errors = new ConcurrentLinkedQueue<>();
        try (HttpServer server = new HttpServer(new InetSocketAddress(loopback, 0), 4, 300_000_000, (request) ->
            HttpResponse.refusal(404), InvocationType.BLOCKING, errors::add, Optional.of(new HttpServer.Tls(
            SSLContext.getDefault(), HttpServer.Tls.Certificates.REQUIRED)), () -> { });
            Socket client = new Socket(loopback, server.address().getPort())) {
            client.setSoTimeout(20_000);
            client.getOutputStream().write(0x16); // the first octet of a hello
            assertTrue(client.getInputStream().readAllBytes().length < 100, "an alert at most, and the end");
            assertTrue(errors.isEmpty(), errors::toString);
        }
    }
}
