package io.flowlag.exporter.runtime;

import io.flowlag.exporter.checkpoint.RecordsUnderWay;
import io.flowlag.exporter.export.Destination;
import io.flowlag.exporter.status.CounterId;
import io.flowlag.exporter.status.Counters;

import java.util.List;
import java.util.function.Supplier;

/**
 * Follows the records that had been made at one moment until they have left the process: through the ring to the exporting
 * stage, then out of every destination or into its spool. Each of these is a queue, so counts tell. Records that wait for
 * sketches are no queue; they are given the longest time that they may wait. Used by the thread of the checkpoint, but for
 * {@link #recordsWait}, which another thread may call; allocates at each settlement.
 */
final class RecordSettlement implements RecordsUnderWay {
    private final Supplier<List<Destination>> destinations;
    private final Counters counters;
    private volatile long longestWaitNs;
    private long beginNs;
    private long madeCount;
    private boolean isAtDestinations;
    private List<Destination> followed;
    private List<Destination.Progress> accepted;

    /** A settlement of nothing. */
    RecordSettlement(final Supplier<List<Destination>> destinations, final Counters counters) {
        this.destinations = destinations;
        this.counters = counters;
    }

    /**
     * Records may wait for sketches, by the settings that hold from now on. Those of settings before may still be waiting, so the
     * longest time of all is given to each. One thread at a time.
     *
     * @param waitNs at the longest; 0 without sketches.
     */
    void recordsWait(final long waitNs) {
        longestWaitNs = Math.max(longestWaitNs, waitNs);
    }

    @Override
    public void await(final long nowNs) {
        beginNs = nowNs;
        madeCount = counters.get(CounterId.RECORDS_MADE);
        isAtDestinations = false;
        followed = null;
    }

    @Override
    public boolean haveLeft(final long nowNs) {
        if (!isAtDestinations) {
            // A record counts as taken just before the destinations count it, so they are asked at the next call.
            isAtDestinations = nowNs - beginNs >= longestWaitNs && haveReachedTheExportingStage();
            return false;
        }
        final List<Destination> present = destinations.get();
        if (!present.equals(followed)) {
            followed = List.copyOf(present);
            accepted = present.stream().map(Destination::progress).toList();
        }
        for (int i = 0; i < accepted.size(); i++) {
            final Destination.Progress now = present.get(i).progress();
            if (now.directLeft() < accepted.get(i).direct() || now.spooledLeft() < accepted.get(i).spooled()) {
                return false;
            }
        }
        return true;
    }

    private boolean haveReachedTheExportingStage() {
        return counters.get(CounterId.RECORDS_TAKEN) + counters.get(CounterId.DROPPED_AT_RECORD_RING) +
            counters.get(CounterId.RECORDS_WAITING) >= madeCount;
    }
}
