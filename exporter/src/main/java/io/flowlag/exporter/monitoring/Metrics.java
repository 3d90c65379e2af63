package io.flowlag.exporter.monitoring;

import io.flowlag.exporter.monitoring.MetricFamily.Type;
import io.flowlag.exporter.status.AccountingIdentity;
import io.flowlag.exporter.status.AggregateDelay;
import io.flowlag.exporter.status.CounterId;
import io.flowlag.exporter.status.DelayDistribution;
import io.flowlag.exporter.status.DelayHistogram;
import io.flowlag.exporter.status.DelayStatistics;
import io.flowlag.exporter.status.DelaySummary;
import io.flowlag.exporter.status.DestinationStatistics;
import io.flowlag.exporter.status.LatencySummary;
import io.flowlag.exporter.status.SketchStatistics;
import io.flowlag.exporter.status.SourceStatistics;
import io.flowlag.exporter.status.SpoolStatistics;
import io.flowlag.exporter.status.Statistics;

import java.util.ArrayList;
import java.util.Collection;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;

/** The metrics of a process: all values of {@code --stats}, named by the conventions of Prometheus. Used once. */
final class Metrics {
    private static final double NS = 1e-9;
    private static final double MS = 1e-3;

    private final Map<String, MetricFamily> families = new LinkedHashMap<>();

    private Metrics() {
    }

    static Collection<MetricFamily> of(final StatusSnapshot snapshot) {
        final Metrics metrics = new Metrics();
        metrics.addProcess(snapshot);
        metrics.addCounters(snapshot.statistics());
        snapshot.statistics().sources().forEach(metrics::addSource);
        snapshot.statistics().destinations().forEach(metrics::addDestination);
        if (snapshot.statistics().latency() != null) {
            metrics.addLatency(snapshot.statistics().latency());
        }
        if (snapshot.statistics().delay() != null) {
            metrics.addDelay(snapshot.statistics().delay());
        }
        snapshot.histograms().forEach(metrics::addHistogram);
        return metrics.families.values();
    }

    private void addProcess(final StatusSnapshot snapshot) {
        final Statistics statistics = snapshot.statistics();
        gauge("start_time_seconds", "Start of the process, seconds since 1970.").add(statistics.startTimeMs() * MS);
        gauge("status_time_seconds", "Time of these figures, seconds since 1970.").add(statistics.nowMs() * MS);
        gauge("memory_bound_bytes", "Octets that cache, rings and tables take at most.").add(statistics.memoryBoundBytes());
        gauge("accounted_for", "1 when every sum of the accounting identity holds; 0 while packets are under way.")
            .add(statistics.isAccountedFor() ? 1 : 0);
        final MetricFamily unexplained = gauge(
            "unexplained", "What each sum of the accounting identity leaves over; packets under way count here.");
        unexplained.add(AccountingIdentity.unexplainedCaptured(statistics.counters()), "sum", "captured");
        unexplained.add(AccountingIdentity.unexplainedDecoded(statistics.counters()), "sum", "decoded");
        unexplained.add(AccountingIdentity.unexplainedRecords(statistics.counters()), "sum", "records");
        final MetricFamily health = gauge("healthy", "1 for each check of /healthz that is well.");
        snapshot.health().forEach((each) -> health.add(each.isWell() ? 1 : 0, "check", each.name()));
        gauge("living_flows", "Flows in the cache in the last pass over it.").add(snapshot.flows().livingCount());
    }

    private void addCounters(final Statistics statistics) {
        for (int i = 0; i < CounterId.count(); i++) {
            final CounterId id = CounterId.of(i);
            add(id.label(), MetricCatalogue.of(id), statistics.counters().get(id));
        }
    }

    private void add(final String label, final MetricCatalogue.Entry entry, final double value) {
        final MetricName name = MetricName.of(label, entry.unit());
        family(name.name(), entry.type(), MetricCatalogue.help(name.name(), entry.sentence()))
            .add(value * name.factor(), name.labels().toArray(String[]::new));
    }

    private void addLatency(final LatencySummary latency) {
        addBuckets(family("flowlag_pipeline_latency_seconds", Type.HISTOGRAM,
            "Time from a packet's timestamp until it was metered here; packets of a batch count with its first one's."),
            latency.buckets(), List.of());
    }

    private void addSource(final SourceStatistics source) {
        counter("source_captured_packets", "Packets taken from a source, filtered ones included.")
            .add(source.captured(), "source", source.name());
        counter("source_filtered_packets", "Packets of a source that a filter in the process kept back.")
            .add(source.filtered(), "source", source.name());
        counter("source_lost_in_kernel_packets", "Packets of a source that the kernel lost.")
            .add(source.lostInKernel(), "source", source.name());
        gauge("source_up", "1 while a source gives packets, 0 when it ended early.")
            .add(source.damage() == null ? 1 : 0, "source", source.name());
    }

    private void addDestination(final DestinationStatistics destination) {
        final String[] labels = {"destination", destination.uri()};
        counter("destination_made_records", "Flow records made for a destination.").add(destination.recordsMade(), labels);
        counter("destination_exported_records", "Flow records handed to a destination's transport.")
            .add(destination.recordsExported(), labels);
        counter("destination_failed_records", "Flow records given up.").add(destination.recordsFailed(), labels);
        gauge("destination_waiting_records", "Flow records that wait for a message to fill or a connection now.")
            .add(destination.recordsWaiting(), labels);
        counter("destination_uncertain_records", "Exported records that were in the buffer of a connection when it broke.")
            .add(destination.recordsUncertain(), labels);
        counter("destination_options_records", "Options records exported.").add(destination.optionsRecords(), labels);
        counter("destination_messages", "Messages exported.").add(destination.messages(), labels);
        counter("destination_bytes", "Octets of those messages.").add(destination.octets(), labels);
        counter("destination_reconnects", "Sessions begun after the first one.").add(destination.reconnects(), labels);
        counter("destination_errors", "Errors of sending or connecting.").add(destination.errors(), labels);
        gauge("destination_unexplained_records", "Records made that are neither exported, failed nor waiting; 0 when it holds.")
            .add(destination.unexplainedRecords(), labels);
        if (destination.spool() != null) {
            addSpool(destination.spool(), labels);
        }
    }

    private void addSpool(final SpoolStatistics spool, final String[] labels) {
        gauge("spool_held_records", "Flow records in a destination's spool now, a part of those that wait.")
            .add(spool.recordsHeld(), labels);
        counter("spool_taken_up_records", "Flow records found in a spool at the start, from a former process.")
            .add(spool.recordsTakenUp(), labels);
        counter("spool_in_records", "Flow records put into a spool.").add(spool.recordsIn(), labels);
        counter("spool_out_records", "Flow records that left a spool and the process.").add(spool.recordsOut(), labels);
        counter("spool_perhaps_twice_records", "Flow records taken up although a former process may have sent them.")
            .add(spool.recordsPerhapsTwice(), labels);
        gauge("spool_held_bytes", "Octets of a spool's files now.").add(spool.octetsHeld(), labels);
        gauge("spool_bound_bytes", "Octets that a spool's files may have.").add(spool.octetsBound(), labels);
        counter("spool_refused_bytes", "Octets in a spool that were no records any more: cut, damaged or foreign.")
            .add(spool.octetsRefused(), labels);
        counter("spool_errors", "Times that a spool could not be written or read.").add(spool.errors(), labels);
    }

    private void addDelay(final DelayStatistics delay) {
        delay.counters().forEach((label, value) -> add(label, MetricCatalogue.delayCounter(label), value));
        delay.gauges().forEach((label, value) -> add(label, MetricCatalogue.gauge(label), value));
        gauge("segment_info", "What the segment is; always 1.").add(
            1, "segment_id", Long.toString(delay.segmentId()), "role", delay.role(), "policy", delay.policy());
        if (delay.clockErrorNs() >= 0) {
            gauge("clock_error_seconds", "Bound of the difference of the two points' clocks.").add(delay.clockErrorNs() * NS);
        }
        final MetricFamily unexplained = families.get("flowlag_unexplained");
        delay.unexplained().forEach((name, value) -> unexplained.add(value, "sum", name.replaceFirst("^unexplained_", "")));
        delay.interval().forEach((each) -> {
            addDistribution("interval_delay", "regular packets in the last measurement interval", each, each.delays());
            addDistribution("interval_interpolated_delay", "regular packets by references in the last measurement interval", each,
                each.estimates());
            addDistribution(
                "interval_reference_delay", "references in the last measurement interval", each, each.references());
        });
        delay.total().forEach((each) -> {
            final List<String> labels = labels(each.senderIndex(), each.classIndex(), each.dscp());
            gauge("lost_references", "References missing since the start, less those that came late.")
                .addSuffixed("", each.lostReferences(), labels);
            counter("class_oversize_packets", "Packets of a class, longer than the link carries, that were not measured.")
                .addSuffixed("_total", each.oversizePackets(), labels);
            if (each.heldOutP95Ns() != null) {
                gauge("held_out_error_seconds", "95 % quantile of the error of references interpolated from their neighbours.")
                    .addSuffixed("", each.heldOutP95Ns() * NS, labels);
            }
        });
        delay.sketches().forEach(this::addSketches);
    }

    private void addDistribution(
        final String name, final String what, final DelaySummary summary, final DelayDistribution distribution) {
        final List<String> labels = labels(summary.senderIndex(), summary.classIndex(), summary.dscp());
        gauge(name + "_packets", "Delays of " + what + ".").addSuffixed("", distribution.count(), labels);
        if (distribution.count() == 0) {
            return;
        }
        gauge(name + "_mean_seconds", "Mean delay of " + what + ".").addSuffixed("", distribution.meanNs() * NS, labels);
        gauge(name + "_min_seconds", "Smallest delay of " + what + ".").addSuffixed("", distribution.minimumNs() * NS, labels);
        gauge(name + "_max_seconds", "Largest delay of " + what + ".").addSuffixed("", distribution.maximumNs() * NS, labels);
        final MetricFamily quantiles = gauge(
            name + "_quantile_seconds", "Quantiles of the delay of " + what + ", where there are enough of them.");
        final Long[] values = {
            distribution.p50Ns(), distribution.p90Ns(), distribution.p95Ns(), distribution.p99Ns(), distribution.p999Ns()};
        final String[] shares = {"0.5", "0.9", "0.95", "0.99", "0.999"};
        for (int i = 0; i < values.length; i++) {
            if (values[i] != null) {
                final List<String> all = new ArrayList<>(labels);
                all.add("share");
                all.add(shares[i]);
                quantiles.addSuffixed("", values[i] * NS, all);
            }
        }
    }

    private void addSketches(final SketchStatistics sketches) {
        final String[] sender = {"sender", Integer.toString(sketches.senderIndex())};
        gauge("lds_memory_bytes", "Octets of all sketches and records.").add(sketches.memoryBytes(), sender);
        gauge("lds_interval_usable_cells", "Usable cells of the interval compared last.").add(sketches.usableCells(), sender);
        gauge("lds_interval_occupied_cells", "Occupied cells of the interval compared last.")
            .add(sketches.occupiedCells(), sender);
        if (sketches.unexplainedLost() != null) {
            gauge("lds_interval_unexplained_lost_packets",
                "Lost packets of that interval of flows that the receiver does not know.")
                .add(sketches.unexplainedLost(), sender);
        }
        for (int i = 0; i < sketches.interval().size(); i++) {
            addAggregate("lds_interval", "in the interval compared last", sketches.interval().get(i), sketches, i);
        }
        for (int i = 0; i < sketches.total().size(); i++) {
            addAggregate("lds", "since the start", sketches.total().get(i), sketches, i);
        }
    }

    private void addAggregate(
        final String name, final String when, final AggregateDelay aggregate, final SketchStatistics sketches,
        final int index) {
        final List<String> labels = labels(sketches.senderIndex(), index, aggregate.dscp());
        gauge(name + "_samples", "Packets behind the mean by sketches, " + when + ".")
            .addSuffixed("", aggregate.samples(), labels);
        if (aggregate.meanNs() != null) {
            gauge(name + "_mean_delay_seconds", "Mean delay by sketches, " + when + ".")
                .addSuffixed("", aggregate.meanNs() * NS, labels);
        }
        if (aggregate.standardDeviationNs() != null) {
            gauge(name + "_delay_deviation_seconds", "Standard deviation of delay by sketches, " + when + ".")
                .addSuffixed("", aggregate.standardDeviationNs() * NS, labels);
        }
        if (aggregate.lostPackets() != null) {
            gauge(name + "_lost_packets", "Packets lost between the points by sketches, less unexpected ones, " + when + ".")
                .addSuffixed("", aggregate.lostPackets(), labels);
        }
    }

    private void addHistogram(final DelayHistogram histogram) {
        final List<String> labels = labels(histogram.senderIndex(), histogram.classIndex(), histogram.dscp());
        addBuckets(family("flowlag_packet_delay_seconds", Type.HISTOGRAM,
            "Delay of regular packets: matched with both points in one process, else by interpolation, whose tails lean low. " +
            "Negative delays are in every bucket and in the sum."),
            histogram.estimates(), labels);
        addBuckets(family("flowlag_reference_delay_seconds", Type.HISTOGRAM,
            "Delay of reference packets. Negative delays are in every bucket and in the sum."), histogram.references(), labels);
    }

    private static void addBuckets(
        final MetricFamily family, final DelayHistogram.Buckets buckets, final List<String> labels) {
        final long[] boundariesNs = DelayHistogram.boundariesNs();
        for (int i = 0; i <= boundariesNs.length; i++) {
            final List<String> all = new ArrayList<>(labels);
            all.add("le");
            all.add(i < boundariesNs.length ? MetricText.number(boundariesNs[i] / 1e9) : "+Inf");
            family.addSuffixed("_bucket", i < boundariesNs.length ? buckets.countsAtMost().get(i) : buckets.count(), all);
        }
        family.addSuffixed("_sum", buckets.sumNs() * NS, labels);
        family.addSuffixed("_count", buckets.count(), labels);
    }

    private static List<String> labels(final int senderIndex, final int classIndex, final int dscp) {
        return List.of(
            "sender", Integer.toString(senderIndex), "class", Integer.toString(classIndex), "dscp",
            dscp < 0 ? "" : Integer.toString(dscp));
    }

    private MetricFamily gauge(final String name, final String help) {
        return family("flowlag_" + name, Type.GAUGE, help);
    }

    private MetricFamily counter(final String name, final String help) {
        return family("flowlag_" + name, Type.COUNTER, help);
    }

    private MetricFamily family(final String name, final Type type, final String help) {
        return families.computeIfAbsent(name, (each) -> new MetricFamily(name, type, help));
    }
}
