package io.flowlag.exporter.reference;

import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.condition.EnabledOnOs;
import org.junit.jupiter.api.condition.OS;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertTrue;

class CardClockTest {
    @Test
    @EnabledOnOs(OS.LINUX)
    void shouldKnowThatLoopbackHasNoClock() {
        final CardClock clock = CardClock.of("lo");
        assertEquals(-1, clock.index());
        assertTrue(clock.isTrouble());
        assertTrue(clock.notice().contains("no hardware clock"), clock::notice);
        assertTrue(CardClock.of("no-such-interface-at-all").notice().contains("no such"), "and why it is not known");
    }

    @Test
    void shouldNameAtomicTimeAndTheWayOut() {
        final CardClock ahead = new CardClock("eth0", 2, 37_000_150_000L, "");
        assertTrue(ahead.isTrouble());
        assertEquals("timestamps are of the card's clock /dev/ptp2, which is 37 s ahead of the system clock: it is on TAI, not " +
            "UTC. Set it to UTC (phc2sys -c eth0 -s CLOCK_REALTIME -O 0), or set capture.hardware-timestamps to off",
            ahead.notice());
        assertTrue(new CardClock("eth0", 2, -36_999_000_000L, "").notice().contains("37 s behind the system clock"));
        assertFalse(CardClock.isAtomic(36_000_000_000L));
    }

    @Test
    void shouldSayHowFarACardIsFromTheSystem() {
        final CardClock clock = new CardClock("eth0", 0, -1_500, "");
        assertFalse(clock.isTrouble());
        assertEquals("timestamps are of the card's clock /dev/ptp0, 1.5 us behind the system clock", clock.notice());
        assertEquals("timestamps are of the card's clock /dev/ptp0, which cannot be read (permission denied)",
            new CardClock("eth0", 0, 0, "permission denied").notice());
    }
}
