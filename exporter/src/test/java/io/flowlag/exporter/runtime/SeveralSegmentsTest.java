package io.flowlag.exporter.runtime;

import io.flowlag.exporter.capture.CaptureClock;
import io.flowlag.exporter.config.ConfigLoader;
import io.flowlag.exporter.config.ExporterConfig;
import io.flowlag.exporter.config.ExporterConfig.Role;
import io.flowlag.exporter.delay.ClockError;
import io.flowlag.exporter.delay.DelayStage;
import io.flowlag.exporter.delay.DelayWiring;
import io.flowlag.exporter.delay.FlowDelay;
import io.flowlag.exporter.delay.ReferenceMode;
import io.flowlag.exporter.delay.ReferenceTransmitter;
import io.flowlag.exporter.flow.FlowEntry;
import io.flowlag.exporter.status.AccountingIdentity;
import io.flowlag.exporter.status.CounterId;
import io.flowlag.exporter.status.Counters;
import io.flowlag.exporter.status.DelayStatistics;
import io.flowlag.rli.counters.DelayCounters;
import io.flowlag.rli.reference.ReferenceSession;
import org.agrona.DirectBuffer;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

import java.net.InetAddress;
import java.net.UnknownHostException;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Random;
import java.util.TreeMap;
import java.util.stream.IntStream;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

/** A process with several segments measures in each what a process with that segment alone measures of the same packets. */
class SeveralSegmentsTest {
    private static final long MS = 1_000_000L;
    private static final long START_NS = 1_700_000_000_000_000_000L;
    private static final int FIRST_ID = 40;
    private static final int PACKETS = 3000;
    /** A packet in so many is a reference. */
    private static final int REFERENCE_PART = 5;
    private static final int FLOWS = 4;
    private static final String TARGET = "198.51.100.1";

    /** What is known of a flow's delay, by source and port; flows of no segment have none. */
    private static final class Delays extends TakingDestination {
        final Map<String, String> flows = new TreeMap<>();
        long packets;

        @Override
        protected void onRecord(final DirectBuffer entry, final int offset) {
            final int delay = offset + FlowEntry.BASE_LENGTH_BYTES;
            packets += FlowEntry.packetCount(entry, offset);
            if (FlowDelay.has(entry, delay, FlowDelay.FLAG_SEGMENT)) {
                flows.put(FlowEntry.sourceLow(entry, offset) + ":" + FlowEntry.sourcePort(entry, offset) + "@" +
                    FlowEntry.startNs(entry, offset), String.join(" ", List.of(
                    "segment " + FlowDelay.segmentId(entry, delay), "packets " + FlowEntry.packetCount(entry, offset),
                    "samples " + DelayCounters.count(entry, delay), "mean " + FlowDelay.meanNs(entry, delay),
                    "bound " + (FlowDelay.has(entry, delay, FlowDelay.FLAG_ERROR_BOUND) ?
                        FlowDelay.errorBoundNs(entry, delay) : -1))));
            }
        }
    }

    /** Takes references and sends none. */
    private static final class Sink implements ReferenceTransmitter {
        @Override
        public boolean send(final int streamIndex, final DirectBuffer buffer, final int offset, final int lengthBytes) {
            return true;
        }

        @Override
        public int poll(final SendTimeHandler handler, final int limit) {
            return 0;
        }

        @Override
        public InetAddress target() {
            try {
                return InetAddress.getByName(TARGET);
            } catch (final UnknownHostException ex) {
                throw new IllegalStateException(ex);
            }
        }

        @Override
        public void close() {
            // has nothing open
        }
    }

    /** What a process measured. */
    private record Measured(Delays delays, Counters counters, List<DelayStatistics> statistics) {
    }

    private static int network(final int segment) {
        return 10 << 24 | segment + 1 << 16;
    }

    private static String entry(final int segment, final boolean isSender) {
        return "{role: " + (isSender ? "sender" : "receiver") + ", id: " + (FIRST_ID + segment) + ", source: [10." +
            (segment + 1) + ".0.0/16], max-delay: 50ms, interval: 100ms, rli: {session: " + (segment + 1) +
            (isSender ? ", policy: adaptive, max-gap: 100ms, capacity: 10m, target: " + TARGET : "") + "}}";
    }

    private static ExporterConfig config(final List<String> entries) {
        return new ConfigLoader().text("test",
            "threading: invoker\nmetering: {active-timeout: 400ms}\nsegments: [" + String.join(", ", entries) + "]\n")
            .conclude();
    }

    private static DelayWiring wiring(final ExporterConfig segment) {
        final boolean isReceiver = segment.segment().role() == Role.RECEIVER;
        return new DelayWiring(segment.segment().role(), new DelayWiring.References(
            ReferenceMode.SENT, ReferenceSessions.of(segment.rli()), isReceiver ? null : new Sink()), ClockError.fixed(1_000),
            isReceiver, false, false, false);
    }

    private static Measured measure(final ExporterConfig config, final ScriptedPoint point) {
        final Delays delays = new Delays();
        final Counters counters = new Counters();
        final List<DelayWiring> wirings = config.segments().stream().map(SeveralSegmentsTest::wiring).toList();
        try (MeteringPipeline pipeline = new MeteringPipeline(
            config, List.of(point), CaptureClock.FILES, wirings, List.of(), List.of(delays), counters, Pipelines::fail)) {
            while (!pipeline.isEnded()) {
                pipeline.doWork();
            }
            assertEquals(0, AccountingIdentity.unexplainedDecoded(counters));
            assertEquals(0, AccountingIdentity.unexplainedRecords(counters));
            final List<DelayStatistics> statistics = pipeline.delayStages().stream().map(DelayStage::statistics).toList();
            statistics.forEach((each) -> assertTrue(each.isAccountedFor(), each.unexplained()::toString));
            return new Measured(delays, counters, statistics);
        }
    }

    /** Packets of all networks and of others at random, and references of every session; delays differ by segment and in time. */
    private static ScriptedPoint script(final int segments, final long seed) {
        final Random random = new Random(seed);
        final ScriptedPoint point = new ScriptedPoint();
        final List<ScriptedPoint.Sender> senders = IntStream.range(0, segments).mapToObj((i) -> new ScriptedPoint.Sender(
            ReferenceSession.unauthenticated(i + 1), network(i) + 250)).toList();
        for (int i = 0; i < PACKETS; i++) {
            final long nowNs = START_NS + i * MS / 2 + random.nextInt(100_000);
            final int segment = random.nextInt(segments + 1);
            final long delayNs = (segment + 1) * MS + random.nextInt(1_000_000);
            if (random.nextInt(REFERENCE_PART) == 0 && segment < segments) {
                point.add(nowNs, senders.get(segment).reference(nowNs - delayNs));
            } else {
                point.packet(network(segment) + random.nextInt(2), 1000 + random.nextInt(FLOWS), nowNs, delayNs);
            }
        }
        return point;
    }

    @ParameterizedTest
    @ValueSource(longs = {1, 2, 3, 4, 5, 6})
    void shouldMeasureEachSegmentAsAProcessOfItsOwn(final long seed) {
        final Random random = new Random(seed);
        final int count = 2 + random.nextInt(5);
        final List<String> entries = new ArrayList<>();
        for (int i = 0; i < count; i++) {
            entries.add(entry(i, i > 0 && random.nextInt(3) == 0));
        }
        final Measured all = measure(config(entries), script(count, seed));
        final Map<String, String> expected = new TreeMap<>();
        long referencePackets = 0;
        for (int i = 0; i < count; i++) {
            final Measured alone = measure(config(entries.subList(i, i + 1)), script(count, seed));
            expected.putAll(alone.delays.flows);
            final DelayStatistics own = alone.statistics.get(0);
            final DelayStatistics among = all.statistics.get(i);
            assertEquals(own.counters(), among.counters());
            assertEquals(own.gauges(), among.gauges());
            assertEquals(own.total(), among.total());
            assertEquals(own.interval(), among.interval());
            assertEquals(own.segmentId(), among.segmentId());
            referencePackets += alone.counters.get(CounterId.REFERENCE_PACKETS);
            if ("receiver".equals(own.role())) {
                assertEquals(all.delays.packets, alone.delays.packets + referencesOfOthers(alone, all));
            }
        }
        assertTrue(expected.size() > FLOWS, expected::toString);
        assertEquals(expected, all.delays.flows);
        assertEquals(referencePackets, all.counters.get(CounterId.REFERENCE_PACKETS));
        assertEquals(all.counters.get(CounterId.DECODED) - referencePackets, all.delays.packets);
    }

    /** References of segments that a process does not know are flows there. */
    private static long referencesOfOthers(final Measured alone, final Measured all) {
        return alone.counters.get(CounterId.REFERENCE_PACKETS) - all.counters.get(CounterId.REFERENCE_PACKETS);
    }

    /** The longest match decides; the segment around it is not told of the packets inside. */
    @Test
    void shouldGiveAPacketToTheSegmentOfTheLongestMatch() {
        final ExporterConfig config = config(List.of(
            "{role: receiver, id: 1, source: [10.0.0.0/8], max-delay: 50ms, interval: 100ms}",
            "{role: receiver, id: 2, source: [10.2.0.0/16], max-delay: 50ms, interval: 100ms, rli: {session: 2}}",
            "{role: sender, id: 3, source: [10.2.0.0/16], rli: {target: 198.51.100.1, session: 3}}"));
        final Measured measured = measure(config, script(2, 9));
        final Map<String, Long> packets = new HashMap<>();
        measured.statistics.forEach((each) -> packets.put(each.role() + each.segmentId(),
            each.counters().getOrDefault("rli_packets", 0L)));
        assertTrue(packets.get("receiver1") > PACKETS / 5 && packets.get("receiver2") > PACKETS / 5, packets::toString);
        assertEquals(measured.counters.get(CounterId.METERED), packets.get("receiver1") + packets.get("receiver2"));
        assertEquals(measured.counters.get(CounterId.METERED) - packets.get("receiver2"),
            measured.counters.get(CounterId.SENDER_OUTSIDE_SEGMENT));
        measured.delays.flows.forEach((flow, text) -> assertEquals(
            Long.parseLong(flow.substring(0, flow.indexOf(':'))) >>> 16 == network(1) >>> 16 ? "segment 2" : "segment 1",
            text.substring(0, text.indexOf(" packets"))));
    }
}
