package io.flowlag.exporter.delay;

import io.flowlag.exporter.status.ClockEstimate;
import io.flowlag.rli.reference.ErrorEstimate;

import java.util.concurrent.atomic.AtomicLongArray;
import java.util.function.IntFunction;

/**
 * The largest possible difference between the clocks of the two points. In one process it is the configured one. A receiver
 * adds the error of its own clock to each sender's, as its references and its intervals over the exchange report it. Where
 * clocks are estimated, the estimate narrows or contradicts that. The metering thread writes, any thread reads. Allocates at
 * construction.
 */
final class ClockDifference implements ClockError {
    private static final int NOTHING_SAID = 0;
    private static final long UNKNOWN_NS = -1;
    /** Marks a sender without a report; it does not affect the others. */
    private static final long UNHEARD_NS = -2;

    private final ClockError own;
    /** By sender; none without the exchange. */
    private final IntFunction<ClockEstimate> estimated;
    private final DelayHandler delays;
    private final int classCount;
    private final int senderCount;
    /** By stream, then of the exchange by sender; none if there is one clock. */
    private final int[] estimates;
    private final AtomicLongArray sendersNs;

    /**
     * No reports yet.
     *
     * @param wiring     with the own clock, and the role that says whether it is the only one.
     * @param classCount of the streams that each has.
     */
    ClockDifference(final DelayWiring wiring, final int senderCount, final int classCount) {
        this.senderCount = senderCount;
        this.classCount = classCount;
        own = wiring.clockError();
        final ReceiverLink link = wiring.receiverLink();
        estimated = link == null ? (sender) -> ClockEstimate.NONE : link::clock;
        delays = link == null ? (sender, sentNs, arrivedNs) -> { } : link::onDelay;
        final boolean isOneProcess = !wiring.role().isReceiver() || wiring.role().isSender();
        estimates = new int[isOneProcess ? 0 : senderCount * (classCount + 1)];
        sendersNs = new AtomicLongArray(senderCount);
        for (int i = 0; i < senderCount; i++) {
            sendersNs.set(i, isOneProcess ? 0 : UNHEARD_NS);
        }
    }

    /** Takes delays between the clocks. */
    private interface DelayHandler {
        void onDelay(int senderIndex, long sentNs, long arrivedNs);
    }

    /** A reference of a stream arrived; the times are of the two clocks as they are. */
    void onDelay(final int streamIndex, final long sentNs, final long arrivedNs) {
        delays.onDelay(streamIndex / classCount, sentNs, arrivedNs);
    }

    /** Takes the clock error that a reference of a stream reports for its sender. */
    void onReference(final int streamIndex, final int errorEstimate) {
        onEstimate(streamIndex, streamIndex / classCount, errorEstimate);
    }

    /** Takes the clock error that a sender reports over the exchange; 0 if it has given none. */
    void onSender(final int senderIndex, final int errorEstimate) {
        onEstimate(senderCount * classCount + senderIndex, senderIndex, errorEstimate);
    }

    private void onEstimate(final int index, final int senderIndex, final int errorEstimate) {
        if (estimates.length > 0 && estimates[index] != errorEstimate) {
            estimates[index] = errorEstimate;
            sendersNs.lazySet(senderIndex, worstNs(senderIndex));
        }
    }

    private long worstNs(final int senderIndex) {
        long worstNs = worstNs(UNHEARD_NS, estimates[senderCount * classCount + senderIndex]);
        for (int i = 0; i < classCount; i++) {
            worstNs = worstNs(worstNs, estimates[senderIndex * classCount + i]);
        }
        return worstNs;
    }

    private static long worstNs(final long beforeNs, final int estimate) {
        if (estimate == NOTHING_SAID || beforeNs == UNKNOWN_NS) {
            return beforeNs;
        }
        return ErrorEstimate.isSynchronized(estimate) ? Math.max(beforeNs, ErrorEstimate.errorNs(estimate)) : UNKNOWN_NS;
    }

    /** {@return the last estimate of a sender's clock} */
    ClockEstimate estimate(final int senderIndex) {
        return senderIndex >= senderCount ? ClockEstimate.NONE : estimated.apply(senderIndex);
    }

    /** {@return the last estimate of the clock of a stream's sender} */
    ClockEstimate ofStream(final int streamIndex) {
        return estimate(streamIndex / classCount);
    }

    /** {@return the bound with one sender's clock; below 0 for unknown} */
    long errorNs(final int senderIndex) {
        final long ownNs = own.errorNs();
        final long senderNs = sendersNs.get(senderIndex);
        return estimate(senderIndex).errorNs(ownNs < 0 || senderNs < 0 ? UNKNOWN_NS : ownNs + senderNs);
    }

    /** {@return the bound with the worst clock of the senders that reported; below 0 for unknown} */
    @Override
    public long errorNs() {
        long worstNs = UNKNOWN_NS;
        for (int i = 0; i < senderCount; i++) {
            final boolean isHeard = sendersNs.get(i) != UNHEARD_NS || estimate(i).isKnown();
            final long errorNs = errorNs(i);
            if (isHeard && errorNs < 0) {
                return UNKNOWN_NS;
            }
            worstNs = Math.max(worstNs, errorNs);
        }
        return worstNs;
    }

    @Override
    public boolean isSynchronized() {
        return own.isSynchronized();
    }
}
