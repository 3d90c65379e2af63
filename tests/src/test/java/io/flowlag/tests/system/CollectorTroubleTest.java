package io.flowlag.tests.system;

import io.flowlag.exporter.lab.TrafficProfile;
import io.flowlag.exporter.status.CounterId;
import io.flowlag.tests.support.Captures;
import io.flowlag.tests.support.Command;
import io.flowlag.tests.support.Deadline;
import io.flowlag.tests.support.Flow;
import io.flowlag.tests.support.Flowlag;
import io.flowlag.tests.support.Flows;
import io.flowlag.tests.support.IpfixReader;
import io.flowlag.tests.support.Ports;
import io.flowlag.tests.support.Stats;
import io.flowlag.tests.support.TcpSink;
import io.flowlag.tests.support.UdpSink;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.api.parallel.Execution;
import org.junit.jupiter.api.parallel.ExecutionMode;
import org.junit.jupiter.api.parallel.ResourceLock;

import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.Arrays;
import java.util.List;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

/**
 * A collector that is down, late or restarted: other destinations are unaffected, and every record is counted and saved if
 * possible. The capture comes through a pipe, so that the test controls what happens between its halves. A process that misses a
 * collector ends after ten seconds, so the tests run side by side.
 */
@Timeout(120)
@Tag("slow")
class CollectorTroubleTest {
    private static final Duration TIMEOUT = Duration.ofSeconds(30);
    private static final int CANNOT_WRITE = 73;
    /** Of commands, which share the log of their JVM. */
    private static final String THIS_JVM = "this JVM";

    @TempDir
    private Path directory;
    private byte[] capture;
    private List<Flow> truth;
    private Path stats;

    @BeforeEach
    void makeCapture() throws IOException {
        final Path file = directory.resolve("demo.pcap");
        truth = Captures.writeDemo(file);
        capture = Files.readAllBytes(file);
        stats = directory.resolve("stats.json");
    }

    @Test
    @Execution(ExecutionMode.CONCURRENT)
    @ResourceLock(THIS_JVM)
    void shouldCountWhatNoTcpCollectorTook() {
        final Path file = directory.resolve("out.ipfix");
        final Command.Result result = new Flowlag().inThisJvm().run(
            "meter", "-r", directory.resolve("demo.pcap"), "--stats", stats,
            "--export", "tcp://127.0.0.1:" + Ports.freeTcp() + "?reconnect-interval=50ms", "--export", "file:" + file);

        assertEquals(CANNOT_WRITE, result.exitCode(), result::toString);
        assertEquals(1, result.errorLines().size(), result::toString);
        final Stats counted = Stats.read(stats).orFailUnlessAccounted();
        assertEquals(counted.counter(CounterId.RECORDS_MADE), counted.destination(0, "records_failed"));
        Flows.assertSame(truth, IpfixReader.read(file).orFail().flows(), "the file beside the dead collector");
    }

    @Test
    @Execution(ExecutionMode.CONCURRENT)
    @ResourceLock(THIS_JVM)
    void shouldNotBeSilencedByAnAbsentUdpCollector() {
        final Path file = directory.resolve("out.ipfix");
        final Command.Result result = new Flowlag().inThisJvm().run(
            "meter", "-r", directory.resolve("demo.pcap"), "--stats", stats,
            "--export", "udp://127.0.0.1:" + Ports.freeUdp(), "--export", "file:" + file);

        assertEquals(0, result.exitCode(), result::toString);
        Stats.read(stats).orFailUnlessAccounted();
        Flows.assertSame(truth, IpfixReader.read(file).orFail().flows(), "the file beside the absent collector");
    }

    @Test
    @Execution(ExecutionMode.CONCURRENT)
    void shouldDeliverEverythingToATcpCollectorThatComesLate() {
        final int port = Ports.freeTcp();
        try (Command.Running meter = meter(tcp(port))) {
            meter.feed(part(0, 2));
            try (TcpSink sink = new TcpSink(port)) {
                Deadline.await(TIMEOUT, () -> sink.connectionCount() > 0, () -> "meter connects: " + meter.errors());
                meter.feed(part(2, 4));
                meter.endInput();
                final Command.Result result = meter.finish();

                result.orFail();
                Flows.assertSame(truth, read(sink.finish(1).get(0)), "late TCP collector");
                assertEquals(0, Stats.read(stats).orFailUnlessAccounted().destination(0, "records_failed"));
            }
        }
    }

    @Test
    @Execution(ExecutionMode.CONCURRENT)
    void shouldStartAnewWithATcpCollectorThatRestarts() {
        try (TcpSink first = new TcpSink();
            Command.Running meter = meter(tcp(first.port()))) {
            meter.feed(part(0, 2));
            Deadline.await(TIMEOUT, () -> first.octetCount() > 0, () -> "records at the first collector: " + meter.errors());
            first.stop();
            meter.feed(part(2, 4));
            meter.endInput();
            try (TcpSink second = new TcpSink(first.port())) {
                Deadline.await(TIMEOUT, () -> second.connectionCount() > 0, () -> "meter connects again: " + meter.errors());
                meter.finish();

                final List<Flow> arrived = read(second.finish(1).get(0));
                final Stats counted = Stats.read(stats).orFailUnlessAccounted();
                assertTrue(arrived.size() > 0, "records at the second collector");
                assertTrue(arrived.size() + counted.destination(0, "records_failed") +
                    counted.destination(0, "records_uncertain") <= counted.counter(CounterId.RECORDS_MADE));
                assertEquals(1, counted.destination(0, "reconnects"));
            }
        }
    }

    @Test
    @Execution(ExecutionMode.CONCURRENT)
    void shouldBeUnderstoodByAUdpCollectorThatRestarts() {
        try (UdpSink first = new UdpSink();
            Command.Running meter =
                meter("udp://127.0.0.1:" + first.port() + "?template-refresh-messages=1&flush-interval=1ms")) {
            meter.feed(part(0, 2));
            Deadline.await(TIMEOUT, () -> first.datagrams().size() > 0, () -> "records at the first: " + meter.errors());
            first.stop();
            meter.feed(part(2, 3));
            try (UdpSink second = new UdpSink(first.port())) {
                meter.feed(part(3, 4));
                meter.endInput();
                final Command.Result result = meter.finish();

                assertEquals(0, result.exitCode(), result::toString);
                final IpfixReader reader = new IpfixReader();
                second.finish().forEach(datagram -> reader.readMessage(ByteBuffer.wrap(datagram)));
                assertTrue(reader.flowRecordCount() > 0, "records at the restarted collector");
                reader.reception().orFail();
                Stats.read(stats).orFailUnlessAccounted();
            }
        }
    }

    @Test
    @Execution(ExecutionMode.CONCURRENT)
    void shouldSaveEveryFlowWhenTerminated() {
        final Path file = directory.resolve("out.ipfix");
        try (Command.Running meter = meter("file:" + file)) {
            meter.feed(capture);
            Deadline.await(TIMEOUT, () -> Files.exists(stats) &&
                Stats.read(stats).counter(CounterId.METERED) == TrafficProfile.demo().packetCount(),
                () -> "all packets metered: " + meter.errors());
            meter.signal("TERM");
            final Command.Result result = meter.finish();

            assertEquals(0, result.exitCode(), result::toString);
            Stats.read(stats).orFailUnlessAccounted();
            Flows.assertSame(truth, IpfixReader.read(file).orFail().flows(), "terminated while it waited for more");
        }
    }

    /** Idle flows end within the capture, so records leave while it is being read. */
    private Command.Running meter(final String destination) {
        return Flowlag.with("meter").command("meter", "-r", "-", "--export", destination, "--stats", stats,
            "--idle", "500ms", "--active", "1s", "--set", "exporting.flush-interval=1ms",
            "--set", "stats.interval=100ms").inputFromTest().start();
    }

    private byte[] part(final int fromQuarter, final int toQuarter) {
        return Arrays.copyOfRange(capture, capture.length * fromQuarter / 4, capture.length * toQuarter / 4);
    }

    private static String tcp(final int port) {
        return "tcp://127.0.0.1:" + port + "?reconnect-interval=50ms";
    }

    private static List<Flow> read(final byte[] stream) {
        final IpfixReader reader = new IpfixReader();
        reader.readStream(ByteBuffer.wrap(stream));
        return reader.reception().orFail().flows();
    }
}
