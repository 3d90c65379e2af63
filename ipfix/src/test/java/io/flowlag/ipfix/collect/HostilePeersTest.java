package io.flowlag.ipfix.collect;

import io.flowlag.ipfix.support.Await;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;

import java.io.IOException;
import java.io.UncheckedIOException;
import java.lang.management.ManagementFactory;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.net.Socket;
import java.net.StandardSocketOptions;
import java.nio.ByteBuffer;
import java.nio.channels.DatagramChannel;
import java.util.ArrayList;
import java.util.List;
import java.util.Random;

import static io.flowlag.ipfix.collect.Octets.message;
import static io.flowlag.ipfix.collect.Octets.octets;
import static io.flowlag.ipfix.collect.Octets.set;
import static io.flowlag.ipfix.collect.Octets.template;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

/** One address that floods a collector with its default limits; a good exporter at another one loses nothing. */
@Timeout(120)
class HostilePeersTest {
    private static final CollectorLimits LIMITS = CollectorLimits.DEFAULTS;
    private static final int JUNK_DATAGRAMS = 100_000;
    private static final int JUNK_PORTS = 1_100;
    private static final int DATAGRAMS_AT_ONCE = 50;
    private static final int HOSTILE_CONNECTIONS = 300;
    private static final int HOSTILE_SESSIONS = 300;
    private static final long STATED_HEAP_BYTES = 128L << 20;
    private static final InetSocketAddress ANY_PORT = new InetSocketAddress("127.0.0.1", 0);
    private static final InetSocketAddress HOSTILE = new InetSocketAddress("127.0.0.2", 0);
    private static final byte[] TEMPLATE = message(1, 0, 1, set(2, template(256, 4, 1)));
    private static final byte[] DATA = message(1, 0, 1, set(256, octets().u8(6)));
    private static final byte[] BOTH = message(1, 0, 1, set(2, template(256, 4, 1)), set(256, octets().u8(17)));
    private static final byte[] EMPTY = message(1, 0, 1);

    private final Collection collection = new Collection();
    private final CollectorServer server;
    private final List<AutoCloseable> peers = new ArrayList<>();

    /** What a hostile connection sends. */
    enum Lure {
        NOTHING(new byte[0]),
        AN_EMPTY_MESSAGE(EMPTY),
        A_TEMPLATE(TEMPLATE),
        A_RECORD(BOTH);

        private final byte[] octets;

        Lure(final byte[] octets) {
            this.octets = octets;
        }
    }

    HostilePeersTest() throws IOException {
        server = new CollectorServer(collection.process);
    }

    @AfterEach
    void close() throws Exception {
        for (final AutoCloseable peer : peers) {
            peer.close();
        }
        server.close();
        assertEquals(0, collection.process.sessionCount());
        assertEquals(0, collection.process.heldCount());
    }

    private DatagramChannel datagrams(final InetSocketAddress from, final InetSocketAddress to) throws IOException {
        final DatagramChannel channel = DatagramChannel.open();
        peers.add(channel);
        channel.setOption(StandardSocketOptions.SO_SNDBUF, 1 << 20);
        channel.bind(from);
        channel.connect(to);
        return channel;
    }

    private Socket connect(final InetSocketAddress from, final InetSocketAddress to, final byte[] octets) throws IOException {
        final long acceptedCount = collection.count(CollectorCounter.CONNECTIONS_ACCEPTED);
        final long refusedCount = collection.count(CollectorCounter.CONNECTIONS_REFUSED);
        final long messageCount = collection.count(CollectorCounter.MESSAGES);
        final Socket socket = new Socket();
        peers.add(socket);
        socket.bind(from);
        socket.connect(to);
        Await.until("the connection is accepted or refused", this::poll, () ->
            collection.count(CollectorCounter.CONNECTIONS_ACCEPTED) > acceptedCount ||
            collection.count(CollectorCounter.CONNECTIONS_REFUSED) > refusedCount);
        if (collection.count(CollectorCounter.CONNECTIONS_REFUSED) == refusedCount && octets.length > 0) {
            socket.getOutputStream().write(octets);
            pollUntilCount(CollectorCounter.MESSAGES, messageCount + 1);
        }
        return socket;
    }

    private void poll() {
        try {
            server.poll(collection.nowNs, 10);
        } catch (final IOException ex) {
            throw new UncheckedIOException(ex);
        }
    }

    private void pollUntilCount(final CollectorCounter counter, final long count) {
        Await.until(counter + " is " + count, this::poll, () -> collection.count(counter) >= count);
        assertEquals(count, collection.count(counter));
    }

    private void send(final DatagramChannel from, final byte[] octets) throws IOException {
        from.write(ByteBuffer.wrap(octets));
    }

    private static byte[] junk(final Random random) {
        final byte[] octets = new byte[1 + random.nextInt(40)];
        random.nextBytes(octets);
        return switch (random.nextInt(6)) {
            case 0 -> octets;
            case 1 -> EMPTY;
            case 2 -> message(1, 0, random.nextInt(), set(256 + random.nextInt(9), octets().bytes(octets)));
            case 3 -> message(1, 0, 1, set(2, octets().bytes(octets)));
            case 4 -> message(1, 0, 1, set(2, octets().u16(256).u16(0)));
            default -> octets().u16(10).u16(20).u64(0).toBytes();
        };
    }

    @Test
    void shouldKeepTemplatesWhateverDatagramsOneAddressSends() throws IOException {
        final InetSocketAddress address = server.listenUdp(ANY_PORT);
        final DatagramChannel good = datagrams(ANY_PORT, address);
        send(good, TEMPLATE);
        pollUntilCount(CollectorCounter.MESSAGES, 1);
        final List<DatagramChannel> hostile = new ArrayList<>();
        for (int i = 0; i < JUNK_PORTS; i++) {
            hostile.add(datagrams(HOSTILE, address));
        }
        final Random random = new Random(1);
        for (int i = 1; i <= JUNK_DATAGRAMS; i++) {
            send(hostile.get(i % JUNK_PORTS), junk(random));
            if (i % DATAGRAMS_AT_ONCE == 0) {
                pollUntilCount(CollectorCounter.MESSAGES, 1 + i);
            }
        }
        assertTrue(collection.count(CollectorCounter.SESSIONS_OPENED) < JUNK_DATAGRAMS / 100, "junk makes no session");
        send(good, DATA);
        pollUntilCount(CollectorCounter.MESSAGES, 2 + JUNK_DATAGRAMS);
        assertEquals("protocolIdentifier=06", collection.records.get(collection.records.size() - 1));

        for (int i = 0; i < JUNK_PORTS; i++) {
            send(hostile.get(i), BOTH);
            pollUntilCount(CollectorCounter.MESSAGES, 3 + JUNK_DATAGRAMS + i);
        }
        assertEquals(LIMITS.maxUdpSessions(), collection.process.sessionCount());
        assertTrue(collection.count(CollectorCounter.SESSIONS_DROPPED) > 0);
        send(good, DATA);
        pollUntilCount(CollectorCounter.MESSAGES, 3 + JUNK_DATAGRAMS + JUNK_PORTS);
        assertEquals("protocolIdentifier=06", collection.records.get(collection.records.size() - 1));
    }

    @Test
    void shouldForgetSessionsWithoutRecordsFirst() throws IOException {
        final InetSocketAddress address = server.listenUdp(ANY_PORT);
        final DatagramChannel good = datagrams(ANY_PORT, address);
        send(good, BOTH);
        pollUntilCount(CollectorCounter.MESSAGES, 1);
        for (int i = 0; i < LIMITS.maxUdpSessions() + 100; i++) {
            send(datagrams(new InetSocketAddress("127.0.1." + (1 + i % 200), 0), address), TEMPLATE);
            pollUntilCount(CollectorCounter.MESSAGES, 2 + i);
        }
        assertEquals(101, collection.count(CollectorCounter.SESSIONS_DROPPED));
        send(good, DATA);
        pollUntilCount(CollectorCounter.RECORDS, 2);
    }

    @ParameterizedTest
    @EnumSource
    void shouldAdmitAnExporterBesideConnectionsOfOneAddress(final Lure lure) throws IOException {
        final InetSocketAddress address = server.listenTcp(ANY_PORT);
        for (int i = 0; i < HOSTILE_CONNECTIONS; i++) {
            connect(HOSTILE, address, lure.octets);
        }
        assertEquals(LIMITS.maxConnections(), server.connectionCount());
        final long recordCount = collection.count(CollectorCounter.RECORDS);

        final Socket good = connect(ANY_PORT, address, new byte[0]);
        for (int i = 0; i < HOSTILE_CONNECTIONS; i++) {
            connect(HOSTILE, address, new byte[0]);
        }
        good.getOutputStream().write(BOTH);
        pollUntilCount(CollectorCounter.RECORDS, recordCount + 1);
        good.getOutputStream().write(DATA);
        pollUntilCount(CollectorCounter.RECORDS, recordCount + 2);
        assertTrue(server.connectionCount() <= LIMITS.maxConnections());
    }

    @Test
    void shouldAdmitAnExporterBesideUnprovenConnectionsOfItsOwnAddress() throws IOException {
        final InetSocketAddress address = server.listenTcp(ANY_PORT);
        for (int i = 0; i < HOSTILE_CONNECTIONS; i++) {
            connect(ANY_PORT, address, EMPTY);
        }
        connect(ANY_PORT, address, BOTH);
        assertEquals(1, collection.count(CollectorCounter.RECORDS));
        assertEquals(HOSTILE_CONNECTIONS + 1 - LIMITS.maxConnections(), collection.count(CollectorCounter.CONNECTIONS_EVICTED));
    }

    @Test
    void shouldCloseIdleConnectionsWhenThereIsNoPlace() throws IOException {
        final InetSocketAddress address = server.listenTcp(ANY_PORT);
        final Socket busy = connect(ANY_PORT, address, BOTH);
        for (int i = 1; i < LIMITS.maxConnections(); i++) {
            connect(ANY_PORT, address, BOTH);
        }
        connect(ANY_PORT, address, new byte[0]);
        assertEquals(1, collection.count(CollectorCounter.CONNECTIONS_REFUSED));

        collection.nowNs += 10 * LIMITS.messageTimeoutNs() + 1;
        busy.getOutputStream().write(DATA);
        pollUntilCount(CollectorCounter.RECORDS, LIMITS.maxConnections() + 1);
        connect(ANY_PORT, address, new byte[0]).getOutputStream().write(BOTH);
        pollUntilCount(CollectorCounter.RECORDS, LIMITS.maxConnections() + 2);
        assertEquals(1, collection.count(CollectorCounter.CONNECTIONS_EVICTED));
        busy.getOutputStream().write(DATA);
        pollUntilCount(CollectorCounter.RECORDS, LIMITS.maxConnections() + 3);
    }

    private TransportSession open(final InetAddress address, final int port) {
        return collection.process.openSession(SessionKind.UDP, new InetSocketAddress(address, port));
    }

    /** Templates of one field of an enterprise. */
    private static byte[] templates(final int firstField, final int count, final int domainId) {
        final Octets records = octets();
        for (int i = 0; i < count; i++) {
            records.u16(256 + i).u16(1).u16(0x8000 | 1 + i).u16(4).u32(firstField + i);
        }
        return message(1, 0, domainId, set(2, records));
    }

    /** An options template of type records (RFC 5610), and elements with the longest names. */
    private static byte[] typeRecords(final int count) {
        final Octets records = octets();
        for (int i = 1; i <= count; i++) {
            records.u32(32473).u16(i).u8(1).u8(0).u8(ElementView.MAX_NAME_LENGTH)
                .text(String.format("n%0" + (ElementView.MAX_NAME_LENGTH - 1) + "d", i));
        }
        return message(1, 0, 1, set(3, octets().u16(300).u16(5).u16(2)
            .u16(346).u16(4).u16(303).u16(2).u16(339).u16(1).u16(344).u16(1).u16(341).u16(65535)), set(300, records));
    }

    private static long usedHeapBytes() {
        ManagementFactory.getMemoryMXBean().gc();
        return ManagementFactory.getMemoryMXBean().getHeapMemoryUsage().getUsed();
    }

    @Test
    void shouldKeepTheTemplatesAndTheMemoryThatOneAddressAttacks() throws IOException {
        final TransportSession good = open(InetAddress.getByName("192.0.2.1"), 4739);
        collection.send(good, TEMPLATE);
        final long beforeBytes = usedHeapBytes();
        final InetAddress hostile = InetAddress.getByName("2001:db8::1");
        final InetAddress neighbour = InetAddress.getByName("2001:db8::ffff:2");
        final byte[] elements = typeRecords(400);
        final List<TransportSession> sessions = new ArrayList<>();
        for (int i = 0; i < HOSTILE_SESSIONS; i++) {
            final TransportSession session = open(i % 2 == 0 ? hostile : neighbour, i);
            sessions.add(session);
            collection.records.clear();
            if (i % 3 == 0) {
                assertEquals(MessageResult.ACCEPTED, collection.send(session, elements));
                continue;
            }
            final int domainCount = i % 3 == 1 ? 1 : LIMITS.maxDomainsPerSession();
            for (int domainId = 0; domainId < domainCount; domainId++) {
                collection.send(session, templates(i, LIMITS.maxTemplatesPerSession() / domainCount, domainId));
            }
        }
        assertTrue(collection.process.heldCount() > LIMITS.maxTemplateFields() / 2, "held " + collection.process.heldCount());
        assertTrue(collection.process.heldCount() <= LIMITS.maxTemplateFields());
        final long heldBytes = usedHeapBytes() - beforeBytes;
        assertTrue(heldBytes < STATED_HEAP_BYTES, heldBytes + " octets");
        assertTrue(collection.count(CollectorCounter.TEMPLATES_DROPPED) > 0);

        collection.records.clear();
        collection.send(good, DATA);
        assertEquals(List.of("protocolIdentifier=06"), collection.records);
        collection.process.closeSession(good);
        sessions.forEach(collection.process::closeSession);
    }
}
