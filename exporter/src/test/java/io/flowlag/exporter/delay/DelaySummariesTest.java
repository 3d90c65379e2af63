package io.flowlag.exporter.delay;

import io.flowlag.rli.receiver.ReceiverSettings;
import io.flowlag.rli.receiver.RliReceiver;
import io.flowlag.rli.receiver.SendTimes;
import org.junit.jupiter.api.Test;

import java.util.List;

import static org.junit.jupiter.api.Assertions.assertTrue;

class DelaySummariesTest {
    private static final long REFERENCE_NS = 10_000_000L;
    private static final long DELAY_NS = 1_000_000L;
    private static final long INTERVAL_NS = 1_000_000_000L;
    private static final long REFERENCES_PER_INTERVAL = INTERVAL_NS / REFERENCE_NS;
    private static final long RECORD_INTERVALS = 20;

    private final RliReceiver receiver =
        new RliReceiver(ReceiverSettings.defaults().withSendTimes(SendTimes.STAMP), (samples) -> 0);
    private final DelaySummaries summaries = new DelaySummaries(
        receiver, false, new TrafficClasses(List.of()), 1, INTERVAL_NS, RECORD_INTERVALS * INTERVAL_NS);
    private int number;

    /** A packet and a reference again and again. */
    private long heldOutAfter(final long references) {
        for (long i = 0; i < references; i++) {
            final long arrivalNs = ++number * REFERENCE_NS;
            receiver.stream(0).onPacket(0, 0, 0, 0, 100, arrivalNs - 1);
            receiver.stream(0).onReference(number, arrivalNs - DELAY_NS, arrivalNs, 100);
            summaries.onTime(arrivalNs);
        }
        return receiver.statistics(0).heldOut().count();
    }

    private static void assertPeriod(final long wanted, final long heldOut) {
        assertTrue(heldOut >= wanted * 0.9 && heldOut <= 2.1 * wanted, heldOut + " held out with " + wanted + " a period");
    }

    @Test
    void shouldGatherErrorsForAsLongAsARecordWaitsWhenTheIntervalChanges() {
        final long wanted = RECORD_INTERVALS * REFERENCES_PER_INTERVAL;
        assertPeriod(wanted, heldOutAfter(5 * wanted));
        summaries.intervalNs(10 * INTERVAL_NS);
        assertPeriod(wanted, heldOutAfter(10 * wanted));
        summaries.intervalNs(INTERVAL_NS / 10);
        assertPeriod(wanted, heldOutAfter(5 * wanted));
    }

    @Test
    void shouldGatherErrorsForAsLongAsARecordWaitsWhenThatChanges() {
        final long wanted = RECORD_INTERVALS * REFERENCES_PER_INTERVAL;
        heldOutAfter(5 * wanted);
        summaries.recordNs(3 * INTERVAL_NS);
        assertPeriod(3 * REFERENCES_PER_INTERVAL, heldOutAfter(5 * wanted));
    }
}
