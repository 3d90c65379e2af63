package io.flowlag.exporter.runtime;

import io.flowlag.common.memory.OffHeapBuffer;
import io.flowlag.exporter.config.ConfigLoader;
import io.flowlag.exporter.config.ConfigTable;
import io.flowlag.exporter.config.ExporterConfig;
import io.flowlag.exporter.config.ExporterConfig.Role;
import io.flowlag.exporter.config.ExporterConfig.Threading;
import io.flowlag.exporter.delay.CaptureFacts;
import io.flowlag.exporter.delay.ClockError;
import io.flowlag.exporter.delay.DelayWiring;
import io.flowlag.exporter.delay.ReferenceMode;
import io.flowlag.exporter.lab.GeneratedTraffic;
import io.flowlag.exporter.lab.TrafficProfile;
import io.flowlag.exporter.monitoring.Observer;
import io.flowlag.exporter.monitoring.top.FlowRanking;
import io.flowlag.exporter.status.Counters;
import io.flowlag.exporter.status.PipelineLatency;
import io.flowlag.rli.reference.ReferenceSession;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

import java.lang.management.BufferPoolMXBean;
import java.lang.management.ManagementFactory;
import java.util.ArrayList;
import java.util.List;
import java.util.stream.Stream;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

@Timeout(120)
class MemoryBoundTest {
    private static final DelayWiring BOTH = new DelayWiring(
        Role.BOTH, DelayWiring.References.MARKED, ClockError.NONE, true, true, false, false);
    private static final DelayWiring RECEIVER = new DelayWiring(
        Role.RECEIVER, new DelayWiring.References(ReferenceMode.SENT, List.of()), ClockError.NONE, true, false, false, false);
    /** Batches and counters of fixed size. */
    private static final long SLACK_BYTES = 64 * 1024;
    private static final int MAXIMUM_COLLECTIONS = 100;
    private static final int THROWN_AWAY_BYTES = 4096;
    private static final int DESCRIPTOR_BYTES = 112;
    private static final int BUFFERED_PACKET_BYTES = 32;
    /** The index of half of the packets that matching remembers by default, while a larger one is made. */
    private static final int HALF_INDEX_BYTES = 8 << 20;

    private static ExporterConfig config(final String... options) {
        final ConfigLoader loader = new ConfigLoader().option("--threading", ConfigTable.THREADING, List.of("pipelined"));
        for (int i = 0; i < options.length; i += 2) {
            loader.option("--set", ConfigTable.key(options[i]), List.of(options[i + 1].split(",")));
        }
        final ExporterConfig config = loader.conclude();
        return config.with(config.joint().on());
    }

    static long directBytes() {
        return OffHeapBuffer.untouchedBytes() + ManagementFactory.getPlatformMXBeans(BufferPoolMXBean.class).stream()
            .filter((pool) -> "direct".equals(pool.getName())).mapToLong(BufferPoolMXBean::getMemoryUsed).sum();
    }

    /** Garbage of other tests is gone: several times, a small buffer is freed that was thrown away, and nothing else. */
    static long settledDirectBytes() {
        long bytes = directBytes();
        int unchanged = 0;
        for (int i = 0; i < MAXIMUM_COLLECTIONS && unchanged < 3; i++) {
            OffHeapBuffer.allocateUntouched(THROWN_AWAY_BYTES);
            System.gc();
            while (directBytes() > bytes) {
                Thread.onSpinWait();
            }
            final long nowBytes = directBytes();
            unchanged = nowBytes == bytes ? unchanged + 1 : 0;
            bytes = nowBytes;
        }
        return bytes;
    }

    @Test
    void shouldBoundWhatTheStagesTakeOutsideTheHeap() {
        final ExporterConfig config = config("metering.max-flows", "64k", "segment.exact-packets", "128k");
        final long beforeBytes = settledDirectBytes();
        try (MeteringPipeline pipeline = new MeteringPipeline(
            config, List.of(new GeneratedTraffic(TrafficProfile.demo()), new GeneratedTraffic(TrafficProfile.demo())), false,
            BOTH, List.of(), new Counters(), (throwable) -> { })) {
            final long takenBytes = directBytes() - beforeBytes;
            final long boundBytes = MemoryPlan.tableBytes(config, BOTH, false);
            assertTrue(takenBytes <= boundBytes + SLACK_BYTES, takenBytes + " taken, bound " + boundBytes);
            assertTrue(takenBytes > MemoryPlan.tableBytes(config, DelayWiring.NONE, false),
                "the delay stage takes memory of its own");
            assertTrue(!pipeline.isEnded());
        }
    }

    @ParameterizedTest
    @ValueSource(booleans = {false, true})
    void shouldBoundWhatEveryShardTakes(final boolean isLive) {
        final ExporterConfig config =
            Pipelines.config(Threading.SHARDED, "pipeline.shards", "3", "metering.max-flows", "64k");
        final List<GeneratedTraffic> sources = new ArrayList<>();
        for (int i = 0; i < (isLive ? 3 : 1); i++) {
            sources.add(new GeneratedTraffic(TrafficProfile.demo()));
        }
        final long beforeBytes = settledDirectBytes();
        try (MeteringPipeline pipeline = new MeteringPipeline(
            config, sources, isLive, DelayWiring.NONE, List.of(), new Counters(), (throwable) -> { })) {
            final long takenBytes = directBytes() - beforeBytes;
            final long boundBytes = MemoryPlan.tableBytes(config, DelayWiring.NONE, isLive);
            assertTrue(takenBytes <= boundBytes + SLACK_BYTES, takenBytes + " taken, bound " + boundBytes);
            assertTrue(takenBytes >= 3 * (isLive ? 8 << 20 : 16 << 20), takenBytes + ": rings of each shard");
            assertTrue(!pipeline.isEnded());
        }
    }

    @Test
    void shouldBoundWhatEveryShardsDelaysTake() {
        final ExporterConfig config = Pipelines.config(
            Threading.SHARDED, "pipeline.shards", "3", "metering.max-flows", "64k", "segment.role", "receiver");
        final DelayWiring receiver = new DelayWiring(
            Role.RECEIVER, new DelayWiring.References(ReferenceMode.SENT, List.of(ReferenceSession.unauthenticated(1))),
            ClockError.NONE, true, false, false, false);
        final List<GeneratedTraffic> sources =
            Stream.generate(() -> new GeneratedTraffic(TrafficProfile.demo())).limit(3).toList();
        final long beforeBytes = settledDirectBytes();
        try (MeteringPipeline pipeline = new MeteringPipeline(
            config, sources, true, receiver, List.of(), new Counters(), (throwable) -> { })) {
            final long takenBytes = directBytes() - beforeBytes;
            final long boundBytes = MemoryPlan.tableBytes(config, receiver, true);
            assertTrue(takenBytes <= boundBytes + SLACK_BYTES, takenBytes + " taken, bound " + boundBytes);
            assertTrue(boundBytes > MemoryPlan.tableBytes(config, DelayWiring.NONE, true) + (15 << 20), "quantiles");
            assertTrue(!pipeline.isEnded());
        }
    }

    /** One flow in sixteen is matched with less memory, however many packets are under way. */
    @Test
    void shouldTakeLessWhereFewerFlowsAreMatched() {
        final ExporterConfig config = config("segment.exact-packets", "1k", "metering.max-flows", "256k");
        final DelayWiring matched = new DelayWiring(
            Role.BOTH, DelayWiring.References.NONE, ClockError.NONE, false, true, true, false);
        final DelayWiring part = matched.withCaptures(CaptureFacts.NONE.matchingOneIn(16));
        final long savedBytes =
            MemoryPlan.tableBytes(config, matched, false) - MemoryPlan.tableBytes(config, part, false);
        assertTrue(savedBytes > 200_000 * 192L, savedBytes + " of 256k flows of 192 octets and more");
        final long beforeBytes = settledDirectBytes();
        try (MeteringPipeline pipeline = new MeteringPipeline(
            config, List.of(new GeneratedTraffic(TrafficProfile.demo()), new GeneratedTraffic(TrafficProfile.demo())), false,
            part, List.of(), new Counters(), (throwable) -> { })) {
            final long takenBytes = directBytes() - beforeBytes;
            assertTrue(takenBytes <= MemoryPlan.tableBytes(config, part, false) + SLACK_BYTES, takenBytes + " taken");
            assertTrue(!pipeline.isEnded());
        }
    }

    @Test
    void shouldGrowWithEveryPieceOfTheDelayStage() {
        final long leastBytes = MemoryPlan.tableBytes(config("rli.buffer", "1k"), RECEIVER, true);

        assertEquals(leastBytes + 1024L * BUFFERED_PACKET_BYTES,
            MemoryPlan.tableBytes(config("rli.buffer", "2k"), RECEIVER, true));
        assertTrue(MemoryPlan.tableBytes(config("rli.buffer", "1k", "rli.classes", "0,46"), RECEIVER, true) >
            leastBytes + 1024L * BUFFERED_PACKET_BYTES + 1_000_000, "a second class has a buffer and distributions");
        assertTrue(MemoryPlan.tableBytes(config(), BOTH, false) -
            MemoryPlan.tableBytes(config("segment.exact-packets", "1k"), BOTH, false) > 1023 * 1024 * 2 * Long.BYTES,
            "packets under way");
        assertEquals((65536 - 1024) * 2L * DESCRIPTOR_BYTES + PipelineLatency.memoryBytes() + HALF_INDEX_BYTES,
            MemoryPlan.tableBytes(config("status.enabled", "off"), BOTH, true) -
            MemoryPlan.tableBytes(config(), BOTH, false),
            "live sources wait for each other longer, their way is timed, and room for packets is taken as they come");
        assertEquals(7 * FlowRanking.memoryBytes(2048) + Observer.HOUR_BYTES,
            MemoryPlan.tableBytes(config("status.flows", "2k"), BOTH, true) -
            MemoryPlan.tableBytes(config("status.enabled", "off"), BOTH, true), "two sets of two, three to show, an hour");
    }
}
