package io.flowlag.exporter.runtime;

import io.flowlag.exporter.capture.CaptureClock;
import io.flowlag.exporter.capture.PacketHandler;
import io.flowlag.exporter.capture.PacketSource;
import io.flowlag.exporter.checkpoint.Checkpoint;
import io.flowlag.exporter.config.ConfigLoader;
import io.flowlag.exporter.config.ExporterConfig;
import io.flowlag.exporter.config.ExporterConfig.Role;
import io.flowlag.exporter.delay.ClockError;
import io.flowlag.exporter.delay.DelayStage;
import io.flowlag.exporter.delay.DelayWiring;
import io.flowlag.exporter.delay.FlowDelay;
import io.flowlag.exporter.delay.FlowSketch;
import io.flowlag.exporter.delay.ReferenceMode;
import io.flowlag.exporter.delay.SketchChange;
import io.flowlag.exporter.delay.interval.IntervalPoint;
import io.flowlag.exporter.delay.interval.records.IntervalMode;
import io.flowlag.exporter.delay.interval.records.IntervalSettings;
import io.flowlag.exporter.exchange.link.SharedSettings;
import io.flowlag.exporter.flow.FlowEntry;
import io.flowlag.exporter.pipeline.CaptureAgent;
import io.flowlag.exporter.pipeline.MeteringAgent;
import io.flowlag.exporter.pipeline.StageRing;
import io.flowlag.exporter.status.AccountingIdentity;
import io.flowlag.exporter.status.CounterId;
import io.flowlag.exporter.status.Counters;
import io.flowlag.exporter.status.DelayStatistics;
import io.flowlag.exporter.status.PipelineLatency;
import io.flowlag.rli.counters.DelayCounters;
import io.flowlag.rli.reference.ReferenceSession;
import org.agrona.DirectBuffer;
import org.agrona.concurrent.Agent;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.SplittableRandom;
import java.util.TreeMap;
import java.util.stream.Collectors;
import java.util.stream.IntStream;
import java.util.stream.Stream;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

/**
 * A receiver of sketches in several shards says what one thread says. The stages of all shards are worked in an order from a
 * seed, each with the packets that a hash of their flow gives it, as the kernel would; the sender answers at once.
 */
class ShardedSketchTest {
    private static final long MS = 1_000_000;
    private static final long INTERVAL_NS = 400 * MS;
    private static final long START_NS = 4_250_000_000L * INTERVAL_NS + 70 * MS;
    private static final long HOUR_NS = 3_600_000 * MS;
    private static final long TRAFFIC_NS = 3_000 * MS;
    /** References come so long before packets, so that the first packets have a left one. */
    private static final long LEAD_NS = 300 * MS;
    private static final long PACKET_GAP_NS = 500_000;
    private static final long REFERENCE_GAP_NS = 5 * MS;
    private static final int FLOWS = 60;
    private static final int HOST = 0x0A00_0002;
    private static final int SENDER_ADDRESS = 0x0A00_0001;
    private static final int SEEDS = Integer.getInteger("flowlag.sharded.seeds", 2);
    /** Sums of floating point are added in another order. */
    private static final long ROUNDING_NS = 2;
    private static final ReferenceSession SESSION = ReferenceSession.unauthenticated(1);
    private static final long SPEED = 8;
    private static final IntervalSettings.Room ROOM = new IntervalSettings.Room(4096, 1, 4096, 16);
    private static final String SKETCHES = "exchange: {mode: sketch, listen: 9, deadline: 1s}\n";
    private static final String SHORT_TIMEOUTS = "metering: {max-flows: 4k, active-timeout: 700ms, idle-timeout: 150ms}\n";
    private static final String LONG_TIMEOUTS = "metering: {max-flows: 4k, active-timeout: 1h, idle-timeout: 1h}\n";
    private static final String SHORT_FLOWS = SKETCHES + SHORT_TIMEOUTS;
    private static final String LONG_FLOWS = SKETCHES + LONG_TIMEOUTS;
    private static final String SUMS = "exchange: {mode: flows, listen: 9, deadline: 1s}\n";

    /** Other sketches in the middle. */
    private static final int OTHER_COLUMNS = 192;
    private static final long CHANGE_NS = START_NS - 70 * MS + 4 * INTERVAL_NS;

    private long nowNs;
    private final CaptureClock clock = () -> nowNs;

    /** A frame of a flow, or a reference; it may be lost on the way. */
    private record Frame(long sentNs, long arrivalNs, int flow, byte[] octets) implements ClockedSource.Arrival {
    }

    /** What a run said: by record what is to be equal, and the mean by references and sketches together; then counters. */
    private record Said(Map<String, long[]> records, Map<String, Long> counts, DelayStatistics statistics) {
    }

    private static ExporterConfig config(final int shardCount, final boolean isJoint, final int columns, final String others) {
        return new ConfigLoader().text("test", (shardCount == 0 ? "threading: invoker\n" :
            "threading: sharded\npipeline: {shards: " + shardCount + "}\n") +
            "segment: {role: receiver, id: 5, max-delay: 50ms, interval: 400ms}\n" +
            "lds: {enabled: on, rows: 2, columns: " + columns + ", witnesses: 0.5}\njoint: {enabled: " +
            (isJoint ? "on, wait: 50ms" : "off") + "}\nreconcile: {enabled: off}\n" + others).conclude();
    }

    private static long delayNs(final long sentNs) {
        return 10 * MS + Math.round(3 * MS * Math.sin((sentNs - START_NS) / (double)(170 * MS)));
    }

    private static int shardOf(final int flow, final long seed, final int shardCount) {
        return new SplittableRandom(31 * seed + flow).nextInt(shardCount);
    }

    /** Flows come and go; some packets are lost. */
    private static List<Frame> traffic(final long seed) {
        final SplittableRandom random = new SplittableRandom(seed);
        final ScriptedPoint.Sender sender = new ScriptedPoint.Sender(SESSION, SENDER_ADDRESS);
        final List<Frame> frames = new ArrayList<>();
        for (long atNs = START_NS; atNs < START_NS + LEAD_NS + TRAFFIC_NS; atNs += REFERENCE_GAP_NS) {
            frames.add(new Frame(atNs, atNs + delayNs(atNs), -1, sender.reference(atNs)));
        }
        for (long atNs = START_NS + LEAD_NS; atNs < START_NS + LEAD_NS + TRAFFIC_NS; atNs += PACKET_GAP_NS) {
            final int flow = (int)((atNs - START_NS) / (500 * MS)) * 7 + random.nextInt(1 + random.nextInt(FLOWS));
            final long sentNs = atNs + random.nextInt(100);
            frames.add(new Frame(
                sentNs, random.nextInt(150) == 0 ? Long.MAX_VALUE : sentNs + delayNs(sentNs) + flow * 10_000, flow,
                ScriptedPoint.frame(
                    HOST, 1000 + flow, 53, ByteBuffer.allocate(20 + random.nextInt(400)).putLong(sentNs).array())));
        }
        return frames;
    }

    /** A sender that answers at once, and changes its sketches. */
    private static final class Sender extends AnsweringSender {
        private IntervalPoint point;
        private IntervalPoint next;
        private long nextNs = Long.MAX_VALUE;
        private long toldNs = START_NS;
        private final ExporterConfig config;
        private final List<Frame> frames;
        private int position;

        Sender(final ExporterConfig config, final List<Frame> frames) {
            this(config, point(config, ROOM, START_NS), frames);
        }

        private Sender(final ExporterConfig config, final IntervalPoint first, final List<Frame> frames) {
            super(first, 1000 * MS);
            this.config = config;
            point = first;
            this.frames = frames.stream().filter((each) -> each.flow >= 0).toList();
        }

        void change(final ExporterConfig config, final long fromNs) {
            next = point(config, ROOM, fromNs);
            nextNs = fromNs;
        }

        void sendUntil(final long untilNs) {
            for (; position < frames.size() && ClockedSource.isDue(frames.get(position).sentNs, untilNs); position++) {
                final Frame frame = frames.get(position);
                point = frame.sentNs >= nextNs ? next : point;
                // The receiver restarts the sender after its clock was set back.
                assertTrue(send(point, frame.octets, frame.sentNs) || frame.sentNs < START_NS);
            }
            for (toldNs = Math.min(Math.max(toldNs, untilNs - HOUR_NS / 2), untilNs); toldNs < untilNs;) {
                toldNs = Math.min(untilNs, toldNs + INTERVAL_NS);
                (toldNs < nextNs ? point : next).advance(toldNs);
            }
        }

        @Override
        public IntervalMode mode() {
            return SharedSettings.intervalMode(config);
        }

        @Override
        public int mostFlows() {
            return SharedSettings.mostFlows(config);
        }

        @Override
        long sentCount() {
            return position;
        }
    }

    private DelayWiring wiring(final Sender sender, final boolean isJoint) {
        return new DelayWiring(Role.RECEIVER, isJoint ?
            new DelayWiring.References(ReferenceMode.SENT, List.of(SESSION)) : DelayWiring.References.NONE, ClockError.fixed(50),
            isJoint, false, false, true).withLink(sender);
    }

    private static ClockedSource source(final List<Frame> frames, final CaptureClock clock) {
        return new ClockedSource(frames.stream().filter((each) -> each.arrivalNs < Long.MAX_VALUE)
            .sorted(Comparator.comparing((Frame each) -> each.arrivalNs < START_NS).thenComparing(Frame::arrivalNs))
            .toList(), START_NS + LEAD_NS + TRAFFIC_NS + 100 * MS, clock);
    }

    /** Records as text, with all that sketches gave, and the mean of both together. */
    private static final class SketchedRecords extends TakingDestination {
        private final Map<String, long[]> records = new TreeMap<>();

        @Override
        protected void onRecord(final DirectBuffer entry, final int offset) {
            final int delay = offset + FlowEntry.BASE_LENGTH_BYTES;
            final int sketch = FlowDelay.sketchOffset(delay);
            final boolean hasMean = FlowDelay.has(entry, delay, FlowDelay.FLAG_SKETCH);
            final String text = FlowEntry.sourcePort(entry, offset) + " " + FlowEntry.startNs(entry, offset) + " " +
                FlowEntry.endNs(entry, offset) + " " + FlowEntry.packetCount(entry, offset) + " " +
                FlowEntry.octetCount(entry, offset) +
                (!hasMean ? "" : " mean " + FlowSketch.meanNs(entry, sketch) + " " + FlowSketch.meanPackets(entry, sketch) + " " +
                    FlowSketch.samples(entry, sketch) + " " + FlowSketch.usableCells(entry, sketch)) +
                (!FlowDelay.has(entry, delay, FlowDelay.FLAG_SKETCH_DEVIATION) ? "" :
                    " deviation " + Double.doubleToLongBits(FlowSketch.standardDeviationNs(entry, sketch))) +
                (!FlowDelay.has(entry, delay, FlowDelay.FLAG_LOSS) ? "" :
                    " lost " + FlowDelay.lostPackets(entry, delay) + " " + FlowDelay.lossKind(entry, delay)) +
                " estimates " + DelayCounters.count(entry, delay) + " " + DelayCounters.sumNs(entry, delay);
            records.put(text, new long[]{FlowSketch.jointPackets(entry, sketch), FlowSketch.jointMeanNs(entry, sketch)});
        }
    }

    private Said said(final SketchedRecords list, final Counters counters, final DelayStage stage) {
        assertEquals(0, AccountingIdentity.unexplainedCaptured(counters));
        assertEquals(0, AccountingIdentity.unexplainedDecoded(counters));
        final DelayStatistics statistics = stage.statistics();
        assertTrue(statistics.isAccountedFor(), statistics.unexplained()::toString);
        final Map<String, Long> counts = new TreeMap<>(statistics.counters());
        for (final CounterId id : CounterId.values()) {
            if (id != CounterId.RECORDS_TAKEN) {
                counts.put(id.label(), counters.get(id));
            }
        }
        // The errors behind bounds are weighted by shard; where the shards meet a little later, more records wait for that.
        counts.keySet().removeIf((each) ->
            each.matches("(lds|rli|joint)_(bounds|bounded|checked|vouched|held).*|lds_records_(waited|completed)|flows_ended.*"));
        return new Said(list.records, counts, statistics);
    }

    private Said byOneThread(final List<Frame> frames, final boolean isJoint, final boolean isChanged, final String others) {
        nowNs = START_NS;
        final Counters counters = new Counters();
        final SketchedRecords list = new SketchedRecords();
        final ExporterConfig config = config(0, isJoint, 256, others);
        final Sender sender = new Sender(config, frames);
        boolean isDone = !isChanged;
        try (MeteringPipeline pipeline = new MeteringPipeline(
            config, List.of(source(frames, clock)), clock, wiring(sender, isJoint), null, List.of(list), counters,
            Pipelines::fail)) {
            while (!pipeline.isEnded()) {
                nowNs += MS;
                sender.sendUntil(nowNs);
                if (!isDone && nowNs >= CHANGE_NS - INTERVAL_NS / 2) {
                    change(config(0, isJoint, OTHER_COLUMNS, others), sender, pipeline.delayStage());
                    isDone = true;
                }
                for (int i = 0; i < 4; i++) {
                    pipeline.doWork();
                }
            }
            return said(list, counters, pipeline.delayStage());
        }
    }

    private static void change(final ExporterConfig config, final Sender sender, final DelayStage stage) {
        sender.change(config, CHANGE_NS);
        stage.change(new SketchChange(config, CHANGE_NS, List.of(sender.next), true));
    }

    /** Shards whose stages are worked from a seed. */
    private final class Shards {
        private final SplittableRandom random;
        private final Counters counters = new Counters();
        private final SketchedRecords list = new SketchedRecords();
        private final Sender sender;
        private final List<Checkpoint> checkpoints;
        private final List<StageRing> records;
        private final ShardedStages stages;

        Shards(
            final long seed, final List<Frame> frames, final ExporterConfig config, final boolean isJoint,
            final List<Checkpoint> checkpoints) {
            final int shardCount = config.shardCount();
            random = new SplittableRandom(seed);
            sender = new Sender(config, frames);
            this.checkpoints = checkpoints;
            records = Stream.generate(() -> new StageRing(1 << 20, false)).limit(shardCount).toList();
            stages = new ShardedStages(
                config, sources(frames, seed, shardCount, clock), clock, wiring(sender, isJoint),
                new ShardedStages.Rings(List.of(), records), checkpoints, new PipelineLatency(), counters);
            stages.meterings().forEach(Agent::onStart);
        }

        /** Works some of the shards, each from capture on. Returns whether all have ended. */
        private boolean work() {
            assertTrue(nowNs < START_NS + 60_000 * MS, "the shards do not end");
            nowNs += 1 + random.nextLong(2 * MS);
            sender.sendUntil(nowNs);
            for (int i = 0; i < records.size(); i++) {
                final int shard = random.nextInt(records.size());
                stages.captures().get(shard).doWork();
                stages.meterings().get(shard).doWork();
            }
            checkpoints.forEach(Checkpoint::doWork);
            records.forEach((ring) -> ring.read((type, buffer, index, length) -> list.onRecord(buffer, index), 1 << 10));
            return stages.meterings().stream().allMatch(MeteringAgent::isEnded) && records.stream().allMatch(StageRing::isEmpty);
        }

        private DelayStage stage() {
            return stages.delayStages().get(0);
        }
    }

    private static List<PacketSource> sources(
        final List<Frame> frames, final long seed, final int shardCount, final CaptureClock clock) {
        return IntStream.range(0, shardCount).<PacketSource>mapToObj((shard) -> source(
            frames.stream().filter((each) -> shardOf(each.flow, seed, shardCount) == shard).toList(), clock)).toList();
    }

    private Said byShards(
        final long seed, final int shardCount, final List<Frame> frames, final boolean isJoint, final boolean isChanged,
        final String others) {
        nowNs = START_NS;
        final Shards shards = new Shards(seed, frames, config(shardCount, isJoint, 256, others), isJoint, List.of());
        boolean isDone = !isChanged;
        while (!shards.work()) {
            if (!isDone && nowNs >= CHANGE_NS - INTERVAL_NS / 2) {
                change(config(shardCount, isJoint, OTHER_COLUMNS, others), shards.sender, shards.stage());
                isDone = true;
            }
        }
        shards.stages.meterings().forEach(MeteringAgent::onClose);
        return said(shards.list, shards.counters, shards.stage());
    }

    /** {@return what one thread says of the last seed} */
    private Said assertSaid(final int seeds, final boolean isJoint, final boolean isChanged, final String others) {
        Said expected = null;
        for (long seed = 1; seed <= seeds; seed++) {
            final List<Frame> frames = traffic(seed);
            expected = byOneThread(frames, isJoint, isChanged, others);
            for (final int shardCount : new int[] {2, 4}) {
                assertSaid(expected, byShards(seed, shardCount, frames, isJoint, isChanged, others),
                    "seed " + seed + ", " + shardCount + " shards");
            }
        }
        return expected;
    }

    private static void assertSaid(final Said expected, final Said said, final String what) {
        assertEquals(others(expected, said), others(said, expected), what);
        // The solver has a thread, and less time than live where the machine is busy.
        final boolean isSolved = said.counts.get("joint_intervals_skipped") == 0;
        expected.counts.forEach((counter, count) -> {
            if (isSolved || !counter.startsWith("joint")) {
                assertEquals(count, said.counts.get(counter), () -> what + ": " + counter);
            }
        });
        expected.records.forEach((record, joint) -> {
            if (isSolved) {
                assertEquals(joint[0], said.records.get(record)[0], () -> what + ": " + record);
                assertEquals(joint[1], said.records.get(record)[1], ROUNDING_NS, () -> what + ": " + record);
            }
        });
    }

    /** Records that another run has not, by what is to be equal. */
    private static String others(final Said said, final Said other) {
        return said.records.keySet().stream().filter((each) -> !other.records.containsKey(each))
            .collect(Collectors.joining("\n"));
    }

    @Test
    void shouldCompareCellsOfShardsAsThoseOfOneThread() {
        assertSaid(SEEDS, false, false, LONG_FLOWS);
    }

    @Test
    void shouldCompareRecordsThatWaitAsOneThreadDoes() {
        assertSaid(SEEDS, false, false, SHORT_FLOWS);
    }

    @Test
    void shouldChangeSketchesInAllShardsAtOneInterval() {
        assertSaid(1, false, true, SHORT_FLOWS);
    }

    @Test
    void shouldSolveReferencesAndSketchesOfShardsAsOneThreadDoes() {
        assertSaid(1, true, false, LONG_FLOWS);
    }

    @Test
    void shouldCompareSumsOfShardsAsThoseOfOneThread() {
        for (final String timeouts : List.of(LONG_TIMEOUTS, SHORT_TIMEOUTS)) {
            final Said said = assertSaid(1, false, false, SUMS + timeouts);
            assertTrue(said.counts.get("lds_intervals_of_flows") > 4, "intervals are compared by sums");
            assertTrue(said.counts.get("lds_flows_exact") > 0, "flows without loss");
            assertTrue(said.counts.get("lds_flows_with_loss") > 0, "flows with loss");
        }
    }

    /** A process ends without exporting its flows, while no packets come, and another goes on with the same files. */
    private Map<String, long[]> recordsOfTwoLives(final int shardCount, final Path directory) throws IOException {
        final long crashNs = START_NS + LEAD_NS + TRAFFIC_NS / 2;
        final List<Frame> frames = traffic(13).stream()
            .filter((each) -> each.arrivalNs < crashNs - LEAD_NS || each.sentNs > crashNs + LEAD_NS).toList();
        final Path file = directory.resolve("flows");
        final ExporterConfig config =
            config(shardCount, false, 256, LONG_FLOWS + "checkpoint: {interval: 100ms, file: " + file + "}\n");
        nowNs = START_NS;
        final Shards life = new Shards(13, frames, config, false, open(file, config));
        while (nowNs < crashNs) {
            life.work();
        }
        life.checkpoints.forEach(Checkpoint::onClose);
        final Shards next = new Shards(
            13, frames.stream().filter((each) -> each.sentNs > crashNs).toList(), config, false, open(file, config));
        while (!next.work()) {
            assertTrue(nowNs < START_NS + 60_000 * MS, "the shards do not end");
        }
        assertTrue(next.counters.get(CounterId.FLOWS_TAKEN_UP) > 20, "flows are restored");
        assertTrue(next.stage().statistics().counters().get("lds_intervals") > 2, "intervals are compared");
        next.checkpoints.forEach(Checkpoint::discard);
        next.checkpoints.forEach(Checkpoint::onClose);
        return next.list.records;
    }

    private List<Checkpoint> open(final Path file, final ExporterConfig config) throws IOException {
        return Checkpoint.openShards(file, config.shardCount(), config.metering().maxFlows(),
            DelayStage.stateLengthBytes(wiring(new Sender(config, List.of()), false)), new Counters());
    }

    @Test
    void shouldGoOnAfterACrashAsOneShardDoes(@TempDir final Path directory) throws IOException {
        assertEquals(recordsOfTwoLives(1, directory).keySet(), recordsOfTwoLives(3, directory).keySet());
    }

    /** The clock is set back by an hour, which each shard sees at another moment. */
    @Test
    void shouldGoOnAfterTheClockWasSetBack() {
        final long stepNs = START_NS + LEAD_NS + TRAFFIC_NS / 2;
        final List<Frame> before = traffic(3).stream().filter((each) -> each.sentNs < stepNs - 100 * MS).toList();
        final List<Frame> after = traffic(3).stream().filter((each) -> each.sentNs >= stepNs).map((each) -> new Frame(
            each.sentNs - HOUR_NS, each.arrivalNs == Long.MAX_VALUE ? Long.MAX_VALUE : each.arrivalNs - HOUR_NS, each.flow,
            each.octets)).toList();
        nowNs = START_NS;
        final Shards shards = new Shards(
            3, Stream.concat(before.stream(), after.stream()).toList(), config(3, false, 256, LONG_FLOWS), false, List.of());
        while (nowNs < stepNs) {
            shards.work();
        }
        final long comparedBefore = shards.stage().statistics().counters().get("lds_intervals");
        nowNs -= HOUR_NS;
        while (nowNs < stepNs - HOUR_NS + TRAFFIC_NS / 2 + 50 * MS) {
            shards.work();
        }
        assertTrue(shards.stage().statistics().counters().get("lds_intervals") > comparedBefore + 2, "intervals go on");
        shards.stages.captures().forEach(CaptureAgent::requestStop);
        while (!shards.work()) {
            nowNs += MS;
        }
        final Said said = said(shards.list, shards.counters, shards.stage());
        assertEquals(Stream.concat(before.stream(), after.stream()).filter((each) -> each.arrivalNs < Long.MAX_VALUE).count(),
            said.counts.get("lds_received"));
    }

    /** On threads, by a clock that runs fast; the sender works with the first shard, as the exchange's answers do. */
    @Test
    void shouldSayTheSameOnThreads() {
        final List<Frame> frames = traffic(5);
        final Said expected = byOneThread(frames, false, false, LONG_FLOWS);
        final long beginNs = System.nanoTime();
        final CaptureClock fast = () -> START_NS + SPEED * (System.nanoTime() - beginNs);
        final ExporterConfig config = config(3, false, 256, LONG_FLOWS);
        final Sender sender = new Sender(config, frames);
        final List<PacketSource> sources = new ArrayList<>(sources(frames, 5, 3, fast));
        sources.set(0, new WrappedSource(sources.get(0)) {
            @Override
            public int poll(final PacketHandler handler, final int packetLimit) {
                sender.sendUntil(fast.nanoTime());
                return super.poll(handler, packetLimit);
            }
        });
        final Counters counters = new Counters();
        final SketchedRecords list = new SketchedRecords();
        try (MeteringPipeline pipeline = new MeteringPipeline(
            config, sources, fast, wiring(sender, false), null, List.of(list), counters, Pipelines::fail)) {
            Pipelines.runToEnd(pipeline);
            assertEquals(withoutLoss(expected), withoutLoss(said(list, counters, pipeline.delayStage())));
        }
    }

    /** The sender stands still when the first shard's packets have ended: flows may have lost some after that. */
    private static Set<String> withoutLoss(final Said said) {
        return said.records.keySet().stream().map((each) -> each.replaceAll(" lost \\d+ \\d", "")).collect(Collectors.toSet());
    }

    @Test
    void shouldBoundWhatSketchesOfShardsTake() {
        final ExporterConfig config = config(3, true, 1 << 16, LONG_FLOWS);
        final DelayWiring wiring = wiring(new Sender(config, List.of()), true);
        final long beforeBytes = MemoryBoundTest.settledDirectBytes();
        try (MeteringPipeline pipeline = new MeteringPipeline(
            config, sources(List.of(), 1, 3, clock), clock, wiring, null, List.of(), new Counters(), Pipelines::fail)) {
            final long takenBytes = MemoryBoundTest.directBytes() - beforeBytes;
            final long boundBytes = MemoryPlan.tableBytes(config, wiring, true);
            assertTrue(takenBytes <= boundBytes + (1 << 20), takenBytes + " taken, bound " + boundBytes);
            assertTrue(takenBytes >= 3 * 2 * (1L << 16) * 32 * 3, takenBytes + ": cells of three intervals of each shard");
            assertTrue(!pipeline.isEnded());
        }
    }
}
