package io.flowlag.ipfix.collect;

import io.flowlag.common.counter.CounterSet;

/**
 * Everything that a Collecting Process counts: a label and one sentence each. Received messages are accepted or refused for
 * one reason: {@code messages = accepted + the sum of all refusals}.
 */
public enum CollectorCounter {
    /** Messages received, refused ones included. */
    MESSAGES("messages", "Messages received, refused ones included."),
    /** Messages whose every length was found sound. */
    ACCEPTED("accepted", "Messages whose every length was found sound."),
    /** Octets of all messages received. */
    OCTETS("octets", "Octets of all messages received."),
    /** Data records of templates without scope. */
    RECORDS("records", "Data records of templates without scope."),
    /** Data records of options templates. */
    OPTIONS_RECORDS("options_records", "Data records of options templates."),

    /** Refused: the version is not 10. */
    REFUSED_VERSION("refused_version", "Refused: the version is not 10."),
    /** Refused: the message is shorter than its header, or its length is not what was received. */
    REFUSED_MESSAGE_LENGTH("refused_message_length",
        "Refused: the message is shorter than its header, or its length is not what was received."),
    /** Refused: a Set is shorter than its header or ends behind the message. */
    REFUSED_SET_LENGTH("refused_set_length", "Refused: a Set is shorter than its header or ends behind the message."),
    /** Refused: a Set ID that is reserved. */
    REFUSED_SET_ID("refused_set_id", "Refused: a Set ID that is reserved."),
    /** Refused: a Template ID that is reserved. */
    REFUSED_TEMPLATE_ID("refused_template_id", "Refused: a Template ID that is reserved."),
    /** Refused: a template ends behind its Set. */
    REFUSED_TEMPLATE_CUT("refused_template_cut", "Refused: a template ends behind its Set."),
    /** Refused: a template has more fields than the limit. */
    REFUSED_TEMPLATE_FIELD_COUNT("refused_template_field_count", "Refused: a template has more fields than the limit."),
    /** Refused: an options template without scope, or with more scope fields than fields. */
    REFUSED_TEMPLATE_SCOPE("refused_template_scope",
        "Refused: an options template without scope, or with more scope fields than fields."),
    /** Refused: a template with the element id 0. */
    REFUSED_TEMPLATE_ELEMENT_ID("refused_template_element_id", "Refused: a template with the element id 0."),
    /** Refused: the records of a template would have no octet, or more than a message can carry. */
    REFUSED_TEMPLATE_LENGTH("refused_template_length",
        "Refused: the records of a template would have no octet, or more than a message can carry."),
    /** Refused: a data record ends behind its Set. */
    REFUSED_RECORD_CUT("refused_record_cut", "Refused: a data record ends behind its Set."),

    /** Templates installed that were not known. */
    TEMPLATES_DEFINED("templates_defined", "Templates installed that were not known."),
    /** Templates received again, the same as before. */
    TEMPLATES_REFRESHED("templates_refreshed", "Templates received again, the same as before."),
    /** Templates received with a known id and new fields over UDP, where that is allowed. */
    TEMPLATES_REPLACED("templates_replaced",
        "Templates received with a known id and new fields over UDP, where that is allowed."),
    /** Templates received with a known id and new fields where a withdrawal must come first. */
    TEMPLATES_REDEFINED("templates_redefined",
        "Templates received with a known id and new fields where a withdrawal must come first."),
    /** Templates withdrawn by the exporter. */
    TEMPLATES_WITHDRAWN("templates_withdrawn", "Templates withdrawn by the exporter."),
    /** Withdrawals over UDP, or of templates that are not known. */
    WITHDRAWALS_IGNORED("withdrawals_ignored", "Withdrawals over UDP, or of templates that are not known."),
    /** Templates over UDP not refreshed within their lifetime. */
    TEMPLATES_EXPIRED("templates_expired", "Templates over UDP not refreshed within their lifetime."),
    /** Templates forgotten because there were too many. */
    TEMPLATES_DROPPED("templates_dropped", "Templates forgotten because there were too many."),
    /** Data Sets skipped because their template is not known. */
    DATA_SETS_WITHOUT_TEMPLATE("data_sets_without_template", "Data Sets skipped because their template is not known."),
    /** Sets whose padding is not zero. */
    PADDING_NOT_ZERO("padding_not_zero", "Sets whose padding is not zero."),

    /** Gaps found in the sequence numbers. */
    SEQUENCE_GAPS("sequence_gaps", "Gaps found in the sequence numbers."),
    /** Data records missing in the gaps, at the time when each gap was found. */
    RECORDS_LOST("records_lost", "Data records missing in the gaps, at the time when each gap was found."),
    /** Messages that came after a later one and fill a gap. */
    MESSAGES_REORDERED("messages_reordered", "Messages that came after a later one and fill a gap."),
    /** Data records of reordered messages; counted as lost before. */
    RECORDS_LATE("records_late", "Data records of reordered messages; counted as lost before."),
    /** Messages that came after a later one where no gap is left. */
    MESSAGES_DUPLICATED("messages_duplicated", "Messages that came after a later one where no gap is left."),
    /** Sequence numbers that began anew. */
    SEQUENCE_RESTARTS("sequence_restarts", "Sequence numbers that began anew."),

    /** Elements learned from RFC 5610 type records. */
    ELEMENTS_LEARNED("elements_learned", "Elements learned from RFC 5610 type records."),
    /** RFC 5610 type records ignored: they contradict an earlier one, have no usable name, or are too many. */
    ELEMENTS_REFUSED("elements_refused",
        "RFC 5610 type records ignored: they contradict an earlier one, have no usable name, or are too many."),

    /** Transport Sessions begun. */
    SESSIONS_OPENED("sessions_opened", "Transport Sessions begun."),
    /** Transport Sessions over UDP forgotten because there were too many. */
    SESSIONS_DROPPED("sessions_dropped", "Transport Sessions over UDP forgotten because there were too many."),
    /** Observation Domains forgotten because their session had too many. */
    DOMAINS_DROPPED("domains_dropped", "Observation Domains forgotten because their session had too many."),
    /** Connections accepted. */
    CONNECTIONS_ACCEPTED("connections_accepted", "Connections accepted."),
    /** Connections closed at once because there were too many. */
    CONNECTIONS_REFUSED("connections_refused", "Connections closed at once because there were too many."),
    /** Connections closed because they had never sent a message when there were too many. */
    CONNECTIONS_EVICTED("connections_evicted",
        "Connections closed because they had never sent a message when there were too many."),
    /** Connections closed because a message or a handshake took too long. */
    CONNECTIONS_SLOW("connections_slow", "Connections closed because a message or a handshake took too long."),
    /** Connections closed because what they sent is not IPFIX. */
    CONNECTIONS_NOT_IPFIX("connections_not_ipfix", "Connections closed because what they sent is not IPFIX."),
    /** Connections closed because TLS failed. */
    CONNECTIONS_TLS_FAILED("connections_tls_failed", "Connections closed because TLS failed."),
    /** Connections that ended inside a message or were reset. */
    CONNECTIONS_BROKEN("connections_broken", "Connections that ended inside a message or were reset."),
    /** Connections that ended between two messages. */
    CONNECTIONS_ENDED("connections_ended", "Connections that ended between two messages."),
    /** Errors that the system reported on a socket and that cost no more than what was under way. */
    SOCKET_ERRORS("socket_errors",
        "Errors that the system reported on a socket and that cost no more than what was under way.");

    private static final CollectorCounter[] ALL = values();

    private final String label;
    private final String description;

    CollectorCounter(final String label, final String description) {
        this.label = label;
        this.description = description;
    }

    /** {@return the name outside the process, in snake case} */
    public String label() {
        return label;
    }

    /** {@return one sentence on what is counted} */
    public String description() {
        return description;
    }

    /** {@return whether this counts messages refused for one reason} */
    public boolean isRefusal() {
        return label.startsWith("refused_");
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
    public static CollectorCounter of(final int ordinal) {
        return ALL[ordinal];
    }

    /** Sums the refusals. Returns messages that were refused, for any reason. */
    public static long refused(final CounterSet<CollectorCounter> counters) {
        long sum = 0;
        for (final CollectorCounter counter : ALL) {
            sum += counter.isRefusal() ? counters.get(counter) : 0;
        }
        return sum;
    }

    /** Compares the gaps with what filled them later. Returns records that are missing now by their sequence numbers. */
    public static long missing(final CounterSet<CollectorCounter> counters) {
        return counters.get(RECORDS_LOST) - counters.get(RECORDS_LATE);
    }
}
