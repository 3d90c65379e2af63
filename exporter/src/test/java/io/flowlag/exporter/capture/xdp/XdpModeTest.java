package io.flowlag.exporter.capture.xdp;

import org.agrona.concurrent.UnsafeBuffer;
import org.junit.jupiter.api.Test;

import java.util.HexFormat;

import static org.junit.jupiter.api.Assertions.*;

/** Zero copy, as far as it can be tried without a card that has it. */
class XdpModeTest {
    @Test
    void shouldLeaveItToTheKernelWhetherItCopies() {
        assertEquals("2c00080005000000" + "0700000000000000", address(false));
        assertEquals("2c00180005000000" + "0700000000000000", address(true));
    }

    private static String address(final boolean hasSeveralFrames) {
        final byte[] octets = new byte[XdpLayout.ADDRESS_LENGTH_BYTES];
        XdpLayout.putAddress(new UnsafeBuffer(octets), 5, 7, hasSeveralFrames);
        return HexFormat.of().formatHex(octets);
    }

    @Test
    void shouldReadInTheOptionsWhetherTheKernelCopies() {
        assertTrue(XdpLayout.optionsHaveZeroCopy(options(1)));
        assertTrue(XdpLayout.optionsHaveZeroCopy(options(3)));
        assertFalse(XdpLayout.optionsHaveZeroCopy(options(2)));
    }

    private static UnsafeBuffer options(final int bits) {
        final UnsafeBuffer buffer = new UnsafeBuffer(new byte[Integer.BYTES]);
        buffer.putInt(0, bits);
        return buffer;
    }

    @Test
    void shouldTellTheModesApart() {
        assertEquals("without a copy", XdpSource.mode("", true));
        assertEquals("and the kernel copies them (no zero copy here)", XdpSource.mode("", false));
        assertTrue(XdpSource.mode("none", false).startsWith("by generic XDP") && XdpSource.mode("none", false).contains("none"));
    }

    /** A driver with zero copy takes frames from the fill ring only when it is told, where it says so. */
    @Test
    void shouldWakeTheDriverThatWaitsForFrames() {
        final XdpMemory kernel = new XdpMemory();
        kernel.queue.begin();
        assertFalse(kernel.queue.publish());
        kernel.sleep(true);
        assertTrue(kernel.queue.publish());
        kernel.sleep(false);
        assertFalse(kernel.queue.publish());
    }
}
