package io.flowlag.exporter.delay.exact;

import io.flowlag.common.memory.OffHeapBuffer;
import io.flowlag.exporter.decode.PacketDescriptor;
import io.flowlag.exporter.delay.interval.TakenPlaces;
import io.flowlag.exporter.flow.FlowEntry;
import net.jqwik.api.EdgeCasesMode;
import net.jqwik.api.ForAll;
import net.jqwik.api.Property;
import net.jqwik.api.constraints.IntRange;
import org.agrona.concurrent.UnsafeBuffer;
import org.junit.jupiter.api.Test;

import java.util.HashMap;
import java.util.Map;
import java.util.Random;
import java.util.function.Consumer;
import java.util.stream.IntStream;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertNotEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

class SegmentFlowsTest {
    private static final long SILENCE_NS = 1_000;

    private final Packets packets = new Packets();

    private static SegmentFlows flows(final int maxFlows) {
        return new SegmentFlows(maxFlows, SegmentFlows.NEVER_NS);
    }

    private int changed(final SegmentFlows flows, final Consumer<UnsafeBuffer> change) {
        final UnsafeBuffer packet = packets.packetIpv6(1, 0, 0);
        change.accept(packet);
        return flows.onSent(packet, 0);
    }

    @Test
    void shouldTellFlowsApartByEveryFieldOfTheFiveTuple() {
        final SegmentFlows flows = flows(16);
        final int first = flows.onSent(packets.packetIpv6(1, 0, 0), 0);
        assertEquals(first, changed(flows, packet -> PacketDescriptor.ipClassOfService(packet, 0, 184)));
        assertEquals(first, changed(flows, packet -> PacketDescriptor.vlanId(packet, 0, 7)));
        assertEquals(first, changed(flows, packet -> PacketDescriptor.interfaceId(packet, 0, 7)));
        assertEquals(4, flows.sent(first));

        assertNotEquals(first, changed(flows, packet -> PacketDescriptor.sourceHigh(packet, 0, 1)));
        assertNotEquals(first, changed(flows, packet -> PacketDescriptor.sourceLow(packet, 0, 1)));
        assertNotEquals(first, changed(flows, packet -> PacketDescriptor.destinationHigh(packet, 0, 1)));
        assertNotEquals(first, changed(flows, packet -> PacketDescriptor.destinationLow(packet, 0, 1)));
        assertNotEquals(first, changed(flows, packet -> PacketDescriptor.sourcePort(packet, 0, 65_535)));
        assertNotEquals(first, changed(flows, packet -> PacketDescriptor.destinationPort(packet, 0, 65_535)));
        assertNotEquals(first, changed(flows, packet -> PacketDescriptor.protocol(packet, 0, 255)));
        assertNotEquals(first, changed(flows, packet -> PacketDescriptor.ipVersion(packet, 0, 4)));
        assertEquals(9, flows.counters().get(MatchCounter.FLOWS));
    }

    /** Complements, whose signed product is the same if all secrets are odd. */
    @Test
    void shouldNotGiveTwoFlowsOneTagUnderEverySecret() {
        final SegmentFlows flows = flows(16);
        for (final long mask : new long[] {0, ~1L}) {
            changed(flows, packet -> {
                PacketDescriptor.sourceLow(packet, 0, 2 ^ mask);
                PacketDescriptor.destinationLow(packet, 0, 4 ^ mask);
            });
        }
        final OffHeapBuffer buckets = TakenPlaces.field(
            TakenPlaces.field(flows, "index", SlotIndex.class), "buckets", OffHeapBuffer.class);
        final long[] tags = IntStream.range(0, buckets.capacity() / Long.BYTES)
            .mapToLong((bucket) -> buckets.getLong(bucket * Long.BYTES)).filter((bucket) -> bucket != 0)
            .map((bucket) -> bucket >>> Integer.SIZE).toArray();
        assertEquals(2, tags.length);
        assertNotEquals(tags[0], tags[1]);
    }

    @Test
    void shouldFindTheFlowOfAnEntryOfTheCache() {
        final SegmentFlows flows = flows(16);
        final int flow = flows.onReceived(packets.packetIpv6(3, 0, 0), 0);
        final UnsafeBuffer entry = new UnsafeBuffer(new byte[FlowEntry.BASE_LENGTH_BYTES]);
        FlowEntry.sourceHigh(entry, 0, flows.sourceHigh(flow));
        FlowEntry.sourceLow(entry, 0, flows.sourceLow(flow));
        FlowEntry.destinationHigh(entry, 0, flows.destinationHigh(flow));
        FlowEntry.destinationLow(entry, 0, flows.destinationLow(flow));
        FlowEntry.sourcePort(entry, 0, 1003);
        FlowEntry.destinationPort(entry, 0, Packets.DESTINATION_PORT);
        FlowEntry.protocol(entry, 0, Packets.UDP);
        FlowEntry.ipVersion(entry, 0, 6);
        FlowEntry.ipClassOfService(entry, 0, 46 << 2);

        assertEquals(flow, flows.findOfEntry(entry, 0));
        FlowEntry.sourcePort(entry, 0, 1004);
        assertEquals(SegmentFlows.NO_FLOW, flows.findOfEntry(entry, 0));
    }

    @Test
    void shouldCountPacketsThatFindTheTableFull() {
        final SegmentFlows flows = flows(1);
        assertEquals(0, flows.onSent(packets.packet(1, 0, 0), 0));
        assertEquals(SegmentFlows.NO_FLOW, flows.onSent(packets.packet(2, 0, 0), 0));
        assertEquals(SegmentFlows.NO_FLOW, flows.onReceived(packets.packet(2, 0, 0), 0));
        flows.onLost(SegmentFlows.NO_FLOW);
        flows.onDelay(SegmentFlows.NO_FLOW, 1);
        flows.onWaiting(SegmentFlows.NO_FLOW);

        assertEquals(1, flows.counters().get(MatchCounter.SENT_WITHOUT_FLOW));
        assertEquals(1, flows.counters().get(MatchCounter.RECEIVED_WITHOUT_FLOW));
    }

    @Test
    void shouldGiveEachLossToOneRecord() {
        final SegmentFlows flows = flows(4);
        final int flow = flows.onSent(packets.packet(1, 0, 0), 0);
        flows.onLost(flow);
        flows.onLost(flow);
        flows.onUnexpected(flow);
        flows.onUndecided(flow);
        assertEquals(2, flows.takeLost(flow));
        assertEquals(0, flows.takeLost(flow));
        flows.onLost(flow);
        assertEquals(1, flows.takeLost(flow));
        assertEquals(1, flows.takeUnexpected(flow));
        assertEquals(0, flows.takeUnexpected(flow));
        assertEquals(1, flows.takeUndecided(flow));
        assertEquals(0, flows.takeUndecided(flow));

        assertEquals(3, flows.lost(flow));
    }

    @Test
    void shouldForgetSilentFlowsThatWaitForNothing() {
        final SegmentFlows flows = new SegmentFlows(4, SILENCE_NS);
        final int silent = flows.onSent(packets.packet(1, 0, 0), 0);
        final int waiting = flows.onSent(packets.packet(2, 0, 0), 0);
        final int lively = flows.onSent(packets.packet(3, 0, SILENCE_NS), 0);
        flows.onWaiting(waiting);
        flows.onLost(silent);
        flows.onLost(silent);
        flows.takeLost(silent);
        flows.onLost(silent);
        flows.onUnexpected(silent);
        flows.sweep(SILENCE_NS, 100);
        assertTrue(flows.isLive(silent));
        flows.sweep(SILENCE_NS + 1, 100);

        assertFalse(flows.isLive(silent));
        assertTrue(flows.isLive(waiting) && flows.isLive(lively));
        assertEquals(SegmentFlows.NO_FLOW, flows.find(packets.packet(1, 0, 0), 0));
        assertEquals(1, flows.counters().get(MatchCounter.FLOWS_REMOVED));
        assertEquals(1, flows.counters().get(MatchCounter.LOST_UNTAKEN));
        assertEquals(1, flows.counters().get(MatchCounter.UNEXPECTED_UNTAKEN));
        assertEquals(silent, flows.onSent(packets.packet(4, 0, 0), 0), "the slot is given again");
        assertEquals(0, flows.lost(silent));
    }

    @Test
    void shouldSweepTheWholeTableInTheTimeOfSilence() {
        final SegmentFlows flows = new SegmentFlows(1_000, SILENCE_NS);
        for (int i = 0; i < 1_000; i++) {
            flows.onSent(packets.packet(i, 0, 0), 0);
        }
        for (long nowNs = SILENCE_NS + 1; nowNs < 2 * SILENCE_NS; nowNs++) {
            flows.expire(nowNs);
        }
        assertEquals(0, flows.counters().get(MatchCounter.FLOWS));
    }

    @Test
    void shouldRefuseImpossibleSizes() {
        assertThrows(IllegalArgumentException.class, () -> flows(0));
        assertThrows(IllegalArgumentException.class, () -> flows(SegmentFlows.MAX_FLOWS + 1));
        assertThrows(IllegalArgumentException.class, () -> new SegmentFlows(1, 0));
    }

    /** Flows come, and go when silent, in a table that is always nearly full. */
    @Property(tries = 200, edgeCases = EdgeCasesMode.NONE)
    void shouldKeepEveryFlowThatIsThere(@ForAll final long seed, @ForAll @IntRange(min = 1, max = 60) final int maxFlows) {
        final Random random = new Random(seed);
        final SegmentFlows flows = new SegmentFlows(maxFlows, SILENCE_NS);
        final Map<Integer, Long> sent = new HashMap<>();
        final Map<Integer, Long> newestNs = new HashMap<>();
        for (long nowNs = 0; nowNs < 20_000; nowNs += random.nextInt(200)) {
            final int number = random.nextInt(2 * maxFlows);
            final int flow = flows.onSent(packets.packet(number, 0, nowNs), 0);
            if (flow == SegmentFlows.NO_FLOW) {
                assertEquals(maxFlows, sent.size());
            } else {
                sent.merge(number, 1L, Long::sum);
                newestNs.put(number, nowNs);
            }
            if (random.nextInt(4) == 0) {
                final long now = nowNs;
                flows.sweep(nowNs, maxFlows);
                newestNs.values().removeIf(newest -> now - newest > SILENCE_NS);
                sent.keySet().retainAll(newestNs.keySet());
            }
            assertEquals(sent.size(), flows.counters().get(MatchCounter.FLOWS));
            sent.forEach((key, count) -> assertEquals(count, flows.sent(flows.find(packets.packet(key, 0, 0), 0))));
        }
    }
}
