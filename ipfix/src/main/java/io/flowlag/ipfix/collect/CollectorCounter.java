package io.flowlag.ipfix.collect;

import io.flowlag.common.counter.Counted;
import io.flowlag.common.counter.CounterSet;

import java.util.Locale;

/**
 * Everything that a Collecting Process counts: a label and one sentence each. Received messages are accepted or refused for
 * one reason: {@code messages = accepted + the sum of all refusals}.
 */
public enum CollectorCounter implements Counted {
    MESSAGES("Messages received, refused ones included."),
    ACCEPTED("Messages whose every length was found sound."),
    OCTETS("Octets of all messages received."),
    RECORDS("Data records of templates without scope."),
    OPTIONS_RECORDS("Data records of options templates."),
    REFUSED_VERSION("Refused: the version is not 10."),
    REFUSED_MESSAGE_LENGTH("Refused: the message is shorter than its header, or its length is not what was received."),
    REFUSED_SET_LENGTH("Refused: a Set is shorter than its header or ends behind the message."),
    REFUSED_SET_ID("Refused: a Set ID that is reserved."),
    REFUSED_TEMPLATE_ID("Refused: a Template ID that is reserved."),
    REFUSED_TEMPLATE_CUT("Refused: a template ends behind its Set."),
    REFUSED_TEMPLATE_FIELD_COUNT("Refused: a template has more fields than the limit."),
    REFUSED_TEMPLATE_SCOPE("Refused: an options template without scope, or with more scope fields than fields."),
    REFUSED_TEMPLATE_ELEMENT_ID("Refused: a template with the element id 0."),
    REFUSED_TEMPLATE_LENGTH("Refused: the records of a template would have no octet, or more than a message can carry."),
    REFUSED_RECORD_CUT("Refused: a data record ends behind its Set."),
    TEMPLATES_DEFINED("Templates installed that were not known."),
    TEMPLATES_REFRESHED("Templates received again, the same as before."),
    TEMPLATES_REPLACED("Templates received with a known id and new fields over UDP, where that is allowed."),
    TEMPLATES_REDEFINED("Templates received with a known id and new fields where a withdrawal must come first."),
    TEMPLATES_WITHDRAWN("Templates withdrawn by the exporter."),
    WITHDRAWALS_IGNORED("Withdrawals over UDP, or of templates that are not known."),
    TEMPLATES_EXPIRED("Templates over UDP not refreshed within their lifetime."),
    TEMPLATES_DROPPED("Templates forgotten because there were too many."),
    DATA_SETS_WITHOUT_TEMPLATE("Data Sets skipped because their template is not known."),
    PADDING_NOT_ZERO("Sets whose padding is not zero."),
    SEQUENCE_GAPS("Gaps found in the sequence numbers."),
    RECORDS_LOST("Data records missing in the gaps, at the time when each gap was found."),
    MESSAGES_REORDERED("Messages that came after a later one and fill a gap."),
    RECORDS_LATE("Data records of reordered messages; counted as lost before."),
    MESSAGES_DUPLICATED("Messages that came after a later one where no gap is left."),
    SEQUENCE_RESTARTS("Sequence numbers that began anew."),
    ELEMENTS_LEARNED("Elements learned from RFC 5610 type records."),
    ELEMENTS_REFUSED("RFC 5610 type records ignored: they contradict an earlier one, have no usable name, or are too many."),
    SESSIONS_OPENED("Transport Sessions begun."),
    SESSIONS_DROPPED("Transport Sessions over UDP forgotten because there were too many."),
    DOMAINS_DROPPED("Observation Domains forgotten because their session had too many."),
    CONNECTIONS_ACCEPTED("Connections accepted."),
    CONNECTIONS_REFUSED("Connections closed at once because there were too many."),
    CONNECTIONS_EVICTED("Connections without template, idle, or of an address with many, closed when there were too many."),
    CONNECTIONS_SLOW("Connections closed because a message or a handshake took too long."),
    CONNECTIONS_NOT_IPFIX("Connections closed because what they sent is not IPFIX."),
    CONNECTIONS_TLS_FAILED("Connections closed because TLS failed."),
    CONNECTIONS_BROKEN("Connections that ended inside a message or were reset."),
    CONNECTIONS_ENDED("Connections that ended between two messages."),
    SOCKET_ERRORS("Errors that the system reported on a socket and that cost no more than what was under way.");

    private static final CollectorCounter[] ALL = values();

    private final Text text;

    CollectorCounter(final String sentence) {
        text = new Text(name().toLowerCase(Locale.ROOT), "", sentence);
    }

    @Override
    public Text text() {
        return text;
    }

    /** {@return whether this counts messages refused for one reason} */
    public boolean isRefusal() {
        return label().startsWith("refused_");
    }

    public static int count() {
        return ALL.length;
    }

    /** The counter with an ordinal, 0 to {@link #count()} - 1; does not allocate. */
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
