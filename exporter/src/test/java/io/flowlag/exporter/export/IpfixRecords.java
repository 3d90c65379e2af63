package io.flowlag.exporter.export;

import io.flowlag.common.counter.CounterSet;
import io.flowlag.exporter.config.ExporterConfig.Profile;
import io.flowlag.exporter.status.Counters;
import io.flowlag.ipfix.collect.CollectedRecord;
import io.flowlag.ipfix.collect.CollectingProcess;
import io.flowlag.ipfix.collect.CollectorCounter;
import io.flowlag.ipfix.collect.CollectorLimits;
import io.flowlag.ipfix.collect.MessageResult;
import io.flowlag.ipfix.collect.SessionKind;
import io.flowlag.ipfix.collect.TransportSession;
import io.flowlag.ipfix.element.ElementRegistry;
import io.flowlag.ipfix.element.FlowElements;
import io.flowlag.ipfix.element.InformationElement;
import io.flowlag.ipfix.session.ExportingSession;
import io.flowlag.ipfix.session.SessionSettings;
import io.flowlag.ipfix.template.TemplateCatalog;
import io.flowlag.ipfix.transport.FileTransport;
import org.agrona.DirectBuffer;
import org.agrona.concurrent.UnsafeBuffer;

import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

/** What the Collecting Process reads in a file: for each record the values by element, in their order. */
public final class IpfixRecords {
    private IpfixRecords() {
    }

    public static List<Map<String, List<String>>> flows(final Path file) throws IOException {
        return read(file, false);
    }

    public static List<Map<String, List<String>>> options(final Path file) throws IOException {
        return read(file, true);
    }

    /** What it reads of flow records that are exported to a file, with all elements. */
    public static List<Map<String, List<String>>> exported(final Path file, final List<? extends DirectBuffer> flows)
        throws IOException {
        return exported(file, flows, Profile.FULL);
    }

    static List<Map<String, List<String>>> exported(
        final Path file, final List<? extends DirectBuffer> flows, final Profile profile) throws IOException {
        final ElementRegistry registry = FlowElements.registry(FlowElements.DOCUMENTATION_ENTERPRISE_NUMBER);
        final TemplateCatalog catalog = new TemplateCatalog(registry);
        final ExportingSession session = new ExportingSession(new FileTransport(file), new SessionSettings(), catalog);
        final FlowRecordEncoder encoder =
            new FlowRecordEncoder(registry, catalog, profile, new boolean[2], true, new Counters());
        session.doWork(0);
        for (final DirectBuffer flow : flows) {
            assertTrue(encoder.encode(session, flow, 0, flow.capacity(), 0) >= 0);
        }
        session.flush(0);
        session.close();
        return flows(file);
    }

    private static List<Map<String, List<String>>> read(final Path file, final boolean isOptions) throws IOException {
        final List<Map<String, List<String>>> records = new ArrayList<>();
        final CollectingProcess process = new CollectingProcess(
            FlowElements.registry(FlowElements.DOCUMENTATION_ENTERPRISE_NUMBER), CollectorLimits.DEFAULTS,
            new CounterSet<>(CollectorCounter.class), (record) -> {
                if (record.isOptions() == isOptions) {
                    records.add(fields(record));
                }
            });
        final UnsafeBuffer octets = new UnsafeBuffer(ByteBuffer.wrap(Files.readAllBytes(file)));
        final TransportSession from = process.openSession(SessionKind.FILE, "file");
        int offset = 0;
        while (offset < octets.capacity()) {
            final int lengthBytes = octets.getShort(offset + 2, ByteOrder.BIG_ENDIAN) & 0xFFFF;
            assertEquals(MessageResult.ACCEPTED, process.onMessage(from, octets, offset, lengthBytes, 0));
            offset += lengthBytes;
        }
        return records;
    }

    private static Map<String, List<String>> fields(final CollectedRecord record) {
        final Map<String, List<String>> fields = new LinkedHashMap<>();
        for (int i = 0; i < record.fieldCount(); i++) {
            final InformationElement element = record.element(i);
            final String text = switch (element.type()) {
                case SIGNED64 -> Long.toString(record.signed(i));
                case FLOAT64 -> Double.toString(record.floating(i));
                case DATE_TIME_SECONDS, DATE_TIME_MILLISECONDS, DATE_TIME_MICROSECONDS, DATE_TIME_NANOSECONDS ->
                    Long.toString(record.timestampNs(i));
                case STRING -> record.string(i);
                case IPV4_ADDRESS -> Integer.toHexString(record.ipv4Address(i));
                case IPV6_ADDRESS -> Long.toHexString(record.ipv6High(i)) + ':' + Long.toHexString(record.ipv6Low(i));
                default -> Long.toUnsignedString(record.unsigned(i));
            };
            fields.computeIfAbsent(element.name(), (name) -> new ArrayList<>()).add(text);
        }
        return fields;
    }
}
