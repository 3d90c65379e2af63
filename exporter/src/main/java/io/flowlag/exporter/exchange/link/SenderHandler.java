package io.flowlag.exporter.exchange.link;

import io.flowlag.exporter.delay.interval.repair.SynopsisRequest;
import io.flowlag.exporter.exchange.wire.IntervalVerdict;

/** Receives the events of a sender's receiver, on the connector's thread; must not block. */
public interface SenderHandler {
    /** New settings arrived; the schedule has them already. */
    void onSettings(HeldSettings held);

    /**
     * The receiver refused something, or this end refused the receiver.
     *
     * @param text printable, for people; it names both values of a mismatch.
     */
    void onRefused(String reason, String text);

    /** The receiver answered an interval. */
    void onAnswer(long intervalNumber, IntervalVerdict verdict);

    /**
     * The receiver asks for a synopsis or for packets of an interval.
     *
     * @param requestId      that the answer must have.
     * @param settingsNumber that the interval is of.
     * @param request        whole; the handler's from now on.
     */
    default void onSynopsisRequest(final int requestId, final int settingsNumber, final SynopsisRequest request) {
        // no packets are remembered: no answer
    }

    /**
     * The receiver has measured the delay of a packet from this end's point.
     *
     * @param receiverInstance random number of the receiver's run.
     * @param sentNs           by this end's clock, ns since the epoch.
     * @param arrivedNs        by the receiver's.
     */
    default void onDelay(final long receiverInstance, final long sentNs, final long arrivedNs) {
        // clocks are not compared
    }

    /**
     * The session began or ended.
     *
     * @param isConnected whether it began.
     * @param text        why it ended, for people; empty if it began, or if the other end closed it without a reason.
     */
    void onSession(boolean isConnected, String text);
}
