package io.flowlag.exporter.runtime;

import io.flowlag.exporter.config.ConfigLoader;
import io.flowlag.exporter.config.ExporterConfig;
import io.flowlag.exporter.delay.interval.records.FlowSums;
import io.flowlag.exporter.delay.interval.records.IntervalSettings;
import io.flowlag.exporter.delay.interval.repair.ReconcileSettings;
import io.flowlag.exporter.exchange.link.ExchangeFixture;
import io.flowlag.exporter.exchange.link.SharedSettings;
import io.flowlag.exporter.exchange.wire.ExchangeSettings;
import org.agrona.concurrent.UnsafeBuffer;
import org.junit.jupiter.api.Test;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;

/** What a sender holds for a receiver, by the formula that {@code exchange.memory} bounds. */
class SenderMemoryTest {
    private static final int IN_FLIGHT = 1024;
    private static final int MAX_FLOWS = 2048;
    private static final int KEPT = 5;
    /** W, an interval, and half of one for answers: three that are open, and one more. */
    private static final int OPEN = 4;

    private static ExchangeSettings settings(final String exchange) {
        final ExporterConfig config = new ConfigLoader().text("test",
            "segment: {role: receiver, interval: 1s, max-delay: 100ms}\nlds: {enabled: on}\nmetering: {max-flows: 2k}\n" +
            "exchange: {listen: 4740" + exchange + "}\n").conclude();
        return SharedSettings.of(config, new UnsafeBuffer(new byte[16]), 1, 0);
    }

    private static IntervalSettings.Room room(final int keptIntervals) {
        return new IntervalSettings.Room(IN_FLIGHT, 1, MAX_FLOWS, keptIntervals);
    }

    @Test
    void shouldCountTheRememberedPacketsOfEveryIntervalThatIsOpenOrKept() {
        final ReconcileSettings reconcile = new ReconcileSettings(100_000, 4096, 500_000_000L);
        final long without = SharedSettings.memoryBytes(settings(", mode: sketch"), room(0), null);
        final long with = SharedSettings.memoryBytes(settings(", mode: sketch"), room(KEPT), reconcile);

        final long sketches = without / OPEN;
        assertEquals(without, OPEN * sketches, "nothing but intervals");
        assertEquals(
            (OPEN + KEPT) * (sketches + reconcile.cacheBytes() + FlowSums.memoryBytes(MAX_FLOWS)) +
            reconcile.responderBytes() + reconcile.mostAnswerBytes(), with);
        assertEquals(64 + 32 * (1 << 18), reconcile.cacheBytes());
    }

    @Test
    void shouldRefuseDelaysBeyondAnInterval() {
        final ExchangeSettings settings = ExchangeFixture.withInterval(settings(", mode: sketch"), 100_000_000L);
        assertThrows(
            IllegalArgumentException.class, () -> SharedSettings.memoryBytes(settings, room(0), null));
    }

    @Test
    void shouldCountKeysOnceWhereSumsOfAllFlowsHaveThem() {
        final ReconcileSettings reconcile = new ReconcileSettings(100_000, 4096, 500_000_000L);
        final long without = SharedSettings.memoryBytes(settings(", mode: auto"), room(0), null);
        final long with = SharedSettings.memoryBytes(settings(", mode: auto"), room(0), reconcile);

        assertEquals(
            OPEN * reconcile.cacheBytes() + reconcile.responderBytes() + reconcile.mostAnswerBytes(), with - without);
    }
}
