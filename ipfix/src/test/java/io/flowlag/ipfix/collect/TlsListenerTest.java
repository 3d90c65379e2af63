package io.flowlag.ipfix.collect;

import io.flowlag.ipfix.support.Await;
import io.flowlag.ipfix.support.TestCertificates;
import io.flowlag.ipfix.transport.TlsCredentials;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

import javax.net.ssl.SSLContext;
import javax.net.ssl.SSLSocket;
import javax.net.ssl.TrustManager;
import javax.net.ssl.X509TrustManager;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.net.Socket;
import java.nio.charset.StandardCharsets;
import java.nio.file.Path;
import java.security.cert.CertificateException;
import java.security.cert.X509Certificate;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;

import static io.flowlag.ipfix.collect.Octets.message;
import static io.flowlag.ipfix.collect.Octets.octets;
import static io.flowlag.ipfix.collect.Octets.set;
import static io.flowlag.ipfix.collect.Octets.template;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

/** The TLS listener against the JDK's own client: RFC 7011 section 11. */
@Timeout(120)
class TlsListenerTest {
    private static final InetSocketAddress ANY_PORT = new InetSocketAddress(InetAddress.getLoopbackAddress(), 0);
    private static final byte[] MESSAGE = message(1, 0, 1, set(2, template(256, 4, 1)), set(256, octets().u8(6)));
    private static final byte[] LONG_MESSAGE = message(1, 1, 1, set(256, octets().bytes(new byte[65000])));

    @TempDir
    private static Path directory;
    private static TestCertificates certificates;
    private static SSLContext collectorContext;
    private static SSLContext exporterContext;

    private final Collection collection = new Collection();
    private final CollectorServer server;

    TlsListenerTest() throws IOException {
        server = new CollectorServer(collection.process);
    }

    @BeforeAll
    static void makeCertificates() throws Exception {
        certificates = new TestCertificates(directory);
        certificates.make("exporter", "EC", "DNS:exporter.example");
        certificates.make("collector", "EC", "IP:127.0.0.1");
        certificates.make("renewed", "EC", "IP:127.0.0.1");
        collectorContext = certificates.context("collector", "exporter");
        exporterContext = certificates.context("exporter", "collector");
    }

    @AfterEach
    void close() throws IOException {
        server.close();
        assertEquals(0, collection.process.sessionCount());
    }

    private void poll() {
        try {
            server.poll(collection.nowNs, 1);
        } catch (final IOException ex) {
            throw new UncheckedIOException(ex);
        }
    }

    private void awaitCount(final CollectorCounter counter, final long count) {
        Await.until(counter + " is " + count, this::poll, () -> collection.count(counter) >= count);
        assertEquals(count, collection.count(counter));
    }

    /** Runs a blocking client while the server is polled; gives the client's exception, or null. */
    private Exception whilePolling(final Client client) {
        final CompletableFuture<Exception> done = CompletableFuture.supplyAsync(() -> {
            try {
                client.run();
                return null;
            } catch (final Exception ex) {
                return ex;
            }
        });
        Await.until("the client is done", this::poll, done::isDone);
        return done.join();
    }

    /** A client's work. */
    @FunctionalInterface
    private interface Client {
        void run() throws Exception;
    }

    private static SSLSocket connect(final SSLContext context, final InetSocketAddress address, final String protocol)
        throws IOException {
        final SSLSocket socket =
            (SSLSocket)context.getSocketFactory().createSocket(address.getAddress(), address.getPort());
        socket.setEnabledProtocols(new String[] {protocol});
        return socket;
    }

    @ParameterizedTest
    @ValueSource(strings = {"TLSv1.2", "TLSv1.3"})
    void shouldReceiveShortAndLongMessages(final String protocol) throws IOException {
        final InetSocketAddress address = server.listenTls(ANY_PORT, collectorContext, true);
        final Exception failure = whilePolling(() -> {
            try (SSLSocket socket = connect(exporterContext, address, protocol)) {
                for (final byte each : MESSAGE) {
                    socket.getOutputStream().write(each);
                }
                socket.getOutputStream().write(LONG_MESSAGE);
                socket.getOutputStream().write(octets().bytes(MESSAGE).bytes(MESSAGE).toBytes());
            }
        });
        assertEquals(null, failure);
        awaitCount(CollectorCounter.RECORDS, 65_003);
        awaitCount(CollectorCounter.CONNECTIONS_ENDED, 1);
    }

    @ParameterizedTest
    @ValueSource(strings = {"TLSv1.2", "TLSv1.3"})
    void shouldRefuseAnExporterWithoutCertificate(final String protocol) throws Exception {
        final SSLContext anonymous = SSLContext.getInstance("TLS");
        anonymous.init(null, trustAll(), null);
        final InetSocketAddress address = server.listenTls(ANY_PORT, collectorContext, true);
        whilePolling(() -> {
            try (SSLSocket socket = connect(anonymous, address, protocol)) {
                socket.getOutputStream().write(MESSAGE);
                socket.getInputStream().read();
            }
        });
        awaitCount(CollectorCounter.CONNECTIONS_TLS_FAILED, 1);
        assertEquals(0, collection.count(CollectorCounter.MESSAGES));
    }

    @Test
    void shouldAcceptAnExporterWithoutCertificateIfNoneIsAskedFor() throws Exception {
        final SSLContext anonymous = SSLContext.getInstance("TLS");
        anonymous.init(null, trustAll(), null);
        final InetSocketAddress address = server.listenTls(ANY_PORT, collectorContext, false);
        whilePolling(() -> {
            try (SSLSocket socket = connect(anonymous, address, "TLSv1.3")) {
                socket.getOutputStream().write(MESSAGE);
            }
        });
        awaitCount(CollectorCounter.RECORDS, 1);
    }

    @Test
    void shouldServeUnderRenewedCredentialsAndCloseWhoIsNoLongerTrusted() throws Exception {
        final InetSocketAddress address = server.listenTls(ANY_PORT, collectorContext, true);
        try (SSLSocket socket = connect(exporterContext, address, "TLSv1.3");
            Socket waiting = new Socket(address.getAddress(), address.getPort())) {
            assertEquals(null, whilePolling(() -> socket.getOutputStream().write(MESSAGE)));
            awaitCount(CollectorCounter.RECORDS, 1);
            awaitCount(CollectorCounter.CONNECTIONS_ACCEPTED, 2);
            server.renew(credentials("renewed", "exporter"));
            awaitCount(CollectorCounter.CONNECTIONS_TLS_FAILED, 1);
            assertEquals(null, whilePolling(() -> socket.getOutputStream().write(MESSAGE)));
            awaitCount(CollectorCounter.RECORDS, 2);
            assertTrue(whilePolling(() -> connect(exporterContext, address, "TLSv1.3").startHandshake()) instanceof IOException,
                "the old certificate is shown no more");
            assertEquals(null, whilePolling(
                () -> connect(certificates.context("exporter", "renewed"), address, "TLSv1.3").startHandshake()));
            server.renew(credentials("renewed", "collector"));
            assertEquals(0, server.connectionCount());
            assertTrue(waiting.isConnected());
        }
    }

    private static TlsCredentials credentials(final String own, final String trusted) throws IOException {
        return TlsCredentials.load(
            certificates.keyFile(own), certificates.certificateFile(own), certificates.certificateFile(trusted));
    }

    @Test
    void shouldCloseWhoSpeaksPlainText() throws IOException {
        final InetSocketAddress address = server.listenTls(ANY_PORT, collectorContext, true);
        try (Socket socket = new Socket(address.getAddress(), address.getPort())) {
            socket.getOutputStream().write(MESSAGE);
            awaitCount(CollectorCounter.CONNECTIONS_TLS_FAILED, 1);
        }
        assertEquals(0, collection.count(CollectorCounter.MESSAGES));
    }

    @Test
    void shouldCloseWhoNeverShakesHands() throws IOException {
        final InetSocketAddress address = server.listenTls(ANY_PORT, collectorContext, true);
        try (Socket socket = new Socket(address.getAddress(), address.getPort())) {
            awaitCount(CollectorCounter.CONNECTIONS_ACCEPTED, 1);
            assertEquals(true, socket.isConnected());
            collection.nowNs += CollectorLimits.DEFAULTS.messageTimeoutNs() + 1;
            awaitCount(CollectorCounter.CONNECTIONS_SLOW, 1);
        }
    }

    @Test
    void shouldCloseWhoSpeaksSomethingElseUnderTls() throws IOException {
        final InetSocketAddress address = server.listenTls(ANY_PORT, collectorContext, true);
        whilePolling(() -> {
            try (SSLSocket socket = connect(exporterContext, address, "TLSv1.3")) {
                socket.getOutputStream().write("GET / HTTP/1.1\r\n\r\n".getBytes(StandardCharsets.US_ASCII));
                socket.getInputStream().read();
            }
        });
        awaitCount(CollectorCounter.CONNECTIONS_NOT_IPFIX, 1);
    }

    @Test
    void shouldServeOthersWhileAHandshakeTakesLong() throws Exception {
        final CountDownLatch begun = new CountDownLatch(1);
        final CountDownLatch mayEnd = new CountDownLatch(1);
        final SSLContext slow = certificates.context("collector", trustAll(() -> {
            begun.countDown();
            assertTrue(mayEnd.await(60, TimeUnit.SECONDS));
        }));
        final InetSocketAddress address = server.listenTls(ANY_PORT, slow, true);
        final InetSocketAddress other = server.listenTcp(ANY_PORT);
        final Exception failure = whilePolling(() -> {
            try (SSLSocket socket = connect(exporterContext, address, "TLSv1.3")) {
                socket.getOutputStream().write(MESSAGE);
                assertTrue(begun.await(60, TimeUnit.SECONDS));
                try (Socket plain = new Socket(other.getAddress(), other.getPort())) {
                    plain.getOutputStream().write(MESSAGE);
                    plain.shutdownOutput();
                    assertEquals(-1, plain.getInputStream().read());
                }
                mayEnd.countDown();
            }
        });
        assertEquals(null, failure);
        awaitCount(CollectorCounter.RECORDS, 2);
        awaitCount(CollectorCounter.CONNECTIONS_ENDED, 2);
    }

    private static TrustManager[] trustAll() {
        return trustAll(() -> {
            throw new UnsupportedOperationException("a client trusts servers only");
        });
    }

    private static TrustManager[] trustAll(final Client checkOfClients) {
        return new TrustManager[] {new X509TrustManager() {
            @Override
            public void checkClientTrusted(final X509Certificate[] chain, final String authType) throws CertificateException {
                try {
                    checkOfClients.run();
                } catch (final Exception ex) {
                    throw new CertificateException(ex);
                }
            }

            @Override
            public void checkServerTrusted(final X509Certificate[] chain, final String authType) {
                assertEquals(1, chain.length);
            }

            @Override
            public X509Certificate[] getAcceptedIssuers() {
                return new X509Certificate[0];
            }
        }};
    }
}
