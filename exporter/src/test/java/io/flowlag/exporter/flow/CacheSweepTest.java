package io.flowlag.exporter.flow;

import io.flowlag.exporter.decode.PacketDescriptor;
import io.flowlag.exporter.status.Counters;
import net.jqwik.api.ForAll;
import net.jqwik.api.Property;
import org.agrona.DirectBuffer;
import org.agrona.concurrent.UnsafeBuffer;
import org.junit.jupiter.api.Test;

import java.lang.management.ManagementFactory;
import java.util.HashMap;
import java.util.HashSet;
import java.util.Map;
import java.util.Random;
import java.util.Set;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

class CacheSweepTest {
    private static final long SECOND_NS = 1_000_000_000L;
    private static final long START_NS = 1_700_000_000L * SECOND_NS;

    private final UnsafeBuffer descriptor = new UnsafeBuffer(new byte[PacketDescriptor.LENGTH_BYTES]);

    /** Keeps the copies that it receives, and sometimes refuses one. */
    private static final class Keeper implements SnapshotSink {
        private final Map<Long, Long> packets = new HashMap<>();
        private final Set<Long> ended = new HashSet<>();
        private final Random refusals;
        private int rounds;
        private boolean isLost;
        private boolean hasLost;

        private Keeper(final Random refusals) {
            this.refusals = refusals;
        }

        private void lose() {
            packets.clear();
            ended.clear();
            isLost = true;
            hasLost = true;
        }

        private boolean takes() {
            return refusals == null || refusals.nextInt(3) != 0;
        }

        @Override
        public boolean onFlow(final DirectBuffer buffer, final int offset) {
            if (takes()) {
                packets.put(FlowEntry.flowId(buffer, offset), FlowEntry.packetCount(buffer, offset));
                return true;
            }
            return false;
        }

        @Override
        public boolean onLast(final DirectBuffer buffer, final int offset) {
            if (takes()) {
                packets.put(FlowEntry.flowId(buffer, offset), FlowEntry.packetCount(buffer, offset));
                return end(FlowEntry.flowId(buffer, offset));
            }
            return false;
        }

        @Override
        public boolean onEnded(final long flowId) {
            return takes() && end(flowId);
        }

        private boolean end(final long flowId) {
            assertTrue(hasLost || packets.containsKey(flowId), "a flow ends after it was given");
            assertTrue(ended.add(flowId), "a flow ends once");
            return true;
        }

        @Override
        public boolean onSweepEnded(final long nowNs) {
            final boolean isTaken = takes();
            rounds += isTaken ? 1 : 0;
            return isTaken;
        }

        @Override
        public boolean takeLoss() {
            final boolean wasLost = isLost;
            isLost = false;
            return wasLost;
        }
    }

    private UnsafeBuffer packet(final int flow, final long timestampNs) {
        descriptor.setMemory(0, descriptor.capacity(), (byte)0);
        PacketDescriptor.timestampNs(descriptor, 0, timestampNs);
        PacketDescriptor.sourceLow(descriptor, 0, 0x0A000000L + flow);
        PacketDescriptor.ipVersion(descriptor, 0, 4);
        PacketDescriptor.ipLengthBytes(descriptor, 0, 100);
        PacketDescriptor.segmentCount(descriptor, 0, 1);
        return descriptor;
    }

    /** Once the cache stops changing and no copy is refused, the copies equal the cache, whatever came before. */
    @Property(tries = 100)
    void shouldGiveWhatTheCacheHolds(@ForAll final long seed) {
        final Random random = new Random(seed);
        final Keeper keeper = new Keeper(random);
        final Map<Long, Long> made = new HashMap<>();
        final FlowCache cache = new FlowCache(
            new FlowCacheSettingsBuilder().maxFlows(16 + random.nextInt(600)).snapshots(keeper, SECOND_NS).build(),
            (buffer, offset, length) -> made.put(FlowEntry.flowId(buffer, offset), FlowEntry.packetCount(buffer, offset)),
            new Counters());
        long nowNs = START_NS;
        for (int i = 0; i < 3000; i++) {
            nowNs += random.nextInt(20_000_000);
            cache.update(packet(random.nextInt(900), nowNs), 0);
            cache.expire(nowNs, 10);
            cache.snapshot(nowNs);
            if (random.nextInt(1000) == 0) {
                keeper.lose();
            }
        }
        final int rounds = keeper.rounds;
        while (keeper.rounds < rounds + 3) {
            nowNs += SECOND_NS / 100;
            cache.snapshot(nowNs);
        }

        final Map<Long, Long> kept = new HashMap<>(keeper.packets);
        kept.keySet().removeAll(keeper.ended);
        made.keySet().retainAll(kept.keySet());
        assertTrue(made.isEmpty(), "a flow that was given and has ended is told");
        boolean hasMore = true;
        while (hasMore) {
            hasMore = cache.flush(1000);
        }
        assertEquals(made, kept);
    }

    @Test
    void shouldGiveAFlowOnceUntilItChanges() {
        final Keeper keeper = new Keeper(null);
        final FlowCache cache =
            new FlowCache(
                new FlowCacheSettingsBuilder().maxFlows(64).snapshots(keeper, SECOND_NS).build(), (b, o, l) -> { },
                new Counters());
        cache.update(packet(1, START_NS), 0);
        cache.snapshot(START_NS);
        assertEquals(Map.of(1L, 1L), keeper.packets);
        keeper.packets.clear();
        cache.snapshot(START_NS + SECOND_NS - 1);
        cache.snapshot(START_NS + SECOND_NS);
        assertEquals(Map.of(), keeper.packets);
        cache.update(packet(1, START_NS + SECOND_NS), 0);
        cache.snapshot(START_NS + 2 * SECOND_NS);
        assertEquals(Map.of(1L, 2L), keeper.packets);
        assertEquals(3, keeper.rounds);
    }

    @Test
    void shouldGiveEverythingAgainAfterALoss() {
        final Keeper keeper = new Keeper(null);
        final FlowCache cache =
            new FlowCache(
                new FlowCacheSettingsBuilder().maxFlows(64).snapshots(keeper, SECOND_NS).build(), (b, o, l) -> { },
                new Counters());
        cache.update(packet(1, START_NS), 0);
        cache.snapshot(START_NS);
        keeper.lose();
        cache.snapshot(START_NS + SECOND_NS);
        assertEquals(Map.of(1L, 1L), keeper.packets);
    }

    @Test
    void shouldAllocateNothing() {
        final SnapshotSink sink = new SnapshotSink() {
            @Override
            public boolean onFlow(final DirectBuffer buffer, final int offset) {
                return true;
            }

            @Override
            public boolean onLast(final DirectBuffer buffer, final int offset) {
                return true;
            }

            @Override
            public boolean onEnded(final long flowId) {
                return true;
            }

            @Override
            public boolean onSweepEnded(final long nowNs) {
                return true;
            }

            @Override
            public boolean takeLoss() {
                return false;
            }
        };
        final FlowCache cache = new FlowCache(
            new FlowCacheSettingsBuilder().maxFlows(1024).snapshots(sink, 1_000_000).build(), (b, o, l) -> { }, new Counters());
        final com.sun.management.ThreadMXBean bean = (com.sun.management.ThreadMXBean)ManagementFactory.getThreadMXBean();
        for (int round = 0; round < 5; round++) {
            final long before = bean.getCurrentThreadAllocatedBytes();
            for (int i = 0; i < 200_000; i++) {
                final long nowNs = START_NS + (round * 200_000L + i) * 100_000;
                cache.update(packet(i % 3000, nowNs), 0);
                cache.snapshot(nowNs);
            }
            final long allocatedBytes = bean.getCurrentThreadAllocatedBytes() - before;
            if (round > 2) {
                assertTrue(allocatedBytes < 10_000, "allocated " + allocatedBytes + " octets");
            }
        }
    }
}
