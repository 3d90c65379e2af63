package io.flowlag.station.job;

import com.google.protobuf.ByteString;
import io.flowlag.ipfix.element.FlowElements;
import io.flowlag.ipfix.message.MessageHeader;
import io.flowlag.ipfix.message.RecordEncoder;
import io.flowlag.ipfix.session.ExportingSession;
import io.flowlag.ipfix.session.SessionSettings;
import io.flowlag.ipfix.template.Template;
import io.flowlag.ipfix.template.TemplateCatalog;
import io.flowlag.station.inlet.MessageQueue;
import io.flowlag.station.schema.RawMessage;
import io.flowlag.station.schema.SegmentWindow;
import io.flowlag.station.schema.Status;
import org.agrona.concurrent.UnsafeBuffer;

import java.lang.management.ManagementFactory;
import java.nio.ByteOrder;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.locks.LockSupport;

/**
 * How many flow records of 1000 segments the job takes a second: encoded messages of 16 exporters, put into its queue as fast as
 * it takes them. Arguments: records, parallelism. Prints records a second, and CPU time of the process a record.
 */
final class StationLoad {
    private static final long WINDOW_NS = 10_000_000_000L;
    private static final long START_NS = 1_700_000_000_000_000_000L / WINDOW_NS * WINDOW_NS;
    private static final int SEGMENTS = 1000;
    private static final int EXPORTERS = 16;
    private static final int RECORDS = 20_000;

    private StationLoad() {
    }

    /** Keeps what is sent. */
    private static final class Kept extends SocketTransport {
        private final List<byte[]> messages = new ArrayList<>();

        @Override
        void write(final byte[] message) {
            messages.add(message);
        }
    }

    private static String network() {
        final StringBuilder text =
            new StringBuilder("nodes: {a: {}, b: {}}\nlinks: ['a b']\npoints: {a: {}, b: {}}\nsegments:\n");
        for (int i = 0; i < EXPORTERS * SEGMENTS; i++) {
            text.append("  s").append(i).append(": {from: a, to: b, exporter: 10.0.0.").append(i / SEGMENTS).append(", domain: ")
                .append(i / SEGMENTS).append(", id: ").append(i % SEGMENTS).append("}\n");
        }
        return text.toString();
    }

    private static List<byte[]> messages(final int exporter) {
        final TemplateCatalog catalog =
            new TemplateCatalog(FlowElements.registry(FlowElements.DOCUMENTATION_ENTERPRISE_NUMBER));
        final Template template = catalog.template("sourceIPv4Address", "destinationIPv4Address", "sourceTransportPort",
            "destinationTransportPort", "protocolIdentifier", "packetDeltaCount", "octetDeltaCount", "flowStartMilliseconds",
            "flowEndMilliseconds", "flowlagDelayMeanNanoseconds", "flowlagDelayErrorBoundNanoseconds", "flowlagSegmentId");
        final Kept kept = new Kept();
        try (ExportingSession session =
            new ExportingSession(kept, new SessionSettings().observationDomainId(exporter), catalog)) {
            final RecordEncoder encoder = new RecordEncoder();
            for (int i = 0; i < RECORDS; i++) {
                final int offset = session.claim(template, template.minLengthBytes(), START_NS / 1_000_000);
                encoder.wrap(session.buffer(), offset, template);
                encoder.ipv4Address(0x0A000000 + i).ipv4Address(0x0B000000 + i).unsigned(i & 0xFFFF).unsigned(443).unsigned(6)
                    .unsigned(10).unsigned(10_000).timeNs(START_NS + 1_000_000_000L).timeNs(START_NS + 9_000_000_000L)
                    .signed(1_000_000 + i).unsigned(1000).unsigned(i % SEGMENTS);
                session.commit();
            }
            session.flush(START_NS / 1_000_000);
        }
        return kept.messages;
    }

    /** Runs. */
    public static void main(final String[] arguments) throws Exception {
        final long records = Long.parseLong(arguments[0]);
        final int parallelism = Integer.parseInt(arguments[1]);
        final List<List<byte[]>> exporters = new ArrayList<>();
        for (int i = 0; i < EXPORTERS; i++) {
            exporters.add(messages(i));
        }
        final Map<String, SegmentWindow> windows = new ConcurrentHashMap<>();
        try (MessageQueue queue = new MessageQueue("load")) {
            Feed.Registry.put("load", (result) -> {
                if (result instanceof SegmentWindow window) {
                    windows.put(window.getSegment(), window);
                }
            });
            final JobSettings settings = new JobSettings("load", "", "load.yaml", network(), 32473, 500_000, 0.95,
                new JobSettings.Windows(10_000, 15_000, 60_000));
            try (EmbeddedJob job = EmbeddedJob.start(settings, "load", "load",
                new EmbeddedJob.Settings(null, 10_000, parallelism))) {
                final long sent = send(queue, exporters, records / 10, 0);
                while (JobCounters.of("load").flows() < sent) {
                    LockSupport.parkNanos(1_000_000);
                }
                final com.sun.management.OperatingSystemMXBean system =
                    (com.sun.management.OperatingSystemMXBean)ManagementFactory.getOperatingSystemMXBean();
                final long beginNs = System.nanoTime();
                final long cpuNs = system.getProcessCpuTime();
                final long all = sent + send(queue, exporters, records, sent / EXPORTERS / RECORDS);
                while (JobCounters.of("load").flows() < all) {
                    LockSupport.parkNanos(1_000_000);
                }
                final double seconds = (System.nanoTime() - beginNs) / 1e9;
                System.out.printf("records=%d parallelism=%d rate=%.0f/s cpu=%.0f ns/record%n", all - sent, parallelism,
                    (all - sent) / seconds, (double)(system.getProcessCpuTime() - cpuNs) / (all - sent));
                queue.tick(START_NS + 40_000_000_000L);
                while (windows.size() < SEGMENTS * EXPORTERS ||
                    windows.values().stream().anyMatch((window) -> !window.getFinal())) {
                    LockSupport.parkNanos(1_000_000);
                }
                final long summed = windows.values().stream().mapToLong(SegmentWindow::getRecords).sum();
                final long missing = JobCounters.of("load").exporters().stream().mapToLong(Status.Exporter::getMissing).sum();
                System.out.printf("summed=%d of %d, missing=%d, job ended=%b%n", summed, all, missing, job.result().isDone());
            }
        }
    }

    /** Returns how many records were put. */
    private static long send(final MessageQueue queue, final List<List<byte[]>> exporters, final long records, final long round)
        throws InterruptedException {
        long sent = 0;
        for (long pass = round; sent < records; pass++) {
            for (int i = 0; i < EXPORTERS; i++) {
                for (final byte[] message : exporters.get(i)) {
                    final byte[] octets = message.clone();
                    final UnsafeBuffer buffer = new UnsafeBuffer(octets);
                    final long sequence = MessageHeader.sequenceNumber(buffer, 0);
                    buffer.putInt(8, (int)(sequence + pass * RECORDS), ByteOrder.BIG_ENDIAN);
                    final RawMessage raw = RawMessage.newBuilder().setPayload(ByteString.copyFrom(octets))
                        .setSourceAddress(ByteString.copyFrom(new byte[] {10, 0, 0, (byte)i})).setPort(1000 + i)
                        .setTransport(RawMessage.Transport.TRANSPORT_TCP).setTimeReceivedNs(START_NS + 9_500_000_000L)
                        .setTimeReceived(TimeUnit.NANOSECONDS.toSeconds(START_NS)).setConnection(1).build();
                    while (!queue.offer(raw)) {
                        LockSupport.parkNanos(100_000);
                    }
                }
                queue.tick(0); // wakes the job
                sent += RECORDS;
            }
        }
        return sent;
    }
}
