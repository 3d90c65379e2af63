package io.flowlag.exporter.delay.interval;

import io.flowlag.exporter.delay.interval.records.IntervalSettings;
import io.flowlag.exporter.delay.interval.records.SenderAnswer;
import io.flowlag.exporter.delay.interval.records.SketchedPacket;
import org.junit.jupiter.api.Test;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertTrue;

/** Intervals of a point that its own packet losses damage, whenever it learns of them. */
class IntervalPointTest {
    private static final long INTERVAL_NS = 100_000_000L;
    private static final long FIRST = TwoPoints.START_NS / INTERVAL_NS;

    private final IntervalSettings context = SketchPairTest.context(1 << 10).build();
    private final IntervalPoint point = new IntervalPoint(context, false);

    private void packet(final long number) {
        assertTrue(point.onPacket(new SketchedPacket().set((FIRST + number) * INTERVAL_NS, 1, number + 1, 100, 0, 1)));
    }

    private boolean isDamaged(final long number) {
        final SenderAnswer answer = point.take(FIRST + number);
        assertEquals(FIRST + number, answer.intervalNumber());
        assertEquals(answer.isDamaged(), answer.sketch().damaged());
        final boolean isDamaged = answer.isDamaged();
        point.giveBack(answer);
        return isDamaged;
    }

    /** Packets after the drops arrive before the drops are reported, and close the interval of the drops. */
    @Test
    void shouldDamageIntervalsThatLaterPacketsHaveClosed() {
        packet(0);
        packet(1);
        packet(2);
        assertFalse(point.intervals().isOpen(FIRST), "closed, and not taken");
        point.onOwnLoss((FIRST + 2) * INTERVAL_NS);
        assertTrue(isDamaged(0));
        assertTrue(isDamaged(1));
        assertTrue(isDamaged(2));
    }

    @Test
    void shouldDamageIntervalsThatHaveNotBegun() {
        packet(0);
        point.onOwnLoss((FIRST + 2) * INTERVAL_NS - 1);
        assertTrue(isDamaged(0));
        packet(1);
        assertTrue(isDamaged(1));
        packet(2);
        assertFalse(isDamaged(2), "nothing was lost since it began");
    }

    @Test
    void shouldNotDamageWhatBeginsLater() {
        packet(0);
        assertFalse(isDamaged(0));
        point.onOwnLoss((FIRST + 1) * INTERVAL_NS - 1);
        packet(1);
        assertFalse(isDamaged(1));
    }
}
