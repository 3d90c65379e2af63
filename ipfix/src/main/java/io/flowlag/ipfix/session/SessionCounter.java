package io.flowlag.ipfix.session;

/**
 * Counters of an {@link ExportingSession}: label, unit and one sentence. Flow records and options records are counted separately;
 * for each, accepted = exported + failed + waiting + returned. Failed flow records are further split by reason.
 */
public enum SessionCounter {
    /** Flow records handed to the session. */
    RECORDS_ACCEPTED("records_accepted", "records",
        "Flow records handed to the session, whatever became of them."),
    /** Flow records that left the process. */
    RECORDS_EXPORTED("records_exported", "records",
        "Flow records in messages that left the process."),
    /** Flow records in an open message or in the transport's buffer. */
    RECORDS_WAITING("records_waiting", "records",
        "Flow records in an open message or in the transport's buffer."),
    /** Flow records lost because there was no connection. */
    RECORDS_FAILED_TRANSPORT_DOWN("records_failed_transport_down", "records",
        "Flow records discarded because the transport was not connected, or failed for good."),
    /** Flow records lost because the transport could not take more. */
    RECORDS_FAILED_BUFFER_FULL("records_failed_buffer_full", "records",
        "Flow records discarded because the transport was connected and could take no more."),
    /** Flow records longer than a message. */
    RECORDS_FAILED_TOO_LONG("records_failed_too_long", "records",
        "Flow records discarded because they do not fit a message."),
    /** Flow records in a message that the transport refused. */
    RECORDS_FAILED_SEND_ERROR("records_failed_send_error", "records",
        "Flow records in messages that the transport refused with an error."),
    /** Flow records in the transport's buffer when a connection broke. */
    RECORDS_FAILED_CONNECTION_BROKEN("records_failed_connection_broken", "records",
        "Flow records that waited in the transport's buffer when its connection broke."),
    /** Flow records that the session's spool gave up. */
    RECORDS_FAILED_SPOOL("records_failed_spool", "records",
        "Flow records that were kept for a later connection and given up: no room, or they could not be written or read."),
    /** Flow records that waited at the end. */
    RECORDS_FAILED_AT_CLOSE("records_failed_at_close", "records",
        "Flow records that were still waiting when the session was closed."),
    /** Flow records given back. */
    RECORDS_RETURNED("records_returned", "records",
        "Flow records returned to their queue because their connection broke; each is sent again."),
    /** Exported flow records that a broken connection may have lost. */
    RECORDS_UNCERTAIN("records_uncertain", "records",
        "Flow records among the exported that were at most in the kernel's buffer when a connection broke."),

    /** Options records handed to the session. */
    OPTIONS_RECORDS_ACCEPTED("options_records_accepted", "records",
        "Options records handed to the session, whatever became of them."),
    /** Options records that left the process. */
    OPTIONS_RECORDS_EXPORTED("options_records_exported", "records",
        "Options records in messages that left the process."),
    /** Options records in an open message or in the transport's buffer. */
    OPTIONS_RECORDS_WAITING("options_records_waiting", "records",
        "Options records in an open message or in the transport's buffer."),
    /** Options records lost for any reason. */
    OPTIONS_RECORDS_FAILED("options_records_failed", "records",
        "Options records discarded or lost in this process, for any reason."),
    /** Exported options records that a broken connection may have lost. */
    OPTIONS_RECORDS_UNCERTAIN("options_records_uncertain", "records",
        "Options records among the exported that were at most in the kernel's buffer when a connection broke."),

    /** Packets of the failed flow records. */
    PACKETS_NOT_SENT("packets_not_sent", "packets",
        "Packets that the failed flow records stand for, as told by the caller."),
    /** Octets of the failed flow records. */
    OCTETS_NOT_SENT("octets_not_sent", "octets",
        "Octets that the failed flow records stand for, as told by the caller."),

    /** Messages given to the transport. */
    MESSAGES("messages", "messages",
        "Messages that the transport took."),
    /** Octets given to the transport. */
    OCTETS("octets", "octets",
        "Octets of the messages that the transport took."),
    /** Messages the transport refused. */
    MESSAGES_FAILED("messages_failed", "messages",
        "Messages that the transport refused with an error."),
    /** Template records sent. */
    TEMPLATES_SENT("templates_sent", "templates",
        "Template and Options Template Records in the messages that the transport took, repetitions included."),
    /** Templates in use. */
    TEMPLATES_ACTIVE("templates_active", "templates",
        "Templates and Options Templates in use."),
    /** Transport Sessions begun after the first. */
    RECONNECTS("reconnects", "sessions",
        "Transport Sessions begun after the first one."),
    /** Signs that the collector is away. */
    PEER_LOSSES("peer_losses", "errors",
        "Times that a collector was found missing: an ICMP port unreachable, an attempt to connect that failed, a connection " +
            "that broke."),
    /** Sequence number to come. */
    SEQUENCE("sequence", "records",
        "Data Records of the present Transport Session, discarded ones included: the next message's sequence number.");

    private static final SessionCounter[] ALL = values();

    private final String label;
    private final String unit;
    private final String description;

    SessionCounter(final String label, final String unit, final String description) {
        this.label = label;
        this.unit = unit;
        this.description = description;
    }

    /** {@return the name outside the process, in snake case} */
    public String label() {
        return label;
    }

    /** {@return what is counted} */
    public String unit() {
        return unit;
    }

    /** {@return one sentence on what is counted} */
    public String description() {
        return description;
    }

    /** {@return whether this is a reason for which flow records were lost} */
    public boolean isFailure() {
        return label.startsWith("records_failed_");
    }

    /** {@return how many counters there are} */
    public static int count() {
        return ALL.length;
    }

    /**
     * The counter with an ordinal; does not allocate.
     *
     * @param ordinal 0 to {@link #count()} - 1.
     */
    public static SessionCounter of(final int ordinal) {
        return ALL[ordinal];
    }
}
