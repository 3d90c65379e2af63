package io.flowlag.exporter.runtime;

import io.flowlag.exporter.checkpoint.RecordsUnderWay;
import io.flowlag.exporter.config.ExporterConfig;
import io.flowlag.exporter.export.Destination;
import io.flowlag.exporter.status.CounterId;
import io.flowlag.exporter.status.Counters;

import java.util.List;
import java.util.function.Supplier;

/**
 * Tracks the records that existed at one moment until they have left the process: through the ring to the exporting stage, then
 * out of every destination or into its spool, where they are forced to the disk together. Each of these is a queue, so counts
 * suffice. Records that wait for sketches are not a queue; they get the longest possible wait, and join the queue then. Used by
 * the checkpoint's thread, except for {@link #recordsWait}, which another thread may call. Allocates at each settlement.
 */
final class RecordSettlement implements RecordsUnderWay {
    private final Supplier<List<Destination>> destinations;
    private final Counters counters;
    private volatile long longestWaitNs;
    private long beginNs;
    private long queuedCount;
    private boolean isQueued;
    private boolean isAtDestinations;
    private List<Destination> followed;
    private List<Destination.Progress> accepted;

    /** Tracks nothing yet. */
    RecordSettlement(final Supplier<List<Destination>> destinations, final Counters counters) {
        this.destinations = destinations;
        this.counters = counters;
    }

    /**
     * Sets how long records may wait for sketches under the new settings. Records of earlier settings may still wait, so the
     * longest wait of all applies. One thread at a time.
     *
     * @param waitNs longest wait; 0 without sketches.
     */
    void recordsWait(final long waitNs) {
        longestWaitNs = Math.max(longestWaitNs, waitNs);
    }

    /** The same of a segment: for an interval's end, packets in flight, the other point's answer or estimates, and repair. */
    void recordsWait(final ExporterConfig config) {
        recordsWait(2 * config.segment().intervalNs() + config.segment().maximumDelayNs() +
            Math.max(config.exchange().deadlineNs(), config.joint().enabled() ? config.joint().waitNs() : 0) +
            (config.reconcile().enabled() ? config.reconcile().waitNs() : 0));
    }

    @Override
    public void await(final long nowNs) {
        beginNs = nowNs;
        isQueued = false;
        isAtDestinations = false;
        followed = null;
    }

    @Override
    public boolean haveLeft(final long nowNs) {
        if (!isAtDestinations) {
            // A record counts as taken just before the destinations count it, so they are checked at the next call.
            isAtDestinations = haveWaited(nowNs) && haveReachedTheExportingStage();
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
        return present.stream().allMatch(Destination::force);
    }

    /** Counts the records that have joined the queue once none of before can wait; later ones must not be taken for those. */
    private boolean haveWaited(final long nowNs) {
        if (!isQueued && nowNs - beginNs >= longestWaitNs) {
            final long waiting = counters.get(CounterId.RECORDS_WAITING); // read first: what begins to wait now was made before
            queuedCount = counters.get(CounterId.RECORDS_MADE) - waiting;
            isQueued = true;
        }
        return isQueued;
    }

    private boolean haveReachedTheExportingStage() {
        return counters.get(CounterId.RECORDS_TAKEN) + counters.get(CounterId.DROPPED_AT_RECORD_RING) >= queuedCount;
    }
}
