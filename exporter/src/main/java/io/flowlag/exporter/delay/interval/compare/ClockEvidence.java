package io.flowlag.exporter.delay.interval.compare;

import io.flowlag.exporter.delay.interval.records.IntervalSettings;
import io.flowlag.exporter.delay.interval.records.ReceiverInterval;
import io.flowlag.exporter.delay.interval.repair.ReconcileStatus;
import io.flowlag.sketch.reconcile.ListedTimes;
import io.flowlag.sketch.reconcile.PacketDetails;
import io.flowlag.sketch.reconcile.PacketDifference;
import org.agrona.collections.Long2LongHashMap;

/**
 * Decides whether packets that seem lost in an interval may have arrived in another one. Packets are held around an interval's
 * end for as long as clocks may differ, but the clocks may differ by more.
 * <p>
 * The packets show that the clocks agree: by the mean of those whose delay is known, or by those near the end. They show that the
 * clocks differ by a mean outside that range, or by a packet that is lost here and was unexpected in the previous interval.
 * Without evidence, the loss is unknown.
 * <p>
 * The metering thread owns it; any thread may read how far the clocks differ. Allocates at construction, and where many packets
 * are unexpected.
 */
public final class ClockEvidence {
    /** Most unexpected packets of an interval that are remembered. */
    private static final int MOST_UNEXPECTED = 1 << 14;
    /** Consecutive intervals with packets at both points and none in common that show differing clocks. */
    private static final int MISSES = 3;
    private static final long NONE = Long.MIN_VALUE;

    private final InFlightMatch inFlightMatch;
    private final long guardNs;
    private final long maximumDelayNs;
    private Long2LongHashMap unexpected = new Long2LongHashMap(NONE);
    private Long2LongHashMap before = new Long2LongHashMap(NONE);
    private ReceiverInterval own;
    private boolean isDifferent;
    private boolean isApart;
    private boolean isShown;
    private int misses;
    private volatile long apartNs;

    /** Creates an instance without evidence, which notifies the match that clocks differ. */
    public ClockEvidence(final IntervalSettings settings, final InFlightMatch inFlightMatch) {
        this.inFlightMatch = inFlightMatch;
        guardNs = settings.times().guardNs();
        maximumDelayNs = settings.times().maximumDelayNs();
    }

    boolean isOn() {
        return guardNs > 0;
    }

    /** Discards all evidence, because a clock was set. */
    public void restart() {
        unexpected.clear();
        isShown = false;
        misses = 0;
    }

    /** {@return the delay of the last packets that arrived too early or too late; 0 if there were none} */
    public long apartNs() {
        return apartNs;
    }

    /** Begins with an interval to be reconciled; intervals come in order. */
    void begin(final ReceiverInterval newOwn) {
        final Long2LongHashMap emptied = before;
        emptied.clear();
        before = unexpected;
        unexpected = emptied;
        own = newOwn;
        isDifferent = false;
        isApart = false;
    }

    /** Takes the packets that only one point has. */
    void onListed(final PacketDifference difference, final PacketDetails sent, final PacketDetails received) {
        isDifferent = difference.size() > 0;
        for (int item = 0; isOn() && item < difference.size(); item++) {
            final long digest = difference.identifier(item);
            final PacketDetails source = difference.lost(item) ? sent : received;
            final int entry = source.find(digest);
            if (entry != ListedTimes.NOT_FOUND && source.copies(entry) == 1) {
                final long timeNs = own.startNs() + source.timestampSumNs(entry);
                if (difference.lost(item) && before.containsKey(digest)) {
                    markApart(before.get(digest) - timeNs);
                } else if (!difference.lost(item) && unexpected.size() < MOST_UNEXPECTED) {
                    unexpected.put(digest, timeNs);
                }
            }
        }
    }

    private void markApart(final long tookNs) {
        isApart = true;
        isShown = false;
        apartNs = tookNs;
        inFlightMatch.markApart();
    }

    /** Takes the mean of the packets whose delay is known, after the list; NaN if there are none. */
    void onDelay(final double meanNs) {
        if (Double.isNaN(meanNs)) {
            misses = own.records().count() > 0 ? misses + 1 : 0;
            isShown &= misses < MISSES;
        } else if (meanNs < -guardNs || meanNs > maximumDelayNs) {
            markApart(Math.round(meanNs));
        } else {
            misses = 0;
            isShown |= !isApart;
        }
        isShown |= !isApart && inFlightMatch.isInTime();
    }

    /** {@return whether the interval showed that the clocks differ} */
    boolean isApart() {
        return isApart;
    }

    /**
     * Whether packets of the interval that seem lost may be in another one; the status is null if reconciliation was not
     * tried.
     */
    boolean isInDoubt(final ReconcileStatus status) {
        return isApart || !isShown && (isDifferent || status != ReconcileStatus.COMPLETE);
    }
}
