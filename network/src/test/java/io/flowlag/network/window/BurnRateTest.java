package io.flowlag.network.window;

import org.junit.jupiter.api.Test;

import static io.flowlag.network.window.BurnRate.Urgency.NONE;
import static io.flowlag.network.window.BurnRate.Urgency.PAGE;
import static io.flowlag.network.window.BurnRate.Urgency.TICKET;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;

/** Rates over several lengths, and what they ask for. */
class BurnRateTest {
    private static final long MINUTE_NS = 60_000_000_000L;
    private static final long HOUR_NS = 60 * MINUTE_NS;
    private static final int THREE_DAYS = 4320;

    private final BurnRate rates = new BurnRate(MINUTE_NS, 0.999);

    @Test
    void shouldDivideByTheShareThatMayBe() {
        rates.add(0, 10_000, 20);
        rates.add(MINUTE_NS, 10_000, 0);
        rates.add(0, 0, 10);
        assertEquals(1.5, rates.rate(MINUTE_NS, 5 * MINUTE_NS), 1e-9);
        assertEquals(0, rates.rate(MINUTE_NS, MINUTE_NS));
        assertEquals(Double.NaN, rates.rate(100 * HOUR_NS, HOUR_NS), "no packets");
        assertThrows(IllegalArgumentException.class, () -> new BurnRate(MINUTE_NS, 1));
    }

    @Test
    void shouldPageForAFastBurnWhileItLasts() {
        fill(0, THREE_DAYS, 0);
        fill(THREE_DAYS, 60, 15);
        assertEquals(PAGE, rates.urgency((THREE_DAYS + 59) * MINUTE_NS));
        fill(THREE_DAYS + 60, 5, 0);
        assertEquals(NONE, rates.urgency((THREE_DAYS + 64) * MINUTE_NS), "the short window has ended");
    }

    @Test
    void shouldPageForASlowBurn() {
        fill(0, 360, 7);
        assertEquals(PAGE, rates.urgency(359 * MINUTE_NS));
    }

    @Test
    void shouldWriteATicketForASteadyOne() {
        fill(0, THREE_DAYS + 100, 2);
        assertEquals(TICKET, rates.urgency((THREE_DAYS + 99) * MINUTE_NS));
        fill(THREE_DAYS + 100, 360, 0);
        assertEquals(NONE, rates.urgency((THREE_DAYS + 459) * MINUTE_NS));
    }

    private void fill(final int from, final int windows, final long above) {
        for (int i = from; i < from + windows; i++) {
            rates.add(i * MINUTE_NS, 1000, above);
        }
    }
}
