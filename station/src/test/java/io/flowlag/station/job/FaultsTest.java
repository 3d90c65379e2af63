package io.flowlag.station.job;

import io.flowlag.ipfix.collect.CollectorCounter;
import io.flowlag.ipfix.element.FlowElements;
import io.flowlag.station.inlet.MessageQueue;
import io.flowlag.station.schema.RawMessage;
import io.flowlag.station.schema.SegmentWindow;
import io.flowlag.station.schema.Status;
import io.flowlag.station.schema.Verdict;
import org.agrona.concurrent.UnsafeBuffer;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.TestInfo;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.nio.file.Path;
import java.util.Arrays;
import java.util.List;
import java.util.Map;
import java.util.Queue;
import java.util.Random;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.ConcurrentLinkedQueue;
import java.util.concurrent.locks.LockSupport;
import java.util.function.BooleanSupplier;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertTrue;

/** What can go wrong with exporters and their messages, at a whole job; time is the test's. */
class FaultsTest {
    private static final long S = 1_000_000_000L;
    private static final long MOST_WAIT_NS = 20 * S;
    private static final long WINDOW_NS = 10 * S;
    private static final long START_NS = 1_700_000_000L * S;
    private static final long LATE_LIMIT_NS = 120 * S;
    private static final String ONE = "192.0.2.1";
    private static final String OTHER = "192.0.2.2";
    private static final String STRANGER = "198.51.100.66";
    private static final String NETWORK = """
        nodes: {a: {}, b: {}, c: {}}
        links: ['a b', 'b c']
        points: {a: {}, b: {}, c: {}}
        segments:
          a-b: {from: a, to: b, exporter: 192.0.2.1, domain: 1, id: 1}
          b-c: {from: b, to: c, exporter: 192.0.2.1, domain: 1, id: 2}
          c-b: {from: c, to: b, exporter: 192.0.2.2, domain: 2, id: 3}
        """;

    private final Map<String, SegmentWindow> windows = new ConcurrentHashMap<>();
    private final Queue<Verdict> verdicts = new ConcurrentLinkedQueue<>();
    private String name;
    private MessageQueue queue;
    private long sent;
    private EmbeddedJob running;
    @TempDir
    private Path directory;

    @BeforeEach
    void open(final TestInfo test) {
        name = test.getDisplayName();
        queue = new MessageQueue(name);
        Feed.Registry.put(name, (result) -> {
            if (result instanceof SegmentWindow window) {
                windows.put(window.getSegment() + '@' + (window.getStartNs() - START_NS) / WINDOW_NS, window);
            } else if (result instanceof Verdict verdict) {
                verdicts.add(verdict);
            }
        });
    }

    @AfterEach
    void close() {
        queue.close();
        Feed.Registry.remove(name);
    }

    private EmbeddedJob job(final int parallelism) throws IOException {
        return job(parallelism, NETWORK);
    }

    private EmbeddedJob job(final int parallelism, final String network) throws IOException {
        return running = EmbeddedJob.start(new JobSettings(name, "", "network.yaml", network, 32473, 500_000, 0.95,
            new JobSettings.Windows(10_000, 15_000, LATE_LIMIT_NS / 1_000_000)), name, name,
            new EmbeddedJob.Settings(directory, 60_000, parallelism));
    }

    private void await(final BooleanSupplier condition) {
        final long beginNs = System.nanoTime();
        while (!condition.getAsBoolean()) {
            LockSupport.parkNanos(1_000_000);
            if (System.nanoTime() - beginNs > MOST_WAIT_NS || running.result().isDone()) {
                throw new AssertionError(sent + " sent, ended " + running.result().handle((result, fault) -> cause(fault))
                    .getNow("") + Arrays.stream(JobCounter.values()).map((each) -> " " + each + '=' + count(each)).toList());
            }
        }
    }

    private static String cause(final Throwable fault) {
        return fault == null ? "" : fault.getCause() != null ? cause(fault.getCause()) :
            fault + Arrays.toString(fault.getStackTrace());
    }

    private void offer(final RawMessage message) {
        await(() -> queue.offer(message));
        queue.tick(0); // wakes the job
        sent++;
    }

    private void send(final TestExporter exporter, final long nowNs) {
        exporter.take(nowNs).forEach((message) -> offer(exporter.raw(message, nowNs)));
    }

    /** Moves time on, and waits until all that was sent is decoded and the windows that are old enough are final. */
    private void tick(final long nowNs) {
        queue.tick(nowNs);
        await(() -> JobCounters.of(name).exporters().stream().mapToLong(Status.Exporter::getMessages).sum() +
            count(JobCounter.REFUSED_SESSION_MESSAGES) == sent);
    }

    private long count(final JobCounter counter) {
        return JobCounters.of(name).get(counter);
    }

    private long count(final CollectorCounter counter) {
        return JobCounters.of(name).sums().get(counter);
    }

    private long missing() {
        return JobCounters.of(name).exporters().stream().mapToLong(Status.Exporter::getMissing).sum();
    }

    private SegmentWindow window(final String segment, final int index) {
        await(() -> windows.containsKey(segment + '@' + index) && windows.get(segment + '@' + index).getFinal());
        return windows.get(segment + '@' + index);
    }

    /** All sums that must hold, whatever was sent. */
    private void assertSums(final EmbeddedJob job) {
        assertFalse(job.result().isDone());
        final long refused = Arrays.stream(CollectorCounter.values()).filter(CollectorCounter::isRefusal)
            .mapToLong(this::count).sum();
        assertEquals(sent, count(CollectorCounter.MESSAGES) + count(JobCounter.REFUSED_SESSION_MESSAGES));
        assertEquals(count(CollectorCounter.MESSAGES), count(CollectorCounter.ACCEPTED) + refused);
        assertEquals(count(CollectorCounter.RECORDS) + count(CollectorCounter.OPTIONS_RECORDS),
            count(JobCounter.FLOW_RECORDS) + count(JobCounter.INTERVAL_RECORDS) + count(JobCounter.STATISTICS_RECORDS) +
            count(JobCounter.REFUSED_RECORDS));
        await(() -> count(JobCounter.FLOWS) == count(JobCounter.FLOWS_AGGREGATED) + count(JobCounter.FLOWS_UNMAPPED) +
            count(JobCounter.FLOWS_TOO_LATE));
        await(() -> JobCounters.of(name).intervals() == count(JobCounter.INTERVAL_RECORDS));
    }

    @Test
    void shouldShowWhatWasLostWhileItWasDown() throws Exception {
        final TestExporter exporter = new TestExporter(ONE, 1000, 1);
        final TestExporter steady = new TestExporter(OTHER, 1000, 2);
        try (EmbeddedJob job = job(2)) {
            for (int i = 0; i < 10; i++) {
                exporter.interval(1, START_NS + i * S, START_NS + (i + 1) * S, 5, 1_000_000);
                send(exporter, START_NS + (i + 1) * S);
            }
            send(steady.interval(3, START_NS, START_NS + S, 5, 1_000_000), START_NS + S);
            tick(START_NS + 10 * S);
            assertSums(job);
        }
        for (int i = 10; i < 30; i++) {
            exporter.interval(1, START_NS + i * S, START_NS + (i + 1) * S, 5, 1_000_000);
            exporter.take(START_NS + (i + 1) * S);
        }
        try (EmbeddedJob job = job(2)) {
            for (int i = 30; i < 35; i++) {
                exporter.interval(1, START_NS + i * S, START_NS + (i + 1) * S, 5, 1_000_000);
                send(exporter, START_NS + (i + 1) * S);
            }
            send(steady.interval(3, START_NS + 30 * S, START_NS + 31 * S, 5, 1_000_000), START_NS + 31 * S);
            tick(START_NS + 100 * S);
            assertEquals(20, missing());
            assertEquals(0, count(CollectorCounter.DATA_SETS_WITHOUT_TEMPLATE), "templates are known from before");
            final long inWindows = window("a-b", 0).getMissingRecords() + window("a-b", 1).getMissingRecords() +
                window("a-b", 2).getMissingRecords() + window("a-b", 3).getMissingRecords();
            assertEquals(20, inWindows);
            assertTrue(window("a-b", 1).getMissingRecords() >= 9 && window("a-b", 2).getMissingRecords() >= 8);
            assertFalse(window("a-b", 1).hasMeanNs());
            assertEquals(window("a-b", 1).getMissingRecords(), window("b-c", 1).getMissingRecords(), "of the same domain");
            assertFalse(window("a-b", 0).hasMissingRecords() && window("a-b", 0).getMissingRecords() > 1);
            assertEquals(5, window("a-b", 3).getMissingIntervals());
            assertEquals(0, window("a-b", 0).getMissingIntervals());
            assertFalse(window("c-b", 3).hasMissingRecords());
            assertSums(job);
        }
    }

    @Test
    void shouldCountWhatExportersDoWrong() throws Exception {
        try (EmbeddedJob job = job(1)) {
            // The template is lost, and comes again.
            final TestExporter exporter = new TestExporter(ONE, 1000, 1);
            exporter.interval(1, START_NS, START_NS + S, 5, 1_000_000).take(START_NS + S);
            send(exporter.interval(1, START_NS + S, START_NS + 2 * S, 5, 1_000_000), START_NS + 2 * S);
            tick(START_NS + 2 * S);
            assertEquals(1, count(CollectorCounter.DATA_SETS_WITHOUT_TEMPLATE));

            // It begins anew, at the same port.
            final TestExporter restarted = new TestExporter(ONE, 1000, 1);
            for (int i = 2; i < 7; i++) {
                send(restarted.interval(1, START_NS + i * S, START_NS + (i + 1) * S, 5, 1_000_000), START_NS + (i + 1) * S);
            }
            send(new TestExporter(ONE, 1000, 1).interval(1, START_NS + 7 * S, START_NS + 8 * S, 5, 1_000_000), START_NS + 8 * S);
            tick(START_NS + 9 * S);
            assertEquals(1, count(CollectorCounter.SEQUENCE_RESTARTS));
            assertEquals(0, missing());

            // Its clock steps: by less than windows are held, and by more.
            send(restarted.statistics(START_NS + 9 * S).interval(2, START_NS + 60 * S, START_NS + 61 * S, 7, 1_000_000),
                START_NS + 10 * S);
            send(restarted.flow(2, START_NS + 900 * S, START_NS + 901 * S), START_NS + 10 * S);
            tick(START_NS + 10 * S);
            assertEquals(1, count(JobCounter.TIME_AHEAD));
            assertEquals(1, count(JobCounter.REFUSED_RECORDS));

            // What is late corrects, until it is too late.
            tick(START_NS + 90 * S);
            assertEquals(30, window("a-b", 0).getPackets());
            assertEquals(4, window("a-b", 0).getMissingIntervals());
            assertEquals(7, window("b-c", 6).getPackets());
            send(restarted.interval(1, START_NS + 8 * S, START_NS + 9 * S, 5, 1_000_000).flow(1, START_NS + S, START_NS + 2 * S),
                START_NS + 90 * S);
            send(restarted.interval(1, START_NS + 6 * S, START_NS + 7 * S, 5, 1_000_000), START_NS + 91 * S);
            await(() -> count(JobCounter.FLOWS_AGGREGATED) == 1 && JobCounters.of(name).tooLate() == 1);
            tick(START_NS + 100 * S);
            await(() -> window("a-b", 0).getPackets() == 35 && window("a-b", 0).getRecords() == 1);
            assertEquals(1, JobCounters.of(name).tooLate(), "one that was there already");
            send(restarted.interval(2, START_NS + 120 * S, START_NS + 121 * S, 5, 1_000_000), START_NS + 121 * S);
            tick(START_NS + 2 * WINDOW_NS + LATE_LIMIT_NS + 6 * S);
            assertEquals(5, window("b-c", 12).getPackets());
            send(restarted.interval(1, START_NS + 9 * S, START_NS + 10 * S, 5, 1_000_000).flow(1, START_NS, START_NS + S),
                START_NS + 2 * WINDOW_NS + LATE_LIMIT_NS);
            tick(START_NS + 3 * WINDOW_NS + LATE_LIMIT_NS);
            await(() -> JobCounters.of(name).tooLate() == 2 && count(JobCounter.FLOWS_TOO_LATE) == 1);
            assertEquals(35, window("a-b", 0).getPackets());
            assertSums(job);
        }
    }

    /** The clock of b steps: by so much later are what comes there and earlier what leaves. */
    @ParameterizedTest
    @CsvSource({"6, 0, 2000000", "3, 0, 5000000", "1, 3, -5000000"})
    void shouldBlameTheClockThatSteppedAndNoHop(final int in, final int out, final long stepNs) throws Exception {
        final StringBuilder nodes = new StringBuilder("nodes: {b: {}");
        final StringBuilder links = new StringBuilder("}\nlinks: [");
        final StringBuilder points = new StringBuilder("]\npoints: {b: {}");
        final StringBuilder segments = new StringBuilder("}\nsegments:\n");
        for (int i = 0; i < in + out; i++) {
            nodes.append(", n").append(i).append(": {}");
            links.append(i == 0 ? "" : ", ").append("'n").append(i).append(" b'");
            points.append(", n").append(i).append(": {}");
            segments.append(String.format(i < in ? "  s%1$d: {from: n%1$d, to: b, exporter: %2$s, domain: 1, id: %1$d}%n" :
                "  s%1$d: {from: b, to: n%1$d, exporter: %2$s, domain: 1, id: %1$d}%n", i, ONE));
        }
        final TestExporter exporter = new TestExporter(ONE, 1000, 1);
        try (EmbeddedJob job = job(1, nodes.append(links).append(points).append(segments).toString())) {
            for (int i = 0; i < 8; i++) {
                final long startNs = START_NS + i * WINDOW_NS;
                for (int segment = 0; segment < in + out; segment++) {
                    exporter.interval(segment, startNs, startNs + WINDOW_NS, 100,
                        10_000_000 + (i < 6 ? 0 : segment < in ? stepNs : -stepNs));
                }
                send(exporter, startNs + WINDOW_NS);
                tick(startNs + WINDOW_NS + S);
            }
            tick(START_NS + 12 * WINDOW_NS);
            await(() -> verdicts.stream().anyMatch((each) -> each.getFinal() && each.getStartNs() == START_NS + 7 * WINDOW_NS));
            assertTrue(verdicts.stream().allMatch((each) -> each.getKind() == Verdict.Kind.CLOCK_MOVED &&
                "b".equals(each.getClock()) && Math.abs(each.getEffectNs() - stepNs) < 500_000), verdicts::toString);
            assertEquals(List.of(6L, 7L), verdicts.stream().map((each) -> (each.getStartNs() - START_NS) / WINDOW_NS).distinct()
                .toList());
            assertSums(job);
        }
    }

    @Test
    void shouldCountDamagedMessagesAndGoOn() throws Exception {
        final Random random = new Random(25);
        final byte[] message = new TestExporter(ONE, 2000, 1).interval(1, START_NS, START_NS + S, 5, 1_000_000)
            .flow(1, START_NS, START_NS + S).flow(77, START_NS, START_NS + S).statistics(START_NS).take(START_NS + S).get(0);
        try (EmbeddedJob job = job(2)) {
            for (int i = 0; i < 20_000; i++) {
                offer(TestExporter.raw(STRANGER, 2000 + i % 50, damaged(message, random), START_NS + S));
            }
            for (int i = 0; i < 20_000; i++) {
                offer(TestExporter.raw(ONE, 2000 + i % 50, damaged(message, random), START_NS + S));
            }
            offer(TestExporter.raw(ONE, 3000, withShortAddress(), START_NS + S));
            final TestExporter exporter = new TestExporter(OTHER, 1000, 2);
            send(exporter.interval(3, START_NS, START_NS + S, 5, 1_234_000), START_NS + S);
            tick(START_NS + 60 * S);
            assertEquals(1_234_000, window("c-b", 0).getMeanNs());
            assertTrue(count(CollectorCounter.ACCEPTED) > 1000 && count(CollectorCounter.ACCEPTED) < sent);
            assertSums(job);
        }
    }

    /** A flow whose template gives its IPv6 address one octet, the last one of the message. */
    private static byte[] withShortAddress() {
        final int number = FlowElements.DOCUMENTATION_ENTERPRISE_NUMBER;
        final int segment = FlowElements.registry(number).find("flowlagSegmentId").elementId();
        final ByteBuffer message = ByteBuffer.allocate(81);
        message.putShort((short)10).putShort((short)message.capacity()).putInt((int)(START_NS / S)).putInt(0).putInt(1);
        for (final int each : new int[] {2, 32, 256, 5, 2, 8, 152, 8, 153, 8, 0x8000 | segment, 4, 0, number, 27, 1, 256, 33}) {
            message.putShort((short)each);
        }
        return message.putLong(1).putLong(START_NS / 1_000_000).putLong(START_NS / 1_000_000 + 1).putInt(1).array();
    }

    /** A few octets are others, or there are too few of them, or none is right. */
    private static byte[] damaged(final byte[] message, final Random random) {
        final byte[] octets = message.clone();
        for (int i = random.nextInt(4); i >= 0; i--) {
            octets[random.nextInt(octets.length)] = (byte)random.nextInt();
        }
        return switch (random.nextInt(8)) {
            case 0 -> Arrays.copyOf(octets, 1 + random.nextInt(octets.length));
            case 1 -> Arrays.copyOf(octets, octets.length + random.nextInt(20));
            default -> octets;
        };
    }

    @Test
    void shouldBoundWhatAHostileExporterTakes() throws Exception {
        final TestExporter exporter = new TestExporter(ONE, 1000, 1);
        try (EmbeddedJob job = job(2)) {
            send(exporter.interval(1, START_NS, START_NS + S, 5, 1_000_000), START_NS + S);
            floodSessions();
            floodDomainsAndNumbers();
            floodTemplates();
            floodSegmentsAndTimes();
            send(exporter.interval(1, START_NS + S, START_NS + 2 * S, 5, 3_000_000), START_NS + 2 * S);
            tick(START_NS + 60 * S);
            assertEquals(2_000_000, window("a-b", 0).getMeanNs());
            assertFalse(window("a-b", 0).hasMissingRecords());
            assertSums(job);
            assertTrue(count(JobCounter.REFUSED_SESSION_MESSAGES) >= 2000 - 2 * DecodeFunction.MOST_SESSIONS / 2);
            assertTrue(JobCounters.of(name).exporters().size() <= 4097, () -> "rows: " + JobCounters.of(name).exporters().size());
            final List<SegmentWindow> unmapped =
                windows.values().stream().filter((window) -> !window.getIsMapped()).toList();
            assertTrue(unmapped.stream().map(SegmentWindow::getSegment).distinct().count() <= 2 * 1024);
            assertTrue(unmapped.stream().allMatch((window) -> window.getSegment().startsWith(STRANGER)));
            assertTrue(windows.values().stream().filter(SegmentWindow::getIsMapped)
                .allMatch((window) -> "a-b".equals(window.getSegment())), "numbers of segments of others");
        }
    }

    private void floodSessions() {
        final byte[] message = new TestExporter(STRANGER, 1, 1).interval(1, START_NS, START_NS + S, 5, 9_000_000)
            .take(START_NS + S).get(0);
        for (int port = 1; port <= 2000; port++) {
            offer(TestExporter.raw(STRANGER, port, message, START_NS + S));
        }
    }

    private void floodDomainsAndNumbers() {
        final TestExporter hostile = new TestExporter(STRANGER, 1, 1);
        hostile.interval(1, START_NS, START_NS + S, 5, 9_000_000);
        final byte[] message = hostile.take(START_NS + S).get(0);
        for (int i = 0; i < 6000; i++) {
            final byte[] other = TestExporter.numbered(message, i * 10_000_019L, START_NS + i * 100_003L * S);
            new UnsafeBuffer(other).putInt(12, i % 2 == 0 ? i : 1, ByteOrder.BIG_ENDIAN);
            offer(TestExporter.raw(STRANGER, 1 + i % 3, other, START_NS + S));
        }
    }

    /** A template of other fields in each message. */
    private void floodTemplates() {
        for (int i = 0; i < 3000; i++) {
            final ByteBuffer message = ByteBuffer.allocate(16 + 4 + 4 + 100 * 4);
            message.putShort((short)10).putShort((short)message.capacity()).putInt((int)(START_NS / S)).putInt(0).putInt(1)
                .putShort((short)2).putShort((short)(message.capacity() - 16)).putShort((short)(256 + i)).putShort((short)100);
            for (int field = 0; field < 100; field++) {
                message.putShort((short)(1 + (field + i) % 400)).putShort((short)8);
            }
            offer(TestExporter.raw(STRANGER, 1 + i % 2, message.array(), START_NS + S));
        }
    }

    /** Segments that do not exist, and times that no window has. */
    private void floodSegmentsAndTimes() {
        final TestExporter hostile = new TestExporter(STRANGER, 1, 1);
        for (int i = 0; i < 20_000; i++) {
            hostile.flow(1 + i, START_NS, START_NS + S).interval(2, START_NS + i, START_NS + i + 1, 1, 9_000_000)
                .flow(i, 0, START_NS + S).flow(3, START_NS + i * S, START_NS + (i + 1) * S)
                .interval(3, START_NS - i * S, START_NS - i * S + 1, 1, 1);
        }
        send(hostile, START_NS + S);
    }
}
