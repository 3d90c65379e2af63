package io.flowlag.ipfix.collect;

import io.flowlag.common.counter.CounterSet;
import io.flowlag.ipfix.element.ElementRegistry;
import io.flowlag.ipfix.element.InformationElement;
import org.agrona.concurrent.UnsafeBuffer;

import java.util.ArrayList;
import java.util.List;
import java.util.function.Consumer;

/** A Collecting Process with a settable clock that keeps a line of text for each record. */
final class Collection {
    final CounterSet<CollectorCounter> counters = new CounterSet<>(CollectorCounter.class);
    final List<String> records = new ArrayList<>();
    final ElementRegistry registry;
    final CollectingProcess process;
    Consumer<CollectedRecord> inspection = record -> { };
    long nowNs;

    Collection() {
        this(CollectorLimits.DEFAULTS);
    }

    Collection(final CollectorLimits limits) {
        registry = ElementRegistry.iana();
        process = new CollectingProcess(registry, limits, counters, this::onRecord);
    }

    TransportSession open(final SessionKind kind) {
        return process.openSession(kind, "peer");
    }

    /** The message lies in the middle of a larger buffer full of rubbish, as it would in a stream. */
    MessageResult send(final TransportSession session, final byte[] message) {
        final UnsafeBuffer buffer = new UnsafeBuffer(new byte[message.length + 14]);
        buffer.setMemory(0, buffer.capacity(), (byte)0xAA);
        buffer.putBytes(7, message);
        return process.onMessage(session, buffer, 7, message.length, nowNs);
    }

    long count(final CollectorCounter counter) {
        return counters.get(counter);
    }

    private void onRecord(final CollectedRecord record) {
        inspection.accept(record);
        final StringBuilder line = new StringBuilder(record.isOptions() ? "options " : "");
        for (int i = 0; i < record.fieldCount(); i++) {
            final InformationElement element = record.element(i);
            line.append(i == 0 ? "" : " ");
            line.append(element != null ? element.name() : record.template().field(i).element().name()).append('=');
            FieldText.appendHex(line, record.buffer(), record.fieldOffset(i), record.fieldLengthBytes(i));
        }
        records.add(line.toString());
    }
}
