package io.flowlag.exporter.delay.interval.compare;

import io.flowlag.exporter.delay.interval.records.IntervalSettings;
import io.flowlag.exporter.delay.interval.records.ReceiverInterval;
import io.flowlag.exporter.delay.interval.repair.ReconcileStatus;
import io.flowlag.sketch.reconcile.ListedTimes;
import io.flowlag.sketch.reconcile.PacketDetails;
import io.flowlag.sketch.reconcile.PacketDifference;
import org.agrona.collections.Long2LongHashMap;

/**
 * Tells whether what seems lost in an interval may have arrived in another one: packets are held around the end of an
 * interval for as long as clocks may be apart, and these may be further apart. That they are not is to be shown by the
 * packets: by the mean of those whose delay is known, or by those near the end. That they are, a mean shows that lies
 * outside, and a packet that was lost by the sender's clock and unexpected in the interval before. As long as nothing is
 * shown, the loss is not known.
 * <p>
 * The metering thread owns it; how far the clocks are apart may be read by any thread. Allocates at construction, and where
 * many packets are unexpected.
 */
public final class ClockEvidence {
    /** More unexpected packets of an interval are not remembered. */
    private static final int MOST_UNEXPECTED = 1 << 14;
    /** Intervals in a row with packets at both points and none in common. */
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

    /**
     * Nothing shown.
     *
     * @param inFlightMatch learns that clocks are apart.
     */
    public ClockEvidence(final IntervalSettings settings, final InFlightMatch inFlightMatch) {
        this.inFlightMatch = inFlightMatch;
        guardNs = settings.times().guardNs();
        maximumDelayNs = settings.times().maximumDelayNs();
    }

    /** {@return whether there are two clocks} */
    boolean isOn() {
        return guardNs > 0;
    }

    /** Time begins anew. */
    public void restart() {
        unexpected.clear();
        isShown = false;
        misses = 0;
    }

    /** {@return how long packets took that came too early or too late, the last ones; 0 if there were none} */
    public long apartNs() {
        return apartNs;
    }

    /** An interval is to be reconciled; they come in order. */
    void begin(final ReceiverInterval newOwn) {
        final Long2LongHashMap emptied = before;
        emptied.clear();
        before = unexpected;
        unexpected = emptied;
        own = newOwn;
        isDifferent = false;
        isApart = false;
    }

    /** What only one point has. */
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

    /** The mean of the packets whose delay is known, after what was listed; not a number if there are none. */
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

    /** {@return whether the clocks were seen to be apart in the interval} */
    boolean isApart() {
        return isApart;
    }

    /**
     * Whether packets of the interval that seem to be lost may be in another one.
     *
     * @param status of its reconciliation; null if it was not tried.
     */
    boolean isInDoubt(final ReconcileStatus status) {
        return isApart || !isShown && (isDifferent || status != ReconcileStatus.COMPLETE);
    }
}
