package io.flowlag.exporter.exchange.wire;

/** The receiver's verdict on a sender's interval. The order is part of INTERVAL_ACK. */
public enum IntervalVerdict {
    /** Accepted. */
    ACCEPTED,
    /** Received before; this copy is dropped. */
    DUPLICATE,
    /** Past its deadline; records were exported without it. */
    LATE,
    /** Beyond the receiver's window: the clocks disagree. */
    AHEAD,
    /** Unusable; REFUSED says why. */
    REFUSED;

    private static final IntervalVerdict[] VERDICTS = values();

    /** The verdict of an ordinal, null if there is none. */
    static IntervalVerdict of(final int ordinal) {
        return ordinal >= 0 && ordinal < VERDICTS.length ? VERDICTS[ordinal] : null;
    }
}
