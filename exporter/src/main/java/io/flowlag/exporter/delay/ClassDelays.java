package io.flowlag.exporter.delay;

import io.flowlag.exporter.delay.interval.compare.IntervalAnswer;
import io.flowlag.exporter.status.AggregateDelay;
import io.flowlag.sketch.lda.LdaEstimate;

import java.util.ArrayList;
import java.util.List;

/**
 * Adds up the delays and losses of each traffic class over the intervals, by its aggregators or the exact sums of its flows, from
 * the first interval that was compared. A loss that is unknown in one interval is unknown in total. A class is identified by its
 * DSCP, so that it continues when classes change. The metering thread owns it. Allocates at a new class, in {@link #interval}
 * and in {@link #total}.
 */
final class ClassDelays {
    private final List<Total> totals = new ArrayList<>();
    private boolean hasBegun;
    private boolean isLossKnown = true;

    /** The sums of a class. */
    private static final class Total {
        private final int dscp;
        private final DelayTotal delays = new DelayTotal();
        private long lostPackets;

        private Total(final int dscp) {
            this.dscp = dscp;
        }
    }

    /** Nothing added yet. */
    ClassDelays() {
        // classes come with their intervals
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
        hasBegun = true;
        isLossKnown &= answer.hasLoss();
        for (int i = 0; i < classes.count(); i++) {
            final Total total = total(classes.dscp(i));
            if (answer.hasSketches()) {
                add(answer.aggregator(i), total);
                total.lostPackets += answer.hasLoss() ? answer.aggregator(i).lostPackets() : 0;
            } else {
                if (answer.exactPackets(i) > 0) {
                    total.delays.add(answer.exactPackets(i), answer.exactMeanNs(i));
                }
                total.lostPackets += answer.hasLoss() ? answer.sumLostPackets(i) : 0;
            }
        }
    }

    /**
     * Marks the loss of an interval as unknown. Before the first compared interval the sender had not begun, so the call has no
     * effect.
     */
    void onUnknownLoss() {
        isLossKnown &= !hasBegun;
    }

    private static void add(final LdaEstimate estimate, final Total total) {
        if (!estimate.hasMean()) {
            return;
        }
        total.delays.add(estimate.samples(), estimate.meanNs());
        if (estimate.hasStandardDeviation()) {
            total.delays.addDeviation(estimate.samples(), estimate.meanNs(), estimate.standardDeviationNs());
        }
    }

    /** {@return the delays of an interval, by its traffic classes} */
    List<AggregateDelay> interval(final IntervalAnswer answer, final TrafficClasses classes) {
        final List<AggregateDelay> list = new ArrayList<>();
        for (int i = 0; i < classes.count(); i++) {
            list.add(answer.hasSketches() ? aggregate(answer, i, classes.dscp(i)) : sums(answer, i, classes.dscp(i)));
        }
        return list;
    }

    private static AggregateDelay aggregate(final IntervalAnswer answer, final int classIndex, final int dscp) {
        final LdaEstimate estimate = answer.aggregator(classIndex);
        return new AggregateDelay(
            dscp, estimate.samples(), estimate.hasMean() ? Math.round(estimate.meanNs()) : null,
            estimate.hasStandardDeviation() ? Math.round(estimate.standardDeviationNs()) : null,
            answer.hasLoss() ? estimate.lostPackets() : null);
    }

    private static AggregateDelay sums(final IntervalAnswer answer, final int classIndex, final int dscp) {
        final long packets = answer.exactPackets(classIndex);
        return new AggregateDelay(
            dscp, packets, packets > 0 ? Math.round(answer.exactMeanNs(classIndex)) : null, null,
            answer.hasLoss() ? answer.sumLostPackets(classIndex) : null);
    }

    /** {@return the delays of all intervals by class} */
    List<AggregateDelay> total(final TrafficClasses classes) {
        final List<AggregateDelay> list = new ArrayList<>();
        for (int i = 0; i < classes.count(); i++) {
            final Total total = total(classes.dscp(i));
            list.add(new AggregateDelay(
                total.dscp, total.delays.samples(), total.delays.meanNs(), total.delays.standardDeviationNs(),
                isLossKnown ? total.lostPackets : null));
        }
        return list;
    }
}
