package io.flowlag.tests.benchmark;

import io.flowlag.common.hash.SipHash;
import io.flowlag.exporter.capture.CaptureClock;
import io.flowlag.exporter.capture.FilterSupplier;
import io.flowlag.exporter.capture.PacketHandler;
import io.flowlag.exporter.capture.PacketSource;
import io.flowlag.exporter.capture.file.CaptureFiles;
import io.flowlag.exporter.config.ConfigLoader;
import io.flowlag.exporter.config.ExporterConfig;
import io.flowlag.exporter.decode.PacketDecoder;
import io.flowlag.exporter.decode.PacketDescriptor;
import io.flowlag.exporter.delay.DelayWiring;
import io.flowlag.exporter.export.Destination;
import io.flowlag.exporter.export.DestinationFactory;
import io.flowlag.exporter.flow.FlowCache;
import io.flowlag.exporter.flow.FlowCacheSettings;
import io.flowlag.exporter.flow.FlowEntry;
import io.flowlag.exporter.lab.CaptureWriter;
import io.flowlag.exporter.pipeline.MeteringAgent;
import io.flowlag.exporter.pipeline.StageRing;
import io.flowlag.exporter.status.Counters;
import io.flowlag.exporter.status.DestinationStatistics;
import io.flowlag.rli.path.PathEstimate;
import io.flowlag.rli.path.PathFinder;
import io.flowlag.rli.receiver.ReceiverSettings;
import io.flowlag.rli.receiver.RliReceiver;
import io.flowlag.rli.receiver.SendTimes;
import io.flowlag.sketch.image.SketchGeometry;
import io.flowlag.sketch.lds.LossyDifferenceSketch;
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
import org.openjdk.jmh.annotations.TearDown;
import org.openjdk.jmh.annotations.Warmup;

import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.Map;
import java.util.SplittableRandom;
import java.util.concurrent.TimeUnit;

/**
 * The stages one by one, on one core: an invocation takes 1 000 000 packets of 60 octets in random order of flows through a
 * stage. An operation is a packet, or in {@link #expire} and {@link #encode} a flow.
 */
@State(Scope.Thread)
@BenchmarkMode(Mode.AverageTime)
@OutputTimeUnit(TimeUnit.NANOSECONDS)
@Fork(value = 1, jvmArgsAppend = {
    "-Xms1g", "-Xmx1g", "-XX:+UseSerialGC", "-XX:MaxDirectMemorySize=16g",
    "--add-opens=java.base/jdk.internal.misc=ALL-UNNAMED", "--add-opens=java.base/sun.nio.ch=ALL-UNNAMED"})
@Warmup(iterations = 4, time = 1)
@Measurement(iterations = 5, time = 1)
public class StageBenchmark {
    private static final int PACKETS = 1_000_000;
    private static final int SMALLEST_FLOWS = 10_000;
    private static final int BATCH = 64;
    private static final int POLL_LIMIT = 256;
    private static final int EXPIRY_LIMIT = 256;
    private static final long IDLE_NS = 15_000_000_000L;

    /** Packets in memory, and their descriptors; the number of flows does not affect reading or decoding. */
    @State(Scope.Thread)
    public static class Packets {
        private MemoryTraffic traffic;
        private Path file;

        /** Makes them. */
        @Setup(Level.Trial)
        public void setUp() throws IOException {
            traffic = new MemoryTraffic(SMALLEST_FLOWS, PACKETS, false);
            final Path memory = Path.of("/dev/shm");
            file = Files.isWritable(memory) ? Files.createTempFile(memory, "flowlag", ".pcap") :
                Files.createTempFile("flowlag", ".pcap");
            CaptureMaker.make(
                Profiles.min64().toBuilder().packetCount(PACKETS).flowCount(SMALLEST_FLOWS).build(), file,
                CaptureWriter.Format.PCAP_NANOSECONDS);
        }

        @TearDown(Level.Trial)
        public void delete() throws IOException {
            Files.deleteIfExists(file);
        }
    }

    /** Decoded packets, and what keeps something for each flow. */
    @State(Scope.Thread)
    public static class Flows {
        @Param({"10000", "100000", "1000000"})
        private int flows;

        private final UnsafeBuffer descriptors =
            new UnsafeBuffer(ByteBuffer.allocateDirect(PACKETS * PacketDescriptor.LENGTH_BYTES));
        private FlowCache cache;
        private MeteringAgent agent;
        private LossyDifferenceSketch sketch;
        private RliReceiver receiver;
        private long now;
        private long samples;
        private int sequence;

        /** Makes them. */
        @Setup(Level.Trial)
        public void setUp() {
            decodeAll(flows, descriptors);
            final Counters counters = new Counters();
            cache = new FlowCache(
                FlowCacheSettings.of(flows * 5 / 4), (buffer, offset, lengthBytes) -> samples++, counters);
            agent = new MeteringAgent(cache, StageRing.unused(), () -> false, CaptureClock.FILES, counters);
            sketch = new LossyDifferenceSketch(SketchGeometry.lds(4, flows / 2, 1), 0);
            receiver = new RliReceiver(
                ReceiverSettings.defaults().withLimits(
                    new ReceiverSettings.Limits(1024, 1_000_000_000, Long.MAX_VALUE, 200_000_000)),
                (estimated) -> {
                    for (int i = 0; i < estimated.count(); i++) {
                        samples += estimated.delayNs(i);
                    }
                    return 0;
                });
            meter();
        }

        private void meter() {
            for (int i = 0; i < PACKETS; i += BATCH) {
                agent.onDescriptors(descriptors, i * PacketDescriptor.LENGTH_BYTES, Math.min(BATCH, PACKETS - i));
            }
        }
    }

    private static void decodeAll(final int flows, final UnsafeBuffer descriptors) {
        final PacketDecoder decoder = decoder(true);
        final MemoryTraffic traffic = new MemoryTraffic(flows, PACKETS, false);
        traffic.nextRound();
        final int[] offset = new int[1];
        final PacketHandler handler = captured -> {
            decoder.decode(captured, descriptors, offset[0]);
            offset[0] += PacketDescriptor.LENGTH_BYTES;
        };
        while (!traffic.isRoundOver()) {
            traffic.poll(handler, POLL_LIMIT);
        }
    }

    private static PacketDecoder decoder(final boolean hasDigests) {
        final PacketDecoder.Context context = new PacketDecoder.Context();
        if (hasDigests) {
            context.digest(new SipHash(1, 2)).digestPayloadBytes(DelayWiring.DIGEST_PAYLOAD_BYTES);
        }
        return new PacketDecoder(context, new Counters());
    }

    private final PacketDecoder plain = decoder(false);
    private final PacketDecoder digesting = decoder(true);
    private final UnsafeBuffer batch = new UnsafeBuffer(ByteBuffer.allocateDirect(BATCH * PacketDescriptor.LENGTH_BYTES));
    private long sum;
    private int index;
    private final PacketHandler summing =
        packet -> sum += packet.timestampNs() + packet.capturedLengthBytes();
    private final PacketHandler decoding = packet -> sum += plain.decode(packet, batch, next());
    private final PacketHandler decodingDigests = packet -> sum += digesting.decode(packet, batch, next());

    private int next() {
        index = index + 1 & BATCH - 1;
        return index * PacketDescriptor.LENGTH_BYTES;
    }

    private long play(final Packets packets, final PacketHandler handler) {
        packets.traffic.nextRound();
        while (!packets.traffic.isRoundOver()) {
            packets.traffic.poll(handler, POLL_LIMIT);
        }
        return sum;
    }

    /** Reads a capture file from memory by the program's reader, including opening and mapping. */
    @Benchmark
    @OperationsPerInvocation(PACKETS)
    public long read(final Packets packets) {
        try (PacketSource source = CaptureFiles.open(List.of(packets.file.toString()), FilterSupplier.ALL)) {
            while (source.poll(summing, POLL_LIMIT) != PacketSource.END_OF_SOURCE) {
                // goes on to the end
            }
        }
        return sum;
    }

    /** From octets to descriptors. */
    @Benchmark
    @OperationsPerInvocation(PACKETS)
    public long decode(final Packets packets) {
        return play(packets, decoding);
    }

    /** The same with a digest of each packet. */
    @Benchmark
    @OperationsPerInvocation(PACKETS)
    public long decodeAndDigest(final Packets packets) {
        return play(packets, decodingDigests);
    }

    /** Hash, lookup and update of the flow cache, in batches as capture delivers them; includes the timer wheel's polling. */
    @Benchmark
    @OperationsPerInvocation(PACKETS)
    public int update(final Flows flows) {
        flows.meter();
        return flows.cache.size();
    }

    /** Interpolation, with a reference after every 100th packet. */
    @Benchmark
    @OperationsPerInvocation(PACKETS)
    public long interpolate(final Flows flows) {
        for (int i = 0; i < PACKETS; i++) {
            flows.now += 1_000;
            flows.receiver.stream(0).onPacket(i & 0xFFF, 1, 0, 0, 60, flows.now);
            if (i % MemoryTraffic.REFERENCE_DISTANCE == 0) {
                flows.receiver.stream(0).onReference(flows.sequence++, flows.now - 100_000, flows.now, 86);
            }
        }
        return flows.samples;
    }

    /** References of 16 ports that take four paths, and flows whose path is known. */
    @State(Scope.Thread)
    public static class Paths {
        private static final int COUNT = 4;
        private static final int FIRST_PORT = 40_000;
        private static final int FLOWS = 4096;

        private final SplittableRandom random = new SplittableRandom(1);
        private RliReceiver receiver;
        private long now;
        private long samples;
        private int sequence;

        /** Finds them. */
        @Setup(Level.Trial)
        public void setUp() {
            receiver = new RliReceiver(
                ReceiverSettings.defaults().withSendTimes(SendTimes.STAMP).withPathFlows(FLOWS), (estimated) -> {
                    for (int i = 0; i < estimated.count(); i++) {
                        samples += estimated.delayNs(i);
                    }
                    return 0;
                });
            play(PACKETS);
            for (int i = 0; i < FLOWS; i++) {
                for (int j = 0; j < COUNT; j++) {
                    receiver.stream(0).paths().onKnown(i, 1, 60, now, delayNs(i % COUNT));
                }
            }
            play(PACKETS);
            final PathEstimate path = receiver.stream(0).paths().resolve(0, 1, new PathEstimate());
            if (receiver.stream(0).paths().count() != COUNT || path.state() != PathEstimate.State.KNOWN) {
                throw new IllegalStateException(receiver.stream(0).paths().count() + " paths, " + path.state());
            }
        }

        private long delayNs(final int path) {
            return 1_000_000L * (path + 1) + random.nextInt(65_536);
        }

        private void play(final int packets) {
            for (int i = 0; i < packets; i++) {
                now += 1_000;
                receiver.stream(0).onPacket(i & FLOWS - 1, 1, 0, 0, 60, now);
                if (i % MemoryTraffic.REFERENCE_DISTANCE == 0) {
                    final int lane = sequence % PathFinder.LANES;
                    receiver.stream(0).onReference(sequence++, now - delayNs(lane % COUNT), now, 86, FIRST_PORT + lane);
                }
            }
        }
    }

    /** The same on four paths that are known of all flows. */
    @Benchmark
    @OperationsPerInvocation(PACKETS)
    public long interpolateByPath(final Paths paths) {
        paths.play(PACKETS);
        return paths.samples;
    }

    /** An LDS of R = 4, k = 1, c = 0.5, of packets whose digest is known. */
    @Benchmark
    @OperationsPerInvocation(PACKETS)
    public long sketch(final Flows flows) {
        final UnsafeBuffer descriptors = flows.descriptors;
        for (int i = 0, offset = 0; i < PACKETS; i++, offset += PacketDescriptor.LENGTH_BYTES) {
            flows.sketch.update(
                PacketDescriptor.segmentFlowHash(descriptors, offset), PacketDescriptor.digest(descriptors, offset), i,
                PacketDescriptor.ipLengthBytes(descriptors, offset), 1);
        }
        return flows.sketch.geometry().rows();
    }

    /** Flows of a cache, before they end. */
    @State(Scope.Thread)
    public static class Ending {
        private static final int FLOWS = 100_000;

        private final UnsafeBuffer descriptors =
            new UnsafeBuffer(ByteBuffer.allocateDirect(PACKETS * PacketDescriptor.LENGTH_BYTES));
        private FlowCache cache;
        private long records;
        private long laterNs;
        private long startNs;

        /** Makes them. */
        @Setup(Level.Trial)
        public void setUp() {
            decodeAll(FLOWS, descriptors);
            startNs = PacketDescriptor.timestampNs(descriptors, 0);
            cache = new FlowCache(
                FlowCacheSettings.of(FLOWS * 5 / 4), (buffer, offset, lengthBytes) -> records++, new Counters());
        }

        /** Fills the cache. */
        @Setup(Level.Invocation)
        public void fill() {
            for (int i = 0, offset = 0; i < PACKETS; i++, offset += PacketDescriptor.LENGTH_BYTES) {
                PacketDescriptor.timestampNs(descriptors, offset, startNs + laterNs + i * 1_000L);
                cache.update(descriptors, offset);
            }
            laterNs += PACKETS * 1_000L + 2 * IDLE_NS;
        }
    }

    /** The timer wheel finds idle flows and ends them. */
    @Benchmark
    @OperationsPerInvocation(Ending.FLOWS)
    public long expire(final Ending ending) {
        while (ending.cache.size() > 0) {
            ending.cache.expire(ending.startNs + ending.laterNs, EXPIRY_LIMIT);
        }
        return ending.records;
    }

    /** Flows of a cache that go into records, and where records go: a file that keeps nothing. */
    @State(Scope.Thread)
    public static class Finished {
        private static final int FLOWS = 10_000;
        /** Records that the exporting stage takes before it serves its destinations. */
        private static final int RECORD_LIMIT = 256;

        private FlowCache cache;
        private Destination destination;
        private long nowMs;

        /** Makes them. */
        @Setup(Level.Trial)
        public void setUp() throws IOException {
            final UnsafeBuffer descriptors =
                new UnsafeBuffer(ByteBuffer.allocateDirect(PACKETS * PacketDescriptor.LENGTH_BYTES));
            decodeAll(FLOWS, descriptors);
            final Counters counters = new Counters();
            cache = new FlowCache(FlowCacheSettings.of(FLOWS), (buffer, offset, lengthBytes) -> { }, counters);
            for (int i = 0; i < PACKETS; i++) {
                cache.update(descriptors, i * PacketDescriptor.LENGTH_BYTES);
            }
            if (cache.size() != FLOWS) {
                throw new IllegalStateException(cache.size() + " flows, not " + FLOWS);
            }
            final ExporterConfig config = new ConfigLoader()
                .text("benchmark", "exporting: {destinations: ['file:/dev/null']}").conclude();
            destination = new DestinationFactory(true, new boolean[1], Map.of(), counters)
                .make(config, config.exporting().destinations().get(0));
        }

        /** Checks that every record was sent; otherwise the figure is invalid. */
        @TearDown(Level.Iteration)
        public void check() {
            final DestinationStatistics statistics = destination.statistics();
            if (statistics.recordsMade() == 0 || statistics.recordsFailed() > 0) {
                throw new IllegalStateException(statistics.line());
            }
        }
    }

    /** Finished flows as IPFIX. More iterations than elsewhere, so that a disturbed one does not dominate the error. */
    @Benchmark
    @Measurement(iterations = 15, time = 1)
    @OperationsPerInvocation(Finished.FLOWS)
    public long encode(final Finished finished) {
        for (int slot = 0; slot < Finished.FLOWS; slot++) {
            final int offset = finished.cache.stateOffset(slot) - FlowEntry.BASE_LENGTH_BYTES;
            while (finished.destination.offer(
                finished.cache.entries(), offset, FlowEntry.BASE_LENGTH_BYTES, finished.nowMs) != Destination.Outcome.DONE) {
                finished.destination.doWork(finished.nowMs);
            }
            if (slot % Finished.RECORD_LIMIT == 0) {
                finished.destination.doWork(finished.nowMs);
            }
        }
        return finished.nowMs++;
    }
}
