package io.flowlag.exporter.monitoring;

import io.flowlag.exporter.monitoring.top.FlowRanking;
import io.flowlag.exporter.monitoring.top.WatchedFlow;
import io.flowlag.exporter.status.AggregateDelay;
import io.flowlag.exporter.status.CounterId;
import io.flowlag.exporter.status.Counters;
import io.flowlag.exporter.status.DelayDistribution;
import io.flowlag.exporter.status.DelayHistogram;
import io.flowlag.exporter.status.DelayStatistics;
import io.flowlag.exporter.status.DelaySummary;
import io.flowlag.exporter.status.DestinationStatistics;
import io.flowlag.exporter.status.DistinctError;
import io.flowlag.exporter.status.HeavyFlow;
import io.flowlag.exporter.status.LatencySummary;
import io.flowlag.exporter.status.PipelineLatency;
import io.flowlag.exporter.status.SegmentDescription;
import io.flowlag.exporter.status.SketchStatistics;
import io.flowlag.exporter.status.SourceStatistics;
import io.flowlag.exporter.status.SpoolStatistics;
import io.flowlag.exporter.status.Statistics;
import io.flowlag.rli.receiver.ReceiverCounter;
import org.agrona.concurrent.UnsafeBuffer;

import java.util.ArrayList;
import java.util.Arrays;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;

/** Snapshots with everything in them, made from a number: two of one number are equal, two of different numbers are not. */
final class Snapshots {
    static final String HOSTILE = "<img src=x onerror=alert(1)>\"'\\\u0007\n&";
    private static final long MS = 1_000_000;

    private Snapshots() {
    }

    static StatusSnapshot of(final long number) {
        final Counters counters = new Counters();
        for (int i = 0; i < CounterId.count(); i++) {
            counters.set(CounterId.of(i), number + i);
        }
        final FlowRanking flows = flows(number, 40);
        final List<FlowView> views = new ArrayList<>();
        for (int i = 0; i < flows.size(); i++) {
            views.add(FlowView.of(flows.flows(), flows.offset(i)));
        }
        return new StatusSnapshot(
            4711, new Statistics(
                counters, List.of(new SourceStatistics("eth0", number, 2, 3, null),
                    new SourceStatistics(HOSTILE, 4, 5, 6, "gone")),
                List.of(new DestinationStatistics("udp://192.0.2.1:4739", number, 2, 3, 4, 5, 6, 7, 8, 9, 10,
                    new SpoolStatistics(11, 12, 13, 14, 15, 16, 17, 18, 19))),
                delay(number), latency(number), 1_700_000_000_000L, 1_700_000_000_000L + number * 1000, 1 << 20),
            new SegmentDescription(1, "both", List.of("eth0", "eth1"), List.of(0, 46), "adaptive", 50, true), histograms(number),
            List.of(new HealthCheck("threads", true, "3 work"), new HealthCheck("exchange", number % 2 == 0, "connected")),
            List.of(new DistinctError("java.lang.IllegalStateException at X.java:1", 3, 4, 5)),
            new FlowList(40, 7, FlowOrder.slowestFirst(views)));
    }

    private static LatencySummary latency(final long number) {
        final PipelineLatency latency = new PipelineLatency();
        latency.record(0, 20_000, (int)number);
        return latency.summary();
    }

    static FlowRanking flows(final long number, final int count) {
        final FlowRanking flows = new FlowRanking(count);
        for (int i = 0; i < count; i++) {
            final int at = flows.offer((1L << 62) + i);
            write(flows.flows(), at, number, i);
        }
        return flows;
    }

    private static void write(final UnsafeBuffer buffer, final int at, final long number, final int i) {
        buffer.setMemory(at, WatchedFlow.LENGTH_BYTES, (byte)0);
        final boolean isIpv6 = i % 5 == 0;
        WatchedFlow.ipVersion(buffer, at, isIpv6 ? 6 : 4);
        WatchedFlow.sourceHigh(buffer, at, isIpv6 ? 0x2001_0db8_0000_0000L : 0);
        WatchedFlow.destinationHigh(buffer, at, isIpv6 ? 0x2001_0db8_0001_0000L : 0);
        WatchedFlow.sourceLow(buffer, at, 0x0A00_0000L + i);
        WatchedFlow.destinationLow(buffer, at, 0xC000_0200L + i);
        WatchedFlow.sourcePort(buffer, at, 50_000 + i);
        WatchedFlow.destinationPort(buffer, at, 443);
        WatchedFlow.protocol(buffer, at, i % 2 == 0 ? 6 : 17);
        WatchedFlow.ipClassOfService(buffer, at, i % 3 == 0 ? 46 << 2 : 0);
        WatchedFlow.classIndex(buffer, at, i % 3 == 0 ? 1 : 0);
        WatchedFlow.endReason(buffer, at, i % 4 == 0 ? 2 : 0);
        WatchedFlow.packetCount(buffer, at, 1000 + i);
        WatchedFlow.octetCount(buffer, at, 1_000_000 + i);
        WatchedFlow.startNs(buffer, at, number);
        WatchedFlow.endNs(buffer, at, number + 1);
        WatchedFlow.flowId(buffer, at, i);
        if (i % 10 != 0) {
            WatchedFlow.estimator(buffer, at, 1);
            WatchedFlow.sampleCount(buffer, at, 900 + i);
            WatchedFlow.meanNs(buffer, at, (i - 3) * MS / 4);
            WatchedFlow.boundNs(buffer, at, MS / 10);
            WatchedFlow.standardDeviationNs(buffer, at, MS / 8);
            WatchedFlow.minimumNs(buffer, at, -MS);
            WatchedFlow.maximumNs(buffer, at, 20 * MS);
            WatchedFlow.segmentId(buffer, at, 1);
            WatchedFlow.flags(buffer, at, WatchedFlow.FLAG_BOUND | WatchedFlow.FLAG_SPREAD |
                (i % 2 == 0 ? WatchedFlow.FLAG_SKETCH : 0) | (i == 38 ? WatchedFlow.FLAG_EXACT : 0) |
                (i % 3 == 0 ? WatchedFlow.FLAG_INTERPOLATED : 0));
            WatchedFlow.interpolatedMeanNs(buffer, at, i % 3 == 0 ? i * MS / 5 : 0);
            WatchedFlow.sketchMeanNs(buffer, at, i % 2 == 0 ? i * MS / 4 : 0);
            WatchedFlow.lossKind(buffer, at, i % 3);
            WatchedFlow.lostPackets(buffer, at, i % 3 == 0 ? 0 : i);
        }
    }

    private static DelayStatistics delay(final long number) {
        final Map<String, Long> counters = new LinkedHashMap<>();
        MetricCatalogue.delayCounters().keySet().forEach((each) -> counters.put(each, number));
        Arrays.stream(ReceiverCounter.values()).forEach((each) -> counters.put(each.label() + "_session_7", number));
        counters.put("exchange_refused_magic", 1L);
        counters.put("exchange_refused_version", 2L);
        counters.put("lds_rli_flows", 200L);
        counters.put("lds_rli_agreed", 195L);
        counters.put("a_figure_of_the_future", 9L);
        final Map<String, Double> gauges = new LinkedHashMap<>();
        gauges.put("match_share", 0.5);
        gauges.put("match_wait_ns", 2e8);
        gauges.put("error_median_rli", 0.1);
        gauges.put("error_median_lds", 0.05);
        gauges.put("error_median_joint", 0.01);
        gauges.put("utilization_class_0", 0.5);
        gauges.put("packets_per_reference_class_0", 100.0);
        gauges.put("utilization_class_1", 0.25);
        gauges.put("stamp_correction_ns_session_7_class_1", 1500.0);
        gauges.put("stamp_error_ns_session_7_class_1", 200.0);
        gauges.put("serialisation_ns_per_byte", 0.8);
        gauges.put("clock_drift_ppb", -12.5);
        gauges.put("reference_share", 0.001);
        return new DelayStatistics("both", 1, "adaptive", 50, counters, gauges,
            List.of(summary(0, 0, number), summary(1, 46, number)),
            List.of(summary(0, 0, number), summary(1, 46, number)),
            List.of(new SketchStatistics(0, "4 rows of 4096", 1 << 20, number, number + 1, 95, 100,
                List.of(new AggregateDelay(0, 10, 3 * MS, MS, 2L), new AggregateDelay(46, 0, null, null, null)), 1L,
                List.of(new HeavyFlow("10.0.0.1", "10.0.0.2", 6, 1, 2, 3)),
                List.of(new AggregateDelay(0, 100, 3 * MS, MS, 2L)), "too much", null, null)),
            Map.of("unexplained_estimates", 0L));
    }

    private static DelaySummary summary(final int index, final int dscp, final long number) {
        return new DelaySummary(0, index, dscp, number, number + 1,
            index == 0 ? DelayDistribution.EMPTY :
                new DelayDistribution(1900, 1, MS, MS, -7, 20 * MS, MS, 2 * MS, null, null, null, null),
            new DelayDistribution(2000, 3, 2 * MS, MS, -5, 30 * MS, MS, 3 * MS, 4 * MS, 9 * MS, null, null),
            index == 0 ? new DelayDistribution(10, 0, 2 * MS, MS, 5, 9 * MS, null, null, null, null, null, null) :
                DelayDistribution.EMPTY, 4, 5, 6, index == 0 ? 7L : null);
    }

    private static List<DelayHistogram> histograms(final long number) {
        final List<Long> counts = new ArrayList<>();
        for (int i = 0; i < DelayHistogram.boundariesNs().length; i++) {
            counts.add(number + i);
        }
        final DelayHistogram.Buckets buckets = new DelayHistogram.Buckets(counts, number + counts.size(), 77 * MS);
        return List.of(new DelayHistogram(0, 0, -1, buckets, buckets), new DelayHistogram(0, 1, 46, buckets, buckets));
    }
}
