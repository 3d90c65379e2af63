package io.flowlag.exporter.runtime.run;

import io.flowlag.common.command.ExitCode;
import io.flowlag.common.command.ExitException;
import io.flowlag.exporter.capture.CaptureClock;
import io.flowlag.exporter.capture.LiveCaptureOptions.Direction;
import io.flowlag.exporter.config.ConfigLoader;
import io.flowlag.exporter.config.ExporterConfig;
import io.flowlag.exporter.delay.DelayStage;
import io.flowlag.exporter.delay.DelayWiring;
import io.flowlag.exporter.delay.FlowEnd;
import io.flowlag.exporter.delay.ReferenceMode;
import io.flowlag.exporter.flow.FlowCache;
import io.flowlag.exporter.flow.FlowCacheSettingsBuilder;
import io.flowlag.exporter.runtime.FreePorts;
import io.flowlag.exporter.status.Counters;
import io.flowlag.exporter.status.HelperThread;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.condition.EnabledOnOs;
import org.junit.jupiter.api.condition.OS;

import java.util.List;
import java.util.concurrent.Executor;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertNotNull;
import static org.junit.jupiter.api.Assertions.assertNull;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

class LiveSegmentTest {
    private static final long SECOND_NS = 1_000_000_000L;
    private static final long NOW_NS = 1_700_000_000_123_456_789L;
    private static final String RECEIVER = "segment: {role: receiver, offload: allow}\n";
    private static final String BOTH = "segment: {ingress: lo, egress: other, offload: allow}\n";
    /** A label has at most 63 octets, so no name server is asked. */
    private static final String NO_HOST = "h".repeat(64);

    private static final Executor NAMES = new HelperThread("names");

    private static ExporterConfig config(final String... yaml) {
        return new ConfigLoader().text("test.yaml", String.join("", yaml)).conclude();
    }

    private static String refusal(final String... yaml) {
        final ExitException exit = assertThrows(ExitException.class, () -> LiveSegment.open(config(yaml), NAMES));
        assertEquals(ExitCode.CONFIGURATION, exit.exitCode());
        return exit.getMessage();
    }

    @Test
    void shouldHaveNothingToDoWithoutARole() {
        try (LiveSegment segment = LiveSegment.open(config("capture: {interfaces: [lo]}\n"), NAMES)) {
            assertFalse(segment.wiring().isOn());
        }
    }

    @Test
    void shouldTakeTheTwoPointsFromTheSegment() {
        final ExporterConfig config = config(BOTH);
        assertEquals(List.of("lo", "other"), LiveSegment.interfaces(config));
        assertEquals(Direction.IN, LiveSegment.direction(config, 0));
        assertEquals(Direction.OUT, LiveSegment.direction(config, 1));
        try (LiveSegment segment = LiveSegment.open(config, NAMES)) {
            assertEquals(ReferenceMode.NONE, segment.wiring().references().mode());
            assertNull(segment.wiring().references().transmitter());
            assertTrue(segment.wiring().isExact(), "every packet is matched");
            assertEquals(0, segment.wiring().clockError().errorNs());
        }
    }

    @Test
    @EnabledOnOs(OS.LINUX)
    void shouldSendReferencesWhereThereIsATarget() {
        try (LiveSegment segment = LiveSegment.open(config(BOTH, "rli: {target: 127.0.0.1, classes: [0, 46]}\n"), NAMES)) {
            assertEquals(ReferenceMode.SENT, segment.wiring().references().mode());
            assertEquals(2, segment.wiring().references().sessions().size());
            assertNotNull(segment.wiring().references().transmitter());
            assertTrue(segment.wiring().isExact(), "references stand beside what is matched");
            assertTrue(segment.wiring().isMatched());
        }
        assertTrue(refusal(BOTH, "rli: {target: " + NO_HOST + "}\n").contains("no such host"));
    }

    @Test
    @EnabledOnOs(OS.LINUX)
    void shouldHoldThePortOfTheReceiver() throws Exception {
        final String port = "rli: {port: " + FreePorts.udp() + "}\n";
        final String clock = "clock: {error: 3us}\n";
        try (LiveSegment segment = LiveSegment.open(config(RECEIVER, "capture: {interfaces: [lo]}\n", port, clock), NAMES)) {
            assertEquals(3_000, segment.wiring().clockError().errorNs());
            assertTrue(refusal(RECEIVER, "capture: {interfaces: [lo]}\n", port).contains("address already in use"));
        }
    }

    private static DelayStage stage(final ExporterConfig config, final DelayWiring wiring) {
        final Counters counters = new Counters();
        final FlowEnd flowEnd = new FlowEnd((buffer, offset, lengthBytes) -> {
        });
        final FlowCache cache = new FlowCache(
            new FlowCacheSettingsBuilder().maxFlows(16).activeTimeoutNs(SECOND_NS).idleTimeoutNs(SECOND_NS).tcpEndTimeoutNs(0)
                .stateLengthBytes(DelayStage.stateLengthBytes(wiring)).boundaryNs(SECOND_NS).build(), flowEnd, counters);
        return new DelayStage(config, wiring, flowEnd, cache, CaptureClock.FILES, counters);
    }

    private static ExporterConfig sketched(final String segment, final String columns, final String rest) {
        return config("segment: {ingress: lo, egress: other, offload: allow, " + segment +
            "}\nlds: {enabled: on, rows: 2, columns: " + columns + "}\nmetering: {max-flows: 16}\n" + rest);
    }

    private static long changesAt(
        final LiveSegment segment, final ExporterConfig before, final ExporterConfig after, final DelayStage stage) {
        return segment.changesAt(
            before, after, SegmentChange.areSameWays(List.of(before), List.of(after))[0], stage, NOW_NS);
    }

    private static String refusedChange(
        final LiveSegment segment, final ExporterConfig before, final ExporterConfig after, final DelayStage stage) {
        return assertThrows(
            IllegalArgumentException.class, () -> changesAt(segment, before, after, stage)).getMessage();
    }

    @Test
    void shouldSayWhenSketchesChange() {
        final ExporterConfig before = sketched("interval: 1s", "64", "");
        final ExporterConfig wider = sketched("interval: 1s", "128", "");
        try (LiveSegment segment = LiveSegment.open(before, NAMES)) {
            final DelayStage stage = stage(before, segment.wiring());
            assertEquals(0, changesAt(segment, before, sketched("interval: 1s", "64", ""), stage), "nothing differs");
            assertEquals(0, changesAt(segment, before, wider, null), "nobody measures delay");
            final long fromNs = changesAt(segment, before, wider, stage);
            assertEquals(SegmentChange.fromNs(SECOND_NS, SECOND_NS, NOW_NS), fromNs);
            assertFalse(stage.isChanging(), "asking changes nothing");
            assertEquals(SegmentChange.fromNs(SECOND_NS, 2 * SECOND_NS, NOW_NS), changesAt(segment,
                before, sketched("interval: 2s", "64", ""), stage));
            assertEquals(SegmentChange.fromNs(SECOND_NS, SECOND_NS, NOW_NS), changesAt(segment,
                before, sketched("interval: 1s, max-delay: 400ms", "64", ""), stage), "packets are waited for longer");
            segment.change(wider, true, stage, 0);
            assertFalse(stage.isChanging(), "0 is no time");
            segment.change(wider, true, stage, fromNs);
            assertTrue(stage.isChanging());
            assertTrue(refusedChange(segment, wider, before, stage).contains("the change before is not through"));
        }
    }

    @Test
    void shouldRefuseWhatCannotChangeWhileItRuns() {
        final ExporterConfig before = sketched("interval: 1s", "64", "rli: {classes: [0, 46]}\n");
        try (LiveSegment segment = LiveSegment.open(before, NAMES)) {
            final DelayStage stage = stage(before, segment.wiring());
            assertTrue(refusedChange(segment, before, sketched("interval: 1s", "64", "rli: {classes: [0, 12, 46]}\n"), stage)
                .contains("their number stays"));
            assertTrue(refusedChange(segment, before, sketched("interval: 1s", "64", ""), stage).contains("rli.classes"));
            assertTrue(refusedChange(
                segment, before, sketched("interval: 1s, source: [10.0.0.0/8]", "64", "rli: {classes: [0, 46]}\n"), stage)
                .contains("segment.role both"));
            assertThrows(IllegalArgumentException.class, () -> changesAt(segment,
                before, before.with(before.lds().withShape(16, 1 << 20)), stage), "no memory for such sketches");
            assertEquals(SegmentChange.fromNs(SECOND_NS, SECOND_NS, NOW_NS), changesAt(segment,
                before, sketched("interval: 1s", "64", "rli: {classes: [0, 12]}\n"), stage), "another mark for a class");
            assertFalse(stage.isChanging());
        }
    }
}
