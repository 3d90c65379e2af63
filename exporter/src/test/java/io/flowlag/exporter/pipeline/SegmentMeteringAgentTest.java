package io.flowlag.exporter.pipeline;

import io.flowlag.exporter.capture.CaptureClock;
import io.flowlag.exporter.config.ConfigLoader;
import io.flowlag.exporter.config.ExporterConfig;
import io.flowlag.exporter.config.ExporterConfig.Role;
import io.flowlag.exporter.decode.DecodedReference;
import io.flowlag.exporter.decode.DigestSwitch;
import io.flowlag.exporter.decode.PacketDescriptor;
import io.flowlag.exporter.decode.SegmentHashes;
import io.flowlag.exporter.delay.ClockError;
import io.flowlag.exporter.delay.DelayStage;
import io.flowlag.exporter.delay.DelayWiring;
import io.flowlag.exporter.delay.DelayWiring.References;
import io.flowlag.exporter.delay.FlowDelay;
import io.flowlag.exporter.delay.PacketSegments;
import io.flowlag.exporter.delay.ReferenceMode;
import io.flowlag.exporter.delay.ReferenceTransmitter;
import io.flowlag.exporter.delay.SegmentStages;
import io.flowlag.exporter.flow.FlowCache;
import io.flowlag.exporter.flow.FlowCacheSettingsBuilder;
import io.flowlag.exporter.flow.FlowEntry;
import io.flowlag.exporter.status.CounterId;
import io.flowlag.exporter.status.Counters;
import io.flowlag.rli.receiver.ReceiverCounter;
import io.flowlag.rli.reference.ReferenceSession;
import org.agrona.DirectBuffer;
import org.agrona.concurrent.UnsafeBuffer;
import org.junit.jupiter.api.Test;

import java.util.ArrayList;
import java.util.List;
import java.util.stream.Collectors;
import java.util.stream.IntStream;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertSame;
import static org.junit.jupiter.api.Assertions.assertTrue;

/** Many segments in one process: receivers, and a sender behind them whose references are due by time. */
class SegmentMeteringAgentTest {
    private static final int RECEIVERS = 200;
    private static final long START_NS = 1_700_000_000_000_000_000L;
    private static final long MS = 1_000_000;
    private static final long CYCLE_NS = 10_000;
    private static final long DELAY_NS = 100_000;

    private final Counters counters = new Counters();
    private final List<Long> sentNs = new ArrayList<>();
    private final UnsafeBuffer packet = new UnsafeBuffer(new byte[PacketDescriptor.LENGTH_BYTES]);
    /** Sources, segments and packets of records. */
    private final List<List<Long>> ended = new ArrayList<>();
    private final SegmentStages sink;
    private final List<DelayStage> stages;
    private final MeteringAgent agent;
    private long nowNs = START_NS;

    SegmentMeteringAgentTest() {
        final ExporterConfig config = config(0);
        final List<DelayWiring> wirings = new ArrayList<>();
        for (int i = 0; i < RECEIVERS; i++) {
            wirings.add(new DelayWiring(Role.RECEIVER,
                new References(ReferenceMode.SENT, List.of(ReferenceSession.unauthenticated(i + 1))), ClockError.NONE, true,
                false, false, false));
        }
        wirings.add(new DelayWiring(Role.SENDER,
            new References(ReferenceMode.SENT, List.of(ReferenceSession.unauthenticated(1000)), new Transmitter()),
            ClockError.NONE, true, false, false, false));
        final CaptureClock clock = () -> nowNs;
        sink = new SegmentStages(config.segments(), (buffer, offset, lengthBytes) -> ended.add(List.of(
            FlowEntry.sourceLow(buffer, offset) & 0xFFFF,
            (long)FlowDelay.segmentId(buffer, offset + FlowEntry.BASE_LENGTH_BYTES), FlowEntry.packetCount(buffer, offset))));
        final FlowCache cache = new FlowCache(new FlowCacheSettingsBuilder().maxFlows(1024)
            .stateLengthBytes(SegmentStages.stateLengthBytes(wirings)).build(), sink, counters);
        stages = sink.open(config.segments(), wirings, cache, clock, counters);
        agent = new SegmentMeteringAgent(cache, StageRing.unused(), () -> false, clock, new SegmentMeteringAgent.Segments(
            stages, wirings, sink, new SegmentHashes(wirings.stream().map((each) -> new DigestSwitch()).toList())),
            counters);
        agent.onStart();
    }

    /** Receivers of sources by their index; moved by 1, the third has those of the first, and the first those of the second. */
    private static ExporterConfig config(final int moved) {
        return new ConfigLoader().text("test", "metering: {max-flows: 1024}\nquantiles: {memory: 0}\n" +
            "rli: {buffer: 16, silent-after: 100ms, max-gap: 50ms}\nsegments: [" + IntStream.range(0, RECEIVERS).mapToObj((i) ->
            "{role: receiver, id: " + (i + 1) + ", source: [10.1." + (i < 3 ? (i + moved) % 3 : i) +
            ".0/24], rli: {session: " + (i + 1) + "}}")
            .collect(Collectors.joining(", ")) + ", {role: sender, id: 1000, rli: {target: h, session: 1000, " +
            "policy: every-interval, every-interval: 1ms}}]\n").conclude();
    }

    /** Remembers when references were sent. */
    private final class Transmitter implements ReferenceTransmitter {
        @Override
        public boolean send(final int streamIndex, final DirectBuffer buffer, final int offset, final int lengthBytes) {
            sentNs.add(nowNs);
            return true;
        }

        @Override
        public int poll(final SendTimeHandler handler, final int limit) {
            return 0;
        }

        @Override
        public void close() {
            // holds nothing
        }
    }

    private void runFor(final long timeNs) {
        for (final long untilNs = nowNs + timeNs; nowNs < untilNs; nowNs += CYCLE_NS) {
            agent.onCaptured(nowNs);
            agent.doWork();
        }
    }

    private void receive(final int source) {
        final UnsafeBuffer regular = new UnsafeBuffer(new byte[PacketDescriptor.LENGTH_BYTES]);
        PacketDescriptor.timestampNs(regular, 0, nowNs);
        PacketDescriptor.ipVersion(regular, 0, 4);
        PacketDescriptor.segmentCount(regular, 0, 1);
        PacketDescriptor.sourceLow(regular, 0, 10 << 24 | 1 << 16 | source);
        agent.onDescriptors(regular, 0, 1);
    }

    private long metered(final int segment) {
        return stages.get(segment).counters().ownCount(CounterId.METERED);
    }

    private void hearReferences(final int number) {
        for (int i = 0; i < RECEIVERS; i++) {
            PacketDescriptor.timestampNs(packet, 0, nowNs);
            DecodedReference.encode(packet, 0, 0, number, nowNs - DELAY_NS);
            DecodedReference.segment(packet, 0, i, 0);
            agent.onDescriptors(packet, 0, 1);
        }
    }

    private long inEach(final ReceiverCounter counter) {
        final List<Long> values = stages.subList(0, RECEIVERS).stream()
            .map((each) -> each.statistics().counters().get(counter.label())).distinct().toList();
        assertEquals(1, values.size(), values::toString);
        return values.get(0);
    }

    @Test
    void shouldSendReferencesWhenTheyAreDueWhateverTheNumberOfSegments() {
        runFor(50 * MS);
        assertTrue(sentNs.size() > 48, sentNs::toString);
        for (int i = 1; i < sentNs.size(); i++) {
            assertTrue(sentNs.get(i) - sentNs.get(i - 1) <= MS + CYCLE_NS, sentNs::toString);
        }
    }

    @Test
    void shouldGiveEachSegmentItsTurn() {
        hearReferences(0);
        runFor(90 * MS);
        assertEquals(0, inEach(ReceiverCounter.SILENCES));
        runFor(20 * MS);
        assertEquals(1, inEach(ReceiverCounter.SILENCES));
    }

    @Test
    void shouldTellEachSegmentOfAClockThatWasSetBackBeforeTheNextPacket() {
        hearReferences(0);
        runFor(5 * MS);
        hearReferences(1);
        nowNs -= 1_000 * MS;
        agent.onCaptured(nowNs);
        assertEquals(1, inEach(ReceiverCounter.CLOCK_STEPS));
        hearReferences(2);
        runFor(5 * MS);
        assertEquals(1, inEach(ReceiverCounter.CLOCK_STEPS));
        assertEquals(3L * RECEIVERS, counters.get(CounterId.REFERENCE_PACKETS));
        assertTrue(sentNs.get(sentNs.size() - 1) > nowNs - 2 * MS, "references go on after the step");
    }

    @Test
    void shouldEndTheFlowsOfPacketsThatChangeTheirSegmentAndNoOthers() {
        final int moved = 0x001;
        final int silent = 0x002;
        final int kept = 0x301;
        List.of(moved, silent, kept).forEach(this::receive);
        final long fromNs = nowNs + 10 * MS;
        sink.selection().change(new PacketSegments(config(1).segments()), fromNs);
        receive(moved);
        runFor(9 * MS);
        receive(moved);
        assertEquals(List.of(3L + 1, 0L, 1L), List.of(metered(0), metered(2), metered(3)), "not before its time");
        nowNs = fromNs;
        receive(kept);
        receive(moved);
        assertEquals(List.of(4L, 1L, 2L), List.of(metered(0), metered(2), metered(3)));
        assertEquals(List.of(List.of((long)moved, 1L, 3L)), ended);
        assertTrue(sink.selection().isChanging(), "a flow has not ended");
        runFor(100 * MS);
        assertEquals(List.of(List.of((long)moved, 1L, 3L), List.of((long)silent, 1L, 1L)), ended);
        runFor(MS);
        assertFalse(sink.selection().isChanging());
        nowNs -= 1_000 * MS;
        receive(moved);
        assertEquals(2, metered(2), "also where the clock is set back");
        assertSame(sink.packets(), sink.selection().at(nowNs));
    }
}
