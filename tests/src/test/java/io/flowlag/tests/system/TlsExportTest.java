package io.flowlag.tests.system;

import io.flowlag.exporter.config.ConfigLoader;
import io.flowlag.exporter.config.ExporterConfig;
import io.flowlag.exporter.export.Destination;
import io.flowlag.exporter.export.DestinationFactory;
import io.flowlag.exporter.flow.FlowEntry;
import io.flowlag.exporter.lab.TrafficProfile;
import io.flowlag.exporter.status.Counters;
import io.flowlag.tests.support.Captures;
import io.flowlag.tests.support.Command;
import io.flowlag.tests.support.Deadline;
import io.flowlag.tests.support.Flowlag;
import io.flowlag.tests.support.Ports;
import io.flowlag.tests.support.Stats;
import io.flowlag.tests.support.Tools;
import org.agrona.concurrent.UnsafeBuffer;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.api.parallel.Execution;
import org.junit.jupiter.api.parallel.ExecutionMode;

import java.io.IOException;
import java.net.InetAddress;
import java.net.Socket;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardCopyOption;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.Map;
import java.util.stream.IntStream;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

/**
 * {@code meter} to {@code collect} over mutual TLS, with certificates as an operator makes them. A refused {@code meter} ends
 * after ten seconds, so the tests run side by side.
 */
@Tag("slow")
class TlsExportTest {
    private static final Duration TIMEOUT = Duration.ofSeconds(60);

    @TempDir
    private static Path keys;
    private static Path capture;

    @TempDir
    private Path directory;

    @BeforeAll
    static void makeCertificates() throws IOException {
        makeAuthority("ca");
        makeCertificate("exporter", "DNS:exporter.test");
        makeCertificate("collector", "DNS:localhost,IP:127.0.0.1");
        makeCertificate("elsewhere", "DNS:elsewhere.test");
        makeAuthority("stranger");
        makePrivate("stranger.key");
        capture = keys.resolve("demo.pcap");
        Captures.writeDemo(capture);
    }

    @Test
    @Execution(ExecutionMode.CONCURRENT)
    void shouldDeliverEveryRecordToACollectorThatItVerifies() throws IOException {
        final int port = Ports.freeTcp();
        try (Command.Running collector = collector(port, "collector")) {
            meter(capture, "exporter", "tls://127.0.0.1:" + port).run().orFail();
            final Command.Result collected = collector.finish().orFail();

            final long records = collected.output().lines().filter(line -> line.contains("\"packetDeltaCount\"")).count();
            assertEquals(TrafficProfile.demo().flowCount(), records, collected::errors);
        }
    }

    @Test
    @Execution(ExecutionMode.CONCURRENT)
    void shouldCollectUnderACertificateThatWasRenewedMeanwhile() throws IOException {
        final int port = Ports.freeTcp();
        final Path certificate = Files.copy(keys.resolve("elsewhere.pem"), directory.resolve("own.pem"));
        final Path key = Files.copy(keys.resolve("elsewhere.key"), directory.resolve("own.key"),
            StandardCopyOption.COPY_ATTRIBUTES);
        try (Command.Running collector = collector(port, directory, "own")) {
            Files.writeString(certificate, "no certificate");
            renew(collector, "key and certificates stay as they were: " + certificate + " holds no");
            Files.copy(keys.resolve("collector.pem"), certificate, StandardCopyOption.REPLACE_EXISTING);
            Files.writeString(key, Files.readString(keys.resolve("collector.key")));
            Command.of("chmod", "644", key).run().orFail();
            renew(collector, "key and certificates stay as they were: " + key + " holds a secret that others may read");
            Command.of("chmod", "600", key).run().orFail();
            renew(collector, "key and certificates were read again");
            meter(capture, "exporter", "tls://127.0.0.1:" + port).run().orFail();
            collector.finish().orFail();
        }
    }

    private static void renew(final Command.Running collector, final String line) {
        collector.signal("HUP");
        Deadline.await(TIMEOUT, () -> collector.errors().contains(line) || !collector.isAlive(), collector::errors);
        assertTrue(collector.isAlive(), collector::errors);
    }

    @Test
    @Execution(ExecutionMode.CONCURRENT)
    void shouldSendNothingToACollectorOfAnotherName() {
        final int port = Ports.freeTcp();
        try (Command.Running collector = collector(port, "elsewhere")) {
            final Command.Result metered = meter(capture, "exporter", "tls://127.0.0.1:" + port).run();

            assertEquals(73, metered.exitCode(), metered::toString);
            assertEquals(List.of(), collector.output().lines().toList());
        }
    }

    /**
     * In TLS 1.3 the collector judges a certificate when the exporter may send already, so the capture goes on when the exporter
     * has seen itself refused.
     */
    @Test
    @Execution(ExecutionMode.CONCURRENT)
    void shouldSendNothingWithACertificateThatTheCollectorDoesNotTrust() throws IOException {
        final byte[] packets = Files.readAllBytes(capture);
        final Path stats = directory.resolve("stats.json");
        final int port = Ports.freeTcp();
        try (Command.Running collector = collector(port, "collector");
            Command.Running meter = meter("-", "stranger", "tls://127.0.0.1:" + port, "--stats", stats,
                "--set", "stats.interval=100ms").inputFromTest().start()) {
            meter.feed(Arrays.copyOf(packets, packets.length / 2));
            Deadline.await(TIMEOUT, () -> Files.exists(stats) && Stats.read(stats).destination(0, "errors") > 0, meter::errors);
            meter.feed(Arrays.copyOfRange(packets, packets.length / 2, packets.length));
            meter.endInput();
            final Command.Result metered = meter.finish();

            assertEquals(73, metered.exitCode(), metered::toString);
            assertTrue(collector.output().isEmpty(), collector::output);
        }
    }

    /** The destination is the product's, with a clock of the test; its collector comes after all records have been made. */
    @Test
    @Execution(ExecutionMode.CONCURRENT)
    void shouldKeepRecordsForACollectorThatComesLater() throws IOException {
        final int port = Ports.freeTcp();
        final ExporterConfig config = new ConfigLoader().text("test", "exporting:\n  destinations:\n    - uri: tls://127.0.0.1:" +
            port + "\n      options: off\n      reconnect-interval: 10ms\n      connect-timeout: 5m\n      spool: " +
            directory.resolve("spool") + "\n  tls: {certificate: " + keys.resolve("exporter.pem") + ", key: " +
            keys.resolve("exporter.key") + ", trust: " + keys.resolve("ca.pem") + "}\n").conclude();
        final Destination destination = new DestinationFactory(false, new boolean[1], Map.of(), new Counters())
            .make(config, config.exporting().destinations().get(0));
        final int count = TrafficProfile.demo().flowCount();
        final UnsafeBuffer entry = new UnsafeBuffer(new byte[FlowEntry.BASE_LENGTH_BYTES]);
        final long[] nowMs = {1_700_000_000_000L};
        for (int packets = 1; packets <= count; packets++) {
            FlowEntry.ipVersion(entry, 0, 4);
            FlowEntry.packetCount(entry, 0, packets);
            FlowEntry.startNs(entry, 0, nowMs[0] * 1_000_000L);
            FlowEntry.endNs(entry, 0, nowMs[0] * 1_000_000L);
            FlowEntry.endReason(entry, 0, 1);
            destination.offer(entry, 0, entry.capacity(), nowMs[0]);
            destination.doWork(nowMs[0] += 5);
        }
        assertEquals(count, destination.statistics().spool().recordsIn(), destination.statistics()::line);
        try (Command.Running collector = collector(port, "collector")) {
            Deadline.workUntil(TIMEOUT, () -> {
                destination.doWork(nowMs[0] += 1);
                return destination.statistics().recordsWaiting() == 0;
            }, () -> destination.statistics().line() + " " + destination.lastError() + collector.errors());
            Deadline.workUntil(TIMEOUT, () -> destination.close(System.currentTimeMillis(), Long.MAX_VALUE), () -> "close");
            final List<String> collected = collector.finish().orFail().output().lines()
                .filter((line) -> line.contains("\"packetDeltaCount\"")).toList();
            assertEquals(IntStream.rangeClosed(1, count).boxed().toList(), collected.stream()
                .map((line) -> Integer.valueOf(line.replaceFirst(".*\"packetDeltaCount\": ?([0-9]+).*", "$1"))).toList());
            assertEquals(0, destination.statistics().unexplainedRecords());
        }
    }

    private static Command.Running collector(final int port, final String name) {
        return collector(port, keys, name);
    }

    private static Command.Running collector(final int port, final Path own, final String name) {
        final Command.Running collector = new Flowlag().command("collect", "--listen", "tls://127.0.0.1:" + port,
            "--format", "json", "--count", TrafficProfile.demo().flowCount(),
            "--tls-certificate", own.resolve(name + ".pem"), "--tls-key", own.resolve(name + ".key"),
            "--tls-trust", keys.resolve("ca.pem")).timeout(TIMEOUT).start();
        Deadline.await(TIMEOUT, () -> accepts(port), () -> "collect listens: " + collector.errors());
        return collector;
    }

    private static Command meter(final Object input, final String name, final String destination, final Object... more) {
        final List<Object> line = new ArrayList<>(List.of("meter", "-r", input, "--export", destination + "?options=off",
            "--active", "1d", "--idle", "1d", "--tls-certificate", keys.resolve(name + ".pem"), "--tls-key",
            keys.resolve(name + ".key"), "--tls-trust", keys.resolve("ca.pem")));
        line.addAll(List.of(more));
        return new Flowlag().command(line.toArray()).timeout(TIMEOUT);
    }

    private static boolean accepts(final int port) {
        try (Socket socket = new Socket(InetAddress.getLoopbackAddress(), port)) {
            return socket.isConnected();
        } catch (final IOException ex) {
            return false;
        }
    }

    private static void makeAuthority(final String name) {
        openssl("req", "-x509", "-newkey", "rsa:2048", "-nodes", "-keyout", name + ".key", "-out", name + ".pem",
            "-subj", "/CN=" + name);
    }

    private static void makeCertificate(final String name, final String subjectAltName) throws IOException {
        openssl("req", "-newkey", "rsa:2048", "-nodes", "-keyout", name + ".key", "-out", name + ".csr", "-subj", "/CN=" + name);
        Files.writeString(keys.resolve(name + ".ext"), "subjectAltName=" + subjectAltName);
        openssl("x509", "-req", "-in", name + ".csr", "-CA", "ca.pem", "-CAkey", "ca.key", "-CAcreateserial",
            "-out", name + ".pem", "-extfile", name + ".ext");
        makePrivate(name + ".key");
    }

    private static void makePrivate(final String file) {
        Command.of("chmod", "600", keys.resolve(file)).run().orFail();
    }

    private static void openssl(final Object... arguments) {
        final Object[] line = new Object[arguments.length + 1];
        line[0] = Tools.require("openssl", "openssl");
        System.arraycopy(arguments, 0, line, 1, arguments.length);
        Command.of(line).directory(keys).run().orFail();
    }
}
