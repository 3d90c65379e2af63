package io.flowlag.exporter.exchange.link;

import io.flowlag.exporter.exchange.wire.ExchangeSettings;
import org.agrona.DirectBuffer;

/** What a receiver learns from its senders; called on the listener's thread, must not block. */
public interface ReceiverHandler {
    /**
     * An interval came, for the first time and in time.
     *
     * @param interval whole, verified, paired with the settings; valid during the call.
     */
    void onInterval(SenderInterval interval);

    /** An interval that was expected has no usable answer: it did not come in time, or was refused. */
    void onMissing(long pointId, long intervalNumber);

    /**
     * The effective send time of a reference.
     *
     * @param isPassive  whether the reference is a regular packet.
     * @param key        its digest, or the last 40 bits of it, if passive, else stream * 2^32 + sequence number.
     * @param sentNs     since the epoch.
     * @param methodCode how it was taken: STAMP timestamping method.
     */
    void onSendTime(long pointId, boolean isPassive, long key, long sentNs, int methodCode);

    /** A sender holds to settings. */
    void onSettingsHeld(long pointId, int settingsNumber);

    /**
     * A session with a sender began or ended.
     *
     * @param isConnected whether it began.
     * @param text        why it ended, or what is not as it should be, for people; empty if nothing is, or the other end closed
     *                    it and said nothing.
     */
    void onSession(long pointId, boolean isConnected, String text);

    /** The settings of one sender. Returns settings with the same number, sketches and times. */
    default ExchangeSettings settings(final ExchangeSettings common, final long pointId) {
        return common;
    }

    /** {@return where a sender's events are counted besides the listener's counters} */
    default ExchangeCounters counters(final long pointId) {
        return new ExchangeCounters();
    }

    /** Assembles a sender's synopses. Returns room for the awaited answer; null if no request is pending. */
    default SynopsisAssembler synopses(final long pointId, final int requestId) {
        return null;
    }

    /**
     * A sender has answered about synopses.
     *
     * @param image octets of the answer, not verified, the handler's from now on; null if it cannot be had.
     */
    default void onSynopsis(final long pointId, final int requestId, final DirectBuffer image) {
        // no requests
    }

    /**
     * A connection ended before there was a session.
     *
     * @param text what was wrong, both values of a mismatch named; may be empty.
     */
    void onTurnedAway(String address, ExchangeCounter how, String text);
}
