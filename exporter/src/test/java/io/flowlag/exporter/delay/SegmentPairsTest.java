package io.flowlag.exporter.delay;

import io.flowlag.common.config.Prefix;
import io.flowlag.exporter.capture.route.RouteHistory;
import io.flowlag.exporter.config.ConfigLoader;
import io.flowlag.exporter.decode.PacketDescriptor;
import org.agrona.concurrent.UnsafeBuffer;
import org.junit.jupiter.api.Test;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertTrue;

class SegmentPairsTest {
    private static final int FIRST = 0;
    private static final int SECOND = 1;
    private static final int THIRD = 2;

    private final UnsafeBuffer packet = new UnsafeBuffer(new byte[PacketDescriptor.LENGTH_BYTES]);

    private static SegmentPairs pairs(final String yaml) {
        return new SegmentPairs(new ConfigLoader().text("f", yaml.replace(';', '\n')).conclude().pairs(),
            new int[] {7, 8, 9}, new RouteHistory(1));
    }

    private UnsafeBuffer packet(final int interfaceIndex, final boolean isLeaving, final String destination) {
        PacketDescriptor.ipVersion(packet, 0, 4);
        PacketDescriptor.observationPoint(packet, 0, 2 * interfaceIndex + (isLeaving ? 1 : 0));
        PacketDescriptor.destinationLow(packet, 0, Prefix.of(destination).low());
        return packet;
    }

    private int segment(final SegmentPairs pairs, final int from, final int to, final String destination) {
        final int origin = pairs.origin(packet(from, false, destination), 0);
        return origin < 0 ? origin : pairs.segment(origin, to);
    }

    @Test
    void shouldTakePairsOfInterfacesWithoutSelectors() {
        final SegmentPairs pairs = pairs("segments: {auto: [a, b, c]}");
        assertEquals(6, pairs.count());
        assertEquals(1003, pairs.id(segment(pairs, FIRST, THIRD, "10.1.0.1")));
        assertEquals(3002, pairs.id(segment(pairs, THIRD, SECOND, "10.9.0.1")));
        assertEquals(SegmentPairs.OUTSIDE, segment(pairs, SECOND, SECOND, "10.1.0.1"));
    }

    @Test
    void shouldCountNoPacketThatLeftElsewhere() {
        final SegmentPairs pairs = pairs("segments:;- {ingress: a, egress: b};- {ingress: b, egress: c, id: 2};");
        assertEquals(0, segment(pairs, FIRST, SECOND, "10.1.0.1"));
        assertEquals(SegmentPairs.OUTSIDE, segment(pairs, FIRST, THIRD, "10.1.0.1"));
    }

    @Test
    void shouldSelectByTheLongestPrefixes() {
        final SegmentPairs pairs = pairs("segments:;- {ingress: a, egress: b, id: 1, destination: [10.0.0.0/8]};" +
            "- {ingress: a, egress: c, id: 2, destination: [10.1.0.0/16]};- {ingress: b, egress: c, id: 3};");
        assertEquals(1, pairs.id(segment(pairs, FIRST, SECOND, "10.2.0.1")));
        assertEquals(2, pairs.id(segment(pairs, FIRST, THIRD, "10.1.0.1")));
        assertEquals(SegmentPairs.OUTSIDE, segment(pairs, FIRST, SECOND, "10.1.0.1"), "selected for another way out");
        assertEquals(SegmentPairs.OUTSIDE, segment(pairs, FIRST, SECOND, "192.0.2.1"));
        assertFalse(pairs.selects(packet(FIRST, false, "192.0.2.1"), 0));
        assertFalse(pairs.selects(packet(THIRD, false, "10.1.0.1"), 0), "none begins there");
        assertTrue(pairs.selects(packet(SECOND, false, "192.0.2.1"), 0));
        assertTrue(pairs.selects(packet(FIRST, true, "10.1.0.1"), 0), "it may have come from the first or the second");
    }
}
