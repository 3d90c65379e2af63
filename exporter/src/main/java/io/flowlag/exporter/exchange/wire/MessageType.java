package io.flowlag.exporter.exchange.wire;

/** The kinds of message; the code is part of the wire format and never changes. */
public enum MessageType {
    HELLO(1),
    SETTINGS(2),
    SETTINGS_ACK(3),
    INTERVAL_BEGIN(4),
    DROPS(5),
    CELLS(6),
    IN_FLIGHT(7),
    FLOW_SUMS(8),
    WITNESS(9),
    INTERVAL_END(10),
    INTERVAL_ACK(11),
    SEND_TIMES(12),
    PING(13),
    REFUSED(14),
    SYNOPSIS_REQUEST(15),
    SYNOPSIS(16),
    PASSIVE_TIMES(17);

    private static final MessageType[] TYPES = values();

    private final int code;

    MessageType(final int code) {
        this.code = code;
    }

    int code() {
        return code;
    }

    /** The type of a code, null if there is none. */
    static MessageType of(final int code) {
        return code >= 1 && code <= TYPES.length ? TYPES[code - 1] : null;
    }
}
