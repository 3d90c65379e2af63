package io.flowlag.exporter.delay;

import io.flowlag.exporter.sketching.IntervalAnswer;
import io.flowlag.exporter.status.AggregateDelay;
import io.flowlag.sketch.lda.LdaEstimate;

import java.util.ArrayList;
import java.util.List;

/**
 * Adds up what the aggregators of each class say, interval by interval. A loss that is not known in one interval is not known in
 * all. The metering thread owns it. Allocates at construction and in {@link #interval} and {@link #total}.
 */
final class Aggregates {
    private final TrafficClasses classes;
    private final double[] samples;
    private final double[] meanNs;
    private final double[] deviationsNs2;
    private final boolean[] hasDeviation;
    private final long[] lostPackets;
    private boolean isLossKnown = true;
    private boolean hasSums;

    Aggregates(final TrafficClasses classes) {
        this.classes = classes;
        samples = new double[classes.count()];
        meanNs = new double[classes.count()];
        deviationsNs2 = new double[classes.count()];
        hasDeviation = new boolean[classes.count()];
        lostPackets = new long[classes.count()];
    }

    void add(final IntervalAnswer answer) {
        isLossKnown &= answer.hasLoss() && hasValues(answer);
        if (!answer.hasSketches()) {
            addSums(answer);
            return;
        }
        for (int i = 0; i < samples.length; i++) {
            final LdaEstimate estimate = answer.aggregator(i);
            if (estimate.hasMean()) {
                final double before = samples[i];
                final double distanceNs = estimate.meanNs() - meanNs[i];
                samples[i] += estimate.samples();
                meanNs[i] += distanceNs * estimate.samples() / samples[i];
                deviationsNs2[i] += distanceNs * distanceNs * before * estimate.samples() / samples[i];
                if (estimate.hasStandardDeviation()) {
                    deviationsNs2[i] += estimate.samples() * estimate.standardDeviationNs() * estimate.standardDeviationNs();
                    hasDeviation[i] = true;
                }
            }
            lostPackets[i] += answer.hasLoss() ? estimate.lostPackets() : 0;
        }
    }

    /** Sums of flows know no classes: they tell of all traffic, where that is one class. */
    private boolean hasValues(final IntervalAnswer answer) {
        return answer.hasSketches() || samples.length == 1;
    }

    private void addSums(final IntervalAnswer answer) {
        if (hasValues(answer) && answer.exactPackets() > 0) {
            samples[0] += answer.exactPackets();
            meanNs[0] += (answer.exactMeanNs() - meanNs[0]) * answer.exactPackets() / samples[0];
            hasSums = true;
        }
        lostPackets[0] += answer.hasLoss() && hasValues(answer) ? answer.lostPackets() : 0;
    }

    private List<AggregateDelay> sums(final IntervalAnswer answer) {
        final List<AggregateDelay> list = new ArrayList<>();
        for (int i = 0; i < samples.length; i++) {
            final boolean hasMean = hasValues(answer) && answer.exactPackets() > 0;
            list.add(new AggregateDelay(
                classes.dscp(i), hasMean ? answer.exactPackets() : 0, hasMean ? Math.round(answer.exactMeanNs()) : null, null,
                hasValues(answer) && answer.hasLoss() ? answer.lostPackets() : null));
        }
        return list;
    }

    List<AggregateDelay> interval(final IntervalAnswer answer) {
        if (!answer.hasSketches()) {
            return sums(answer);
        }
        final List<AggregateDelay> list = new ArrayList<>();
        for (int i = 0; i < samples.length; i++) {
            final LdaEstimate estimate = answer.aggregator(i);
            list.add(new AggregateDelay(
                classes.dscp(i), estimate.samples(), estimate.hasMean() ? Math.round(estimate.meanNs()) : null,
                estimate.hasStandardDeviation() ? Math.round(estimate.standardDeviationNs()) : null,
                answer.hasLoss() ? estimate.lostPackets() : null));
        }
        return list;
    }

    List<AggregateDelay> total() {
        final List<AggregateDelay> list = new ArrayList<>();
        for (int i = 0; i < samples.length; i++) {
            final boolean hasMean = samples[i] > 0;
            list.add(new AggregateDelay(
                classes.dscp(i), Math.round(samples[i]), hasMean ? Math.round(meanNs[i]) : null,
                hasMean && hasDeviation[i] && !hasSums ? Math.round(Math.sqrt(deviationsNs2[i] / samples[i])) : null,
                isLossKnown ? lostPackets[i] : null));
        }
        return list;
    }
}
