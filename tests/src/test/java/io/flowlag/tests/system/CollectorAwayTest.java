package io.flowlag.tests.system;

import io.flowlag.exporter.config.ConfigLoader;
import io.flowlag.exporter.config.ExporterConfig;
import io.flowlag.exporter.export.Destination;
import io.flowlag.exporter.export.DestinationFactory;
import io.flowlag.exporter.flow.FlowEntry;
import io.flowlag.exporter.status.Counters;
import io.flowlag.exporter.status.DestinationStatistics;
import io.flowlag.ipfix.transport.StreamSettings;
import io.flowlag.tests.support.Deadline;
import io.flowlag.tests.support.Flow;
import io.flowlag.tests.support.IpfixReader;
import io.flowlag.tests.support.Ports;
import io.flowlag.tests.support.PythonIpfix;
import io.flowlag.tests.support.TcpSink;
import io.flowlag.tests.support.UdpSink;
import org.agrona.concurrent.UnsafeBuffer;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;

import java.io.IOException;
import java.net.StandardSocketOptions;
import java.nio.ByteBuffer;
import java.nio.channels.SocketChannel;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

/**
 * A collector is absent for ten minutes of traffic and returns; the clock is the test's, the connections are real. Records not
 * yet handed to the old connection arrive exactly once and in order, in a session that begins at sequence number 0.
 */
@Tag("slow")
@Timeout(120)
class CollectorAwayTest {
    private static final Duration TIMEOUT = Duration.ofSeconds(60);
    private static final long BEGIN_MS = 1_700_000_000_000L;
    private static final long MINUTE_MS = 60_000;
    private static final int RECORDS_PER_SECOND = 5;
    private static final int FIRST_RECORDS = 500;
    private static final int MESSAGE_HEADER_BYTES = 16;
    private static final int SEQUENCE_OFFSET = 8;
    private static final int LENGTH_OFFSET = 2;
    private static final int MAX_MESSAGE_BYTES = 65_535;

    @TempDir
    private Path directory;
    private final UnsafeBuffer entry = new UnsafeBuffer(new byte[FlowEntry.BASE_LENGTH_BYTES]);
    private long nowMs = BEGIN_MS;
    private int made;

    private Destination destination(final String uri, final String more) throws IOException {
        final ExporterConfig config = new ConfigLoader().text("test", "exporting:\n  destinations:\n    - uri: " + uri +
            "\n      options: off\n" + more).conclude();
        return new DestinationFactory(false, new boolean[1], Map.of(), new Counters())
            .make(config, config.exporting().destinations().get(0));
    }

    private String spool(final String more) {
        return "      spool: " + directory.resolve("spool") + "\n" + more;
    }

    /** The number of packets identifies each record. */
    private void make(final Destination... destinations) {
        made++;
        entry.setMemory(0, entry.capacity(), (byte)0);
        FlowEntry.sourceLow(entry, 0, 0x0A000001L);
        FlowEntry.destinationLow(entry, 0, 0x0A000002L);
        FlowEntry.sourcePort(entry, 0, 4000);
        FlowEntry.destinationPort(entry, 0, 53);
        FlowEntry.protocol(entry, 0, 17);
        FlowEntry.ipVersion(entry, 0, 4);
        FlowEntry.packetCount(entry, 0, made);
        FlowEntry.octetCount(entry, 0, 100L * made);
        FlowEntry.startNs(entry, 0, nowMs * 1_000_000L);
        FlowEntry.endNs(entry, 0, nowMs * 1_000_000L);
        FlowEntry.endReason(entry, 0, 1);
        for (final Destination destination : destinations) {
            destination.offer(entry, 0, entry.capacity(), nowMs);
        }
    }

    private void work(final long stepMs, final Destination... destinations) {
        nowMs += stepMs;
        for (final Destination destination : destinations) {
            destination.doWork(nowMs);
        }
    }

    /** Works until a condition holds; the kernel needs real time, while the test's clock hardly moves. */
    private void workUntil(final java.util.function.BooleanSupplier condition, final long stepMs, final Destination... all) {
        Deadline.workUntil(TIMEOUT, () -> {
            work(stepMs, all);
            return condition.getAsBoolean();
        }, () -> all[0].statistics().line() + " " + all[0].lastError());
    }

    private static void close(final Destination destination) {
        Deadline.workUntil(TIMEOUT, () -> destination.close(System.currentTimeMillis(), Long.MAX_VALUE), () -> "close");
    }

    @Test
    void shouldDeliverTenMinutesExactlyOnceInOrderAfterACollectorWasAway() throws IOException {
        final TcpSink first = new TcpSink();
        final int port = first.port();
        final Destination destination = destination("tcp://127.0.0.1:" + port,
            spool("      reconnect-interval: 60s\n      connect-timeout: 5m\n      spool-rate: 2000\n"));
        workUntil(() -> destination.statistics().messages() > 0 || makeOne(destination), 1, destination);
        while (made < FIRST_RECORDS) {
            make(destination);
        }
        workUntil(() -> destination.statistics().recordsWaiting() == 0, 10, destination);
        final long before = destination.statistics().recordsExported();
        assertEquals(made, before);
        final long octets = destination.statistics().octets();
        Deadline.await(TIMEOUT, () -> first.octetCount() == octets, () -> "arrived " + first.octetCount());
        first.stop();

        final long endMs = nowMs + 10 * MINUTE_MS;
        while (nowMs < endMs) {
            make(destination);
            work(1_000 / RECORDS_PER_SECOND, destination);
        }
        final DestinationStatistics away = destination.statistics();
        assertEquals(0, away.unexplainedRecords());
        assertEquals(0, away.recordsFailed());
        assertTrue(away.recordsWaiting() > 2_900, away::line);
        // What was handed to the kernel before the break was seen is exported, and doubtful.
        final long handed = away.recordsExported();
        assertTrue(handed - before <= away.recordsUncertain(), away::line);
        assertTrue(away.recordsUncertain() <= mostRecordsOf(away, sendBufferBytes()), away::line);

        try (TcpSink second = new TcpSink(port)) {
            workUntil(
                () -> destination.statistics().recordsWaiting() == 0 && second.connectionCount() > 0, 1_000, destination);
            close(destination);
            final DestinationStatistics end = destination.statistics();
            assertEquals(made, end.recordsMade());
            assertEquals(made, end.recordsExported());
            assertEquals(0, end.spool().recordsHeld());
            assertSession(second.finish(1).get(0), handed + 1, made);
        }
    }

    /** What the kernel gives when it is asked for the product's send buffer. */
    private static int sendBufferBytes() throws IOException {
        try (SocketChannel channel = SocketChannel.open()) {
            channel.setOption(StandardSocketOptions.SO_SNDBUF, StreamSettings.DEFAULT_SOCKET_SEND_BUFFER_BYTES);
            return channel.getOption(StandardSocketOptions.SO_SNDBUF);
        }
    }

    /** As many records as fit in so many octets, at the length that those exported so far had, and those of one message more. */
    private static long mostRecordsOf(final DestinationStatistics statistics, final long bytes) {
        final double recordBytes = (double)(statistics.octets() - statistics.messages() * MESSAGE_HEADER_BYTES) /
            statistics.recordsExported();
        return (long)((bytes + MAX_MESSAGE_BYTES) / recordBytes) + 1;
    }

    private boolean makeOne(final Destination destination) {
        if (made == 0) {
            make(destination);
        }
        return false;
    }

    /** By a decoder of our own tests and by the Python package. */
    private void assertSession(final byte[] stream, final long from, final long to) throws IOException {
        final ByteBuffer octets = ByteBuffer.wrap(stream);
        assertEquals(0, octets.getInt(SEQUENCE_OFFSET));
        assertTrue(octets.getShort(LENGTH_OFFSET) > MESSAGE_HEADER_BYTES);
        final IpfixReader reader = new IpfixReader();
        reader.readStream(octets);
        assertPackets(reader.reception().orFail().flows(), from, to);
        final Path file = directory.resolve("session.ipfix");
        Files.write(file, stream);
        assertPackets(PythonIpfix.read(file).orFail().flows(), from, to);
    }

    private static void assertPackets(final List<Flow> flows, final long from, final long to) {
        final List<Long> numbers = flows.stream().map(Flow::packets).toList();
        final List<Long> expected = new ArrayList<>();
        for (long number = from; number <= to; number++) {
            expected.add(number);
        }
        assertEquals(expected, numbers);
    }

    @Test
    void shouldSendLiveRecordsBesideALimitedDrain() throws IOException {
        final int port = Ports.freeTcp();
        final Destination destination = destination("tcp://127.0.0.1:" + port,
            spool("      reconnect-interval: 1s\n      connect-timeout: 5m\n      spool-rate: 100\n"));
        final int spooled = 2_000;
        while (made < spooled) {
            make(destination);
            work(10, destination);
        }
        try (TcpSink sink = new TcpSink(port)) {
            workUntil(() -> sink.connectionCount() > 0 && destination.statistics().messages() > 0, 1, destination);
            final long connectedMs = nowMs;
            for (int i = 0; i < 500; i++) {
                make(destination);
                work(10, destination);
            }
            final long drained = destination.statistics().spool().recordsOut();
            assertTrue(drained <= (nowMs - connectedMs) / 10 + 200, () -> "drained " + drained);
            workUntil(() -> destination.statistics().recordsWaiting() == 0, 100, destination);
            close(destination);
            final IpfixReader reader = new IpfixReader();
            reader.readStream(ByteBuffer.wrap(sink.finish(1).get(0)));
            final List<Long> all = reader.reception().orFail().flows().stream().map(Flow::packets).toList();
            assertEquals(made, all.size());
            assertEquals(made, all.stream().distinct().count());
            final List<Long> old = all.stream().filter((each) -> each <= spooled).toList();
            final List<Long> live = all.stream().filter((each) -> each > spooled).toList();
            assertEquals(old.stream().sorted().toList(), old);
            assertEquals(live.stream().sorted().toList(), live);
            assertTrue(all.indexOf((long)made) < all.indexOf((long)spooled), "live records did not wait for the spool");
        }
    }

    @Test
    void shouldKeepDestinationsApartAndGoOnAfterARestart() throws IOException {
        final Path file = directory.resolve("flows.ipfix");
        final int port = Ports.freeTcp();
        final Destination away = destination("tcp://127.0.0.1:" + port,
            spool("      reconnect-interval: 10ms\n      connect-timeout: 5m\n"));
        final Destination near = destination("file:" + file, spool(""));
        for (int i = 0; i < 1_000; i++) {
            make(away, near);
            work(5, away, near);
        }
        close(near);
        close(away);
        assertEquals(1_000, near.statistics().recordsExported());
        assertEquals(1_000, away.statistics().recordsWaiting());
        assertEquals(0, away.statistics().recordsFailed());
        assertPackets(IpfixReader.read(file).orFail().flows(), 1, 1_000);

        try (TcpSink sink = new TcpSink(port)) {
            final Destination next = destination("tcp://127.0.0.1:" + port,
                spool("      reconnect-interval: 10ms\n      connect-timeout: 5m\n"));
            assertEquals(1, next.notices().size());
            workUntil(() -> next.statistics().recordsWaiting() == 0, 20, next);
            final DestinationStatistics statistics = next.statistics();
            assertEquals(0, statistics.recordsMade());
            assertEquals(1_000, statistics.spool().recordsTakenUp());
            assertEquals(1_000, statistics.recordsExported());
            assertEquals(0, statistics.unexplainedRecords());
            close(next);
            assertSession(sink.finish(1).get(0), 1, 1_000);
        }
    }

    @Test
    void shouldBeReadableWithinTheRefreshTimeAfterAUdpCollectorRestarted() throws IOException {
        final UdpSink first = new UdpSink();
        final int port = first.port();
        final long refreshMs = 60_000;
        final Destination destination = destination("udp://127.0.0.1:" + port, "      template-refresh: 60s\n");
        for (int i = 0; i < 100; i++) {
            make(destination);
            work(100, destination);
        }
        first.finish();
        try (UdpSink second = new UdpSink(port)) {
            final long restartMs = nowMs;
            while (nowMs < restartMs + refreshMs + 5_000) {
                make(destination);
                work(100, destination);
            }
            final long last = made;
            final long datagrams = destination.statistics().messages();
            assertTrue(datagrams > 0);
            final IpfixReader reader = new IpfixReader();
            second.finish().forEach((datagram) -> reader.readMessage(ByteBuffer.wrap(datagram)));
            final List<Flow> readable = reader.reception().flows();
            assertTrue(!readable.isEmpty(), "nothing could be read");
            assertTrue(readable.get(0).firstMs() <= restartMs + refreshMs + 1_000, () -> "first " + readable.get(0));
            assertTrue(readable.stream().anyMatch((flow) -> flow.packets() >= last - 50), "the latest could be read");
            assertEquals(0, destination.statistics().unexplainedRecords());
        }
    }
}
