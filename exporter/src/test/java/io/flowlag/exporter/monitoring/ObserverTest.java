package io.flowlag.exporter.monitoring;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.ObjectMapper;
import io.flowlag.exporter.config.ConfigLoader;
import io.flowlag.exporter.config.ExporterConfig;
import io.flowlag.exporter.decode.PacketDescriptor;
import io.flowlag.exporter.flow.FlowCache;
import io.flowlag.exporter.flow.FlowCacheSettingsBuilder;
import io.flowlag.exporter.monitoring.top.FlowWatch;
import io.flowlag.exporter.status.Counters;
import io.flowlag.exporter.status.Heartbeat;
import io.flowlag.exporter.status.HelperThread;
import io.flowlag.exporter.status.Statistics;
import org.agrona.concurrent.UnsafeBuffer;
import org.junit.jupiter.api.Test;

import java.io.IOException;
import java.util.List;
import java.util.concurrent.Semaphore;
import java.util.concurrent.TimeUnit;
import java.util.function.Supplier;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertTrue;

class ObserverTest {
    private static final long SECOND_NS = 1_000_000_000L;

    @Test
    void shouldFailWhenItsSnapshotIsTooOld() throws IOException {
        final ExporterConfig config = new ConfigLoader().conclude();
        final Statistics statistics = new Statistics(new Counters(), List.of(), List.of(), List.of(), null, 0, 0, 0, List.of());
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

    /** The watch is behind: a snapshot without a new scan says nothing of flows, and a rate is of the time between scans. */
    @Test
    void shouldTakeRatesBetweenScans() throws IOException {
        final ExporterConfig config =
            new ConfigLoader().text("test", "status: {enabled: off}\nmetrics: {listen: 9471}\n").conclude();
        final long[] nowNs = {SECOND_NS};
        final FlowWatch watch = new FlowWatch((buffer, offset, length) -> { }, 8, SECOND_NS, () -> nowNs[0]);
        final FlowCache cache = new FlowCache(new FlowCacheSettingsBuilder().maxFlows(64).activeTimeoutNs(60 * SECOND_NS)
            .idleTimeoutNs(60 * SECOND_NS).tcpEndTimeoutNs(0).build(), watch, new Counters());
        watch.watch(cache, (entry, offset) -> null);
        final UnsafeBuffer packet = new UnsafeBuffer(new byte[PacketDescriptor.LENGTH_BYTES]);
        PacketDescriptor.ipVersion(packet, 0, 4);
        PacketDescriptor.protocol(packet, 0, 17);
        PacketDescriptor.segmentCount(packet, 0, 1);
        final Supplier<Statistics> statistics = () -> new Statistics(new Counters(), List.of(), List.of(), List.of(), null, 0,
            TimeUnit.NANOSECONDS.toMillis(nowNs[0]), 0, List.of());
        try (Observer observer = new Observer(config, false, 0, statistics, List.of(), List.of(watch), List::of)) {
            for (final int[] tenthsAndPackets : new int[][]{{0, 1}, {9, 100}, {4, 50}, {9, 250}}) {
                nowNs[0] += tenthsAndPackets[0] * SECOND_NS / 10;
                PacketDescriptor.timestampNs(packet, 0, nowNs[0]);
                for (int i = 0; i < tenthsAndPackets[1]; i++) {
                    cache.update(packet, 0);
                }
                watch.doWork();
                nowNs[0] += SECOND_NS / 10;
                observer.takeSnapshot(nowNs[0]);
            }
            final JsonNode flow = new ObjectMapper().readTree(observer.history(null)).at("/flows/0");
            assertEquals("[\"1970-01-01T00:00:02Z\",\"1970-01-01T00:00:03.500Z\"]", flow.get("times").toString());
            assertEquals("[100.0,200.0]", flow.get("packets_per_second").toString());
        }
    }

    /** One that has a thread only while it works, such as that of TLS handshakes. */
    @Test
    void shouldFailWhileATaskOfAHelperHangs() throws IOException {
        final ExporterConfig config = new ConfigLoader().text("test", "status: {enabled: off}\n").conclude();
        final Statistics statistics = new Statistics(new Counters(), List.of(), List.of(), List.of(), null, 0, 0, 0, List.of());
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
