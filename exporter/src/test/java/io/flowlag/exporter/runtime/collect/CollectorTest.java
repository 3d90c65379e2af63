package io.flowlag.exporter.runtime.collect;

import ch.qos.logback.classic.Logger;
import ch.qos.logback.classic.spi.ILoggingEvent;
import ch.qos.logback.core.read.ListAppender;
import io.flowlag.common.command.ExitCode;
import io.flowlag.common.command.ExitException;
import io.flowlag.exporter.exchange.link.StalledKeys;
import io.flowlag.exporter.listing.Listing;
import io.flowlag.exporter.listing.RowFormat;
import io.flowlag.exporter.status.Heartbeat;
import io.flowlag.ipfix.collect.CollectorCounter;
import io.flowlag.ipfix.collect.ListenAddress;
import io.flowlag.ipfix.collect.SessionKind;
import io.flowlag.ipfix.element.ElementRegistry;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;
import org.slf4j.LoggerFactory;

import java.io.ByteArrayOutputStream;
import java.io.IOException;
import java.io.OutputStream;
import java.io.PrintStream;
import java.net.DatagramPacket;
import java.net.DatagramSocket;
import java.net.InetSocketAddress;
import java.net.Socket;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Arrays;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.zip.GZIPOutputStream;
import javax.net.ssl.SSLContext;
import javax.net.ssl.SSLSocket;

import static io.flowlag.exporter.runtime.collect.IpfixFiles.FLOW_TEMPLATE;
import static io.flowlag.exporter.runtime.collect.IpfixFiles.flow;
import static io.flowlag.exporter.runtime.collect.IpfixFiles.set;
import static org.junit.jupiter.api.Assertions.assertDoesNotThrow;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;
import static org.junit.jupiter.api.Assumptions.assumeTrue;

/** How {@code collect} begins, goes on and ends. */
@Timeout(60)
class CollectorTest {
    private static final ListenAddress ANY_UDP = new ListenAddress(SessionKind.UDP, "127.0.0.1", 0);
    private static final ListenAddress ANY_TCP = new ListenAddress(SessionKind.TCP, "127.0.0.1", 0);
    private static final byte[] TWO_FLOWS = IpfixFiles.twoFlows();
    /** A label has at most 63 octets, so no name server is asked. */
    private static final String NO_HOST = "h".repeat(64);

    @TempDir
    private Path directory;
    private final ByteArrayOutputStream out = new ByteArrayOutputStream();
    private final ByteArrayOutputStream err = new ByteArrayOutputStream();
    private final ElementRegistry registry = ElementRegistry.iana();

    private Path file(final String name, final byte[] octets) throws IOException {
        return Files.write(directory.resolve(name), octets);
    }

    private static CollectOptions reading(final Path... files) {
        return CollectOptions.DEFAULTS.withListing(Listing.of(RowFormat.JSON))
            .withFiles(Arrays.stream(files).map(Path::toString).toList());
    }

    private void collect(final CollectOptions options) {
        Collector.run(options, registry, out, new PrintStream(err, true, StandardCharsets.UTF_8), () -> false);
    }

    private ExitException collectInVain(final CollectOptions options) {
        return assertThrows(ExitException.class, () -> collect(options));
    }

    private Collector open(final CollectOptions options) {
        return Collector.open(options, registry, out, new PrintStream(err, true, StandardCharsets.UTF_8));
    }

    private int lineCount() {
        return (int)out.toString(StandardCharsets.UTF_8).lines().count();
    }

    private String statistics() {
        return err.toString(StandardCharsets.UTF_8);
    }

    private static void sendUdp(final InetSocketAddress address, final byte[] message) throws IOException {
        try (DatagramSocket socket = new DatagramSocket()) {
            socket.send(new DatagramPacket(message, message.length, address));
        }
    }

    @Test
    void shouldStopWhileAPipeGivesNothing() throws Exception {
        final Path pipe = directory.resolve("pipe");
        assumeTrue(new ProcessBuilder("mkfifo", pipe.toString()).start().waitFor() == 0);
        final AtomicBoolean isStopped = new AtomicBoolean();
        final CompletableFuture<Void> collecting = CompletableFuture.runAsync(() -> assertDoesNotThrow(() -> Collector.run(
            reading(pipe), registry, out, new PrintStream(err, true, StandardCharsets.UTF_8), isStopped::get)));
        try (OutputStream writer = Files.newOutputStream(pipe)) {
            writer.write(TWO_FLOWS);
            writer.write(TWO_FLOWS, 0, 9);
            isStopped.set(true);
            collecting.get();
        }
    }

    @Test
    void shouldReadAPipeToItsEnd() throws Exception {
        final Path pipe = directory.resolve("pipe");
        assumeTrue(new ProcessBuilder("mkfifo", pipe.toString()).start().waitFor() == 0);
        final CompletableFuture<Void> collecting =
            CompletableFuture.runAsync(() -> assertDoesNotThrow(() -> collect(reading(pipe))));
        try (OutputStream writer = Files.newOutputStream(pipe)) {
            for (final byte octet : TWO_FLOWS) {
                writer.write(octet);
                writer.flush();
            }
        }
        collecting.get();
        assertEquals(2, lineCount());
    }

    @Test
    void shouldReadFiles() throws Exception {
        collect(reading(file("a.ipfix", TWO_FLOWS), file("b.ipfix", TWO_FLOWS)));
        assertEquals(4, lineCount());
        assertEquals("collect: 2 messages, 4 records, 0 options records, 0 records missing in 0 sequence gaps, " +
            "0 messages refused\n", statistics());
    }

    /** Records whose fields have no octets: a message of them is text of many MB, and a peer may send one after the other. */
    @Test
    void shouldNotKeepTheTextOfAWholeMessage() throws Exception {
        final String fields = "0001 0000".repeat(999) + "0004 0001";
        final byte[] message = new IpfixFiles().message(0, set(2, "0100 03e8" + fields))
            .message(4000, set(256, "06".repeat(4000))).toBytes();
        final int[] unflushedAndMost = new int[2];
        final OutputStream watched = new OutputStream() {
            @Override
            public void write(final int octet) {
                unflushedAndMost[0]++;
            }

            @Override
            public void write(final byte[] octets, final int offset, final int lengthBytes) {
                unflushedAndMost[0] += lengthBytes;
            }

            @Override
            public void flush() {
                unflushedAndMost[1] = Math.max(unflushedAndMost[1], unflushedAndMost[0]);
                unflushedAndMost[0] = 0;
            }
        };
        final CollectOptions options = reading(file("wide.ipfix", message));
        Collector.run(options, registry, watched, new PrintStream(err, true, StandardCharsets.UTF_8), () -> false);
        assertTrue(statistics().contains(" 4000 records"), statistics());
        assertTrue(unflushedAndMost[1] < 1 << 20, unflushedAndMost[1] + " octets of text at once");
    }

    @Test
    void shouldReadCompressedFiles() throws Exception {
        final ByteArrayOutputStream compressed = new ByteArrayOutputStream();
        try (OutputStream gzip = new GZIPOutputStream(compressed)) {
            gzip.write(TWO_FLOWS);
        }
        collect(reading(file("a.ipfix.gz", compressed.toByteArray())));
        assertEquals(2, lineCount());
    }

    @Test
    void shouldSayThatACompressedFileIsCutWhereverThatIs() throws Exception {
        final ByteArrayOutputStream compressed = new ByteArrayOutputStream();
        try (OutputStream gzip = new GZIPOutputStream(compressed)) {
            gzip.write(TWO_FLOWS);
        }
        final byte[] whole = compressed.toByteArray();
        for (final int lengthBytes : new int[]{2, 5, 12, whole.length - 8, whole.length - 1}) {
            final ExitException failure =
                collectInVain(reading(file("cut.gz", Arrays.copyOf(whole, lengthBytes))));
            assertEquals(ExitCode.DAMAGED_INPUT, failure.exitCode(), lengthBytes + " octets: " + failure.getMessage());
            assertTrue(failure.getMessage().contains("cut.gz is cut "), failure.getMessage());
        }
    }

    @Test
    void shouldGiveFilesOneHeaderWithTheColumnsOfAll() throws Exception {
        final byte[] other = new IpfixFiles().message(0, set(2, "0101 0002 0052 0001 0004 0001"), set(257, "61 06")).toBytes();
        collect(reading(file("a.ipfix", TWO_FLOWS), file("b.ipfix", other), file("c.ipfix", TWO_FLOWS))
            .withListing(Listing.of(RowFormat.CSV)).withColumns(List.of("octetDeltaCount")));
        final List<String> lines = out.toString(StandardCharsets.UTF_8).lines().toList();
        assertEquals(6, lines.size(), out::toString);
        assertTrue(lines.get(0).startsWith("sourceIPv4Address,destinationIPv4Address,"), lines.get(0));
        assertTrue(lines.get(0).endsWith(",flowEndReason,interfaceName"), lines.get(0));
        assertEquals(",,,,6,,,,,,a", lines.get(3));
        assertTrue(lines.get(4).startsWith("192.0.2.") && lines.get(4).endsWith(","), lines.get(4));
        assertTrue(statistics().startsWith("collect: 3 messages, 5 records, ") && statistics().endsWith(" refused\n"),
            statistics());
    }

    @Test
    void shouldStopAtTheLimitOfRecords() throws Exception {
        collect(reading(file("a.ipfix", TWO_FLOWS), file("b.ipfix", TWO_FLOWS)).withEnd(3, 0));
        assertEquals(3, lineCount());
    }

    @Test
    void shouldBeQuiet() throws Exception {
        collect(reading(file("a.ipfix", TWO_FLOWS)).withVoice(true, false));
        assertEquals("", statistics());
    }

    @Test
    void shouldWriteWhatIsBeforeTheDamage() throws Exception {
        final byte[] whole = new IpfixFiles().octets(TWO_FLOWS).octets(TWO_FLOWS).toBytes();
        final Path cut = file("cut.ipfix", Arrays.copyOf(whole, whole.length - 1));
        final ExitException failure = collectInVain(reading(cut, file("b.ipfix", TWO_FLOWS)));
        assertEquals(65, failure.exitCode().number());
        assertTrue(failure.getMessage().startsWith(cut + " is cut inside the message of "), failure.getMessage());
        assertEquals(4, lineCount());
    }

    @Test
    void shouldSayWhatCannotBeRead() throws Exception {
        final ExitException missing = collectInVain(reading(directory.resolve("missing")));
        assertEquals(66, missing.exitCode().number());
        assertTrue(missing.getMessage().endsWith("missing: no such file"), missing.getMessage());
        final ExitException foreign = collectInVain(reading(file("a.txt", "hello, world".getBytes(StandardCharsets.UTF_8))));
        assertEquals(66, foreign.exitCode().number());
        assertTrue(foreign.getMessage().endsWith("is not an IPFIX file (RFC 5655)"), foreign.getMessage());
        assertEquals(66, collectInVain(reading(directory)).exitCode().number());
    }

    @Test
    void shouldReadAnEmptyFile() throws Exception {
        collect(reading(file("empty.ipfix", new byte[0])));
        assertEquals(0, lineCount());
    }

    @Test
    void shouldReceiveUntilTheLimitOfRecords() throws Exception {
        try (Collector collector = open(CollectOptions.DEFAULTS.withListing(Listing.of(RowFormat.CSV))
            .withListen(List.of(ANY_UDP, ANY_TCP)).withEnd(4, 0))) {
            sendUdp(collector.addresses().get(0), TWO_FLOWS);
            try (Socket socket = new Socket("127.0.0.1", collector.addresses().get(1).getPort())) {
                socket.getOutputStream().write(TWO_FLOWS);
                collector.run(() -> false);
            }
            assertEquals(5, lineCount());
            assertEquals(2, collector.counters().get(CollectorCounter.SESSIONS_OPENED));
        }
    }

    @Test
    void shouldEndInSilenceAfterTheFirstMessage() throws Exception {
        try (Collector collector = open(CollectOptions.DEFAULTS.withListen(List.of(ANY_UDP))
            .withEnd(0, TimeUnit.MILLISECONDS.toNanos(50)))) {
            sendUdp(collector.addresses().get(0), TWO_FLOWS);
            collector.run(() -> false);
            assertEquals(3, lineCount());
        }
    }

    @Test
    void shouldWriteWhatTheSocketsHoldWhenStopped() throws Exception {
        try (Collector collector = open(CollectOptions.DEFAULTS.withListen(List.of(ANY_UDP)))) {
            sendUdp(collector.addresses().get(0), TWO_FLOWS);
            collector.run(() -> true);
            assertEquals(3, lineCount());
        }
    }

    @Test
    void shouldTellGapsAndRefusals() throws Exception {
        final byte[] gap = new IpfixFiles().message(1, set(2, FLOW_TEMPLATE), set(256, flow("c0000201", "c6336402", 5, 1500)))
            .message(7, set(1, "00000000")).message(1, set(256, flow("c0000201", "c6336402", 5, 1500))).toBytes();
        final ExitException failure = collectInVain(reading(file("gap.ipfix", gap)));
        assertEquals(65, failure.exitCode().number());
        assertEquals("collect: 3 messages, 2 records, 0 options records, 7 records missing in 1 sequence gaps, " +
            "1 messages refused: refused_set_id=1\n", statistics());
    }

    @Test
    void shouldSayThatAnAddressIsTaken() throws Exception {
        try (DatagramSocket taken = new DatagramSocket(new InetSocketAddress("127.0.0.1", 0))) {
            final ListenAddress address = new ListenAddress(SessionKind.UDP, "127.0.0.1", taken.getLocalPort());
            final ExitException failure = collectInVain(CollectOptions.DEFAULTS.withListen(List.of(ANY_TCP, address)));
            assertEquals(66, failure.exitCode().number());
            assertEquals(address + " is in use by another process; stop that one or take another port", failure.getMessage());
        }
    }

    @Test
    void shouldSayThatAHostIsUnknown() {
        final ListenAddress address = new ListenAddress(SessionKind.UDP, NO_HOST, 4739);
        assertEquals(66, collectInVain(CollectOptions.DEFAULTS.withListen(List.of(address))).exitCode().number());
        final ListenAddress elsewhere = new ListenAddress(SessionKind.TCP, "192.0.2.1", 4739);
        assertEquals(66, collectInVain(CollectOptions.DEFAULTS.withListen(List.of(elsewhere))).exitCode().number());
    }

    @Test
    void shouldSayThatTheRecordsCannotBeWritten() throws Exception {
        final OutputStream full = new OutputStream() {
            @Override
            public void write(final int octet) throws IOException {
                throw new IOException("No space left on device");
            }
        };
        final CollectOptions options = reading(file("a.ipfix", TWO_FLOWS));
        final ExitException failure = assertThrows(ExitException.class, () ->
            Collector.run(options, registry, full, new PrintStream(err, true, StandardCharsets.UTF_8), () -> false));
        assertEquals(73, failure.exitCode().number());
        assertEquals("cannot write the records: No space left on device", failure.getMessage());
        final ExitException swallowed = assertThrows(ExitException.class, () -> Collector.run(
            options, registry, new PrintStream(full), new PrintStream(err, true, StandardCharsets.UTF_8), () -> false));
        assertEquals(73, swallowed.exitCode().number());
    }

    /** The key manager of the collector answers no ClientHello, and the clock goes on. */
    @Test
    void shouldSayOnceThatTheThreadOfHandshakesHangs() throws Exception {
        final CountDownLatch mayEnd = new CountDownLatch(1);
        final SSLContext stalled = StalledKeys.context(mayEnd);
        final ListAppender<ILoggingEvent> log = new ListAppender<>();
        final Logger logger = (Logger)LoggerFactory.getLogger(Collector.class);
        log.start();
        logger.addAppender(log);
        final long[] nowNs = {1};
        final CompletableFuture<Void> connecting;
        try (Collector collector = Collector.open(
            CollectOptions.DEFAULTS.withTls(stalled).withListen(List.of(new ListenAddress(SessionKind.TLS, "127.0.0.1", 0))),
            registry, out, new PrintStream(err, true, StandardCharsets.UTF_8), () -> nowNs[0]);
            SSLSocket exporter = (SSLSocket)SSLContext.getDefault().getSocketFactory().createSocket()) {
            exporter.connect(collector.addresses().get(0));
            connecting = CompletableFuture.runAsync(() -> assertThrows(IOException.class, exporter::startHandshake));
            final int[] turns = {0};
            collector.run(() -> {
                nowNs[0] += isWorking("collect-handshake") ? Heartbeat.STUCK_NS / 4 : 0;
                return !log.list.isEmpty() && ++turns[0] == 3;
            });
        } finally {
            mayEnd.countDown();
            logger.detachAppender(log);
        }
        connecting.get();
        assertEquals(List.of("collect-handshake stalled for more than 10 s: no exporter can connect by TLS meanwhile"),
            log.list.stream().map(ILoggingEvent::getFormattedMessage).toList());
    }

    private static boolean isWorking(final String name) {
        return Heartbeat.living().stream().anyMatch((each) -> name.equals(each.roleName()));
    }

    @Test
    void shouldParseAddresses() {
        assertEquals(new ListenAddress(SessionKind.UDP, "127.0.0.1", 4739), ListenAddress.parse("udp://127.0.0.1:4739"));
        assertEquals(new ListenAddress(SessionKind.TCP, "::1", 9), ListenAddress.parse("TCP://[::1]:9"));
        assertEquals(new ListenAddress(SessionKind.TCP, "localhost", 4739), ListenAddress.parse("tcp://localhost"));
        assertEquals(new ListenAddress(SessionKind.TLS, "localhost", 4740), ListenAddress.parse("tls://localhost"));
        assertEquals("tcp://[::1]:9", ListenAddress.parse("tcp://[::1]:9").toString());
        for (final String wrong : List.of("", "udp", "udp:4739", "sctp://h:1", "udp://h:1/path", "udp://h:99999", "udp://:1")) {
            assertThrows(IllegalArgumentException.class, () -> ListenAddress.parse(wrong), wrong);
        }
    }

    @Test
    void shouldRefuseOptionsThatContradict() {
        assertThrows(IllegalArgumentException.class, () -> CollectOptions.DEFAULTS.withFiles(List.of()));
        assertThrows(IllegalArgumentException.class, () -> CollectOptions.DEFAULTS.withEnd(-1, 0));
        assertThrows(IllegalArgumentException.class, () ->
            CollectOptions.DEFAULTS.withListen(List.of(new ListenAddress(SessionKind.TLS, "localhost", 4740))));
    }
}
