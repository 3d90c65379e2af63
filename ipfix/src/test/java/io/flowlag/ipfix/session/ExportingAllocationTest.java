package io.flowlag.ipfix.session;

import com.sun.management.ThreadMXBean;
import io.flowlag.ipfix.message.RecordEncoder;
import io.flowlag.ipfix.support.Await;
import io.flowlag.ipfix.support.Records;
import io.flowlag.ipfix.support.StreamCollector;
import io.flowlag.ipfix.template.Template;
import io.flowlag.ipfix.template.TemplateCatalog;
import io.flowlag.ipfix.transport.Endpoint;
import io.flowlag.ipfix.transport.FileTransport;
import io.flowlag.ipfix.transport.StreamSettings;
import io.flowlag.ipfix.transport.TcpTransport;
import io.flowlag.ipfix.transport.Transport;
import io.flowlag.ipfix.transport.UdpTransport;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

import javax.net.ServerSocketFactory;
import java.io.IOException;
import java.lang.management.ManagementFactory;
import java.net.DatagramSocket;
import java.net.InetAddress;
import java.nio.file.Path;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

/** Records and messages cost no allocation on the exporting thread, over any transport but TLS. */
class ExportingAllocationTest {
    private static final int WARM_UP_RECORDS = 200_000;
    private static final int RECORDS = 50_000;
    private static final ThreadMXBean THREADS = (ThreadMXBean)ManagementFactory.getThreadMXBean();

    private final TemplateCatalog catalog = new TemplateCatalog(Records.registry());
    private final Template flow =
        catalog.template("sourceIPv4Address", "packetDeltaCount", "flowStartNanoseconds", "testDelaySquareSum");
    private final Template named = catalog.optionsTemplate(1, "ingressInterface", "interfaceName");
    private final RecordEncoder encoder = new RecordEncoder();
    private long nowMs = 1_700_000_000_000L;

    @TempDir
    private Path directory;

    private void export(final ExportingSession session, final int count) {
        for (int i = 0; i < count; i++) {
            final int offset = session.claim(flow, flow.recordLengthBytes(), nowMs, i, i);
            if (offset >= 0) {
                encoder.wrap(session.buffer(), offset, flow);
                encoder.ipv4Address(i).unsigned(i).timeNs(nowMs * 1_000_000 + i).floating(i);
                session.commit();
            }
            if (i % 50 == 0) {
                exportName(session);
                session.doWork(nowMs);
                nowMs += 7;
            }
        }
        session.flush(nowMs);
    }

    private void exportName(final ExportingSession session) {
        final int offset = session.claim(named, 20, nowMs);
        if (offset >= 0) {
            encoder.wrap(session.buffer(), offset, named).unsigned(3).string("eth0 \u00b5 \ud83d\ude00");
            session.commit(encoder.encodedLengthBytes());
        }
    }

    private void assertNothingAllocated(final Transport transport) {
        final ExportingSession session =
            new ExportingSession(transport, new SessionSettings().templateRefreshIntervalMs(100), catalog);
        Await.until("connected", () -> session.doWork(nowMs++), transport::isConnected);
        export(session, WARM_UP_RECORDS);
        final long baseBytes = measure(() -> { });
        // The JDK may allocate once on a rare path of a socket; what a message allocates would be in both rounds.
        final long allocatedBytes =
            Math.min(measure(() -> export(session, RECORDS)), measure(() -> export(session, RECORDS)));
        assertEquals(baseBytes, allocatedBytes);
        assertTrue(session.statistics().recordsExported() > RECORDS);
        Records.assertBooksBalance(session.statistics());
        session.close();
    }

    private static long measure(final Runnable work) {
        final long threadId = Thread.currentThread().getId();
        THREADS.getThreadAllocatedBytes(threadId);
        final long beforeBytes = THREADS.getThreadAllocatedBytes(threadId);
        work.run();
        return THREADS.getThreadAllocatedBytes(threadId) - beforeBytes;
    }

    @Test
    void shouldAllocateNothingOverUdp() throws IOException {
        try (DatagramSocket socket = new DatagramSocket(0, InetAddress.getByName("127.0.0.1"))) {
            assertNothingAllocated(new UdpTransport(new Endpoint("127.0.0.1", socket.getLocalPort())));
        }
    }

    @Test
    void shouldAllocateNothingOverTcp() throws IOException {
        try (StreamCollector collector = new StreamCollector(ServerSocketFactory.getDefault(), 0)) {
            assertNothingAllocated(new TcpTransport(StreamSettings.of(new Endpoint("127.0.0.1", collector.port()))));
        }
    }

    @Test
    void shouldAllocateNothingIntoAFile() throws IOException {
        assertNothingAllocated(new FileTransport(directory.resolve("flows.ipfix")));
    }
}
