package io.flowlag.exporter.delay;

import io.flowlag.common.hash.SipHash;
import io.flowlag.exporter.decode.PacketDescriptor;
import org.agrona.concurrent.UnsafeBuffer;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertTrue;

class SampledFlowsTest {
    private static final SipHash HASH = new SipHash(3, 4);
    private static final int CEILING_BPS = 200_000;
    private static final double ALLOWED = CEILING_BPS / PassiveChoice.BITS;
    private static final long SECOND_NS = 1_000_000_000L;
    private static final int FLOWS = 100_000;

    private final UnsafeBuffer packet = new UnsafeBuffer(new byte[PacketDescriptor.LENGTH_BYTES]);
    private long nowNs = 7 * SECOND_NS;

    private void describe(final int flow, final int ipVersion) {
        PacketDescriptor.ipVersion(packet, 0, ipVersion);
        PacketDescriptor.protocol(packet, 0, 17);
        PacketDescriptor.sourceLow(packet, 0, ipVersion == 4 ? flow / 100 : 1);
        PacketDescriptor.sourceHigh(packet, 0, ipVersion == 4 ? 0 : flow / 100);
        PacketDescriptor.destinationLow(packet, 0, 9);
        PacketDescriptor.sourcePort(packet, 0, 1024 + flow % 100);
        PacketDescriptor.destinationPort(packet, 0, 443);
    }

    @ParameterizedTest
    @ValueSource(ints = {4, 6})
    void shouldSampleAFixedShareOfFlowsAlikeAtBothPoints(final int ipVersion) {
        final SampledFlows receiver = new SampledFlows(HASH, 0);
        final SampledFlows sender = new SampledFlows(HASH, 100_000_000_000L);
        final SampledFlows other = new SampledFlows(new SipHash(3, 5), 0);
        int sampled = 0;
        int alike = 0;
        for (int flow = 0; flow < FLOWS; flow++) {
            describe(flow, ipVersion);
            final boolean isSampled = receiver.isSampled(packet, 0);
            assertEquals(isSampled, sender.isShipped(packet, 0, nowNs));
            assertEquals(isSampled, receiver.isSampled(packet, 0), "every packet of a flow");
            sampled += isSampled ? 1 : 0;
            alike += isSampled && other.isSampled(packet, 0) ? 1 : 0;
        }
        assertEquals(FLOWS / SampledFlows.ONE_IN, sampled, 300);
        assertEquals(FLOWS / SampledFlows.ONE_IN / SampledFlows.ONE_IN, alike, 100, "with another key there are others");
    }

    /** Returns how many send times are shipped in some seconds. */
    private int shipped(final SampledFlows flows, final int packetsPerSecond, final int seconds) {
        int shipped = 0;
        for (int i = 0; i < packetsPerSecond * seconds; i++) {
            nowNs += SECOND_NS / packetsPerSecond;
            describe((int)(i * 7_919L % FLOWS), 4);
            final boolean isShipped = flows.isShipped(packet, 0, nowNs);
            assertTrue(!isShipped || flows.isSampled(packet, 0), "the receiver waits for sampled flows alone");
            shipped += isShipped ? 1 : 0;
        }
        return shipped;
    }

    @Test
    void shouldKeepToTheCeilingByFewerFlows() {
        final SampledFlows flows = new SampledFlows(HASH, CEILING_BPS);
        final int first = shipped(flows, 200_000, 1);
        assertTrue(first <= 2 * ALLOWED, "twice the ceiling at most, was " + first);
        shipped(flows, 200_000, 4);
        final int later = shipped(flows, 200_000, 4);
        assertTrue(later <= 4 * ALLOWED && later >= 4 * ALLOWED / 3, "was " + later);
        final int little = shipped(flows, 2_000, 100);
        assertEquals(100 * 2_000 / SampledFlows.ONE_IN, little, 0.5 * little, "more flows again after a quiet time");
        assertEquals(10 * 2_000 / SampledFlows.ONE_IN, shipped(flows, 2_000, 10), 100, "all flows again");
    }

    @Test
    void shouldShipNothingWithoutABandwidth() {
        assertEquals(0, shipped(new SampledFlows(HASH, 0), 100_000, 1));
        describe(1, 4);
        assertFalse(new SampledFlows(HASH, 0).isShipped(packet, 0, nowNs));
    }
}
