package io.flowlag.exporter.exchange.link;

import io.flowlag.exporter.exchange.link.ExchangeFixture.Heard;
import io.flowlag.exporter.exchange.link.ExchangeFixture.Received;
import io.flowlag.ipfix.transport.TlsCredentials;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

import java.net.InetSocketAddress;
import java.nio.file.Path;
import java.util.List;

import static org.junit.jupiter.api.Assertions.assertEquals;

/** The sockets themselves, on loopback. {@link LastWordsTest} has a peer that reads slowly; all else goes through memory. */
class ExchangeTcpTest {
    private static final long STEP_NS = 10_000_000;

    private final ExchangeFixture ends = new ExchangeFixture(TcpChannel.NETWORK);
    private final Received received = new Received();
    private final Heard heard = new Heard();

    @AfterEach
    void closeEnds() {
        ends.close();
    }

    private void ship(final ExchangeConnector connector, final int count) {
        for (int number = 1; number <= count; number++) {
            connector.offer(ExchangeFixture.interval(connector, number));
        }
        ends.until("answers", () -> heard.answered.size() == count);
    }

    /** Nobody serves the first address, and the receiver that serves the second one is started again. */
    @Test
    void shouldConnectAndConnectAgain() throws Exception {
        final ExchangeListener listener = ends.listener(received);
        final int port = ends.port(listener);
        final ExchangeConnector connector = ends.connector(heard, port, context -> context.resolver(
            () -> List.of(new InetSocketAddress("127.0.0.9", port), new InetSocketAddress("127.0.0.1", port))));
        ends.untilWithTime("settings held", STEP_NS, () -> received.held.equals(List.of(1)));
        assertEquals(List.of("no connection to 127.0.0.1:" + port + ": Connection refused"), heard.ends);
        ship(connector, 3);
        listener.close();
        final ExchangeListener next = ends.listener(received, port, context -> {
        });
        ends.untilWithTime("settings held again", STEP_NS, () -> received.held.equals(List.of(1, 1)));
        assertEquals(1, next.counters().get(ExchangeCounter.SESSIONS));
        assertEquals(1, connector.counters().get(ExchangeCounter.CONNECT_FAILURES));
        assertEquals(List.of(1L, 2L, 3L), received.intervals);
    }

    @Test
    void shouldExchangeOverTls(@TempDir final Path directory) throws Exception {
        final TestCredentials credentials = new TestCredentials(directory);
        credentials.make("point", "IP:127.0.0.1");
        final TlsCredentials tls = credentials.credentials("point", "point");
        final ExchangeListener listener = ends.listener(received, 0, context -> context.tls(tls, List.of()));
        final ExchangeConnector connector = ends.connector(
            heard, ends.port(listener), context -> context.tls(tls, null, List.of()));
        ends.until("settings held", () -> received.held.equals(List.of(1)));
        ship(connector, 3);
        connector.close();
        ends.until("good-bye", () -> received.ends.size() == 1);
        assertEquals(1, listener.counters().get(ExchangeCounter.ENDED_BY_PEER));
    }
}
