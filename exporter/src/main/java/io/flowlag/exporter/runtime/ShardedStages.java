package io.flowlag.exporter.runtime;

import io.flowlag.exporter.capture.CaptureClock;
import io.flowlag.exporter.capture.PacketSource;
import io.flowlag.exporter.config.ExporterConfig;
import io.flowlag.exporter.delay.DelayWiring;
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
import io.flowlag.exporter.pipeline.ReferenceRecognizer;
import io.flowlag.exporter.pipeline.ShardRings;
import io.flowlag.exporter.pipeline.Stage;
import io.flowlag.exporter.pipeline.StageRing;
import io.flowlag.exporter.status.Counters;
import io.flowlag.exporter.status.PipelineLatency;

import java.util.ArrayList;
import java.util.List;

/**
 * The stages before exporting in sharded mode. For files, one capture stage distributes packets to the metering stages over
 * rings, by flow. Live, the kernel distributes them to the sources: each shard has capture and metering on one thread. Shards
 * share nothing; all packets of a flow go to the same one. Made by the conductor; allocates at construction.
 */
final class ShardedStages {
    private final ExporterConfig config;
    private final boolean isLive;
    private final CaptureClock clock;
    private final long samplingSeed;
    private final List<CaptureAgent> captures = new ArrayList<>();
    private final List<MeteringAgent> meterings = new ArrayList<>();
    private final List<FlowWatch> watches = new ArrayList<>();

    /**
     * The stages of all shards.
     *
     * @param config      sizes, timeouts, and how many shards.
     * @param sources     owned by the stages from now on; live, those of the first shard, then those of the next.
     * @param clock       of live sources, or of files.
     * @param packetRings one to each metering stage; live none.
     * @param recordRings one from each metering stage.
     * @param latency     each shard has a share of it; null for none.
     * @param counters    of the process; each shard has a share of them.
     */
    ShardedStages(
        final ExporterConfig config,
        final List<? extends PacketSource> sources,
        final CaptureClock clock,
        final List<StageRing> packetRings,
        final List<StageRing> recordRings,
        final PipelineLatency latency,
        final Counters counters) {
        this.config = config;
        this.clock = clock;
        samplingSeed = MeteringPipeline.flowKey(config).hashSeed();
        isLive = clock.isLive();
        final int shardCount = recordRings.size();
        for (int i = 0; i < shardCount; i++) {
            final Counters share = counters.share();
            final MeteringAgent metering = metering(
                i, isLive ? StageRing.unused() : packetRings.get(i), recordRings.get(i), share);
            meterings.add(metering);
            if (isLive) {
                metering.time(latency.share());
                captures.add(capture(sourcesOf(i, shardCount, sources), metering, share));
                captures.get(i).roleName("capture-" + i);
            }
        }
        if (!isLive) {
            final List<DescriptorRing> rings = packetRings.stream().map((ring) -> new DescriptorRing(ring, counters)).toList();
            final ShardSelector selector = new ShardSelector(MeteringPipeline.flowKey(config), config.shardCount());
            captures.add(capture(sources, new ShardRings(rings, selector), counters));
        }
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
        final int shard, final StageRing packetRing, final StageRing recordRing, final Counters share) {
        final FlowRecordRing exportSink = new FlowRecordRing(recordRing, share);
        final FlowWatch watch = MeteringPipeline.watch(config, isLive, exportSink);
        final FlowRecordSink sink = watch == null ? exportSink : watch;
        final FlowCache cache = new FlowCache(
            MeteringPipeline.cacheSettings(config, 0, 0, FlowCacheSettings.Snapshots.NONE, shard), sink, share);
        final MeteringAgent metering =
            new MeteringAgent(cache, packetRing, () -> captureOf(shard).isEnded(), clock, share);
        metering.roleName("metering-" + shard);
        metering.records(recordRing);
        if (watch != null) {
            watch.watch(cache, (entry, offset) -> null);
            metering.watch(watch);
            watches.add(watch);
        }
        return metering;
    }

    private CaptureAgent captureOf(final int shard) {
        return captures.get(isLive ? shard : 0);
    }

    private CaptureAgent capture(
        final List<? extends PacketSource> sources, final DescriptorHandler next, final Counters counted) {
        final CaptureAgent capture = new CaptureAgent(
            sources, MeteringPipeline.decoder(config, isLive, DelayWiring.NONE, counted), next, ReferenceRecognizer.NONE, false,
            clock, counted);
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
