package io.flowlag.exporter.flow;

import io.flowlag.exporter.decode.PacketDescriptor;
import org.agrona.concurrent.UnsafeBuffer;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

class ShardSelectorTest {
    private static final int FLOW_COUNT = 30_000;

    private final UnsafeBuffer descriptor = new UnsafeBuffer(new byte[PacketDescriptor.LENGTH_BYTES]);

    private void flow(final int number) {
        PacketDescriptor.sourceLow(descriptor, 0, 0x0A00_0000L + number);
        PacketDescriptor.destinationLow(descriptor, 0, 0x0A01_0000L);
        PacketDescriptor.sourcePort(descriptor, 0, 1024 + number % 7);
        PacketDescriptor.protocol(descriptor, 0, 17);
        PacketDescriptor.ipVersion(descriptor, 0, 4);
    }

    /** The share of a shard has a standard deviation of some hundred flows at the most; the tolerance is eight of them. */
    @ParameterizedTest
    @ValueSource(ints = {1, 2, 3, 64})
    void shouldSpreadFlowsEvenly(final int shardCount) {
        final ShardSelector selector = new ShardSelector(new FlowCacheSettings.Key(false, false, false, 4711), shardCount);
        final int[] counts = new int[shardCount];
        for (int i = 0; i < FLOW_COUNT; i++) {
            flow(i);
            counts[selector.shardOf(descriptor, 0)]++;
        }
        final double expected = (double)FLOW_COUNT / shardCount;
        for (final int count : counts) {
            assertEquals(expected, count, 8 * Math.sqrt(expected) + 1);
        }
    }

    /** Fields outside the key do not move a packet, fields of the key do. */
    @ParameterizedTest
    @ValueSource(booleans = {false, true})
    void shouldGoByTheKeyAlone(final boolean isVlanInKey) {
        final ShardSelector selector =
            new ShardSelector(new FlowCacheSettings.Key(false, isVlanInKey, false, 4711), 64);
        int movedCount = 0;
        for (int i = 0; i < 1_000; i++) {
            flow(i);
            PacketDescriptor.flags(descriptor, 0, 0);
            PacketDescriptor.vlanId(descriptor, 0, 0);
            PacketDescriptor.timestampNs(descriptor, 0, 1);
            PacketDescriptor.ipLengthBytes(descriptor, 0, 40);
            PacketDescriptor.tcpControlBits(descriptor, 0, 2);
            PacketDescriptor.ipClassOfService(descriptor, 0, 0);
            final int shard = selector.shardOf(descriptor, 0);
            PacketDescriptor.timestampNs(descriptor, 0, 2_000_000_000L);
            PacketDescriptor.ipLengthBytes(descriptor, 0, 1_500);
            PacketDescriptor.tcpControlBits(descriptor, 0, 16);
            PacketDescriptor.ipClassOfService(descriptor, 0, 0xB8);
            assertEquals(shard, selector.shardOf(descriptor, 0));
            PacketDescriptor.flags(descriptor, 0, PacketDescriptor.FLAG_VLAN);
            PacketDescriptor.vlanId(descriptor, 0, 42);
            movedCount += selector.shardOf(descriptor, 0) == shard ? 0 : 1;
        }
        assertTrue(isVlanInKey ? movedCount > 900 : movedCount == 0, movedCount + " moved");
    }
}
