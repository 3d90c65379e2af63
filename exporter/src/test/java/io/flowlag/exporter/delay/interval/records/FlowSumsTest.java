package io.flowlag.exporter.delay.interval.records;

import com.sun.management.ThreadMXBean;
import io.flowlag.common.hash.KeyedMix;
import io.flowlag.common.memory.OffHeapBuffer;
import io.flowlag.exporter.decode.PacketDescriptor;
import io.flowlag.exporter.delay.interval.TakenPlaces;
import net.jqwik.api.ForAll;
import net.jqwik.api.Property;
import net.jqwik.api.constraints.IntRange;
import net.jqwik.api.constraints.LongRange;
import org.agrona.concurrent.UnsafeBuffer;
import org.junit.jupiter.api.Test;

import java.lang.management.ManagementFactory;
import java.util.ArrayList;
import java.util.Collections;
import java.util.List;
import java.util.Random;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertNotEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

class FlowSumsTest {
    private static final SketchedPacket PACKET = new SketchedPacket();
    private static final int FLOWS = 20;
    private static final long MAXIMUM_DELAY_NS = 50_000_000L;

    /** A packet of a flow. */
    private record Packet(int flow, long sentNs, long delayNs, long digest) {
    }

    private static long flowHash(final int flow) {
        return KeyedMix.mix(flow, 9);
    }

    private static List<Packet> packets(final Random random, final int count) {
        final List<Packet> packets = new ArrayList<>();
        for (int i = 0; i < count; i++) {
            packets.add(new Packet(
                random.nextInt(FLOWS), random.nextLong(), random.nextLong(2 * MAXIMUM_DELAY_NS) - MAXIMUM_DELAY_NS,
                KeyedMix.mix(i, 3)));
        }
        return packets;
    }

    private static FlowSums sent(final List<Packet> packets) {
        final FlowSums sums = FlowSums.ofAll(FLOWS);
        packets.forEach((each) -> add(sums, flowHash(each.flow), each.sentNs, each.digest));
        return sums;
    }

    private static FlowSums received(final List<Packet> packets) {
        final FlowSums sums = FlowSums.ofAll(FLOWS);
        packets.forEach((each) -> add(sums, flowHash(each.flow), each.sentNs + each.delayNs, each.digest));
        return sums;
    }

    private static void add(final FlowSums sums, final long flowHash, final long relativeNs, final long digest) {
        sums.add(PACKET.set(relativeNs, flowHash, digest, 100, 0, 1), relativeNs);
    }

    private static SketchedPacket withAddresses(final long flowHash, final UnsafeBuffer descriptor) {
        PacketDescriptor.segmentFlowHash(descriptor, 0, flowHash);
        PacketDescriptor.digest(descriptor, 0, 6);
        PacketDescriptor.ipLengthBytes(descriptor, 0, 7);
        return PACKET.wrap(descriptor, 0, 3, 1);
    }

    private static UnsafeBuffer descriptor(final int sourcePort, final int flags) {
        final UnsafeBuffer descriptor = new UnsafeBuffer(new byte[PacketDescriptor.LENGTH_BYTES]);
        PacketDescriptor.ipVersion(descriptor, 0, 6);
        PacketDescriptor.protocol(descriptor, 0, 132);
        PacketDescriptor.sourceHigh(descriptor, 0, 0xfe80L << 48);
        PacketDescriptor.sourceLow(descriptor, 0, -1);
        PacketDescriptor.destinationHigh(descriptor, 0, 3);
        PacketDescriptor.destinationLow(descriptor, 0, 4);
        PacketDescriptor.sourcePort(descriptor, 0, sourcePort);
        PacketDescriptor.destinationPort(descriptor, 0, 65535);
        PacketDescriptor.flags(descriptor, 0, flags);
        return descriptor;
    }

    @Property(tries = 100)
    void shouldGiveEveryFlowsExactDelaySumInAnyOrder(
        @ForAll final long seed, @ForAll @IntRange(min = 1, max = 300) final int count) {
        final Random random = new Random(seed);
        final List<Packet> packets = packets(random, count);
        final FlowSums sent = sent(packets);
        Collections.shuffle(packets, random);
        final FlowSumPairs pairs = new FlowSumPairs().pair(sent, received(packets));
        final long[] sums = new long[FLOWS];
        packets.forEach((each) -> sums[each.flow] += each.delayNs);

        assertEquals(packets.stream().mapToInt(Packet::flow).distinct().count(), pairs.count());
        for (int flow = 0; flow < FLOWS; flow++) {
            final int row = sent.find(flowHash(flow));
            if (row != FlowSums.NONE) {
                assertEquals(FlowSumPairs.Agreement.SAME_PACKETS, pairs.agreement(row));
                assertEquals(sums[flow], pairs.delaySumNs(row));
                assertEquals(100 * sent.packets(row), sent.bytes(row));
                assertEquals(0, pairs.lostPackets(row));
            }
        }
    }

    @Property(tries = 200)
    void shouldSeeEveryLostPacketAndEverySwappedOne(
        @ForAll final long seed, @ForAll @IntRange(min = 1, max = 100) final int count,
        @ForAll @LongRange(min = 1) final long change) {
        final Random random = new Random(seed);
        final List<Packet> packets = packets(random, count);
        final FlowSums sent = sent(packets);
        final int victim = random.nextInt(count);
        final Packet packet = packets.get(victim);
        final int row = sent.find(flowHash(packet.flow));

        packets.set(victim, new Packet(packet.flow, packet.sentNs, packet.delayNs, packet.digest + change));
        final FlowSumPairs swapped = new FlowSumPairs().pair(sent, received(packets));
        assertEquals(FlowSumPairs.Agreement.DIFFERENT, swapped.agreement(row));

        packets.remove(victim);
        final FlowSumPairs lost = new FlowSumPairs().pair(sent, received(packets));
        assertEquals(1, lost.lostPackets(row));
        assertEquals(sent.packets(row) == 1 ? FlowSumPairs.Agreement.SENT_ONLY : FlowSumPairs.Agreement.LOST,
            lost.agreement(row));
    }

    @Test
    void shouldKeepNoFlowWithoutRoom() {
        final FlowSums sums = FlowSums.ofAll(0);
        assertFalse(sums.keepsFlows());
        add(sums, flowHash(1), 1, 1);
        assertEquals(FlowSums.NONE, sums.put(flowHash(2), 7, 0, 0, 0));
        assertEquals(0, sums.count());
        assertEquals(FlowSums.NONE, sums.find(flowHash(1)));
        assertTrue(FlowSums.ofAll(1).keepsFlows());
    }

    @Test
    void shouldTakeEveryFlowOfATableOfAllForAWitness() {
        final FlowSums sums = FlowSums.ofAll(FLOWS);
        for (int flow = 0; flow < FLOWS; flow++) {
            add(sums, flowHash(flow), flow, flow);
            assertTrue(sums.isWitness(flow));
        }
    }

    @Test
    void shouldKeepFlowsWholeAndCountThePacketsOfThoseWithoutRoom() {
        final FlowSums sums = FlowSums.ofAll(3);
        for (int i = 0; i < 50; i++) {
            add(sums, flowHash(i % 5), i, i);
        }
        assertEquals(3, sums.count());
        assertEquals(20, sums.overflowPackets());
        for (int row = 0; row < 3; row++) {
            assertEquals(flowHash(row), sums.flowHash(row));
            assertEquals(10, sums.packets(row));
        }
        assertEquals(FlowSums.NONE, sums.find(flowHash(4)));
        assertEquals(FlowSums.NONE, sums.put(flowHash(4), 7, 0, 0, 0));
        assertEquals(27, sums.overflowPackets());
        sums.clear();
        assertEquals(0, sums.count() + sums.overflowPackets());
        assertEquals(FlowSums.NONE, sums.find(flowHash(0)));
    }

    @Test
    void shouldKeepTheSameFlowsAtBothPoints() {
        final SharedSampling sampling = new SharedSampling(4, 0, 10_000);
        final FlowSums sent = FlowSums.ofWitnesses(1_000, sampling);
        final FlowSums received = FlowSums.ofWitnesses(1_000, sampling);
        final List<Integer> order = new ArrayList<>();
        for (int flow = 0; flow < 2_000; flow++) {
            add(sent, flowHash(flow), 1, flow);
            order.add(flow);
        }
        Collections.shuffle(order, new Random(1));
        order.forEach((flow) -> add(received, flowHash(flow), 3, flow));
        assertEquals(400, sent.count(), 80);
        assertEquals(sent.count(), received.count());
        final FlowSumPairs pairs = new FlowSumPairs().pair(sent, received);
        for (int row = 0; row < pairs.count(); row++) {
            assertEquals(FlowSumPairs.Agreement.SAME_PACKETS, pairs.agreement(row));
            assertEquals(2, pairs.delaySumNs(row));
        }
    }

    @Test
    void shouldKnowWhoseSumsTheyAreAndRefuseAnotherFlowOfTheSameHash() {
        final FlowSums sums = FlowSums.ofAll(2);
        sums.add(withAddresses(1, descriptor(9, 0)), 5);
        sums.add(withAddresses(1, descriptor(10, 0)), 5);
        sums.add(withAddresses(2, descriptor(10, PacketDescriptor.FLAG_FRAGMENT)), 5);
        sums.add(withAddresses(2, descriptor(11, PacketDescriptor.FLAG_FRAGMENT)), 5);
        assertEquals(1, sums.overflowPackets());
        assertEquals(1, sums.packets(0));
        assertEquals(2, sums.packets(1));
        assertEquals(6, sums.ipVersion(0));
        assertEquals(132, sums.protocol(0));
        assertEquals(3, sums.classIndex(0));
        assertEquals(3, sums.classIndex(1));
        assertEquals(9, sums.sourcePort(0));
        assertEquals(65535, sums.destinationPort(0));
        assertEquals(0, sums.sourcePort(1) + sums.destinationPort(1));
        assertEquals(0xfe80L << 48, sums.sourceHigh(0));
        assertEquals(-1, sums.sourceLow(0));
        assertEquals(3, sums.destinationHigh(0));
        assertEquals(4, sums.destinationLow(0));
    }

    @Test
    void shouldTakeOverWhatAnotherPointHas() {
        final FlowSums sums = FlowSums.ofAll(2);
        final int row = sums.put(77, 3, -5, 11, 300);
        final UnsafeBuffer key = descriptor(65535, 0);
        PacketDescriptor.sourceLow(key, 0, 0xC0000201L);
        PacketDescriptor.destinationPort(key, 0, 53);
        PacketDescriptor.protocol(key, 0, 17);
        PacketDescriptor.ipVersion(key, 0, 4);
        sums.key(row, key, 0);
        assertEquals(row, sums.find(77));
        assertEquals(3, sums.packets(row));
        assertEquals(-5, sums.timestampSumNs(row));
        assertEquals(11, sums.digestSum(row));
        assertEquals(300, sums.bytes(row));
        assertEquals(65535, sums.sourcePort(row));
        assertEquals(53, sums.destinationPort(row));
        assertEquals(17, sums.protocol(row));
        assertEquals(4, sums.ipVersion(row));
        assertEquals(0xC0000201L, sums.sourceLow(row));
        assertEquals(FlowSums.NONE, sums.put(77, 3, -5, 11, 300));
    }

    @Test
    void shouldTakeTheMemoryItSaysAndAllocateNothingForPackets() {
        assertEquals(100 * 80 + 256 * 4, FlowSums.memoryBytes(100));
        final ThreadMXBean threads = (ThreadMXBean)ManagementFactory.getThreadMXBean();
        final FlowSums sent = FlowSums.ofAll(500);
        final FlowSums received = FlowSums.ofAll(500);
        final FlowSumPairs pairs = new FlowSumPairs();
        final UnsafeBuffer descriptor = descriptor(9, 0);
        long least = Long.MAX_VALUE;
        long sum = 0;
        for (int repetition = 0; repetition < 10 && least > 0; repetition++) {
            final long before = threads.getCurrentThreadAllocatedBytes();
            for (int i = 0; i < 20_000; i++) {
                PacketDescriptor.segmentFlowHash(descriptor, 0, flowHash(i % 600));
                PacketDescriptor.digest(descriptor, 0, i);
                sent.add(PACKET.wrap(descriptor, 0, 0, 1), i);
                add(received, flowHash(i % 600), i + 1, i);
            }
            pairs.pair(sent, received);
            for (int row = 0; row < pairs.count(); row++) {
                sum += pairs.agreement(row) == FlowSumPairs.Agreement.SAME_PACKETS ? pairs.delaySumNs(row) : 0;
            }
            sent.clear();
            received.clear();
            least = Math.min(least, threads.getCurrentThreadAllocatedBytes() - before);
        }
        assertEquals(0, least);
        assertNotEquals(0, sum);
        assertTrue(threads.isThreadAllocatedMemoryEnabled());
    }
    @Test
    void shouldFindAimedFlowsWithFewProbes() {
        final FlowSums sums = FlowSums.ofAll(TakenPlaces.KEYS);
        final FlowTotals totals = new FlowTotals(TakenPlaces.KEYS);
        totals.clear(TakenPlaces.KEYS);
        for (final long each : TakenPlaces.aimedKeys()) {
            sums.put(each, 1, 1, 1, 1);
            totals.add(each, 1);
        }
        final OffHeapBuffer index = TakenPlaces.field(sums, "index", OffHeapBuffer.class);
        TakenPlaces.assertFewProbes(index.capacity() / Integer.BYTES, (place) -> index.getInt(place * Integer.BYTES) != 0);
        final OffHeapBuffer flows = TakenPlaces.field(totals, "flows", OffHeapBuffer.class);
        TakenPlaces.assertFewProbes(flows.capacity() / 16, (place) -> flows.getLong(place * 16 + 8) != 0);
    }
}
