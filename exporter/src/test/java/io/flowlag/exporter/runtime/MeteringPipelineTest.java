package io.flowlag.exporter.runtime;

import com.sun.management.ThreadMXBean;
import io.flowlag.exporter.capture.CapturedPacket;
import io.flowlag.exporter.capture.PacketHandler;
import io.flowlag.exporter.capture.PacketSource;
import io.flowlag.exporter.config.ExporterConfig;
import io.flowlag.exporter.config.ExporterConfig.Threading;
import io.flowlag.exporter.delay.DelayWiring;
import io.flowlag.exporter.export.Destination;
import io.flowlag.exporter.export.DestinationFactory;
import io.flowlag.exporter.flow.FlowEntry;
import io.flowlag.exporter.lab.GeneratedTraffic;
import io.flowlag.exporter.lab.TrafficProfile;
import io.flowlag.exporter.status.AccountingIdentity;
import io.flowlag.exporter.status.CounterId;
import io.flowlag.exporter.status.Counters;
import io.flowlag.ipfix.transport.SendResult;
import io.flowlag.ipfix.transport.Transport;
import io.flowlag.ipfix.transport.TransportKind;
import io.flowlag.ipfix.transport.TransportState;
import org.agrona.DirectBuffer;
import org.agrona.concurrent.UnsafeBuffer;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;

import java.io.IOException;
import java.lang.management.ManagementFactory;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.concurrent.locks.LockSupport;
import java.util.stream.IntStream;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

class MeteringPipelineTest {
    private final Counters counters = new Counters();

    private static void runToEnd(final MeteringPipeline pipeline) {
        pipeline.start();
        runOn(pipeline);
    }

    private List<String> records(final Threading threading, final String... options) {
        final RecordList list = new RecordList();
        final GeneratedTraffic traffic = new GeneratedTraffic(TrafficProfile.demo());
        runToEnd(new MeteringPipeline(
            Pipelines.config(threading, options), List.of(traffic), false, DelayWiring.NONE,
            List.of(list), counters, Pipelines::fail));
        return list.records;
    }

    @Test
    void shouldMakeEqualRecordsOnAnyThreads() {
        final List<String> expected = records(Threading.INVOKER);
        assertTrue(expected.size() >= 200, expected.size() + " records");
        assertEquals(expected, records(Threading.SHARED));
        assertEquals(expected, records(Threading.PIPELINED));
    }

    @Test
    void shouldFlushFlowsWhenStopped() {
        final RecordList list = new RecordList();
        final MeteringPipeline pipeline = new MeteringPipeline(
            Pipelines.config(Threading.PIPELINED), List.of(new GeneratedTraffic(TrafficProfile.demo())), false, DelayWiring.NONE,
            List.of(list), counters, Pipelines::fail);
        pipeline.start();
        final long deadlineNs = System.nanoTime() + Pipelines.DEADLINE_NS;
        while (counters.get(CounterId.METERED) == 0 && System.nanoTime() - deadlineNs < 0) {
            LockSupport.parkNanos(100_000);
        }
        pipeline.requestStop();
        runOn(pipeline);

        assertTrue(counters.get(CounterId.FLOWS_ENDED_FORCED) > 0);
        assertEquals(0, AccountingIdentity.unexplainedCaptured(counters));
        assertEquals(0, AccountingIdentity.unexplainedDecoded(counters));
        assertEquals(counters.get(CounterId.METERED), list.packets);
    }

    @Test
    void shouldMakeEqualRecordsOnAnyThreadsWhenTimeoutsAreShort() {
        final String[] options =
            {"metering.active-timeout", "1s", "metering.idle-timeout", "200ms", "pipeline.packet-ring", "64k"};
        final List<String> expected = records(Threading.INVOKER, options);
        assertTrue(expected.size() > 250, expected.size() + " records");
        assertEquals(expected, records(Threading.SHARED, options));
        assertEquals(expected, records(Threading.PIPELINED, options));
    }

    @ParameterizedTest
    @EnumSource(Threading.class)
    void shouldAccountForEveryPacketAndRecord(final Threading threading) {
        final int recordCount = records(threading, "metering.max-flows", "50").size();
        assertEquals(20_000, counters.get(CounterId.CAPTURED));
        assertEquals(20_000, counters.get(CounterId.METERED));
        assertEquals(recordCount, counters.get(CounterId.RECORDS_TAKEN));
        assertTrue(counters.get(CounterId.FLOWS_ENDED_LACK_OF_RESOURCES) > 0);
        assertEquals(0, AccountingIdentity.unexplainedCaptured(counters));
        assertEquals(0, AccountingIdentity.unexplainedDecoded(counters));
        assertEquals(0, AccountingIdentity.unexplainedRecords(counters));
    }

    @Test
    void shouldCountWhatAFullRingDropsWhenLive() {
        final SlowDestination slow = new SlowDestination();
        final MeteringPipeline pipeline = new MeteringPipeline(
            Pipelines.config(Threading.PIPELINED, "pipeline.record-ring", "64k", "metering.idle-timeout", "1ms"),
            List.of(new GeneratedTraffic(TrafficProfile.demo())), true, DelayWiring.NONE,
            List.of(slow), counters, Pipelines::fail);
        pipeline.start();
        final long deadlineNs = System.nanoTime() + Pipelines.DEADLINE_NS;
        while (counters.get(CounterId.DROPPED_AT_RECORD_RING) == 0 && System.nanoTime() - deadlineNs < 0) {
            LockSupport.parkNanos(100_000);
        }
        slow.isSlow = false;
        runOn(pipeline);

        assertTrue(counters.get(CounterId.DROPPED_AT_RECORD_RING) > 0);
        assertEquals(20_000, counters.get(CounterId.CAPTURED));
        assertEquals(0, AccountingIdentity.unexplainedDecoded(counters));
        assertEquals(0, AccountingIdentity.unexplainedRecords(counters));
        assertEquals(slow.recordCount(), counters.get(CounterId.RECORDS_TAKEN));
    }

    @Test
    void shouldFlushFlowsWhenStoppedInTheMiddle() {
        final RecordList list = new RecordList();
        final MeteringPipeline pipeline = new MeteringPipeline(
            Pipelines.config(Threading.INVOKER), List.of(new GeneratedTraffic(TrafficProfile.demo())), false, DelayWiring.NONE,
            List.of(list), counters, Pipelines::fail);
        while (counters.get(CounterId.METERED) < 5_000) {
            pipeline.doWork();
        }
        pipeline.requestStop();
        runToEnd(pipeline);

        assertTrue(counters.get(CounterId.FLOWS_ENDED_FORCED) > 0);
        assertEquals(0, AccountingIdentity.unexplainedDecoded(counters));
        assertEquals(counters.get(CounterId.METERED), list.packets);
    }

    @ParameterizedTest
    @EnumSource(Threading.class)
    void shouldAllocateNothingPerPacketOnAnyThread(final Threading threading) throws IOException {
        final ThreadMXBean threads = (ThreadMXBean)ManagementFactory.getThreadMXBean();
        final NullTransport transport = new NullTransport();
        final ExporterConfig config = Pipelines.config(
            threading, "metering.active-timeout", "1s", "metering.idle-timeout", "100ms", "metering.max-flows", "16",
            "exporting.destinations", "udp://127.0.0.1:9");
        final Destination destination = new DestinationFactory(true, new boolean[1], Map.of(), counters)
            .make("null", transport, config, config.exporting().destinations().get(0));
        final EndlessTraffic traffic = new EndlessTraffic();
        final MeteringPipeline pipeline =
            new MeteringPipeline(config, List.of(traffic), false, DelayWiring.NONE,
                List.of(destination), counters, Pipelines::fail);
        pipeline.start();
        advanceTo(pipeline, 3_000_000);

        final long[] ids = pipelineThreads();
        final long[] before = threads.getThreadAllocatedBytes(ids);
        final long recordsBefore = counters.get(CounterId.RECORDS_TAKEN);
        advanceTo(pipeline, counters.get(CounterId.METERED) + 1_000_000);
        final long[] after = threads.getThreadAllocatedBytes(ids);
        final long made = counters.get(CounterId.RECORDS_TAKEN) - recordsBefore;
        pipeline.requestStop();
        runOn(pipeline);

        assertEquals(switch (threading) {
            case INVOKER, SHARED -> 1;
            case PIPELINED -> 3;
            case SHARDED -> 2 + config.shardCount();
        }, ids.length);
        assertTrue(made > 10_000, made + " records");
        assertTrue(counters.get(CounterId.FLOWS_ENDED_IDLE) > 0);
        assertTrue(counters.get(CounterId.FLOWS_ENDED_LACK_OF_RESOURCES) > 0);
        for (int i = 0; i < ids.length; i++) {
            assertTrue(after[i] - before[i] < 4_096,
                "thread " + i + " of " + threading + " allocated " + (after[i] - before[i]) + " octets for a million packets");
        }
    }

    /** Each shard captures and meters on one thread. Compilers allocate at times, so rounds are tried until one is without. */
    @Test
    void shouldAllocateNothingPerPacketInAnyShardLive() throws IOException {
        final ThreadMXBean threads = (ThreadMXBean)ManagementFactory.getThreadMXBean();
        final ExporterConfig config = Pipelines.config(
            Threading.SHARDED, "pipeline.shards", "2", "metering.active-timeout", "1s", "metering.idle-timeout", "100ms",
            "metering.max-flows", "16", "exporting.destinations", "udp://127.0.0.1:9");
        final Destination destination = new DestinationFactory(false, new boolean[1], Map.of(), counters)
            .make("null", new NullTransport(), config, config.exporting().destinations().get(0));
        final MeteringPipeline pipeline = new MeteringPipeline(
            config, List.of(new EndlessTraffic(), new EndlessTraffic()), true, DelayWiring.NONE,
            List.of(destination), counters, Pipelines::fail);
        pipeline.start();
        advanceTo(pipeline, 1_000_000);

        final long[] ids = pipelineThreads();
        final long deadlineNs = System.nanoTime() + Pipelines.DEADLINE_NS;
        long most = Long.MAX_VALUE;
        while (most >= 4_096 && System.nanoTime() - deadlineNs < 0) {
            final long[] before = threads.getThreadAllocatedBytes(ids);
            advanceTo(pipeline, counters.get(CounterId.METERED) + 1_000_000);
            final long[] after = threads.getThreadAllocatedBytes(ids);
            most = IntStream.range(0, ids.length).mapToLong((i) -> after[i] - before[i]).max().orElseThrow();
        }
        pipeline.requestStop();
        runOn(pipeline);

        assertEquals(3, ids.length);
        assertTrue(counters.get(CounterId.RECORDS_TAKEN) > 0);
        assertTrue(most < 4_096, "a thread allocated " + most + " octets for a million packets");
    }

    private void advanceTo(final MeteringPipeline pipeline, final long meteredCount) {
        final long deadlineNs = System.nanoTime() + Pipelines.DEADLINE_NS;
        while (counters.get(CounterId.METERED) < meteredCount) {
            assertTrue(System.nanoTime() - deadlineNs < 0, "no progress");
            if (pipeline.doWork() == 0) {
                LockSupport.parkNanos(100_000);
            }
        }
    }

    private static void runOn(final MeteringPipeline pipeline) {
        Pipelines.awaitEnd(pipeline);
        pipeline.close();
    }

    /** The threads of the stages, or this one where there are none. */
    private static long[] pipelineThreads() {
        final long[] ids = Thread.getAllStackTraces().keySet().stream()
            .filter((thread) -> thread.getName().contains("capture") || thread.getName().startsWith("metering") ||
                "exporting".equals(thread.getName()))
            .mapToLong(MeteringPipelineTest::idOf).sorted().toArray();
        return ids.length > 0 ? ids : new long[]{idOf(Thread.currentThread())};
    }

    /** Thread.threadId() is newer than the floor, getId() is deprecated by what came after it. */
    @SuppressWarnings({"deprecation", "removal"})
    private static long idOf(final Thread thread) {
        return thread.getId();
    }

    /** Keeps records as text. */
    private static final class RecordList extends TakingDestination {
        private final List<String> records = new ArrayList<>();
        private long packets;

        @Override
        protected void onRecord(final DirectBuffer entry, final int offset) {
            packets += FlowEntry.packetCount(entry, offset);
            records.add(Long.toHexString(FlowEntry.sourceLow(entry, offset)) + ' ' + FlowEntry.sourcePort(entry, offset) + ' ' +
                Long.toHexString(FlowEntry.destinationLow(entry, offset)) + ' ' + FlowEntry.destinationPort(entry, offset) + ' ' +
                FlowEntry.protocol(entry, offset) + ' ' + FlowEntry.packetCount(entry, offset) + ' ' +
                FlowEntry.octetCount(entry, offset) + ' ' + FlowEntry.startNs(entry, offset) + ' ' +
                FlowEntry.endNs(entry, offset) + ' ' + FlowEntry.endReason(entry, offset) + ' ' +
                FlowEntry.flowId(entry, offset));
        }
    }

    /** Takes its time with the first record. */
    private static final class SlowDestination extends TakingDestination {
        private volatile boolean isSlow = true;

        @Override
        protected void onRecord(final DirectBuffer entry, final int offset) {
            while (isSlow) {
                LockSupport.parkNanos(100_000);
            }
        }
    }

    /** The same packets again and again, later each time. */
    private static final class EndlessTraffic implements PacketSource, PacketHandler {
        private static final int FRAME_LIMIT = 20_000;
        private static final int FRAME_BYTES = 128;

        private final UnsafeBuffer frames =
            new UnsafeBuffer(new byte[FRAME_LIMIT * FRAME_BYTES]);
        private final CapturedPacket repeated = new CapturedPacket(frames, 1, 0);
        private final int[] lengths = new int[FRAME_LIMIT];
        private final int[] wireLengths = new int[FRAME_LIMIT];
        private final long[] timesNs = new long[FRAME_LIMIT];
        private int frameCount;
        private long emittedCount;

        EndlessTraffic() {
            try (GeneratedTraffic traffic = new GeneratedTraffic(TrafficProfile.demo())) {
                int polled = 0;
                while (polled != END_OF_SOURCE) {
                    polled = traffic.poll(this, 1_000);
                }
            }
        }

        @Override
        public void onPacket(final CapturedPacket packet) {
            lengths[frameCount] = Math.min(packet.capturedLengthBytes(), FRAME_BYTES);
            wireLengths[frameCount] = packet.wireLengthBytes();
            timesNs[frameCount] = packet.timestampNs();
            frames.putBytes(frameCount * FRAME_BYTES, packet.buffer(), packet.offset(), lengths[frameCount]);
            frameCount++;
        }

        @Override
        public int poll(final PacketHandler handler, final int packetLimit) {
            final long spanNs = timesNs[frameCount - 1] - timesNs[0] + 1;
            for (int i = 0; i < packetLimit; i++) {
                final int frame = (int)(emittedCount % frameCount);
                final long round = emittedCount / frameCount;
                handler.onPacket(repeated.set(
                    frame * FRAME_BYTES, lengths[frame], wireLengths[frame], timesNs[frame] + round * spanNs));
                emittedCount++;
            }
            return packetLimit;
        }

        @Override
        public String name() {
            return "endless";
        }

        @Override
        public long capturedCount() {
            return emittedCount;
        }
    }

    /** Takes every datagram. */
    private static final class NullTransport implements Transport {
        private long octets;

        @Override
        public SendResult send(final DirectBuffer buffer, final int offset, final int lengthBytes) {
            octets += lengthBytes;
            return SendResult.SENT;
        }

        @Override
        public TransportKind kind() {
            return TransportKind.DATAGRAM;
        }

        @Override
        public TransportState state() {
            return TransportState.CONNECTED;
        }

        @Override
        public long deliveredOctets() {
            return octets;
        }

        @Override
        public String name() {
            return "null";
        }

        @Override
        public String lastError() {
            return "";
        }

        @Override
        public void close() {
        }
    }
}
