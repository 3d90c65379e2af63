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
import io.flowlag.exporter.delay.ReceiverLink;
import io.flowlag.exporter.delay.ReferenceMode;
import io.flowlag.exporter.delay.SketchLink;
import io.flowlag.exporter.exchange.link.MemoryNetwork;
import io.flowlag.exporter.exchange.link.PeerSecurity;
import io.flowlag.exporter.exchange.link.ProcessEnds;
import io.flowlag.exporter.flow.FlowEntry;
import io.flowlag.exporter.status.ClockEstimate;
import io.flowlag.exporter.status.Counters;
import io.flowlag.rli.reference.ReferenceSession;
import org.agrona.DirectBuffer;
import org.agrona.concurrent.Agent;
import org.agrona.concurrent.CachedNanoClock;
import org.agrona.concurrent.UnsafeBuffer;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

import java.io.IOException;
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.Deque;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.SplittableRandom;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

/**
 * Two hosts whose clocks are apart, each one process with two segments: it sends in one and receives in the other, and corrects
 * delays. Whole pipelines in packet time, joined by the exchange in memory, whose ends work each millisecond.
 */
class TwoWaySegmentsTest {
    private static final long SECOND_NS = 1_000_000_000L;
    private static final long BEGIN_NS = 1_700_000_000L * SECOND_NS;
    private static final long POLL_NS = 1_000_000;
    private static final long[] LEAST_NS = {150_000, 190_000};
    private static final long EXCHANGE_NS = 170_000;
    private static final int PACKET_EVERY = 5;
    private static final int REFERENCE_EVERY = 10;
    private static final long BEYOND_ASYMMETRY_NS = 5_000;
    private static final PeerSecurity PLAIN = new PeerSecurity(null, null, List.of(), List.of());

    private final CachedNanoClock time = new CachedNanoClock();
    private final MemoryNetwork network = new MemoryNetwork(time);
    private final SplittableRandom random = new SplittableRandom(23);
    private final List<Agent> ends = new ArrayList<>();
    private final List<AutoCloseable> toClose = new ArrayList<>();
    private final List<Host> hosts = new ArrayList<>();
    private final Map<Integer, List<Long>> delaysNs = new HashMap<>();
    private boolean isPassive;
    private long number;

    /** A process: its pipeline, and the packets that it is given. */
    private final class Host extends TakingDestination implements PacketSource {
        final long aheadNs;
        final double drift;
        final ReceiverLink receiver;
        final ScriptedPoint.Sender references;
        final List<UnsafeBuffer> records = new ArrayList<>();
        private final Deque<CapturedPacket> packets = new ArrayDeque<>();
        private final MeteringPipeline pipeline;

        /** The first host has the number 0; its segment to the other one has the id 1. */
        Host(final int own, final long aheadNs, final double drift) throws IOException {
            this.aheadNs = aheadNs;
            this.drift = drift;
            references = new ScriptedPoint.Sender(ReferenceSession.unauthenticated(own + 1), address(own) + 250);
            final ExporterConfig config = new ConfigLoader().text("test", "threading: invoker\nclock: {correct: on}\n" +
                "metering: {active-timeout: 2s, idle-timeout: 1s, max-flows: 256}\nreconcile: {enabled: off}\n" +
                "joint: {enabled: off}\nsegments: [" + segment(own, true) + ", " + segment(1 - own, false) + "]\n").conclude();
            final ProcessEnds shared = new ProcessEnds(() -> shows(time.nanoTime()));
            final List<DelayWiring> wirings = new ArrayList<>();
            ReceiverLink receiving = null;
            for (final ExporterConfig each : config.segments()) {
                final boolean isReceiver = each.segment().role() == Role.RECEIVER;
                final SketchLink link =
                    isReceiver ? network.receiver(each, PLAIN, shared) : network.sender(each, PLAIN, shared, ClockError.NONE);
                receiving = isReceiver ? (ReceiverLink)link : receiving;
                ends.add((Agent)link);
                toClose.add((AutoCloseable)link);
                wirings.add(new DelayWiring(each.segment().role(), isReceiver ?
                    isPassive ? new DelayWiring.References(ReferenceMode.PASSIVE, List.of()) :
                    new DelayWiring.References(ReferenceMode.SENT, ReferenceSessions.of(each.rli())) :
                    DelayWiring.References.NONE, ClockError.fixed(-1), isReceiver, false, false, isReceiver).withLink(link));
            }
            receiver = receiving;
            pipeline = new MeteringPipeline(
                config, List.of(this), CaptureClock.FILES, wirings, List.of(), List.of(this), new Counters(), Pipelines::fail);
            hosts.add(this);
        }

        /** What the host's clock shows. */
        long shows(final long timeNs) {
            return timeNs + aheadNs + Math.round(drift * (timeNs - BEGIN_NS));
        }

        void packet(final byte[] frame, final long timeNs) {
            packets.add(new CapturedPacket(new UnsafeBuffer(frame), 1, 1).set(0, frame.length, frame.length, shows(timeNs)));
            while (pipeline.doWork() > 0) {
                // goes on to the end
            }
        }

        long count(final String label) {
            final long[] found = new long[1];
            receiver.counters((name, value) -> found[0] += name.equals(label) ? value : 0);
            return found[0];
        }

        @Override
        protected void onRecord(final DirectBuffer entry, final int offset) {
            final UnsafeBuffer copy = new UnsafeBuffer(new byte[FlowEntry.BASE_LENGTH_BYTES + FlowDelay.SKETCH_LENGTH_BYTES]);
            copy.putBytes(0, entry, offset, Math.min(copy.capacity(), entry.capacity() - offset));
            records.add(copy);
        }

        @Override
        public int poll(final PacketHandler handler, final int packetLimit) {
            final CapturedPacket packet = packets.poll();
            if (packet == null) {
                return 0;
            }
            handler.onPacket(packet);
            return 1;
        }

        @Override
        public long capturedCount() {
            return 0;
        }
    }

    private static int address(final int host) {
        return 0x0A01_0000 + (host << 16);
    }

    private String segment(final int from, final boolean isSender) {
        final String port = "\"127.0.0.1:" + (8621 + from) + "\"";
        return "{role: " + (isSender ? "sender" : "receiver") + ", id: " + (from + 1) + ", source: [10." + (from + 1) +
            ".0.0/16], interval: 1s, max-delay: 100ms, rli: {session: " + (from + 1) +
            (isPassive && !isSender ? ", policy: passive, passive-share: 0.2" : "") + "}, exchange: {" + (isSender ?
            "connect: " + port + "}}" : "mode: flows, deadline: 3s, listen: " + port + "}, lds: {rows: 2, columns: 256}}");
    }

    @AfterEach
    void close() {
        network.close(toClose);
        hosts.forEach((each) -> each.pipeline.close());
    }

    /** A packet from one host to the other, of a flow of its own in each second. */
    private void send(final int from, final long sentNs, final boolean isReference) {
        final Host sender = hosts.get(from);
        final long delayNs = LEAST_NS[from] + (long)(-20_000 * Math.log(1 - random.nextDouble()));
        final int port = (int)(sentNs / SECOND_NS % 50_000);
        final byte[] payload = new byte[64];
        new UnsafeBuffer(payload).putLong(0, ++number);
        final byte[] frame = isReference ? sender.references.reference(sender.shows(sentNs)) :
            ScriptedPoint.frame(address(from) + 1, port, 53, payload);
        sender.packet(frame, sentNs);
        hosts.get(1 - from).packet(frame, sentNs + delayNs);
        if (!isReference) {
            delaysNs.computeIfAbsent(port << 1 | from, (flow) -> new ArrayList<>()).add(delayNs);
        }
    }

    private void run(final int seconds) throws Exception {
        for (int i = 0; i < seconds * SECOND_NS / POLL_NS; i++) {
            time.advance(POLL_NS);
            for (int from = 0; from < 2; from++) {
                if (i % PACKET_EVERY == from) {
                    send(from, time.nanoTime() - POLL_NS, !isPassive && i % REFERENCE_EVERY == from);
                }
            }
            for (final Agent each : ends) {
                each.doWork();
            }
        }
    }

    /** Returns how many corrected records have a bound, which holds. */
    private int judge(final int from) {
        int bounded = 0;
        for (final UnsafeBuffer record : hosts.get(1 - from).records) {
            final int delay = FlowEntry.BASE_LENGTH_BYTES;
            final List<Long> truth = delaysNs.getOrDefault(FlowEntry.sourcePort(record, 0) << 1 | from, List.of());
            if ((int)FlowEntry.sourceLow(record, 0) != address(from) + 1) {
                continue;
            }
            assertTrue(!FlowDelay.has(record, delay, FlowDelay.FLAG_LOSS) || FlowDelay.lostPackets(record, delay) == 0);
            assertEquals(from + 1, FlowDelay.segmentId(record, delay));
            final boolean isBounded = FlowDelay.has(record, delay, FlowDelay.FLAG_CLOCK_CORRECTED) &&
                FlowDelay.has(record, delay, FlowDelay.FLAG_CLOCK_ERROR);
            if (isBounded && truth.size() == FlowEntry.packetCount(record, 0) &&
                FlowDelay.estimator(record, delay) == FlowDelay.ESTIMATOR_FLOW_SUMS) {
                final double meanNs = truth.stream().mapToLong(Long::longValue).average().orElseThrow();
                final long boundNs = FlowDelay.clockErrorNs(record, delay);
                assertEquals(meanNs, FlowDelay.meanNs(record, delay), boundNs + BEYOND_ASYMMETRY_NS);
                bounded++;
            }
        }
        return bounded;
    }

    @ParameterizedTest
    @ValueSource(booleans = {false, true})
    void shouldCorrectDelaysOfBothWaysByThePacketsOfBoth(final boolean areOfTraffic) throws Exception {
        isPassive = areOfTraffic;
        time.update(BEGIN_NS);
        network.delayNs(EXCHANGE_NS);
        new Host(0, 0, 0);
        new Host(1, -7_000_000, 50e-6);
        run(16);
        for (int to = 0; to < 2; to++) {
            final Host host = hosts.get(to);
            final ClockEstimate estimate = host.receiver.clock(0);
            final long apartNs = host.shows(time.nanoTime()) - hosts.get(1 - to).shows(time.nanoTime());
            assertTrue(estimate.isKnown() && estimate.isCorrected(), estimate::toString);
            assertEquals(apartNs, estimate.offsetAtSentNs(time.nanoTime()), estimate.boundNs(), estimate::toString);
            assertTrue(estimate.boundNs() < (LEAST_NS[0] + LEAST_NS[1]) / 2 + 30_000,
                "the exchange's is above half a millisecond: " + estimate.boundNs());
            assertTrue(Math.min(host.count("clock_packets_forth"), host.count("clock_packets_back")) > 100);
            assertEquals(0, host.count("clock_steps") + host.count("clock_unclear_changes") + host.count("clock_path_changes"));
            assertTrue(judge(1 - to) > 4, "records to host " + to + ": " + judge(1 - to) + " of " + host.records.size());
        }
    }
}
