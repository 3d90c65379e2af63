package io.flowlag.exporter.runtime.collect;

import io.flowlag.common.counter.CounterSet;
import io.flowlag.exporter.listing.Listing;
import io.flowlag.ipfix.collect.CollectedRecord;
import io.flowlag.ipfix.collect.CollectingProcess;
import io.flowlag.ipfix.collect.CollectorCounter;
import io.flowlag.ipfix.collect.CollectorLimits;
import io.flowlag.ipfix.collect.SessionKind;
import io.flowlag.ipfix.collect.TransportSession;
import io.flowlag.ipfix.element.ElementRegistry;
import org.agrona.DirectBuffer;

import java.util.List;

/**
 * Writes IPFIX messages in memory as {@code flowlag collect} would, with the same decoder and formats. One thread uses it.
 * Allocates with each record.
 */
public final class MessagePrinter {
    private final RecordFormatter formatter;
    private final StringBuilder text = new StringBuilder();
    private final CollectingProcess process;
    private final TransportSession session;

    /**
     * A printer.
     *
     * @param columns of CSV, in order.
     */
    public MessagePrinter(final ElementRegistry registry, final Listing listing, final List<String> columns) {
        formatter = RecordFormatter.of(listing, false, columns);
        process = new CollectingProcess(registry, CollectorLimits.DEFAULTS, new CounterSet<>(CollectorCounter.class),
            this::onRecord);
        session = process.openSession(SessionKind.FILE, "memory");
    }

    /** Writes the records of one message. Returns their text, without what is held for the width of columns or an order. */
    public String onMessage(final DirectBuffer buffer, final int offset, final int lengthBytes, final long nowNs) {
        process.onMessage(session, buffer, offset, lengthBytes, nowNs);
        return taken();
    }

    /** {@return the text of what was held for the width of columns: no message may come for a while} */
    public String settle() {
        formatter.settle(text);
        return taken();
    }

    /** {@return the text of what was held: no more messages come} */
    public String finish() {
        formatter.finish(text);
        return taken();
    }

    /** {@return what could not be shown, in words; may be empty} */
    public String remark() {
        return formatter.remark();
    }

    private String taken() {
        final String own = text.toString();
        text.setLength(0);
        return own;
    }

    private void onRecord(final CollectedRecord record) {
        formatter.append(record, text);
    }
}
