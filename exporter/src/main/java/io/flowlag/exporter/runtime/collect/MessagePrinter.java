package io.flowlag.exporter.runtime.collect;

import io.flowlag.common.counter.CounterSet;
import io.flowlag.ipfix.collect.CollectedRecord;
import io.flowlag.ipfix.collect.CollectingProcess;
import io.flowlag.ipfix.collect.CollectorCounter;
import io.flowlag.ipfix.collect.CollectorLimits;
import io.flowlag.ipfix.collect.SessionKind;
import io.flowlag.ipfix.collect.TransportSession;
import io.flowlag.ipfix.element.ElementRegistry;
import org.agrona.DirectBuffer;

import java.io.PrintStream;

/**
 * Prints IPFIX messages in memory as the table of {@code flowlag collect}, with the same decoder and columns. One thread uses it.
 * Allocates with each record.
 */
public final class MessagePrinter {
    private final PrintStream out;
    private final RecordFormatter formatter;
    private final StringBuilder text = new StringBuilder();
    private final CollectingProcess process;
    private final TransportSession session;

    /** A printer of a table with the expected contents; the caller flushes the stream. */
    public MessagePrinter(final ElementRegistry registry, final TableStart start, final PrintStream out) {
        this.out = out;
        formatter = new TableFormatter(false, start);
        process = new CollectingProcess(registry, CollectorLimits.DEFAULTS, new CounterSet<>(CollectorCounter.class),
            this::onRecord);
        session = process.openSession(SessionKind.FILE, "memory");
    }

    /** Prints the records of one message. Returns false if the output takes no more. */
    public boolean onMessage(final DirectBuffer buffer, final int offset, final int lengthBytes, final long nowNs) {
        process.onMessage(session, buffer, offset, lengthBytes, nowNs);
        out.append(text);
        text.setLength(0);
        return !out.checkError();
    }

    private void onRecord(final CollectedRecord record) {
        formatter.append(record, text);
    }
}
