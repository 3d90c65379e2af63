package io.flowlag.exporter.pipeline;

import org.junit.jupiter.api.Test;

import static org.junit.jupiter.api.Assertions.assertEquals;

class PacketTimeTest {
    private static final long START_NS = 1_700_000_000_000_000_000L;
    private static final long FUTURE_NS = 4_000_000_000_000_000_000L;

    private final PacketTime time = new PacketTime();

    @Test
    void shouldBeTheLatestTimestamp() {
        assertEquals(-START_NS, time.after(-START_NS));
        assertEquals(START_NS, time.after(START_NS));
        for (int i = 0; i < 2 * PacketTime.LATE_PACKETS; i++) {
            assertEquals(START_NS, time.after(START_NS - PacketTime.LATE_NS));
        }
        assertEquals(START_NS + 1, time.after(START_NS + 1));
    }

    @Test
    void shouldGoBackWhenAllPacketsAreLate() {
        time.after(FUTURE_NS);
        for (int i = 1; i < PacketTime.LATE_PACKETS; i++) {
            assertEquals(FUTURE_NS, time.after(START_NS + i % 2));
        }
        assertEquals(START_NS + 1, time.after(START_NS));
        assertEquals(START_NS + 2, time.after(START_NS + 2));
    }

    @Test
    void shouldNotGoBackWhileSomePacketsAreInTime() {
        time.after(FUTURE_NS);
        for (int i = 0; i < 3 * PacketTime.LATE_PACKETS; i++) {
            assertEquals(FUTURE_NS, time.after(i % PacketTime.LATE_PACKETS == 0 ? FUTURE_NS : START_NS));
        }
    }
}
