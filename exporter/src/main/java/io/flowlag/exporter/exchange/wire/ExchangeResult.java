package io.flowlag.exporter.exchange.wire;

import java.util.Locale;

/** The result of checking a message: accepted, or the first reason against. The order is part of REFUSED. */
public enum ExchangeResult {
    ACCEPTED,
    TOO_SHORT,
    MAGIC,
    VERSION,
    TYPE,
    FLAGS,
    LENGTH,
    RESERVED,
    VALUE,
    COUNT,
    GEOMETRY,
    ENCODING,
    TEXT,
    AUTHENTICATION,
    /** A message that is not allowed in this state of the session, or from this role. */
    UNEXPECTED,
    /** The sender holds other settings than the receiver. */
    SETTINGS,
    /** A sketch that cannot be paired with the receiver's. */
    PAIRING,
    /** An incomplete interval, or one above the limits. */
    INTERVAL,
    /** The limit of senders is reached. */
    FULL;

    private static final ExchangeResult[] RESULTS = values();

    private final String label = name().toLowerCase(Locale.ROOT);

    public String label() {
        return label;
    }

    /** The result of an ordinal, null if there is none. */
    static ExchangeResult of(final int ordinal) {
        return ordinal >= 0 && ordinal < RESULTS.length ? RESULTS[ordinal] : null;
    }
}
