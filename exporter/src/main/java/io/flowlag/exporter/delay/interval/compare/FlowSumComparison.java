package io.flowlag.exporter.delay.interval.compare;

import io.flowlag.common.counter.CounterSet;
import io.flowlag.exporter.delay.interval.joint.JointStage;
import io.flowlag.exporter.delay.interval.records.FlowSumPairs;
import io.flowlag.exporter.delay.interval.records.FlowSums;
import io.flowlag.exporter.delay.interval.records.FlowTotals;
import io.flowlag.exporter.delay.interval.records.IntervalFlows;
import io.flowlag.exporter.delay.interval.records.IntervalKeys;
import io.flowlag.exporter.delay.interval.records.ReceiverInterval;
import io.flowlag.exporter.delay.interval.records.ReceiverRecords;
import io.flowlag.exporter.delay.interval.records.SketchCounter;
import io.flowlag.exporter.delay.interval.records.SketchRecords;
import io.flowlag.sketch.estimate.LossKind;

import java.util.BitSet;

/**
 * Writes what the sums of all flows at both points show into the records of an interval. Sums that agree give exact delays;
 * otherwise the counts give the loss. The metering thread owns it. Allocates at construction.
 */
final class FlowSumComparison {
    private final SketchRecords records;
    private final IntervalFlows flows;
    private final IntervalKeys run;
    private final CounterSet<SketchCounter> counters;
    private final JointStage joint;
    private final UnseenFlows unseen;
    private final IntervalRepair repair;
    private final BitSet explained = new BitSet();

    /**
     * Creates the comparison.
     *
     * @param keeper of the records of the compared interval.
     * @param joint  also receives the results.
     * @param unseen receives flows that only the sender point saw.
     * @param repair knows which packets were removed from the sums.
     */
    FlowSumComparison(
        final IntervalKeys run, final ReceiverRecords keeper, final JointStage joint, final UnseenFlows unseen,
        final IntervalRepair repair) {
        this.repair = repair;
        this.run = run;
        this.joint = joint;
        this.unseen = unseen;
        records = keeper.table();
        flows = keeper.flows();
        counters = keeper.counters();
    }

    /** Updates the records of the interval whose sums are paired in the summary. */
    void tell(final ReceiverInterval own, final IntervalAnswer summary) {
        final long key = run.key(own.intervalNumber());
        final FlowSumPairs pairs = summary.flowSums;
        final boolean isLossKnown = !summary.isDamaged && !summary.isCut;
        final boolean isSilenceKnown = isLossKnown && pairs.received().overflowPackets() == 0;
        counters.increment(SketchCounter.INTERVALS_OF_FLOWS);
        summary.hasAllSums = isSilenceKnown && pairs.sent().overflowPackets() == 0;
        explained.clear();
        for (int i = 0; i < own.records().count(); i++) {
            tellSums(i, own.records().get(i), isLossKnown, summary);
        }
        final FlowTotals totals = flows.countSilent(key);
        for (int record = 0; record < records.limit(); record++) {
            final long silentRecords = totals.silentRecords(records.flowHash(record));
            if (silentRecords > 0 && records.isSilent(record, key)) {
                tellSilence(record, silentRecords == 1 ? LossKind.EXACT : LossKind.UPPER_BOUND, isSilenceKnown, summary);
            }
        }
        for (int row = 0; row < pairs.count(); row++) {
            tellFlow(row, isSilenceKnown, summary);
        }
        for (int row = 0; row < pairs.received().count(); row++) {
            if (pairs.sent().find(pairs.received().flowHash(row)) == FlowSums.NONE) {
                counters.add(SketchCounter.FLOWS_NOT_SENT, isLossKnown && pairs.sent().overflowPackets() == 0 ? 1 : 0);
                final long packets =
                    pairs.received().packets(row) + repair.unexpectedPackets(pairs.received().flowHash(row));
                summary.addLost(pairs.received().classIndex(row), -packets);
                summary.addReceived(pairs.received().classIndex(row), packets);
            }
        }
    }

    private void tellFlow(final int row, final boolean isSilenceKnown, final IntervalAnswer summary) {
        final FlowSumPairs pairs = summary.flowSums;
        final FlowSumPairs.Agreement agreement = pairs.agreement(row);
        if (agreement == FlowSumPairs.Agreement.SENT_ONLY && pairs.sent().packets(row) == 0) {
            return;
        }
        final long lostPackets = lostPackets(row, pairs);
        repair.name(pairs.sent().flowHash(row));
        counters.increment(switch (agreement) {
            case SAME_PACKETS -> lostPackets == 0 ? SketchCounter.FLOWS_EXACT : SketchCounter.FLOWS_WITH_LOSS;
            case LOST -> SketchCounter.FLOWS_WITH_LOSS;
            case SENT_ONLY -> SketchCounter.FLOWS_UNSEEN;
            case DIFFERENT -> SketchCounter.FLOWS_DIFFERENT;
        });
        final boolean isUnexplained = agreement == FlowSumPairs.Agreement.SENT_ONLY && !explained.get(row);
        final boolean isUnseen = isUnexplained && isSilenceKnown;
        if (isUnexplained && !isSilenceKnown) {
            repair.doubtUnnamed(pairs.sent().flowHash(row));
        }
        if (isUnseen && unseen.isHolding()) {
            unseen.onUnseenFlow(pairs.sent(), row, summary.startNs, summary.endNs);
            return;
        }
        summary.addLost(pairs.sent().classIndex(row), lostPackets);
        summary.addReceived(pairs.sent().classIndex(row), receivedPackets(row, pairs));
        if (agreement == FlowSumPairs.Agreement.SAME_PACKETS) {
            summary.addExact(pairs.sent().classIndex(row), pairs.sent().packets(row), pairs.delaySumNs(row));
        } else if (isUnseen) {
            unseen.onUnseenFlow(pairs.sent(), row, summary.startNs, summary.endNs);
        }
        summary.flowLostPackets += Math.max(0, lostPackets);
    }

    /** The difference of the counts plus the net loss that was removed from the sums. */
    private long lostPackets(final int row, final FlowSumPairs pairs) {
        final long flowHash = pairs.sent().flowHash(row);
        return pairs.lostPackets(row) +
            (pairs.hasReceived(row) ? repair.lostPackets(flowHash) - repair.unexpectedPackets(flowHash) : 0);
    }

    private long receivedPackets(final int row, final FlowSumPairs pairs) {
        return !pairs.hasReceived(row) ? 0 : pairs.sent().packets(row) - pairs.lostPackets(row) +
            repair.unexpectedPackets(pairs.sent().flowHash(row));
    }

    private void tellSums(final int index, final int record, final boolean isLossKnown, final IntervalAnswer summary) {
        final FlowSumPairs pairs = summary.flowSums;
        final int packets = flows.packets(index);
        final int row = pairs.sent().find(records.flowHash(record));
        final FlowSumPairs.Agreement agreement = row == FlowSums.NONE || !pairs.hasReceived(row) ?
            FlowSumPairs.Agreement.DIFFERENT : pairs.agreement(row);
        if (agreement == FlowSumPairs.Agreement.SAME_PACKETS) {
            final long flowPackets = pairs.sent().packets(row);
            final double meanNs = (double)pairs.delaySumNs(row) / flowPackets;
            final int measuredPackets = (int)Math.min(packets, flowPackets);
            records.addExactDelay(record, measuredPackets, packets == flowPackets, meanNs);
            joint.addExact(record, measuredPackets, packets == flowPackets, meanNs);
            tellTakenOut(record, packets == flows.flowPackets(index), isLossKnown);
            return;
        }
        if (isAllTakenOut(row, records.flowHash(record), pairs)) {
            tellTakenOut(record, packets == flows.flowPackets(index), isLossKnown);
            return;
        }
        if (isLossKnown && isNeverSent(row, records.flowHash(record), pairs)) {
            records.addListedLoss(record, 0, packets, LossKind.EXACT);
            return;
        }
        if (agreement == FlowSumPairs.Agreement.LOST && isLossKnown) {
            if (packets == flows.flowPackets(index)) {
                records.addLoss(record, lostPackets(row, pairs), LossKind.EXACT);
            } else {
                records.addLoss(
                    record, pairs.lostPackets(row) + repair.lostPackets(records.flowHash(record)), LossKind.UPPER_BOUND);
            }
        } else {
            records.addUnknownLoss(record);
        }
    }

    /** {@return whether all packets of a flow were listed, at both points} */
    private boolean isAllTakenOut(final int row, final long flowHash, final FlowSumPairs pairs) {
        final int received = pairs.received().find(flowHash);
        return repair.isLossKnown(flowHash) && repair.isListed(flowHash) && received != FlowSums.NONE &&
            pairs.received().packets(received) == 0 && (row == FlowSums.NONE ? pairs.sent().overflowPackets() == 0 :
            pairs.sent().packets(row) == 0);
    }

    /** {@return whether no packet of a flow crossed the sender point, which has the sums of all} */
    private boolean isNeverSent(final int row, final long flowHash, final FlowSumPairs pairs) {
        return row == FlowSums.NONE && pairs.sent().overflowPackets() == 0 && !repair.isListed(flowHash) &&
            pairs.received().find(flowHash) != FlowSums.NONE;
    }

    /** Updates a record whose sums agree: the removed packets are its loss. */
    private void tellTakenOut(final int record, final boolean isWhole, final boolean isLossKnown) {
        final long flowHash = records.flowHash(record);
        if (!repair.isListed(flowHash)) {
            records.addLoss(record, 0, LossKind.EXACT);
        } else if (isLossKnown && !repair.isLossDoubtful(record, flowHash)) {
            records.addListedLoss(
                record, repair.lostPackets(flowHash), repair.unexpectedPackets(flowHash),
                isWhole ? LossKind.EXACT : LossKind.UPPER_BOUND);
        } else {
            records.addUnknownLoss(record);
        }
    }

    /** Updates a living flow without received packets: all packets that the sender counted were lost. */
    private void tellSilence(
        final int record, final LossKind kind, final boolean isSilenceKnown, final IntervalAnswer summary) {
        final FlowSumPairs pairs = summary.flowSums;
        final int row = pairs.sent().find(records.flowHash(record));
        final boolean isNothingSent = row == FlowSums.NONE && pairs.sent().overflowPackets() == 0 && !summary.isDamaged;
        if (row != FlowSums.NONE) {
            explained.set(row);
        }
        if (!isSilenceKnown && !isNothingSent) {
            records.addUnknownLoss(record);
        } else if (row != FlowSums.NONE) {
            records.addLoss(record, pairs.sent().packets(row), kind);
        }
    }
}
