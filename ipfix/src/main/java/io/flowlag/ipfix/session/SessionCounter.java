package io.flowlag.ipfix.session;

import io.flowlag.common.counter.Counted;

import java.util.Locale;

/**
 * Counters of an {@link ExportingSession}: label, unit and one sentence. Flow records and options records are counted separately;
 * for each, accepted = exported + failed + waiting + returned. Failed flow records are further split by reason.
 */
public enum SessionCounter implements Counted {
    RECORDS_ACCEPTED("records", "Flow records handed to the session, whatever became of them."),
    RECORDS_EXPORTED("records", "Flow records in messages that left the process."),
    RECORDS_WAITING("records", "Flow records in an open message or in the transport's buffer."),
    RECORDS_FAILED_TRANSPORT_DOWN("records",
        "Flow records discarded because the transport was not connected, or failed for good."),
    RECORDS_FAILED_BUFFER_FULL("records", "Flow records discarded because the transport was connected and could take no more."),
    RECORDS_FAILED_TOO_LONG("records", "Flow records discarded because they do not fit a message."),
    RECORDS_FAILED_SEND_ERROR("records", "Flow records in messages that the transport refused with an error."),
    RECORDS_FAILED_CONNECTION_BROKEN("records", "Flow records that waited in the transport's buffer when its connection broke."),
    RECORDS_FAILED_SPOOL("records",
        "Flow records that were kept for a later connection and given up: no room, or they could not be written or read."),
    RECORDS_FAILED_AT_CLOSE("records", "Flow records that were still waiting when the session was closed."),
    RECORDS_RETURNED("records",
        "Flow records returned to their queue because their connection broke; each is sent again."),
    RECORDS_UNCERTAIN("records",
        "Flow records among the exported that were at most in the kernel's buffer when a connection broke, or in the " +
        "datagram before the report that one was refused."),
    OPTIONS_RECORDS_ACCEPTED("records", "Options records handed to the session, whatever became of them."),
    OPTIONS_RECORDS_EXPORTED("records", "Options records in messages that left the process."),
    OPTIONS_RECORDS_WAITING("records", "Options records in an open message or in the transport's buffer."),
    OPTIONS_RECORDS_FAILED("records", "Options records discarded or lost in this process, for any reason."),
    OPTIONS_RECORDS_UNCERTAIN("records",
        "Options records among the exported that were at most in the kernel's buffer when a connection broke, or in the " +
        "datagram before the report that one was refused."),
    PACKETS_NOT_SENT("packets", "Packets that the failed flow records stand for, as told by the caller."),
    OCTETS_NOT_SENT("octets", "Octets that the failed flow records stand for, as told by the caller."),
    MESSAGES("messages", "Messages that the transport took."),
    OCTETS("octets", "Octets of the messages that the transport took."),
    MESSAGES_FAILED("messages", "Messages that the transport refused with an error."),
    TEMPLATES_SENT("templates",
        "Template and Options Template Records in the messages that the transport took, repetitions included."),
    TEMPLATES_ACTIVE("templates", "Templates and Options Templates in use."),
    RECONNECTS("sessions", "Transport Sessions begun after the first one."),
    PEER_LOSSES("errors",
        "Times that a collector was found missing: an ICMP port unreachable, an attempt to connect that failed, a connection " +
        "that broke."),
    SEQUENCE("records",
        "Data Records of the present Transport Session, discarded ones included: the next message's sequence number.");

    private static final SessionCounter[] ALL = values();

    private final Text text;
    private final boolean isFailure;

    SessionCounter(final String unit, final String sentence) {
        text = new Text(name().toLowerCase(Locale.ROOT), unit, sentence);
        isFailure = label().startsWith("records_failed_");
    }

    @Override
    public Text text() {
        return text;
    }

    /** {@return whether this is a reason for which flow records were lost} */
    public boolean isFailure() {
        return isFailure;
    }

    public static int count() {
        return ALL.length;
    }

    /** The counter with an ordinal, 0 to {@link #count()} - 1; does not allocate. */
    public static SessionCounter of(final int ordinal) {
        return ALL[ordinal];
    }
}
