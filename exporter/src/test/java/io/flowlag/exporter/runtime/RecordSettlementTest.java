package io.flowlag.exporter.runtime;

import io.flowlag.exporter.status.CounterId;
import io.flowlag.exporter.status.Counters;
import org.junit.jupiter.api.Test;

import java.util.List;

import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertTrue;

class RecordSettlementTest {
    private static final long SECOND_NS = 1_000_000_000L;

    private final Counters counters = new Counters();
    private final RecordSettlement settlement = new RecordSettlement(List::of, counters);

    private boolean haveLeft(final long nowNs) {
        return settlement.haveLeft(nowNs) || settlement.haveLeft(nowNs);
    }

    @Test
    void shouldWaitForRecordsOfTheLongestIntervalThatHeld() {
        counters.increment(CounterId.RECORDS_MADE);
        counters.increment(CounterId.RECORDS_TAKEN);
        settlement.recordsWait(2 * SECOND_NS);
        settlement.await(0);
        assertFalse(haveLeft(2 * SECOND_NS - 1));
        assertTrue(haveLeft(2 * SECOND_NS));

        settlement.recordsWait(120 * SECOND_NS);
        settlement.await(0);
        assertFalse(haveLeft(120 * SECOND_NS - 1));
        assertTrue(haveLeft(120 * SECOND_NS));

        settlement.recordsWait(2 * SECOND_NS);
        settlement.await(0);
        assertFalse(haveLeft(120 * SECOND_NS - 1), "records of before still wait");
        assertTrue(haveLeft(120 * SECOND_NS));
    }
}
