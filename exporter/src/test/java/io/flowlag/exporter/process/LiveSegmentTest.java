package io.flowlag.exporter.process;

import io.flowlag.exporter.capture.LiveCaptureOptions.Direction;
import io.flowlag.exporter.config.ConfigLoader;
import io.flowlag.exporter.config.ExporterConfig;
import io.flowlag.exporter.console.ExitCode;
import io.flowlag.exporter.console.ExitException;
import io.flowlag.exporter.delay.ReferenceMode;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.condition.EnabledOnOs;
import org.junit.jupiter.api.condition.OS;

import java.net.DatagramSocket;
import java.net.InetSocketAddress;
import java.util.List;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertNotNull;
import static org.junit.jupiter.api.Assertions.assertNull;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

class LiveSegmentTest {
    private static final String RECEIVER = "segment: {role: receiver, offload: allow}\n";
    private static final String BOTH = "segment: {ingress: lo, egress: other, offload: allow}\n";

    private static ExporterConfig config(final String... yaml) {
        return new ConfigLoader().text("test.yaml", String.join("", yaml)).conclude();
    }

    private static String refusal(final String... yaml) {
        final ExitException exit = assertThrows(ExitException.class, () -> LiveSegment.open(config(yaml)));
        assertEquals(ExitCode.CONFIGURATION, exit.exitCode());
        return exit.getMessage();
    }

    @Test
    void shouldRefuseASnapLengthTooShortForDigests() {
        assertTrue(refusal(RECEIVER, "capture: {interfaces: [lo], snap-length: 173}\n").contains("set 174 or more"));
    }

    @Test
    void shouldRefuseTwoKindsOfTimestamps() {
        assertTrue(refusal(BOTH, "capture: {hardware-timestamps: on, direction: in}\n").contains("one kind"));
    }

    @Test
    void shouldHaveNothingToDoWithoutARole() {
        try (LiveSegment segment = LiveSegment.open(config("capture: {interfaces: [lo]}\n"))) {
            assertFalse(segment.wiring().isOn());
        }
    }

    @Test
    void shouldTakeTheTwoPointsFromTheSegment() {
        final ExporterConfig config = config(BOTH);
        assertEquals(List.of("lo", "other"), LiveSegment.interfaces(config));
        assertEquals(Direction.IN, LiveSegment.direction(config, 0));
        assertEquals(Direction.OUT, LiveSegment.direction(config, 1));
        try (LiveSegment segment = LiveSegment.open(config)) {
            assertEquals(ReferenceMode.NONE, segment.wiring().referenceMode());
            assertNull(segment.wiring().transmitter());
            assertTrue(segment.wiring().isExact(), "without references every packet is matched");
            assertEquals(0, segment.wiring().clockError().errorNs());
        }
    }

    @Test
    @EnabledOnOs(OS.LINUX)
    void shouldSendReferencesWhereThereIsATarget() {
        try (LiveSegment segment = LiveSegment.open(config(BOTH, "rli: {target: 127.0.0.1, classes: [0, 46]}\n"))) {
            assertEquals(ReferenceMode.SENT, segment.wiring().referenceMode());
            assertEquals(2, segment.wiring().sessions().size());
            assertNotNull(segment.wiring().transmitter());
            assertFalse(segment.wiring().isExact());
            assertTrue(segment.wiring().isMatched(), "digests are compared");
        }
        assertTrue(refusal(BOTH, "rli: {target: no.such.host.invalid}\n").contains("no such host"));
    }

    @Test
    @EnabledOnOs(OS.LINUX)
    void shouldHoldThePortOfTheReceiver() throws Exception {
        final String port;
        try (DatagramSocket taken = new DatagramSocket(new InetSocketAddress("0.0.0.0", 0))) {
            port = "rli: {port: " + taken.getLocalPort() + "}\n";
        }
        final String clock = "clock: {source: fixed, error: 3us}\n";
        try (LiveSegment segment = LiveSegment.open(config(RECEIVER, "capture: {interfaces: [lo]}\n", port, clock))) {
            assertEquals(3_000, segment.wiring().clockError().errorNs());
            assertTrue(refusal(RECEIVER, "capture: {interfaces: [lo]}\n", port).contains("address in use"));
        }
    }
}
