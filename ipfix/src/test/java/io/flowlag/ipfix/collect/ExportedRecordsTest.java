package io.flowlag.ipfix.collect;

import io.flowlag.ipfix.element.InformationElement;
import io.flowlag.ipfix.message.RecordEncoder;
import io.flowlag.ipfix.session.ExportingSession;
import io.flowlag.ipfix.session.OptionsWriter;
import io.flowlag.ipfix.session.SessionSettings;
import io.flowlag.ipfix.support.Await;
import io.flowlag.ipfix.support.Records;
import io.flowlag.ipfix.support.TestCertificates;
import io.flowlag.ipfix.template.Template;
import io.flowlag.ipfix.template.TemplateCatalog;
import io.flowlag.ipfix.transport.Endpoint;
import io.flowlag.ipfix.transport.FileTransport;
import io.flowlag.ipfix.transport.StreamSettings;
import io.flowlag.ipfix.transport.TcpTransport;
import io.flowlag.ipfix.transport.TlsCredentials;
import io.flowlag.ipfix.transport.TlsTransport;
import io.flowlag.ipfix.transport.Transport;
import io.flowlag.ipfix.transport.UdpTransport;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

import java.io.BufferedInputStream;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertNull;
import static org.junit.jupiter.api.Assertions.assertTrue;

/** Records of the product's Exporting Process arrive unchanged over every transport. */
@Timeout(120)
class ExportedRecordsTest {
    private static final int RECORD_COUNT = 500;
    private static final long NOW_MS = 1_763_712_000_123L;
    private static final InetSocketAddress ANY_PORT = new InetSocketAddress(InetAddress.getLoopbackAddress(), 0);

    @TempDir
    private static Path directory;
    private static TestCertificates certificates;

    private final TemplateCatalog catalog = new TemplateCatalog(Records.registry());
    private final Template template = catalog.template("sourceIPv4Address", "destinationIPv6Address", "packetDeltaCount",
        "flowStartNanoseconds", "flowEndMicroseconds", "flowStartMilliseconds", "interfaceName", "sourceMacAddress",
        "testDelayMeanNanoseconds", "testDelaySquareSum");
    private final Collection collection = new Collection();
    private final List<String> expected = new ArrayList<>();
    private final List<String> received = new ArrayList<>();

    @BeforeAll
    static void makeCertificates() throws Exception {
        certificates = new TestCertificates(directory);
        certificates.make("exporter", "EC", "DNS:exporter.example");
        certificates.make("collector", "RSA", "IP:127.0.0.1");
        certificates.make("stranger", "EC", "IP:127.0.0.1");
    }

    private static TlsCredentials credentials(final String own, final String authority) throws IOException {
        return TlsCredentials.load(
            certificates.keyFile(own), certificates.certificateFile(own), certificates.certificateFile(authority));
    }

    private static String line(final int i, final long startNs, final long endNs, final long startMs) {
        return String.join(" ", Integer.toString(i), Long.toString(i * 3L), Long.toString(i), Long.toString(startNs),
            Long.toString(endNs), Long.toString(startMs), "eth" + i, Long.toString(i), Long.toString(-i),
            Double.toString(i / 7.0));
    }

    private void readBack(final CollectedRecord record) {
        if (record.isOptions()) {
            return;
        }
        received.add(String.join(" ", Integer.toString(record.ipv4Address(0)), Long.toString(record.ipv6Low(1)),
            Long.toString(record.unsigned(2)), Long.toString(record.timestampNs(3)), Long.toString(record.timestampNs(4)),
            Long.toString(record.timestampNs(5) / 1_000_000), record.string(6), Long.toString(record.macAddress(7)),
            Long.toString(record.signed(8)), Double.toString(record.floating(9))));
        assertEquals("testDelayMeanNanoseconds", record.element(8).name());
    }

    private void put(final ExportingSession session, final int i) {
        final long startNs = NOW_MS * 1_000_000 + i * 1_234_567L;
        final long endNs = (startNs + 987_654_321L) / 1000 * 1000;
        final String name = "eth" + i;
        Await.until("there is room", () -> session.doWork(NOW_MS), () -> {
            final int offset = session.claim(template, template.minLengthBytes() + name.length(), NOW_MS);
            if (offset < 0) {
                return false;
            }
            new RecordEncoder().wrap(session.buffer(), offset, template).ipv4Address(i).ipv6Address(1, i * 3L).unsigned(i)
                .timeNs(startNs).timeNs(endNs).timeNs(startNs).string(name).macAddress(i).signed(-i).floating(i / 7.0);
            session.commit();
            return true;
        });
        expected.add(line(i, startNs, endNs, startNs / 1_000_000));
    }

    /** Sends everything through a session, working on both ends in turns. */
    private void export(final Transport transport, final Runnable collectorWork) {
        collection.inspection = this::readBack;
        final ExportingSession session =
            new ExportingSession(transport, new SessionSettings().observationDomainId(77).lossless(true), catalog);
        final Runnable work = () -> {
            session.doWork(NOW_MS);
            collectorWork.run();
        };
        Await.until("the session has begun", work, () -> session.transportSessionCount() > 0);
        final OptionsWriter options = new OptionsWriter(session, catalog);
        for (final InformationElement element : Records.registry().elements()) {
            if (element.isEnterprise()) {
                assertTrue(options.typeInformation(element, NOW_MS) >= 0);
            }
        }
        for (int i = 0; i < RECORD_COUNT; i++) {
            put(session, i);
            work.run();
        }
        Await.until("everything is sent", work, () -> session.flush(NOW_MS));
        session.close();
    }

    private void assertAllReceived() {
        assertEquals(expected, received);
        assertEquals(2, collection.count(CollectorCounter.ELEMENTS_LEARNED));
        assertEquals(2, collection.count(CollectorCounter.OPTIONS_RECORDS));
        assertEquals(0, CollectorCounter.refused(collection.counters));
        assertEquals(0, collection.count(CollectorCounter.SEQUENCE_GAPS));
        assertEquals(0, collection.count(CollectorCounter.DATA_SETS_WITHOUT_TEMPLATE));
        assertEquals(0, collection.count(CollectorCounter.PADDING_NOT_ZERO));
    }

    private void poll(final CollectorServer server) {
        try {
            server.poll(0, 0);
        } catch (final IOException ex) {
            throw new UncheckedIOException(ex);
        }
    }

    private static Endpoint endpoint(final InetSocketAddress address) {
        return new Endpoint("127.0.0.1", address.getPort());
    }

    @ParameterizedTest
    @ValueSource(strings = {"UDP", "TCP", "TLS"})
    void shouldArriveOverTheNetwork(final String kind) throws IOException {
        try (CollectorServer server = new CollectorServer(collection.process)) {
            final Transport transport = switch (kind) {
                case "UDP" -> new UdpTransport(endpoint(server.listenUdp(ANY_PORT)));
                case "TCP" -> new TcpTransport(StreamSettings.of(endpoint(server.listenTcp(ANY_PORT))));
                default -> new TlsTransport(
                    StreamSettings.of(endpoint(
                        server.listenTls(ANY_PORT, credentials("collector", "exporter").context(), true))),
                    credentials("exporter", "collector"));
            };
            export(transport, () -> poll(server));
            Await.until("everything has come", () -> poll(server), () -> received.size() >= RECORD_COUNT);
            assertAllReceived();
            if (!kind.equals("UDP")) {
                Await.until("the connection ends", () -> poll(server),
                    () -> collection.count(CollectorCounter.CONNECTIONS_ENDED) == 1);
            }
        }
    }

    @Test
    void shouldRefuseAnExporterThatNobodyTrusts() throws IOException {
        try (CollectorServer server = new CollectorServer(collection.process)) {
            final InetSocketAddress address =
                server.listenTls(ANY_PORT, credentials("collector", "exporter").context(), true);
            try (Transport transport = new TlsTransport(
                StreamSettings.of(endpoint(address)), credentials("stranger", "collector"))) {
                Await.until("the handshake fails", () -> {
                    transport.doWork(NOW_MS);
                    poll(server);
                }, () -> collection.count(CollectorCounter.CONNECTIONS_TLS_FAILED) == 1);
            }
            assertEquals(0, server.connectionCount());
            assertEquals(0, collection.count(CollectorCounter.MESSAGES));
        }
    }

    @Test
    void shouldArriveInAFile() throws IOException {
        final Path file = directory.resolve("records.ipfix");
        export(new FileTransport(file), () -> { });
        try (MessageStreamReader reader = new MessageStreamReader(
            collection.process, new BufferedInputStream(Files.newInputStream(file)), "records.ipfix")) {
            boolean isOpen = true;
            while (isOpen) {
                isOpen = reader.readMessage(0);
            }
            assertNull(reader.damage());
        }
        assertAllReceived();
    }
}
