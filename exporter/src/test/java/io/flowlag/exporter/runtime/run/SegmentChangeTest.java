package io.flowlag.exporter.runtime.run;

import io.flowlag.exporter.config.ConfigLoader;
import io.flowlag.exporter.config.ExporterConfig;
import net.jqwik.api.ForAll;
import net.jqwik.api.Property;
import net.jqwik.api.constraints.IntRange;
import org.junit.jupiter.api.Test;

import java.util.List;

import static org.junit.jupiter.api.Assertions.assertArrayEquals;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

/** When settings change: at a time that both ends can keep. */
class SegmentChangeTest {
    private static final long MS = 1_000_000L;
    private static final long SECOND_NS = 1_000_000_000L;
    private static final long NOW_NS = 1_700_000_000_123_456_789L;

    @Property(tries = 200)
    void shouldChangeWhereIntervalsOfBothLengthsBegin(
        @ForAll @IntRange(min = 1, max = 30) final int before, @ForAll @IntRange(min = 1, max = 30) final int after) {
        final long beforeNs = before * 100 * MS;
        final long afterNs = after * 100 * MS;
        final long fromNs = SegmentChange.fromNs(beforeNs, afterNs, NOW_NS);
        assertEquals(0, fromNs % beforeNs);
        assertEquals(0, fromNs % afterNs);
        assertTrue(fromNs >= NOW_NS + 2 * SECOND_NS + 2 * Math.max(beforeNs, afterNs));
        assertTrue(fromNs - NOW_NS <= 2 * SECOND_NS + 2 * Math.max(beforeNs, afterNs) + (long)before * after * 100 * MS);
    }

    private static List<ExporterConfig> segments(final String second) {
        return new ConfigLoader().text("test", "segments: [{role: receiver, id: 1, source: [10.0.0.0/8]}, " +
            "{role: receiver, id: 2, source: [" + second + "], rli: {session: 2}}, " +
            "{role: receiver, id: 3, source: [11.0.0.0/8], rli: {session: 3}}, " +
            "{role: sender, id: 4, source: [10.0.0.0/8], rli: {session: 4, target: h}}]\n").conclude().segments();
    }

    @Test
    void shouldTellWhichSegmentsGainOrLosePackets() {
        assertArrayEquals(new boolean[] {false, false, true, true},
            SegmentChange.areSameWays(segments("10.1.0.0/16"), segments("10.2.0.0/16")));
        assertArrayEquals(new boolean[] {true, false, true, true},
            SegmentChange.areSameWays(segments("12.1.0.0/16"), segments("12.2.0.0/16")));
        assertArrayEquals(new boolean[] {false, false, true, true},
            SegmentChange.areSameWays(segments("10.1.0.0/16"), segments("12.2.0.0/16")), "it had packets of the first");
    }

    @Test
    void shouldRefuseIntervalsThatHardlyEverBeginTogether() {
        final String message = assertThrows(
            IllegalArgumentException.class, () -> SegmentChange.fromNs(SECOND_NS, 999 * MS, NOW_NS)).getMessage();
        assertTrue(message.contains("take a multiple or a part of the old one, or restart"), message);
        assertEquals(NOW_NS + 3 * 3600 * SECOND_NS, SegmentChange.fromNs(
            3600 * SECOND_NS, 3600 * SECOND_NS, NOW_NS), 3600.0 * SECOND_NS, "the same length has no limit");
    }
}
