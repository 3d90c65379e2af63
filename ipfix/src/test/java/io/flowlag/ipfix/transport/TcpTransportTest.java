package io.flowlag.ipfix.transport;

import io.flowlag.ipfix.session.ExportingSession;
import io.flowlag.ipfix.session.SessionCounter;
import io.flowlag.ipfix.session.SessionSettings;
import io.flowlag.ipfix.session.UnsentRecords;
import io.flowlag.ipfix.support.Await;
import io.flowlag.ipfix.support.Records;
import io.flowlag.ipfix.support.StreamCollector;
import io.flowlag.ipfix.support.StrictParser;
import io.flowlag.ipfix.template.Template;
import io.flowlag.ipfix.template.TemplateCatalog;
import org.agrona.DirectBuffer;
import org.junit.jupiter.api.Test;

import javax.net.ServerSocketFactory;
import java.io.IOException;
import java.lang.management.BufferPoolMXBean;
import java.lang.management.ManagementFactory;
import java.net.InetSocketAddress;
import java.net.StandardSocketOptions;
import java.nio.channels.SocketChannel;
import java.util.List;
import java.util.Queue;
import java.util.concurrent.ConcurrentLinkedQueue;
import java.util.concurrent.Semaphore;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertTrue;

class TcpTransportTest {
    private static final long NOW_MS = 1_700_000_000_000L;

    private final TemplateCatalog catalog = new TemplateCatalog(Records.registry());
    private final Template pair = catalog.template("sourceIPv4Address", "packetDeltaCount");
    private long nowMs = NOW_MS;

    private static StreamCollector collector(final int port) throws IOException {
        return new StreamCollector(ServerSocketFactory.getDefault(), port);
    }

    /**
     * Holds a port that the kernel assigns to no other socket and that refuses connections. A collector that knows the port may
     * share it.
     */
    private static SocketChannel heldPort() throws IOException {
        return SocketChannel.open().setOption(StandardSocketOptions.SO_REUSEADDR, true)
            .bind(new InetSocketAddress("127.0.0.1", 0));
    }

    private ExportingSession session(final StreamSettings settings, final boolean lossless) {
        return new ExportingSession(new TcpTransport(settings), new SessionSettings().lossless(lossless), catalog);
    }

    private static StreamSettings settings(final int port) {
        return StreamSettings.of(new Endpoint("127.0.0.1", port));
    }

    private void connect(final ExportingSession session) {
        Await.until("connected", () -> session.doWork(nowMs++), session.transport()::isConnected);
    }

    private void put(final ExportingSession session, final int count) {
        for (int i = 0; i < count; i++) {
            Records.putPair(session, pair, i, i, nowMs);
        }
    }

    @Test
    void shouldGiveMemoryBackAtOnceWhenItIsClosed() {
        final int octets = 16 << 20;
        final long before = directOctets();
        final SessionSettings retaining = new SessionSettings().unsentRecords(new UnsentRecords() {
            @Override
            public void onUnsent(final Template template, final DirectBuffer buffer, final int offset, final int lengthBytes) {
                // nothing was sent
            }

            @Override
            public void onUnsentEnd() {
                // nothing was sent
            }
        }, octets);
        final ExportingSession session = new ExportingSession(
            new TcpTransport(settings(1).withBuffers(octets, octets)), retaining, catalog);
        assertTrue(directOctets() - before >= 2L * octets);
        session.close();
        assertTrue(directOctets() - before < octets / 2, "its buffers are given back");
        session.close();
        assertEquals(0, session.doWork(nowMs));
        assertFalse(session.transport().isConnected());
    }

    private static long directOctets() {
        return ManagementFactory.getPlatformMXBeans(BufferPoolMXBean.class).stream()
            .filter((pool) -> "direct".equals(pool.getName())).mapToLong(BufferPoolMXBean::getMemoryUsed).sum();
    }

    @Test
    void shouldDeliverEverythingInOrder() throws IOException {
        try (StreamCollector collector = collector(0)) {
            final ExportingSession session = session(settings(collector.port()), false);
            connect(session);
            put(session, 5_000);
            assertTrue(session.close(System::currentTimeMillis, 10_000));
            Await.until("all has come", () -> { }, () -> collector.parsed(0).records().size() == 5_000);
            assertEquals(5_000, session.statistics().recordsExported());
            assertEquals(1, session.statistics().get(SessionCounter.TEMPLATES_SENT));
        }
    }

    /** As a name is that has an address of IPv6 where the collector listens on IPv4 alone, or one of a host that is down. */
    @Test
    void shouldTryEachAddressOfTheCollectorBeforeItWaits() throws IOException {
        try (StreamCollector collector = collector(0)) {
            final int port = collector.port();
            final AddressLookup lookup = new AddressLookup(new Endpoint("collector.example", port),
                () -> List.of(new InetSocketAddress("127.0.0.9", port), new InetSocketAddress("127.0.0.1", port)));
            final ExportingSession session =
                new ExportingSession(new TcpTransport(settings(port), lookup), new SessionSettings(), catalog);
            Await.until("connected", () -> session.doWork(NOW_MS), session.transport()::isConnected);
            assertEquals(1, session.transport().peerLossCount());
            session.close();
        }
    }

    /** Its questions cannot be interrupted, as those of the system. */
    @Test
    void shouldLeaveOneThreadAloneWithANameServerThatHangs() throws IOException {
        final Semaphore answers = new Semaphore(0);
        final Queue<Thread> asking = new ConcurrentLinkedQueue<>();
        try (StreamCollector collector = collector(0)) {
            final Endpoint endpoint = new Endpoint("collector.example", collector.port());
            final Transport transport = new TcpTransport(
                StreamSettings.of(endpoint).withTimes(1_000, 2_000), new AddressLookup(endpoint, () -> {
                    asking.add(Thread.currentThread());
                    answers.acquireUninterruptibly();
                    return List.of(new InetSocketAddress("127.0.0.1", collector.port()));
                }));
            Await.until("asked", () -> transport.doWork(nowMs), () -> !asking.isEmpty());
            while (transport.peerLossCount() < 200) {
                nowMs += 500;
                transport.doWork(nowMs);
                Thread.yield();
            }
            answers.release(1_000);
            Await.until("connected", () -> transport.doWork(nowMs += 100), transport::isConnected);
            assertEquals(1, asking.size());
            assertFalse(asking.contains(Thread.currentThread()));
            transport.close();
        }
    }

    @Test
    void shouldKeepToItsRate() throws IOException {
        final long bytesPerSecond = 10_000;
        final long burstBytes = 16_384;
        try (StreamCollector collector = collector(0)) {
            final ExportingSession session = session(settings(collector.port()).withRateLimit(8 * bytesPerSecond), false);
            connect(session);
            final long beginMs = nowMs;
            put(session, 10_000);
            while (nowMs < beginMs + 5_000) {
                nowMs += 50;
                session.doWork(nowMs);
                final long sent = session.transport().deliveredOctets();
                assertTrue(sent <= burstBytes + (nowMs - beginMs + 100) * bytesPerSecond / 1_000, () -> "sent " + sent);
            }
            assertTrue(session.transport().deliveredOctets() > 4 * bytesPerSecond);
            while (session.statistics().recordsWaiting() > 0) {
                nowMs += 1_000;
                session.flush(nowMs);
            }
            assertEquals(10_000, session.statistics().recordsExported());
            session.close();
        }
    }

    @Test
    void shouldFindALateCollectorAndTryNoMoreThanOnceAMinute() throws IOException {
        try (SocketChannel held = heldPort()) {
            final int port = held.socket().getLocalPort();
            final ExportingSession session = session(settings(port), false);
            final Transport transport = session.transport();
            Await.until("refused", () -> session.doWork(NOW_MS), () -> transport.state() == TransportState.DISCONNECTED &&
                !transport.lastError().isEmpty());
            assertEquals("no connection to tcp://127.0.0.1:" + port + ": Connection refused", transport.lastError());
            assertEquals(1, session.statistics().get(SessionCounter.PEER_LOSSES));
            put(session, 3);
            try (StreamCollector collector = collector(port)) {
                session.doWork(NOW_MS + 59_999);
                assertEquals(TransportState.DISCONNECTED, transport.state());
                session.doWork(NOW_MS + 60_000);
                assertFalse(transport.state() == TransportState.DISCONNECTED);
                nowMs = NOW_MS + 60_001;
                connect(session);
                Await.until("flushed", () -> session.doWork(nowMs), () -> session.flush(nowMs));
                Await.until("records have come", () -> { }, () -> collector.parsed(0).records().size() == 3);
                session.close();
            }
        }
    }

    @Test
    void shouldStartAnewWithACollectorThatRestarts() throws IOException {
        try (SocketChannel held = heldPort()) {
            final int port = held.socket().getLocalPort();
            final ExportingSession session = session(settings(port).withTimes(5_000, 100), false);
            try (StreamCollector collector = collector(port)) {
                connect(session);
                put(session, 10);
                Await.until("flushed", () -> session.doWork(nowMs), () -> session.flush(nowMs));
                Await.until("records have come", () -> { }, () -> collector.parsed(0).records().size() == 10);
            }
            Await.until("the end is seen", () -> session.doWork(nowMs++), () -> !session.transport().isConnected());
            assertTrue(session.transport().lastError().contains("tcp://127.0.0.1:" + port), session.transport().lastError());
            sendToAnother(session, port);
        }
    }

    private void sendToAnother(final ExportingSession session, final int port) throws IOException {
        try (StreamCollector collector = collector(port)) {
            nowMs += 100;
            connect(session);
            put(session, 4);
            Await.until("flushed", () -> session.doWork(nowMs), () -> session.flush(nowMs));
            Await.until("records have come", () -> { }, () -> collector.parsed(0).records().size() == 4);
            final StrictParser parser = collector.parsed(0);
            assertEquals(0, parser.messages.get(0).sequence());
            assertEquals(1, parser.messages.get(0).templates().size());
            assertEquals(10, session.statistics().recordsUncertain());
            assertEquals(14, session.statistics().recordsExported());
            assertEquals(1, session.statistics().get(SessionCounter.RECONNECTS));
            session.close();
        }
    }

    @Test
    void shouldFillItsRingCountAndNeverStallWhenACollectorDoesNotRead() throws IOException {
        try (StreamCollector collector = collector(0)) {
            collector.pauseReading();
            final ExportingSession session = session(settings(collector.port()).withBuffers(65_536, 16_384), false);
            connect(session);
            Await.until("full", () -> put(session, 1_000),
                () -> session.statistics().get(SessionCounter.RECORDS_FAILED_BUFFER_FULL) > 1_000);
            assertTrue(session.statistics().recordsWaiting() > 0);
            Records.assertBooksBalance(session.statistics());
            collector.resumeReading();
            Await.until("drained", () -> session.doWork(nowMs++), () -> session.flush(nowMs));
            put(session, 1);
            Await.until("flushed", () -> session.doWork(nowMs), () -> session.flush(nowMs));
            Await.until("records have come", () -> { },
                () -> collector.parsed(0).records().size() == session.statistics().recordsExported());
            final StrictParser parser = collector.parsed(0);
            assertEquals(session.statistics().recordsAccepted() - 1, parser.messages.get(parser.messages.size() - 1).sequence());
            session.close();
        }
    }

    @Test
    void shouldLoseNothingWhenLossless() throws IOException {
        try (StreamCollector collector = collector(0)) {
            final ExportingSession session = session(settings(collector.port()).withBuffers(65_536, 16_384), true);
            connect(session);
            collector.pauseReading();
            int blockedCount = 0;
            for (int i = 0; i < 40_000; i++) {
                while (Records.putPair(session, pair, i, i, nowMs) == ExportingSession.BLOCKED) {
                    blockedCount++;
                    collector.resumeReading();
                    session.doWork(nowMs++);
                }
            }
            assertTrue(session.close(System::currentTimeMillis, 10_000));
            assertTrue(blockedCount > 0);
            Await.until("all has come", () -> { }, () -> collector.octets(0).length ==
                session.statistics().get(SessionCounter.OCTETS));
            assertEquals(40_000, collector.parsed(0).records().size());
        }
    }

    @Test
    void shouldAccountForABrokenConnection() throws IOException {
        try (StreamCollector collector = collector(0)) {
            collector.pauseReading();
            final ExportingSession session = session(settings(collector.port()).withBuffers(65_536, 16_384), false);
            connect(session);
            Await.until("accepted", () -> session.doWork(nowMs++), () -> collector.connectionCount() == 1);
            Await.until("full", () -> put(session, 1_000),
                () -> session.statistics().get(SessionCounter.RECORDS_FAILED_BUFFER_FULL) > 0);
            collector.reset();
            Await.until("broken", () -> session.doWork(nowMs++), () -> !session.transport().isConnected());
            session.doWork(nowMs);
            assertTrue(session.statistics().get(SessionCounter.RECORDS_FAILED_CONNECTION_BROKEN) > 0);
            assertTrue(session.statistics().recordsUncertain() > 0);
            assertTrue(session.statistics().recordsUncertain() <= session.statistics().recordsExported());
            Records.assertBooksBalance(session.statistics());
            session.close();
            Records.assertBooksBalance(session.statistics());
            assertEquals(0, session.statistics().recordsWaiting());
        }
    }

    @Test
    void shouldGiveUpAnAttemptAfterItsTime() {
        final TcpTransport transport =
            new TcpTransport(StreamSettings.of(new Endpoint("127.0.0.1", 1)).withTimes(1_000, 60_000));
        transport.doWork(NOW_MS);
        Await.until("over", () -> transport.doWork(NOW_MS + 1_001), () -> transport.state() == TransportState.DISCONNECTED);
        assertFalse(transport.lastError().isEmpty());
        transport.close();
        assertEquals(TransportState.CLOSED, transport.state());
    }
}
