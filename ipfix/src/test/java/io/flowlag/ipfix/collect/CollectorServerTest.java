package io.flowlag.ipfix.collect;

import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

import java.io.IOException;
import java.net.DatagramPacket;
import java.net.DatagramSocket;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.net.Socket;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.TimeUnit;
import java.util.function.BooleanSupplier;

import static io.flowlag.ipfix.collect.Octets.message;
import static io.flowlag.ipfix.collect.Octets.octets;
import static io.flowlag.ipfix.collect.Octets.set;
import static io.flowlag.ipfix.collect.Octets.template;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

/** Sockets on loopback: good peers are served whatever bad ones do. */
@Timeout(60)
class CollectorServerTest {
    private static final long MESSAGE_TIMEOUT_NS = TimeUnit.SECONDS.toNanos(30);
    private static final int MAX_CONNECTIONS = 8;
    private static final CollectorLimits LIMITS = new CollectorLimits(
        3, MAX_CONNECTIONS, 8, 32, 64, 512, 16, TimeUnit.SECONDS.toNanos(1800), MESSAGE_TIMEOUT_NS);
    private static final InetSocketAddress ANY_PORT = new InetSocketAddress(InetAddress.getLoopbackAddress(), 0);
    private static final byte[] MESSAGE = message(1, 0, 1, set(2, template(256, 4, 1)), set(256, octets().u8(6)));

    private final Collection collection = new Collection(LIMITS);
    private final CollectorServer server;
    private final List<AutoCloseable> peers = new ArrayList<>();

    CollectorServerTest() throws IOException {
        server = new CollectorServer(collection.process);
    }

    @AfterEach
    void close() throws Exception {
        for (final AutoCloseable peer : peers) {
            peer.close();
        }
        server.close();
        assertEquals(0, collection.process.sessionCount());
    }

    private void pollUntil(final BooleanSupplier condition) throws IOException {
        while (!condition.getAsBoolean()) {
            server.poll(collection.nowNs, 10);
        }
    }

    private void pollUntilCount(final CollectorCounter counter, final long count) throws IOException {
        pollUntil(() -> collection.count(counter) >= count);
        assertEquals(count, collection.count(counter));
    }

    private Socket connect(final InetSocketAddress address) throws IOException {
        final Socket socket = new Socket(address.getAddress(), address.getPort());
        socket.setTcpNoDelay(true);
        peers.add(socket);
        return socket;
    }

    private DatagramSocket datagrams(final InetSocketAddress address) throws IOException {
        final DatagramSocket socket = new DatagramSocket();
        socket.connect(address);
        peers.add(socket);
        return socket;
    }

    private static void send(final Socket socket, final byte[] octets) throws IOException {
        socket.getOutputStream().write(octets);
        socket.getOutputStream().flush();
    }

    private static boolean isClosedByPeer(final Socket socket) throws IOException {
        try {
            return socket.getInputStream().read() < 0;
        } catch (final IOException ex) {
            return true;
        }
    }

    @Test
    void shouldReceiveDatagramsOfSeveralExporters() throws IOException {
        final InetSocketAddress address = server.listenUdp(ANY_PORT);
        for (int i = 0; i < 3; i++) {
            datagrams(address).send(new DatagramPacket(MESSAGE, MESSAGE.length));
        }
        pollUntilCount(CollectorCounter.RECORDS, 3);
        assertEquals(3, collection.process.sessionCount());
        assertEquals(3, collection.count(CollectorCounter.TEMPLATES_DEFINED));
    }

    @Test
    void shouldForgetTheUdpSessionSilentLongest() throws IOException {
        final InetSocketAddress address = server.listenUdp(ANY_PORT);
        final DatagramSocket first = datagrams(address);
        first.send(new DatagramPacket(MESSAGE, MESSAGE.length));
        pollUntilCount(CollectorCounter.RECORDS, 1);
        for (int i = 0; i < 10; i++) {
            datagrams(address).send(new DatagramPacket(MESSAGE, MESSAGE.length));
            pollUntilCount(CollectorCounter.RECORDS, 2 + 2 * i);
            first.send(new DatagramPacket(MESSAGE, MESSAGE.length));
            pollUntilCount(CollectorCounter.RECORDS, 3 + 2 * i);
        }
        assertEquals(3, collection.process.sessionCount());
        assertEquals(8, collection.count(CollectorCounter.SESSIONS_DROPPED));
        assertEquals(10, collection.count(CollectorCounter.TEMPLATES_REFRESHED));
    }

    @Test
    void shouldReceiveAMessageInPiecesAndSeveralAtOnce() throws IOException {
        final Socket socket = connect(server.listenTcp(ANY_PORT));
        for (final byte each : MESSAGE) {
            send(socket, new byte[] {each});
        }
        send(socket, octets().bytes(MESSAGE).bytes(MESSAGE).bytes(MESSAGE).toBytes());
        pollUntilCount(CollectorCounter.RECORDS, 4);
        assertEquals(1, collection.process.sessionCount());
        socket.close();
        pollUntilCount(CollectorCounter.CONNECTIONS_ENDED, 1);
        assertEquals(0, collection.process.sessionCount());
    }

    @Test
    void shouldReceiveTheLongestMessage() throws IOException {
        final byte[] longest = message(1, 0, 1, set(2, template(256, 4, 1)), set(256, octets().bytes(new byte[65503])));
        assertEquals(65535, longest.length);
        send(connect(server.listenTcp(ANY_PORT)), longest);
        pollUntilCount(CollectorCounter.RECORDS, 65503);
    }

    @Test
    void shouldKeepAConnectionWithMalformedMessages() throws IOException {
        final Socket socket = connect(server.listenTcp(ANY_PORT));
        send(socket, message(1, 0, 1, set(1, octets().u32(0))));
        send(socket, MESSAGE);
        pollUntilCount(CollectorCounter.RECORDS, 1);
        assertEquals(1, collection.count(CollectorCounter.REFUSED_SET_ID));
    }

    @Test
    void shouldCloseWhatIsNotIpfix() throws IOException {
        final InetSocketAddress address = server.listenTcp(ANY_PORT);
        final Socket good = connect(address);
        final Socket http = connect(address);
        final Socket shortLength = connect(address);
        send(http, octets().text("GET / HTTP/1.1\r\n\r\n").toBytes());
        send(shortLength, octets().u16(10).u16(15).toBytes());
        pollUntilCount(CollectorCounter.CONNECTIONS_NOT_IPFIX, 2);
        assertTrue(isClosedByPeer(http));
        send(good, MESSAGE);
        pollUntilCount(CollectorCounter.RECORDS, 1);
    }

    @Test
    void shouldCloseWhoIsTooSlowInsideAMessageAndNobodyElse() throws IOException {
        final InetSocketAddress address = server.listenTcp(ANY_PORT);
        final Socket quiet = connect(address);
        final Socket slow = connect(address);
        send(quiet, MESSAGE);
        send(slow, octets().u16(10).u16(65535).toBytes());
        pollUntil(() -> collection.records.size() == 1 && server.connectionCount() == 2);
        final long messageCount = collection.count(CollectorCounter.MESSAGES);
        for (int i = 1; i <= 40 && collection.count(CollectorCounter.CONNECTIONS_SLOW) == 0; i++) {
            collection.nowNs += TimeUnit.SECONDS.toNanos(1);
            send(slow, new byte[1]);
            server.poll(collection.nowNs, 10);
        }
        pollUntilCount(CollectorCounter.CONNECTIONS_SLOW, 1);
        assertEquals(messageCount, collection.count(CollectorCounter.MESSAGES));
        assertTrue(isClosedByPeer(slow));
        collection.nowNs += 1000 * MESSAGE_TIMEOUT_NS;
        send(quiet, MESSAGE);
        pollUntilCount(CollectorCounter.RECORDS, 2);
    }

    @Test
    void shouldCountAConnectionThatEndsInsideAMessage() throws IOException {
        final Socket socket = connect(server.listenTcp(ANY_PORT));
        send(socket, octets().u16(10).u16(100).u32(0).toBytes());
        socket.close();
        pollUntilCount(CollectorCounter.CONNECTIONS_BROKEN, 1);
    }

    @Test
    void shouldGiveThePlaceOfSilentConnectionsToNewOnes() throws IOException {
        final InetSocketAddress address = server.listenTcp(ANY_PORT);
        final Socket first = connect(address);
        send(first, MESSAGE);
        pollUntilCount(CollectorCounter.RECORDS, 1);
        for (int i = 0; i < 1000; i++) {
            connect(address);
            pollUntilCount(CollectorCounter.CONNECTIONS_ACCEPTED, i + 2);
        }
        assertEquals(MAX_CONNECTIONS, server.connectionCount());
        assertEquals(MAX_CONNECTIONS, collection.process.sessionCount());
        assertEquals(1001 - MAX_CONNECTIONS, collection.count(CollectorCounter.CONNECTIONS_EVICTED));
        send(first, MESSAGE);
        pollUntilCount(CollectorCounter.RECORDS, 2);
        final Socket last = connect(address);
        send(last, MESSAGE);
        pollUntilCount(CollectorCounter.RECORDS, 3);
    }

    @Test
    void shouldRefuseConnectionsWhenAllOthersAreGood() throws IOException {
        final InetSocketAddress address = server.listenTcp(ANY_PORT);
        for (int i = 0; i < MAX_CONNECTIONS; i++) {
            send(connect(address), MESSAGE);
        }
        pollUntilCount(CollectorCounter.RECORDS, MAX_CONNECTIONS);
        final Socket refused = connect(address);
        pollUntilCount(CollectorCounter.CONNECTIONS_REFUSED, 1);
        assertTrue(isClosedByPeer(refused));
        assertEquals(MAX_CONNECTIONS, server.connectionCount());
    }

    @Test
    void shouldServeSeveralAddresses() throws IOException {
        final InetSocketAddress udp = server.listenUdp(ANY_PORT);
        final InetSocketAddress tcp = server.listenTcp(ANY_PORT);
        final InetSocketAddress otherUdp = server.listenUdp(ANY_PORT);
        assertEquals(List.of(udp, tcp, otherUdp), server.addresses());
        datagrams(udp).send(new DatagramPacket(MESSAGE, MESSAGE.length));
        datagrams(otherUdp).send(new DatagramPacket(MESSAGE, MESSAGE.length));
        send(connect(tcp), MESSAGE);
        pollUntilCount(CollectorCounter.RECORDS, 3);
    }

    @Test
    void shouldSayThatAnAddressIsTaken() throws IOException {
        final InetSocketAddress udp = server.listenUdp(ANY_PORT);
        final InetSocketAddress tcp = server.listenTcp(ANY_PORT);
        assertThrows(IOException.class, () -> server.listenUdp(udp));
        assertThrows(IOException.class, () -> server.listenTcp(tcp));
    }
}
