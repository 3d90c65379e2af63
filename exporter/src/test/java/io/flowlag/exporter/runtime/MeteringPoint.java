package io.flowlag.exporter.runtime;

import io.flowlag.exporter.capture.CaptureClock;
import io.flowlag.exporter.config.ExporterConfig;
import io.flowlag.exporter.delay.DelayStage;
import io.flowlag.exporter.delay.DelayWiring;
import io.flowlag.exporter.delay.FlowEnd;
import io.flowlag.exporter.flow.FlowCache;
import io.flowlag.exporter.flow.FlowCacheSettingsBuilder;
import io.flowlag.exporter.pipeline.DelayMeteringAgent;
import io.flowlag.exporter.pipeline.MeteringAgent;
import io.flowlag.exporter.pipeline.StageRing;
import io.flowlag.exporter.status.Counters;
import io.flowlag.exporter.status.DelayStatistics;
import org.agrona.concurrent.UnsafeBuffer;

import java.util.ArrayList;
import java.util.List;

import static org.junit.jupiter.api.Assertions.assertNotNull;

/** A metering stage of a test, and the records that it made. */
class MeteringPoint {
    static final long INTERVAL_NS = 10_000_000_000L;

    final Counters counters = new Counters();
    final DelayStage stage;
    final MeteringAgent agent;
    final List<UnsafeBuffer> records = new ArrayList<>();

    /** What the clock shows, live. */
    long nowNs;

    MeteringPoint(final ExporterConfig config, final DelayWiring wiring) {
        this(config, wiring, false);
    }

    MeteringPoint(final ExporterConfig config, final DelayWiring wiring, final boolean isLive) {
        final CaptureClock clock = isLive ? () -> nowNs : CaptureClock.FILES;
        final FlowEnd flowEnd = new FlowEnd((buffer, offset, lengthBytes) -> {
            final UnsafeBuffer copy = new UnsafeBuffer(new byte[lengthBytes]);
            copy.putBytes(0, buffer, offset, lengthBytes);
            records.add(copy);
        });
        final FlowCache cache = new FlowCache(
            new FlowCacheSettingsBuilder().maxFlows(1024).activeTimeoutNs(INTERVAL_NS).idleTimeoutNs(INTERVAL_NS)
                .tcpEndTimeoutNs(0).stateLengthBytes(DelayStage.stateLengthBytes(wiring))
                .boundaryNs(wiring.isSketched() ? INTERVAL_NS : 0).build(), flowEnd, counters);
        stage = new DelayStage(config, wiring, flowEnd, cache, clock, counters);
        agent = new DelayMeteringAgent(cache, StageRing.unused(), () -> false, clock, stage, wiring, false, counters);
    }

    DelayStatistics statistics() {
        return stage.statistics();
    }

    long count(final String label) {
        final Long count = statistics().counters().get(label);
        assertNotNull(count, () -> label + " is not among " + statistics().counters().keySet());
        return count;
    }
}
