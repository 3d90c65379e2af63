package io.flowlag.exporter.monitoring;

import io.flowlag.exporter.delay.FlowDelay;
import io.flowlag.exporter.delay.FlowSketch;
import io.flowlag.exporter.flow.FlowEntry;
import io.flowlag.exporter.listing.FlowQuery;
import io.flowlag.exporter.listing.FlowRow;
import io.flowlag.exporter.listing.Grouping;
import io.flowlag.exporter.listing.RowSpell;
import io.flowlag.exporter.monitoring.top.FlowRanking;
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
import io.flowlag.exporter.status.JointStatistics;
import io.flowlag.exporter.status.LatencySummary;
import io.flowlag.exporter.status.MemoryUse;
import io.flowlag.exporter.status.PipelineLatency;
import io.flowlag.exporter.status.ReconcileStatistics;
import io.flowlag.exporter.status.SegmentDescription;
import io.flowlag.exporter.status.SketchStatistics;
import io.flowlag.exporter.status.SourceStatistics;
import io.flowlag.exporter.status.SpoolStatistics;
import io.flowlag.exporter.status.Statistics;
import io.flowlag.rli.counters.DelayCounters;
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
                List.of(delay(number)), latency(number), 1_700_000_000_000L, 1_700_000_000_000L + number * 1000, 1 << 20,
                List.of(new MemoryUse("process", 1 << 29, 1L << 28), new MemoryUse("JVM", 1 << 27, null))),
            List.of(new SegmentDescription(
                1, "both", List.of("eth0", "eth1"), List.of(0, 46), "adaptive", List.of(), 50, true)),
            List.of(histograms(number)),
            List.of(new HealthCheck("threads", true, "3 threads running"),
                new HealthCheck("exchange", number % 2 == 0, "connected")),
            List.of(new DistinctError("java.lang.IllegalStateException at X.java:1", 3, 4, 5)),
            new FlowList(40, 7, FlowView.slowestFirst(views), worst(FlowRows.slowest(views, 1))));
    }

    /** Slow times of the flows, and of one kind of groups of them. */
    private static Map<String, List<FlowRow>> worst(final List<FlowRow> flows) {
        final Map<String, List<FlowRow>> rows = new LinkedHashMap<>();
        WorstOfHour.GROUPINGS.subList(0, 2).forEach((each) -> rows.put(
            each, FlowRows.ordered(flows, FlowQuery.ALL.by(Grouping.parse(each))).stream().map((row) -> new FlowRow(
                row.key(), row.traffic(), row.delay(), row.loss(), row.tcp(), new RowSpell(1L, row.delay().meanNs()))).toList()));
        return rows;
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
        buffer.setMemory(at, FlowDelay.IMAGE_LENGTH_BYTES, (byte)0);
        final boolean isIpv6 = i % 5 == 0;
        FlowEntry.ipVersion(buffer, at, isIpv6 ? 6 : 4);
        FlowEntry.sourceHigh(buffer, at, isIpv6 ? 0x2001_0db8_0000_0000L : 0);
        FlowEntry.destinationHigh(buffer, at, isIpv6 ? 0x2001_0db8_0001_0000L : 0);
        FlowEntry.sourceLow(buffer, at, 0x0A00_0000L + i);
        FlowEntry.destinationLow(buffer, at, 0xC000_0200L + i);
        FlowEntry.sourcePort(buffer, at, 50_000 + i);
        FlowEntry.destinationPort(buffer, at, 443);
        FlowEntry.protocol(buffer, at, i % 2 == 0 ? 6 : 17);
        FlowEntry.ipClassOfService(buffer, at, i % 3 == 0 ? 46 << 2 : 0);
        FlowEntry.endReason(buffer, at, i % 4 == 0 ? 2 : 0);
        FlowEntry.packetCount(buffer, at, 1000 + i);
        FlowEntry.octetCount(buffer, at, 1_000_000 + i);
        FlowEntry.startNs(buffer, at, number);
        FlowEntry.endNs(buffer, at, number + 1);
        FlowEntry.flowId(buffer, at, i);
        final int delay = at + FlowEntry.BASE_LENGTH_BYTES;
        FlowDelay.classIndex(buffer, delay, i % 3 == 0 ? 1 : 0);
        if (i % 10 != 0) {
            writeDelay(buffer, delay, i);
        }
    }

    private static void writeDelay(final UnsafeBuffer buffer, final int delay, final int i) {
        final boolean isMatched = i % 3 == 0;
        FlowDelay.estimator(buffer, delay, isMatched ? FlowDelay.ESTIMATOR_MATCHED : FlowDelay.ESTIMATOR_INTERPOLATED);
        if (isMatched) {
            delays(buffer, delay, 10, i * MS / 5, 0);
        }
        delays(buffer, FlowDelay.bestOffset(buffer, delay), 900 + i, (i - 3) * MS / 4, MS / 8);
        FlowDelay.errorBoundNs(buffer, delay, MS / 10);
        FlowDelay.segmentId(buffer, delay, 1);
        if (i % 2 == 0) {
            FlowSketch.mean(buffer, FlowDelay.sketchOffset(delay), i * MS / 4, 1, 1, 1);
            FlowDelay.addFlags(buffer, delay, FlowDelay.FLAG_SKETCH);
        }
        if (i == 36) {
            final int quantiles = FlowDelay.quantilesOffset(delay);
            final long[] valuesNs = {8 * MS, 12 * MS, 13 * MS, 16 * MS};
            for (int j = 0; j < valuesNs.length; j++) {
                buffer.putLong(quantiles + j * Long.BYTES, valuesNs[j]);
            }
            buffer.putInt(quantiles + 48, valuesNs.length);
        }
        if (i == 38) {
            FlowDelay.addFlags(buffer, delay, FlowDelay.FLAG_EXACT);
        }
        if (i % 3 == 1) {
            FlowDelay.exactLoss(buffer, delay, i);
        } else if (i % 3 == 2) {
            FlowDelay.lossBound(buffer, delay, i);
        }
    }

    /** Writes {@link DelayCounters}. */
    static void delays(
        final UnsafeBuffer buffer, final int offset, final long count, final long meanNs, final long standardDeviationNs) {
        buffer.putLong(offset, count);
        buffer.putLong(offset + 8, count * meanNs);
        buffer.putLong(offset + 16, count * meanNs * meanNs + (count - 1) * standardDeviationNs * standardDeviationNs);
        buffer.putLong(offset + 24, 0);
        buffer.putLong(offset + 32, -MS);
        buffer.putLong(offset + 40, 20 * MS);
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
        gauges.put("clock_offset_ns_session_7", 3000.0);
        gauges.put("clock_offset_error_ns_session_7", 100.0);
        gauges.put("serialisation_ns_per_byte", 0.8);
        gauges.put("clock_offset_ns", -3e6);
        gauges.put("clock_offset_error_ns", 45_000.0);
        gauges.put("clock_offset_drift_ppb", 1500.0);
        gauges.put("reference_paths", 4.0);
        gauges.put("clock_drift_ppb", -12.5);
        gauges.put("reference_share", 0.001);
        return new DelayStatistics("both", 1, "adaptive", 50, counters, gauges,
            List.of(summary(0, 0, number), summary(1, 46, number)),
            List.of(summary(0, 0, number), summary(1, 46, number)),
            List.of(new SketchStatistics(0, "4 rows of 4096", 1 << 20, number, number + 1, 95, 100,
                List.of(new AggregateDelay(0, 10, 3 * MS, MS, 2L), new AggregateDelay(46, 0, null, null, null)), 1L,
                List.of(new HeavyFlow("10.0.0.1", "10.0.0.2", 6, 1, 2, 3)),
                List.of(new AggregateDelay(0, 100, 3 * MS, MS, 2L)), "too much", joint(number), reconcile(number)),
                new SketchStatistics(1, "4 rows of 4096", 1 << 20, null, null, 0, 0, List.of(), null, List.of(), List.of(), null,
                    null, null)),
            Map.of("unexplained_estimates", 0L));
    }

    private static JointStatistics joint(final long number) {
        return new JointStatistics(number + 2, number + 3, "joint", "fast", 1.25, 59, 53, 47, 43, 5 * MS, 7 * MS, 6 * MS);
    }

    private static ReconcileStatistics reconcile(final long number) {
        return new ReconcileStatistics(number + 4, number + 5, "complete", 4096,
            List.of(new AggregateDelay(46, 11, 13 * MS, 17 * MS, 19L)),
            List.of(new AggregateDelay(10, 23, 29 * MS, 31 * MS, 37L)));
    }

    private static DelaySummary summary(final int index, final int dscp, final long number) {
        return new DelaySummary(0, null, index, dscp, number, number + 1,
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
        return List.of(
            new DelayHistogram(0, null, 0, -1, buckets, buckets), new DelayHistogram(0, null, 1, 46, buckets, buckets));
    }
}
