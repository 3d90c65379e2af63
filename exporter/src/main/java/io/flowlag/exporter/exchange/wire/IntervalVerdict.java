package io.flowlag.exporter.exchange.wire;

/** What the receiver says of a sender's interval. The order is part of INTERVAL_ACK. */
public enum IntervalVerdict {
    /** Taken. */
    ACCEPTED,
    /** It was there already: this copy is forgotten. */
    DUPLICATE,
    /** Its deadline is over: records went out without it. */
    LATE,
    /** It lies further ahead than the receiver's window: the clocks disagree. */
    AHEAD,
    /** It cannot be used: REFUSED says why. */
    REFUSED;

    private static final IntervalVerdict[] VERDICTS = values();

    /** The verdict of an ordinal, null if there is none. */
    static IntervalVerdict of(final int ordinal) {
        return ordinal >= 0 && ordinal < VERDICTS.length ? VERDICTS[ordinal] : null;
    }
}
