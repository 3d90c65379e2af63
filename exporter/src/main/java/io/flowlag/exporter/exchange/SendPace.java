package io.flowlag.exporter.exchange;

/**
 * How fast a sender ships intervals and answers, so that all that it says keeps to a rate. Send times go out as they are known,
 * before all else, and answers before intervals. One thread; allocates at construction.
 */
final class SendPace {
    /** Of the rate; the receiver's own messages, and a message that is longer than what may go, have the rest. */
    private static final double SHARE = 0.88;
    private static final double BURST_S = 0.02;
    private static final double NS_PER_S = 1e9;
    /** What goes at any pace is no debt beyond this: answers do not wait for intervals that are late. */
    private static final double MOST_DEBT = 2.0 * MessageHeader.MAX_PAYLOAD_BYTES;

    private double octetsPerSecond;
    private double mayGo;
    private long lastNs;
    private long lastOctets;

    /** From now on, when so many octets have gone: bits per second of both ends together; 0 for any. */
    void rate(final long bps, final long nowNs, final long octets) {
        octetsPerSecond = SHARE * bps / Byte.SIZE;
        mayGo = BURST_S * octetsPerSecond;
        lastNs = nowNs;
        lastOctets = octets;
    }

    /** Time has passed, and so many octets have gone. */
    void onTime(final long nowNs, final long octets) {
        final double restored = mayGo + (nowNs - lastNs) / NS_PER_S * octetsPerSecond;
        mayGo = Math.max(-MOST_DEBT, Math.min(BURST_S * octetsPerSecond, restored - (octets - lastOctets)));
        lastNs = nowNs;
        lastOctets = octets;
    }

    /** {@return octets of intervals that may go now; at most one message more goes} */
    long octets() {
        return octetsPerSecond == 0 ? Long.MAX_VALUE : (long)mayGo;
    }

    /** {@return whether a piece of an answer may go now, of which the receiver waits less long than for an interval} */
    boolean mayAnswer() {
        return octetsPerSecond == 0 || mayGo > -MessageHeader.MAX_PAYLOAD_BYTES;
    }
}
