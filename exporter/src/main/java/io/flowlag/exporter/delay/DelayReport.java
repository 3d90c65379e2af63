package io.flowlag.exporter.delay;

import io.flowlag.common.counter.CounterSet;
import io.flowlag.exporter.config.ExporterConfig;
import io.flowlag.exporter.config.ExporterConfig.Role;
import io.flowlag.exporter.delay.interval.records.SketchCounter;
import io.flowlag.exporter.status.ClockEstimate;
import io.flowlag.exporter.status.CounterId;
import io.flowlag.exporter.status.Counters;
import io.flowlag.exporter.status.DelayStatistics;
import io.flowlag.exporter.status.SegmentDescription;
import io.flowlag.rli.receiver.ReceiverCounter;
import io.flowlag.rli.receiver.RliReceiver;

import java.util.LinkedHashMap;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.function.ToLongFunction;
import java.util.stream.IntStream;

/**
 * The statistics of the delay stage: counters as of now, gauges and summaries as of the last interval. The metering thread
 * calls {@link #onInterval}, any thread {@link #statistics}. Allocates at each call.
 */
final class DelayReport {
    private static final List<SketchCounter> SENDING = List.of(
        SketchCounter.SENT, SketchCounter.SENT_WITHOUT_DIGEST, SketchCounter.SENT_BOOKED, SketchCounter.SENT_LATE,
        SketchCounter.SENT_UNSKETCHED, SketchCounter.INTERVALS_SHIPPED, SketchCounter.INTERVALS_UNSHIPPED,
        SketchCounter.RECONCILE_OFFERED, SketchCounter.RECONCILE_HELD, SketchCounter.RECONCILE_NOT_SAMPLED,
        SketchCounter.RECONCILE_WITHDRAWN, SketchCounter.RECONCILE_SATURATED, SketchCounter.RECONCILE_COPIES,
        SketchCounter.RECONCILE_COLLIDING, SketchCounter.RECONCILE_KEYS_OVERFLOW);

    private static final double PARTS_PER_BILLION = 1e9;

    private final String role;
    private final long segmentId;
    private final DelayWiring wiring;
    private final DelayParts parts;
    private final DelaySummaries summaries;
    private final SenderSketches sketches;
    private final Counters counters;
    private final int classCount;
    private volatile List<Integer> dscps;
    private final List<ExporterConfig.Sender> senders;
    /** Those of all shards in the process; where there is one, this one. */
    private List<DelayReport> shards = List.of(this);
    private volatile List<String> points = List.of();
    private volatile Map<String, Double> gauges = Map.of();

    DelayReport(final ExporterConfig config, final DelayWiring wiring, final DelayParts parts, final Counters counters) {
        this.wiring = wiring;
        this.parts = parts;
        this.counters = counters;
        summaries = parts.summaries;
        sketches = parts.sketches;
        role = wiring.role().name().toLowerCase(Locale.ROOT);
        segmentId = config.segment().id();
        classCount = config.rli().classCount();
        senders = config.rli().references().senders();
        dscps = List.copyOf(config.rli().references().classes());
    }

    /** Reports for all shards, this one first; before the first packet. */
    void join(final List<DelayReport> reports) {
        shards = List.copyOf(reports);
    }

    void points(final List<String> names) {
        points = List.copyOf(names);
    }

    SegmentDescription segment() {
        return new SegmentDescription(
            segmentId, role, points, dscps, policy(), wiring.pairs().names(),
            wiring.clockError().errorNs(), wiring.clockError().isSynchronized());
    }

    /** The name of the sender's policy; empty without references. */
    private String policy() {
        return wiring.role() == Role.RECEIVER || !wiring.isInterpolated() ? "" : parts.schedule.policy();
    }

    /** Other classes hold, as many as before. */
    void classes(final List<Integer> newDscps) {
        dscps = List.copyOf(newDscps);
    }

    void onInterval() {
        final Map<String, Double> values = new LinkedHashMap<>();
        parts.schedule.tellGauges(values, this::classSuffix);
        final RliReceiver receiver = parts.interpolation.receiver();
        for (int i = 0; i < receiver.streamCount(); i++) {
            final String suffix = (senders.isEmpty() ? "" : senderSuffix(i / classCount)) + classSuffix(i % classCount);
            values.put("stamp_correction_ns" + suffix, (double)receiver.stream(i).stampCorrectionNs());
            values.put("stamp_error_ns" + suffix, (double)receiver.stream(i).stampErrorNs());
            values.put("serialisation_ns_per_byte" + suffix, receiver.stream(i).serialisationNsPerByte());
            if (receiver.stream(i).paths().count() > 1) {
                values.put("reference_paths" + suffix, (double)receiver.stream(i).paths().count());
            }
            if (receiver.stream(i).drift().hasEstimate()) {
                values.put("clock_drift_ppb" + suffix, receiver.stream(i).drift().driftPpb());
            }
        }
        parts.schedule.tellShare(values);
        gauges = values;
    }

    DelayStatistics statistics() {
        final Map<String, Long> values = new LinkedHashMap<>();
        final Map<String, Long> unexplained = new LinkedHashMap<>();
        parts.schedule.tell(values);
        if (parts.interpolation.isOn()) {
            tellReferences(values, unexplained);
        }
        parts.interpolation.counters(values::put);
        parts.reports.counters(values::put);
        parts.matching.tell(values, unexplained);
        if (wiring.role().isReceiver()) {
            values.put("quantile_flows", sum((each) -> each.parts.distributions.given()));
            values.put("quantile_flows_without_room", sum((each) -> each.parts.distributions.refused()));
            values.put("quantile_samples", sum((each) -> each.parts.distributions.sampled()));
        }
        if (sketches.isOn()) {
            tellSketches(values, unexplained);
        }
        if (wiring.isShipping()) {
            for (final SketchCounter each : SENDING) {
                // Each shard ships its part of every interval.
                final boolean isOfIntervals =
                    each == SketchCounter.INTERVALS_SHIPPED || each == SketchCounter.INTERVALS_UNSHIPPED;
                values.put(each.label(), isOfIntervals ? parts.sending.counters().get(each) :
                    sum((of) -> of.parts.sending.counters().get(each)));
            }
            unexplained.put(
                "unexplained_lds_sent", sum((of) -> SketchCounter.unexplainedSent(of.parts.sending.counters())));
            unexplained.put(
                "unexplained_reconcile_packets", sum((of) -> SketchCounter.unexplainedCached(of.parts.sending.counters())));
        }
        wiring.link().counters((label, count) -> values.put("exchange_" + label, count));
        if (wiring.receiverLink() != null) {
            for (int i = 0; sketches.isOn() && i < senders.size(); i++) {
                final String suffix = senderSuffix(i);
                wiring.receiverLink().senderCounters(i, (label, count) -> values.put("exchange_" + label + suffix, count));
            }
        }
        return new DelayStatistics(
            role, segmentId, policy(), parts.clocks.errorNs(), values, gauges(), summaries.interval(), summaries.total(),
            sketches.statistics(), unexplained);
    }

    private Map<String, Double> gauges() {
        final Map<String, Double> all = new LinkedHashMap<>(gauges);
        parts.matching.tellGauges(all);
        for (int i = 0; i < Math.max(1, senders.size()); i++) {
            final ClockEstimate clock = parts.clocks.estimate(i);
            if (clock.isKnown()) {
                final String suffix = senders.isEmpty() ? "" : senderSuffix(i);
                all.put("clock_offset_ns" + suffix, (double)clock.offsetNs());
                all.put("clock_offset_error_ns" + suffix, (double)clock.boundNs());
                all.put("clock_offset_drift_ppb" + suffix, clock.drift() * PARTS_PER_BILLION);
            }
        }
        if (sketches.isOn() && sketches.errors().count() > 0) {
            all.put("error_median_rli", sketches.errors().rliMedian());
            all.put("error_median_lds", sketches.errors().ldsMedian());
            all.put("error_median_joint", sketches.errors().jointMedian());
        }
        return all;
    }

    private void tellSketches(final Map<String, Long> values, final Map<String, Long> unexplained) {
        for (final SketchCounter each : SketchCounter.values()) {
            values.put(each.label(), sum((of) -> of.sketches.get(each)));
        }
        for (final SketchWriter.Count each : SketchWriter.Count.values()) {
            values.put(each.label(), sum((of) -> of.sketches.written(each)));
        }
        unexplained.put("unexplained_reconcile_packets", unexplained(SketchCounter::unexplainedCached));
        for (int i = 0; i < senders.size(); i++) {
            for (final SketchCounter each : SketchCounter.values()) {
                final int index = i;
                values.put(each.label() + senderSuffix(i), sum((of) -> of.sketches.of(index).counters().get(each)));
            }
        }
        unexplained.put("unexplained_joint_estimates", unexplained(SketchCounter::unexplainedEstimates));
        unexplained.put("unexplained_lds_sent", unexplained(SketchCounter::unexplainedSent));
        unexplained.put("unexplained_lds_received", unexplained(SketchCounter::unexplainedReceived));
        unexplained.put("unexplained_lds_records", unexplained(SketchCounter::unexplainedRecords));
    }

    /** Of all senders and shards. */
    private long unexplained(final ToLongFunction<CounterSet<SketchCounter>> value) {
        return sum((of) -> of.sketches.sum((each) -> value.applyAsLong(each.counters())));
    }

    /** Adds each counter, and each per sender, if there are several senders. */
    private void tellReferences(final Map<String, Long> values, final Map<String, Long> unexplained) {
        for (final ReceiverCounter each : ReceiverCounter.values()) {
            values.put(each.label(), count(each, (of) -> of.receiver().counter(each)));
        }
        unexplained.put("unexplained_estimates", sum((each) -> unexplainedEstimates(each.receiver())));
        unexplained.put("unexplained_references", sum((each) -> unexplainedReferences(each.receiver())));
        unexplained.put("unexplained_segment", sum((each) -> each.counters.get(CounterId.METERED) -
            each.counters.get(CounterId.OUTSIDE_SEGMENT) - each.counters.get(CounterId.OVERSIZE) -
            each.receiver().counter(ReceiverCounter.PACKETS)));
        for (int i = 0; i < senders.size(); i++) {
            final int first = i * classCount;
            for (final ReceiverCounter each : ReceiverCounter.values()) {
                values.put(each.label() + senderSuffix(i), count(each, (of) -> IntStream.range(first, first + classCount)
                    .mapToLong((stream) -> of.receiver().counter(stream, each)).sum()));
            }
        }
    }

    private RliReceiver receiver() {
        return parts.interpolation.receiver();
    }

    /** Packets of shards add up; all have the same references. */
    private long count(final ReceiverCounter counter, final ToLongFunction<DelayReport> value) {
        return counter.isOfPackets() ? sum(value) : value.applyAsLong(this);
    }

    private long sum(final ToLongFunction<DelayReport> value) {
        return shards.stream().mapToLong(value).sum();
    }

    private String senderSuffix(final int senderIndex) {
        return "_session_" + senders.get(senderIndex).session();
    }

    private String classSuffix(final int classIndex) {
        return classCount == 1 ? "" : "_class_" + classIndex;
    }

    private static long unexplainedEstimates(final RliReceiver receiver) {
        return receiver.counter(ReceiverCounter.PACKETS) - receiver.counter(ReceiverCounter.BUFFERED) -
            receiver.counter(ReceiverCounter.ESTIMATED) - receiver.counter(ReceiverCounter.FLOW_ENDED) -
            receiver.counter(ReceiverCounter.WITHOUT_REFERENCE) - receiver.counter(ReceiverCounter.OVERFLOW) -
            receiver.counter(ReceiverCounter.SILENCE) - receiver.counter(ReceiverCounter.RESTART) -
            receiver.counter(ReceiverCounter.CLOCK_STEP);
    }

    private static long unexplainedReferences(final RliReceiver receiver) {
        return receiver.counter(ReceiverCounter.REFERENCES) - receiver.counter(ReceiverCounter.REFERENCES_WAITING) -
            receiver.counter(ReceiverCounter.REFERENCES_SETTLED) - receiver.counter(ReceiverCounter.REFERENCES_DUPLICATED) -
            receiver.counter(ReceiverCounter.REFERENCES_OUT_OF_ORDER) -
            receiver.counter(ReceiverCounter.REFERENCES_TOO_OLD) - receiver.counter(ReceiverCounter.REFERENCES_BACKWARDS);
    }
}
