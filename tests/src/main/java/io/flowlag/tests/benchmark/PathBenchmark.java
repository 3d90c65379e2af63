package io.flowlag.tests.benchmark;

import io.flowlag.exporter.capture.route.RouteHistory;
import io.flowlag.exporter.config.ConfigLoader;
import io.flowlag.exporter.config.ExporterConfig;
import io.flowlag.exporter.config.ExporterConfig.Role;
import io.flowlag.exporter.delay.CaptureFacts;
import io.flowlag.exporter.delay.ClockError;
import io.flowlag.exporter.delay.DelayWiring;
import io.flowlag.exporter.delay.ReferenceMode;
import io.flowlag.exporter.delay.SegmentPairs;
import io.flowlag.exporter.export.Destination;
import io.flowlag.exporter.export.DestinationFactory;
import io.flowlag.exporter.runtime.MeteringPipeline;
import io.flowlag.exporter.status.CounterId;
import io.flowlag.exporter.status.Counters;
import io.flowlag.rli.reference.ReferenceSession;
import org.openjdk.jmh.annotations.Benchmark;
import org.openjdk.jmh.annotations.BenchmarkMode;
import org.openjdk.jmh.annotations.Fork;
import org.openjdk.jmh.annotations.Level;
import org.openjdk.jmh.annotations.Measurement;
import org.openjdk.jmh.annotations.Mode;
import org.openjdk.jmh.annotations.OperationsPerInvocation;
import org.openjdk.jmh.annotations.OutputTimeUnit;
import org.openjdk.jmh.annotations.Param;
import org.openjdk.jmh.annotations.Scope;
import org.openjdk.jmh.annotations.Setup;
import org.openjdk.jmh.annotations.State;
import org.openjdk.jmh.annotations.TearDown;
import org.openjdk.jmh.annotations.Warmup;

import java.io.IOException;
import java.util.List;
import java.util.Map;
import java.util.concurrent.TimeUnit;
import java.util.stream.IntStream;

/**
 * The whole path on one core, from pcap records in memory to the flow cache: the pipeline of the program without threads, which
 * reads rounds of 5 000 000 packets of 60 octets in random order of flows (the profile min64). An operation is a packet; with two
 * points, a packet that is read at both.
 * <p>
 * {@code with}: nothing; {@code rli}, a receiver with a reference behind every 100th packet, {@code linear}; {@code lds}, a
 * receiver with sketches of R = 4, k = 1, c = 0.5 (cells of a row for each flow), digests included, compared with the
 * sender's each round; both; both with the distribution of each flow's delays ({@code quantiles}, as much memory as
 * {@code run} takes for them); both solved together ({@code joint}); or {@code everything}, as {@code run} does unless told
 * otherwise: all of that, and the records as IPFIX into a file that keeps nothing. What the sender would do is not measured.
 * {@code points} has both points in one process and meters the receiver's packets; {@code matched} matches every packet too, with
 * {@code quantiles}, as {@code run} does with role {@code both}. {@code passive} has two packets of 100 as references instead,
 * {@code sampled} one whole flow in 16 besides. {@code segments} is that on a router with four interfaces, whose
 * twelve segments have a share of the flows each. {@code connections} has packets of TCP instead, and {@code tcp} follows
 * them, {@code biflow} joins both directions. {@code mac} adds the MAC addresses to nothing.
 */
@State(Scope.Thread)
@BenchmarkMode(Mode.AverageTime)
@OutputTimeUnit(TimeUnit.NANOSECONDS)
@Fork(value = 1, jvmArgsAppend = {
    "-Xms1g", "-Xmx1g", "-XX:+UseSerialGC", "-XX:MaxDirectMemorySize=16g",
    "--add-opens=java.base/jdk.internal.misc=ALL-UNNAMED", "--add-opens=java.base/sun.nio.ch=ALL-UNNAMED"})
@Warmup(iterations = 4, time = 1)
@Measurement(iterations = 5, time = 1)
public class PathBenchmark {
    private static final int PACKETS = 5_000_000;
    private static final double CELLS_PER_FLOW = 0.5;
    private static final String ALL = "everything";
    private static final String POINTS = "points";
    private static final String MATCHED = "matched";
    private static final String PASSIVE = "passive";
    private static final String SAMPLED = "sampled";
    private static final String SEGMENTS = "segments";
    private static final String CONNECTIONS = "connections";
    private static final String TCP = "tcp";
    private static final String BIFLOW = "biflow";
    private static final String MAC = "mac";
    private static final List<String> WITH_BOTH_POINTS = List.of(POINTS, MATCHED, PASSIVE, SAMPLED, SEGMENTS);
    private static final int INTERFACES = 4;
    private static final List<String> PARTS =
        List.of("nothing", "rli", "lds", "quantiles", "joint", ALL, POINTS, MATCHED, PASSIVE, SAMPLED, SEGMENTS, CONNECTIONS,
            TCP, BIFLOW, MAC);
    /** Initial capacity of {@code run}. */
    private static final int MATCHED_PACKETS = 128 * 1024;

    @Param({"10000", "100000", "1000000"})
    private int flows;

    @Param({
        "nothing", "rli", "lds", "rli+lds", "rli+lds+quantiles", "rli+lds+joint", "everything", POINTS, MATCHED, PASSIVE, SAMPLED,
        SEGMENTS, CONNECTIONS, TCP, BIFLOW, MAC})
    private String with;

    private final Counters counters = new Counters();
    /** By observation point; the receiver point alone, the sender point first, or both points of each interface. */
    private List<MemoryTraffic> sources;
    private MemoryTraffic traffic;
    private SenderInMemory sender;
    private MeteringPipeline pipeline;
    private long rounds;

    /** Reports a failure of the pipeline as the benchmark's. */
    private static void fail(final Throwable problem) {
        throw new IllegalStateException(problem);
    }

    @Setup(Level.Trial)
    public void setUp() throws IOException {
        setUp(PACKETS);
    }

    private void setUp(final int packetCount) throws IOException {
        checkParts();
        final boolean isAll = parts().contains(ALL);
        final boolean isInterpolated = has("rli");
        final boolean isSketched = has("lds");
        sources = sources(packetCount, isInterpolated);
        traffic = sources.get(sources.size() - 1);
        final ExporterConfig config = config();
        sender = isSketched ? new SenderInMemory(config) : null;
        final List<Destination> destinations = isAll ?
            List.of(new DestinationFactory(true, new boolean[1], Map.of(), counters)
                .make(config, config.exporting().destinations().get(0))) : List.of();
        pipeline = new MeteringPipeline(
            config, sources, false, !hasBothPoints() ? wiring(isInterpolated, sender) : wiring(config),
            destinations, counters, PathBenchmark::fail);
    }

    private List<MemoryTraffic> sources(final int packetCount, final boolean hasReferences) {
        if (isOfSegments()) {
            return IntStream.range(0, 2 * INTERFACES)
                .mapToObj((point) -> MemoryTraffic.ofRouter(flows, packetCount, INTERFACES, point)).toList();
        }
        if (List.of(CONNECTIONS, TCP, BIFLOW).stream().anyMatch((part) -> parts().contains(part))) {
            return List.of(MemoryTraffic.ofConnections(flows, packetCount));
        }
        final MemoryTraffic received = new MemoryTraffic(flows, packetCount, hasReferences);
        return hasBothPoints() ? List.of(MemoryTraffic.sent(flows, packetCount), received) : List.of(received);
    }

    private boolean hasBothPoints() {
        return WITH_BOTH_POINTS.stream().anyMatch((part) -> parts().contains(part));
    }

    private boolean isPassive() {
        return parts().contains(PASSIVE) || parts().contains(SAMPLED);
    }

    private boolean isOfSegments() {
        return parts().contains(SEGMENTS);
    }

    private boolean has(final String part) {
        return parts().contains(ALL) || parts().contains(part);
    }

    private List<String> parts() {
        return List.of(with.split("\\+"));
    }

    /** Rejects unknown parts, which would be ignored otherwise. */
    private void checkParts() {
        for (final String part : parts()) {
            if (!PARTS.contains(part)) {
                throw new IllegalArgumentException("with=" + with + ": '" + part + "' is none of " + PARTS);
            }
        }
        if (hasBothPoints() && parts().size() > 1) {
            throw new IllegalArgumentException("with=" + with + ": " + WITH_BOTH_POINTS + " stand alone");
        }
    }

    private ExporterConfig config() {
        return new ConfigLoader().text("benchmark", "threading: invoker\nmetering: {max-flows: " + flows * 5 / 4 +
            ", tcp: " + parts().contains(TCP) + ", mac: " + parts().contains(MAC) +
            ", biflow: " + parts().contains(BIFLOW) + "}\n" +
            (isOfSegments() ? "segments: {auto: [a, b, c, d], " : "segment: {") +
            "interval: " + traffic.roundNs() / 1_000_000 +
            "ms, max-delay: 20ms, exact-packets: " + MATCHED_PACKETS + "}\njoint: {enabled: " + has("joint") +
            "}\n" + (parts().contains(SAMPLED) ? "quantiles: {bandwidth: 1m}\n" :
                has("quantiles") || has(MATCHED) || isPassive() || isOfSegments() ? "" : "quantiles: {memory: 0}\n") +
            (isPassive() ? "rli: {policy: passive, passive-share: 0.02}\n" : "") +
            "lds: {rows: 4, vlda: 1, columns: " + Math.round(flows * CELLS_PER_FLOW) +
            "}\nexchange: {deadline: 100ms}\nexporting: {destinations: ['file:/dev/null']}\n").conclude();
    }

    /** A receiver of references, or of sketches that a sender has, or of both; the sender may be null. */
    static DelayWiring wiring(final boolean isInterpolated, final SenderInMemory sender) {
        if (!isInterpolated && sender == null) {
            return DelayWiring.NONE;
        }
        final DelayWiring wiring = new DelayWiring(
            Role.RECEIVER,
            new DelayWiring.References(
                ReferenceMode.NONE,
                isInterpolated ? List.of(ReferenceSession.unauthenticated(MemoryTraffic.SESSION)) : List.of()),
            ClockError.fixed(1_000), isInterpolated, false, false, sender != null);
        return sender == null ? wiring : wiring.withLink(sender);
    }

    /** Both points in one process, without sketches. */
    private DelayWiring wiring(final ExporterConfig config) {
        final boolean isMatched = parts().contains(MATCHED) || isOfSegments();
        final DelayWiring wiring = new DelayWiring(
            Role.BOTH, isPassive() ? new DelayWiring.References(ReferenceMode.PASSIVE, List.of()) : DelayWiring.References.NONE,
            ClockError.NONE, isPassive(), isMatched, isMatched, false);
        return config.pairs().segments().isEmpty() ? wiring : wiring.withCaptures(
            CaptureFacts.of(new SegmentPairs(config.pairs(), new int[INTERFACES], new RouteHistory(0))));
    }

    /** Goes back to the first packet. */
    @Setup(Level.Invocation)
    public void nextRound() {
        sources.forEach(MemoryTraffic::nextRound);
        if (sender != null) {
            sender.send(traffic);
            traffic.rewind();
        }
        rounds++;
    }

    @Benchmark
    @OperationsPerInvocation(PACKETS)
    public long path() {
        while (!isRoundOver()) {
            pipeline.doWork();
        }
        return counters.get(CounterId.METERED);
    }

    private boolean isRoundOver() {
        boolean isOver = true;
        for (int i = 0; i < sources.size(); i++) {
            isOver &= sources.get(i).isRoundOver();
        }
        return isOver;
    }

    /** Ends a round; its last received packets wait for the next one, for earlier sent packets. */
    private void finish() {
        sources.forEach(MemoryTraffic::lastRound);
        while (pipeline.doWork() > 0) {
            // goes on to the end
        }
    }

    /** Checks that every packet was metered and sketched and every reference recognised; otherwise the figure is invalid. */
    @TearDown(Level.Trial)
    public void check() {
        if (hasBothPoints()) {
            finish();
        }
        final long packets = rounds * (isOfSegments() ? IntStream.range(0, INTERFACES)
            .mapToLong((i) -> sources.get(2 * i + 1).packetCount()).sum() : traffic.packetCount());
        check("metered", counters.get(CounterId.METERED), packets);
        if (pipeline.delayStage() != null) {
            final Map<String, Long> delay = pipeline.delayStage().statistics().counters();
            if (sender != null) {
                check("sketched", delay.get("lds_received_booked") + delay.get("lds_received_held"), packets);
                check("intervals without answer", delay.get("lds_intervals_unanswered"), 0);
            }
            if (parts().contains(MATCHED) || isOfSegments()) {
                check("matched", delay.get("match_matched"), packets);
            }
            if (isPassive() && delay.get("quantile_samples") > 0 != parts().contains(SAMPLED)) {
                throw new IllegalStateException("sampled: " + delay.get("quantile_samples"));
            }
            if (isOfSegments()) {
                check("of no segment", delay.get("match_matched_segment_none"), 0);
                check("segments", delay.keySet().stream().filter((each) -> each.startsWith("match_matched_segment_") &&
                    delay.get(each) > 0).count(), INTERFACES * (INTERFACES - 1));
            }
            if (traffic.referenceCount() > 0) {
                check("references", delay.get("rli_references_settled") + delay.get("rli_references_waiting"),
                    rounds * traffic.referenceCount());
                // A flow may end while its last packets wait for the send time of a reference.
                check("estimated or waiting", delay.get("rli_estimated") + delay.get("rli_buffered") +
                    delay.get("rli_without_reference") + delay.get("rli_flow_ended"), packets);
            }
        }
        pipeline.close();
    }

    private static void check(final String what, final long seen, final long expected) {
        if (seen != expected) {
            throw new IllegalStateException(what + ": " + seen + ", not " + expected);
        }
    }

    /**
     * Plays rounds outside of JMH, for a test.
     *
     * @param parts      as {@code with}.
     * @param roundCount at least 1.
     * @return the counters at the end.
     * @throws IOException if the records have no destination.
     */
    static Counters play(final int flowCount, final int packetCount, final String parts, final int roundCount)
        throws IOException {
        final PathBenchmark benchmark = new PathBenchmark();
        benchmark.flows = flowCount;
        benchmark.with = parts;
        benchmark.setUp(packetCount);
        for (int i = 0; i < roundCount; i++) {
            benchmark.nextRound();
            benchmark.path();
        }
        benchmark.check();
        return benchmark.counters;
    }
}
