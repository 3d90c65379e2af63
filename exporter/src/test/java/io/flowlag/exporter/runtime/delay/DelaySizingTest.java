package io.flowlag.exporter.runtime.delay;

import io.flowlag.common.command.ExitCode;
import io.flowlag.exporter.capture.FilterSupplier;
import io.flowlag.exporter.config.ConfigLoader;
import io.flowlag.exporter.config.ExporterConfig;
import io.flowlag.exporter.config.ExporterConfig.Role;
import io.flowlag.exporter.delay.ClockError;
import io.flowlag.exporter.delay.DelayWiring;
import io.flowlag.exporter.delay.ReferenceMode;
import io.flowlag.exporter.export.IpfixRecords;
import io.flowlag.exporter.lab.CaptureWriter;
import io.flowlag.exporter.runtime.ScriptedPoint;
import io.flowlag.exporter.terminal.Terminal;
import net.jqwik.api.ForAll;
import net.jqwik.api.Property;
import net.jqwik.api.constraints.IntRange;
import net.jqwik.api.lifecycle.AfterTry;
import net.jqwik.api.lifecycle.BeforeTry;
import org.agrona.concurrent.UnsafeBuffer;
import org.junit.jupiter.api.Test;

import java.io.ByteArrayOutputStream;
import java.io.IOException;
import java.io.PrintStream;
import java.nio.ByteBuffer;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.SplittableRandom;
import java.util.stream.Stream;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

/** What {@code delay} chooses for captures follows from what they hold, and is enough for every mean to be exact. */
class DelaySizingTest {
    private static final long START_NS = 1_790_000_000_300_000_000L;
    private static final long GIB = 1L << 30;
    private static final int HOST = 0x0A01_0000;
    private static final int PORTS = 50_000;

    private Path directory;
    private final Map<Long, Long> delaySumsNs = new HashMap<>();
    private final Map<Long, Long> arrived = new HashMap<>();
    private long sentPackets;
    private long receivedPackets;
    private long longestNs;
    private long firstNs;
    private long lastNs;

    @Property
    void shouldFindTheShortestIntervalThatDividesACut(
        @ForAll @IntRange(min = 1, max = 5_000) final int cut, @ForAll @IntRange(min = 1, max = 6_000) final int length) {
        int shortest = length;
        while (shortest <= cut && cut % shortest != 0) {
            shortest++;
        }
        assertEquals(shortest > cut ? length : shortest, DelaySizing.dividing(cut, length));
        assertEquals(length, DelaySizing.dividing(0, length));
    }

    /** Counting down from the cut would take days. */
    @Test
    void shouldFindItInAsManyStepsAsTheCutsRoot() {
        final long prime = 43_200_000_000_049L;
        assertEquals(prime, DelaySizing.dividing(2 * prime, 3));
    }

    @BeforeTry
    void makeDirectory() throws IOException {
        directory = Files.createTempDirectory("flowlag-sizing");
        delaySumsNs.clear();
        arrived.clear();
        longestNs = 0;
    }

    @AfterTry
    void deleteDirectory() throws IOException {
        try (Stream<Path> files = Files.list(directory)) {
            for (final Path each : files.toList()) {
                Files.delete(each);
            }
        }
        Files.delete(directory);
    }

    private record Packet(long timeNs, long flow, int number) {
    }

    /** Every flow has a packet that arrives; of the others one in fifty is lost. */
    private void writeCaptures(final SplittableRandom random, final int flows, final long spanNs) throws IOException {
        final List<Packet> sent = new ArrayList<>();
        final List<Packet> received = new ArrayList<>();
        final long meanDelayNs = 1_000 + random.nextInt(20_000_000);
        for (long flow = 0; flow < flows; flow++) {
            final int packets = 1 + (int)Math.min(40, 1 / (0.02 + random.nextDouble()));
            for (int i = 0; i < packets; i++) {
                final Packet packet = new Packet(START_NS + random.nextLong(spanNs), flow, i);
                sent.add(packet);
                if (i == 0 || random.nextInt(50) > 0) {
                    final long delayNs = meanDelayNs / 2 + random.nextLong(meanDelayNs);
                    received.add(new Packet(packet.timeNs + delayNs, flow, i));
                    delaySumsNs.merge(flow, delayNs, Long::sum);
                    arrived.merge(flow, 1L, Long::sum);
                    longestNs = Math.max(longestNs, delayNs);
                }
            }
        }
        sentPackets = sent.size();
        receivedPackets = received.size();
        write("s", sent);
        write("r", received);
        firstNs = sent.get(0).timeNs;
        lastNs = received.get(received.size() - 1).timeNs;
    }

    private void write(final String name, final List<Packet> packets) throws IOException {
        packets.sort((a, b) -> Long.compare(a.timeNs, b.timeNs));
        try (CaptureWriter writer = new CaptureWriter(directory.resolve(name), CaptureWriter.Format.PCAPNG_NANOSECONDS)) {
            for (final Packet each : packets) {
                final byte[] frame = ScriptedPoint.frame(
                    HOST + (int)(each.flow / PORTS), 1_000 + (int)(each.flow % PORTS), 53,
                    ByteBuffer.allocate(16).putInt(each.number).array());
                writer.write(new UnsafeBuffer(frame), 0, frame.length, frame.length, each.timeNs);
            }
        }
    }

    private DelayOptions options() {
        return new DelayOptions(List.of(directory.resolve("s").toString()), List.of(directory.resolve("r").toString()),
            ReferenceMode.MARKED, true, true, false, null, 2 * GIB);
    }

    private static ExporterConfig config(final boolean isReconciled, final String yaml) {
        final ExporterConfig config = new ConfigLoader().text("test", "rli: {capacity: 100m}\n" + yaml).conclude();
        return isReconciled ? config.with(config.reconcile().on()) : config;
    }

    private ExporterConfig sized(final ExporterConfig config, final long memoryBytes) {
        final CaptureSurvey survey = CaptureSurvey.of(config, options(), FilterSupplier.ALL, memoryBytes / 4);
        final DelayWiring wiring = new DelayWiring(
            Role.BOTH, DelayWiring.References.MARKED, ClockError.NONE, true, true, false, true);
        return DelaySizing.of(config, survey, wiring, memoryBytes);
    }

    @Property(tries = 12)
    void shouldSizeByWhatTheCapturesHold(
        @ForAll final long seed, @ForAll @IntRange(min = 1, max = 5) final int tenThousands, @ForAll final boolean isReconciled)
        throws IOException {
        final SplittableRandom random = new SplittableRandom(seed);
        final int flows = random.nextInt(3) == 0 ? 10_000 * tenThousands : 1 + random.nextInt(3_000);
        writeCaptures(random, flows, 1 + random.nextLong(4_000_000_000L));
        final ExporterConfig sized = sized(config(isReconciled, ""), 2 * GIB);

        final int maxFlows = sized.metering().maxFlows();
        assertTrue(maxFlows >= flows && maxFlows <= 1.02 * flows + 1_100, maxFlows + " for " + flows);
        assertEquals(Math.max(16 * 1024, maxFlows / 2), sized.lds().shape().columns(), "four rows of half a column a flow");
        assertEquals(4, sized.lds().shape().rows());
        assertEquals(isReconciled ? 1 : 4, sized.lds().shape().vldaLength());
        assertEquals(30_000, sized.lds().witnessPpm());
        assertTrue(sized.joint().maxFlows() >= flows && sized.joint().pendingPackets() >= receivedPackets, sized::toString);
        assertEquals(Long.MAX_VALUE, sized.joint().budgetNs());
        if (isReconciled) {
            assertTrue(sized.reconcile().packets() >= sentPackets, sized::toString);
            assertTrue(sized.reconcile().cells() >= 2 * (sentPackets - receivedPackets), sized::toString);
        }
        final ExporterConfig.Segment segment = sized.segment();
        assertTrue(
            segment.maximumDelayNs() > longestNs && segment.maximumDelayNs() <= 2 * longestNs + 1_000_000, segment::toString);
        assertEquals(
            Math.floorDiv(firstNs, segment.intervalNs()), Math.floorDiv(lastNs, segment.intervalNs()), "all in one interval");

        final ExporterConfig given = sized(config(isReconciled,
            "lds: {columns: 512, vlda: 2, witnesses: 0.5}\njoint: {max-flows: 1k, pending: 2k, budget: 1s}\n" +
            "metering: {max-flows: 2k}\nsegment: {interval: 2s, max-delay: 60ms}\n"), 2 * GIB);
        assertEquals(List.of(512, 2, 500_000, 1024, 2048, 2048), List.of(
            given.lds().shape().columns(), given.lds().shape().vldaLength(), given.lds().witnessPpm(), given.joint().maxFlows(),
            given.joint().pendingPackets(), given.metering().maxFlows()), "what the user gives holds");
        assertEquals(List.of(1_000_000_000L, 2_000_000_000L, 60_000_000L), List.of(
            given.joint().budgetNs(), given.segment().intervalNs(), given.segment().maximumDelayNs()));

        final long less = 64L << 20;
        final ExporterConfig small = sized(config(isReconciled, ""), less);
        assertTrue(small.metering().maxFlows() >= 1_024 && small.metering().maxFlows() <= maxFlows, small::toString);
    }

    /** Two cells a flow in four rows, one cell in each, and lost packets taken out: no mean is left open. */
    @Property(tries = 4)
    void shouldMakeEveryMeanExactWithTwoCellsAFlow(@ForAll final long seed) throws IOException {
        final int flows = 2_000;
        writeCaptures(new SplittableRandom(seed), flows, 2_000_000_000L);
        final Path records = directory.resolve("records");
        final ByteArrayOutputStream said = new ByteArrayOutputStream();
        final PrintStream stream = new PrintStream(said, true, StandardCharsets.UTF_8);
        final ExporterConfig config = config(
            true, "lds: {columns: " + flows / 2 + "}\nexporting: {destinations: ['file:" + records + "']}");
        assertEquals(ExitCode.DONE, DelayProcess.run(
            config.with(config.joint().on()), options(), new Terminal(stream, stream, false)), said::toString);

        int exact = 0;
        for (final Map<String, List<String>> each : IpfixRecords.flows(records)) {
            final long flow = Long.parseLong(each.get("sourceIPv4Address").get(0), 16) - HOST;
            final long number = flow * PORTS + Long.parseLong(each.get("sourceTransportPort").get(0)) - 1_000;
            final double truthNs = (double)delaySumsNs.get(number) / arrived.get(number);
            final long packets = Long.parseLong(each.get("packetDeltaCount").get(0));
            final double meanNs = Double.parseDouble(each.get("flowlagDelayMeanNanoseconds").get(0));
            exact += packets == arrived.get(number) && Math.abs(meanNs - truthNs) <= 1 ? 1 : 0;
        }
        assertEquals(flows, exact, said::toString);
    }
}
