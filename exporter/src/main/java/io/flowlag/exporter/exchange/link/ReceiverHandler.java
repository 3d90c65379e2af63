package io.flowlag.exporter.exchange.link;

import io.flowlag.exporter.exchange.wire.ExchangeSettings;
import org.agrona.DirectBuffer;

/** Receives the events of a receiver's senders, on the listener's thread; must not block. */
public interface ReceiverHandler {
    /** {@return room for an interval of settings} */
    ReceivedInterval room(ExchangeSettings settings);

    /**
     * An interval was received, for the first time and in time.
     *
     * @param interval whole, verified, paired with the settings; the handler's from now on.
     * @return another of these settings, to be filled next; the same if the handler does not keep it.
     */
    ReceivedInterval onInterval(long pointId, ReceivedInterval interval);

    /** An expected interval is missing or was refused. */
    void onMissing(long pointId, long intervalNumber);

    /**
     * The effective send time of a reference.
     *
     * @param isPassive  whether the reference is a regular packet.
     * @param key        its digest, or the last 40 bits of it, if passive, else stream * 2^32 + sequence number.
     * @param sentNs     since the epoch.
     * @param methodCode STAMP timestamping method.
     */
    void onSendTime(long pointId, boolean isPassive, long key, long sentNs, int methodCode);

    /**
     * A sender has answered a question for its time; ns since the epoch.
     *
     * @param askedNs    when this end asked, by its clock.
     * @param receivedNs when the sender had the question, by the sender's clock.
     * @param answeredNs when it answered, by the sender's clock.
     * @param returnedNs when this end had the answer, by its clock.
     */
    default void onTimes(
        final long pointId, final long askedNs, final long receivedNs, final long answeredNs, final long returnedNs) {
        // clocks are not compared
    }

    /** {@return the least delay of a sender's packets that it has not been told, if one is offered} */
    default LeastDelay delay(final long pointId) {
        return new LeastDelay();
    }

    /** A sender has applied settings. */
    void onSettingsHeld(long pointId, int settingsNumber);

    /**
     * A session with a sender began or ended.
     *
     * @param isConnected whether it began.
     * @param text        why it ended, or what is wrong with it, for people; empty if nothing is, or if the other end closed it
     *                    without a reason.
     */
    void onSession(long pointId, boolean isConnected, String text);

    /** The settings of one sender. Returns settings with the same number, sketches and times. */
    default ExchangeSettings settings(final ExchangeSettings common, final long pointId) {
        return common;
    }

    /** {@return the counters of one sender, besides the listener's} */
    default ExchangeCounters counters(final long pointId) {
        return new ExchangeCounters();
    }

    /** Assembles a sender's synopses. Returns room for the awaited answer; null if no request is pending. */
    default SynopsisAssembler synopses(final long pointId, final int requestId) {
        return null;
    }

    /**
     * A sender has answered a synopsis request.
     *
     * @param image octets of the answer, unverified, valid until the next request; null if unavailable.
     */
    default void onSynopsis(final long pointId, final int requestId, final DirectBuffer image) {
        // no requests
    }

    /**
     * A connection ended before there was a session.
     *
     * @param text the fault, with both values of a mismatch; may be empty.
     */
    void onTurnedAway(String address, ExchangeCounter how, String text);
}
