package io.flowlag.exporter.runtime;

import io.flowlag.exporter.export.Destination;
import io.flowlag.exporter.status.CounterId;
import io.flowlag.exporter.status.Counters;
import io.flowlag.exporter.status.DestinationStatistics;
import org.agrona.DirectBuffer;
import org.junit.jupiter.api.Test;

import java.util.List;

import static org.junit.jupiter.api.Assertions.assertEquals;
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

    /** Records that begin to wait for sketches later do not stand for one that is still on its way. */
    @Test
    void shouldNotTakeRecordsThatWaitForThoseInTheRing() {
        counters.increment(CounterId.RECORDS_MADE);
        settlement.await(0);
        assertFalse(haveLeft(1));
        counters.increment(CounterId.RECORDS_MADE);
        counters.increment(CounterId.RECORDS_WAITING);
        assertFalse(haveLeft(2), "the first is in the ring");
        counters.increment(CounterId.RECORDS_TAKEN);
        assertTrue(haveLeft(3));
    }

    @Test
    void shouldForceTheSpoolsOnceTheirRecordsAreWrittenAndNotBefore() {
        final Spooled spooled = new Spooled();
        final RecordSettlement forced = new RecordSettlement(() -> List.of(spooled), counters);
        forced.await(0);
        assertFalse(forced.haveLeft(0));
        assertFalse(forced.haveLeft(1), "a record is in the buffer");
        assertEquals(0, spooled.forces);
        spooled.written = 1;
        assertFalse(forced.haveLeft(2), "the disk did not take it");
        spooled.isTaking = true;
        assertTrue(forced.haveLeft(3));
        assertEquals(2, spooled.forces);
    }

    /** With one record in its spool. */
    private static final class Spooled implements Destination {
        private int forces;
        private int written;
        private boolean isTaking;

        @Override
        public Progress progress() {
            return new Progress(0, 0, 1, written);
        }

        @Override
        public boolean force() {
            forces++;
            return isTaking;
        }

        @Override
        public String name() {
            return "spooled";
        }

        @Override
        public Outcome offer(final DirectBuffer entry, final int offset, final int lengthBytes, final long nowMs) {
            return Outcome.DONE;
        }

        @Override
        public void stopWaiting() {
            // waits for nothing
        }

        @Override
        public int doWork(final long nowMs) {
            return 0;
        }

        @Override
        public boolean close(final long nowMs, final long deadlineMs) {
            return true;
        }

        @Override
        public DestinationStatistics statistics() {
            throw new UnsupportedOperationException();
        }

        @Override
        public String lastError() {
            return "";
        }
    }
}
