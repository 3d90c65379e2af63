package io.flowlag.ipfix.transport;

import io.flowlag.ipfix.session.ExportingSession;
import io.flowlag.ipfix.session.SessionSettings;
import io.flowlag.ipfix.support.Await;
import io.flowlag.ipfix.support.LateServerSocketFactory;
import io.flowlag.ipfix.support.Records;
import io.flowlag.ipfix.support.StreamCollector;
import io.flowlag.ipfix.support.TestCertificates;
import io.flowlag.ipfix.template.Template;
import io.flowlag.ipfix.template.TemplateCatalog;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

import javax.net.ssl.SSLContext;
import javax.net.ssl.SSLServerSocket;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.atomic.AtomicReference;

import static org.junit.jupiter.api.Assertions.assertArrayEquals;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

class TlsTransportTest {
    private static final long NOW_MS = 1_700_000_000_000L;

    @TempDir
    private static Path directory;
    private static TestCertificates certificates;

    private final TemplateCatalog catalog = new TemplateCatalog(Records.registry());
    private final Template pair = catalog.template("sourceIPv4Address", "packetDeltaCount");
    private long nowMs = NOW_MS;

    @BeforeAll
    static void makeCertificates() throws Exception {
        certificates = new TestCertificates(directory);
        certificates.make("exporter", "EC", "DNS:exporter.example");
        certificates.make("exporter-rsa", "RSA", "DNS:exporter.example");
        certificates.make("collector", "EC", "DNS:collector.example,IP:127.0.0.1");
        certificates.make("elsewhere", "EC", "DNS:elsewhere.example");
        certificates.make("nameless", "EC", "");
        certificates.make("both-families", "EC", "IP:127.0.0.1,IP:2001:db8::1");
        certificates.make("stranger", "EC", "IP:127.0.0.1");
    }

    private static TlsCredentials credentials(final String own, final String authority) throws IOException {
        return TlsCredentials.load(
            certificates.keyFile(own), certificates.certificateFile(own), certificates.certificateFile(authority));
    }

    private static StreamCollector collector(final String own, final String trusted, final String... protocols)
        throws Exception {
        final SSLContext context = certificates.context(own, trusted);
        return new StreamCollector(context.getServerSocketFactory(), 0, socket -> {
            final SSLServerSocket server = (SSLServerSocket)socket;
            server.setNeedClientAuth(true);
            if (protocols.length > 0) {
                server.setEnabledProtocols(protocols);
            }
        });
    }

    private static StreamSettings settings(final StreamCollector collector) {
        return StreamSettings.of(new Endpoint("127.0.0.1", collector.port()));
    }

    private ExportingSession session(final Transport transport) {
        return new ExportingSession(transport, new SessionSettings(), catalog);
    }

    private String refusal(final Transport transport) {
        Await.until("refused", () -> transport.doWork(nowMs), () -> transport.state() == TransportState.DISCONNECTED);
        transport.close();
        return transport.lastError();
    }

    @ParameterizedTest
    @CsvSource({"exporter,TLSv1.3", "exporter,TLSv1.2", "exporter-rsa,TLSv1.3", "exporter-rsa,TLSv1.2"})
    void shouldDeliverEverythingToAVerifiedCollector(final String own, final String protocol) throws Exception {
        try (StreamCollector collector = collector("collector", own, protocol)) {
            final ExportingSession session =
                session(new TlsTransport(settings(collector), credentials(own, "collector")));
            Await.until("connected", () -> session.doWork(nowMs), session.transport()::isConnected);
            for (int i = 0; i < 20_000; i++) {
                Records.putPair(session, pair, i, i, nowMs);
                if (i % 100 == 0) {
                    session.doWork(nowMs++);
                }
            }
            assertTrue(session.close(System::currentTimeMillis, 10_000));
            Await.until("all has come", () -> { }, () -> collector.parsed(0).records().size() == 20_000);
            assertEquals(20_000, session.statistics().recordsExported());
            Records.assertBooksBalance(session.statistics());
        }
    }

    /** Such a collector writes its tickets after our end; a reset in answer would lose what it had not read. */
    @Test
    void shouldDeliverEverythingToACollectorThatComesToReadAfterTheEnd() throws Exception {
        final LateServerSocketFactory late = new LateServerSocketFactory(certificates.context("collector", "exporter"));
        try (StreamCollector collector = new StreamCollector(late, 0)) {
            final ExportingSession session =
                session(new TlsTransport(settings(collector), credentials("exporter", "collector")));
            Await.until("connected", () -> session.doWork(nowMs), session.transport()::isConnected);
            for (int i = 0; i < 20_000; i++) {
                Records.putPair(session, pair, i, i, nowMs);
            }
            final AtomicInteger looks = new AtomicInteger();
            assertTrue(session.close(() -> {
                if (looks.incrementAndGet() == 10) {
                    late.letGo();
                }
                return System.currentTimeMillis();
            }, 10_000));
            late.letGo();
            Await.until("all has come", () -> { }, () -> collector.parsed(0).records().size() == 20_000);
            Records.assertBooksBalance(session.statistics());
        }
    }

    @Test
    void shouldCheckTheNameThatItWasTold() throws Exception {
        try (StreamCollector collector = collector("collector", "exporter")) {
            final TlsCredentials credentials = credentials("exporter", "collector");
            final Transport named = new TlsTransport(
                settings(collector), credentials, "collector.example", List.of("COLLECTOR.example", "other.example"));
            Await.until("connected", () -> named.doWork(nowMs), named::isConnected);
            named.close();
            final String other = refusal(
                new TlsTransport(settings(collector), credentials, "other.example", List.of()));
            assertTrue(other.contains("other.example"), other);
            final String notAllowed = refusal(
                new TlsTransport(settings(collector), credentials, "127.0.0.1", List.of("other.example")));
            assertTrue(notAllowed.contains("allowed are [other.example]"), notAllowed);
        }
    }

    @Test
    void shouldGoOnWithRenewedCredentialsAndEndAConnectionThatTheyNoLongerTrust() throws Exception {
        try (StreamCollector collector = collector("collector", "exporter")) {
            final TlsCredentials first = credentials("exporter", "collector");
            final AtomicReference<TlsCredentials> current = new AtomicReference<>(first);
            final Transport transport = new TlsTransport(settings(collector), current::get, "127.0.0.1", List.of());
            Await.until("connected", () -> transport.doWork(nowMs), transport::isConnected);
            assertEquals(first, credentials("exporter", "collector"));
            for (final TlsCredentials newer : List.of(
                credentials("exporter", "collector"), credentials("exporter-rsa", "collector"))) {
                current.set(newer);
                transport.doWork(++nowMs);
                assertTrue(transport.isConnected(), transport.lastError());
            }
            current.set(credentials("exporter", "stranger"));
            transport.doWork(++nowMs);
            assertEquals(TransportState.DISCONNECTED, transport.state());
            assertTrue(transport.lastError().endsWith(": the collector's certificate is no longer trusted"),
                transport.lastError());
            transport.close();
        }
    }

    @Test
    void shouldKnowAnAllowedIpv6AddressInWhateverForm() throws Exception {
        try (StreamCollector collector = collector("both-families", "exporter")) {
            final TlsCredentials credentials = credentials("exporter", "both-families");
            final Transport allowed =
                new TlsTransport(settings(collector), credentials, "127.0.0.1", List.of("2001:DB8::0:1"));
            Await.until("connected", () -> allowed.doWork(nowMs), () -> allowed.isConnected() || !allowed.lastError().isEmpty());
            assertEquals("", allowed.lastError());
            allowed.close();
        }
    }

    @Test
    void shouldSendNothingToACollectorOfAnotherName() throws Exception {
        try (StreamCollector collector = collector("elsewhere", "exporter")) {
            final String error = refusal(new TlsTransport(settings(collector), credentials("exporter", "elsewhere")));
            assertTrue(error.contains("127.0.0.1"), error);
            assertArrayEquals(new byte[0], collector.octets(0));
        }
    }

    @Test
    void shouldRefuseACertificateWithoutSubjectAlternativeName() throws Exception {
        try (StreamCollector collector = collector("nameless", "exporter")) {
            final String error = refusal(
                new TlsTransport(settings(collector), credentials("exporter", "nameless"), "nameless", List.of()));
            assertTrue(error.contains("(SAN)"), error);
        }
    }

    @Test
    void shouldRefuseACollectorOfAnUnknownAuthority() throws Exception {
        try (StreamCollector collector = collector("stranger", "exporter")) {
            final String error = refusal(new TlsTransport(settings(collector), credentials("exporter", "collector")));
            assertTrue(error.startsWith("no connection to tls://127.0.0.1:"), error);
        }
    }

    @Test
    void shouldSeeThatACollectorRefusesItsCertificate() throws Exception {
        try (StreamCollector collector = collector("collector", "exporter")) {
            final ExportingSession session =
                session(new TlsTransport(settings(collector), credentials("stranger", "collector")));
            Records.putPair(session, pair, 1, 1, nowMs);
            Await.until("refused", () -> session.doWork(nowMs++), () -> !session.transport().lastError().isEmpty());
            assertTrue(session.transport().lastError().startsWith("no connection to tls://"), session.transport().lastError());
            Records.assertBooksBalance(session.statistics());
            session.close();
        }
    }

    @Test
    void shouldRefuseOldProtocolsAndWeakSuites() throws Exception {
        assertArrayEquals(
            new String[] {"TLS_AES_128_GCM_SHA256", "TLS_ECDHE_RSA_WITH_CHACHA20_POLY1305_SHA256"},
            TlsCredentials.strongSuites(new String[] {
                "TLS_AES_128_GCM_SHA256", "TLS_RSA_WITH_NULL_SHA256", "TLS_ECDHE_RSA_WITH_AES_128_CBC_SHA",
                "TLS_RSA_WITH_AES_128_GCM_SHA256", "TLS_ECDH_anon_WITH_AES_128_CBC_SHA", "TLS_ECDHE_ECDSA_WITH_NULL_SHA",
                "TLS_ECDHE_RSA_WITH_CHACHA20_POLY1305_SHA256"}));
        assertTrue(TlsCredentials.strongSuites(SSLContext.getDefault().createSSLEngine().getSupportedCipherSuites()).length > 4);
    }

    @Test
    void shouldNotHangOnAPeerThatDoesNotSpeakTls() throws Exception {
        try (StreamCollector collector = new StreamCollector(javax.net.ServerSocketFactory.getDefault(), 0)) {
            final Transport transport = new TlsTransport(
                settings(collector).withTimes(1_000, 60_000), credentials("exporter", "collector"));
            Await.until("greeted", () -> transport.doWork(nowMs), () -> collector.octets(0).length > 0);
            nowMs += 1_001;
            assertTrue(refusal(transport).endsWith("no connection within 1000 ms"), transport.lastError());
        }
    }

    @Test
    void shouldNotHangOnAPeerThatDoesNotSpeakTlsWhenTheClockIsSetBack() throws Exception {
        try (StreamCollector collector = new StreamCollector(javax.net.ServerSocketFactory.getDefault(), 0)) {
            final Transport transport = new TlsTransport(
                settings(collector).withTimes(1_000, 60_000), credentials("exporter", "collector"));
            Await.until("greeted", () -> transport.doWork(nowMs), () -> collector.octets(0).length > 0);
            nowMs -= 86_400_000;
            transport.doWork(nowMs);
            nowMs += 1_001;
            transport.doWork(nowMs);
            assertEquals(TransportState.DISCONNECTED, transport.state());
            assertTrue(transport.lastError().endsWith("no connection within 1000 ms"), transport.lastError());
            transport.close();
        }
    }

    @Test
    void shouldNameTheFileAndTheWayOut() throws Exception {
        final Path key = certificates.keyFile("exporter");
        final Path certificate = certificates.certificateFile("exporter");
        assertLoadFails(directory.resolve("none.pem"), certificate, certificate, "cannot read", "no such file");
        assertLoadFails(certificate, certificate, certificate, certificate + " holds no private key");
        assertLoadFails(key, key, certificate, key.toString(), "certificate");
        assertLoadFails(certificates.keyFile("collector"), certificate, certificate, "is not the key of the certificate");
        assertLoadFails(certificates.keyFile("exporter-rsa"), certificate, certificate, "holds no EC key");
        final Path pkcs1 = Files.writeString(directory.resolve("pkcs1.pem"), "-----BEGIN RSA PRIVATE KEY-----\nAA==\n");
        assertLoadFails(pkcs1, certificate, certificate, "RSA PRIVATE KEY", "openssl pkcs8 -topk8 -nocrypt -in " + pkcs1);
        final Path encrypted =
            Files.writeString(directory.resolve("locked.pem"), "-----BEGIN ENCRYPTED PRIVATE KEY-----\nAA==\n");
        assertLoadFails(encrypted, certificate, certificate, "ENCRYPTED PRIVATE KEY");
        final Path empty = Files.createFile(directory.resolve("empty.pem"));
        assertLoadFails(key, certificate, empty, empty.toString());
    }

    private static void assertLoadFails(
        final Path key, final Path certificate, final Path authorities, final String... parts) {
        final String message =
            assertThrows(IOException.class, () -> TlsCredentials.load(key, certificate, authorities)).getMessage();
        for (final String part : parts) {
            assertTrue(message.contains(part), message);
        }
    }
}
