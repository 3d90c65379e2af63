package io.flowlag.exporter.exchange.wire;

/** The result of checking a message: accepted, or the first reason against. The order is part of REFUSED. */
public enum ExchangeResult {
    ACCEPTED("accepted"),
    TOO_SHORT("too_short"),
    MAGIC("magic"),
    VERSION("version"),
    TYPE("type"),
    FLAGS("flags"),
    LENGTH("length"),
    RESERVED("reserved"),
    VALUE("value"),
    COUNT("count"),
    GEOMETRY("geometry"),
    ENCODING("encoding"),
    TEXT("text"),
    AUTHENTICATION("authentication"),
    /** A message that is not allowed in this state of the session, or from this role. */
    UNEXPECTED("unexpected"),
    /** The sender holds other settings than the receiver. */
    SETTINGS("settings"),
    /** A sketch that cannot be paired with the receiver's. */
    PAIRING("pairing"),
    /** An incomplete interval, or one above the limits. */
    INTERVAL("interval"),
    /** The limit of senders is reached. */
    FULL("full");

    private static final ExchangeResult[] RESULTS = values();

    private final String label;

    ExchangeResult(final String label) {
        this.label = label;
    }

    public String label() {
        return label;
    }

    /** The result of an ordinal, null if there is none. */
    static ExchangeResult of(final int ordinal) {
        return ordinal >= 0 && ordinal < RESULTS.length ? RESULTS[ordinal] : null;
    }
}
