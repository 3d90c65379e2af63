package io.flowlag.tests.benchmark;

import com.sun.management.ThreadMXBean;
import io.flowlag.exporter.capture.PacketHandler;
import io.flowlag.exporter.capture.PacketSource;
import io.flowlag.exporter.config.ConfigLoader;
import io.flowlag.exporter.config.ConfigTable;
import io.flowlag.exporter.config.ExporterConfig;
import io.flowlag.exporter.export.Destination;
import io.flowlag.exporter.flow.FlowEntry;
import io.flowlag.exporter.runtime.MeteringPipeline;
import io.flowlag.exporter.status.CounterId;
import io.flowlag.exporter.status.Counters;
import io.flowlag.exporter.status.DestinationStatistics;
import org.agrona.DirectBuffer;
import org.agrona.MutableDirectBuffer;
import org.agrona.concurrent.UnsafeBuffer;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

import java.lang.management.ManagementFactory;
import java.util.ArrayList;
import java.util.HexFormat;
import java.util.List;
import java.util.Map;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertIterableEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

/** A receiver that measures 64 packets together gives the same octets for every flow as one that measures each alone. */
@Timeout(60)
class ReceivedTogetherTest {
    private static final int FLOWS = 300;
    private static final int PACKETS = 40_000;
    private static final int COMPARED_PACKETS = 20_000;
    private static final int ROUNDS = 6;
    private static final int ONE_BY_ONE = 1;
    private static final int TOGETHER = 256;
    /** A packet is measured alone where the segment is asked whether it is of it. */
    private static final String ANY_DESTINATION = " segment.destination=0.0.0.0/0";
    private static final int FRAME_BYTES = 60;
    private static final int TOS_OFFSET = 15;
    private static final int PROTOCOL_OFFSET = 23;
    private static final int PORT_OFFSET = 34;
    private static final int TCP_LENGTH_OFFSET = 46;
    private static final int TCP_FLAGS_OFFSET = 47;
    /** A pipeline that has had nothing to do for so many duty cycles has ended. */
    private static final int IDLE_LIMIT = 100;
    /** Slot, hash and timer of a flow are of its cache. */
    private static final int CACHE_OFFSET = 48;
    private static final int CACHE_BYTES = 12;
    private static final int TIMER_OFFSET = 116;

    /** What a run said. */
    private record Said(List<String> records, Map<String, Long> counters) {
    }

    /** Gives so many packets at a time. */
    private record Limited(MemoryTraffic traffic, int limit, boolean[] isOver) implements PacketSource {
        @Override
        public int poll(final PacketHandler handler, final int packetLimit) {
            return isOver[0] ? END_OF_SOURCE : traffic.poll(withTcp(handler), Math.min(packetLimit, limit));
        }

        /** Some flows are of TCP, and every so many of their packets has FIN; some packets are of another class. */
        private static PacketHandler withTcp(final PacketHandler handler) {
            return packet -> {
                final MutableDirectBuffer frame = (MutableDirectBuffer)packet.buffer();
                final int port = frame.getShort(packet.offset() + PORT_OFFSET) & 0xFFFF;
                if (packet.capturedLengthBytes() == FRAME_BYTES && port % 3 == 0) {
                    frame.putByte(packet.offset() + PROTOCOL_OFFSET, (byte)6);
                    frame.putByte(packet.offset() + TCP_LENGTH_OFFSET, (byte)0x50);
                    frame.putByte(packet.offset() + TCP_FLAGS_OFFSET, (byte)(packet.timestampNs() / 1000 % 7 == 0 ? 0x11 : 0x10));
                }
                if (packet.capturedLengthBytes() == FRAME_BYTES && port % 5 == 0) {
                    frame.putByte(packet.offset() + TOS_OFFSET, (byte)(46 << 2));
                }
                handler.onPacket(packet);
            };
        }

        @Override
        public String name() {
            return traffic.name();
        }

        @Override
        public long capturedCount() {
            return traffic.capturedCount();
        }

        @Override
        public void close() {
            traffic.close();
        }
    }

    /** Keeps records as text. */
    private static final class Records implements Destination {
        private final List<String> all = new ArrayList<>();
        private long packets;

        @Override
        public String name() {
            return "records";
        }

        @Override
        public Outcome offer(final DirectBuffer entry, final int offset, final int lengthBytes, final long nowMs) {
            packets += FlowEntry.packetCount(entry, offset);
            final byte[] octets = new byte[lengthBytes];
            entry.getBytes(offset, octets);
            final UnsafeBuffer copy = new UnsafeBuffer(octets);
            copy.setMemory(CACHE_OFFSET, CACHE_BYTES, (byte)0);
            copy.setMemory(TIMER_OFFSET, FlowEntry.BASE_LENGTH_BYTES - TIMER_OFFSET, (byte)0);
            all.add(HexFormat.of().formatHex(octets));
            return Outcome.DONE;
        }

        @Override
        public void stopWaiting() {
            throw new IllegalStateException("never blocked");
        }

        @Override
        public int doWork(final long nowMs) {
            return 0;
        }

        @Override
        public boolean close(final long nowMs, final long deadlineMs) {
            return true;
        }

        @Override
        public DestinationStatistics statistics() {
            return new DestinationStatistics(name(), all.size(), all.size(), 0, 0, 0, 0, 0, 0, 0, 0, null);
        }

        @Override
        public String lastError() {
            return "";
        }
    }

    private static ExporterConfig config(final long intervalNs, final String options) {
        final ConfigLoader loader = new ConfigLoader().text("test", "threading: invoker\nsegment: {interval: " +
            intervalNs / 1_000_000 + "ms, max-delay: 4ms}\nexchange: {deadline: 100ms}\nquantiles: {memory: 0}\n" +
            "joint: {enabled: false}\nlds: {columns: 200, vlda: 1}\n");
        for (final String option : options.split(" ")) {
            final String[] parts = option.split("=", 2);
            loader.option("--set", ConfigTable.key(parts[0]), List.of(parts[1].replace(';', ' ').split(",")));
        }
        return loader.conclude();
    }

    private static void beginRound(final MemoryTraffic traffic, final SenderInMemory sender) {
        traffic.nextRound();
        sender.send(traffic);
        traffic.rewind();
    }

    private static Said play(final int limit, final String options) {
        final MemoryTraffic traffic = new MemoryTraffic(FLOWS, COMPARED_PACKETS, true);
        final ExporterConfig config = config(traffic.roundNs(), options);
        final SenderInMemory sender = new SenderInMemory(config);
        final Counters counters = new Counters();
        final Records records = new Records();
        final boolean[] isOver = new boolean[1];
        try (MeteringPipeline pipeline = new MeteringPipeline(
            config, List.of(new Limited(traffic, limit, isOver)), false, PathBenchmark.wiring(true, sender),
            List.of(records), counters, ReceivedTogetherTest::fail)) {
            for (int round = 0; round < ROUNDS; round++) {
                beginRound(traffic, sender);
                while (!traffic.isRoundOver()) {
                    pipeline.doWork();
                }
            }
            isOver[0] = true;
            int idleCount = 0;
            while (idleCount < IDLE_LIMIT) {
                idleCount = pipeline.doWork() == 0 ? idleCount + 1 : 0;
            }
            assertEquals(ROUNDS * COMPARED_PACKETS, counters.get(CounterId.METERED));
            assertEquals(ROUNDS * COMPARED_PACKETS, records.packets, "every packet is in a record");
            return new Said(records.all.stream().sorted().toList(), pipeline.delayStage().statistics().counters());
        }
    }

    /** What the end of an interval allocates is for those who ask for it. */
    @Test
    void shouldAllocateNothingBetweenTheEndsOfIntervals() {
        final ThreadMXBean threads = (ThreadMXBean)ManagementFactory.getThreadMXBean();
        final MemoryTraffic traffic = new MemoryTraffic(FLOWS, PACKETS, true);
        final ExporterConfig config = config(traffic.roundNs(), "lds.vlda=1");
        final SenderInMemory sender = new SenderInMemory(config);
        try (MeteringPipeline pipeline = new MeteringPipeline(
            config, List.of(traffic), false, PathBenchmark.wiring(true, sender), List.of(), new Counters(),
            ReceivedTogetherTest::fail)) {
            long allocatedBytes = -1;
            for (int round = 0; round < ROUNDS; round++) {
                beginRound(traffic, sender);
                work(pipeline, PACKETS / 2);
                final long beforeBytes = threads.getCurrentThreadAllocatedBytes();
                work(pipeline, PACKETS / 4);
                allocatedBytes = threads.getCurrentThreadAllocatedBytes() - beforeBytes;
                while (!traffic.isRoundOver()) {
                    pipeline.doWork();
                }
            }
            assertEquals(0, allocatedBytes);
            assertTrue(pipeline.delayStage().statistics().counters().get("lds_received_booked") > PACKETS);
        }
    }

    private static void work(final MeteringPipeline pipeline, final int packets) {
        for (int i = 0; i < packets / TOGETHER; i++) {
            pipeline.doWork();
        }
    }

    private static void fail(final Throwable problem) {
        throw new IllegalStateException(problem);
    }

    @ParameterizedTest
    @ValueSource(strings = {
        "lds.vlda=1",
        "metering.idle-timeout=1ms metering.active-timeout=20ms",
        "metering.max-flows=256",
        "rli.estimator=left",
        "rli.buffer=32",
        "lds.weights=port=53;weight=10",
        "lds.vlda=3",
        "metering.tcp-end-timeout=0s",
        "metering.tcp-end-timeout=1ms rli.classes=0,46",
        "joint.enabled=true joint.wait=10ms joint.pending=16",
        "joint.enabled=true joint.wait=10ms rli.estimator=left",
        "joint.enabled=true joint.wait=10ms"})
    void shouldSayTheSameAsOneByOne(final String options) {
        final Said expected = play(ONE_BY_ONE, options + ANY_DESTINATION);
        final Said said = play(TOGETHER, options);
        final Said slowly = play(ONE_BY_ONE, options);
        final Said asked = play(TOGETHER, options + ANY_DESTINATION);
        assertEquals(expected.counters(), said.counters());
        assertTrue(said.counters().get("lds_received_booked") > 0, () -> said.counters().toString());
        assertTrue(said.counters().get("rli_estimated") > 0, () -> said.counters().toString());
        assertTrue(said.records().size() >= FLOWS / 2, said.records().size() + " records");
        assertIterableEquals(expected.records(), said.records());
        assertEquals(expected, slowly);
        assertEquals(expected, asked);
    }
}
