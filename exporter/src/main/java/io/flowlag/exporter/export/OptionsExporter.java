package io.flowlag.exporter.export;

import io.flowlag.exporter.config.ExporterConfig;
import io.flowlag.exporter.config.Sampling;
import io.flowlag.exporter.status.AggregateDelay;
import io.flowlag.exporter.status.CounterId;
import io.flowlag.exporter.status.Counters;
import io.flowlag.exporter.status.DelayView;
import io.flowlag.exporter.status.IntervalDelays;
import io.flowlag.exporter.status.JointStatistics;
import io.flowlag.exporter.status.ReconcileStatistics;
import io.flowlag.exporter.status.SegmentDescription;
import io.flowlag.exporter.status.SketchStatistics;
import io.flowlag.ipfix.element.InformationElement;
import io.flowlag.ipfix.session.ExportingSession;
import io.flowlag.ipfix.session.OptionsWriter;
import io.flowlag.ipfix.session.SessionCounter;
import io.flowlag.ipfix.session.SessionStatistics;
import io.flowlag.ipfix.template.TemplateCatalog;

import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.concurrent.TimeUnit;
import java.util.function.Supplier;

/**
 * The options records of one session.
 * <ul>
 * <li>At the start of each Transport Session and at the refresh interval: descriptions of the enterprise elements (RFC 5610),
 *     the names of interfaces, and how packets (RFC 5477) and flows (RFC 7014) are sampled, which is sent even where options
 *     are off.
 * <li>At the options interval: statistics and reliability of Metering and Exporting Process (RFC 7011 sections 4.1 to 4.3) and
 *     the segment.
 * <li>At each measurement interval: delays by class.
 * </ul>
 * A record that the session cannot take is not sent again before its next turn. The exporting thread owns it. Allocates at
 * construction, when options templates are first needed, and with delay at each measurement interval.
 */
final class OptionsExporter {
    private static final List<AggregateDelay> NONE = List.of();
    /** Of the selector of packets. */
    private static final int SELECTOR_ID = 1;
    /** Of the selector of conversations. */
    private static final int FLOW_SELECTOR_ID = 2;

    private final ExportingSession session;
    private final OptionsWriter writer;
    private final boolean isOn;
    private final int observationDomainId;
    private final Sampling sampling;
    private final boolean isSampled;
    private final long intervalMs;
    /** Between two descriptions in one Transport Session; 0 for one only. */
    private final long descriptionIntervalMs;
    private final List<InformationElement> elements;
    private final Map<Integer, String> interfaceNames;
    private final DelayOptionsWriter delayWriter;
    private final Supplier<List<? extends DelayView>> delaySource;
    private final Counters counters;

    private final List<Told> told = new ArrayList<>();
    private long describedSession;
    private long nextDescriptionMs;
    private long nextStatisticsMs;
    private long ignoredPackets;
    private long firstIgnoredMs;
    private long lastIgnoredMs;
    private long notSentRecords;
    private long firstNotSentMs;
    private long lastNotSentMs;

    /**
     * Options records of a session.
     *
     * @param spec           of the destination; may switch all options off.
     * @param elements       enterprise elements to describe; may be empty.
     * @param interfaceNames by interface index; may be empty.
     * @param delaySource    supplies the delay statistics by segment; empty while there are none, or none are sent.
     */
    OptionsExporter(
        final ExportingSession session,
        final TemplateCatalog catalog,
        final ExporterConfig config,
        final ExporterConfig.Destination spec,
        final List<InformationElement> elements,
        final Map<Integer, String> interfaceNames,
        final Supplier<List<? extends DelayView>> delaySource,
        final Counters counters) {
        this.session = session;
        writer = new OptionsWriter(session, catalog);
        delayWriter = new DelayOptionsWriter(session, catalog);
        isOn = spec.options();
        observationDomainId = (int)config.observationDomainId();
        sampling = config.metering().sampling();
        isSampled = sampling.isOn();
        intervalMs = TimeUnit.NANOSECONDS.toMillis(spec.optionsIntervalNs());
        descriptionIntervalMs = spec.address().transport() == ExporterConfig.Transport.UDP ?
            TimeUnit.NANOSECONDS.toMillis(spec.refresh().intervalNs()) : 0;
        this.elements = elements;
        this.interfaceNames = interfaceNames;
        this.delaySource = delaySource;
        this.counters = counters;
        // A destination that joins later reports what is measured from then on.
        delaySource.get().forEach((each) -> told.add(new Told(each.intervalCount())));
    }

    /** What records have told of a segment. */
    private static final class Told {
        private long intervals;
        private int summaries;
        private List<SketchStatistics> sketches = List.of();

        Told(final long intervals) {
            this.intervals = intervals;
        }
    }

    private Told told(final int segment) {
        if (segment == told.size()) {
            told.add(new Told(0));
        }
        return told.get(segment);
    }

    /** {@return whether no session has begun with how packets are sampled: without it counts of flows mislead} */
    boolean isSamplingDue() {
        return isSampled && describedSession == 0;
    }

    /** Sends what is due now, UNIX epoch. Returns how many records were written. */
    int doWork(final long nowMs) {
        final long transportSession = session.transportSessionCount();
        if (!isOn && !isSampled || transportSession == 0) {
            return 0;
        }
        noteLosses(nowMs);
        int workCount = 0;
        final boolean isRefreshDue = descriptionIntervalMs > 0 && isDue(nextDescriptionMs, descriptionIntervalMs, nowMs);
        if (transportSession != describedSession || isRefreshDue) {
            describedSession = transportSession;
            nextDescriptionMs = nowMs + descriptionIntervalMs;
            workCount += describe(nowMs);
        }
        if (!isOn) {
            return workCount;
        }
        workCount += writeIntervals(nowMs);
        if (isDue(nextStatisticsMs, intervalMs, nowMs)) {
            workCount += nextStatisticsMs == 0 ? 0 : writeStatistics(nowMs);
            nextStatisticsMs = nowMs + intervalMs;
        }
        return workCount;
    }

    /** A clock that was set back makes everything due; otherwise it might never be. */
    private static boolean isDue(final long nextMs, final long intervalMs, final long nowMs) {
        return nowMs >= nextMs || nextMs - nowMs > intervalMs;
    }

    /** Writes the statistics a last time, before the session ends. */
    void doLastWork(final long nowMs) {
        if (!isOn) {
            return;
        }
        if (session.transportSessionCount() > 0) {
            noteLosses(nowMs);
            writeIntervals(nowMs);
            writeStatistics(nowMs);
        }
        final List<? extends DelayView> delays = delaySource.get();
        for (int i = 0; i < delays.size(); i++) {
            counters.add(CounterId.INTERVAL_SUMMARIES_SKIPPED, delays.get(i).intervalCount() - told(i).intervals);
        }
    }

    /**
     * Writes a summary of each class for each ended measurement interval, once. Continues where the session took no more. Returns
     * how many records were written.
     */
    private int writeIntervals(final long nowMs) {
        final List<? extends DelayView> delays = delaySource.get();
        int count = 0;
        for (int i = 0; i < delays.size(); i++) {
            count += writeIntervals(delays.get(i), told(i), nowMs);
        }
        return count;
    }

    private int writeIntervals(final DelayView delay, final Told told, final long nowMs) {
        final long endedCount = delay.intervalCount();
        int count = 0;
        while (told.intervals < endedCount) {
            final List<IntervalDelays> interval = delay.interval(told.intervals);
            if (interval == null) {
                counters.increment(CounterId.INTERVAL_SUMMARIES_SKIPPED);
            } else {
                while (told.summaries < DelayOptionsWriter.KINDS.size() * interval.size()) {
                    final IntervalDelays delays = interval.get(told.summaries / DelayOptionsWriter.KINDS.size());
                    final String kind = DelayOptionsWriter.KINDS.get(told.summaries % DelayOptionsWriter.KINDS.size());
                    final int result = delayWriter.summary(delay.segment().segmentId(), delays, kind, nowMs);
                    if (result == ExportingSession.BLOCKED) {
                        return count;
                    }
                    told.summaries++;
                    count += result >= 0 ? 1 : 0;
                }
            }
            told.summaries = 0;
            told.intervals++;
        }
        return count + writeAggregates(delay, told, nowMs);
    }

    /** Writes the aggregators' result of the last compared interval, and the last joint estimation. */
    private int writeAggregates(final DelayView delay, final Told told, final long nowMs) {
        final List<SketchStatistics> senders = delay.sketches();
        int count = 0;
        for (int i = 0; i < senders.size(); i++) {
            final SketchStatistics before = i < told.sketches.size() ? told.sketches.get(i) : null;
            if (senders.get(i) != before) {
                count += writeAggregates(delay.segment().segmentId() + i, senders.get(i), before, nowMs);
            }
        }
        told.sketches = senders;
        return count;
    }

    private int writeAggregates(
        final long segmentId, final SketchStatistics sketches, final SketchStatistics before, final long nowMs) {
        int count = 0;
        for (final AggregateDelay aggregate : before != null && before.isOfInterval(sketches) ? NONE : sketches.interval()) {
            count += delayWriter.aggregate(
                segmentId, DelayOptionsWriter.AGGREGATOR, sketches.startNs(), sketches.endNs(), aggregate, nowMs);
        }
        final ReconcileStatistics reconciled = sketches.reconcile();
        for (final AggregateDelay aggregate : reconciled == null || before != null && before.reconcile() != null &&
            before.reconcile().startNs() == reconciled.startNs() ? NONE : reconciled.interval()) {
            count += delayWriter.aggregate(
                segmentId, DelayOptionsWriter.RECONCILED, reconciled.startNs(), reconciled.endNs(), aggregate, nowMs);
        }
        final JointStatistics joint = sketches.joint();
        if (joint != null && (before == null || before.joint() != joint)) {
            count += delayWriter.joint(segmentId, joint, nowMs);
        }
        return count;
    }

    /**
     * Writes the time window of the flows of a file (RFC 5655 section 8.1.2).
     *
     * @param firstStartMs the earliest start of a flow.
     * @param lastEndMs    the latest end of a flow.
     * @param nowMs        the time now, UNIX epoch.
     */
    void writeTimeWindow(final long firstStartMs, final long lastEndMs, final long nowMs) {
        if (isOn) {
            writer.timeWindow(firstStartMs, lastEndMs, nowMs);
        }
    }

    private int describe(final long nowMs) {
        if (sampling.isRandom()) {
            writer.randomSampling(SELECTOR_ID, sampling.packets(), nowMs);
        } else if (sampling.packets() > 1) {
            writer.sampling(SELECTOR_ID, 1, sampling.packets() - 1L, nowMs);
        }
        if (sampling.conversations() > 1) {
            writer.flowSelection(FLOW_SELECTOR_ID, sampling.conversations(), nowMs);
        }
        if (!isOn) {
            return 1;
        }
        for (int i = 0; i < elements.size(); i++) {
            writer.typeInformation(elements.get(i), nowMs);
        }
        for (final Map.Entry<Integer, String> each : interfaceNames.entrySet()) {
            writer.interfaceName(each.getKey(), each.getValue(), "", nowMs);
        }
        return elements.size() + interfaceNames.size();
    }

    private int writeStatistics(final long nowMs) {
        final SessionStatistics statistics = session.statistics();
        writer.meteringStatistics(
            observationDomainId,
            statistics.get(SessionCounter.MESSAGES),
            statistics.recordsExported(),
            statistics.get(SessionCounter.OCTETS),
            nowMs);
        int count = 1;
        for (final DelayView delay : delaySource.get()) {
            for (final SegmentDescription each : delay.segment().each()) {
                delayWriter.segment(each, nowMs);
                count++;
            }
        }
        if (ignoredPackets > 0) {
            writer.between(firstIgnoredMs, lastIgnoredMs).meteringReliability(
                observationDomainId, ignoredPackets, counters.get(CounterId.IGNORED_OCTETS), nowMs);
            count++;
        }
        if (notSentRecords > 0) {
            writer.between(firstNotSentMs, lastNotSentMs).exportingReliability(
                observationDomainId,
                notSentRecords,
                statistics.get(SessionCounter.PACKETS_NOT_SENT) + counters.get(CounterId.DROPPED_AT_RECORD_RING_PACKETS),
                statistics.get(SessionCounter.OCTETS_NOT_SENT) + counters.get(CounterId.DROPPED_AT_RECORD_RING_OCTETS),
                nowMs);
            count++;
        }
        return count;
    }

    private void noteLosses(final long nowMs) {
        final long ignored = counters.refused() + counters.get(CounterId.DROPPED_AT_PACKET_RING) +
            counters.get(CounterId.LOST_IN_KERNEL);
        if (ignored != ignoredPackets) {
            firstIgnoredMs = ignoredPackets == 0 ? nowMs : firstIgnoredMs;
            lastIgnoredMs = nowMs;
            ignoredPackets = ignored;
        }
        final long notSent = session.statistics().recordsFailed() + counters.get(CounterId.DROPPED_AT_RECORD_RING);
        if (notSent != notSentRecords) {
            firstNotSentMs = notSentRecords == 0 ? nowMs : firstNotSentMs;
            lastNotSentMs = nowMs;
            notSentRecords = notSent;
        }
    }
}
