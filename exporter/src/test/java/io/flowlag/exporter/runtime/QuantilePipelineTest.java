package io.flowlag.exporter.runtime;

import io.flowlag.exporter.config.ConfigLoader;
import io.flowlag.exporter.config.ConfigTable;
import io.flowlag.exporter.config.ExporterConfig;
import io.flowlag.exporter.config.ExporterConfig.Role;
import io.flowlag.exporter.delay.ClockError;
import io.flowlag.exporter.delay.DelayWiring;
import io.flowlag.exporter.delay.FlowDelay;
import io.flowlag.exporter.delay.FlowQuantiles;
import io.flowlag.exporter.flow.FlowEntry;
import io.flowlag.exporter.lab.SegmentHandler;
import io.flowlag.exporter.lab.SegmentProfile;
import io.flowlag.exporter.lab.SimulatedPacket;
import io.flowlag.exporter.lab.SimulatedSegment;
import io.flowlag.exporter.lab.TrafficFlows;
import io.flowlag.exporter.status.Counters;
import io.flowlag.exporter.status.DelayStatistics;
import org.agrona.DirectBuffer;
import org.junit.jupiter.api.Test;

import java.util.ArrayList;
import java.util.Collections;
import java.util.HashMap;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.TreeMap;
import java.util.concurrent.TimeUnit;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

/** Quantiles of flows through all stages, compared with the true delays of their packets. */
class QuantilePipelineTest {
    private static final long DEADLINE_NS = TimeUnit.SECONDS.toNanos(120);
    private static final double[] QUANTILES = {0.5, 0.9, 0.95, 0.99};
    private static final int[] LEAST_PACKETS = {20, 100, 200, 1000};
    /** What a span of delays from tens of microseconds to some milliseconds costs. */
    private static final double SKETCH_ERROR = 0.041;

    private final SimulatedSegment segment = new SimulatedSegment(SegmentProfile.demo());
    private final Map<Integer, List<Long>> delays = new HashMap<>();
    private final Quantiles quantiles = new Quantiles();

    private DelayStatistics run(final boolean isExact, final String... options) {
        final ConfigLoader loader = new ConfigLoader()
            .option("--threading", ConfigTable.THREADING, List.of("invoker"))
            .option("--set", ConfigTable.key("metering.idle-timeout"), List.of("1h"))
            .option("--set", ConfigTable.key("metering.active-timeout"), List.of("1h"))
            .option("--set", ConfigTable.key("metering.tcp-end-timeout"), List.of("1h"));
        for (int i = 0; i < options.length; i += 2) {
            loader.option("--set", ConfigTable.key(options[i]), List.of(options[i + 1]));
        }
        final ExporterConfig config = loader.conclude();
        final DelayWiring wiring = new DelayWiring(
            Role.BOTH, DelayWiring.References.MARKED, ClockError.NONE, !isExact, true, isExact, false);
        segment.run(new SegmentHandler() {
            @Override
            public void onSent(final SimulatedPacket packet) {
            }

            @Override
            public void onReceived(final SimulatedPacket packet, final long arrivalNs) {
                if (!packet.isReference()) {
                    delays.computeIfAbsent(packet.flow(), (flow) -> new ArrayList<>()).add(arrivalNs - packet.sentNs());
                }
            }

            @Override
            public void onLost(final SimulatedPacket packet) {
            }
        });
        delays.values().forEach(Collections::sort);
        try (MeteringPipeline pipeline = new MeteringPipeline(
            config, List.of(segment.sender(), segment.receiver()), false, wiring, List.of(quantiles), new Counters(),
            (throwable) -> {
                throw new AssertionError(throwable);
            })) {
            pipeline.start();
            final long deadlineNs = System.nanoTime() + DEADLINE_NS;
            while (!pipeline.isEnded() && System.nanoTime() - deadlineNs < 0) {
                pipeline.doWork();
            }
            assertTrue(pipeline.isEnded(), "the pipeline did not end");
            return pipeline.delayStage().statistics();
        }
    }

    /** Relative errors of the quantiles of all flows that have one. */
    private Map<Double, List<Double>> errors() {
        final Map<Double, List<Double>> errors = new TreeMap<>();
        final TrafficFlows flows = segment.flows();
        final Map<Long, Integer> flowsOfKey = new HashMap<>();
        for (int flow = 0; flow < flows.flowCount(); flow++) {
            flowsOfKey.merge(key(flows, flow), 1, Integer::sum);
        }
        for (int flow = 0; flow < flows.flowCount(); flow++) {
            final boolean isAlone = flowsOfKey.get(key(flows, flow)) == 1;
            final long[] estimates = isAlone ? quantiles.of.get(key(flows, flow)) : null;
            final List<Long> truth = delays.get(flow);
            for (int i = 0; estimates != null && truth != null && i < QUANTILES.length; i++) {
                assertTrue(i < estimates.length || truth.size() < LEAST_PACKETS[i] || estimates.length == 0,
                    truth.size() + " packets have " + estimates.length + " quantiles");
                assertTrue(i >= estimates.length || truth.size() >= LEAST_PACKETS[i],
                    truth.size() + " packets have " + estimates.length + " quantiles");
                if (i < estimates.length) {
                    final long exact = truth.get((int)Math.ceil(QUANTILES[i] * truth.size() - 1e-9) - 1);
                    errors.computeIfAbsent(QUANTILES[i], (quantile) -> new ArrayList<>())
                        .add((double)(estimates[i] - exact) / exact);
                }
            }
        }
        errors.values().forEach(Collections::sort);
        return errors;
    }

    private static long key(final TrafficFlows flows, final int flow) {
        return Quantiles.key(flows.protocol(flow), flows.sourcePort(flow), flows.destinationPort(flow));
    }

    @Test
    void shouldGiveTheQuantilesOfMatchedPacketsWithinTheErrorOfTheSketch() {
        final DelayStatistics statistics = run(true, "quantiles.from-packets", "1");

        assertTrue(statistics.isAccountedFor(), statistics.unexplained()::toString);
        assertEquals(0, statistics.counters().get("quantile_flows_without_room"));
        final Map<Double, List<Double>> errors = errors();
        assertTrue(errors.get(0.5).size() > 50 && errors.get(0.95).size() > 5, errors::toString);
        errors.values().forEach((all) -> {
            assertTrue(all.get(0) >= -SKETCH_ERROR, all::toString);
            assertTrue(all.get(all.size() - 1) <= SKETCH_ERROR, all::toString);
        });
    }

    @Test
    void shouldComeNearTheTruthByReferencesAlone() {
        final DelayStatistics statistics =
            run(false, "rli.policy", "every-n", "rli.every-n", "10", "quantiles.from-packets", "1");

        assertTrue(statistics.isAccountedFor(), statistics.unexplained()::toString);
        final StringBuilder figures = new StringBuilder();
        final Map<Double, List<Double>> errors = errors();
        errors.forEach((quantile, all) -> figures.append(String.format(Locale.ROOT,
            "p%.0f of %d flows: median error %+.1f %%, median magnitude %.1f %%; ", 100 * quantile, all.size(),
            100 * all.get(all.size() / 2),
            100 * all.stream().map(Math::abs).sorted().toList().get(all.size() / 2))));
        System.out.println("quantiles by references, one in ten packets: " + figures);
        final List<Double> medians = errors.get(0.5).stream().map(Math::abs).sorted().toList();
        assertTrue(medians.get(medians.size() / 2) < 0.2, figures::toString);
    }

    @Test
    void shouldGiveDistributionsWhileThereIsRoom() {
        final DelayStatistics statistics = run(false, "quantiles.memory", "2k");

        assertEquals(4, statistics.counters().get("quantile_flows"));
        assertTrue(statistics.counters().get("quantile_flows_without_room") > 50, statistics::toString);
        assertTrue(quantiles.of.values().stream().filter((each) -> each.length > 0).count() <= 4);
        assertTrue(statistics.isAccountedFor(), statistics.unexplained()::toString);
    }

    /** Keeps the quantiles of each flow; protocol and ports tell most of them apart. */
    private static final class Quantiles extends TakingDestination {
        private final Map<Long, long[]> of = new HashMap<>();

        static long key(final int protocol, final int sourcePort, final int destinationPort) {
            return (long)protocol << 32 | (long)sourcePort << 16 | destinationPort;
        }

        @Override
        protected void onRecord(final DirectBuffer entry, final int offset) {
            final int at = FlowDelay.quantilesOffset(offset + FlowEntry.BASE_LENGTH_BYTES);
            final long[] values = new long[FlowQuantiles.groups(entry, at)];
            for (int i = 0; i < values.length; i++) {
                values[i] = FlowQuantiles.quantileNs(entry, at, i);
                assertTrue(i == 0 || values[i] >= values[i - 1]);
            }
            of.put(
                key(FlowEntry.protocol(entry, offset), FlowEntry.sourcePort(entry, offset),
                    FlowEntry.destinationPort(entry, offset)),
                values);
        }
    }
}
