package io.flowlag.exporter.runtime;

import io.flowlag.common.file.Disk;
import io.flowlag.exporter.capture.CaptureException;
import io.flowlag.exporter.capture.CapturedPacket;
import io.flowlag.exporter.capture.FilterSupplier;
import io.flowlag.exporter.capture.PacketHandler;
import io.flowlag.exporter.capture.PacketSource;
import io.flowlag.exporter.capture.file.CaptureFiles;
import io.flowlag.exporter.checkpoint.Checkpoint;
import io.flowlag.exporter.config.ExporterConfig;
import io.flowlag.exporter.config.ExporterConfig.Threading;
import io.flowlag.exporter.delay.DelayStage;
import io.flowlag.exporter.delay.DelayWiring;
import io.flowlag.exporter.fuzz.RealCaptures;
import io.flowlag.exporter.lab.GeneratedTraffic;
import io.flowlag.exporter.lab.TrafficProfile;
import io.flowlag.exporter.monitoring.Observer;
import io.flowlag.exporter.status.AccountingIdentity;
import io.flowlag.exporter.status.CounterId;
import io.flowlag.exporter.status.Counters;
import io.flowlag.exporter.status.Heartbeat;
import io.flowlag.exporter.status.Statistics;
import org.agrona.ErrorHandler;
import org.agrona.concurrent.AgentTerminationException;
import org.agrona.concurrent.UnsafeBuffer;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

import java.io.IOException;
import java.nio.ByteOrder;
import java.nio.channels.FileChannel;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.EnumMap;
import java.util.HexFormat;
import java.util.List;
import java.util.Map;
import java.util.Random;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.Semaphore;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.atomic.AtomicReference;
import java.util.concurrent.locks.LockSupport;
import java.util.function.Supplier;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertIterableEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

/** Several metering threads say what one says. */
class ShardedPipelineTest {
    private static final String[] SHORT_TIMEOUTS =
        {"metering.active-timeout", "1s", "metering.idle-timeout", "200ms", "metering.tcp-end-timeout", "20ms"};
    /** Of the real captures every so many in the suite; 1 takes all of them. */
    private static final int CAPTURE_STEP = Integer.getInteger("flowlag.sharded.step", 25);
    private static final int LEAST_CAPTURES = 15;

    private final Counters counters = new Counters();
    private final FlowRecordList list = new FlowRecordList();
    /** A thread that is not closed explicitly; it must be gone before another test counts threads. */
    private final AtomicReference<Thread> reader = new AtomicReference<>();

    /** What a run said. */
    private record Said(List<String> records, Map<CounterId, Long> counters) {
    }

    private static ExporterConfig config(final Threading threading, final int shardCount, final String... options) {
        final List<String> all = new ArrayList<>(List.of(options));
        if (threading == Threading.SHARDED) {
            all.addAll(List.of("pipeline.shards", Integer.toString(shardCount)));
        }
        return Pipelines.config(threading, all.toArray(new String[0]));
    }

    private static Said run(final ExporterConfig config, final PacketSource source) {
        final Counters counters = new Counters();
        final FlowRecordList list = new FlowRecordList();
        try (MeteringPipeline pipeline =
            new MeteringPipeline(config, List.of(source), false, DelayWiring.NONE, List.of(list), counters, Pipelines::fail)) {
            Pipelines.runToEnd(pipeline);
        }
        assertEquals(list.recordCount(), list.flowIdCount(), "flow ids are unique");
        assertEquals(list.packets(), counters.get(CounterId.METERED), "every packet is in a record");
        assertEquals(0, AccountingIdentity.unexplainedCaptured(counters));
        assertEquals(0, AccountingIdentity.unexplainedDecoded(counters));
        assertEquals(0, AccountingIdentity.unexplainedRecords(counters));
        final Map<CounterId, Long> values = new EnumMap<>(CounterId.class);
        for (final CounterId id : CounterId.values()) {
            values.put(id, counters.get(id));
        }
        return new Said(list.sorted(), values);
    }

    private static void assertEqualInEveryMode(final Supplier<PacketSource> sources, final String... options) {
        final Said expected = run(config(Threading.SHARED, 1, options), sources.get());
        assertSaid(expected, run(config(Threading.PIPELINED, 1, options), sources.get()), "pipelined");
        for (int shardCount = 1; shardCount <= 3; shardCount++) {
            assertSaid(expected, run(config(Threading.SHARDED, shardCount, options), sources.get()), shardCount + " shards");
        }
    }

    /** The first difference says enough. */
    private static void assertSaid(final Said expected, final Said said, final String what) {
        assertEquals(expected.counters(), said.counters(), what);
        assertIterableEquals(expected.records(), said.records(), what);
    }

    @Test
    void shouldMakeEqualRecordsWithAnyNumberOfShards() {
        assertEqualInEveryMode(() -> new GeneratedTraffic(TrafficProfile.demo()));
        assertEqualInEveryMode(() -> new GeneratedTraffic(TrafficProfile.demo()), SHORT_TIMEOUTS);
    }

    /** Packets out of order: whether a flow has ended before a late packet comes depends on which other packets came. */
    @ParameterizedTest
    @ValueSource(longs = {1, 2, 3})
    void shouldMakeEqualRecordsWhenTimeJumps(final long seed) {
        assertEqualInEveryMode(() -> new JumpingTraffic(seed), SHORT_TIMEOUTS);
        assertEqualInEveryMode(() -> new JumpingTraffic(seed), "metering.active-timeout", "1s", "metering.idle-timeout", "1s",
            "metering.flow-key", "vlan", "pipeline.packet-ring", "64k", "pipeline.record-ring", "64k");
    }

    /** All flows are over at once, at one packet, before late packets of each come that would have gone on with them. */
    @Test
    void shouldEndAllFlowsThatAreOverBeforeTheNextPacket() {
        final String[] options = {"metering.idle-timeout", "200ms", "metering.active-timeout", "1h"};
        final Said said = run(config(Threading.SHARED, 1, options), new LateTraffic());
        assertEquals(2 * LateTraffic.FLOW_COUNT + 1, said.records().size());
        assertEqualInEveryMode(LateTraffic::new, options);
    }

    /** One damaged timestamp, and as many flows as before are still open at the end. */
    @Test
    void shouldEndSilentFlowsAfterAPacketFromTheFuture() {
        final Said plain = run(config(Threading.SHARED, 1, SHORT_TIMEOUTS), new GeneratedTraffic(TrafficProfile.demo()));
        final Said said = run(config(Threading.SHARED, 1, SHORT_TIMEOUTS), new StrayTraffic());
        assertEquals(
            plain.counters().get(CounterId.FLOWS_ENDED_FORCED), said.counters().get(CounterId.FLOWS_ENDED_FORCED));
        assertEqualInEveryMode(StrayTraffic::new, SHORT_TIMEOUTS);
    }

    @Test
    void shouldMakeEqualRecordsOfRealCaptures() {
        final List<Path> files = RealCaptures.files();
        int comparedCount = 0;
        for (int i = 0; i < files.size(); i += CAPTURE_STEP) {
            final Path file = files.get(i);
            final String[] options = {"metering.active-timeout", "1s", "metering.idle-timeout", "100ms",
                "metering.tcp-end-timeout", "20ms", "metering.max-flows", "64k"};
            if (isReadable(file)) {
                final Said expected = run(config(Threading.INVOKER, 1, options), open(file));
                final int shardCount = 1 + comparedCount % 4;
                assertSaid(expected, run(config(Threading.SHARDED, shardCount, options), open(file)),
                    file + ", " + shardCount + " shards");
                comparedCount++;
            }
        }
        assertTrue(files.isEmpty() || comparedCount >= LEAST_CAPTURES, comparedCount + " captures");
    }

    private static boolean isReadable(final Path file) {
        try (PacketSource source = open(file)) {
            return source.name() != null;
        } catch (final CaptureException ex) {
            return false;
        }
    }

    private static PacketSource open(final Path file) {
        return CaptureFiles.open(List.of(file.toString()), FilterSupplier.ALL);
    }

    @Test
    void shouldFlushFlowsWhenStoppedInTheMiddle() {
        final MeteringPipeline pipeline = new MeteringPipeline(
            config(Threading.SHARDED, 2), List.of(new RepeatedTraffic()), false, DelayWiring.NONE,
            List.of(list), counters, Pipelines::fail);
        pipeline.start();
        awaitMetered(5_000);
        pipeline.requestStop();
        Pipelines.awaitEnd(pipeline);
        pipeline.close();

        assertAccounted();
        assertTrue(counters.get(CounterId.FLOWS_ENDED_FORCED) > 0);
    }

    @Test
    void shouldFinishWithoutACaptureThatDoesNotComeBack() throws InterruptedException {
        final CountDownLatch isOver = new CountDownLatch(1);
        final MeteringPipeline pipeline = new MeteringPipeline(
            config(Threading.SHARDED, 2), List.of(new WrappedSource(new GeneratedTraffic(TrafficProfile.demo())) {
                @Override
                public int poll(final PacketHandler handler, final int packetLimit) {
                    if (capturedCount() < 10_000) {
                        return super.poll(handler, packetLimit);
                    }
                    reader.set(Thread.currentThread());
                    await(isOver);
                    throw new AgentTerminationException();
                }
            }), false, DelayWiring.NONE, List.of(list), counters, Pipelines::fail);
        pipeline.start();
        awaitMetered(10_000);
        pipeline.requestStop();
        pipeline.abandonCapture();
        Pipelines.awaitEnd(pipeline);
        pipeline.close();
        isOver.countDown();
        reader.get().join();

        assertEquals(counters.get(CounterId.METERED), list.packets());
        assertEquals(0, AccountingIdentity.unexplainedDecoded(counters));
        assertEquals(0, AccountingIdentity.unexplainedRecords(counters));
    }

    private static void await(final CountDownLatch latch) {
        try {
            latch.await();
        } catch (final InterruptedException ex) {
            Thread.currentThread().interrupt();
        }
    }

    /** As when a mapped file is cut while it is read. */
    @Test
    void shouldFlushFlowsWhenReadingFails() throws InterruptedException {
        final AtomicInteger errorCount = new AtomicInteger();
        final ErrorHandler handler = (throwable) -> errorCount.incrementAndGet();
        final MeteringPipeline pipeline = new MeteringPipeline(
            config(Threading.SHARDED, 3), List.of(new WrappedSource(new GeneratedTraffic(TrafficProfile.demo())) {
                @Override
                public int poll(final PacketHandler packets, final int packetLimit) {
                    if (capturedCount() >= 10_000) {
                        reader.set(Thread.currentThread());
                        throw new InternalError("cut");
                    }
                    return super.poll(packets, packetLimit);
                }
            }), false, DelayWiring.NONE, List.of(list), counters, handler);
        pipeline.start();
        final long deadlineNs = System.nanoTime() + Pipelines.DEADLINE_NS;
        while (errorCount.get() == 0 && System.nanoTime() - deadlineNs < 0) {
            LockSupport.parkNanos(100_000);
        }
        pipeline.requestStop();
        pipeline.abandonCapture();
        Pipelines.awaitEnd(pipeline);
        pipeline.close();

        reader.get().join();
        assertTrue(errorCount.get() > 0);
        assertEquals(counters.get(CounterId.METERED), list.packets());
        assertAccounted();
    }

    @Test
    void shouldMeterEachShardsSourcesLive() {
        final ExporterConfig config =
            config(Threading.SHARDED, 2, "metering.idle-timeout", "1h", "metering.active-timeout", "1h");
        final List<PacketSource> sources = new ArrayList<>();
        for (int i = 0; i < 4; i++) {
            sources.add(new GeneratedTraffic(TrafficProfile.demo().toBuilder().seed(i).build()));
        }
        final MeteringPipeline pipeline =
            new MeteringPipeline(config, sources, true, DelayWiring.NONE, List.of(list), counters, Pipelines::fail);
        assertEquals(2, pipeline.flowWatches().size());
        pipeline.start();
        awaitMetered(80_000);
        Pipelines.awaitEnd(pipeline);
        assertTrue(Heartbeat.living().stream().map(Heartbeat::roleName).toList().containsAll(
            List.of("[capture-0,metering-0]", "[capture-1,metering-1]", "exporting")));
        assertEquals(80_000, pipeline.latency().buckets().count(), "every packet is timed");
        pipeline.close();

        assertEquals(80_000, counters.get(CounterId.CAPTURED));
        assertEquals(80_000, list.packets());
        assertEquals(list.recordCount(), list.flowIdCount());
        assertAccounted();
    }

    @Test
    void shouldTakeNewTimeoutsOverInEveryShard() {
        final String[] options = {"metering.idle-timeout", "1h", "metering.active-timeout", "10h"};
        final List<PacketSource> sources = List.of(new WaitingTraffic(1), new WaitingTraffic(2), new WaitingTraffic(3));
        final MeteringPipeline pipeline = new MeteringPipeline(
            config(Threading.SHARDED, 3, options), sources, true, DelayWiring.NONE, List.of(list), counters, Pipelines::fail);
        pipeline.start();
        awaitMetered(60_000);
        assertEquals(0, counters.get(CounterId.FLOWS_ENDED_IDLE));
        final long flowCount = counters.get(CounterId.FLOWS_CREATED);
        pipeline.reload(config(Threading.SHARDED, 3, "metering.idle-timeout", "1ms"), List.of(list));
        final long deadlineNs = System.nanoTime() + Pipelines.DEADLINE_NS;
        while (counters.get(CounterId.RECORDS_MADE) < flowCount && System.nanoTime() - deadlineNs < 0) {
            LockSupport.parkNanos(100_000);
        }
        assertEquals(flowCount, counters.get(CounterId.RECORDS_MADE), "every flow has ended before the stop");
        assertTrue(counters.get(CounterId.FLOWS_ENDED_IDLE) > 0);
        sources.forEach((source) -> ((WaitingTraffic)source).isOver = true);
        Pipelines.awaitEnd(pipeline);
        pipeline.close();
        assertAccounted();
    }

    @Test
    void shouldShowFlowsOfEveryShard(@TempDir final Path directory) throws IOException {
        final ExporterConfig config = config(
            Threading.SHARDED, 2, "metering.idle-timeout", "1h", "metering.active-timeout", "10h",
            "metering.tcp-end-timeout", "1h", "metering.max-flows", "4k", "status.file",
            directory.resolve("status").toString(), "status.interval", "100ms");
        final List<PacketSource> sources = List.of(new WaitingTraffic(1), new WaitingTraffic(2));
        final MeteringPipeline pipeline = new MeteringPipeline(
            config, sources, true, DelayWiring.NONE, List.of(list), counters, Pipelines::fail);
        pipeline.start();
        awaitMetered(40_000);
        final long flowCount = counters.get(CounterId.FLOWS_CREATED) - counters.get(CounterId.RECORDS_MADE);
        try (Observer observer = new Observer(config, true, System.currentTimeMillis(), () -> new Statistics(
            counters, List.of(), List.of(), List.of(), pipeline.latency(), 0, 0, 0, List.of()), List.of(), pipeline.flowWatches(),
            List::of)) {
            final long deadlineNs = System.nanoTime() + Pipelines.DEADLINE_NS;
            while ((observer.snapshot() == null || observer.snapshot().flows().livingCount() < flowCount) &&
                System.nanoTime() - deadlineNs < 0) {
                observer.doWork();
                LockSupport.parkNanos(1_000_000);
            }
            assertEquals(flowCount, observer.snapshot().flows().livingCount());
        }
        sources.forEach((source) -> ((WaitingTraffic)source).isOver = true);
        Pipelines.awaitEnd(pipeline);
        pipeline.close();
        assertEquals(flowCount, list.recordCount());
    }

    /** The disk hangs once the checkpoint is open. */
    @Test
    void shouldTellThatTheCheckpointHangs(@TempDir final Path directory) throws IOException {
        final ExporterConfig config = config(Threading.PIPELINED, 1, "checkpoint.interval", "100ms", "metering.max-flows", "4k");
        final Semaphore mayGoOn = new Semaphore(1_000);
        final Checkpoint checkpoint = Checkpoint.open(directory.resolve("flows"), config.metering().maxFlows(),
            DelayStage.stateLengthBytes(DelayWiring.NONE), counters, new Disk() {
                @Override
                public void force(final FileChannel channel, final Path path) throws IOException {
                    mayGoOn.acquireUninterruptibly();
                    super.force(channel, path);
                }
            });
        mayGoOn.drainPermits();
        final WaitingTraffic traffic = new WaitingTraffic(1);
        final MeteringPipeline pipeline = new MeteringPipeline(config, List.of(traffic), RealtimeClock.ofSystem(),
            DelayWiring.NONE, checkpoint, List.of(list), counters, Pipelines::fail);
        pipeline.start();
        final long deadlineNs = System.nanoTime() + Pipelines.DEADLINE_NS;
        while (!mayGoOn.hasQueuedThreads() && System.nanoTime() - deadlineNs < 0) {
            LockSupport.parkNanos(100_000);
        }
        final Heartbeat heartbeat =
            Heartbeat.living().stream().filter((each) -> "checkpoint".equals(each.roleName())).findAny().orElseThrow();
        assertFalse(heartbeat.isStalled(1));
        assertFalse(heartbeat.isStalled(Heartbeat.PATIENT_NS));
        assertTrue(heartbeat.isStalled(1 + Heartbeat.PATIENT_NS));
        traffic.isOver = true;
        Pipelines.awaitEnd(pipeline);
        mayGoOn.release(1_000);
        pipeline.close();
        assertAccounted();
    }

    @Test
    void shouldSayEveryRefusedLinkTypeOnce() {
        final MeteringPipeline pipeline = new MeteringPipeline(
            config(Threading.SHARDED, 2), List.of(new StrangeLink(105), new StrangeLink(105), new StrangeLink(119),
                new StrangeLink(105)), true, DelayWiring.NONE, List.of(list), counters, Pipelines::fail);
        Pipelines.runToEnd(pipeline);
        assertEquals("{105, 119}", pipeline.refusedLinkTypes());
        assertEquals(4, counters.get(CounterId.REFUSED_LINK_TYPE));
        pipeline.close();
    }

    private void awaitMetered(final long count) {
        final long deadlineNs = System.nanoTime() + Pipelines.DEADLINE_NS;
        while (counters.get(CounterId.METERED) < count && System.nanoTime() - deadlineNs < 0) {
            LockSupport.parkNanos(100_000);
        }
        assertTrue(counters.get(CounterId.METERED) >= count, "no progress");
    }

    private void assertAccounted() {
        assertEquals(counters.get(CounterId.METERED), list.packets());
        assertEquals(0, AccountingIdentity.unexplainedCaptured(counters));
        assertEquals(0, AccountingIdentity.unexplainedDecoded(counters));
        assertEquals(0, AccountingIdentity.unexplainedRecords(counters));
    }

    /** Time leaps ahead now and then, so that hundreds of flows end at once, and single packets are late. */
    private static final class JumpingTraffic extends WrappedSource {
        private static final long TICK_NS = 1L << 26;
        private static final int LEAP_ONE_IN = 700;
        private static final int LATE_ONE_IN = 20;

        private final Random random;
        private long aheadNs;

        JumpingTraffic(final long seed) {
            super(new GeneratedTraffic(TrafficProfile.demo().toBuilder().seed(seed).flowCount(2_000).vlanShare(0.3).build()));
            random = new Random(seed);
        }

        @Override
        public int poll(final PacketHandler handler, final int packetLimit) {
            return super.poll(packet -> {
                aheadNs += random.nextInt(LEAP_ONE_IN) == 0 ? random.nextLong(40 * TICK_NS) : 0;
                final long lateNs = random.nextInt(LATE_ONE_IN) == 0 ? random.nextLong(10 * TICK_NS) : 0;
                packet.timestampNs(packet.timestampNs() + aheadNs - lateNs);
                handler.onPacket(packet);
            }, packetLimit);
        }
    }

    /** One packet is years later than those around it. */
    private static final class StrayTraffic extends WrappedSource {
        private static final int STRAY_INDEX = 10;
        private static final long AHEAD_NS = TimeUnit.DAYS.toNanos(1_000);

        private int count;

        StrayTraffic() {
            super(new GeneratedTraffic(TrafficProfile.demo()));
        }

        @Override
        public int poll(final PacketHandler handler, final int packetLimit) {
            return super.poll(packet -> {
                packet.timestampNs(packet.timestampNs() + (count++ == STRAY_INDEX ? AHEAD_NS : 0));
                handler.onPacket(packet);
            }, packetLimit);
        }
    }

    /** A packet of each flow, much later one of another flow, then a packet of each flow from before that. */
    private static final class LateTraffic implements PacketSource {
        private static final int FLOW_COUNT = 3_000;
        private static final long START_NS = 1_700_000_000_000_000_000L;
        private static final int PORT_OFFSET = 34;

        private final UnsafeBuffer frame = new UnsafeBuffer(HexFormat.of().parseHex(
            "020000000002020000000001" + "0800" + "4500001c00000000401100000a0000010a000002" + "0000138800080000"));
        private int count;

        @Override
        public int poll(final PacketHandler handler, final int packetLimit) {
            int polled = 0;
            for (; polled < packetLimit && count <= 2 * FLOW_COUNT; polled++) {
                final boolean isLate = count > FLOW_COUNT;
                final int port = count == FLOW_COUNT ? 1 : 1_000 + (isLate ? count - 1 - FLOW_COUNT : count);
                final long afterMs = count == FLOW_COUNT ? 500 : isLate ? 150 : 0;
                frame.putShort(PORT_OFFSET, (short)port, ByteOrder.BIG_ENDIAN);
                handler.onPacket(new CapturedPacket(frame, 1, 0)
                    .set(0, frame.capacity(), frame.capacity(), START_NS + afterMs * 1_000_000));
                count++;
            }
            return polled == 0 ? END_OF_SOURCE : polled;
        }

        @Override
        public String name() {
            return "late";
        }

        @Override
        public long capturedCount() {
            return count;
        }
    }

    /** The same packets as long as somebody reads. */
    private static final class RepeatedTraffic implements PacketSource {
        private GeneratedTraffic traffic = new GeneratedTraffic(TrafficProfile.demo());
        private long formerCount;

        @Override
        public int poll(final PacketHandler handler, final int packetLimit) {
            final int polled = traffic.poll(handler, packetLimit);
            if (polled != END_OF_SOURCE) {
                return polled;
            }
            formerCount += traffic.capturedCount();
            traffic.close();
            traffic = new GeneratedTraffic(TrafficProfile.demo());
            return 0;
        }

        @Override
        public String name() {
            return "repeated";
        }

        @Override
        public long capturedCount() {
            return formerCount + traffic.capturedCount();
        }
    }

    /** Packets of the last minute that do not end before somebody says so. */
    private static final class WaitingTraffic extends WrappedSource {
        private volatile boolean isOver;

        WaitingTraffic(final long seed) {
            super(new GeneratedTraffic(TrafficProfile.demo().toBuilder().seed(seed)
                .startNs((System.currentTimeMillis() - TimeUnit.MINUTES.toMillis(1)) * 1_000_000).build()));
        }

        @Override
        public int poll(final PacketHandler handler, final int packetLimit) {
            final int polled = super.poll(handler, packetLimit);
            return polled == END_OF_SOURCE && !isOver ? 0 : polled;
        }
    }

    /** One undecodable packet. */
    private static final class StrangeLink implements PacketSource {
        private final int linkType;
        private final UnsafeBuffer packet = new UnsafeBuffer(new byte[64]);
        private long count;

        StrangeLink(final int linkType) {
            this.linkType = linkType;
        }

        @Override
        public int poll(final PacketHandler handler, final int packetLimit) {
            if (count > 0) {
                return END_OF_SOURCE;
            }
            handler.onPacket(new CapturedPacket(packet, linkType, 0).set(0, packet.capacity(), packet.capacity(), 1));
            count++;
            return 1;
        }

        @Override
        public String name() {
            return "strange";
        }

        @Override
        public long capturedCount() {
            return count;
        }
    }
}
