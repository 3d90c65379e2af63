package io.flowlag.exporter.export;

import io.flowlag.exporter.delay.FlowDelay;
import io.flowlag.exporter.status.AggregateDelay;
import io.flowlag.exporter.status.ClockEstimate;
import io.flowlag.exporter.status.DelayDistribution;
import io.flowlag.exporter.status.DelaySummary;
import io.flowlag.exporter.status.IntervalDelays;
import io.flowlag.exporter.status.JointStatistics;
import io.flowlag.exporter.status.SegmentDescription;
import io.flowlag.ipfix.message.RecordEncoder;
import io.flowlag.ipfix.message.Values;
import io.flowlag.ipfix.message.VariableLength;
import io.flowlag.ipfix.session.ExportingSession;
import io.flowlag.ipfix.template.Template;
import io.flowlag.ipfix.template.TemplateCatalog;

import java.util.ArrayList;
import java.util.List;
import java.util.Locale;

/**
 * Writes the options records of delay: the segment, and a summary of each traffic class per measurement interval, one of the
 * estimates and one of the references. Quantiles with too few delays are absent. The exporting thread owns it. Allocates when a
 * template is first needed.
 */
final class DelayOptionsWriter {
    private static final String MATCHED = "matched";
    private static final String REFERENCES = "references";
    /** The statistics of a class, in the order of the records. */
    static final List<String> KINDS = List.of(MATCHED, "estimates", REFERENCES);

    private static final long NS_PER_MS = 1_000_000L;
    private static final double PARTS_PER_BILLION = 1e9;
    private static final int ECN_BITS = 2;
    /** Name of the aggregators' (LDA) records. */
    static final String AGGREGATOR = "aggregator";
    /** Name of reconciliation's (RDA) records. */
    static final String RECONCILED = "reconciled";
    /** Number of delays from which each further group of quantiles exists: 10 / (1 - q). */
    private static final int QUANTILE_GROUPS = 5;
    /** Instead of a number of groups, for a record without the smallest and the largest delay. */
    private static final int NO_EXTREMES = -1;
    /** What a record has besides, as bits. */
    private static final int CLASS = 1;
    private static final int PACKETS = 2;
    private static final int DEVIATION = 4;
    private static final int BOUND = 8;
    private static final int LOSS = 16;
    private static final int HISTOGRAM = 32;
    private static final int CLOCK = 64;
    private static final int CORRECTED = 128;
    private static final int SHAPES = 256;
    /** No record of a class is longer, without its histogram. */
    private static final int LONGEST_BYTES = 192;
    private static final int MAXIMUM_POINTS = 2;
    private static final int MAXIMUM_NAME_LENGTH = 128;
    private static final String[][] QUANTILES = {
        {"flowlagDelayP50Nanoseconds"}, {"flowlagDelayP90Nanoseconds"}, {"flowlagDelayP95Nanoseconds"},
        {"flowlagDelayP99Nanoseconds"}, {"flowlagDelayP999Nanoseconds", "flowlagDelayVariationNanoseconds"}};

    private final ExportingSession session;
    private final TemplateCatalog catalog;
    private final RecordEncoder encoder = new RecordEncoder();
    private final Template[] segmentTemplates = new Template[2 * (MAXIMUM_POINTS + 1)];
    private final Template[] summaryTemplates = new Template[SHAPES * (QUANTILE_GROUPS + 2)];
    private final Template[] jointTemplates = new Template[2];

    /** A writer for one session. */
    DelayOptionsWriter(final ExportingSession session, final TemplateCatalog catalog) {
        this.session = session;
        this.catalog = catalog;
    }

    /** Writes the segment: its number, how it is measured, its points, and the bound of its clock difference. */
    int segment(final SegmentDescription segment, final long nowMs) {
        final boolean hasClock = segment.clockErrorNs() >= 0;
        final int pointCount = Math.min(segment.points().size(), MAXIMUM_POINTS);
        final int shape = 2 * pointCount + (hasClock ? 1 : 0);
        if (segmentTemplates[shape] == null) {
            segmentTemplates[shape] = segmentTemplate(pointCount, hasClock);
        }
        final String[] texts = new String[1 + pointCount];
        texts[0] = text(segment);
        for (int i = 0; i < pointCount; i++) {
            texts[1 + i] = shortened(segment.points().get(i));
        }
        final int claimed = claim(segmentTemplates[shape], 0, nowMs, texts);
        if (claimed >= 0) {
            encoder.unsigned(segment.segmentId());
            for (final String each : texts) {
                encoder.string(each);
            }
            if (hasClock) {
                encoder.unsigned(segment.clockErrorNs());
            }
            session.commit();
        }
        return claimed;
    }

    private Template segmentTemplate(final int pointCount, final boolean hasClock) {
        final List<String> names = new ArrayList<>(List.of("flowlagSegmentId", "selectorName"));
        for (int i = 0; i < pointCount; i++) {
            names.add("interfaceName");
        }
        if (hasClock) {
            names.add("flowlagClockErrorBoundNanoseconds");
        }
        return catalog.optionsTemplate(1, names.toArray(new String[0]));
    }

    private static String text(final SegmentDescription segment) {
        final StringBuilder text = new StringBuilder(segment.role());
        if (!segment.policy().isEmpty()) {
            text.append(" rli ").append(segment.policy());
        }
        if (!segment.dscps().isEmpty()) {
            text.append(", classes");
            segment.dscps().forEach((dscp) -> text.append(' ').append(dscp));
        }
        return text.append(", clock ").append(segment.isClockSynchronized() ? "synchronized" : "unknown").toString();
    }

    /** Keeps the end of a path, which is more specific. */
    private static String shortened(final String name) {
        return name.length() <= MAXIMUM_NAME_LENGTH ? name : name.substring(name.length() - MAXIMUM_NAME_LENGTH);
    }

    /**
     * Writes one class in one measurement interval: its matched packets, its estimates, or its references and their losses. The
     * best delays of regular packets have a histogram, unless the session's messages are too short.
     *
     * @param segmentId of the process, where it has one segment; those of further senders follow it.
     * @param kind      which, of {@link #KINDS}.
     * @param nowMs     milliseconds since the UNIX epoch.
     * @return as {@link ExportingSession#claim}; {@link ExportingSession#NOT_SENT} if there is no data.
     */
    int summary(final long segmentId, final IntervalDelays interval, final String kind, final long nowMs) {
        final DelaySummary summary = interval.summary();
        final boolean isReferences = REFERENCES.equals(kind);
        final DelayDistribution delays = isReferences ? summary.references() :
            MATCHED.equals(kind) ? summary.matched() : summary.estimates();
        if (delays.count() == 0) {
            return ExportingSession.NOT_SENT;
        }
        final long boundNs = isReferences ? interval.referencesBoundNs() :
            MATCHED.equals(kind) ? interval.matchedBoundNs() : interval.estimatesBoundNs();
        final boolean hasLoss = isReferences && summary.lostReferences() >= 0;
        final int groups = quantileGroups(delays);
        final int shape = (summary.dscp() >= 0 ? CLASS : 0) | PACKETS | (delays.standardDeviationNs() != null ? DEVIATION : 0) |
            (boundNs >= 0 ? BOUND : 0) | (hasLoss ? LOSS : 0) | (interval.clock().isKnown() ? CLOCK : 0) |
            (interval.clock().isCorrected() ? CORRECTED : 0);
        final int histogramBytes = VariableLength.encodedLengthBytes(interval.histogram().length);
        final boolean hasHistogram = delays == summary.delays() &&
            LONGEST_BYTES + histogramBytes <= session.maxRecordBytes();
        final Template template = template(shape | (hasHistogram ? HISTOGRAM : 0), groups);
        final int claimed = claim(template, hasHistogram ? histogramBytes - 1 : 0, nowMs, kind);
        if (claimed < 0) {
            return claimed;
        }
        final long id = summary.segment() == null ? segmentId + summary.senderIndex() : summary.segment().id();
        begin(id, summary.dscp(), kind, summary.startNs(), summary.endNs());
        encoder.unsigned(interval.packets()).unsigned(delays.count()).signed(delays.meanNs());
        if (has(shape, DEVIATION)) {
            encoder.unsigned(delays.standardDeviationNs());
        }
        if (has(shape, BOUND)) {
            encoder.unsigned(boundNs);
        }
        encoder.signed(delays.minimumNs()).signed(delays.maximumNs());
        if (hasLoss) {
            encoder.unsigned(summary.lostReferences());
        }
        final Long[] quantiles = quantiles(delays);
        for (int i = 0; i < groups; i++) {
            encoder.signed(quantiles[i]);
        }
        if (groups == QUANTILE_GROUPS) {
            encoder.unsigned(delays.delayVariationNs());
        }
        writeClock(shape, interval.clock());
        if (hasHistogram) {
            encoder.octets(interval.histogram());
        }
        session.commit();
        return claimed;
    }

    /**
     * Writes the result of a class's aggregators, or of reconciliation, for one measurement interval.
     *
     * @param startNs   of the interval; null before the first, which writes nothing.
     * @param aggregate of the class; nothing is written without a mean.
     * @param nowMs     milliseconds since the UNIX epoch.
     * @return how many records were written.
     */
    int aggregate(
        final long segmentId, final String name, final Long startNs, final Long endNs, final AggregateDelay aggregate,
        final long nowMs) {
        if (startNs == null || aggregate.meanNs() == null) {
            return 0;
        }
        final int shape = (aggregate.dscp() >= 0 ? CLASS : 0) | (aggregate.packets() != null ? PACKETS : 0) |
            (aggregate.standardDeviationNs() != null ? DEVIATION : 0) | (aggregate.boundNs() != null ? BOUND : 0) |
            (aggregate.lostPackets() != null && aggregate.lostPackets() >= 0 ? LOSS : 0);
        final int claimed = claim(template(shape, NO_EXTREMES), 0, nowMs, name);
        if (claimed < 0) {
            return 0;
        }
        begin(segmentId, aggregate.dscp(), name, startNs, endNs);
        if (has(shape, PACKETS)) {
            encoder.unsigned(aggregate.packets());
        }
        encoder.unsigned(aggregate.samples()).signed(aggregate.meanNs());
        if (has(shape, DEVIATION)) {
            encoder.unsigned(aggregate.standardDeviationNs());
        }
        if (has(shape, BOUND)) {
            encoder.unsigned(aggregate.boundNs());
        }
        if (has(shape, LOSS)) {
            encoder.unsigned(aggregate.lostPackets());
        }
        session.commit();
        return 1;
    }

    /**
     * Writes the result of one measurement interval with joint estimation: the mean of all packets, its estimator and bound, and
     * the residual.
     *
     * @param joint of the interval; nothing is written without a mean.
     * @param nowMs milliseconds since the UNIX epoch.
     * @return how many records were written.
     */
    int joint(final long segmentId, final JointStatistics joint, final long nowMs) {
        if (joint.meanNs() == null) {
            return 0;
        }
        final boolean hasBound = joint.boundNs() != null;
        final Template template = jointTemplate(hasBound);
        final String name = String.format(Locale.ROOT, "joint %s %s, health %.2f, %d witnesses, bounds for %d of %d flows",
            joint.status(), joint.tier(), joint.health(), joint.witnesses(), joint.vouchedFlows(), joint.answeredFlows());
        final int claimed = claim(template, 0, nowMs, name);
        if (claimed < 0) {
            return 0;
        }
        begin(segmentId, -1, name, joint.startNs(), joint.endNs());
        encoder.unsigned(switch (joint.status()) {
            case "rli" -> FlowDelay.ESTIMATOR_INTERPOLATED;
            case "lds" -> FlowDelay.ESTIMATOR_SKETCH;
            default -> FlowDelay.ESTIMATOR_JOINT;
        }).signed(joint.meanNs());
        if (hasBound) {
            encoder.unsigned(joint.boundNs());
        }
        session.commit();
        return 1;
    }

    private Template jointTemplate(final boolean hasBound) {
        final int shape = hasBound ? 1 : 0;
        if (jointTemplates[shape] == null) {
            final List<String> names = new ArrayList<>(List.of(
                "flowlagSegmentId", "selectorName", "observationTimeMilliseconds", "observationTimeMilliseconds",
                "flowlagDelayEstimator", "flowlagDelayMeanNanoseconds"));
            if (hasBound) {
                names.add("flowlagDelayErrorBoundNanoseconds");
            }
            jointTemplates[shape] = catalog.optionsTemplate(2, names.toArray(new String[0]));
        }
        return jointTemplates[shape];
    }

    private void begin(final long segmentId, final int dscp, final String name, final long startNs, final long endNs) {
        encoder.unsigned(segmentId);
        if (dscp >= 0) {
            encoder.unsigned((long)dscp << ECN_BITS);
        }
        encoder.string(name).timeNs(startNs / NS_PER_MS * NS_PER_MS).timeNs(endNs / NS_PER_MS * NS_PER_MS);
    }

    private void writeClock(final int shape, final ClockEstimate clock) {
        if (has(shape, CLOCK)) {
            encoder.unsigned(clock.errorNs(-1)).signed(clock.offsetNs()).floating(clock.drift() * PARTS_PER_BILLION);
        }
        if (has(shape, CORRECTED)) {
            encoder.signed(clock.offsetNs());
        }
    }

    private static Long[] quantiles(final DelayDistribution delays) {
        return new Long[] {delays.p50Ns(), delays.p90Ns(), delays.p95Ns(), delays.p99Ns(), delays.p999Ns()};
    }

    private static int quantileGroups(final DelayDistribution delays) {
        final Long[] quantiles = quantiles(delays);
        int groups = 0;
        while (groups < quantiles.length && quantiles[groups] != null) {
            groups++;
        }
        return groups;
    }

    private static boolean has(final int shape, final int part) {
        return (shape & part) != 0;
    }

    private Template template(final int shape, final int groups) {
        final int index = shape * (QUANTILE_GROUPS + 2) + groups + 1;
        if (summaryTemplates[index] == null) {
            final List<String> names = new ArrayList<>(List.of("flowlagSegmentId"));
            if (has(shape, CLASS)) {
                names.add("ipClassOfService");
            }
            names.add("selectorName");
            final int scopeCount = names.size();
            names.addAll(List.of("observationTimeMilliseconds", "observationTimeMilliseconds"));
            if (has(shape, PACKETS)) {
                names.add("packetDeltaCount");
            }
            names.addAll(List.of("flowlagDelaySampleCount", "flowlagDelayMeanNanoseconds"));
            if (has(shape, DEVIATION)) {
                names.add("flowlagDelayStandardDeviationNanoseconds");
            }
            if (has(shape, BOUND)) {
                names.add("flowlagDelayErrorBoundNanoseconds");
            }
            if (groups != NO_EXTREMES) {
                names.addAll(List.of("flowlagDelayMinimumNanoseconds", "flowlagDelayMaximumNanoseconds"));
            }
            if (has(shape, LOSS)) {
                names.add("flowlagLostPacketDeltaCount");
            }
            for (int i = 0; i < groups; i++) {
                names.addAll(List.of(QUANTILES[i]));
            }
            if (has(shape, CLOCK)) {
                names.addAll(List.of("flowlagClockErrorBoundNanoseconds", "flowlagClockOffsetNanoseconds",
                    "flowlagClockDriftPartsPerBillion"));
            }
            if (has(shape, CORRECTED)) {
                names.add("flowlagClockCorrectionNanoseconds");
            }
            if (has(shape, HISTOGRAM)) {
                names.add("flowlagDelayHistogram");
            }
            summaryTemplates[index] = catalog.optionsTemplate(scopeCount, names.toArray(new String[0]));
        }
        return summaryTemplates[index];
    }

    /** Claims room for the shortest record, other octets, and those of its strings, whose length octets are included already. */
    private int claim(final Template template, final int otherBytes, final long nowMs, final String... texts) {
        if (template == null) {
            return ExportingSession.NOT_SENT;
        }
        int lengthBytes = template.minLengthBytes() + otherBytes;
        for (final String each : texts) {
            lengthBytes += Values.stringLengthBytes(each) - 1;
        }
        final int offset = session.claim(template, lengthBytes, nowMs);
        if (offset >= 0) {
            encoder.wrap(session.buffer(), offset, template);
        }
        return offset;
    }
}
