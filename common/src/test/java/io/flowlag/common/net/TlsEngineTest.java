package io.flowlag.common.net;

import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;

import javax.net.ssl.KeyManagerFactory;
import javax.net.ssl.SSLContext;
import javax.net.ssl.SSLEngine;
import javax.net.ssl.SSLEngineResult.HandshakeStatus;
import javax.net.ssl.SSLException;
import javax.net.ssl.TrustManagerFactory;
import java.io.InputStream;
import java.nio.ByteBuffer;
import java.nio.channels.ByteChannel;
import java.nio.file.Files;
import java.nio.file.Path;
import java.security.KeyStore;
import java.util.ArrayDeque;
import java.util.Arrays;
import java.util.Queue;
import java.util.Random;
import java.util.concurrent.Executor;

import static org.junit.jupiter.api.Assertions.assertArrayEquals;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertNotNull;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

/** Two engines, joined in memory. */
@Timeout(120)
class TlsEngineTest {
    private static final int WIRE_BYTES = 1 << 20;
    private static final int ROUNDS = 200_000;
    private static final char[] PASSWORD = "changeit".toCharArray();

    @TempDir
    private static Path directory;
    private static SSLContext context;

    private Wire toServer = new Wire(WIRE_BYTES, WIRE_BYTES);
    private Wire toClient = new Wire(WIRE_BYTES, WIRE_BYTES);
    private End client;
    private End server;

    @BeforeAll
    static void makeCertificate() throws Exception {
        final Path store = directory.resolve("own.p12");
        final Process keytool = new ProcessBuilder(
            Path.of(System.getProperty("java.home"), "bin", "keytool").toString(), "-genkeypair", "-alias", "own",
            "-keyalg", "EC", "-dname", "CN=own", "-storetype", "PKCS12", "-storepass", new String(PASSWORD),
            "-keystore", store.toString()).redirectErrorStream(true)
            .redirectOutput(directory.resolve("keytool.log").toFile()).start();
        assertEquals(0, keytool.waitFor());
        final KeyStore keys = KeyStore.getInstance("PKCS12");
        try (InputStream in = Files.newInputStream(store)) {
            keys.load(in, PASSWORD);
        }
        final KeyManagerFactory own = KeyManagerFactory.getInstance(KeyManagerFactory.getDefaultAlgorithm());
        own.init(keys, PASSWORD);
        final KeyStore trusted = KeyStore.getInstance("PKCS12");
        trusted.load(null, null);
        trusted.setCertificateEntry("own", keys.getCertificate("own"));
        final TrustManagerFactory trust = TrustManagerFactory.getInstance(TrustManagerFactory.getDefaultAlgorithm());
        trust.init(trusted);
        context = SSLContext.getInstance("TLS");
        context.init(own.getKeyManagers(), trust.getTrustManagers(), null);
    }

    /** One direction: holds few octets, hands out few at once. */
    private static final class Wire {
        private final ByteBuffer octets;
        private final int readLimit;
        private boolean isEnded;

        Wire(final int capacity, final int readLimit) {
            octets = ByteBuffer.allocate(capacity);
            this.readLimit = readLimit;
        }
    }

    /** One end: an engine and its channel. */
    private static final class End implements ByteChannel {
        private final TlsEngine tls;
        private final SSLEngine engine;
        private final Wire from;
        private final Wire to;
        private final ByteBuffer received = ByteBuffer.allocate(WIRE_BYTES);

        End(final boolean isClient, final String protocol, final Executor executor, final Wire from, final Wire to)
            throws SSLException {
            engine = context.createSSLEngine();
            engine.setUseClientMode(isClient);
            engine.setNeedClientAuth(!isClient);
            engine.setEnabledProtocols(new String[] {protocol});
            tls = new TlsEngine(engine, executor);
            this.from = from;
            this.to = to;
        }

        /** Receives once and reads what it holds; false at the end. */
        boolean pump() throws Exception {
            tls.receive(this);
            int readBytes;
            do {
                readBytes = tls.read(received, this);
            } while (readBytes > 0);
            return readBytes == 0;
        }

        byte[] plain() {
            return Arrays.copyOf(received.array(), received.position());
        }

        @Override
        public int read(final ByteBuffer target) {
            if (from.isEnded && from.octets.position() == 0) {
                return -1;
            }
            from.octets.flip();
            final int readBytes = Math.min(from.readLimit, Math.min(target.remaining(), from.octets.remaining()));
            target.put(from.octets.slice().limit(readBytes));
            from.octets.position(readBytes);
            from.octets.compact();
            return readBytes;
        }

        @Override
        public int write(final ByteBuffer source) {
            final int writtenBytes = Math.min(source.remaining(), to.octets.remaining());
            to.octets.put(source.slice().limit(writtenBytes));
            source.position(source.position() + writtenBytes);
            return writtenBytes;
        }

        @Override
        public boolean isOpen() {
            return true;
        }

        @Override
        public void close() {
            to.isEnded = true;
        }
    }

    private void join(final String protocol, final Executor executor) throws SSLException {
        client = new End(true, protocol, executor, toClient, toServer);
        server = new End(false, protocol, executor, toServer, toClient);
    }

    private void shakeHands(final String protocol) throws Exception {
        join(protocol, Runnable::run);
        shakeHands();
    }

    private void shakeHands() throws Exception {
        for (int i = 0; i < ROUNDS; i++) {
            client.pump();
            server.pump();
            if (client.tls.advance(client) & server.tls.advance(server)) {
                assertTrue(client.tls.isEstablished() && server.tls.isEstablished());
                return;
            }
        }
        throw new AssertionError("no handshake");
    }

    private static void transfer(final End sender, final End receiver, final byte[] octets) throws Exception {
        final int expected = receiver.received.position() + octets.length;
        final ByteBuffer source = ByteBuffer.wrap(octets);
        for (int i = 0; i < ROUNDS && receiver.received.position() < expected; i++) {
            if (sender.tls.advance(sender) && source.hasRemaining()) {
                assertTrue(sender.tls.wrap(source) > 0);
            }
            sender.tls.flush(sender);
            receiver.pump();
            sender.pump();
        }
        assertArrayEquals(octets, Arrays.copyOfRange(receiver.plain(), expected - octets.length, expected));
    }

    private static byte[] random(final int lengthBytes) {
        final byte[] octets = new byte[lengthBytes];
        new Random(lengthBytes).nextBytes(octets);
        return octets;
    }

    @ParameterizedTest
    @CsvSource({"TLSv1.2, 1048576, 1048576", "TLSv1.3, 1048576, 1048576", "TLSv1.2, 100, 1", "TLSv1.3, 100, 1",
        "TLSv1.2, 7, 3", "TLSv1.3, 7, 3"})
    void shouldCarryOctetsInPiecesOfAnySize(final String protocol, final int wireBytes, final int readLimit)
        throws Exception {
        toServer = new Wire(wireBytes, readLimit);
        toClient = new Wire(wireBytes, readLimit);
        shakeHands(protocol);
        transfer(client, server, random(50_000));
        transfer(server, client, random(50_000));
        assertNotNull(server.tls.session().getPeerCertificates()[0]);
    }

    @ParameterizedTest
    @ValueSource(strings = {"TLSv1.2", "TLSv1.3"})
    void shouldAcceptACutAtEveryOctet(final String protocol) throws Exception {
        shakeHands(protocol);
        for (int cut = 0, lengthBytes = 1; cut < lengthBytes; cut++) {
            final int before = server.received.position();
            assertTrue(client.tls.advance(client));
            assertEquals(2, client.tls.wrap(ByteBuffer.wrap(new byte[] {(byte)cut, 2})));
            client.tls.flush(client);
            final byte[] whole = Arrays.copyOf(toServer.octets.array(), toServer.octets.position());
            lengthBytes = whole.length;
            toServer.octets.clear();
            toServer.octets.put(whole, 0, cut);
            assertTrue(server.pump());
            assertEquals(before, server.received.position());
            toServer.octets.put(whole, cut, whole.length - cut);
            assertTrue(server.pump());
            assertEquals(before + 2, server.received.position());
            assertEquals((byte)cut, server.plain()[before]);
        }
    }

    @Test
    void shouldRunTasksWhereTheCallerSays() throws Exception {
        final Queue<Runnable> tasks = new ArrayDeque<>();
        join("TLSv1.3", tasks::add);
        int runCount = 0;
        for (int i = 0; i < 100 && !(server.tls.isEstablished() && client.tls.isEstablished()); i++) {
            client.pump();
            server.pump();
            if (!tasks.isEmpty()) {
                final int taskCount = tasks.size();
                assertFalse(client.tls.advance(client) && server.tls.advance(server));
                assertEquals(taskCount, tasks.size());
                tasks.remove().run();
                runCount++;
            }
        }
        assertTrue(runCount > 0);
        shakeHands();
    }

    @Test
    void shouldReportTheEndOnlyAfterTheTaskThatRuns() throws Exception {
        final Queue<Runnable> tasks = new ArrayDeque<>();
        join("TLSv1.3", tasks::add);
        client.pump();
        client.close();
        assertTrue(server.pump());
        assertEquals(1, tasks.size());
        assertTrue(server.pump());
        tasks.remove().run();
        for (int i = 0; i < 10 && server.pump(); i++) {
            if (!tasks.isEmpty()) {
                tasks.remove().run();
            }
        }
        assertTrue(server.tls.isEnded());
        assertFalse(server.tls.isEstablished());
    }

    @Test
    void shouldLeaveOutATaskThatHasNotBegunWhenItIsClosed() throws Exception {
        final Queue<Runnable> tasks = new ArrayDeque<>();
        join("TLSv1.3", tasks::add);
        assertFalse(server.tls.isComputing());
        client.pump();
        server.pump();
        assertTrue(server.tls.isComputing());
        assertTrue(server.tls.close(server));
        assertFalse(server.tls.isComputing());
        tasks.remove().run();
        assertEquals(HandshakeStatus.NEED_TASK, server.engine.getHandshakeStatus());
        assertThrows(SSLException.class, server::pump);
    }

    @ParameterizedTest
    @ValueSource(booleans = {false, true})
    void shouldRefuseGarbage(final boolean isAfterHandshake) throws Exception {
        if (isAfterHandshake) {
            shakeHands("TLSv1.3");
        } else {
            join("TLSv1.3", Runnable::run);
        }
        toServer.octets.put(random(100));
        assertThrows(SSLException.class, server::pump);
        assertEquals(isAfterHandshake, server.tls.isEstablished());
        assertEquals(0, server.received.position());
    }

    @Test
    void shouldRefuseATooLongRecord() throws Exception {
        shakeHands("TLSv1.3");
        toServer.octets.put(new byte[] {23, 3, 3, -1, -1}).put(new byte[0xffff]);
        assertThrows(SSLException.class, () -> {
            for (int i = 0; i < 10; i++) {
                server.pump();
            }
        });
    }

    @ParameterizedTest
    @ValueSource(strings = {"TLSv1.2", "TLSv1.3"})
    void shouldTellThePeerWhyItFails(final String protocol) throws Exception {
        shakeHands(protocol);
        assertTrue(client.tls.advance(client));
        client.tls.wrap(ByteBuffer.wrap(random(100)));
        client.tls.flush(client);
        toServer.octets.array()[toServer.octets.position() - 1] ^= 1;
        assertThrows(SSLException.class, server::pump);
        assertTrue(server.tls.close(server));
        final SSLException alert = assertThrows(SSLException.class, client::pump);
        assertTrue(alert.getMessage().contains("bad_record_mac"), alert.getMessage());
        assertEquals(0, server.received.position());
    }

    @ParameterizedTest
    @ValueSource(strings = {"TLSv1.2", "TLSv1.3"})
    void shouldDeliverWhatCameBeforeABadRecord(final String protocol) throws Exception {
        shakeHands(protocol);
        for (int i = 0; i < 2; i++) {
            assertTrue(client.tls.advance(client));
            client.tls.wrap(ByteBuffer.wrap(random(100)));
            client.tls.flush(client);
        }
        toServer.octets.array()[toServer.octets.position() - 1] ^= 1;
        assertThrows(SSLException.class, server::pump);
        assertArrayEquals(random(100), server.plain());
    }

    @ParameterizedTest
    @ValueSource(strings = {"TLSv1.2", "TLSv1.3"})
    void shouldTellACloseFromATruncation(final String protocol) throws Exception {
        shakeHands(protocol);
        transfer(client, server, random(10));
        client.close();
        assertFalse(server.pump());
        assertTrue(server.tls.isEnded());
        assertFalse(server.tls.isCloseNotified());
        assertFalse(client.tls.isCloseNotified());
    }

    @ParameterizedTest
    @ValueSource(strings = {"TLSv1.2", "TLSv1.3"})
    void shouldCloseAfterWhatWasSent(final String protocol) throws Exception {
        toServer = new Wire(50, 50);
        shakeHands(protocol);
        assertTrue(client.tls.advance(client));
        client.tls.wrap(ByteBuffer.wrap(random(500)));
        assertFalse(client.tls.close(client));
        boolean isOpen = true;
        boolean isSaid = false;
        for (int i = 0; i < 100 && isOpen; i++) {
            isSaid = client.tls.close(client);
            isOpen = server.pump();
        }
        assertTrue(isSaid);
        assertFalse(isOpen);
        assertTrue(server.tls.isCloseNotified());
        assertArrayEquals(random(500), server.plain());
        assertEquals(-1, client.tls.wrap(ByteBuffer.wrap(random(1))));
    }

    @ParameterizedTest
    @ValueSource(strings = {"TLSv1.2", "TLSv1.3"})
    void shouldGoOnAfterNewKeys(final String protocol) throws Exception {
        shakeHands(protocol);
        transfer(client, server, random(10));
        client.engine.beginHandshake();
        shakeHands();
        server.engine.beginHandshake();
        shakeHands();
        transfer(client, server, random(1000));
        transfer(server, client, random(1000));
    }

    @Test
    void shouldHandOverARecordInParts() throws Exception {
        shakeHands("TLSv1.3");
        client.tls.wrap(ByteBuffer.wrap(random(10)));
        client.tls.flush(client);
        server.tls.receive(server);
        final ByteBuffer part = ByteBuffer.allocate(7);
        assertEquals(7, server.tls.read(part, server));
        assertEquals(3, server.tls.read(part.clear(), server));
        assertEquals(0, server.tls.read(part.clear(), server));
    }

    @Test
    void shouldHoldNoMoreThanOneRecord() throws Exception {
        shakeHands("TLSv1.3");
        for (int i = 0; i < 10; i++) {
            assertTrue(client.tls.advance(client));
            client.tls.wrap(ByteBuffer.wrap(random(16_000)));
            client.tls.flush(client);
        }
        int receivedBytes = 0;
        for (int i = 0; i < 10; i++) {
            receivedBytes += server.tls.receive(server);
            assertTrue(server.tls.advance(server));
        }
        assertTrue(receivedBytes < 40_000, "received " + receivedBytes);
        assertTrue(server.pump());
    }
}
