package io.flowlag.exporter.runtime;

import io.flowlag.exporter.capture.CaptureClock;
import io.flowlag.exporter.capture.CapturedPacket;
import io.flowlag.exporter.capture.PacketHandler;
import io.flowlag.exporter.capture.PacketSource;
import io.flowlag.exporter.config.ConfigLoader;
import io.flowlag.exporter.config.ExporterConfig;
import io.flowlag.exporter.config.ExporterConfig.Role;
import io.flowlag.exporter.delay.ClockError;
import io.flowlag.exporter.delay.DelayWiring;
import io.flowlag.exporter.delay.FlowDelay;
import io.flowlag.exporter.delay.SketchLink;
import io.flowlag.exporter.exchange.link.ExchangeSender;
import io.flowlag.exporter.exchange.link.MemoryNetwork;
import io.flowlag.exporter.exchange.link.PeerSecurity;
import io.flowlag.exporter.flow.FlowEntry;
import io.flowlag.exporter.status.AccountingIdentity;
import io.flowlag.exporter.status.Counters;
import io.flowlag.exporter.status.DelayStatistics;
import org.agrona.DirectBuffer;
import org.agrona.concurrent.Agent;
import org.agrona.concurrent.CachedNanoClock;
import org.agrona.concurrent.UnsafeBuffer;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;

import java.io.IOException;
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.Deque;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.function.BooleanSupplier;
import java.util.stream.LongStream;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

/**
 * A chain of points: A sends to B, which sends on to C, and D sends to B. B is one process: receiver of A and of D, and sender
 * to C. Each receiver has a digest key of its own, so a packet of A has two digests at B. Whole pipelines, worked step by step in
 * packet time, joined by the exchange in memory.
 */
class ChainedSegmentsTest {
    private static final long INTERVAL_NS = 10_000_000_000L;
    private static final long START_NS = 170_000_000L * INTERVAL_NS;
    private static final long GAP_NS = 50_000_000L;
    private static final long PACKETS_PER_INTERVAL = INTERVAL_NS / GAP_NS;
    private static final long DEADLINE_NS = 120_000_000_000L;
    private static final PeerSecurity PLAIN = new PeerSecurity(null, null, List.of(), List.of());
    private static final int FLOWS = 8;
    private static final int OF_A = 0x0A01_0001;
    private static final int OF_D = 0x0A02_0001;
    private static final int A_TO_B = 10;
    private static final int D_TO_B = 11;
    private static final int B_TO_C = 20;
    private static final long B_NS = 2_000_000;
    private static final long D_NS = 7_000_000;
    private static final long C_NS = 5_000_000;
    private static final String COMMON = "threading: invoker\n" +
        "metering: {active-timeout: 10s, idle-timeout: 10s, max-flows: 1024}\n" +
        "reconcile: {enabled: off}\njoint: {enabled: off}\n";
    private static final String SKETCHED = "interval: 10s, lds: {enabled: on, rows: 2, columns: 256, witnesses: 0.5}, ";

    private final MemoryNetwork network = new MemoryNetwork(new CachedNanoClock());
    private final List<Agent> ends = new ArrayList<>();
    private final List<AutoCloseable> toClose = new ArrayList<>();
    private final List<Host> hosts = new ArrayList<>();
    /** Packets that were lost, by segment, port and interval. */
    private final Map<List<Long>, Long> truth = new HashMap<>();
    private Host a;
    private Host b;
    private Host c;
    private Host d;
    private long number;

    /** A process: its pipeline, and the packets that it is given. */
    private final class Host extends TakingDestination implements PacketSource {
        final ExporterConfig config;
        final Counters counters = new Counters();
        final List<UnsafeBuffer> records = new ArrayList<>();
        final List<SketchLink> links = new ArrayList<>();
        private final Deque<CapturedPacket> packets = new ArrayDeque<>();
        private final MeteringPipeline pipeline;
        private long captured;
        private boolean isOver;

        Host(final String segments) throws IOException {
            config = new ConfigLoader().text("test", COMMON + segments).conclude();
            final List<DelayWiring> wirings = new ArrayList<>();
            for (final ExporterConfig each : config.segments()) {
                final Role role = each.segment().role();
                final SketchLink link = role == Role.RECEIVER ? network.receiver(each, PLAIN) :
                    network.sender(each, PLAIN, () -> START_NS, ClockError.NONE);
                links.add(link);
                ends.add((Agent)link);
                toClose.add((AutoCloseable)link);
                wirings.add(new DelayWiring(role, DelayWiring.References.NONE, ClockError.NONE, false, false, false,
                    role == Role.RECEIVER).withLink(link));
            }
            pipeline = new MeteringPipeline(
                config, List.of(this), CaptureClock.FILES, wirings, List.of(), List.of(this), counters, Pipelines::fail);
            hosts.add(this);
        }

        void packet(final byte[] frame, final long timestampNs) {
            packets.add(new CapturedPacket(new UnsafeBuffer(frame), 1, 1).set(0, frame.length, frame.length, timestampNs));
            while (pipeline.doWork() > 0) {
                // goes on to the end
            }
        }

        DelayStatistics statistics(final int segment) {
            return pipeline.delayStages().get(segment).statistics();
        }

        long count(final int segment, final String label) {
            return statistics(segment).counters().get(label);
        }

        @Override
        protected void onRecord(final DirectBuffer entry, final int offset) {
            final int lengthBytes = FlowEntry.BASE_LENGTH_BYTES + FlowDelay.SKETCH_LENGTH_BYTES;
            final UnsafeBuffer copy = new UnsafeBuffer(new byte[lengthBytes]);
            copy.putBytes(0, entry, offset, Math.min(lengthBytes, entry.capacity() - offset));
            records.add(copy);
        }

        @Override
        public int poll(final PacketHandler handler, final int packetLimit) {
            final CapturedPacket packet = packets.poll();
            if (packet == null) {
                return isOver ? END_OF_SOURCE : 0;
            }
            captured++;
            handler.onPacket(packet);
            return 1;
        }

        @Override
        public long capturedCount() {
            return captured;
        }

        @Override
        public long consumedBytes() {
            return captured;
        }

        @Override
        public long totalBytes() {
            return captured;
        }

        void end() {
            isOver = true;
            while (!pipeline.isEnded()) {
                pipeline.doWork();
            }
            assertEquals(0, AccountingIdentity.unexplainedCaptured(counters));
            assertEquals(0, AccountingIdentity.unexplainedDecoded(counters));
            assertEquals(0, AccountingIdentity.unexplainedRecords(counters));
            pipeline.delayStages().forEach((each) ->
                assertTrue(each.statistics().isAccountedFor(), each.statistics().unexplained()::toString));
        }
    }

    private static String sender(final int id, final int port) {
        return "{role: sender, id: " + id + ", source: [10." + (id == D_TO_B ? 2 : 1) +
            ".0.0/16], exchange: {connect: \"127.0.0.1:" + port + "\"}}";
    }

    private static String receiver(final int id, final int port) {
        return "{role: receiver, id: " + id + ", source: [10." + (id == D_TO_B ? 2 : 1) + ".0.0/16], " + SKETCHED +
            "rli: {session: " + id + "}, exchange: {deadline: 20s, mode: flows, listen: " + port + "}}";
    }

    @BeforeEach
    void connect() throws IOException {
        b = new Host("segments: [" + String.join(", ", receiver(A_TO_B, 8621), sender(B_TO_C, 8622), receiver(D_TO_B, 8623)) +
            "]\n");
        c = new Host("segments: [" + receiver(B_TO_C, 8622) + "]\n");
        a = new Host("segments: [" + sender(A_TO_B, 8621) + "]\n");
        d = new Host("segments: [" + sender(D_TO_B, 8623) + "]\n");
        await(() -> hosts.stream().flatMap((each) -> each.links.stream()).filter((each) -> each instanceof ExchangeSender)
            .allMatch((each) -> count(each, "settings_held") > 0));
    }

    @AfterEach
    void close() {
        network.close(toClose);
        hosts.forEach((each) -> each.pipeline.close());
    }

    private static long count(final SketchLink end, final String label) {
        final long[] found = new long[1];
        end.counters((name, value) -> found[0] += name.equals(label) ? value : 0);
        return found[0];
    }

    private int work() {
        int workCount = 0;
        for (final Agent each : ends) {
            try {
                workCount += each.doWork();
            } catch (final Exception ex) {
                throw new IllegalStateException(ex);
            }
        }
        return workCount;
    }

    private void await(final BooleanSupplier condition) {
        final long endNs = System.nanoTime() + DEADLINE_NS;
        while (!condition.getAsBoolean()) {
            assertTrue(System.nanoTime() - endNs < 0, "not in time");
            work();
        }
    }

    private static byte[] frame(final int source, final long number) {
        final byte[] payload = new byte[100];
        new UnsafeBuffer(payload).putLong(0, number);
        return ScriptedPoint.frame(source, (int)(1000 + number % FLOWS), 53, payload);
    }

    private void lose(final long segment, final long packet, final long sentNs) {
        truth.merge(List.of(segment, 1000 + packet % FLOWS, sentNs / INTERVAL_NS), 1L, Long::sum);
    }

    /** Packets of A and of D in turn; some are lost on each way. */
    private void pass(final long intervals) {
        for (long i = 0; i < intervals * PACKETS_PER_INTERVAL; i++) {
            final long packet = number++;
            final long sentNs = START_NS + packet * GAP_NS;
            final long flow = packet % FLOWS;
            final byte[] ofA = frame(OF_A, packet);
            final byte[] ofD = frame(OF_D, packet);
            final boolean isLostToB = packet % 97 == 50;
            final boolean isLostToC = packet % 61 == 30;
            final long toB = B_NS + flow * 100_000;
            final long toC = C_NS + flow * 10_000;
            a.packet(ofA, sentNs);
            if (isLostToB) {
                lose(A_TO_B, packet, sentNs);
            } else {
                b.packet(ofA, sentNs + toB);
            }
            if (!isLostToB && isLostToC) {
                lose(B_TO_C, packet, sentNs);
            } else if (!isLostToB) {
                c.packet(ofA, sentNs + toB + toC);
            }
            d.packet(ofD, sentNs + 20_000_000);
            if (packet % 43 == 20) {
                lose(D_TO_B, packet, sentNs);
            } else {
                b.packet(ofD, sentNs + 20_000_000 + D_NS);
            }
            while (work() > 0) {
                // goes on to the end
            }
        }
    }

    /** A receiver's records of one source: their segment, their exact means, and their exact losses. */
    private void tellRecords(final Host host, final int segment, final int source, final long leastNs, final long stepNs) {
        long measured = 0;
        long lost = 0;
        for (final UnsafeBuffer record : host.records) {
            final int delay = FlowEntry.BASE_LENGTH_BYTES;
            if ((int)FlowEntry.sourceLow(record, 0) != source) {
                continue;
            }
            if (host == b || FlowDelay.estimator(record, delay) != 0) {
                assertEquals(segment, FlowDelay.segmentId(record, delay));
            }
            if (FlowDelay.estimator(record, delay) == FlowDelay.ESTIMATOR_FLOW_SUMS) {
                final long flow = FlowEntry.sourcePort(record, 0) - 1000;
                assertEquals(leastNs + flow * stepNs, FlowDelay.meanNs(record, delay), 1);
                measured += FlowEntry.packetCount(record, 0);
            }
            if (FlowDelay.has(record, delay, FlowDelay.FLAG_LOSS)) {
                assertEquals(FlowDelay.LOSS_EXACT, FlowDelay.lossKind(record, delay));
                assertEquals(trulyLost(segment, record), FlowDelay.lostPackets(record, delay));
                lost += FlowDelay.lostPackets(record, delay);
            }
        }
        assertTrue(measured > 3 * PACKETS_PER_INTERVAL, measured + " packets of segment " + segment);
        assertTrue(lost > truth.keySet().stream().filter((each) -> each.get(0) == segment).count() / 2,
            lost + " lost in " + segment);
    }

    private long trulyLost(final long segment, final UnsafeBuffer record) {
        return LongStream.rangeClosed(FlowEntry.startNs(record, 0) / INTERVAL_NS, FlowEntry.endNs(record, 0) / INTERVAL_NS)
            .map((interval) -> truth.getOrDefault(List.of(segment, (long)FlowEntry.sourcePort(record, 0), interval), 0L)).sum();
    }

    @Test
    void shouldMeasureEachSegmentOfAProcessThatReceivesAndSends() {
        pass(12);
        hosts.forEach(Host::end);
        tellRecords(b, A_TO_B, OF_A, B_NS, 100_000);
        tellRecords(b, D_TO_B, OF_D, D_NS, 0);
        tellRecords(c, B_TO_C, OF_A, C_NS, 10_000);
        for (final int receiver : new int[] {0, 2}) {
            assertEquals(0, b.count(receiver, "lds_flows_different"), "flows whose packets differ at the points");
            assertTrue(b.count(receiver, "lds_flows_exact") > FLOWS);
        }
        assertTrue(b.count(1, "lds_sent_booked") > 6 * PACKETS_PER_INTERVAL);
        assertEquals(0, b.count(1, "lds_sent_without_digest"));
        assertEquals(List.of(10L, 20L, 11L), List.of(b.statistics(0).segmentId(), b.statistics(1).segmentId(),
            b.statistics(2).segmentId()));
    }
}
