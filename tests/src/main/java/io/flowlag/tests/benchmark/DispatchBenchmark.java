package io.flowlag.tests.benchmark;

import io.flowlag.exporter.capture.CaptureClock;
import io.flowlag.exporter.config.ConfigLoader;
import io.flowlag.exporter.config.ExporterConfig;
import io.flowlag.exporter.config.ExporterConfig.Role;
import io.flowlag.exporter.decode.DecodedReference;
import io.flowlag.exporter.decode.DigestSwitch;
import io.flowlag.exporter.decode.PacketDescriptor;
import io.flowlag.exporter.decode.SegmentHashes;
import io.flowlag.exporter.delay.ClockError;
import io.flowlag.exporter.delay.DelayStage;
import io.flowlag.exporter.delay.DelayWiring;
import io.flowlag.exporter.delay.FlowEnd;
import io.flowlag.exporter.delay.ReferenceMode;
import io.flowlag.exporter.delay.SegmentStages;
import io.flowlag.exporter.flow.FlowCache;
import io.flowlag.exporter.flow.FlowCacheSettings;
import io.flowlag.exporter.flow.FlowRecordSink;
import io.flowlag.exporter.pipeline.DelayMeteringAgent;
import io.flowlag.exporter.pipeline.MeteringAgent;
import io.flowlag.exporter.pipeline.SegmentMeteringAgent;
import io.flowlag.exporter.pipeline.StageRing;
import io.flowlag.exporter.runtime.MeteringPipeline;
import io.flowlag.exporter.status.CounterId;
import io.flowlag.exporter.status.Counters;
import io.flowlag.rli.reference.ReferenceSession;
import org.agrona.concurrent.UnsafeBuffer;
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
import org.openjdk.jmh.annotations.Warmup;

import java.nio.ByteBuffer;
import java.util.List;
import java.util.SplittableRandom;
import java.util.concurrent.TimeUnit;
import java.util.stream.Collectors;
import java.util.stream.IntStream;

/**
 * The metering stage with receivers of references in several segments, from descriptors: flow cache, lookup and interpolation.
 * The same flows are spread over the segments, and one packet in a hundred is a reference of its segment. An operation is a
 * packet. With one segment it is the stage of one segment. Run by {@code bin/benchmark jmh Dispatch}.
 */
@State(Scope.Thread)
@BenchmarkMode(Mode.AverageTime)
@OutputTimeUnit(TimeUnit.NANOSECONDS)
@Fork(value = 1, jvmArgsAppend = {
    "--add-opens=java.base/jdk.internal.misc=ALL-UNNAMED", "--add-opens=java.base/sun.nio.ch=ALL-UNNAMED"})
@Warmup(iterations = 3, time = 1)
@Measurement(iterations = 5, time = 1)
public class DispatchBenchmark {
    private static final int PACKETS = 1 << 15;
    private static final int BATCH = 16;
    /** Packets between two duty cycles, and between two reports of capture. */
    private static final int CYCLE = 64;
    private static final int REPORT = 1024;
    private static final int REFERENCE_DISTANCE = 100;
    private static final int FLOWS = 10_000;
    private static final long GAP_NS = 1_000;
    private static final long DELAY_NS = 100_000;
    private static final long START_NS = 1_700_000_000_000_000_000L;
    private static final long SEED = 1;

    @Param({"1", "16", "256"})
    private int segments;

    private final UnsafeBuffer descriptors =
        new UnsafeBuffer(ByteBuffer.allocateDirect(PACKETS * PacketDescriptor.LENGTH_BYTES));
    private final int[] segmentOf = new int[PACKETS];
    private final Counters counters = new Counters();
    private long nowNs = START_NS;
    private final CaptureClock clock = () -> nowNs;
    private int[] sequenceNumbers;
    private MeteringAgent agent;
    private long round;

    /** Makes the stages and the packets. */
    @Setup(Level.Trial)
    public void setUp() {
        final ExporterConfig config = new ConfigLoader().text("benchmark", "metering: {max-flows: " + 2 * FLOWS +
            "}\nquantiles: {memory: 0}\nrli: {buffer: 4k}\nsegments: [" + IntStream.range(0, segments).mapToObj((i) ->
            "{role: receiver, id: " + (i + 1) + ", source: [10.1." + i + ".0/24], rli: {session: " + (i + 1) + "}}")
            .collect(Collectors.joining(", ")) + "]\n").conclude();
        final List<DelayWiring> wirings = IntStream.range(0, segments).mapToObj((i) -> new DelayWiring(
            Role.RECEIVER, new DelayWiring.References(
                ReferenceMode.NONE, List.of(ReferenceSession.unauthenticated(i + 1))), ClockError.fixed(1_000), true, false,
            false, false)).toList();
        final FlowCacheSettings settings = MeteringPipeline.cacheSettings(config, SegmentStages.stateLengthBytes(wirings));
        final FlowRecordSink sink = (buffer, offset, lengthBytes) -> { };
        if (segments == 1) {
            final FlowEnd end = new FlowEnd(sink);
            final FlowCache cache = new FlowCache(settings, end, counters);
            agent = new DelayMeteringAgent(cache, StageRing.unused(), () -> false, clock,
                new DelayStage(config, wirings.get(0), end, cache, clock, counters), wirings.get(0), false,
                counters);
        } else {
            final SegmentStages stages = new SegmentStages(config.segments(), sink);
            final FlowCache cache = new FlowCache(settings, stages, counters);
            agent = new SegmentMeteringAgent(cache, StageRing.unused(), () -> false, clock,
                new SegmentMeteringAgent.Segments(stages.open(config.segments(), wirings, cache, clock, counters),
                    wirings, stages, new SegmentHashes(wirings.stream().map((each) -> new DigestSwitch()).toList())),
                counters);
        }
        sequenceNumbers = new int[segments];
        final SplittableRandom random = new SplittableRandom(SEED);
        for (int i = 0; i < PACKETS; i++) {
            final int flow = random.nextInt(FLOWS);
            segmentOf[i] = flow % segments;
            final int offset = i * PacketDescriptor.LENGTH_BYTES;
            PacketDescriptor.ipVersion(descriptors, offset, 4);
            PacketDescriptor.protocol(descriptors, offset, 17);
            PacketDescriptor.sourceLow(descriptors, offset, 10L << 24 | 1 << 16 | segmentOf[i] << 8 | flow % 200);
            PacketDescriptor.sourcePort(descriptors, offset, flow / 200);
            PacketDescriptor.destinationLow(descriptors, offset, 1);
            PacketDescriptor.segmentCount(descriptors, offset, 1);
            PacketDescriptor.ipLengthBytes(descriptors, offset, 500);
            PacketDescriptor.wireLengthBytes(descriptors, offset, 514);
        }
        agent.onStart();
    }

    /** Goes on in time. */
    @Setup(Level.Invocation)
    public void nextRound() {
        for (int i = 0; i < PACKETS; i++) {
            final int offset = i * PacketDescriptor.LENGTH_BYTES;
            final long arrivalNs = START_NS + (round * PACKETS + i) * GAP_NS;
            PacketDescriptor.timestampNs(descriptors, offset, arrivalNs);
            if (i % REFERENCE_DISTANCE == 0) {
                DecodedReference.encode(descriptors, offset, 0, sequenceNumbers[segmentOf[i]]++, arrivalNs - DELAY_NS);
                DecodedReference.segment(descriptors, offset, segmentOf[i], 0);
            }
        }
        round++;
    }

    /** All packets, in batches. */
    @Benchmark
    @OperationsPerInvocation(PACKETS)
    public long dispatch() {
        for (int i = 0; i < PACKETS; i += BATCH) {
            agent.onDescriptors(descriptors, i * PacketDescriptor.LENGTH_BYTES, BATCH);
            if (i % CYCLE == 0) {
                nowNs = PacketDescriptor.timestampNs(descriptors, i * PacketDescriptor.LENGTH_BYTES);
                if (i % REPORT == 0) {
                    agent.onCaptured(nowNs);
                }
                agent.doWork();
            }
        }
        return counters.get(CounterId.METERED);
    }
}
