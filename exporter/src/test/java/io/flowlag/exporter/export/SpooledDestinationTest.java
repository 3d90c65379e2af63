package io.flowlag.exporter.export;

import io.flowlag.common.file.Disk;
import io.flowlag.exporter.config.ConfigLoader;
import io.flowlag.exporter.config.ExporterConfig;
import io.flowlag.exporter.flow.FlowEntry;
import io.flowlag.exporter.status.Counters;
import io.flowlag.ipfix.transport.SendResult;
import io.flowlag.ipfix.transport.Transport;
import io.flowlag.ipfix.transport.TransportKind;
import io.flowlag.ipfix.transport.TransportState;
import org.agrona.concurrent.UnsafeBuffer;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

import java.io.IOException;
import java.lang.reflect.Proxy;
import java.nio.file.Path;
import java.util.ArrayDeque;
import java.util.Deque;
import java.util.Map;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertTrue;

/** A destination whose spool is on a disk that hangs: jobs with its files are held until the test runs them. */
class SpooledDestinationTest {
    private static final long NOW_MS = 1_700_000_100_000L;
    private static final int RECORDS = 5;

    @TempDir
    private Path directory;

    private final Deque<Runnable> jobs = new ArrayDeque<>();
    private final UnsafeBuffer entry = new UnsafeBuffer(new byte[FlowEntry.BASE_LENGTH_BYTES]);
    private TransportState state = TransportState.CONNECTED;
    private Destination destination;

    @BeforeEach
    void make() throws IOException {
        final ExporterConfig config = new ConfigLoader()
            .text("test", "exporting: {destinations: ['tcp://127.0.0.1:1?spool=" + directory + "']}").conclude();
        destination = new DestinationFactory(false, new boolean[1], Map.of(), new Counters())
            .make("tcp://x", transport(), config, config.exporting().destinations().get(0), Disk.SYSTEM, jobs::add);
        FlowEntry.ipVersion(entry, 0, 4);
        FlowEntry.packetCount(entry, 0, 2);
        destination.doWork(NOW_MS);
    }

    /** A stream that keeps what it takes. */
    private Transport transport() {
        return (Transport)Proxy.newProxyInstance(getClass().getClassLoader(), new Class<?>[] {Transport.class},
            (proxy, method, arguments) -> switch (method.getName()) {
                case "send" -> state == TransportState.CONNECTED ? SendResult.SENT : SendResult.BUSY;
                case "kind" -> TransportKind.STREAM;
                case "state" -> state;
                case "isConnected" -> state == TransportState.CONNECTED;
                case "connectionCount", "deliveredOctets", "uncertainOctets", "peerLossCount" ->
                    method.getName().equals("connectionCount") ? 1L : 0L;
                case "name", "lastError" -> "";
                case "doWork" -> 0;
                case "flush", "isContinued" -> false;
                case "finish" -> true;
                default -> null;
            });
    }

    private void offer() {
        for (int i = 0; i < RECORDS; i++) {
            destination.offer(entry, 0, FlowEntry.BASE_LENGTH_BYTES, NOW_MS);
        }
    }

    /** Only then may their flows be forgotten. */
    @Test
    void shouldTakeNoRecordForOneThatLeftWhileItIsGivenBackIntoMemory() {
        offer();
        destination.doWork(NOW_MS + 10_000);
        assertEquals(RECORDS, destination.progress().direct());
        assertEquals(0, destination.progress().directLeft());
        state = TransportState.DISCONNECTED;
        destination.doWork(NOW_MS + 10_001);
        assertFalse(jobs.isEmpty(), "it is to be written");
        assertEquals(0, destination.progress().directLeft());
        for (int second = 11; second <= 15; second++) {
            while (!jobs.isEmpty()) {
                jobs.poll().run();
            }
            destination.doWork(NOW_MS + 1_000 * second);
        }
        assertEquals(RECORDS, destination.progress().directLeft());
        assertEquals(RECORDS, destination.progress().spooledLeft());
    }

    @Test
    void shouldCloseBesideADiskThatHangs() {
        state = TransportState.DISCONNECTED;
        offer();
        long nowMs = NOW_MS;
        while (!destination.close(nowMs, NOW_MS + 20_000)) {
            nowMs += 100;
        }
        assertTrue(nowMs <= NOW_MS + 10_000, () -> "not closed after 10 s");
        assertTrue(destination.lastError().contains("for 2 s or more"), destination::lastError);
        assertEquals(RECORDS, destination.statistics().recordsFailed());
        jobs.forEach(Runnable::run);
    }
}
