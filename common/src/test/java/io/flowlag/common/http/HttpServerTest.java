package io.flowlag.common.http;

import org.eclipse.jetty.util.thread.Invocable.InvocationType;
import org.junit.jupiter.api.Test;

import java.net.HttpURLConnection;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.net.URI;
import java.util.Queue;
import java.util.concurrent.ConcurrentLinkedQueue;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;

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
            }, InvocationType.BLOCKING, errors::add, ticks::countDown)) {
            assertTrue(ticks.await(10, TimeUnit.SECONDS), "no tick of the pool");
            final HttpURLConnection connection = (HttpURLConnection)URI.create(
                "http://127.0.0.1:" + server.address().getPort() + "/").toURL().openConnection();
            assertEquals(500, connection.getResponseCode());
            assertEquals(1, errors.size(), errors::toString);
            assertInstanceOf(StackOverflowError.class, errors.peek());
        }
    }
}
