package io.flowlag.exporter.delay;

import io.flowlag.exporter.sketching.IntervalAnswer;
import io.flowlag.exporter.status.AggregateDelay;
import io.flowlag.exporter.status.ReconcileStatistics;
import io.flowlag.sketch.reconcile.AggregateEstimate;

import java.util.ArrayList;
import java.util.List;
import java.util.Locale;

/**
 * Adds up what reconciliation says of each class, interval by interval. A loss that is not known in one interval is not known in
 * all. The metering thread owns it. Allocates at construction and in {@link #statistics}.
 */
final class ReconciledAggregates {
    private final TrafficClasses classes;
    private final double[] samples;
    private final double[] meanNs;
    private final double[] deviationsNs2;
    private final long[] lostPackets;
    private final boolean[] isLossUnknown;

    ReconciledAggregates(final TrafficClasses classes) {
        this.classes = classes;
        samples = new double[classes.count()];
        meanNs = new double[classes.count()];
        deviationsNs2 = new double[classes.count()];
        lostPackets = new long[classes.count()];
        isLossUnknown = new boolean[classes.count()];
    }

    void add(final IntervalAnswer answer) {
        for (int i = 0; answer.reconcileStatus() != null && i < samples.length; i++) {
            final AggregateEstimate estimate = answer.reconciled(i);
            if (estimate != null && estimate.hasMean()) {
                final double before = samples[i];
                final double distanceNs = estimate.meanNs() - meanNs[i];
                samples[i] += estimate.samples();
                meanNs[i] += distanceNs * estimate.samples() / samples[i];
                deviationsNs2[i] += distanceNs * distanceNs * before * estimate.samples() / samples[i];
                if (estimate.hasStandardDeviation()) {
                    deviationsNs2[i] += estimate.samples() * estimate.standardDeviationNs() * estimate.standardDeviationNs();
                }
            }
            if (hasLoss(answer, estimate)) {
                lostPackets[i] += estimate.lostPackets();
            } else {
                isLossUnknown[i] = true;
            }
        }
    }

    private static boolean hasLoss(final IntervalAnswer answer, final AggregateEstimate estimate) {
        return !answer.isCut() && estimate != null && estimate.hasLoss();
    }

    /** {@return of the interval, and of all so far; null if nothing is reconciled} */
    ReconcileStatistics statistics(final IntervalAnswer answer) {
        if (answer.reconcileStatus() == null) {
            return null;
        }
        final List<AggregateDelay> interval = new ArrayList<>();
        final List<AggregateDelay> total = new ArrayList<>();
        for (int i = 0; i < samples.length; i++) {
            final AggregateEstimate estimate = answer.reconciled(i);
            final boolean hasMean = estimate != null && estimate.hasMean();
            interval.add(new AggregateDelay(
                classes.dscp(i), hasMean ? Math.round(estimate.samples()) : 0, hasMean ? Math.round(estimate.meanNs()) : null,
                hasMean && estimate.hasStandardDeviation() ? Math.round(estimate.standardDeviationNs()) : null,
                hasLoss(answer, estimate) ? estimate.lostPackets() : null));
            total.add(new AggregateDelay(
                classes.dscp(i), Math.round(samples[i]), samples[i] > 0 ? Math.round(meanNs[i]) : null,
                samples[i] > 0 ? Math.round(Math.sqrt(deviationsNs2[i] / samples[i])) : null,
                isLossUnknown[i] ? null : lostPackets[i]));
        }
        return new ReconcileStatistics(
            answer.startNs(), answer.endNs(), answer.reconcileStatus().name().toLowerCase(Locale.ROOT), answer.reconcileOctets(),
            interval, total);
    }
}
