package io.flowlag.exporter.runtime;

import io.flowlag.exporter.checkpoint.Checkpoint;
import io.flowlag.exporter.config.ExporterConfig;
import io.flowlag.exporter.config.ExporterConfig.Role;
import io.flowlag.exporter.config.ExporterConfig.Threading;
import io.flowlag.exporter.config.Memory;
import io.flowlag.exporter.decode.PacketDecoder;
import io.flowlag.exporter.delay.CaptureFacts;
import io.flowlag.exporter.delay.ClockError;
import io.flowlag.exporter.delay.DelayStage;
import io.flowlag.exporter.delay.DelayWiring;
import io.flowlag.exporter.delay.PacketSegments;
import io.flowlag.exporter.delay.ReferenceMode;
import io.flowlag.exporter.delay.SegmentPairs;
import io.flowlag.exporter.delay.SegmentStages;
import io.flowlag.exporter.delay.SketchLink;
import io.flowlag.exporter.exchange.link.ExchangeSizes;
import io.flowlag.exporter.export.DestinationFactory;
import io.flowlag.exporter.monitoring.Observer;
import io.flowlag.exporter.monitoring.top.FlowWatch;
import io.flowlag.exporter.pipeline.CaptureAgent;
import io.flowlag.exporter.pipeline.ShardRings;
import io.flowlag.exporter.pipeline.StageRing;
import io.flowlag.exporter.status.DelayStatistics;
import io.flowlag.exporter.status.MemoryUse;
import io.flowlag.exporter.status.PipelineLatency;
import io.flowlag.exporter.status.SketchStatistics;

import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.function.ToLongFunction;
import java.util.stream.IntStream;
import java.util.stream.Stream;

/** What a configuration takes of the memory, by the formulas of its stages. Stateless. */
public final class MemoryPlan {
    /** Code, classes, stacks and tables of the JVM: some 90 MiB were seen. */
    private static final long JAVA_BYTES = 112L << 20;
    /** The launcher gives the heap this part of the memory, and the least that works. */
    private static final int HEAP_PART = 4;
    private static final long LEAST_HEAP_BYTES = 64L << 20;

    private static final String HEAP = "heap";
    private static final String FLOW_CACHE = "flow cache";
    private static final String RESIDENT = "VmRSS:";

    private MemoryPlan() {
    }

    /** {@return what {@code run} takes under a configuration, the JVM included} */
    public static List<Memory.Part> parts(final ExporterConfig config) {
        final long heapBytes = Math.min(
            Runtime.getRuntime().maxMemory(), Math.max(LEAST_HEAP_BYTES, Memory.of(config).bytes() / HEAP_PART));
        final int interfaces = config.segment().role() == Role.BOTH && config.pairs().segments().isEmpty() ? 2 :
            config.capture().interfaces().size();
        final List<Memory.Part> parts = new ArrayList<>(List.of(
            new Memory.Part("JVM", JAVA_BYTES),
            new Memory.Part(HEAP, heapBytes),
            new Memory.Part("kernel rings", interfaces * config.shardCount() * config.capture().ringBytes()),
            new Memory.Part("spools", DestinationFactory.spoolBounds(config.exporting().destinations())[0])));
        parts.addAll(tables(config, wirings(config, (each) -> each.exchange().memoryBytes()), true));
        return parts;
    }

    /** {@return the octets of all tables of {@link #tables}} */
    public static long tableBytes(final ExporterConfig config, final DelayWiring wiring, final boolean isLive) {
        return tableBytes(config, List.of(wiring), isLive);
    }

    /** The same with a delay stage and an exchange for each of several segments, see {@link ExporterConfig#segments}. */
    public static long tableBytes(final ExporterConfig config, final List<DelayWiring> wirings, final boolean isLive) {
        return tables(config, wirings, isLive).stream().mapToLong(Memory.Part::bytes).sum();
    }

    /**
     * The memory for packets and flows.
     *
     * @param wirings connections of the delay stage of each segment.
     * @param isLive  whether packets are live.
     * @return flow cache, rings and merge of the points, delay stages, sketches with their exchange, and status.
     */
    private static List<Memory.Part> tables(
        final ExporterConfig config, final List<DelayWiring> wirings, final boolean isLive) {
        final DelayWiring wiring = wirings.get(0);
        final int shardCount = config.shardCount();
        final boolean isSharded = config.threading() == Threading.SHARDED;
        final int points = Math.max(2, config.capture().interfaces().size());
        final long rings =
            MeteringPipeline.packetRingCount(config, isLive) * StageRing.memoryBytes(config.pipeline().packetRingBytes()) +
            MeteringPipeline.recordRingCount(config, isLive) * StageRing.memoryBytes(config.pipeline().recordRingBytes()) +
            (isSharded && !isLive ? ShardRings.memoryBytes(shardCount) : 0) +
            (wiring.role() == Role.BOTH ? CaptureAgent.mergeMemoryBytes(points, isLive) : 0);
        final int decoders = wiring.role() == Role.BOTH ? 2 : isSharded && isLive ? shardCount : 1;
        final long fragments = config.decode().fragmentPorts() ?
            decoders * PacketDecoder.fragmentMemoryBytes(config.decode().fragmentTableEntries()) : 0;
        final long copies = isLive && config.checkpoint().file() != null ?
            shardCount * Checkpoint.memoryBytes((config.metering().maxFlows() + shardCount - 1) / shardCount) : 0;
        final long watch = MeteringPipeline.isWatched(config, isLive) ?
            shardCount * FlowWatch.memoryBytes(config.status().flows()) + Observer.memoryBytes(config, shardCount) : 0;
        final long flows =
            shardCount * MeteringPipeline.cacheSettings(config, SegmentStages.stateLengthBytes(wirings)).memoryBytes();
        final long latency = isLive ? (isSharded ? 1 + shardCount : 1) * PipelineLatency.memoryBytes() : 0;
        final long sketches = isSharded ? DelayStage.sketchMemoryBytes(DelayStage.share(config), wiring, isLive) :
            IntStream.range(0, wirings.size()).mapToLong((i) ->
                DelayStage.sketchMemoryBytes(config.segments().get(i), wirings.get(i), isLive)).sum();
        final long delay = (wirings.size() == 1 ? 0 : new PacketSegments(config.segments()).memoryBytes()) +
            (isSharded ? ShardedStages.delayMemoryBytes(config, wiring, isLive) :
                DelayStage.memoryBytes(config.segments(), wirings, isLive)) - sketches;
        return List.of(
            new Memory.Part(FLOW_CACHE, flows + copies),
            new Memory.Part("rings", rings + fragments),
            new Memory.Part("delay", delay),
            new Memory.Part(Memory.SKETCHES, sketches + linkBytes(wirings)),
            new Memory.Part("status", watch + latency));
    }

    /**
     * What the parts have of their memory now.
     *
     * @param delays of the pipeline's stages.
     * @return the process, by its resident memory, then each part; none without a plan.
     */
    static List<MemoryUse> uses(
        final ExporterConfig config, final MeteringPipeline pipeline, final List<DelayStatistics> delays) {
        final Memory memory = Memory.of(config);
        if (memory.parts().isEmpty()) {
            return List.of();
        }
        final List<MemoryUse> uses = new ArrayList<>(List.of(new MemoryUse("process", memory.bytes(), residentBytes())));
        for (final Memory.Part part : memory.bounds()) {
            uses.add(new MemoryUse(part.name(), part.bytes(), switch (part.name()) {
                case HEAP -> Runtime.getRuntime().totalMemory();
                case FLOW_CACHE -> part.bytes() * pipeline.flowCount() / config.metering().maxFlows();
                case Memory.SKETCHES -> delays.stream().flatMap((each) -> each.sketches().stream())
                    .mapToLong(SketchStatistics::memoryBytes).sum() + linkBytes(pipeline.wirings());
                default -> null;
            }));
        }
        return uses;
    }

    private static long linkBytes(final List<DelayWiring> wirings) {
        return wirings.stream().mapToLong((each) -> each.link().memoryBytes()).sum();
    }

    private static Long residentBytes() {
        try (Stream<String> lines = Files.lines(Path.of("/proc/self/status"))) {
            return lines.filter((line) -> line.startsWith(RESIDENT)).findFirst().map((line) ->
                Long.parseLong(line.replaceAll("[^0-9]", "")) << 10).orElse(null);
        } catch (final IOException | UncheckedIOException ex) {
            return null; // a system without it
        }
    }

    /**
     * The wirings of a configuration whose segments are not open, with the same sizes.
     *
     * @param senderBytes what a sender takes for its exchange, octets.
     */
    public static List<DelayWiring> wirings(final ExporterConfig config, final ToLongFunction<ExporterConfig> senderBytes) {
        return config.segments().stream().map((each) -> wiring(each, senderBytes)).toList();
    }

    private static DelayWiring wiring(final ExporterConfig segment, final ToLongFunction<ExporterConfig> senderBytes) {
        final Role role = segment.segment().role();
        if (!segment.pairs().segments().isEmpty()) {
            return new DelayWiring(role, DelayWiring.References.NONE, ClockError.NONE, false, true, true, false)
                .withCaptures(CaptureFacts.of(SegmentPairs.closed(segment.pairs())));
        }
        final ReferenceMode mode = referenceMode(segment);
        final DelayWiring wiring = new DelayWiring(role, new DelayWiring.References(mode, List.of()), ClockError.NONE,
            mode != ReferenceMode.NONE, role == Role.BOTH, segment.segment().exact(), segment.lds().enabled());
        return segment.exchange().listen() != null ? wiring.withLink(ExchangeSizes.receiver(segment)) :
            segment.exchange().connect() == null ? wiring : wiring.withLink(new SketchLink() {
                @Override
                public long memoryBytes() {
                    return senderBytes.applyAsLong(segment);
                }
            });
    }

    /** {@return which references a live segment has: a receiver those of its sender, another its own if it has a target} */
    public static ReferenceMode referenceMode(final ExporterConfig segment) {
        final Role role = segment.segment().role();
        return role == Role.NONE ? ReferenceMode.NONE :
            segment.rli().injection().policy() == ExporterConfig.Policy.PASSIVE ? ReferenceMode.PASSIVE :
            role == Role.RECEIVER || segment.rli().references().target() != null ? ReferenceMode.SENT : ReferenceMode.NONE;
    }
}
