package io.flowlag.exporter.record;

import io.flowlag.exporter.status.AggregateDelay;
import io.flowlag.exporter.status.DelayDistribution;
import io.flowlag.exporter.status.DelayStatistics;
import io.flowlag.exporter.status.DelaySummary;
import io.flowlag.exporter.status.SketchStatistics;
import io.flowlag.ipfix.message.RecordEncoder;
import io.flowlag.ipfix.message.Values;
import io.flowlag.ipfix.session.ExportingSession;
import io.flowlag.ipfix.template.Template;
import io.flowlag.ipfix.template.TemplateCatalog;

import java.util.ArrayList;
import java.util.List;

/**
 * Writes the options records of delay: the segment, and a summary of each traffic class for each measurement interval, once of
 * the estimates and once of the references. Quantiles for which there were too few delays are absent. The exporting thread owns
 * it. Allocates when a template is needed for the first time.
 */
final class DelayOptionsWriter {
    private static final long NS_PER_MS = 1_000_000L;
    private static final int ECN_BITS = 2;
    private static final String AGGREGATOR = "aggregator";
    /** From how many delays on each further group of quantiles exists: 10 / (1 - q). */
    private static final int QUANTILE_GROUPS = 5;
    private static final String[][] QUANTILES = {
        {"flowlagDelayP50Nanoseconds"}, {"flowlagDelayP90Nanoseconds"}, {"flowlagDelayP95Nanoseconds"},
        {"flowlagDelayP99Nanoseconds"}, {"flowlagDelayP999Nanoseconds", "flowlagDelayVariationNanoseconds"}};

    private final ExportingSession session;
    private final TemplateCatalog catalog;
    private final RecordEncoder encoder = new RecordEncoder();
    private final Template[] segmentTemplates = new Template[2];
    private final Template[] aggregateTemplates = new Template[8];
    private final Template[] summaryTemplates = new Template[2 * (QUANTILE_GROUPS + 1)];

    /**
     * A writer for one session.
     *
     * @param session takes the records.
     * @param catalog of the session.
     */
    DelayOptionsWriter(final ExportingSession session, final TemplateCatalog catalog) {
        this.session = session;
        this.catalog = catalog;
    }

    /**
     * What the segment is: its number, the policy of its references, and how far its clocks may be apart.
     *
     * @param delay of the process.
     * @param nowMs milliseconds since the UNIX epoch.
     * @return as {@link ExportingSession#claim}.
     */
    int segment(final DelayStatistics delay, final long nowMs) {
        final boolean hasClock = delay.clockErrorNs() >= 0;
        final int shape = hasClock ? 1 : 0;
        if (segmentTemplates[shape] == null) {
            segmentTemplates[shape] = hasClock ?
                catalog.optionsTemplate(1, "flowlagSegmentId", "selectorName", "flowlagClockErrorBoundNanoseconds") :
                catalog.optionsTemplate(1, "flowlagSegmentId", "selectorName");
        }
        final String name = delay.role() + " " + (delay.policy().isEmpty() ? "rli" : "rli " + delay.policy());
        final int claimed = claim(segmentTemplates[shape], Values.stringLengthBytes(name), nowMs);
        if (claimed >= 0) {
            encoder.unsigned(delay.segmentId()).string(name);
            if (hasClock) {
                encoder.unsigned(delay.clockErrorNs());
            }
            session.commit();
        }
        return claimed;
    }

    /**
     * What one class showed in one measurement interval.
     *
     * @param segmentId of the process.
     * @param summary   of the class.
     * @param nowMs     milliseconds since the UNIX epoch.
     * @return how many records were written.
     */
    int summary(final long segmentId, final DelaySummary summary, final long nowMs) {
        return distribution(segmentId, summary, "estimates", summary.estimates(), nowMs) +
            distribution(segmentId, summary, "references", summary.references(), nowMs);
    }

    private int distribution(
        final long segmentId, final DelaySummary summary, final String name, final DelayDistribution delays, final long nowMs) {
        if (delays.count() == 0) {
            return 0;
        }
        final boolean hasClass = summary.dscp() >= 0;
        final int groups = quantileGroups(delays);
        final int claimed = claim(template(hasClass, groups), Values.stringLengthBytes(name), nowMs);
        if (claimed < 0) {
            return 0;
        }
        encoder.unsigned(segmentId);
        if (hasClass) {
            encoder.unsigned((long)summary.dscp() << ECN_BITS);
        }
        encoder.string(name)
            .timeNs(summary.startNs() / NS_PER_MS * NS_PER_MS)
            .timeNs(summary.endNs() / NS_PER_MS * NS_PER_MS)
            .unsigned(delays.count())
            .signed(delays.meanNs())
            .unsigned(delays.standardDeviationNs())
            .signed(delays.minimumNs())
            .signed(delays.maximumNs());
        final Long[] quantiles = {delays.p50Ns(), delays.p90Ns(), delays.p95Ns(), delays.p99Ns(), delays.p999Ns()};
        for (int i = 0; i < groups; i++) {
            encoder.signed(quantiles[i]);
        }
        if (groups == QUANTILE_GROUPS) {
            encoder.unsigned(delays.delayVariationNs());
        }
        session.commit();
        return 1;
    }

    /**
     * What the aggregators of a class said of one measurement interval.
     *
     * @param segmentId of the process.
     * @param interval  of the sketches.
     * @param aggregate of the class; without a mean nothing is written.
     * @param nowMs     milliseconds since the UNIX epoch.
     * @return how many records were written.
     */
    int aggregate(
        final long segmentId, final SketchStatistics interval, final AggregateDelay aggregate, final long nowMs) {
        if (interval.startNs() == null || aggregate.meanNs() == null) {
            return 0;
        }
        final boolean hasClass = aggregate.dscp() >= 0;
        final boolean hasDeviation = aggregate.standardDeviationNs() != null;
        final boolean hasLoss = aggregate.lostPackets() != null && aggregate.lostPackets() >= 0;
        final int claimed = claim(
            aggregateTemplate(hasClass, hasDeviation, hasLoss), Values.stringLengthBytes(AGGREGATOR), nowMs);
        if (claimed < 0) {
            return 0;
        }
        encoder.unsigned(segmentId);
        if (hasClass) {
            encoder.unsigned((long)aggregate.dscp() << ECN_BITS);
        }
        encoder.string(AGGREGATOR)
            .timeNs(interval.startNs() / NS_PER_MS * NS_PER_MS)
            .timeNs(interval.endNs() / NS_PER_MS * NS_PER_MS)
            .unsigned(aggregate.samples())
            .signed(aggregate.meanNs());
        if (hasDeviation) {
            encoder.unsigned(aggregate.standardDeviationNs());
        }
        if (hasLoss) {
            encoder.unsigned(aggregate.lostPackets());
        }
        session.commit();
        return 1;
    }

    private Template aggregateTemplate(final boolean hasClass, final boolean hasDeviation, final boolean hasLoss) {
        final int shape = (hasClass ? 1 : 0) + (hasDeviation ? 2 : 0) + (hasLoss ? 4 : 0);
        if (aggregateTemplates[shape] == null) {
            final List<String> names = new ArrayList<>(List.of("flowlagSegmentId"));
            if (hasClass) {
                names.add("ipClassOfService");
            }
            names.add("selectorName");
            final int scopeCount = names.size();
            names.addAll(List.of(
                "observationTimeMilliseconds", "observationTimeMilliseconds", "flowlagDelaySampleCount",
                "flowlagDelayMeanNanoseconds"));
            if (hasDeviation) {
                names.add("flowlagDelayStandardDeviationNanoseconds");
            }
            if (hasLoss) {
                names.add("flowlagLostPacketDeltaCount");
            }
            aggregateTemplates[shape] = catalog.optionsTemplate(scopeCount, names.toArray(new String[0]));
        }
        return aggregateTemplates[shape];
    }

    private static int quantileGroups(final DelayDistribution delays) {
        final Long[] quantiles = {delays.p50Ns(), delays.p90Ns(), delays.p95Ns(), delays.p99Ns(), delays.p999Ns()};
        int groups = 0;
        while (groups < quantiles.length && quantiles[groups] != null) {
            groups++;
        }
        return groups;
    }

    private Template template(final boolean hasClass, final int groups) {
        final int shape = (hasClass ? QUANTILE_GROUPS + 1 : 0) + groups;
        if (summaryTemplates[shape] == null) {
            final List<String> names = new ArrayList<>(List.of("flowlagSegmentId"));
            if (hasClass) {
                names.add("ipClassOfService");
            }
            names.add("selectorName");
            final int scopeCount = names.size();
            names.addAll(List.of(
                "observationTimeMilliseconds", "observationTimeMilliseconds", "flowlagDelaySampleCount",
                "flowlagDelayMeanNanoseconds", "flowlagDelayStandardDeviationNanoseconds", "flowlagDelayMinimumNanoseconds",
                "flowlagDelayMaximumNanoseconds"));
            for (int i = 0; i < groups; i++) {
                names.addAll(List.of(QUANTILES[i]));
            }
            summaryTemplates[shape] = catalog.optionsTemplate(scopeCount, names.toArray(new String[0]));
        }
        return summaryTemplates[shape];
    }

    /** Claims the shortest record and the octets of its one string, whose length octet is in the shortest already. */
    private int claim(final Template template, final int stringLengthBytes, final long nowMs) {
        if (template == null) {
            return ExportingSession.NOT_SENT;
        }
        final int offset = session.claim(template, template.minLengthBytes() + stringLengthBytes - 1, nowMs);
        if (offset >= 0) {
            encoder.wrap(session.buffer(), offset, template);
        }
        return offset;
    }
}
