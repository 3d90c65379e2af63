package io.flowlag.exporter.runtime.collect;

import io.flowlag.common.counter.CounterSet;
import io.flowlag.ipfix.collect.CollectorCounter;

/** The line of statistics at the end of {@code collect}: messages received, missing, and refused with the reason. */
final class ClosingLine {
    private static final CollectorCounter[] NOTEWORTHY = {
        CollectorCounter.DATA_SETS_WITHOUT_TEMPLATE,
        CollectorCounter.MESSAGES_REORDERED,
        CollectorCounter.MESSAGES_DUPLICATED,
        CollectorCounter.SEQUENCE_RESTARTS,
        CollectorCounter.TEMPLATES_REDEFINED,
        CollectorCounter.TEMPLATES_EXPIRED,
        CollectorCounter.TEMPLATES_DROPPED,
        CollectorCounter.DOMAINS_DROPPED,
        CollectorCounter.SESSIONS_DROPPED,
        CollectorCounter.ELEMENTS_REFUSED,
        CollectorCounter.PADDING_NOT_ZERO,
        CollectorCounter.CONNECTIONS_REFUSED,
        CollectorCounter.CONNECTIONS_EVICTED,
        CollectorCounter.CONNECTIONS_SLOW,
        CollectorCounter.CONNECTIONS_NOT_IPFIX,
        CollectorCounter.CONNECTIONS_TLS_FAILED,
        CollectorCounter.CONNECTIONS_BROKEN,
        CollectorCounter.SOCKET_ERRORS,
    };

    private ClosingLine() {
    }

    static String of(final CounterSet<CollectorCounter> counters) {
        final StringBuilder line = new StringBuilder("collect: ")
            .append(counters.get(CollectorCounter.MESSAGES)).append(" messages, ")
            .append(counters.get(CollectorCounter.RECORDS)).append(" records, ")
            .append(counters.get(CollectorCounter.OPTIONS_RECORDS)).append(" options records, ")
            .append(CollectorCounter.missing(counters)).append(" records missing in ")
            .append(counters.get(CollectorCounter.SEQUENCE_GAPS)).append(" sequence gaps, ")
            .append(CollectorCounter.refused(counters)).append(" messages refused");
        String separator = ": ";
        for (int i = 0; i < CollectorCounter.count(); i++) {
            final CollectorCounter counter = CollectorCounter.of(i);
            if (counter.isRefusal() && counters.get(counter) > 0) {
                line.append(separator).append(counter.label()).append('=').append(counters.get(counter));
                separator = ", ";
            }
        }
        separator = "; ";
        for (final CollectorCounter counter : NOTEWORTHY) {
            if (counters.get(counter) > 0) {
                line.append(separator).append(counter.label()).append('=').append(counters.get(counter));
                separator = ", ";
            }
        }
        return line.toString();
    }
}
