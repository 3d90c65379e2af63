package io.flowlag.ipfix.collect;

import io.flowlag.common.counter.CounterSet;

/**
 * Follows the sequence numbers of one Observation Domain in one Transport Session (RFC 7011 section 3.1: the number of Data
 * Records sent before this message, modulo 2^32). A number ahead of the expected one is a gap. One behind it is a late or
 * duplicated message if it is at most {@link #REORDER_WINDOW_RECORDS} back and its Export Time is not later than the newest.
 * Anything else is a restart of the exporter. Not thread-safe; never allocates.
 */
final class SequenceTracker {
    static final int REORDER_WINDOW_RECORDS = 1 << 14;
    /** A larger jump ahead is a restart, not loss. */
    static final int MAX_GAP_RECORDS = 1 << 24;

    private final CounterSet<CollectorCounter> counters;
    private boolean known;
    private int expected;
    private int newestExportTimeSeconds;
    private long outstanding;

    SequenceTracker(final CounterSet<CollectorCounter> counters) {
        this.counters = counters;
    }

    /** {@return what is known, or null if nothing is} */
    SequenceState state() {
        return known ? new SequenceState(expected, newestExportTimeSeconds, outstanding) : null;
    }

    /** Goes on where another tracker was. */
    void restore(final SequenceState state) {
        known = true;
        expected = state.expected();
        newestExportTimeSeconds = state.exportTimeSeconds();
        outstanding = state.outstanding();
    }

    /**
     * @param sequence          of the message.
     * @param exportTimeSeconds of the message.
     * @param recordCount       data records in it.
     * @param isCountCertain    false if a Set was skipped, so that its number of records is unknown.
     */
    void onMessage(final int sequence, final int exportTimeSeconds, final int recordCount, final boolean isCountCertain) {
        if (!known) {
            begin(sequence, exportTimeSeconds, recordCount, isCountCertain);
            return;
        }
        final int ahead = sequence - expected;
        if (ahead >= 0 && ahead <= MAX_GAP_RECORDS) {
            advance(ahead, sequence, exportTimeSeconds, recordCount, isCountCertain);
        } else if (ahead < 0 && ahead >= -REORDER_WINDOW_RECORDS && exportTimeSeconds - newestExportTimeSeconds <= 0) {
            late(recordCount);
        } else {
            counters.increment(CollectorCounter.SEQUENCE_RESTARTS);
            begin(sequence, exportTimeSeconds, recordCount, isCountCertain);
        }
    }

    private void begin(
        final int sequence, final int exportTimeSeconds, final int recordCount, final boolean isCountCertain) {
        outstanding = 0;
        newestExportTimeSeconds = exportTimeSeconds;
        known = isCountCertain;
        expected = sequence + recordCount;
    }

    private void advance(
        final int gapRecords, final int sequence, final int exportTimeSeconds, final int recordCount,
        final boolean isCountCertain) {
        if (gapRecords > 0) {
            outstanding += gapRecords;
            counters.increment(CollectorCounter.SEQUENCE_GAPS);
            counters.add(CollectorCounter.RECORDS_LOST, gapRecords);
        }
        if (exportTimeSeconds - newestExportTimeSeconds > 0) {
            newestExportTimeSeconds = exportTimeSeconds;
        }
        known = isCountCertain;
        expected = sequence + recordCount;
    }

    private void late(final int recordCount) {
        if (outstanding > 0) {
            final long filled = Math.min(outstanding, recordCount);
            outstanding -= filled;
            counters.increment(CollectorCounter.MESSAGES_REORDERED);
            counters.add(CollectorCounter.RECORDS_LATE, filled);
        } else {
            counters.increment(CollectorCounter.MESSAGES_DUPLICATED);
        }
    }
}
