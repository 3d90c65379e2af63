package io.flowlag.exporter.delay;

import org.junit.jupiter.api.Test;

import static org.junit.jupiter.api.Assertions.assertEquals;

class StandingLagTest {
    private static final long MS_NS = 1_000_000L;
    private final StandingLag lag = new StandingLag();
    private long nowMs = 1_700_000_000_000L;

    private void pass(final int ms, final int lagMs) {
        for (int i = 0; i < ms; i += 10) {
            nowMs += 10;
            lag.onTime(nowMs * MS_NS, (nowMs - lagMs) * MS_NS);
        }
    }

    @Test
    void shouldTellWhatIsNeverMadeUpForInAWindow() {
        pass(10_000, 5);
        assertEquals(5 * MS_NS, lag.ns());
        pass(2_900, 900);
        pass(10, 7);
        pass(2_900, 900);
        assertEquals(7 * MS_NS, lag.ns());
        pass(6_000, 900);
        assertEquals(900 * MS_NS, lag.ns());
        pass(6_000, 5);
        assertEquals(5 * MS_NS, lag.ns());
    }

    @Test
    void shouldBeginAnewWhereTheClockIsSet() {
        pass(10_000, 900);
        nowMs -= 100_000;
        pass(10, 900);
        nowMs += 1_000_000;
        pass(10, 900);
        assertEquals(0, lag.ns());
        pass(3_500, 3);
        pass(3_000, 3);
        assertEquals(3 * MS_NS, lag.ns());
    }
}
