package io.flowlag.exporter.runtime.collect;

import io.flowlag.common.counter.CounterSet;
import io.flowlag.exporter.fuzz.Corpus;
import io.flowlag.exporter.fuzz.FuzzTarget;
import io.flowlag.exporter.fuzz.GuardedMemory;
import io.flowlag.exporter.listing.FlowQuery;
import io.flowlag.exporter.listing.Grouping;
import io.flowlag.exporter.listing.Listing;
import io.flowlag.exporter.listing.RowFormat;
import io.flowlag.ipfix.collect.CollectedRecord;
import io.flowlag.ipfix.collect.CollectingProcess;
import io.flowlag.ipfix.collect.CollectorCounter;
import io.flowlag.ipfix.collect.CollectorLimits;
import io.flowlag.ipfix.collect.MessageResult;
import io.flowlag.ipfix.collect.SessionKind;
import io.flowlag.ipfix.collect.TransportSession;
import io.flowlag.ipfix.element.ElementRegistry;
import org.agrona.concurrent.UnsafeBuffer;

import java.util.List;
import java.util.SplittableRandom;
import java.util.concurrent.TimeUnit;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

/** What {@code flowlag collect} does with a message: decoded, and each record shown as JSON, as CSV and in the table. */
public final class IpfixTarget implements FuzzTarget {
    private static final CollectorLimits LIMITS =
        new CollectorLimits(4, 4, 8, 32, 64, 512, 16, TimeUnit.SECONDS.toNanos(1800), TimeUnit.SECONDS.toNanos(30));
    private static final int MAX_BYTES = 2048;
    private static final int VERSION = 10;
    /** A message of 2 KiB is at most so many records, each of which is shown in one of four ways. */
    private static final int MOST_CHARACTERS = 1 << 22;
    private static final long NS_BETWEEN_MESSAGES = 1_000_000_000L;

    private final CounterSet<CollectorCounter> counters = new CounterSet<>(CollectorCounter.class);
    private final CollectingProcess process =
        new CollectingProcess(ElementRegistry.iana(), LIMITS, counters, this::onRecord);
    private final TransportSession[] sessions = {process.openSession(SessionKind.UDP, "192.0.2.1:1"),
        process.openSession(SessionKind.TCP, "192.0.2.2:1"), process.openSession(SessionKind.FILE, "a file")};
    private final GuardedMemory memory = new GuardedMemory(MAX_BYTES);
    private final UnsafeBuffer message = new UnsafeBuffer(0, 0);
    private final StringBuilder text = new StringBuilder();
    private final RecordFormatter[] formatters =
        {new JsonFormatter(true), new CsvFormatter(true, List.of()), new TableFormatter(true, Listing.DEFAULT),
            RecordFormatter.of(
                new Listing(RowFormat.JSON, FlowQuery.ALL.by(Grouping.parse("src/24,dscp")), false), true, List.of())};
    private long nowNs;
    private int records;

    /** A target. */
    public IpfixTarget() {
    }

    private void onRecord(final CollectedRecord record) {
        records++;
        for (int i = 0; i < record.fieldCount(); i++) {
            record.buffer().boundsCheck(record.fieldOffset(i), record.fieldLengthBytes(i));
        }
        if (text.length() < MOST_CHARACTERS) {
            formatters[records % formatters.length].append(record, text);
        }
    }

    @Override
    public List<byte[]> seeds() {
        return Corpus.of("ipfix");
    }

    @Override
    public int mend(final byte[] octets, final int lengthBytes, final SplittableRandom random) {
        if (lengthBytes >= 4 && random.nextInt(8) > 0) {
            octets[0] = 0;
            octets[1] = VERSION;
            octets[2] = (byte)(lengthBytes >> 8);
            octets[3] = (byte)lengthBytes;
        }
        return lengthBytes;
    }

    @Override
    public long take(final byte[] octets, final int length) {
        memory.wrap(message, octets, 0, length);
        text.setLength(0);
        records = 0;
        nowNs += NS_BETWEEN_MESSAGES;
        final TransportSession session = sessions[length % sessions.length];
        final MessageResult result = process.onMessage(session, message, 0, length, nowNs);
        for (int i = 0; i < text.length(); i++) {
            assertTrue(text.charAt(i) == '\n' || !Character.isISOControl(text.charAt(i)), "a control character is shown");
        }
        return result.ordinal() << 8 | Math.min(records, 15) << 4 | Math.min(session.templateCount(), 15);
    }

    @Override
    public void check() {
        assertEquals(counters.get(CollectorCounter.MESSAGES),
            counters.get(CollectorCounter.ACCEPTED) + CollectorCounter.refused(counters));
        int fields = 0;
        for (final TransportSession each : sessions) {
            assertTrue(each.templateCount() <= LIMITS.maxTemplatesPerSession());
            assertTrue(each.domainCount() <= LIMITS.maxDomainsPerSession());
            fields += each.heldCount();
        }
        assertEquals(fields, process.heldCount());
        assertTrue(fields <= LIMITS.maxTemplateFields());
    }

    @Override
    public int maxInputBytes() {
        return MAX_BYTES;
    }

    @Override
    public long allocationBoundBytes() {
        return 64L << 20;
    }
}
