package io.flowlag.exporter.monitoring;

import io.flowlag.exporter.config.ConfigLoader;
import io.flowlag.exporter.config.ExporterConfig;
import io.flowlag.exporter.status.Counters;
import io.flowlag.exporter.status.HelperThread;
import io.flowlag.exporter.status.Heartbeat;
import io.flowlag.exporter.status.Statistics;
import org.junit.jupiter.api.Test;

import java.io.IOException;
import java.util.List;
import java.util.concurrent.Semaphore;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertTrue;

class ObserverTest {
    private static final long SECOND_NS = 1_000_000_000L;

    @Test
    void shouldFailWhenItsSnapshotIsTooOld() throws IOException {
        final ExporterConfig config = new ConfigLoader().conclude();
        final Statistics statistics = new Statistics(new Counters(), List.of(), List.of(), List.of(), null, 0, 0, 0);
        try (Observer observer = new Observer(config, false, 0, () -> statistics, List.of(), List.of(), List::of)) {
            final long beginNs = System.nanoTime();
            observer.doWork();
            final long endNs = System.nanoTime();
            assertTrue(observer.snapshot().isOk());
            final long patienceNs = SECOND_NS + Heartbeat.STUCK_NS;
            assertTrue(observer.snapshot(beginNs + patienceNs - 1).isOk());
            final StatusSnapshot old = observer.snapshot(endNs + patienceNs);
            assertFalse(old.isOk());
            assertEquals(List.of("main stalled for more than 10 s"),
                old.health().stream().filter((each) -> !each.isOk()).map(HealthCheck::text).toList());
        }
    }

    /** One that has a thread only while it works, such as that of TLS handshakes. */
    @Test
    void shouldFailWhileATaskOfAHelperHangs() throws IOException {
        final ExporterConfig config = new ConfigLoader().text("test", "status: {enabled: off}\n").conclude();
        final Statistics statistics = new Statistics(new Counters(), List.of(), List.of(), List.of(), null, 0, 0, 0);
        final Semaphore mayEnd = new Semaphore(0);
        try (HelperThread worker = new HelperThread("handshake", 1);
            Observer observer = new Observer(config, true, 0, () -> statistics, List.of(), List.of(), List::of)) {
            worker.execute(mayEnd::acquireUninterruptibly);
            final long beginNs = System.nanoTime();
            while (!worker.isStalled(System.nanoTime())) {
                assertTrue(System.nanoTime() - beginNs < 20 * SECOND_NS, "it has no heartbeat");
                Thread.onSpinWait();
            }
            observer.doWork();
            final String text = observer.snapshot().health().get(0).text();
            assertTrue(text.contains("handshake") && text.endsWith(" stalled for more than 10 s"), text);
        } finally {
            mayEnd.release();
        }
    }
}
