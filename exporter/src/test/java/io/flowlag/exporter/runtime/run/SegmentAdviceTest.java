package io.flowlag.exporter.runtime.run;

import io.flowlag.exporter.config.ConfigLoader;
import io.flowlag.exporter.config.ExporterConfig;
import io.flowlag.exporter.decode.PacketDescriptor;
import io.flowlag.exporter.delay.exact.ExactMatcher;
import io.flowlag.exporter.delay.exact.ExactMatcherSettingsBuilder;
import io.flowlag.exporter.delay.exact.MatchHandler;
import io.flowlag.exporter.delay.exact.SegmentFlows;
import io.flowlag.exporter.status.CounterId;
import io.flowlag.exporter.status.Counters;
import org.agrona.concurrent.UnsafeBuffer;
import org.junit.jupiter.api.Test;

import java.util.ArrayList;
import java.util.List;
import java.util.Map;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

class SegmentAdviceTest {
    private static final long MS = 1_000_000;
    private static final long START_NS = 1_700_000_000_000_000_000L;

    private final ExporterConfig config = new ConfigLoader().text("test.yaml",
        "segment: {ingress: a, egress: b, destination: [198.51.100.0/24], exact-packets: 1k}\n").conclude();
    private final ExactMatcher matcher = new ExactMatcher(
        new ExactMatcherSettingsBuilder().maxPackets(1_000).graceNs(1_000 * MS).growingUpToNs(5_000 * MS).build(),
        new SegmentFlows(16, SegmentFlows.NEVER_NS), MatchHandler.NONE);
    private final Counters counters = new Counters();
    private final List<String> lines = new ArrayList<>();
    private final SegmentAdvice advice = new SegmentAdvice(config, lines::add);
    private final UnsafeBuffer packet = new UnsafeBuffer(new byte[PacketDescriptor.LENGTH_BYTES]);
    private long nowNs = START_NS;

    private List<String> look(final Map<String, Long> delay) {
        nowNs += 1_000 * MS;
        lines.clear();
        advice.look(matcher.counters(), counters, delay, nowNs);
        return lines;
    }

    private UnsafeBuffer packet(final long digest, final long timeNs) {
        PacketDescriptor.ipVersion(packet, 0, 4);
        PacketDescriptor.flags(packet, 0, PacketDescriptor.FLAG_DIGEST);
        PacketDescriptor.digest(packet, 0, digest);
        PacketDescriptor.timestampNs(packet, 0, timeNs);
        return packet;
    }

    private void assertSaidOnce(final String expected, final Map<String, Long> delay) {
        assertEquals(1, look(delay).size(), lines::toString);
        assertTrue(lines.get(0).contains(expected), lines::toString);
        assertEquals(List.of(), look(delay));
    }

    @Test
    void shouldSayThatTheSelectorSelectsNothing() {
        counters.set(CounterId.SENDER_OUTSIDE_SEGMENT, 60);
        counters.set(CounterId.OUTSIDE_SEGMENT, 39);
        assertEquals(List.of(), look(Map.of()), "too few to say");
        counters.set(CounterId.OUTSIDE_SEGMENT, 40);
        assertSaidOnce("none of 100 packets is of the segment", Map.of());
    }

    @Test
    void shouldBeSilentAboutOtherTrafficBesideThatOfTheSegment() {
        counters.set(CounterId.SENDER_OUTSIDE_SEGMENT, 1_000_000);
        matcher.onSent(packet(1, START_NS), 0);
        assertEquals(List.of(), look(Map.of()));
    }

    @Test
    void shouldSayThatThePointsSeemToBeSwapped() {
        for (int i = 0; i < 100; i++) {
            assertEquals(List.of(), look(Map.of()));
            matcher.onReceived(packet(i, START_NS + i), 0);
            matcher.onSent(packet(i, START_NS + MS + i), 0);
        }
        assertSaidOnce("100 of 100 matched packets have a negative delay: --ingress (a) and --egress (b)", Map.of());
    }

    @Test
    void shouldSayThatBoundsDoNotHold() {
        assertEquals(List.of(), look(Map.of("bounded_flows", 378L, "bounds_held", 341L)));
        assertSaidOnce("holds for 269 of 378 flows", Map.of("bounded_flows", 378L, "bounds_held", 269L));
    }

    @Test
    void shouldSayThatPacketsComeLateAndHowLongTheyAreWaitedForNow() {
        matcher.onSent(packet(1, START_NS), 0);
        matcher.onReceived(packet(1, START_NS + 600 * MS), 0);
        assertSaidOnce("later than segment.max-delay (200 ms): a packet is waited for 1200 ms", Map.of());
    }

    @Test
    void shouldSayWhichMemoryWouldDoToWaitForThem() {
        look(Map.of());
        for (int i = 0; i < 900; i++) {
            matcher.onSent(packet(i, START_NS), 0);
        }
        matcher.onReceived(packet(1, START_NS + 600 * MS), 0);
        assertSaidOnce("up to 600 ms late, and there is no memory to wait for them: they count as lost; " +
            "segment.exact-packets=2971 would do", Map.of());
    }

    @Test
    void shouldSayThatNotEveryFlowIsMatchedWhyAndWhatWouldHelp() {
        look(Map.of());
        for (int i = 0; i < 2_000; i++) {
            matcher.onSent(packet(i, START_NS), 0);
        }
        matcher.matchOneIn(2, START_NS);
        assertSaidOnce("one flow in 2 is matched from now on: the packets under way do not fit into " +
            "segment.exact-packets=1024; 3600 would do; the other flows have means interpolated between matched " +
            "packets", Map.of());
        matcher.matchOneIn(1, START_NS);
        assertSaidOnce("every flow is matched again", Map.of());
    }
}
