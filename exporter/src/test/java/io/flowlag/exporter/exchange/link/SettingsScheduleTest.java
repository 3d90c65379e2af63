package io.flowlag.exporter.exchange.link;

import org.junit.jupiter.api.Test;

import static io.flowlag.exporter.exchange.link.ExchangeFixture.SECOND_NS;
import static io.flowlag.exporter.exchange.link.ExchangeFixture.settings;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertNull;
import static org.junit.jupiter.api.Assertions.assertTrue;

class SettingsScheduleTest {
    private static final long RUN = 5;

    private final SettingsSchedule schedule = new SettingsSchedule();

    private boolean add(final long run, final int number, final long fromInterval) {
        return schedule.add(new HeldSettings(run, settings(number, fromInterval)));
    }

    private int numberAt(final long interval) {
        return schedule.at(interval, SECOND_NS).settings().number();
    }

    @Test
    void shouldSwitchAtTheIntervalAndNotBefore() {
        assertNull(schedule.at(0, SECOND_NS));
        assertNull(schedule.latest());
        assertTrue(add(RUN, 1, 10));
        assertNull(schedule.at(9, SECOND_NS));
        assertEquals(1, numberAt(10));
        assertTrue(add(RUN, 2, 20));
        assertEquals(1, numberAt(19));
        assertEquals(2, numberAt(20));
        assertEquals(2, numberAt(Long.MAX_VALUE));
        assertEquals(2, schedule.latest().settings().number());
    }

    @Test
    void shouldPutAsideWhatWasToHoldLater() {
        add(RUN, 1, 10);
        add(RUN, 2, 20);
        assertTrue(add(RUN, 3, 15));
        assertEquals(1, numberAt(14));
        assertEquals(3, numberAt(15));
        assertEquals(3, numberAt(20));
    }

    @Test
    void shouldForgetNothingForWhatItKnows() {
        add(RUN, 1, 10);
        add(RUN, 2, 20);
        assertFalse(add(RUN, 2, 5));
        assertFalse(add(RUN, 1, 30));
        assertEquals(1, numberAt(19));
        assertEquals(2, numberAt(30));
    }

    @Test
    void shouldStartAnewWithAnotherRunOfTheReceiver() {
        add(RUN, 4, 10);
        assertTrue(add(RUN + 1, 1, 30));
        assertNull(schedule.at(29, SECOND_NS));
        assertEquals(RUN + 1, schedule.at(30, SECOND_NS).receiverInstance());
    }

    @Test
    void shouldKeepABoundedNumber() {
        for (int number = 1; number <= 100; number++) {
            add(RUN, number, 10 * number);
        }
        assertEquals(SettingsSchedule.MAX_ENTRIES, schedule.all().length);
        assertEquals(100, numberAt(1000));
        assertEquals(99, numberAt(999));
    }

    /** Intervals of 1 s until 20 s, of 2 s from there on, and of 500 ms from 40 s on. */
    @Test
    void shouldTellIntervalsOfOtherLengthsByTheirTime() {
        add(RUN, 1, 10);
        schedule.add(new HeldSettings(RUN, ExchangeFixture.withInterval(settings(2, 10), 2 * SECOND_NS)));
        schedule.add(new HeldSettings(RUN, ExchangeFixture.withInterval(settings(3, 80), SECOND_NS / 2)));
        assertEquals(1, schedule.at(19, SECOND_NS).settings().number());
        assertEquals(2, schedule.at(20, SECOND_NS).settings().number());
        assertEquals(2, schedule.at(10, 2 * SECOND_NS).settings().number());
        assertEquals(1, schedule.at(9, 2 * SECOND_NS).settings().number());
        assertEquals(2, schedule.at(79, SECOND_NS / 2).settings().number());
        assertEquals(3, schedule.at(80, SECOND_NS / 2).settings().number());
        assertNull(schedule.at(9, SECOND_NS));
        assertEquals(3, schedule.at(Long.MAX_VALUE, Long.MAX_VALUE).settings().number());
        assertNull(schedule.at(Long.MIN_VALUE, Long.MAX_VALUE));
        assertTrue(schedule.add(new HeldSettings(RUN, settings(4, 15))), "at 15 s, which puts aside 20 s and 40 s");
        assertEquals(4, schedule.at(80, SECOND_NS / 2).settings().number());
        assertEquals(1, schedule.at(14, SECOND_NS).settings().number());
    }
}
