package io.flowlag.station.job;

import ch.qos.logback.classic.Level;
import ch.qos.logback.classic.Logger;
import ch.qos.logback.classic.spi.ILoggingEvent;
import ch.qos.logback.core.read.ListAppender;
import io.flowlag.ipfix.collect.CollectorCounter;
import io.flowlag.station.demo.DemoExporters;
import io.flowlag.station.demo.DemoNetwork;
import io.flowlag.station.inlet.Inlet;
import io.flowlag.station.inlet.MessageQueue;
import io.flowlag.station.schema.PathWindow;
import io.flowlag.station.schema.SegmentWindow;
import io.flowlag.station.schema.Verdict;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;
import org.slf4j.LoggerFactory;

import java.io.IOException;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Arrays;
import java.util.Collections;
import java.util.List;
import java.util.Map;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicLong;
import java.util.function.BooleanSupplier;
import java.util.stream.Collectors;
import java.util.stream.Stream;
import java.util.zip.ZipEntry;
import java.util.zip.ZipInputStream;
import java.util.zip.ZipOutputStream;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertNull;
import static org.junit.jupiter.api.Assertions.assertTrue;

/** The job in one process, with exporters that send by UDP; time is the test's. */
@Timeout(120)
class EmbeddedJobTest {
    private static final long WINDOW_NS = 10_000_000_000L;
    private static final long START_NS = 1_700_000_000_000_000_000L / WINDOW_NS * WINDOW_NS;
    private static final double SLOW_NS = 2e6;

    private final DemoNetwork network = new DemoNetwork(7);
    private final AtomicLong clockNs = new AtomicLong(START_NS);
    private final Map<String, SegmentWindow> windows = new ConcurrentHashMap<>();
    private final Map<String, PathWindow> paths = new ConcurrentHashMap<>();
    private final Map<String, Verdict> verdicts = new ConcurrentHashMap<>();
    private MessageQueue queue;
    private Inlet inlet;
    private DemoExporters exporters;
    @TempDir
    private Path directory;

    @BeforeEach
    void open() throws IOException {
        queue = new MessageQueue("test");
        inlet = new Inlet("test", queue, clockNs::get);
        final InetSocketAddress bound =
            inlet.server().listenUdp(new InetSocketAddress(InetAddress.getLoopbackAddress(), 0));
        exporters = new DemoExporters(network, bound.getPort());
        Feed.Registry.put("test", (result) -> {
            if (result instanceof SegmentWindow window) {
                windows.put(window.getSegment() + '@' + window.getStartNs(), window);
            } else if (result instanceof Verdict verdict) {
                verdicts.put(verdict.getId(), verdict);
            } else if (result instanceof PathWindow path) {
                paths.put(path.getSrcPort() + "@" + path.getStartNs(), path);
            }
        });
    }

    @AfterEach
    void close() throws IOException {
        exporters.close();
        inlet.close();
        queue.close();
        Feed.Registry.remove("test");
    }

    private EmbeddedJob job() throws IOException {
        return job("", network.yaml());
    }

    private EmbeddedJob job(final String file, final String text) throws IOException {
        final JobSettings settings = new JobSettings("demo", "", file, text, 32473, 500_000, 0.95,
            new JobSettings.Windows(10_000, 15_000, 60_000), new JobSettings.Paths(1, 10_000), List.of());
        return EmbeddedJob.start(settings, "test", "test", new EmbeddedJob.Settings(directory, 1_000, 2));
    }

    /** One window of traffic, and all that the inlet has to read of it. */
    private void window(final long index) throws IOException {
        final long before = inlet.counters().get(CollectorCounter.MESSAGES);
        exporters.send(START_NS + index * WINDOW_NS, START_NS + (index + 1) * WINDOW_NS, network.interval());
        clockNs.set(START_NS + (index + 1) * WINDOW_NS + 1_000_000_000L);
        do {
            inlet.poll();
        } while (inlet.counters().get(CollectorCounter.MESSAGES) - before < network.routes().stream()
            .map(DemoNetwork.Route::to).distinct().count());
    }

    private void until(final long seconds, final BooleanSupplier condition) throws IOException {
        clockNs.addAndGet(TimeUnit.SECONDS.toNanos(seconds));
        while (!condition.getAsBoolean()) {
            inlet.poll();
        }
    }

    private long told(final long index, final boolean isFinal) {
        return windows.values().stream().filter((window) ->
            window.getStartNs() == START_NS + index * WINDOW_NS && (window.getFinal() || !isFinal)).count();
    }

    private List<Verdict> slowHops(final long index) {
        return verdicts.values().stream().filter((verdict) -> verdict.getKind() == Verdict.Kind.SLOW_HOP &&
            verdict.getStartNs() == START_NS + index * WINDOW_NS).toList();
    }

    @Test
    void shouldNameTheSlowHopWithinItsWindowAndKeepItsFloorThroughRestart() throws Exception {
        final int all = network.routes().size();
        final int slow = network.busiestHop();
        try (EmbeddedJob job = job()) {
            for (int i = 0; i < 4; i++) {
                window(i);
            }
            until(20, () -> told(3, true) == all);
            assertFalse(job.result().isDone());
        }
        assertEquals(List.of(), slowHops(3));
        network.slow(slow, SLOW_NS);
        try (EmbeddedJob job = job()) {
            window(8);
            until(10, () -> told(8, false) == all && !slowHops(8).isEmpty());
            assertFalse(job.result().isDone());
        }
        final Verdict verdict = slowHops(8).get(0);
        assertEquals(network.topology().name(network.topology().from(slow)), verdict.getSuspects(0).getFrom());
        assertEquals(network.topology().name(network.topology().to(slow)), verdict.getSuspects(0).getTo());
        assertTrue(verdict.getEffectLowNs() < SLOW_NS && verdict.getEffectHighNs() > SLOW_NS, () -> verdict.toString());
    }

    @Test
    void shouldSumWindowsAsTheyWereSent() throws Exception {
        try (EmbeddedJob job = job()) {
            window(0);
            until(30, () -> told(0, true) == network.routes().size());
            assertFalse(job.result().isDone());
        }
        for (final DemoNetwork.Route route : network.routes()) {
            final SegmentWindow window = windows.get(route.name() + '@' + START_NS);
            assertEquals(400, window.getPackets());
            assertTrue(window.getIsMapped());
            assertTrue(window.getMinimumNs() <= window.getMeanNs() && window.getMeanNs() <= window.getMaximumNs());
            assertTrue(window.hasHistogram() && window.hasBoundNs() && window.hasClockBoundNs());
        }
    }

    @Test
    void shouldJoinTheSegmentsOfEachFlow() throws Exception {
        final List<DemoNetwork.FlowDelays> sent = network.flows();
        final Map<JobCounter, Long> before = counted();
        try (EmbeddedJob job = job()) {
            exporters.sendFlows(START_NS, START_NS + WINDOW_NS, sent);
            window(0);
            until(30, () -> paths.size() == sent.stream().map(DemoNetwork.FlowDelays::flow).distinct().count());
            assertFalse(job.result().isDone());
        }
        final Map<JobCounter, Long> after = counted();
        before.forEach((counter, count) -> after.merge(counter, -count, Long::sum));
        assertEquals(sent.size(), after.get(JobCounter.FLOWS));
        assertEquals(sent.size(), after.get(JobCounter.FLOWS_AGGREGATED));
        assertEquals(sent.size(), after.get(JobCounter.SAMPLED_FLOWS));
        assertEquals(sent.size(), after.get(JobCounter.JOINED));
        for (final DemoNetwork.FlowDelays each : sent) {
            final PathWindow path = paths.get(each.flow().sourcePort() + "@" + START_NS);
            final List<DemoNetwork.FlowDelays> ofFlow = sent.stream().filter((one) -> one.flow() == each.flow()).toList();
            assertEquals(each.flow().segments().stream().map((segment) -> network.routes().get(segment).name()).toList(),
                path.getStretchesList().stream().map(PathWindow.Stretch::getSegment).toList());
            assertEquals(ofFlow.stream().mapToLong((one) -> Math.round(one.mean())).sum(), path.getMeanNs(), 1);
            assertEquals(1000 * ofFlow.size(), path.getBoundNs(), 1e-6);
            assertEquals(20_000, path.getClockBoundNs());
            assertEquals(ofFlow.stream().mapToLong((one) -> Math.round(one.deviation())).sum(), path.getMostDeviationNs(), 1);
            assertEquals(1, path.getShare());
            assertFalse(path.getIsDivided());
        }
    }

    private static Map<JobCounter, Long> counted() {
        return Arrays.stream(JobCounter.values()).collect(Collectors.toMap((each) -> each, JobCounters.of("demo")::get));
    }

    @Test
    void shouldReloadTheNetworkWhenItsFileChanges(@TempDir final Path elsewhere) throws Exception {
        final ListAppender<ILoggingEvent> log = new ListAppender<>();
        final Logger logger = (Logger)LoggerFactory.getLogger(NetworkSource.class);
        logger.setLevel(Level.INFO);
        log.list = Collections.synchronizedList(log.list);
        log.start();
        logger.addAppender(log);
        final String name = network.routes().get(0).name();
        final String without = network.yaml().lines().filter((line) -> !line.startsWith("  " + name + ": {from"))
            .collect(Collectors.joining("\n"));
        final Path file = Files.writeString(elsewhere.resolve("network.yaml"), without);
        final int all = network.routes().size();
        try (EmbeddedJob job = job(file.toString(), without)) {
            window(0);
            until(5, () -> told(0, false) == all);
            assertNull(windows.get(name + '@' + START_NS));
            Files.writeString(file, "nodes: {a: {}}\nlinks: ['a b']\n");
            until(0, () -> logged(log, "the network stays as it was"));
            Files.writeString(file, network.yaml());
            until(0, () -> logged(log, "version 1 of"));
            // Operators take it soon after.
            long index = 1;
            do {
                window(++index);
                final long last = index;
                until(5, () -> told(last, false) == all);
            } while (!windows.containsKey(name + '@' + (START_NS + index * WINDOW_NS)) && index < 20);
            assertTrue(windows.get(name + '@' + (START_NS + index * WINDOW_NS)).getIsMapped());
            Files.writeString(file, without);
            until(0, () -> logged(log, "version 2 of"));
            final long replaced = index + 2;
            window(replaced);
            until(5, () -> told(replaced, false) == all);
            assertTrue(windows.containsKey(name + '@' + (START_NS + replaced * WINDOW_NS)), "it is taken for late-limit");
            window(replaced + 10);
            until(5, () -> told(replaced + 10, false) == all);
            assertFalse(windows.containsKey(name + '@' + (START_NS + (replaced + 10) * WINDOW_NS)));
            assertFalse(job.result().isDone());
        } finally {
            logger.detachAppender(log);
        }
    }

    private static boolean logged(final ListAppender<ILoggingEvent> log, final String text) {
        return List.copyOf(log.list).stream().anyMatch((event) -> event.getFormattedMessage().contains(text));
    }

    /** Written with {@code -Dflowlag.docs.write=true} by the version that first has this state. */
    @Test
    void shouldGoOnFromTheSavepointOfAnEarlierVersion() throws Exception {
        final Path kept = Path.of("src/test/resources/io/flowlag/station/job/savepoint.zip");
        if (Boolean.getBoolean("flowlag.docs.write")) {
            try (EmbeddedJob job = job()) {
                for (int i = 0; i < 4; i++) {
                    exporters.sendFlows(START_NS + i * WINDOW_NS, START_NS + (i + 1) * WINDOW_NS, network.flows());
                    window(i);
                }
                until(20, () -> told(3, true) == network.routes().size());
                assertFalse(job.result().isDone());
            }
            pack(kept);
        }
        assertTrue(Files.size(kept) < 1 << 16);
        try (ZipInputStream in = new ZipInputStream(Files.newInputStream(kept))) {
            Files.createDirectories(directory.resolve("savepoint-kept"));
            for (ZipEntry entry = in.getNextEntry(); entry != null; entry = in.getNextEntry()) {
                Files.copy(in, directory.resolve("savepoint-kept").resolve(entry.getName()));
            }
        }
        network.slow(network.busiestHop(), SLOW_NS);
        try (EmbeddedJob job = job()) {
            clockNs.set(START_NS + 5 * WINDOW_NS);
            window(5);
            until(5, () -> told(5, false) == network.routes().size() && !slowHops(5).isEmpty());
            assertFalse(job.result().isDone());
        }
        final DemoNetwork.Route slow = network.routes().stream().filter((route) ->
            Arrays.stream(route.hops()).anyMatch((hop) -> hop == network.busiestHop())).findFirst().orElseThrow();
        final SegmentWindow window = windows.get(slow.name() + '@' + (START_NS + 5 * WINDOW_NS));
        assertTrue(window.getFloorNs() < window.getMinimumNs(), "the floor is that of the windows before");
    }

    private void pack(final Path kept) throws IOException {
        try (Stream<Path> files = Files.walk(directory);
            ZipOutputStream out = new ZipOutputStream(Files.newOutputStream(kept))) {
            for (final Path file : files.filter((each) -> each.getParent().getFileName().toString().startsWith("savepoint-"))
                .toList()) {
                out.putNextEntry(new ZipEntry(file.getFileName().toString()));
                Files.copy(file, out);
                out.closeEntry();
            }
        }
    }
}
