package io.flowlag.exporter.delay.interval;

import com.sun.management.ThreadMXBean;
import io.flowlag.exporter.config.WeightRule;
import io.flowlag.exporter.decode.PacketDescriptor;
import net.jqwik.api.ForAll;
import net.jqwik.api.Property;
import net.jqwik.api.constraints.IntRange;
import org.agrona.BufferUtil;
import org.agrona.concurrent.UnsafeBuffer;
import org.junit.jupiter.api.Test;

import java.lang.management.ManagementFactory;
import java.util.Arrays;
import java.util.List;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertNull;
import static org.junit.jupiter.api.Assertions.assertTrue;

class FlowWeightsTest {
    private static final ThreadMXBean THREADS = (ThreadMXBean)ManagementFactory.getThreadMXBean();
    private static final int TCP = 6;
    private static final int UDP = 17;
    private static final int OFFSET = 16;

    private final UnsafeBuffer buffer =
        new UnsafeBuffer(BufferUtil.allocateDirectAligned(OFFSET + PacketDescriptor.LENGTH_BYTES, 8));

    @Test
    void shouldTakeTheFirstRuleThatMatches() {
        final FlowWeights weights = weights(
            "dst=10.1.2.0/24 dport=443,8000-8100 proto=tcp weight=100",
            "dst=10.1.0.0/16 weight=25",
            "proto=udp port=53 weight=7");

        assertEquals(100, weight(weights, 0xC0000201L, 0x0A010203L, 40_000, 443, TCP));
        assertEquals(100, weight(weights, 0xC0000201L, 0x0A010203L, 40_000, 8050, TCP));
        assertEquals(25, weight(weights, 0xC0000201L, 0x0A010203L, 40_000, 8101, TCP));
        assertEquals(25, weight(weights, 0xC0000201L, 0x0A010203L, 40_000, 443, UDP));
        assertEquals(25, weight(weights, 0xC0000201L, 0x0A01FF03L, 53, 53, UDP));
        assertEquals(7, weight(weights, 0xC0000201L, 0x0A020203L, 53, 40_000, UDP));
        assertEquals(7, weight(weights, 0xC0000201L, 0x0A020203L, 40_000, 53, UDP));
        assertEquals(1, weight(weights, 0xC0000201L, 0x0A020203L, 53, 53, TCP));
        assertEquals(1, weight(weights, 0x0A010203L, 0xC0000201L, 443, 443, TCP));
    }

    @Test
    void shouldTellIpVersionsApart() {
        final FlowWeights weights = weights("src=0.0.0.0/0 weight=4", "src=2001:db8::/32 weight=6", "dst=::/0 weight=8");

        assertEquals(4, weight(weights, 1, 2, 0, 0, TCP));
        ipv6(0x2001_0db8_0000_0001L, 5, 0, 0);
        assertEquals(6, weights.weight(buffer, OFFSET));
        ipv6(0x2001_0db9_0000_0001L, 5, 0, 0);
        assertEquals(8, weights.weight(buffer, OFFSET));
        final FlowWeights long6 = weights("src=2001:db8::8000:0:0:0/65 weight=3", "src=2001:db8::7/128 weight=2");
        ipv6(0x2001_0db8_0000_0000L, 0x8000_0000_0000_1234L, 0, 0);
        assertEquals(3, long6.weight(buffer, OFFSET));
        ipv6(0x2001_0db8_0000_0000L, 7, 0, 0);
        assertEquals(2, long6.weight(buffer, OFFSET));
        ipv6(0x2001_0db8_0000_0000L, 6, 0, 0);
        assertEquals(1, long6.weight(buffer, OFFSET));
    }

    @Test
    void shouldReadTheCodePointAndWarnOfIt() {
        final FlowWeights weights = weights("dscp=ef,0 weight=9");

        weight(weights, 1, 2, 3, 4, TCP);
        PacketDescriptor.ipClassOfService(buffer, OFFSET, 46 << 2 | 1);
        assertEquals(9, weights.weight(buffer, OFFSET));
        PacketDescriptor.ipClassOfService(buffer, OFFSET, 45 << 2);
        assertEquals(1, weights.weight(buffer, OFFSET));
        assertEquals(1, weights.warnings().size());
        assertTrue(weights.warnings().get(0).startsWith("rule 1 asks for dscp: a router that remarks packets"));
    }

    /** The segment flow hash uses ports 0 for every fragment, including the first; the weight must too. */
    @Test
    void shouldGiveFragmentsTheWeightOfTheirHash() {
        final FlowWeights weights = weights("dport=443 weight=5", "dport=0 weight=2");

        assertEquals(5, weight(weights, 1, 2, 40_000, 443, TCP));
        PacketDescriptor.flags(buffer, OFFSET, PacketDescriptor.FLAG_FRAGMENT);
        assertEquals(2, weights.weight(buffer, OFFSET));
    }

    @Test
    void shouldWarnOfRulesThatAreNeverAsked() {
        assertEquals(List.of(), weights("proto=tcp weight=2", "weight=3").warnings());
        assertEquals("rule 1 matches every packet, so the 2 after it are never asked: put it last",
            weights("weight=2", "proto=tcp weight=3", "weight=4").warnings().get(0));
    }

    @Test
    void shouldSayWhetherItIsUniform() {
        assertTrue(weights().isUniform());
        assertTrue(weights("proto=tcp weight=1").isUniform());
        assertFalse(weights("proto=tcp weight=2").isUniform());
        assertEquals(1, weight(weights(), 1, 2, 3, 4, TCP));
    }

    @Property
    void shouldAgreeWithThePrefixesOfAddresses(
        @ForAll final int source, @ForAll final int other, @ForAll @IntRange(max = 32) final int length) {
        final int mask = length == 0 ? 0 : -1 << 32 - length;
        final int prefix = source & mask;
        final String text = (prefix >>> 24) + "." + (prefix >>> 16 & 255) + "." + (prefix >>> 8 & 255) + "." + (prefix & 255);
        final FlowWeights weights = weights("src=" + text + "/" + length + " weight=2");

        assertEquals(2, weight(weights, source & 0xFFFF_FFFFL, 0, 0, 0, TCP));
        assertEquals((other & mask) == prefix ? 2 : 1, weight(weights, other & 0xFFFF_FFFFL, 0, 0, 0, TCP));
    }

    @Test
    void shouldWarnWhereTooMuchIsWeightedUp() {
        final FlowWeights.Share share = new FlowWeights.Share();
        assertNull(share.warning());
        for (int packet = 0; packet < 100; packet++) {
            share.count(packet < 20 ? 10 : 1);
        }
        assertEquals(0.2, share.share());
        assertEquals(2.8, share.averageWeight());
        assertNull(share.warning());
        share.count(10);
        assertTrue(share.warning().startsWith("21 % of the packets are weighted up, and an average packet counts 2.87 times"),
            share.warning());
        share.reset();
        assertEquals(0, share.packets());
        assertNull(share.warning());
    }

    @Test
    void shouldAllocateNothingPerPacket() {
        final FlowWeights weights = weights("src=10.0.0.0/8 sport=1-9 weight=2", "dscp=1 weight=3", "port=7 proto=udp weight=4");
        final FlowWeights.Share share = new FlowWeights.Share();
        weight(weights, 0x0A000001L, 2, 3, 4, TCP);
        long allocated = Long.MAX_VALUE;
        for (int round = 0; round < 20 && allocated > 0; round++) {
            final long before = allocatedBytes();
            for (int packet = 0; packet < 10_000; packet++) {
                PacketDescriptor.sourcePort(buffer, OFFSET, packet & 15);
                share.count(weights.weight(buffer, OFFSET));
            }
            allocated = allocatedBytes() - before;
        }
        assertEquals(0, allocated);
    }

    private static long allocatedBytes() {
        return THREADS.getCurrentThreadAllocatedBytes();
    }

    private static FlowWeights weights(final String... rules) {
        return new FlowWeights(Arrays.stream(rules).map(WeightRule::parse).toList());
    }

    private int weight(
        final FlowWeights weights,
        final long source,
        final long destination,
        final int sourcePort,
        final int destinationPort,
        final int protocol) {
        buffer.setMemory(0, buffer.capacity(), (byte)0);
        PacketDescriptor.ipVersion(buffer, OFFSET, 4);
        PacketDescriptor.sourceLow(buffer, OFFSET, source);
        PacketDescriptor.destinationLow(buffer, OFFSET, destination);
        PacketDescriptor.sourcePort(buffer, OFFSET, sourcePort);
        PacketDescriptor.destinationPort(buffer, OFFSET, destinationPort);
        PacketDescriptor.protocol(buffer, OFFSET, protocol);
        return weights.weight(buffer, OFFSET);
    }

    private void ipv6(final long sourceHigh, final long sourceLow, final long destinationHigh, final long destinationLow) {
        buffer.setMemory(0, buffer.capacity(), (byte)0);
        PacketDescriptor.ipVersion(buffer, OFFSET, 6);
        PacketDescriptor.sourceHigh(buffer, OFFSET, sourceHigh);
        PacketDescriptor.sourceLow(buffer, OFFSET, sourceLow);
        PacketDescriptor.destinationHigh(buffer, OFFSET, destinationHigh);
        PacketDescriptor.destinationLow(buffer, OFFSET, destinationLow);
    }
}
