package io.flowlag.exporter.exchange.wire;

import org.agrona.DirectBuffer;

/** The kinds of message. Their order is part of the wire format and never changes: the first has the code 1. */
public enum MessageType {
    HELLO(HelloMessage::verify),
    SETTINGS(SettingsMessage::verify),
    SETTINGS_ACK(SettingsAckMessage::verify),
    INTERVAL_BEGIN(IntervalBeginMessage::verify),
    DROPS(DropsMessage::verify),
    CELLS(CellsMessage::verify),
    IN_FLIGHT(IntervalListMessage::verifyDigests),
    FLOW_SUMS(IntervalListMessage::verifyFlows),
    WITNESS(IntervalListMessage::verifyFlows),
    INTERVAL_END(IntervalEndMessage::verify),
    INTERVAL_ACK(IntervalAckMessage::verify),
    SEND_TIMES(SendTimesMessage::verify),
    PING(PingMessage::verify),
    REFUSED(RefusedMessage::verify),
    SYNOPSIS_REQUEST(SynopsisRequestMessage::verify),
    SYNOPSIS(SynopsisMessage::verify),
    PASSIVE_TIMES(PassiveTimesMessage::verify);

    private static final MessageType[] TYPES = values();

    private final Verifier verifier;

    /** Checks the body of a message. */
    private interface Verifier {
        ExchangeResult verify(DirectBuffer buffer, int body, int bodyBytes);
    }

    MessageType(final Verifier verifier) {
        this.verifier = verifier;
    }

    int code() {
        return ordinal() + 1;
    }

    /** The type of a code, null if there is none. */
    static MessageType of(final int code) {
        return code >= 1 && code <= TYPES.length ? TYPES[code - 1] : null;
    }

    /** Checks every field of a body. Returns accepted, or the first reason against. */
    ExchangeResult verify(final DirectBuffer buffer, final int body, final int bodyBytes) {
        return verifier.verify(buffer, body, bodyBytes);
    }
}
