package io.flowlag.exporter.monitoring.top;

import com.sun.management.ThreadMXBean;
import io.flowlag.exporter.decode.PacketDescriptor;
import io.flowlag.exporter.delay.FlowDelay;
import io.flowlag.exporter.delay.FlowSketch;
import io.flowlag.exporter.flow.FlowCache;
import io.flowlag.exporter.flow.FlowCacheSettingsBuilder;
import io.flowlag.exporter.flow.FlowEntry;
import io.flowlag.exporter.monitoring.FlowView;
import io.flowlag.exporter.status.Counters;
import org.agrona.concurrent.UnsafeBuffer;
import org.junit.jupiter.api.Test;

import java.lang.management.ManagementFactory;
import java.util.ArrayList;
import java.util.List;
import java.util.stream.LongStream;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertNotNull;
import static org.junit.jupiter.api.Assertions.assertNull;
import static org.junit.jupiter.api.Assertions.assertTrue;

/** Flows of a cache without delay, so that the largest rank first; with delays the system tests look at it. */
class FlowWatchTest {
    private static final long START_NS = 1_700_000_000_000_000_000L;
    private static final int SLOTS = 1024;
    private static final int CAPACITY = 16;
    private static final long INTERVAL_NS = 1_000_000_000L;
    private static final long IDLE_NS = 1_000_000_000L;

    private final UnsafeBuffer packet = new UnsafeBuffer(new byte[PacketDescriptor.LENGTH_BYTES]);
    private final List<Long> handedOn = new ArrayList<>();
    private long nowNs;
    private int handedOnCount;
    private boolean isListing = true;
    private final FlowWatch watch = new FlowWatch((buffer, offset, length) -> {
        handedOnCount++;
        if (isListing) {
            handedOn.add(FlowEntry.sourceLow(buffer, offset));
        }
    }, CAPACITY, INTERVAL_NS, () -> nowNs);
    private final FlowCache cache = new FlowCache(
        new FlowCacheSettingsBuilder().maxFlows(SLOTS).activeTimeoutNs(60_000_000_000L).idleTimeoutNs(IDLE_NS)
            .tcpEndTimeoutNs(0).build(),
        watch,
        new Counters());

    FlowWatchTest() {
        watch.watch(cache, (entry, offset) -> null);
    }

    private void packets(final int source, final int count, final long timestampNs) {
        packet.setMemory(0, PacketDescriptor.LENGTH_BYTES, (byte)0);
        PacketDescriptor.timestampNs(packet, 0, timestampNs);
        PacketDescriptor.ipVersion(packet, 0, 4);
        PacketDescriptor.protocol(packet, 0, 17);
        PacketDescriptor.sourceLow(packet, 0, source);
        PacketDescriptor.segmentCount(packet, 0, 1);
        PacketDescriptor.ipLengthBytes(packet, 0, 100);
        for (int i = 0; i < count; i++) {
            cache.update(packet, 0);
        }
    }

    /** A whole pass over the cache. */
    private void pass() {
        for (int i = 0; i < SLOTS / FlowWatch.SLOTS; i++) {
            watch.doWork();
            nowNs += FlowWatch.PAUSE_NS;
        }
    }

    private static List<Long> sources(final FlowRanking ranking) {
        final List<Long> sources = new ArrayList<>();
        for (int i = 0; i < ranking.size(); i++) {
            sources.add(FlowEntry.sourceLow(ranking.flows(), ranking.offset(i)));
        }
        return sources.stream().sorted().toList();
    }

    @Test
    void shouldMakeUpForTheTurnsThatItsThreadSlept() {
        for (int source = 0; source < SLOTS; source++) {
            packets(source, 1, START_NS);
        }
        watch.doWork();
        assertNull(watch.take());
        nowNs += SLOTS / FlowWatch.SLOTS * FlowWatch.PAUSE_NS;
        watch.doWork();
        assertEquals(SLOTS, watch.take().living().offeredCount());
    }

    @Test
    void shouldPassOverSlotsThatNeverHeldAFlow() {
        watch.doWork();
        assertEquals(0, watch.take().living().offeredCount());
    }

    @Test
    void shouldGatherTheLargestLivingAndEndedFlows() {
        for (int source = 1; source <= 100; source++) {
            packets(source, source, START_NS);
        }
        assertNull(watch.take());
        pass();
        final FlowPicks first = watch.take();
        assertEquals(100, first.living().offeredCount());
        assertEquals(
            LongStream.rangeClosed(85, 100).boxed().toList(), sources(first.living()));
        assertEquals(0, first.ended().size());
        watch.giveBack(first);

        cache.expire(START_NS + 10 * IDLE_NS, SLOTS);
        assertEquals(100, handedOn.size(), "every flow goes on to the records");
        nowNs += INTERVAL_NS;
        pass();
        final FlowPicks second = watch.take();
        assertEquals(0, second.living().size());
        assertEquals(100, second.ended().offeredCount());
        assertEquals(LongStream.rangeClosed(85, 100).boxed().toList(), sources(second.ended()));
        assertEquals(17, FlowEntry.protocol(second.ended().flows(), second.ended().offset(0)));
        assertEquals(1, FlowEntry.endReason(second.ended().flows(), second.ended().offset(0)));
    }

    /** Of the octets behind what other stages keep; the row of a flow without TCP has none. */
    @Test
    void shouldKeepWhatIsKnownOfTcp() {
        final FlowCache following = new FlowCache(
            new FlowCacheSettingsBuilder().maxFlows(SLOTS).stateLengthBytes(64).additions(true, true).build(), watch,
            new Counters());
        watch.watch(following, (entry, offset) -> null);
        for (final int protocol : new int[] {6, 17}) {
            packet.setMemory(0, PacketDescriptor.LENGTH_BYTES, (byte)0);
            PacketDescriptor.ipVersion(packet, 0, 4);
            PacketDescriptor.protocol(packet, 0, protocol);
            PacketDescriptor.segmentCount(packet, 0, 1);
            PacketDescriptor.flags(packet, 0, protocol == 6 ? PacketDescriptor.FLAG_TCP : 0);
            PacketDescriptor.tcp(packet, 0, 100, 0, 10);
            for (int i = 0; i < 3; i++) {
                PacketDescriptor.timestampNs(packet, 0, START_NS + i * 1_000_000_000L);
                following.update(packet, 0);
            }
        }
        pass();
        final FlowPicks living = watch.take();
        expectTcp(living.living());
        watch.giveBack(living);
        following.flush(SLOTS);
        nowNs += INTERVAL_NS;
        pass();
        expectTcp(watch.take().ended());
    }

    private static void expectTcp(final FlowRanking flows) {
        assertEquals(2, flows.size());
        for (int i = 0; i < 2; i++) {
            final FlowView flow = FlowView.of(flows.flows(), flows.offset(i));
            assertEquals(flow.protocol() == 6, flow.tcp() != null);
            if (flow.protocol() == 6) {
                assertEquals(2, flow.tcp().retransmitted());
                assertEquals(20, flow.tcp().retransmittedOctets());
                assertNull(flow.tcp().handshakeNs());
                assertNull(flow.tcp().roundTrips());
            }
        }
    }

    /** Sums of a part of a flow have as many packets as its record, and a wide bound: they are not exact. */
    @Test
    void shouldCallAMeanExactThatIsOfEveryPacketsOwnDelay() {
        final int offset = FlowEntry.BASE_LENGTH_BYTES;
        final UnsafeBuffer entry = new UnsafeBuffer(new byte[offset + FlowDelay.SKETCH_LENGTH_BYTES]);
        for (final int source : new int[] {1, 2}) {
            entry.setMemory(0, entry.capacity(), (byte)0);
            FlowEntry.sourceLow(entry, 0, source);
            FlowEntry.ipVersion(entry, 0, 4);
            FlowEntry.packetCount(entry, 0, 3);
            FlowSketch.mean(entry, FlowDelay.sketchOffset(offset), 5_000, 3, 0, 3);
            FlowDelay.estimator(entry, offset, FlowDelay.ESTIMATOR_FLOW_SUMS);
            FlowDelay.addFlags(entry, offset, source == 1 ? FlowDelay.FLAG_EXACT : 0);
            FlowDelay.errorBoundNs(entry, offset, source == 1 ? 1 : 9_000);
            watch.onFlowRecord(entry, 0, entry.capacity());
        }
        pass();
        final FlowRanking ended = watch.take().ended();
        assertEquals(2, ended.size());
        for (int i = 0; i < 2; i++) {
            final boolean isExact = FlowEntry.sourceLow(ended.flows(), ended.offset(i)) == 1;
            assertEquals(isExact, FlowView.of(ended.flows(), ended.offset(i)).isExact());
            assertEquals(isExact ? 1 : 9_000, FlowView.of(ended.flows(), ended.offset(i)).boundNs());
        }
    }

    @Test
    void shouldNotLoseEndedFlowsWhileNobodyTakes() {
        packets(1, 1, START_NS);
        pass();
        final FlowPicks taken = watch.take();
        assertNotNull(taken);
        for (int round = 1; round <= 5; round++) {
            packets(round, 1, START_NS + round * 2 * IDLE_NS);
            nowNs += INTERVAL_NS;
            pass();
        }
        assertNull(watch.take(), "the one set is out, the other is filled");
        watch.giveBack(taken);
        nowNs += INTERVAL_NS;
        pass();
        assertEquals(handedOn.size(), watch.take().ended().offeredCount());
    }

    @Test
    void shouldWaitBetweenPasses() {
        packets(1, 1, START_NS);
        pass();
        watch.giveBack(watch.take());
        pass();
        assertNull(watch.take(), "the next pass begins when its time has come");
    }

    @Test
    void shouldAllocateNothing() {
        isListing = false;
        final ThreadMXBean thread = (ThreadMXBean)ManagementFactory.getThreadMXBean();
        long before = 0;
        for (int round = 0; round < 4_000; round++) {
            if (round == 3_000) {
                before = thread.getCurrentThreadAllocatedBytes();
            }
            for (int i = 0; i < 20; i++) {
                packets(round * 20 + i, 1 + i % 5, START_NS + round * IDLE_NS / 4);
            }
            cache.expire(START_NS + round * IDLE_NS / 4, SLOTS);
            nowNs += INTERVAL_NS;
            pass();
            final FlowPicks picks = watch.take();
            if (picks != null) {
                watch.giveBack(picks);
            }
        }
        final long bytes = thread.getCurrentThreadAllocatedBytes() - before;
        assertTrue(bytes < 2048, bytes + " octets");
        assertTrue(handedOnCount > 50_000, handedOnCount + " flows ended");
    }
}
