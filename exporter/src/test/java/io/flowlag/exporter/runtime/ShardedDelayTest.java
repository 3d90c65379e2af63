package io.flowlag.exporter.runtime;

import io.flowlag.exporter.capture.CaptureClock;
import io.flowlag.exporter.capture.PacketSource;
import io.flowlag.exporter.checkpoint.Checkpoint;
import io.flowlag.exporter.config.ConfigLoader;
import io.flowlag.exporter.config.ExporterConfig;
import io.flowlag.exporter.config.ExporterConfig.Role;
import io.flowlag.exporter.delay.ClockError;
import io.flowlag.exporter.delay.DelayStage;
import io.flowlag.exporter.delay.DelayWiring;
import io.flowlag.exporter.delay.FlowDelay;
import io.flowlag.exporter.delay.ReferenceMode;
import io.flowlag.exporter.flow.FlowEntry;
import io.flowlag.exporter.pipeline.CaptureAgent;
import io.flowlag.exporter.pipeline.MeteringAgent;
import io.flowlag.exporter.pipeline.StageRing;
import io.flowlag.exporter.status.AccountingIdentity;
import io.flowlag.exporter.status.CounterId;
import io.flowlag.exporter.status.Counters;
import io.flowlag.exporter.status.DelayHistogram;
import io.flowlag.exporter.status.DelayStatistics;
import io.flowlag.exporter.status.DelaySummary;
import io.flowlag.exporter.status.IntervalDelays;
import io.flowlag.exporter.status.PipelineLatency;
import io.flowlag.rli.counters.DelayCounters;
import io.flowlag.rli.reference.ReferenceSession;
import org.agrona.DirectBuffer;
import org.agrona.concurrent.Agent;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.List;
import java.util.Map;
import java.util.SplittableRandom;
import java.util.TreeMap;
import java.util.stream.IntStream;
import java.util.stream.Stream;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

/**
 * A receiver of references in several shards says what one thread says. The stages of all shards are worked in an order from a
 * seed, each with the packets that a hash of their flow gives it, as the kernel would.
 */
class ShardedDelayTest {
    private static final long MS = 1_000_000;
    private static final long START_NS = 1_700_000_000_000L * MS;
    private static final long SECOND_NS = 1_000 * MS;
    private static final long INTERVAL_NS = SECOND_NS;
    private static final long TRAFFIC_NS = 2 * SECOND_NS;
    /** References come so long before packets, so that the first packets have a left one. */
    private static final long LEAD_NS = 300 * MS;
    private static final int SENDER_ADDRESS = 0x0A00_0001;
    private static final int HOST = 0x0A00_0002;
    private static final int FLOWS = 40;
    private static final long SPEED = 8;
    /** Of packets between two references, at most. */
    private static final int ESTIMATES_OF_A_FLOW = 20;
    private static final int SEEDS = Integer.getInteger("flowlag.sharded.seeds", 2);
    private static final long PACKET_GAP_NS = 200_000;
    private static final long REFERENCE_GAP_NS = 5 * MS;
    private static final ReferenceSession SESSION = ReferenceSession.unauthenticated(1);
    private static final DelayWiring RECEIVER = new DelayWiring(
        Role.RECEIVER, new DelayWiring.References(ReferenceMode.SENT, List.of(SESSION)), ClockError.fixed(50), true, false, false,
        false);
    /** Of flows with a bound, which is for 95 %. */
    private static final double LEAST_HELD = 0.9;
    /** NTP timestamps have steps of 0.23 ns, and each of two references is rounded. */
    private static final long ROUNDING_NS = 2;

    private long nowNs = START_NS;
    private final CaptureClock clock = () -> nowNs;

    /** A frame, and the flow that decides its shard. */
    private record Frame(long arrivalNs, int flow, byte[] octets) implements ClockedSource.Arrival {
    }

    /** What a run said: records by flow without bounds, means and bounds by flow, counters, statistics. */
    private record Said(
        List<String> records, Map<Integer, long[]> bounds, Map<CounterId, Long> counters, DelayStatistics statistics,
        List<DelayHistogram> histograms, List<List<IntervalDelays>> intervals) {
    }

    private static ExporterConfig config(final int shardCount, final String... lines) {
        return new ConfigLoader().text("test", (shardCount == 0 ? "threading: invoker\n" :
            "threading: sharded\npipeline: {shards: " + shardCount + "}\n") +
            "segment: {role: receiver, id: 5, max-delay: 50ms, interval: 1s}\n" +
            (lines.length > 0 ? lines[0] : "metering: {max-flows: 4k, active-timeout: 1h, idle-timeout: 1h}\n")).conclude();
    }

    /** Grows and shrinks, so that a reference in the wrong place changes the estimates. */
    private static long delayNs(final long arrivalNs) {
        return 10 * MS + Math.round(3 * MS * Math.sin((arrivalNs - START_NS) / (double)(170 * MS)));
    }

    private static int shardOf(final int flow, final long seed, final int shardCount) {
        return new SplittableRandom(31 * seed + flow).nextInt(shardCount);
    }

    private static List<Frame> traffic(final long seed) {
        final SplittableRandom random = new SplittableRandom(seed);
        final ScriptedPoint.Sender sender = new ScriptedPoint.Sender(SESSION, SENDER_ADDRESS);
        final List<Frame> frames = new ArrayList<>();
        for (long atNs = START_NS; atNs < START_NS + LEAD_NS + TRAFFIC_NS; atNs += REFERENCE_GAP_NS) {
            if (random.nextInt(20) > 0) {
                frames.add(new Frame(atNs, -1, sender.reference(atNs - delayNs(atNs))));
            }
        }
        for (long atNs = START_NS + LEAD_NS; atNs < START_NS + LEAD_NS + TRAFFIC_NS; atNs += PACKET_GAP_NS) {
            final int flow = random.nextInt(1 + random.nextInt(FLOWS));
            frames.add(new Frame(
                atNs + random.nextInt(100), flow,
                ScriptedPoint.frame(HOST, 1000 + flow, 53, new byte[20 + random.nextInt(400)])));
        }
        frames.sort(Comparator.comparingLong(Frame::arrivalNs));
        return frames;
    }

    /** Records as text, with all that references gave but the bound. */
    private static final class DelayRecords extends TakingDestination {
        private final List<String> records = new ArrayList<>();
        private final Map<Integer, long[]> bounds = new TreeMap<>();

        @Override
        protected void onRecord(final DirectBuffer entry, final int offset) {
            final int delay = offset + FlowEntry.BASE_LENGTH_BYTES;
            final StringBuilder text = new StringBuilder();
            for (int i = 0; i < DelayCounters.LENGTH_BYTES; i += Long.BYTES) {
                text.append(' ').append(entry.getLong(delay + i));
            }
            records.add(FlowEntry.sourcePort(entry, offset) + " " + FlowEntry.startNs(entry, offset) + " " +
                FlowEntry.endNs(entry, offset) + " " + FlowEntry.packetCount(entry, offset) + " " +
                FlowEntry.octetCount(entry, offset) + " " + FlowDelay.estimator(entry, delay) + text);
            if (FlowDelay.has(entry, delay, FlowDelay.FLAG_ERROR_BOUND)) {
                bounds.put(FlowEntry.sourcePort(entry, offset), new long[]{
                    DelayCounters.meanNs(entry, delay), FlowDelay.errorBoundNs(entry, delay)});
            }
        }
    }

    private Said said(final DelayRecords list, final Counters counters, final DelayStage stage) {
        assertEquals(0, AccountingIdentity.unexplainedCaptured(counters));
        assertEquals(0, AccountingIdentity.unexplainedDecoded(counters));
        final DelayStatistics statistics = stage.statistics();
        assertTrue(statistics.isAccountedFor(), statistics.unexplained()::toString);
        final Map<CounterId, Long> values = new TreeMap<>();
        for (final CounterId id : CounterId.values()) {
            // Records are counted by the exporting stage, which the shards here have not.
            if (id != CounterId.RECORDS_TAKEN) {
                values.put(id, counters.get(id));
            }
        }
        final List<List<IntervalDelays>> intervals = new ArrayList<>();
        for (long i = 0; i < stage.intervalCount(); i++) {
            intervals.add(stage.interval(i));
        }
        return new Said(
            list.records.stream().sorted().toList(), list.bounds, values, statistics, stage.histograms(), intervals);
    }

    private Said byOneThread(final List<Frame> frames, final String... lines) {
        nowNs = START_NS;
        final Counters counters = new Counters();
        final DelayRecords list = new DelayRecords();
        try (MeteringPipeline pipeline = new MeteringPipeline(
            config(0, lines), List.of(new ClockedSource(frames, START_NS + LEAD_NS + TRAFFIC_NS, clock)), clock, RECEIVER, null,
            List.of(list), counters, Pipelines::fail)) {
            while (!pipeline.isEnded()) {
                nowNs += MS;
                for (int i = 0; i < 4; i++) {
                    pipeline.doWork();
                }
            }
            return said(list, counters, pipeline.delayStage());
        }
    }

    /** Shards whose stages are worked from a seed; a hanging one is left out for a while. */
    private final class Shards {
        private final SplittableRandom random;
        private final Counters counters = new Counters();
        private final DelayRecords list = new DelayRecords();
        private final List<StageRing> records;
        private final List<Checkpoint> checkpoints;
        private final ShardedStages stages;

        Shards(final long seed, final int shardCount, final List<Frame> frames, final String... lines) {
            this(seed, frames, config(shardCount, lines), List.of());
        }

        Shards(
            final long seed, final List<Frame> frames, final ExporterConfig config, final List<Checkpoint> checkpoints) {
            this.checkpoints = checkpoints;
            final int shardCount = config.shardCount();
            random = new SplittableRandom(seed);
            final List<List<Frame>> parts = Stream.generate(() -> (List<Frame>)new ArrayList<Frame>()).limit(shardCount).toList();
            frames.forEach((each) ->
                parts.get(shardOf(each.flow, seed, shardCount)).add(each));
            final long lastNs = START_NS + LEAD_NS + TRAFFIC_NS;
            final List<PacketSource> sources = parts.stream().<PacketSource>map((each) ->
                new ClockedSource(each, lastNs + random.nextInt(50) * MS, clock)).toList();
            records = Stream.generate(() -> new StageRing(1 << 20, false)).limit(shardCount).toList();
            stages = new ShardedStages(
                config, sources, clock, RECEIVER, new ShardedStages.Rings(List.of(), records), checkpoints,
                new PipelineLatency(), counters);
            stages.meterings().forEach(Agent::onStart);
        }

        /** Works some of the shards, each from capture on. Returns whether all have ended. */
        private boolean work(final int hanging) {
            nowNs += 1 + random.nextLong(2 * MS);
            for (int i = 0; i < records.size(); i++) {
                final int shard = random.nextInt(records.size());
                if (shard != hanging) {
                    work(stages.captures().get(shard), stages.meterings().get(shard));
                }
            }
            checkpoints.forEach(Checkpoint::doWork);
            records.forEach((ring) -> ring.read((type, buffer, index, length) -> list.onRecord(buffer, index), 1 << 10));
            return stages.meterings().stream().allMatch(MeteringAgent::isEnded) && records.stream().allMatch(StageRing::isEmpty);
        }

        private void work(final CaptureAgent capture, final MeteringAgent metering) {
            capture.doWork();
            metering.doWork();
        }

        private DelayStage stage() {
            return stages.delayStages().get(0);
        }
    }

    private Said byShards(final long seed, final int shardCount, final List<Frame> frames, final String... lines) {
        nowNs = START_NS;
        final Shards shards = new Shards(seed, shardCount, frames, lines);
        while (!shards.work(-1)) {
            assertTrue(nowNs < START_NS + 60 * SECOND_NS, "the shards do not end");
        }
        return said(shards.list, shards.counters, shards.stage());
    }

    private static void assertEqualSummaries(final List<DelaySummary> expected, final List<DelaySummary> summaries) {
        assertEquals(expected.size(), summaries.size());
        for (int i = 0; i < expected.size(); i++) {
            assertEquals(expected.get(i).estimates(), summaries.get(i).estimates());
            assertEquals(expected.get(i).references(), summaries.get(i).references());
            assertEquals(expected.get(i).lostReferences(), summaries.get(i).lostReferences());
        }
    }

    @Test
    void shouldSayWhatOneThreadSays() {
        for (long seed = 1; seed <= SEEDS; seed++) {
            final List<Frame> frames = traffic(seed);
            final Said expected = byOneThread(frames);
            assertHeld(frames, expected, "one thread, seed " + seed);
            assertSaid(expected, frames, seed, 1);
            assertSaid(expected, frames, seed, 2);
            assertSaid(expected, frames, seed, 4);
        }
    }

    private void assertSaid(final Said expected, final List<Frame> frames, final long seed, final int shardCount) {
        final String what = "seed " + seed + ", " + shardCount + " shards";
        final Said said = byShards(seed, shardCount, frames);
        assertEquals(expected.records(), said.records(), what);
        assertEquals(expected.counters(), said.counters(), what);
        assertEquals(expected.statistics().counters(), said.statistics().counters(), what);
        assertEquals(expected.statistics().clockErrorNs(), said.statistics().clockErrorNs());
        assertEqualSummaries(expected.statistics().total(), said.statistics().total());
        assertEquals(expected.histograms(), said.histograms(), what);
        assertTrue(expected.statistics().counters().get("rli_estimated") > 9_000, what);
        assertTrue(expected.bounds().size() > FLOWS / 2, "flows have a bound");
        assertEquals(expected.bounds().keySet(), said.bounds().keySet(), what);
        assertHeld(frames, said, what);
        assertEqualIntervals(expected, said, what);
    }

    /** A shard weights errors by its own packets, so its bounds differ; they hold as well. */
    private static void assertHeld(final List<Frame> frames, final Said said, final String what) {
        long heldCount = 0;
        for (final Map.Entry<Integer, long[]> each : said.bounds().entrySet()) {
            final double meanNs = frames.stream().filter((frame) -> 1000 + frame.flow == each.getKey())
                .mapToLong((frame) -> delayNs(frame.arrivalNs)).average().orElseThrow();
            heldCount += Math.abs(each.getValue()[0] - meanNs) <= each.getValue()[1] + ROUNDING_NS ? 1 : 0;
        }
        assertTrue(heldCount >= LEAST_HELD * said.bounds().size(), what + ": " + heldCount + " of " + said.bounds().size());
    }

    /** A shard that hangs delays the others' estimates, and does not stop them; what comes when it goes on is accounted for. */
    @Test
    void shouldGoOnWhileAShardHangs() {
        nowNs = START_NS;
        final Shards shards = new Shards(7, 3, traffic(7));
        // Not the one that receives the references.
        final int hanging = (shardOf(-1, 7, 3) + 1) % 3;
        while (nowNs < START_NS + LEAD_NS + SECOND_NS / 2) {
            shards.work(-1);
        }
        final long before = shards.stage().statistics().counters().get("rli_estimated");
        while (nowNs < START_NS + LEAD_NS + 3 * SECOND_NS / 2) {
            shards.work(hanging);
        }
        assertTrue(shards.stage().statistics().counters().get("rli_estimated") > before + 500, "the others go on");
        while (!shards.work(-1)) {
            assertTrue(nowNs < START_NS + 60 * SECOND_NS, "the shards do not end");
        }
        final Said said = said(shards.list, shards.counters, shards.stage());
        assertTrue(said.statistics().counters().get("rli_estimated") > 6_000, said.statistics()::toString);
    }

    /** A process ends without exporting its flows, while no packets come, and another goes on with the same files. */
    private List<String> recordsOfTwoLives(final int shardCount, final Path directory) throws IOException {
        final long crashNs = START_NS + LEAD_NS + SECOND_NS;
        final List<Frame> frames = traffic(13).stream()
            .filter((each) -> each.flow < 0 || each.arrivalNs < crashNs - SECOND_NS / 2 || each.arrivalNs > crashNs + LEAD_NS)
            .toList();
        final Path file = directory.resolve("flows");
        final ExporterConfig config = config(shardCount, "metering: {max-flows: 4k, active-timeout: 1h, " +
            "idle-timeout: 1h}\ncheckpoint: {interval: 100ms, file: " + file + "}\n");
        nowNs = START_NS;
        final Shards life = new Shards(13, frames, config, open(file, config));
        while (nowNs < crashNs) {
            life.work(-1);
        }
        life.checkpoints.forEach(Checkpoint::onClose);
        final Shards next = new Shards(
            13, frames.stream().filter((each) -> each.arrivalNs > crashNs).toList(), config, open(file, config));
        while (!next.work(-1)) {
            assertTrue(nowNs < START_NS + 60 * SECOND_NS, "the shards do not end");
        }
        assertTrue(next.counters.get(CounterId.FLOWS_TAKEN_UP) > FLOWS / 2, "flows are restored");
        next.checkpoints.forEach(Checkpoint::discard);
        next.checkpoints.forEach(Checkpoint::onClose);
        return next.list.records.stream().sorted().toList();
    }

    private static List<Checkpoint> open(final Path file, final ExporterConfig config) throws IOException {
        return Checkpoint.openShards(
            file, config.shardCount(), config.metering().maxFlows(), DelayStage.stateLengthBytes(RECEIVER), new Counters());
    }

    /** A record up to its delays. */
    private static String counts(final String record) {
        return String.join(" ", List.of(record.split(" ")).subList(0, 6));
    }

    private static long estimated(final String record) {
        return Long.parseLong(record.split(" ")[6]);
    }

    @Test
    void shouldGoOnAfterACrashAsOneThreadDoes(@TempDir final Path directory) throws IOException {
        final List<String> expected = recordsOfTwoLives(1, directory);
        final List<String> records = recordsOfTwoLives(2, directory);
        assertEquals(expected.stream().map(ShardedDelayTest::counts).toList(),
            records.stream().map(ShardedDelayTest::counts).toList());
        for (int i = 0; i < expected.size(); i++) {
            // The last copy of a flow may be older than the last estimates of its packets.
            assertEquals(estimated(expected.get(i)), estimated(records.get(i)), ESTIMATES_OF_A_FLOW, expected.get(i));
        }
        Files.createFile(directory.resolve("flows.0-2"));
        for (final int shardCount : new int[] {1, 3}) {
            final IOException refusal =
                assertThrows(IOException.class, () -> open(directory.resolve("flows"), config(shardCount)));
            assertTrue(refusal.getMessage().contains("flows.0-2 has flows of a process with pipeline.shards 2"),
                refusal::getMessage);
        }
    }

    /** On threads, by a clock that runs fast, as many. */
    @Test
    void shouldSayTheSameOnThreads() {
        final List<Frame> frames = traffic(5);
        final Said expected = byOneThread(frames);
        final long beginNs = System.nanoTime();
        final CaptureClock fast = () -> START_NS + SPEED * (System.nanoTime() - beginNs);
        final List<List<Frame>> parts =
            IntStream.range(0, 2).mapToObj((i) -> frames.stream().filter((each) -> (each.flow & 1) == i).toList()).toList();
        final Counters counters = new Counters();
        final DelayRecords list = new DelayRecords();
        final long lastNs = START_NS + LEAD_NS + TRAFFIC_NS;
        try (MeteringPipeline pipeline = new MeteringPipeline(
            config(2), parts.stream().map((each) -> new ClockedSource(each, lastNs, fast)).toList(), fast, RECEIVER, null,
            List.of(list), counters, Pipelines::fail)) {
            Pipelines.runToEnd(pipeline);
            final Said said = said(list, counters, pipeline.delayStage());
            assertEquals(0, said.counters().get(CounterId.DROPPED_AT_RECORD_RING));
            assertEquals(
                expected.statistics().counters().get("rli_packets"), said.statistics().counters().get("rli_packets"));
            assertEquals(expected.statistics().counters().get("rli_references"),
                said.statistics().counters().get("rli_references"));
        }
    }

    /** Estimates come later with shards, so records that a timeout cuts may miss a few of their last packets; none is wrong. */
    @Test
    void shouldCountWhatComesAfterARecordWasCut() {
        final String timeouts = "metering: {max-flows: 4k, active-timeout: 500ms, idle-timeout: 100ms}\n";
        final List<Frame> frames = traffic(11);
        final DelayStatistics one = byOneThread(frames, timeouts).statistics();
        final DelayStatistics shards = byShards(11, 2, frames, timeouts).statistics();
        assertEquals(one.counters().get("rli_packets"), shards.counters().get("rli_packets"));
        assertEquals(
            one.counters().get("rli_estimated") + one.counters().get("rli_flow_ended"),
            shards.counters().get("rli_estimated") + shards.counters().get("rli_flow_ended"));
        assertTrue(shards.counters().get("rli_flow_ended") < one.counters().get("rli_packets") / 20, shards::toString);
    }

    /** Estimates count when they are known, which is a little later with shards. */
    private static void assertEqualIntervals(final Said expected, final Said said, final String what) {
        assertEquals(expected.intervals().size(), said.intervals().size(), what);
        for (int i = 0; i < expected.intervals().size(); i++) {
            final IntervalDelays one = expected.intervals().get(i).get(0);
            final IntervalDelays other = said.intervals().get(i).get(0);
            assertEquals(one.summary().startNs(), other.summary().startNs(), what);
            assertEquals(one.packets(), other.packets(), what);
            assertEquals(one.estimatesBoundNs() < 0, other.estimatesBoundNs() < 0, what);
        }
    }
}
