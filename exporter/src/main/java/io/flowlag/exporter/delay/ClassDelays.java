package io.flowlag.exporter.delay;

import io.flowlag.exporter.delay.interval.compare.IntervalAnswer;
import io.flowlag.exporter.status.AggregateDelay;
import io.flowlag.exporter.status.ReconcileStatistics;
import io.flowlag.sketch.estimate.Estimate;
import io.flowlag.sketch.lda.LdaEstimate;
import io.flowlag.sketch.reconcile.AggregateEstimate;

import java.util.ArrayList;
import java.util.List;
import java.util.Locale;

/**
 * Adds up the delays and losses of each traffic class over the intervals: by aggregators or the exact sums of flows from the
 * first interval that was compared, or by reconciliation from the first interval in which it was tried. A loss that is unknown
 * in one interval is unknown in total. Where the packets of a sample of flows were compared, the loss is unknown, but mean and
 * deviation of the sample stand. A class is identified by its DSCP, so that it continues when classes change. The metering
 * thread owns it. Allocates at a new class and in its results.
 */
final class ClassDelays {
    private final boolean isReconciled;
    private final List<Total> totals = new ArrayList<>();
    private boolean hasBegun;
    private boolean isLossKnown = true;

    private static final class Total {
        private final int dscp;
        private final DelayTotal delays = new DelayTotal();
        private long lostPackets;
        private boolean isLossUnknown;

        private Total(final int dscp) {
            this.dscp = dscp;
        }
    }

    /** The delays of a class in an interval; mean and deviation are NaN, and the rest null, if they are not known. */
    private record Part(
        double samples, double meanNs, double deviationNs, Long lostPackets, Long packets, Long boundNs) {
        private Part(
            final Estimate estimate, final double samples, final Long lostPackets, final Long packets, final Long boundNs) {
            this(estimate.hasMean() ? samples : 0, estimate.hasMean() ? estimate.meanNs() : Double.NaN,
                estimate.hasMean() && estimate.hasStandardDeviation() ? estimate.standardDeviationNs() : Double.NaN, lostPackets,
                packets, boundNs);
        }
    }

    /** Nothing added yet; adds up reconciled packets, or aggregators and sums. */
    ClassDelays(final boolean isReconciled) {
        this.isReconciled = isReconciled;
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

    void add(final IntervalAnswer answer, final TrafficClasses classes) {
        if (isReconciled && answer.reconcileStatus() == null) {
            onUnknownLoss();
            return;
        }
        hasBegun = true;
        isLossKnown &= isReconciled || answer.hasLoss();
        for (int i = 0; i < classes.count(); i++) {
            final Total total = total(classes.dscp(i));
            final Part part = part(answer, i);
            if (!Double.isNaN(part.meanNs)) {
                total.delays.add(part.samples, part.meanNs);
            }
            if (!Double.isNaN(part.deviationNs)) {
                total.delays.addDeviation(part.samples, part.meanNs, part.deviationNs);
            }
            total.isLossUnknown |= part.lostPackets == null;
            total.lostPackets += part.lostPackets == null ? 0 : part.lostPackets;
        }
    }

    private Part part(final IntervalAnswer answer, final int classIndex) {
        if (isReconciled && answer.reconciled(classIndex) == null) {
            return new Part(0, Double.NaN, Double.NaN, null, null, null);
        }
        if (isReconciled) {
            final AggregateEstimate estimate = answer.reconciled(classIndex);
            final boolean isWhole = !answer.isCut() && answer.isReconciledWhole();
            return new Part(
                estimate, estimate.samples(), isWhole && estimate.hasLoss() ? estimate.lostPackets() : null,
                isWhole ? Math.round(estimate.packets()) : null,
                !isWhole ? null : estimate.exact() ? Long.valueOf(0) : boundNs(estimate, 1));
        }
        final Long packets = answer.hasLoss() ? answer.receivedPackets(classIndex) : null;
        if (answer.hasSketches()) {
            final LdaEstimate estimate = answer.aggregator(classIndex);
            final double unseen =
                packets == null || packets < estimate.samples() ? 1 : 1 - estimate.samples() / (double)packets;
            return new Part(
                estimate, estimate.samples(), answer.hasLoss() ? estimate.lostPackets() : null, packets,
                boundNs(estimate, unseen));
        }
        final long samples = answer.exactPackets(classIndex);
        return new Part(
            samples, samples > 0 ? answer.exactMeanNs(classIndex) : Double.NaN, Double.NaN,
            answer.hasLoss() ? answer.sumLostPackets(classIndex) : null, packets,
            packets != null && packets == samples ? Long.valueOf(0) : null);
    }

    /** The bound of the mean of all packets, of which a share is not behind the estimate: only these differ. */
    private static Long boundNs(final Estimate estimate, final double unseen) {
        return estimate.hasMean() && estimate.hasBound() ?
            Long.valueOf((long)Math.ceil(estimate.boundNs() * Math.sqrt(unseen))) : null;
    }

    /**
     * Marks the loss of an interval as unknown. Before the first interval that counts the sender had not begun, so the call has
     * no effect.
     */
    void onUnknownLoss() {
        isLossKnown &= !hasBegun;
    }

    /** {@return the delays of an interval, by its traffic classes} */
    List<AggregateDelay> interval(final IntervalAnswer answer, final TrafficClasses classes) {
        final List<AggregateDelay> list = new ArrayList<>();
        for (int i = 0; i < classes.count(); i++) {
            final Part part = part(answer, i);
            list.add(new AggregateDelay(
                classes.dscp(i), Math.round(part.samples), rounded(part.meanNs), rounded(part.deviationNs), part.lostPackets,
                part.packets, part.boundNs));
        }
        return list;
    }

    private static Long rounded(final double delayNs) {
        return Double.isNaN(delayNs) ? null : Math.round(delayNs);
    }

    /** {@return the delays of all intervals by class} */
    List<AggregateDelay> total(final TrafficClasses classes) {
        final List<AggregateDelay> list = new ArrayList<>();
        for (int i = 0; i < classes.count(); i++) {
            final Total total = total(classes.dscp(i));
            list.add(new AggregateDelay(
                total.dscp, total.delays.samples(), total.delays.meanNs(), total.delays.standardDeviationNs(),
                isLossKnown && !total.isLossUnknown ? total.lostPackets : null));
        }
        return list;
    }

    /** {@return the statistics of the interval, and of all so far, by its traffic classes; null if nothing is reconciled} */
    ReconcileStatistics statistics(final IntervalAnswer answer, final TrafficClasses classes) {
        return answer.reconcileStatus() == null ? null : new ReconcileStatistics(
            answer.startNs(), answer.endNs(), answer.reconcileStatus().name().toLowerCase(Locale.ROOT), answer.reconcileOctets(),
            interval(answer, classes), total(classes));
    }
}
