package io.flowlag.ipfix.transport;

import io.flowlag.ipfix.session.ExportingSession;
import io.flowlag.ipfix.session.SessionCounter;
import io.flowlag.ipfix.session.SessionSettings;
import io.flowlag.ipfix.support.Await;
import io.flowlag.ipfix.support.Records;
import io.flowlag.ipfix.support.StrictParser;
import io.flowlag.ipfix.template.Template;
import io.flowlag.ipfix.template.TemplateCatalog;
import org.agrona.concurrent.UnsafeBuffer;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

import java.io.IOException;
import java.net.DatagramPacket;
import java.net.DatagramSocket;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.net.SocketTimeoutException;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertTrue;
import static org.junit.jupiter.api.Assumptions.assumeTrue;

class UdpTransportTest {
    private static final long NOW_MS = 1_700_000_000_000L;
    private static final long LINGER_MS = 100L;
    /** A label has at most 63 octets, so no name server is asked. */
    private static final String NO_HOST = "h".repeat(64);

    private final TemplateCatalog catalog = new TemplateCatalog(Records.registry());
    private final Template pair = catalog.template("sourceIPv4Address", "packetDeltaCount");

    private static DatagramSocket collector(final String host, final int port) throws IOException {
        final DatagramSocket socket = new DatagramSocket(null);
        socket.setReuseAddress(true);
        socket.bind(new InetSocketAddress(InetAddress.getByName(host), port));
        socket.setSoTimeout(10_000);
        return socket;
    }

    /**
     * Holds a port that the kernel assigns to no other socket and that refuses datagrams. A collector that knows the port may
     * share it.
     */
    private static DatagramSocket heldPort() throws IOException {
        final DatagramSocket socket = collector("127.0.0.1", 0);
        socket.connect(new InetSocketAddress("127.0.0.2", 9));
        return socket;
    }

    private static byte[] receive(final DatagramSocket socket) throws IOException {
        final DatagramPacket packet = new DatagramPacket(new byte[65536], 65536);
        socket.receive(packet);
        return Arrays.copyOf(packet.getData(), packet.getLength());
    }

    private static boolean hasIpv6() {
        try (DatagramSocket socket = collector("::1", 0)) {
            return socket.isBound();
        } catch (final IOException ex) {
            return false;
        }
    }

    @ParameterizedTest
    @ValueSource(strings = {"127.0.0.1", "::1", "localhost"})
    void shouldDeliverMessagesOverBothFamiliesAndByName(final String host) throws IOException {
        assumeTrue(!"::1".equals(host) || hasIpv6(), "this machine has no IPv6 loopback");
        try (DatagramSocket socket = collector(host, 0)) {
            final UdpTransport transport = new UdpTransport(new Endpoint(host, socket.getLocalPort()));
            final ExportingSession session = new ExportingSession(transport, new SessionSettings(), catalog);
            Await.until("connected", () -> session.doWork(NOW_MS), transport::isConnected);
            Records.putPair(session, pair, 1, 2, NOW_MS);
            assertTrue(session.flush(NOW_MS));
            final StrictParser parser = new StrictParser(1400);
            assertEquals(1, parser.parse(receive(socket)).records().size());
            session.close();
        }
    }

    @Test
    void shouldGoOnWhileNobodyListensAndReachALateCollectorWithTemplates() throws IOException {
        try (DatagramSocket held = heldPort()) {
            final int port = held.getLocalPort();
            final UdpTransport transport = new UdpTransport(new Endpoint("127.0.0.1", port));
            final ExportingSession session = new ExportingSession(transport, new SessionSettings(), catalog);
            session.doWork(NOW_MS);
            for (int i = 0; i < 50; i++) {
                Records.putPair(session, pair, i, i, NOW_MS);
                assertTrue(session.flush(NOW_MS));
            }
            assertTrue(session.statistics().get(SessionCounter.PEER_LOSSES) > 10);
            assertEquals(50, session.statistics().recordsExported());
            assertEquals(0, session.statistics().recordsFailed());
            try (DatagramSocket socket = collector("127.0.0.1", port)) {
                Records.putPair(session, pair, 51, 51, NOW_MS + 1_000);
                session.flush(NOW_MS + 1_000);
                Records.putPair(session, pair, 52, 52, NOW_MS + 1_000);
                session.flush(NOW_MS + 1_000);
                receive(socket);
                final StrictParser parser = new StrictParser(1400);
                assertEquals(51, parser.parse(receive(socket)).sequence());
                assertEquals(1, parser.templates.size());
            }
            session.close();
        }
    }

    /** Each message is refused before the next is made: what the collector gets first must have its templates with it. */
    @Test
    void shouldGiveACollectorThatReturnsNoDataWithoutTemplates() throws IOException {
        try (DatagramSocket held = heldPort()) {
            final int port = held.getLocalPort();
            final ExportingSession session = new ExportingSession(new UdpTransport(new Endpoint("127.0.0.1", port)),
                new SessionSettings().maxLingerMs(LINGER_MS), catalog);
            session.doWork(NOW_MS);
            long nowMs = NOW_MS;
            long refused = 0;
            StrictParser parser = new StrictParser(1400);
            for (int round = 0; round < 40; round++) {
                try (DatagramSocket socket = collector("127.0.0.1", port)) {
                    for (int i = 0; i <= round % 3; i++) {
                        nowMs += round % 7 * 400;
                        put(session, nowMs, round % 2 == 0);
                        StrictParser.WireMessage received = parser.parse(receive(socket));
                        while (received.records().isEmpty()) {
                            received = parser.parse(receive(socket)); // fails at data without a template
                        }
                    }
                }
                parser = round % 4 == 0 ? parser : new StrictParser(1400); // knows nothing after a refusal
                for (int i = 0; i < round % 4; i++, refused++) {
                    nowMs += round % 5 * 700;
                    put(session, nowMs, round % 2 == 0);
                    if (round % 3 == 0) {
                        session.doWork(nowMs + 60_000); // templates in messages of their own, refused too
                        nowMs += 60_000;
                    }
                }
            }
            session.flush(nowMs);
            assertEquals(refused, session.statistics().recordsUncertain());
            assertEquals(0, session.statistics().recordsFailed());
            assertEquals(session.statistics().recordsAccepted(), session.statistics().recordsExported());
            session.close();
        }
    }

    /** Sends a record, by a flush, which sees at once that it was refused, or because its time is up. */
    private void put(final ExportingSession session, final long nowMs, final boolean isFlush) {
        Records.putPair(session, pair, 1, 1, nowMs - LINGER_MS);
        session.doWork(isFlush ? nowMs - LINGER_MS : nowMs);
        assertTrue(!isFlush || session.flush(nowMs));
        assertEquals(0, session.statistics().recordsWaiting());
    }

    @Test
    void shouldKnowThatACollectorIsMissingUntilTwoSecondsWithoutARefusal() throws IOException {
        try (DatagramSocket held = heldPort()) {
            final int port = held.getLocalPort();
            final ExportingSession session = new ExportingSession(new UdpTransport(new Endpoint("127.0.0.1", port)),
                new SessionSettings().maxLingerMs(LINGER_MS), catalog);
            session.doWork(NOW_MS);
            put(session, NOW_MS, true);
            assertTrue(session.isCollectorMissing());
            try (DatagramSocket socket = collector("127.0.0.1", port)) {
                session.doWork(NOW_MS + 10_000);
                assertTrue(session.isCollectorMissing()); // nothing has gone since
                put(session, NOW_MS + 20_000, false);
                session.doWork(NOW_MS + 21_999);
                assertTrue(session.isCollectorMissing());
                session.doWork(NOW_MS + 22_000);
                assertFalse(session.isCollectorMissing());
                final StrictParser parser = new StrictParser(1400);
                while (parser.records().isEmpty()) {
                    parser.parse(receive(socket));
                }
                assertEquals(1, session.statistics().recordsUncertain());
            }
            session.close();
        }
    }

    @Test
    void shouldCountWhatTheNetworkRefuses() {
        final UdpTransport transport = new UdpTransport(new Endpoint("127.0.0.1", 9));
        transport.doWork(NOW_MS);
        assertEquals(SendResult.FAILED, transport.send(new UnsafeBuffer(new byte[65535]), 0, 65535));
        assertTrue(transport.lastError().startsWith("cannot send to udp://127.0.0.1:9: "), transport.lastError());
        assertEquals(SendResult.SENT, transport.send(new UnsafeBuffer(new byte[65535]), 0, 20));
        transport.close();
    }

    @Test
    void shouldTryAgainWhenTheNameIsUnknown() {
        final UdpTransport transport = new UdpTransport(new Endpoint(NO_HOST, 4739));
        Await.until("refused", () -> transport.doWork(NOW_MS), () -> !transport.lastError().isEmpty());
        assertTrue(transport.lastError().contains("unknown host " + NO_HOST), transport.lastError());
        assertEquals(TransportState.DISCONNECTED, transport.state());
        transport.close();
    }

    @Test
    void shouldHoldBackWhatExceedsTheRateLimit() throws IOException {
        try (DatagramSocket socket = collector("127.0.0.1", 0)) {
            final UdpTransport transport = new UdpTransport(new Endpoint("127.0.0.1", socket.getLocalPort()), 65536, 800_000);
            transport.doWork(NOW_MS);
            final UnsafeBuffer message = new UnsafeBuffer(new byte[1000]);
            int sent = 0;
            while (transport.send(message, 0, 1000) == SendResult.SENT) {
                sent++;
            }
            assertEquals(65, sent);
            transport.doWork(NOW_MS + 100);
            assertEquals(SendResult.SENT, transport.send(message, 0, 1000));
            int later = 1;
            while (transport.send(message, 0, 1000) == SendResult.SENT) {
                later++;
            }
            assertEquals(10, later);
            transport.close();
        } catch (final SocketTimeoutException ex) {
            throw new AssertionError(ex);
        }
    }

    @Test
    void shouldConnectAnewWhenItsOwnAddressIsGone() throws IOException {
        try (DatagramSocket socket = collector("127.0.0.1", 0)) {
            final List<InetAddress> asked = new ArrayList<>();
            final UdpTransport transport =
                new UdpTransport(new Endpoint("127.0.0.1", socket.getLocalPort()), 0, 0, (address) -> !asked.add(address));
            final UnsafeBuffer tooLong = new UnsafeBuffer(new byte[65_535]);
            transport.doWork(NOW_MS);
            assertEquals(SendResult.FAILED, transport.send(tooLong, 0, tooLong.capacity()));
            assertEquals(List.of(InetAddress.getByName("127.0.0.1")), asked);
            assertEquals(TransportState.DISCONNECTED, transport.state());
            assertEquals(SendResult.BUSY, transport.send(tooLong, 0, 100));
            transport.doWork(NOW_MS);
            assertEquals(TransportState.CONNECTED, transport.state());
            assertEquals(2, transport.connectionCount());
            assertEquals(SendResult.SENT, transport.send(tooLong, 0, 100));
            assertEquals(100, transport.deliveredOctets());
            assertEquals(100, receive(socket).length);
            transport.close();
        }
    }

    @Test
    void shouldStayConnectedWhenASendFailsAndItsOwnAddressIsThere() throws IOException {
        try (DatagramSocket socket = collector("127.0.0.1", 0)) {
            final UdpTransport transport = new UdpTransport(new Endpoint("127.0.0.1", socket.getLocalPort()));
            final UnsafeBuffer tooLong = new UnsafeBuffer(new byte[65_535]);
            transport.doWork(NOW_MS);
            assertEquals(SendResult.FAILED, transport.send(tooLong, 0, tooLong.capacity()));
            assertEquals(1, transport.connectionCount());
            assertEquals(SendResult.SENT, transport.send(tooLong, 0, 100));
            transport.close();
        }
    }
}
