package io.flowlag.exporter.runtime;

import io.flowlag.exporter.capture.CaptureClock;
import io.flowlag.exporter.capture.PacketSource;
import io.flowlag.exporter.checkpoint.Checkpoint;
import io.flowlag.exporter.config.ExporterConfig;
import io.flowlag.exporter.delay.DelayStage;
import io.flowlag.exporter.delay.DelayWiring;
import io.flowlag.exporter.delay.FlowDelays;
import io.flowlag.exporter.delay.FlowEnd;
import io.flowlag.exporter.flow.FlowCache;
import io.flowlag.exporter.flow.FlowCacheSettings;
import io.flowlag.exporter.flow.FlowRecordSink;
import io.flowlag.exporter.flow.ShardSelector;
import io.flowlag.exporter.monitoring.top.FlowWatch;
import io.flowlag.exporter.pipeline.CaptureAgent;
import io.flowlag.exporter.pipeline.DescriptorHandler;
import io.flowlag.exporter.pipeline.DescriptorRing;
import io.flowlag.exporter.pipeline.FlowRecordRing;
import io.flowlag.exporter.pipeline.MeteringAgent;
import io.flowlag.exporter.pipeline.ShardMeteringAgent;
import io.flowlag.exporter.pipeline.ShardRings;
import io.flowlag.exporter.pipeline.SharedReferences;
import io.flowlag.exporter.pipeline.Stage;
import io.flowlag.exporter.pipeline.StageRing;
import io.flowlag.exporter.status.Counters;
import io.flowlag.exporter.status.PipelineLatency;

import java.util.ArrayList;
import java.util.List;
import java.util.function.BooleanSupplier;
import java.util.stream.IntStream;

/**
 * The stages before exporting in sharded mode. For files, one capture stage distributes packets to the metering stages over
 * rings, by flow. Live, the kernel distributes them to the sources: each shard has capture and metering on one thread. Shards
 * share nothing but references; all packets of a flow go to the same one. Made by the conductor; allocates at construction.
 */
final class ShardedStages {
    private final ExporterConfig config;
    private final boolean isLive;
    private final CaptureClock clock;
    private final DelayWiring wiring;
    private final long samplingSeed;
    private final List<CaptureAgent> captures = new ArrayList<>();
    private final List<MeteringAgent> meterings = new ArrayList<>();
    private final List<Checkpoint> checkpoints;
    private final List<FlowWatch> watches = new ArrayList<>();
    private final List<DelayStage> delayStages = new ArrayList<>();
    private final List<ShardMeteringAgent> delayMeterings = new ArrayList<>();

    /**
     * The stages of all shards.
     *
     * @param config      sizes, timeouts, and how many shards.
     * @param sources     owned by the stages from now on; live, those of the first shard, then those of the next.
     * @param clock       of live sources, or of files.
     * @param wiring      of the delay stage of each shard; live, of one point of references and sketches, or none.
     * @param rings       to and from the metering stages.
     * @param checkpoints one of each shard; none without.
     * @param latency     each shard has a share of it; null for none.
     * @param counters    of the process; each shard has a share of them.
     */
    ShardedStages(
        final ExporterConfig config,
        final List<? extends PacketSource> sources,
        final CaptureClock clock,
        final DelayWiring wiring,
        final Rings rings,
        final List<Checkpoint> checkpoints,
        final PipelineLatency latency,
        final Counters counters) {
        if (wiring.isOn() && !(mayShard(wiring, clock.isLive()) && config.segments().size() == 1)) {
            throw new IllegalArgumentException("threading=sharded with more than live references and sketches at one point");
        }
        this.config = config;
        this.clock = clock;
        this.wiring = wiring;
        this.checkpoints = checkpoints;
        samplingSeed = MeteringPipeline.flowKey(config).hashSeed();
        isLive = clock.isLive();
        final int shardCount = rings.records.size();
        final List<SharedReferences> references = SharedReferences.of(IntStream.range(0, wiring.isOn() ? shardCount : 0)
            .<BooleanSupplier>mapToObj((shard) -> () -> captureOf(shard).isEnded()).toList());
        for (int i = 0; i < shardCount; i++) {
            final Counters share = counters.share();
            final MeteringAgent metering = metering(
                i, isLive ? StageRing.unused() : rings.packets.get(i), rings.records.get(i),
                wiring.isOn() ? references.get(i) : null, share);
            meterings.add(metering);
            if (isLive) {
                metering.time(latency.share());
                captures.add(capture(sourcesOf(i, shardCount, sources), metering, wiring.ofShard(i), share));
                captures.get(i).roleName("capture-" + i);
            }
        }
        if (wiring.isOn()) {
            DelayStage.join(delayStages, config);
            ShardMeteringAgent.join(delayMeterings, sources.size() / shardCount);
            delayStages.get(0).points(sourcesOf(0, shardCount, sources).stream().map(PacketSource::name).toList());
        }
        if (!isLive) {
            final List<DescriptorRing> toShards =
                rings.packets.stream().map((ring) -> new DescriptorRing(ring, counters)).toList();
            final ShardSelector selector = new ShardSelector(MeteringPipeline.flowKey(config), config.shardCount());
            captures.add(capture(sources, new ShardRings(toShards, selector), wiring, counters));
        }
    }

    /** One to each metering stage, live none; and one from each. */
    record Rings(List<StageRing> packets, List<StageRing> records) {
    }

    /**
     * References go to all shards of a receiver and are sent by the first of a sender, and cells of sketches add up; what matches
     * packets of two points needs both in one.
     */
    private static boolean mayShard(final DelayWiring wiring, final boolean isLive) {
        return isLive && wiring.role() != ExporterConfig.Role.BOTH && !wiring.references().mode().isTraffic() &&
            !wiring.isMatched() && !wiring.isExact();
    }

    private static List<? extends PacketSource> sourcesOf(
        final int shard, final int shardCount, final List<? extends PacketSource> sources) {
        final int each = sources.size() / shardCount;
        if (each * shardCount != sources.size()) {
            throw new IllegalArgumentException(sources.size() + " sources for " + shardCount + " shards");
        }
        return sources.subList(shard * each, (shard + 1) * each);
    }

    private MeteringAgent metering(
        final int shard, final StageRing packetRing, final StageRing recordRing, final SharedReferences references,
        final Counters share) {
        final FlowRecordRing exportSink = new FlowRecordRing(recordRing, share);
        final FlowWatch watch = MeteringPipeline.watch(config, isLive, exportSink);
        final FlowRecordSink sink = watch == null ? exportSink : watch;
        final FlowEnd flowEnd = new FlowEnd(sink);
        final FlowCacheSettings settings = MeteringPipeline.cacheSettings(
            config, DelayStage.stateLengthBytes(wiring),
            wiring.isSketched() ? RemoteSegments.intervalNs(config, List.of(wiring)) : 0,
            checkpoints.isEmpty() ? FlowCacheSettings.Snapshots.NONE :
                new FlowCacheSettings.Snapshots(checkpoints.get(shard).sink(), config.checkpoint().intervalNs()), shard);
        MeteringPipeline.requireRoom(config, settings, wiring.isSketched());
        final FlowCache cache = new FlowCache(settings, wiring.isOn() ? flowEnd : sink, share);
        final MeteringAgent metering = wiring.isOn() ? delayMetering(cache, flowEnd, references, share) :
            new MeteringAgent(cache, packetRing, () -> captureOf(shard).isEnded(), clock, share);
        metering.roleName("metering-" + shard);
        metering.records(recordRing);
        if (!checkpoints.isEmpty()) {
            metering.takeUp(checkpoints.get(shard).savedFlows(), recordRing::isEmpty);
        }
        if (watch != null) {
            final FlowDelays delays = wiring.isOn() ? delayStages.get(shard).flowDelays() : null;
            watch.watch(cache, (entry, offset) -> delays);
            metering.watch(watch);
            watches.add(watch);
        }
        return metering;
    }

    private MeteringAgent delayMetering(
        final FlowCache cache, final FlowEnd flowEnd, final SharedReferences references, final Counters share) {
        final DelayStage stage = new DelayStage(
            DelayStage.share(config), wiring.ofShard(delayStages.size()), flowEnd, cache, clock, share,
            List.copyOf(delayStages));
        delayStages.add(stage);
        final ShardMeteringAgent metering =
            new ShardMeteringAgent(cache, this::areAllCaptured, clock, stage, wiring,
                config.segment().senderRecords(), references, share);
        delayMeterings.add(metering);
        return metering;
    }

    /** The memory of the delay stages of all shards and of their references, by formula. Returns octets on and off the heap. */
    static long delayMemoryBytes(final ExporterConfig config, final DelayWiring wiring, final boolean isLive) {
        return !wiring.isOn() ? 0 : SharedReferences.memoryBytes(config.shardCount()) +
            (wiring.isSketched() ? config.shardCount() *
                ShardMeteringAgent.waitingBytes(config.capture().interfaces().size()) : 0) +
            DelayStage.memoryBytes(DelayStage.share(config), wiring, config.shardCount(), isLive);
    }

    /** Called in every duty cycle, so it uses no iterator. */
    private boolean areAllCaptured() {
        boolean areEnded = true;
        for (int i = 0; i < captures.size(); i++) {
            areEnded &= captures.get(i).isEnded();
        }
        return areEnded;
    }

    private CaptureAgent captureOf(final int shard) {
        return captures.get(isLive ? shard : 0);
    }

    private CaptureAgent capture(
        final List<? extends PacketSource> sources, final DescriptorHandler next, final DelayWiring decoded,
        final Counters counted) {
        final CaptureAgent capture = new CaptureAgent(
            sources, MeteringPipeline.decoder(config, isLive, decoded, counted), next,
            MeteringPipeline.recognizer(config, wiring, sources.size(), counted), false, clock, counted);
        capture.sample(config.metering().sampling(), samplingSeed, captures.size());
        return capture;
    }

    /** {@return the capture stages: one for files, one per shard for live sources} */
    List<CaptureAgent> captures() {
        return captures;
    }

    /** {@return the metering stages, one for each shard} */
    List<MeteringAgent> meterings() {
        return meterings;
    }

    /** {@return the delay stages, one for each shard, of which the first speaks for all; empty without delay measurement} */
    List<DelayStage> delayStages() {
        return delayStages;
    }

    /** {@return the watches that select flows, one for each shard; empty for none} */
    List<FlowWatch> watches() {
        return watches;
    }

    /** {@return the stages of each thread, in packet order} */
    List<Stage[]> threads() {
        final List<Stage[]> threads = new ArrayList<>();
        if (!isLive) {
            threads.add(new Stage[]{captures.get(0)});
        }
        for (int i = 0; i < meterings.size(); i++) {
            threads.add(isLive ? new Stage[]{captures.get(i), meterings.get(i)} : new Stage[]{meterings.get(i)});
        }
        return threads;
    }
}
