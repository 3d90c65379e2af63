package io.flowlag.exporter.exchange;

import org.junit.jupiter.api.Test;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertTrue;

class SendPaceTest {
    private static final long MS_NS = 1_000_000;
    private static final int MESSAGE_BYTES = 32_000;
    private static final int PIECE_BYTES = 32_000;
    private static final long BANDWIDTH_BPS = 8_000_000;

    private final SendPace pace = new SendPace();
    private long nowNs = -5;
    private long octets = 77;

    /** Sends messages of intervals and pieces of answers while it may, for a second in steps of a millisecond. */
    private long secondOf(final boolean isAnswering) {
        final long before = octets;
        for (int ms = 0; ms < 1000; ms++) {
            nowNs += MS_NS;
            pace.onTime(nowNs, octets);
            octets += isAnswering && pace.mayAnswer() ? PIECE_BYTES : pace.octets() > 0 ? MESSAGE_BYTES : 0;
        }
        return octets - before;
    }

    @Test
    void shouldLetAnythingGoWithoutARate() {
        assertEquals(1000L * MESSAGE_BYTES, secondOf(false));
        assertTrue(pace.mayAnswer());
    }

    @Test
    void shouldKeepToTheRateInEverySecondAndUseIt() {
        pace.rate(BANDWIDTH_BPS, nowNs, octets);
        for (int second = 0; second < 5; second++) {
            final long sent = secondOf(second % 2 == 1);
            assertTrue(8 * sent < BANDWIDTH_BPS, () -> sent + " octets");
            assertTrue(8 * sent > 0.8 * BANDWIDTH_BPS, () -> sent + " octets");
        }
    }

    @Test
    void shouldSaveNothingInAPause() {
        pace.rate(BANDWIDTH_BPS, nowNs, octets);
        nowNs += 100_000 * MS_NS;
        assertTrue(8 * secondOf(true) < BANDWIDTH_BPS);
    }

    /** The receiver waits less long for answers than for intervals. */
    @Test
    void shouldLetAnswersGoSoonAfterWhatWentAtAnyPace() {
        pace.rate(BANDWIDTH_BPS, nowNs, octets);
        octets += 5_000_000;
        pace.onTime(nowNs, octets);
        assertFalse(pace.mayAnswer());
        nowNs += 50 * MS_NS;
        pace.onTime(nowNs, octets);
        assertTrue(pace.mayAnswer());
    }

    @Test
    void shouldLetAnswersGoBeforeIntervals() {
        pace.rate(BANDWIDTH_BPS, nowNs, octets);
        octets += 20_000;
        pace.onTime(nowNs, octets);
        assertFalse(pace.octets() > 0);
        assertTrue(pace.mayAnswer());
        octets += PIECE_BYTES;
        pace.onTime(nowNs, octets);
        assertFalse(pace.mayAnswer());
    }
}
