package io.flowlag.exporter.capture;

import io.flowlag.exporter.capture.LiveCaptureOptions.Direction;
import io.flowlag.exporter.capture.LiveCaptureOptions.Kind;
import org.junit.jupiter.api.Test;

import static org.junit.jupiter.api.Assertions.*;

class LiveCaptureOptionsTest {
    private static final LiveCaptureOptions USUAL = LiveCaptureOptions.of("eth0");

    @Test
    void shouldDivideTheRingIntoBlocksOfUsefulSize() {
        assertEquals(1 << 20, USUAL.effectiveBlockBytes());
        assertEquals(8_192, USUAL.withRing(LiveCaptureOptions.MIN_RING_BYTES, 0, 10).effectiveBlockBytes());
        assertEquals(65_536, USUAL.withRing(1_000_000, 0, 10).effectiveBlockBytes());
        assertEquals(16_384, USUAL.withRing(1 << 20, 16_384, 10).effectiveBlockBytes());
    }

    @Test
    void shouldChangeNothingButWhatIsAsked() {
        final LiveCaptureOptions changed = USUAL.withKind(Kind.PCAP).withDirection(Direction.IN).withPromiscuous(false)
            .withSnapLengthBytes(96).withRing(1 << 20, 8_192, 5).withFilterExpression("udp").withHardwareTimestamps(true);
        assertEquals(new LiveCaptureOptions("eth0", Kind.PCAP, Direction.IN, false, 96, 1 << 20, 8_192, 5, "udp", true), changed);
    }

    @Test
    void shouldRefuseWhatCannotBe() {
        assertRefused("interfaceName", () -> LiveCaptureOptions.of(" "));
        assertRefused("snapLengthBytes=0", () -> USUAL.withSnapLengthBytes(0));
        assertRefused("ringBytes=65535", () -> USUAL.withRing(65_535, 0, 10));
        assertRefused("blockTimeoutMs=0", () -> USUAL.withRing(65_536, 0, 0));
        assertRefused("blockBytes=5000", () -> USUAL.withRing(65_536, 5_000, 10));
        assertRefused("blockBytes=65536", () -> USUAL.withRing(65_536, 65_536, 10));
    }

    @Test
    void shouldTakeABlankExpressionForNone() {
        assertFalse(USUAL.hasFilter());
        assertFalse(USUAL.withFilterExpression(" ").hasFilter());
        assertTrue(USUAL.withFilterExpression("udp").hasFilter());
    }

    private static void assertRefused(final String part, final Runnable making) {
        final IllegalArgumentException e = assertThrows(IllegalArgumentException.class, making::run);
        assertTrue(e.getMessage().contains(part), e.getMessage());
    }
}
