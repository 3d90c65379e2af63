package io.flowlag.exporter.delay;

import io.flowlag.exporter.delay.interval.compare.IntervalAnswer;
import io.flowlag.exporter.status.AggregateDelay;
import io.flowlag.exporter.status.ReconcileStatistics;
import io.flowlag.sketch.reconcile.AggregateEstimate;

import java.util.ArrayList;
import java.util.List;
import java.util.Locale;

/**
 * Adds up the delays and losses of each traffic class over the intervals, by reconciliation, from the first interval in which it
 * was tried. A loss that is unknown in one interval is unknown in total. Where the packets of a sample of flows were compared,
 * the loss is unknown, but mean and deviation of the sample stand. A class is identified by its DSCP, so that it continues when
 * classes change. The metering thread owns it. Allocates at a new class, in {@link #statistics} and in {@link #total}.
 */
final class ReconciledDelays {
    private final List<Total> totals = new ArrayList<>();
    private boolean hasBegun;
    private boolean isLossKnown = true;

    /** The sums of a class. */
    private static final class Total {
        private final int dscp;
        private final DelayTotal delays = new DelayTotal();
        private long lostPackets;
        private boolean isLossUnknown;

        private Total(final int dscp) {
            this.dscp = dscp;
        }

        private void add(final AggregateEstimate estimate) {
            delays.add(estimate.samples(), estimate.meanNs());
            if (estimate.hasStandardDeviation()) {
                delays.addDeviation(estimate.samples(), estimate.meanNs(), estimate.standardDeviationNs());
            }
        }

        private AggregateDelay delay(final boolean isLossKnown) {
            return new AggregateDelay(
                dscp, delays.samples(), delays.meanNs(), delays.standardDeviationNs(),
                isLossKnown && !isLossUnknown ? lostPackets : null);
        }
    }

    private Total total(final int dscp) {
        for (final Total each : totals) {
            if (each.dscp == dscp) {
                return each;
            }
        }
        final Total total = new Total(dscp);
        totals.add(total);
        return total;
    }

    /** Adds an interval, by its traffic classes. */
    void add(final IntervalAnswer answer, final TrafficClasses classes) {
        if (answer.reconcileStatus() == null) {
            onUnknownLoss();
            return;
        }
        hasBegun = true;
        for (int i = 0; i < classes.count(); i++) {
            final AggregateEstimate estimate = answer.reconciled(i);
            final Total total = total(classes.dscp(i));
            if (estimate != null && estimate.hasMean()) {
                total.add(estimate);
            }
            if (hasLoss(answer, estimate)) {
                total.lostPackets += estimate.lostPackets();
            } else {
                total.isLossUnknown = true;
            }
        }
    }

    /**
     * Marks the loss of an interval as unknown. Before the first reconciled interval the sender had not begun, so the call has
     * no effect.
     */
    void onUnknownLoss() {
        isLossKnown &= !hasBegun;
    }

    private static boolean hasLoss(final IntervalAnswer answer, final AggregateEstimate estimate) {
        return !answer.isCut() && answer.isReconciledWhole() && estimate != null && estimate.hasLoss();
    }

    /** {@return the statistics of the interval, and of all so far, by its traffic classes; null if nothing is reconciled} */
    ReconcileStatistics statistics(final IntervalAnswer answer, final TrafficClasses classes) {
        if (answer.reconcileStatus() == null) {
            return null;
        }
        final List<AggregateDelay> interval = new ArrayList<>();
        for (int i = 0; i < classes.count(); i++) {
            final AggregateEstimate estimate = answer.reconciled(i);
            final boolean hasMean = estimate != null && estimate.hasMean();
            interval.add(new AggregateDelay(
                classes.dscp(i), hasMean ? Math.round(estimate.samples()) : 0, hasMean ? Math.round(estimate.meanNs()) : null,
                hasMean && estimate.hasStandardDeviation() ? Math.round(estimate.standardDeviationNs()) : null,
                hasLoss(answer, estimate) ? estimate.lostPackets() : null));
        }
        return new ReconcileStatistics(
            answer.startNs(), answer.endNs(), answer.reconcileStatus().name().toLowerCase(Locale.ROOT), answer.reconcileOctets(),
            interval, total(classes));
    }

    /** {@return the delays of all intervals by class} */
    List<AggregateDelay> total(final TrafficClasses classes) {
        final List<AggregateDelay> list = new ArrayList<>();
        for (int i = 0; i < classes.count(); i++) {
            list.add(total(classes.dscp(i)).delay(isLossKnown));
        }
        return list;
    }
}
