package io.flowlag.exporter.delay;

import io.flowlag.exporter.config.ExporterConfig;
import io.flowlag.exporter.config.ExporterConfig.Role;
import io.flowlag.exporter.delay.exact.MatchCounter;
import io.flowlag.exporter.delay.interval.records.SketchCounter;
import io.flowlag.exporter.status.CounterId;
import io.flowlag.exporter.status.Counters;
import io.flowlag.exporter.status.DelayStatistics;
import io.flowlag.exporter.status.SegmentDescription;
import io.flowlag.rli.receiver.ReceiverCounter;
import io.flowlag.rli.receiver.RliReceiver;
import io.flowlag.rli.sender.InjectionPolicy;
import io.flowlag.rli.sender.InjectionScheduler;
import io.flowlag.rli.sender.SenderCounter;

import java.util.LinkedHashMap;
import java.util.List;
import java.util.Locale;
import java.util.Map;

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

    private final String role;
    private final long segmentId;
    private final DelayWiring wiring;
    private final ClockError clocks;
    private final RliReceiver receiver;
    private final DelaySummaries summaries;
    private final InjectionScheduler scheduler;
    private final ReferenceSender sender;
    private final Matching matching;
    private final FlowDistributions distributions;
    private final SenderSketches sketching;
    private final SketchSending sending;
    private final PassiveStage passive;
    private final ShippedSendTimes shipped;
    private final Counters counters;
    private final int classCount;
    private volatile List<Integer> dscps;
    private final List<ExporterConfig.Sender> senders;
    private volatile String policy;
    private volatile List<String> points = List.of();
    private volatile Map<String, Double> gauges = Map.of();

    DelayReport(
        final ExporterConfig config,
        final DelayWiring wiring,
        final ClockError clocks,
        final RliReceiver receiver,
        final DelaySummaries summaries,
        final InjectionScheduler scheduler,
        final ReferenceSender sender,
        final Matching matching,
        final FlowDistributions distributions,
        final SenderSketches sketching,
        final SketchSending sending,
        final PassiveStage passive,
        final ShippedSendTimes shipped,
        final Counters counters) {
        this.wiring = wiring;
        this.clocks = clocks;
        this.receiver = receiver;
        this.summaries = summaries;
        this.scheduler = scheduler;
        this.sender = sender;
        this.matching = matching;
        this.distributions = distributions;
        this.sketching = sketching;
        this.sending = sending;
        this.passive = passive;
        this.shipped = shipped;
        this.counters = counters;
        role = wiring.role().name().toLowerCase(Locale.ROOT);
        segmentId = config.segment().id();
        classCount = config.rli().classCount();
        senders = config.rli().senders();
        dscps = List.copyOf(config.rli().classes());
        policy = InjectionTerms.name(config.rli().policy());
    }

    /** What the points are called. */
    void points(final List<String> names) {
        points = List.copyOf(names);
    }

    /** What the segment is now. */
    SegmentDescription segment() {
        return new SegmentDescription(
            segmentId, role, points, dscps, policy(), wiring.clockError().errorNs(), wiring.clockError().isSynchronized());
    }

    /** The name of the sender's policy; empty without references. */
    private String policy() {
        return wiring.role() == Role.RECEIVER || !wiring.isInterpolated() ? "" : policy;
    }

    /** Other classes hold, as many as before. */
    void classes(final List<Integer> newDscps) {
        dscps = List.copyOf(newDscps);
    }

    /** Sets the name of the policy for further references. */
    void policy(final String name) {
        policy = name;
    }

    /** An interval has ended. */
    void onInterval() {
        final Map<String, Double> values = new LinkedHashMap<>();
        for (int i = 0; scheduler != null && i < classCount; i++) {
            final String suffix = classSuffix(i);
            if (!Double.isNaN(scheduler.utilization(i))) {
                values.put("utilization" + suffix, scheduler.utilization(i));
            }
            if (scheduler.packetGap(i) != InjectionPolicy.UNLIMITED) {
                values.put("packets_per_reference" + suffix, (double)scheduler.packetGap(i));
            }
        }
        for (int i = 0; receiver != null && i < receiver.streamCount(); i++) {
            final String suffix = (senders.isEmpty() ? "" : senderSuffix(i / classCount)) + classSuffix(i % classCount);
            values.put("stamp_correction_ns" + suffix, (double)receiver.stampCorrectionNs(i));
            values.put("stamp_error_ns" + suffix, (double)receiver.stampErrorNs(i));
            values.put("serialisation_ns_per_byte" + suffix, receiver.serialisationNsPerByte(i));
            if (receiver.drift(i).hasEstimate()) {
                values.put("clock_drift_ppb" + suffix, receiver.drift(i).driftPpb());
            }
        }
        if (scheduler != null) {
            values.put("reference_share", scheduler.referenceShare());
        }
        gauges = values;
    }

    DelayStatistics statistics() {
        final Map<String, Long> values = new LinkedHashMap<>();
        final Map<String, Long> unexplained = new LinkedHashMap<>();
        if (scheduler != null) {
            for (final SenderCounter each : SenderCounter.values()) {
                values.put(each.label(), scheduler.counter(each));
            }
        }
        if (sender != null) {
            sender.counters(values::put);
        }
        if (receiver != null) {
            for (final ReceiverCounter each : ReceiverCounter.values()) {
                values.put(each.label(), receiver.counter(each));
            }
            tellSenders(values);
            unexplained.put("unexplained_estimates", unexplainedEstimates());
            unexplained.put("unexplained_references", unexplainedReferences());
            unexplained.put("unexplained_segment", counters.get(CounterId.METERED) -
                counters.get(CounterId.OUTSIDE_SEGMENT) - counters.get(CounterId.OVERSIZE) -
                receiver.counter(ReceiverCounter.PACKETS));
        }
        if (passive != null) {
            passive.counters(values::put);
        }
        if (shipped != null) {
            shipped.counters(values::put);
        }
        if (matching != null) {
            for (final MatchCounter each : MatchCounter.values()) {
                values.put(each.label(), matching.counters().get(each));
            }
            values.put("match_flow_ended", matching.flowEndedCount());
            values.put("bounded_flows", matching.boundedFlowCount());
            values.put("bounds_held", matching.heldBoundCount());
            unexplained.put("unexplained_sent", matching.counters().unexplainedSent());
            unexplained.put("unexplained_received", matching.counters().unexplainedReceived());
        }
        if (distributions != null) {
            values.put("quantile_flows", distributions.given());
            values.put("quantile_flows_without_room", distributions.refused());
        }
        if (sketching != null) {
            tellSketches(values, unexplained);
        }
        if (sending != null) {
            for (final SketchCounter each : SENDING) {
                values.put(each.label(), sending.counters().get(each));
            }
            unexplained.put("unexplained_lds_sent", SketchCounter.unexplainedSent(sending.counters()));
            unexplained.put("unexplained_reconcile_packets", SketchCounter.unexplainedCached(sending.counters()));
        }
        if (wiring.link() != null) {
            wiring.link().counters((label, count) -> values.put("exchange_" + label, count));
        }
        if (wiring.receiverLink() != null) {
            for (int i = 0; sketching != null && i < senders.size(); i++) {
                final String suffix = senderSuffix(i);
                wiring.receiverLink().senderCounters(i, (label, count) -> values.put("exchange_" + label + suffix, count));
            }
        }
        return new DelayStatistics(
            role, segmentId, policy(), clocks.errorNs(), values, gauges(),
            summaries == null ? List.of() : summaries.interval(), summaries == null ? List.of() : summaries.total(),
            sketching == null ? List.of() : sketching.statistics(), unexplained);
    }

    private Map<String, Double> gauges() {
        final Map<String, Double> all = new LinkedHashMap<>(gauges);
        if (matching != null) {
            all.put("match_share", 1.0 / matching.counters().matchedOneIn());
            all.put("match_wait_ns", (double)matching.counters().waitNs());
        }
        if (sketching != null && sketching.errors().count() > 0) {
            all.put("error_median_rli", sketching.errors().rliMedian());
            all.put("error_median_lds", sketching.errors().ldsMedian());
            all.put("error_median_joint", sketching.errors().jointMedian());
        }
        return all;
    }

    private void tellSketches(final Map<String, Long> values, final Map<String, Long> unexplained) {
        for (final SketchCounter each : SketchCounter.values()) {
            values.put(each.label(), sketching.get(each));
        }
        values.put("lds_bounded_flows", sketching.written(SketchWriter::boundedFlowCount));
        values.put("lds_bounds_held", sketching.written(SketchWriter::heldBoundCount));
        values.put("lds_rli_flows", sketching.written(SketchWriter::bothFlowCount));
        values.put("lds_rli_agreed", sketching.written(SketchWriter::bothAgreedCount));
        values.put("compared_flows", sketching.errors().count());
        values.put("joint_flows", sketching.written(SketchWriter::jointFlowCount));
        values.put("joint_bounded_flows", sketching.written(SketchWriter::jointBoundedFlowCount));
        values.put("joint_bounds_held", sketching.written(SketchWriter::jointHeldBoundCount));
        values.put("reconcile_loss_flows", sketching.written(SketchWriter::listedFlowCount));
        values.put("reconcile_loss_agreed", sketching.written(SketchWriter::listedAgreedCount));
        unexplained.put("unexplained_reconcile_packets",
            sketching.sum((each) -> SketchCounter.unexplainedCached(each.counters())));
        for (int i = 0; i < senders.size(); i++) {
            for (final SketchCounter each : SketchCounter.values()) {
                values.put(each.label() + senderSuffix(i), sketching.of(i).counters().get(each));
            }
        }
        unexplained.put("unexplained_joint_estimates",
            sketching.sum((each) -> SketchCounter.unexplainedEstimates(each.counters())));
        unexplained.put("unexplained_lds_sent", sketching.sum((each) -> SketchCounter.unexplainedSent(each.counters())));
        unexplained.put("unexplained_lds_received", sketching.sum((each) -> SketchCounter.unexplainedReceived(each.counters())));
        unexplained.put("unexplained_lds_records", sketching.sum((each) -> SketchCounter.unexplainedRecords(each.counters())));
    }

    /** Adds each counter per sender, if there are several senders. */
    private void tellSenders(final Map<String, Long> values) {
        for (int i = 0; i < senders.size(); i++) {
            for (final ReceiverCounter each : ReceiverCounter.values()) {
                long sum = 0;
                for (int j = 0; j < classCount; j++) {
                    sum += receiver.counter(i * classCount + j, each);
                }
                values.put(each.label() + senderSuffix(i), sum);
            }
        }
    }

    private String senderSuffix(final int senderIndex) {
        return "_session_" + senders.get(senderIndex).session();
    }

    private String classSuffix(final int classIndex) {
        return classCount == 1 ? "" : "_class_" + classIndex;
    }

    private long unexplainedEstimates() {
        return receiver.counter(ReceiverCounter.PACKETS) - receiver.counter(ReceiverCounter.BUFFERED) -
            receiver.counter(ReceiverCounter.ESTIMATED) - receiver.counter(ReceiverCounter.FLOW_ENDED) -
            receiver.counter(ReceiverCounter.WITHOUT_REFERENCE) - receiver.counter(ReceiverCounter.OVERFLOW) -
            receiver.counter(ReceiverCounter.SILENCE) - receiver.counter(ReceiverCounter.RESTART) -
            receiver.counter(ReceiverCounter.CLOCK_STEP);
    }

    private long unexplainedReferences() {
        return receiver.counter(ReceiverCounter.REFERENCES) - receiver.counter(ReceiverCounter.REFERENCES_WAITING) -
            receiver.counter(ReceiverCounter.REFERENCES_SETTLED) - receiver.counter(ReceiverCounter.REFERENCES_DUPLICATED) -
            receiver.counter(ReceiverCounter.REFERENCES_OUT_OF_ORDER) -
            receiver.counter(ReceiverCounter.REFERENCES_TOO_OLD) - receiver.counter(ReceiverCounter.REFERENCES_BACKWARDS);
    }
}
