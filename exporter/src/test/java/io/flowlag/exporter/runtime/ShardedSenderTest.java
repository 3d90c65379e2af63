package io.flowlag.exporter.runtime;

import io.flowlag.exporter.capture.CaptureClock;
import io.flowlag.exporter.capture.CapturedPacket;
import io.flowlag.exporter.capture.PacketHandler;
import io.flowlag.exporter.capture.PacketSource;
import io.flowlag.exporter.config.ConfigLoader;
import io.flowlag.exporter.config.ExporterConfig;
import io.flowlag.exporter.config.ExporterConfig.Role;
import io.flowlag.exporter.decode.DigestSwitch;
import io.flowlag.exporter.delay.ClockError;
import io.flowlag.exporter.delay.DelayStage;
import io.flowlag.exporter.delay.DelayWiring;
import io.flowlag.exporter.delay.ReferenceMode;
import io.flowlag.exporter.delay.ReferenceTransmitter;
import io.flowlag.exporter.delay.SenderLink;
import io.flowlag.exporter.delay.SketchAgreement;
import io.flowlag.exporter.delay.SketchShipment;
import io.flowlag.exporter.delay.interval.records.FlowSums;
import io.flowlag.exporter.delay.interval.records.IntervalSettings;
import io.flowlag.exporter.delay.interval.records.SenderAnswer;
import io.flowlag.exporter.exchange.link.SenderShards;
import io.flowlag.exporter.exchange.link.SharedSettings;
import io.flowlag.exporter.pipeline.CaptureAgent;
import io.flowlag.exporter.pipeline.MeteringAgent;
import io.flowlag.exporter.pipeline.StageRing;
import io.flowlag.exporter.status.AccountingIdentity;
import io.flowlag.exporter.status.Counters;
import io.flowlag.exporter.status.DelayStatistics;
import io.flowlag.exporter.status.PipelineLatency;
import io.flowlag.rli.reference.ReferenceSession;
import io.flowlag.sketch.image.SketchImage;
import org.agrona.DirectBuffer;
import org.agrona.concurrent.Agent;
import org.agrona.concurrent.UnsafeBuffer;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

import java.nio.ByteBuffer;
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.Deque;
import java.util.List;
import java.util.Map;
import java.util.SplittableRandom;
import java.util.TreeMap;
import java.util.function.ObjLongConsumer;
import java.util.stream.Collectors;
import java.util.stream.IntStream;
import java.util.stream.Stream;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertNotNull;
import static org.junit.jupiter.api.Assertions.assertTrue;

/**
 * A sender in several shards ships what one thread ships, and sends as many references. The stages of all shards are worked in
 * an order from a seed, each with the packets that a hash of their flow gives it; one of them sees the references that leave.
 */
class ShardedSenderTest {
    private static final long MS = 1_000_000;
    private static final long INTERVAL_NS = 400 * MS;
    private static final long START_NS = 4_250_000_000L * INTERVAL_NS + 70 * MS;
    private static final long TRAFFIC_NS = 8 * INTERVAL_NS;
    private static final long PACKET_GAP_NS = 500_000;
    private static final int FLOWS = 60;
    private static final int EVERY_N = 50;
    private static final long FROM_INTERVAL = START_NS / INTERVAL_NS + 2;
    private static final long CHANGED_INTERVAL = FROM_INTERVAL + 3;
    private static final ReferenceSession SESSION = ReferenceSession.unauthenticated(1);
    private static final IntervalSettings.Room ROOM = new IntervalSettings.Room(4096, 1, 4096, 0);

    private long nowNs;
    private final CaptureClock clock = () -> nowNs;
    private boolean isSetBack;

    /** A packet of a flow on its way out, perhaps after the clock was set back. */
    private record Frame(long sentNs, int flow, byte[] octets, boolean isLater) {
    }

    private static ExporterConfig config(final int shardCount) {
        return new ConfigLoader().text("test", (shardCount == 0 ? "threading: invoker\n" :
            "threading: sharded\npipeline: {shards: " + shardCount + "}\n") + "segment: {role: sender}\n" +
            "exchange: {connect: \"127.0.0.1:9\"}\nreconcile: {enabled: off}\nmetering: {max-flows: 4k}\n" +
            "rli: {target: 127.0.0.1, policy: every-n, every-n: " + EVERY_N + ", max-gap: 500ms}\n").conclude();
    }

    private static SketchAgreement agreement(final String mode, final int columns, final long fromInterval) {
        final ExporterConfig receiver = new ConfigLoader().text("test",
            "segment: {role: receiver, max-delay: 50ms, interval: 400ms}\nreconcile: {enabled: off}\n" +
            "lds: {enabled: on, rows: 2, columns: " + columns + ", witnesses: 0.5}\nmetering: {max-flows: 4k}\n" +
            "exchange: {mode: " + mode + ", listen: 9, deadline: 1s}\n").conclude();
        return SharedSettings.agreement(
            SharedSettings.of(receiver, new UnsafeBuffer(new byte[16]), 1, fromInterval), ROOM, null, FROM_INTERVAL,
            fromInterval > FROM_INTERVAL);
    }

    private static List<Frame> traffic(final long seed) {
        final SplittableRandom random = new SplittableRandom(seed);
        final List<Frame> frames = new ArrayList<>();
        for (long atNs = START_NS; atNs < START_NS + TRAFFIC_NS; atNs += PACKET_GAP_NS) {
            final int flow = (int)((atNs - START_NS) / (500 * MS)) * 7 + random.nextInt(1 + random.nextInt(FLOWS));
            frames.add(new Frame(atNs, flow, ScriptedPoint.frame(
                0x0A00_0002, 1000 + flow, 53, ByteBuffer.allocate(20 + random.nextInt(400)).putLong(atNs).array()), false));
        }
        return frames;
    }

    /** An interval that lacks nothing, and its packets. */
    private record Whole(long number, long packets) {
    }

    /** Packets that leave, by the clock, and the references among them. */
    private final class Source implements PacketSource {
        private final Deque<Frame> frames;
        private final Deque<Frame> references = new ArrayDeque<>();
        private long capturedCount;

        Source(final Stream<Frame> frames) {
            this.frames = frames.collect(Collectors.toCollection(ArrayDeque::new));
        }

        @Override
        public int poll(final PacketHandler handler, final int limit) {
            int count = 0;
            for (; count < limit; count++) {
                final boolean isReference = !references.isEmpty() &&
                    (frames.isEmpty() || references.peek().sentNs <= frames.peek().sentNs || frames.peek().sentNs > nowNs);
                final Deque<Frame> from = isReference ? references : frames;
                if (from.isEmpty() || from.peek().sentNs > nowNs || from.peek().isLater && !isSetBack) {
                    break;
                }
                final Frame frame = from.remove();
                capturedCount++;
                handler.onPacket(new CapturedPacket(new UnsafeBuffer(frame.octets), 1, 1)
                    .set(0, frame.octets.length, frame.octets.length, frame.sentNs));
            }
            return count == 0 && frames.isEmpty() && nowNs > START_NS + TRAFFIC_NS + 4_000 * MS ? END_OF_SOURCE : count;
        }

        @Override
        public String name() {
            return "leaving";
        }

        @Override
        public long capturedCount() {
            return capturedCount;
        }
    }

    /** The exchange, in this thread; the first shard's link. */
    private final class Exchange implements SenderLink, ReferenceTransmitter {
        private final SenderShards shards;
        private final Map<String, String> shipped = new TreeMap<>();
        private final List<Whole> whole = new ArrayList<>();
        private final Map<Integer, Long> sendTimes = new TreeMap<>();
        private final Map<Integer, Long> leftNs = new TreeMap<>();
        private Source references;

        Exchange(final int shardCount) {
            shards = new SenderShards(shardCount);
        }

        void work() {
            for (SketchShipment next = shards.poll(); next != null; next = shards.poll()) {
                shipped.merge(
                    next.agreement().settings().cells().geometry().columns() + " " + next.interval().intervalNumber(), text(next),
                    (one, other) -> one + " again " + other);
                if (!next.interval().isDamaged()) {
                    final FlowSums flows = next.interval().flows();
                    whole.add(new Whole(next.interval().intervalNumber(),
                        IntStream.range(0, flows.count()).mapToLong(flows::packets).sum()));
                }
                shards.giveBack(next);
            }
        }

        private static String text(final SketchShipment shipment) {
            final SenderAnswer interval = shipment.interval();
            final long[] digests = IntStream.range(0, interval.inFlightCount()).mapToLong(interval::inFlight).sorted().toArray();
            return (interval.hasSketches() ? octets(interval.sketch()) + " " + octets(interval.aggregator(0)) : "") +
                " all " + sums(interval.flows()) + " witnesses " + sums(interval.witnesses()) + " digests " +
                Arrays.hashCode(digests) + " of " + digests.length + " damaged " + interval.isDamaged() + " drops " +
                shipment.kernelDrops() + " " + shipment.ringDrops() + " " + shipment.latePackets() + " " +
                shipment.unsketchedPackets();
        }

        private static String octets(final SketchImage image) {
            final byte[] octets = new byte[image.length()];
            image.buffer().getBytes(0, octets);
            return image.packets() + ":" + Arrays.hashCode(octets);
        }

        private static String sums(final FlowSums table) {
            return table.overflowPackets() + IntStream.range(0, table.count()).mapToObj((row) -> " " + table.flowHash(row) + "=" +
                table.packets(row) + "," + table.timestampSumNs(row) + "," + table.digestSum(row) + "," + table.bytes(row))
                .sorted().collect(Collectors.joining());
        }

        @Override
        public boolean send(final int streamIndex, final DirectBuffer buffer, final int offset, final int lengthBytes) {
            final byte[] payload = new byte[lengthBytes];
            buffer.getBytes(offset, payload);
            leftNs.put(leftNs.size(), nowNs + 20_000);
            references.references.add(new Frame(nowNs + 20_000, -1,
                ScriptedPoint.frame(0x0A00_0001, ScriptedPoint.PORT, ScriptedPoint.PORT, payload), isSetBack));
            return true;
        }

        @Override
        public int poll(final SendTimeHandler handler, final int limit) {
            return 0;
        }

        @Override
        public void close() {
            // nothing is open
        }

        @Override
        public SenderLink shard(final int index) {
            return index == 0 ? this : shards.link(index);
        }

        @Override
        public boolean isOneOfSeveral() {
            return shards.link(0).isOneOfSeveral();
        }

        @Override
        public DigestSwitch digests() {
            return shards.link(0).digests();
        }

        @Override
        public SketchAgreement takeAgreement() {
            return shards.link(0).takeAgreement();
        }

        @Override
        public boolean ship(final SketchShipment shipment) {
            return shards.link(0).ship(shipment);
        }

        @Override
        public SketchShipment takeBack() {
            return shards.link(0).takeBack();
        }

        @Override
        public void shipSendTime(final int streamIndex, final int sequenceNumber, final long sentNs, final int methodCode) {
            sendTimes.put(sequenceNumber, sentNs);
        }

        @Override
        public void shipPassiveSendTime(final long digest, final long sentNs) {
            throw new IllegalStateException("not agreed");
        }

        @Override
        public void counters(final ObjLongConsumer<String> consumer) {
            // none of its own
        }
    }

    private static DelayWiring wiring(final Exchange exchange) {
        return new DelayWiring(
            Role.SENDER, new DelayWiring.References(ReferenceMode.SENT, List.of(SESSION), exchange), ClockError.fixed(50),
            true, false, false, false).withLink(exchange);
    }

    private static Map<String, Long> counts(final DelayStage stage, final Counters counters) {
        assertEquals(0, AccountingIdentity.unexplainedCaptured(counters));
        assertEquals(0, AccountingIdentity.unexplainedDecoded(counters));
        final DelayStatistics statistics = stage.statistics();
        assertTrue(statistics.isAccountedFor(), statistics.unexplained()::toString);
        return statistics.counters();
    }

    private Map<String, Long> byOneThread(
        final List<Frame> frames, final Exchange exchange, final SketchAgreement... agreements) {
        nowNs = START_NS;
        final Counters counters = new Counters();
        final Source source = new Source(frames.stream());
        exchange.references = source;
        try (MeteringPipeline pipeline = new MeteringPipeline(
            config(0), List.of(source), clock, wiring(exchange), null, List.of(), counters, Pipelines::fail)) {
            for (int i = 0; !pipeline.isEnded();) {
                nowNs += MS;
                i = agree(exchange, i, agreements);
                for (int j = 0; j < 4; j++) {
                    pipeline.doWork();
                }
                exchange.work();
            }
            return counts(pipeline.delayStage(), counters);
        }
    }

    /** The next agreement comes two intervals ahead. */
    private int agree(final Exchange exchange, final int next, final SketchAgreement... agreements) {
        if (next < agreements.length && nowNs > (agreements[next].fromInterval() - 2) * INTERVAL_NS) {
            exchange.shards.agree(agreements[next]);
            return next + 1;
        }
        return next;
    }

    private final class Shards {
        private final SplittableRandom random;
        private final Counters counters = new Counters();
        private final Exchange exchange;
        private final List<StageRing> records;
        private final ShardedStages stages;

        Shards(final long seed, final int shardCount, final List<Frame> frames) {
            random = new SplittableRandom(seed);
            exchange = new Exchange(shardCount);
            records = Stream.generate(() -> new StageRing(1 << 20, false)).limit(shardCount).toList();
            final List<Source> sources = IntStream.range(0, shardCount).mapToObj((shard) -> new Source(frames.stream()
                .filter((each) -> new SplittableRandom(31 * seed + each.flow).nextInt(shardCount) == shard))).toList();
            exchange.references = sources.get(shardCount - 1);
            stages = new ShardedStages(config(shardCount), sources, clock, wiring(exchange),
                new ShardedStages.Rings(List.of(), records), List.of(), new PipelineLatency(), counters);
            stages.meterings().forEach(Agent::onStart);
        }

        /** Works some of the shards, each from capture on. Returns whether all have ended. */
        private boolean work() {
            nowNs += 1 + random.nextLong(2 * MS);
            for (int i = 0; i < records.size(); i++) {
                final int shard = random.nextInt(records.size());
                stages.captures().get(shard).doWork();
                stages.meterings().get(shard).doWork();
            }
            exchange.work();
            records.forEach((ring) -> ring.read((type, buffer, index, length) -> { }, 1 << 10));
            return stages.meterings().stream().allMatch(MeteringAgent::isEnded);
        }
    }

    private void assertShipsTheSame(final String mode, final long seed) {
        final List<Frame> frames = traffic(seed);
        final Exchange one = new Exchange(1);
        final Map<String, Long> expected = byOneThread(
            frames, one, agreement(mode, 256, FROM_INTERVAL), agreement(mode, 192, CHANGED_INTERVAL));
        assertTrue(one.shipped.size() > 5, "intervals are shipped");
        for (final int shardCount : new int[] {2, 4}) {
            nowNs = START_NS;
            final Shards shards = new Shards(seed, shardCount, frames);
            final SketchAgreement[] agreements =
                {agreement(mode, 256, FROM_INTERVAL), agreement(mode, 192, CHANGED_INTERVAL)};
            int next = agree(shards.exchange, 0, agreements);
            while (!shards.work()) {
                next = agree(shards.exchange, next, agreements);
            }
            shards.stages.meterings().forEach(MeteringAgent::onClose);
            final String what = shardCount + " shards";
            assertEquals(one.shipped, shards.exchange.shipped, what);
            assertEquals(0, shards.exchange.shards.incompleteCount(), what);
            assertCounts(expected, counts(shards.stages.delayStages().get(0), shards.counters), what);
            assertReferences(one, shards.exchange, frames.size(), what);
        }
    }

    private static void assertCounts(
        final Map<String, Long> one, final Map<String, Long> said, final String what) {
        for (final String counter : List.of("lds_sent", "lds_sent_booked", "lds_sent_without_digest", "lds_sent_late",
            "lds_sent_unsketched", "lds_intervals_shipped", "lds_intervals_unshipped", "regular_packets", "regular_bytes")) {
            assertNotNull(one.get(counter), counter);
            assertEquals(one.get(counter), said.get(counter), () -> what + ": " + counter);
        }
    }

    /** One for so many packets of all shards; the first learns when each left, though another shard saw it. */
    private static void assertReferences(final Exchange one, final Exchange shards, final int packets, final String what) {
        assertTrue(one.leftNs.size() >= packets / EVERY_N, what);
        assertEquals(one.leftNs.size(), shards.leftNs.size(), 2, what);
        assertTrue(shards.sendTimes.size() >= shards.leftNs.size() - 1, what);
        shards.sendTimes.forEach((number, sentNs) -> assertEquals(shards.leftNs.get(number), sentNs, what));
    }

    @Test
    void shouldShipCellsOfShardsAsThoseOfOneThread() {
        assertShipsTheSame("sketch", 1);
    }

    /** Each shard sees the step at another moment; an interval is of one side of it alone. */
    @ParameterizedTest
    @ValueSource(longs = {2_000 * MS, 1_500 * MS, 30 * MS})
    void shouldAddUpNoPartsOfBothSidesOfAStepOfTheClock(final long backNs) {
        long incompleteCount = 0;
        for (long seed = 3; seed <= 5; seed++) {
            // About the time at which each ships an interval.
            final long stepNs = START_NS + TRAFFIC_NS / 2 - (71 - 2 * seed) * MS;
            final List<Frame> before = traffic(seed).stream().filter((each) -> each.sentNs < stepNs - 50 * MS).toList();
            final List<Frame> after = traffic(seed).stream().filter((each) -> each.sentNs >= stepNs)
                .map((each) -> new Frame(each.sentNs - backNs, each.flow, each.octets, true)).toList();
            nowNs = START_NS;
            isSetBack = false;
            final Shards shards = new Shards(seed, 3, Stream.concat(before.stream(), after.stream()).toList());
            shards.exchange.shards.agree(agreement("flows", 256, FROM_INTERVAL - 20));
            while (nowNs < stepNs) {
                shards.work();
            }
            nowNs -= backNs;
            isSetBack = true;
            while (nowNs < stepNs - backNs + TRAFFIC_NS / 2 + 3 * INTERVAL_NS) {
                shards.work();
            }
            shards.stages.captures().forEach(CaptureAgent::requestStop);
            while (!shards.work()) {
                assertTrue(nowNs < START_NS + 60_000 * MS, "the shards do not end");
            }
            shards.stages.meterings().forEach(MeteringAgent::onClose);
            counts(shards.stages.delayStages().get(0), shards.counters);
            incompleteCount += shards.exchange.shards.incompleteCount();
            assertTrue(shards.exchange.whole.size() > 1, () -> shards.exchange.whole.toString());
            for (final Whole each : shards.exchange.whole) {
                final long packets = packets(before, each.number);
                final long laterPackets = packets(after, each.number);
                assertTrue(each.packets == packets || each.packets == laterPackets ||
                    backNs < INTERVAL_NS && each.packets == packets + laterPackets, each::toString);
            }
        }
        assertEquals(backNs > INTERVAL_NS, incompleteCount > 0, "some shards alone shipped an interval before the step");
    }

    private static long packets(final List<Frame> frames, final long interval) {
        return frames.stream().filter((each) -> each.sentNs / INTERVAL_NS == interval).count();
    }

    @Test
    void shouldShipSumsOfShardsAsThoseOfOneThread() {
        assertShipsTheSame("flows", 2);
    }
}
