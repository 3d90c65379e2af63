package io.flowlag.exporter.monitoring;

import io.flowlag.common.http.MetricFamily;
import io.flowlag.common.http.MetricFamily.Type;
import io.flowlag.common.http.MetricText;
import io.flowlag.exporter.listing.Protocols;
import io.flowlag.exporter.status.AccountingIdentity;
import io.flowlag.exporter.status.AggregateDelay;
import io.flowlag.exporter.status.CounterId;
import io.flowlag.exporter.status.DelayDistribution;
import io.flowlag.exporter.status.DelayHistogram;
import io.flowlag.exporter.status.DelayStatistics;
import io.flowlag.exporter.status.DelaySummary;
import io.flowlag.exporter.status.DestinationStatistics;
import io.flowlag.exporter.status.SegmentName;
import io.flowlag.exporter.status.SketchStatistics;
import io.flowlag.exporter.status.SourceStatistics;
import io.flowlag.exporter.status.SpoolStatistics;
import io.flowlag.exporter.status.Statistics;

import java.util.Collection;
import java.util.HashMap;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.stream.Stream;

/** The metrics of a process: all values of {@code --stats}, named by the conventions of Prometheus. Used once. */
final class Metrics {
    private static final double NS = 1e-9;
    private static final double MS = 1e-3;
    private static final String PREFIX = "flowlag_";
    private static final String SEGMENT = "segment";
    /** Flows that are named. */
    private static final int SLOWEST = 10;
    private static final int LEAST_SAMPLES = 10;
    private static final String[] SHARES = {"0.5", "0.9", "0.95", "0.99", "0.999"};

    private final Map<String, MetricFamily> families = new LinkedHashMap<>();
    /** The label of the segment whose figures are added, where there are several. */
    private String[] segment = {};

    private Metrics() {
    }

    static Collection<MetricFamily> of(final StatusSnapshot snapshot) {
        final Metrics metrics = new Metrics();
        metrics.addProcess(snapshot);
        for (int i = 0; i < CounterId.count(); i++) {
            final CounterId id = CounterId.of(i);
            metrics.add(id.label(), MetricCatalogue.of(id), snapshot.statistics().counters().get(id));
        }
        snapshot.statistics().sources().forEach(metrics::addSource);
        snapshot.statistics().destinations().forEach(metrics::addDestination);
        if (snapshot.statistics().latency() != null) {
            metrics.addBuckets("pipeline_latency_seconds",
                "Time from a packet's timestamp until it was metered here; packets of a batch count with its first one's.",
                snapshot.statistics().latency().buckets());
        }
        final List<DelayStatistics> delays = snapshot.statistics().delays();
        for (int i = 0; i < Math.max(delays.size(), snapshot.histograms().size()); i++) {
            if (i < delays.size()) {
                final List<SegmentName> pairs =
                    i < snapshot.segments().size() ? snapshot.segments().get(i).segments() : List.of();
                metrics.segment = delays.size() == 1 ? new String[0] : new String[] {
                    SEGMENT, pairs.isEmpty() ? Long.toString(delays.get(i).segmentId()) : "local"};
                metrics.addDelay(delays.get(i), pairs);
            }
            if (i < snapshot.histograms().size()) {
                snapshot.histograms().get(i).forEach(metrics::addHistogram);
            }
        }
        return metrics.families.values();
    }

    private void addProcess(final StatusSnapshot snapshot) {
        final Statistics statistics = snapshot.statistics();
        gauge("start_time_seconds", "Start of the process, seconds since 1970.", statistics.startTimeMs() * MS);
        gauge("status_time_seconds", "Time of these figures, seconds since 1970.", statistics.nowMs() * MS);
        gauge("memory_bound_bytes", "Octets that cache, rings and tables take at most.", statistics.memoryBoundBytes());
        gauge("accounted_for", "1 when every sum of the accounting identity holds; 0 while packets are under way.",
            statistics.isAccountedFor() ? 1 : 0);
        addUnexplained("captured", AccountingIdentity.unexplainedCaptured(statistics.counters()));
        addUnexplained("decoded", AccountingIdentity.unexplainedDecoded(statistics.counters()));
        addUnexplained("records", AccountingIdentity.unexplainedRecords(statistics.counters()));
        snapshot.health().forEach((each) ->
            gauge("healthy", "1 for each check of /healthz that is ok.", each.isOk() ? 1 : 0, "check", each.name()));
        gauge("living_flows", "Flows in the cache in the last pass over it.", snapshot.flows().livingCount());
        addSlowest(snapshot.flows().flows());
    }

    /** Of each flow the newest record; few flows, for each of each moment is a time series of its own. */
    private void addSlowest(final List<FlowView> flows) {
        final MetricFamily means = family(PREFIX + "slowest_flow_mean_delay_seconds", Type.GAUGE,
            "Mean delay of the newest record of each of the " + SLOWEST + " slowest flows, of " + LEAST_SAMPLES +
            " measured packets or more, in the last minute.");
        final MetricFamily bounds = family(PREFIX + "slowest_flow_delay_bound_seconds", Type.GAUGE,
            "95 % error bound of that mean, where it is known.");
        final Map<List<String>, FlowView> newest = new HashMap<>();
        flows.stream().filter((flow) -> flow.meanNs() != null && flow.samples() >= LEAST_SAMPLES).forEach((flow) ->
            newest.merge(flowLabels(flow), flow, (one, other) -> one.startNs() > other.startNs() ? one : other));
        FlowView.slowestFirst(List.copyOf(newest.values())).stream().limit(SLOWEST).forEach((flow) -> {
            final String[] labels = flowLabels(flow).toArray(String[]::new);
            means.add(flow.meanNs() * NS, labels);
            if (flow.boundNs() != null) {
                bounds.add(flow.boundNs() * NS, labels);
            }
        });
    }

    private static List<String> flowLabels(final FlowView flow) {
        return List.of("src", flow.source(), "dst", flow.destination(), "proto", Protocols.name(flow.protocol()),
            "sport", Integer.toString(flow.sourcePort()), "dport", Integer.toString(flow.destinationPort()),
            SEGMENT, Long.toString(flow.segmentId()));
    }

    private void addUnexplained(final String sum, final long value) {
        gauge("unexplained", "What each sum of the accounting identity leaves over; packets under way count here.", value,
            "sum", sum);
    }

    private void add(final String label, final MetricCatalogue.Entry entry, final double value) {
        final MetricName name = MetricName.of(label, entry.unit());
        family(name.name(), entry.type(), MetricCatalogue.help(name.name(), entry.sentence()))
            .add(value * name.factor(), withSegment(name.labels().toArray(String[]::new)));
    }

    private void addSource(final SourceStatistics source) {
        final String[] labels = {"source", source.name()};
        counter("source_captured_packets", "Packets taken from a source, filtered ones included.", source.captured(), labels);
        counter("source_filtered_packets", "Packets of a source that a filter in the process kept back.", source.filtered(),
            labels);
        counter("source_lost_in_kernel_packets", "Packets of a source that the kernel lost.", source.lostInKernel(), labels);
        gauge("source_up", "1 while a source gives packets, 0 when it ended early.", source.damage() == null ? 1 : 0, labels);
    }

    private void addDestination(final DestinationStatistics each) {
        final String[] labels = {"destination", each.uri()};
        counter("destination_made_records", "Flow records made for a destination.", each.recordsMade(), labels);
        counter("destination_exported_records", "Flow records handed to a destination's transport.", each.recordsExported(),
            labels);
        counter("destination_failed_records", "Flow records given up.", each.recordsFailed(), labels);
        gauge("destination_waiting_records", "Flow records that wait for a message to fill or a connection now.",
            each.recordsWaiting(), labels);
        counter("destination_uncertain_records",
            "Exported records that may not have arrived: a connection broke, or a datagram was refused.",
            each.recordsUncertain(), labels);
        counter("destination_options_records", "Options records exported.", each.optionsRecords(), labels);
        counter("destination_messages", "Messages exported.", each.messages(), labels);
        counter("destination_bytes", "Octets of those messages.", each.octets(), labels);
        counter("destination_reconnects", "Sessions begun after the first one.", each.reconnects(), labels);
        counter("destination_errors", "Errors of sending or connecting.", each.errors(), labels);
        gauge("destination_unexplained_records", "Records made that are neither exported, failed nor waiting; 0 when it holds.",
            each.unexplainedRecords(), labels);
        if (each.spool() != null) {
            addSpool(each.spool(), labels);
        }
    }

    private void addSpool(final SpoolStatistics spool, final String[] labels) {
        gauge("spool_held_records", "Flow records in a destination's spool now, a part of those that wait.",
            spool.recordsHeld(), labels);
        counter("spool_taken_up_records", "Flow records found in a spool at the start, from a former process.",
            spool.recordsTakenUp(), labels);
        counter("spool_in_records", "Flow records put into a spool.", spool.recordsIn(), labels);
        counter("spool_out_records", "Flow records that left a spool and the process.", spool.recordsOut(), labels);
        counter("spool_perhaps_twice_records", "Flow records recovered although an earlier process may have sent them.",
            spool.recordsPerhapsTwice(), labels);
        gauge("spool_held_bytes", "Octets of a spool's files now.", spool.octetsHeld(), labels);
        gauge("spool_bound_bytes", "Octets that a spool's files may have.", spool.octetsBound(), labels);
        counter("spool_refused_bytes", "Octets in a spool that are not records: cut, damaged or foreign.",
            spool.octetsRefused(), labels);
        counter("spool_errors", "Times that a spool could not be written or read.", spool.errors(), labels);
    }

    private void addSegment(final DelayStatistics delay, final long id, final String... points) {
        gauge("segment_info", "What the segment is; always 1.", 1, Stream.concat(Stream.of("segment_id", Long.toString(id),
            "role", delay.role(), "policy", delay.policy()), Stream.concat(Stream.of(points),
            segment.length == 0 ? Stream.of() : Stream.of(SEGMENT, Long.toString(id)))).toArray(String[]::new));
    }

    private void addDelay(final DelayStatistics delay, final List<SegmentName> segments) {
        delay.counters().forEach((label, value) -> add(label, MetricCatalogue.delayCounter(label), value));
        delay.gauges().forEach((label, value) -> add(label, MetricCatalogue.gauge(label), value));
        if (segments.isEmpty()) {
            addSegment(delay, delay.segmentId());
        }
        segments.forEach((each) -> addSegment(delay, each.id(), "ingress", each.ingress(), "egress", each.egress()));
        if (delay.clockErrorNs() >= 0) {
            gauge("clock_error_seconds", "Bound of the difference of the two points' clocks.", delay.clockErrorNs() * NS);
        }
        delay.unexplained().forEach((name, value) -> addUnexplained(name.replaceFirst("^unexplained_", ""), value));
        delay.interval().forEach((each) -> {
            addDistribution("interval_delay", "regular packets in the last measurement interval", each, each.delays());
            addDistribution("interval_interpolated_delay", "regular packets by references in the last measurement interval", each,
                each.estimates());
            addDistribution(
                "interval_reference_delay", "references in the last measurement interval", each, each.references());
        });
        delay.total().forEach((each) -> {
            final String[] labels = labels(each.senderIndex(), each.segment(), each.classIndex(), each.dscp());
            gauge("lost_references", "References missing since the start, less those that came late.", each.lostReferences(),
                labels);
            counter("class_oversize_packets", "Packets of a class, longer than the link carries, that were not measured.",
                each.oversizePackets(), labels);
            gauge("held_out_error_seconds", "95 % quantile of the error of references interpolated from their neighbours.",
                seconds(each.heldOutP95Ns()), labels);
        });
        delay.sketches().forEach(this::addSketches);
    }

    private void addDistribution(
        final String name, final String what, final DelaySummary summary, final DelayDistribution distribution) {
        final String[] labels = labels(summary.senderIndex(), summary.segment(), summary.classIndex(), summary.dscp());
        gauge(name + "_packets", "Delays of " + what + ".", distribution.count(), labels);
        if (distribution.count() == 0) {
            return;
        }
        gauge(name + "_mean_seconds", "Mean delay of " + what + ".", seconds(distribution.meanNs()), labels);
        gauge(name + "_min_seconds", "Smallest delay of " + what + ".", seconds(distribution.minimumNs()), labels);
        gauge(name + "_max_seconds", "Largest delay of " + what + ".", seconds(distribution.maximumNs()), labels);
        final Long[] values = {
            distribution.p50Ns(), distribution.p90Ns(), distribution.p95Ns(), distribution.p99Ns(), distribution.p999Ns()};
        for (int i = 0; i < values.length; i++) {
            gauge(name + "_quantile_seconds", "Quantiles of the delay of " + what + ", where there are enough of them.",
                seconds(values[i]), with(labels, "share", SHARES[i]));
        }
    }

    private void addSketches(final SketchStatistics sketches) {
        final String[] sender = {"sender", Integer.toString(sketches.senderIndex())};
        gauge("lds_memory_bytes", "Octets of all sketches and records.", sketches.memoryBytes(), sender);
        gauge("lds_interval_usable_cells", "Usable cells of the interval compared last.", sketches.usableCells(), sender);
        gauge("lds_interval_occupied_cells", "Occupied cells of the interval compared last.", sketches.occupiedCells(), sender);
        gauge("lds_interval_unexplained_lost_packets",
            "Lost packets of that interval of flows that the receiver does not know.", sketches.unexplainedLost(), sender);
        addAggregates("lds_interval", "in the interval compared last", sketches.interval(), sketches.senderIndex());
        addAggregates("lds", "since the start", sketches.total(), sketches.senderIndex());
    }

    private void addAggregates(
        final String name, final String when, final List<AggregateDelay> aggregates, final int senderIndex) {
        for (int i = 0; i < aggregates.size(); i++) {
            final AggregateDelay each = aggregates.get(i);
            final String[] labels = labels(senderIndex, null, i, each.dscp());
            gauge(name + "_samples", "Packets behind the mean by sketches, " + when + ".", each.samples(), labels);
            gauge(name + "_mean_delay_seconds", "Mean delay by sketches, " + when + ".", seconds(each.meanNs()), labels);
            gauge(name + "_delay_deviation_seconds", "Standard deviation of delay by sketches, " + when + ".",
                seconds(each.standardDeviationNs()), labels);
            gauge(name + "_lost_packets", "Packets lost between the points by sketches, less unexpected ones, " + when + ".",
                each.lostPackets(), labels);
        }
    }

    private void addHistogram(final DelayHistogram histogram) {
        final String[] labels = labels(
            histogram.senderIndex(), histogram.segment(), histogram.classIndex(), histogram.dscp());
        addBuckets("packet_delay_seconds",
            "Delay of regular packets: matched with both points in one process, else by interpolation, whose tails lean low. " +
            "Negative delays are in every bucket and in the sum.", histogram.estimates(), labels);
        addBuckets("reference_delay_seconds",
            "Delay of reference packets. Negative delays are in every bucket and in the sum.", histogram.references(), labels);
    }

    private void addBuckets(
        final String name, final String help, final DelayHistogram.Buckets buckets, final String... labels) {
        final MetricFamily family = family(PREFIX + name, Type.HISTOGRAM, help);
        final long[] boundariesNs = DelayHistogram.boundariesNs();
        for (int i = 0; i < boundariesNs.length; i++) {
            family.addSuffixed("_bucket", buckets.countsAtMost().get(i),
                withSegment(with(labels, "le", MetricText.number(boundariesNs[i] / 1e9))));
        }
        family.addSuffixed("_bucket", buckets.count(), withSegment(with(labels, "le", "+Inf")));
        family.addSuffixed("_sum", buckets.sumNs() * NS, withSegment(labels));
        family.addSuffixed("_count", buckets.count(), withSegment(labels));
    }

    /** Of several segments, each has its number in the place of a sender's. */
    private static String[] labels(
        final int senderIndex, final SegmentName segment, final int classIndex, final int dscp) {
        return new String[] {
            segment == null ? "sender" : SEGMENT, Long.toString(segment == null ? senderIndex : segment.id()),
            "class", Integer.toString(classIndex), "dscp", dscp < 0 ? "" : Integer.toString(dscp)};
    }

    /** Labels with the segment, if there are several and no label names one. */
    private String[] withSegment(final String[] labels) {
        return segment.length == 0 || List.of(labels).contains(SEGMENT) ? labels : with(labels, segment[0], segment[1]);
    }

    private static String[] with(final String[] labels, final String name, final String value) {
        return Stream.concat(Stream.of(labels), Stream.of(name, value)).toArray(String[]::new);
    }

    private static Double seconds(final Long ns) {
        return ns == null ? null : ns * NS;
    }

    private void gauge(final String name, final String help, final Number value, final String... labels) {
        if (value != null) {
            family(PREFIX + name, Type.GAUGE, help).add(value.doubleValue(), withSegment(labels));
        }
    }

    private void counter(final String name, final String help, final long value, final String... labels) {
        family(PREFIX + name, Type.COUNTER, help).add(value, withSegment(labels));
    }

    private MetricFamily family(final String name, final Type type, final String help) {
        return families.computeIfAbsent(name, (each) -> new MetricFamily(name, type, help));
    }
}
