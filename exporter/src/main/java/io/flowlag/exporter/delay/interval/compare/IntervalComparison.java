package io.flowlag.exporter.delay.interval.compare;

import io.flowlag.common.counter.CounterSet;
import io.flowlag.exporter.delay.interval.joint.JointStage;
import io.flowlag.exporter.delay.interval.records.FlowSumPairs;
import io.flowlag.exporter.delay.interval.records.FlowSums;
import io.flowlag.exporter.delay.interval.records.IntervalKeys;
import io.flowlag.exporter.delay.interval.records.IntervalSettings;
import io.flowlag.exporter.delay.interval.records.ReadAhead;
import io.flowlag.exporter.delay.interval.records.ReceiverInterval;
import io.flowlag.exporter.delay.interval.records.ReceiverRecords;
import io.flowlag.exporter.delay.interval.records.SenderAnswer;
import io.flowlag.exporter.delay.interval.records.SketchCounter;
import io.flowlag.exporter.delay.interval.records.SketchRecords;
import io.flowlag.exporter.delay.interval.records.UnseenFlowHandler;
import io.flowlag.sketch.estimate.FlowEstimator;
import io.flowlag.sketch.estimate.LossKind;
import io.flowlag.sketch.image.PairingResult;
import io.flowlag.sketch.lda.LdaEstimator;
import io.flowlag.sketch.reconcile.AggregateEstimate;

/**
 * Compares an interval of the receiver point with the sender's, updates the records that have packets in it, and summarizes it.
 * The metering thread owns it. Allocates at construction.
 */
public final class IntervalComparison {
    /** Largest share of an aggregator's cells with losses; beyond it, too many unexpected packets stay undetected. */
    private static final double MOST_LOSSY_SHARE = 0.5;
    private static final int MOST_UNSEEN_FLOWS = 256 * 1024;

    private final ReceiverRecords keeper;
    private final SketchRecords records;
    private final IntervalKeys run;
    private final CounterSet<SketchCounter> counters;
    private final JointStage joint;
    private final IntervalHandler handler;
    private final LdaEstimator aggregatorEstimator = new LdaEstimator(FlowEstimator.DEFAULT_CONFIDENCE);
    private final IntervalAnswer summary;
    private final FlowSumPairs pairs;
    private final CellComparison cells;
    private final FlowSumComparison flowSums;
    private final IntervalRepair repair;
    private final ClockEvidence clocks;
    /** Whether the late packets of the previous interval are unknown. */
    private boolean isLateMissed;
    /** Whether neither point has a packet of the interval. */
    private boolean isEmpty;
    private final UnseenFlows unseen;
    private final ReadAhead ahead;

    /**
     * Creates the comparison.
     *
     * @param settings      sizes, shape and seed.
     * @param keeper        of the records that are updated.
     * @param handler       receives each interval.
     * @param unseenHandler receives flows that only the sender point saw.
     */
    public IntervalComparison(
        final IntervalSettings settings, final IntervalKeys run, final ReceiverRecords keeper, final JointStage joint,
        final IntervalHandler handler, final UnseenFlowHandler unseenHandler, final ClockEvidence clocks) {
        this.run = run;
        this.clocks = clocks;
        this.keeper = keeper;
        this.joint = joint;
        this.handler = handler;
        counters = keeper.counters();
        records = keeper.table();
        summary = new IntervalAnswer(settings.cells().classCount());
        pairs = summary.flowSums;
        unseen = new UnseenFlows(
            unseenHandler, counters, unseenFlows(settings), settings.isLive() ? UnseenFlows.HELD_NS : Long.MAX_VALUE / 2);
        ahead = new ReadAhead(records);
        repair = new IntervalRepair(settings, run, keeper, clocks);
        cells = new CellComparison(settings, run, keeper, repair);
        flowSums = new FlowSumComparison(run, keeper, joint, unseen, repair);
    }

    /**
     * Memory, by formula: the cells' estimator, reconciler and responder, and the flows that only the sender point saw. Returns
     * octets.
     */
    public static long bytes(final IntervalSettings settings) {
        return (settings.sums().isSketched() ? FlowEstimator.memoryBytes(settings.cells().geometry()) : 0) +
            IntervalRepair.bytes(settings) + UnseenFlows.memoryBytes(unseenFlows(settings));
    }

    /** {@return how many flows that only the sender point saw are held; captures have no more flows than a point holds} */
    private static int unseenFlows(final IntervalSettings settings) {
        return settings.isSelected() ? 0 :
            settings.isLive() ? UnseenFlows.CAPACITY : Math.min(settings.room().maxFlows(), MOST_UNSEEN_FLOWS);
    }

    /** {@return the repair, which removes packets from an interval before it is concluded} */
    public IntervalRepair repair() {
        return repair;
    }

    /** Concludes a repaired interval; the answer is null if none came; cut if it was observed only in part. */
    public void conclude(final SenderAnswer answer, final ReceiverInterval own, final boolean isCut) {
        own.records().order(keeper.marks());
        lookForLate(own);
        if (answer != null && clocks.isOn()) {
            lookAtClocks(answer, own);
        }
        if (answer != null && isPaired(answer, own)) {
            compare(answer, own, isCut);
        } else {
            counters.increment(SketchCounter.INTERVALS_UNANSWERED);
            giveUp(own);
        }
    }

    /**
     * Looks for packets that arrived later than packets are held for. They are known where this interval and the previous one are
     * reconciled.
     */
    private void lookForLate(final ReceiverInterval own) {
        if (own.isLateExpected() && (isLateMissed || !repair.isWhole())) {
            counters.increment(SketchCounter.CLOCKS_APART);
            own.markDamaged();
        }
        isLateMissed = !repair.isWhole();
    }

    /** Checks by the packets' delays whether the clocks differ too much to identify lost packets. */
    private void lookAtClocks(final SenderAnswer answer, final ReceiverInterval own) {
        isEmpty = true;
        clocks.onDelay(meanDelayNs(answer, own));
        if (!isEmpty && clocks.isInDoubt(repair.status())) {
            counters.add(SketchCounter.CLOCKS_APART, clocks.isApart() ? 1 : 0);
            own.markDamaged();
        }
    }

    /** {@return the mean of the packets whose delay is known, in ns; NaN if there are none} */
    private double meanDelayNs(final SenderAnswer answer, final ReceiverInterval own) {
        double sumNs = 0;
        double packets = 0;
        for (int i = 0; i < summary.aggregators.length && answer.hasSketches() && own.hasSketches(); i++) {
            if (aggregatorEstimator.estimate(answer.aggregator(i), own.aggregator(i), summary.aggregators[i]) ==
                PairingResult.PAIRED && summary.aggregators[i].hasMean()) {
                sumNs += summary.aggregators[i].meanNs() * summary.aggregators[i].samples();
                packets += summary.aggregators[i].samples();
            }
            isEmpty &= summary.aggregators[i].hasLoss() &&
                summary.aggregators[i].sentPackets() == 0 && summary.aggregators[i].lostPackets() == 0;
        }
        if (!answer.hasSketches() && answer.flows().keepsFlows() && own.flows().keepsFlows()) {
            pairs.pair(answer.flows(), own.flows());
            isEmpty = pairs.count() + own.flows().count() == 0;
            for (int row = 0; row < pairs.count(); row++) {
                if (pairs.agreement(row) == FlowSumPairs.Agreement.SAME_PACKETS) {
                    sumNs += pairs.delaySumNs(row);
                    packets += pairs.sent().packets(row);
                }
            }
            pairs.unpair();
        }
        final AggregateEstimate repaired = packets > 0 ? null : repair.estimate(0);
        return repaired != null && repaired.hasMean() ? repaired.meanNs() : sumNs / packets;
    }

    /** Marks the loss of an interval that was already reported, or never open, as unknown. */
    public void doubtLoss() {
        keeper.doubtLoss();
        handler.onUnknownLoss();
    }

    private boolean isPaired(final SenderAnswer answer, final ReceiverInterval own) {
        final boolean isPaired = answer.hasSketches() ? own.hasSketches() && areSketchesPaired(answer, own) :
            answer.flows().keepsFlows() && own.flows().keepsFlows();
        if (!isPaired) {
            counters.increment(SketchCounter.INTERVALS_REFUSED);
        }
        return isPaired;
    }

    private boolean areSketchesPaired(final SenderAnswer answer, final ReceiverInterval own) {
        boolean isPaired = cells.pair(answer, own);
        for (int i = 0; isPaired && i < summary.aggregators.length; i++) {
            isPaired = aggregatorEstimator.estimate(answer.aggregator(i), own.aggregator(i), summary.aggregators[i]) ==
                PairingResult.PAIRED;
        }
        return isPaired;
    }

    private void compare(final SenderAnswer answer, final ReceiverInterval own, final boolean isCut) {
        final long key = run.key(own.intervalNumber());
        keeper.measuring();
        counters.increment(SketchCounter.INTERVALS);
        summary.begin(own.intervalNumber(), run.intervalNs());
        summary.hasSketches = answer.hasSketches();
        summary.isDamaged = own.isDamaged() || answer.isDamaged();
        summary.isCut = isCut;
        summary.flows = own.records().count();
        summary.unexpectedPackets = answer.hasSketches() ? unexpectedPackets(answer, own) : 0;
        summary.reconciled(repair);
        repair.hideLoss(summary.isDamaged || isCut);
        counters.add(SketchCounter.INTERVALS_DAMAGED, summary.isDamaged ? 1 : 0);
        counters.add(SketchCounter.INTERVALS_CUT, isCut ? 1 : 0);
        counters.add(SketchCounter.INTERVALS_REMARKED, !summary.isDamaged && !isCut && isRemarked() ? 1 : 0);

        final FlowSums sent = answer.hasSketches() ? answer.witnesses() : answer.flows();
        final FlowSums received = answer.hasSketches() ? own.witnesses() : own.flows();
        if (sent.keepsFlows() && received.keepsFlows()) {
            pairs.pair(sent, received);
            counters.add(SketchCounter.FLOW_SUMS_OVERFLOW, sent.overflowPackets() + received.overflowPackets());
        }
        keeper.flows().take(own.records(), key, run.number(), summary.heavyHitters);
        if (answer.hasSketches()) {
            cells.tell(own, summary);
        } else {
            flowSums.tell(own, summary);
        }
        summary.flowLostPackets += repair.tellUnseen(unseen, unseen.isHolding(), summary.startNs, summary.endNs);
        for (int i = 0; unseen.isAnyHeld() && i < own.records().count(); i++) {
            unseen.onSeen(records.flowHash(own.records().get(i)), summary);
        }
        for (int i = 0; repair.isAnyUnnamed() && i < own.records().count(); i++) {
            final long earlierLost = repair.takeUnnamed(records.flowHash(own.records().get(i)));
            if (earlierLost == IntervalRepair.UNKNOWN) {
                records.addUnknownLoss(own.records().get(i));
            } else if (earlierLost > 0) {
                records.addListedLoss(own.records().get(i), earlierLost, 0, LossKind.EXACT);
            }
        }
        repair.keepUnnamed();
        doubtNewFlows(own, key);
        handler.onInterval(summary);
        joint.solve(answer, own, pairs, run);
        releaseRecords(own);
        pairs.unpair();
        cells.unpair();
        joint.onSolved();
    }

    /**
     * Marks the loss of new flows as unknown if they may have lost their first packets in an earlier interval with unknown
     * losses.
     */
    private void doubtNewFlows(final ReceiverInterval own, final long key) {
        for (int i = 0; keeper.isEarlierLossHidden(summary.startNs) && i < own.records().count(); i++) {
            if (records.firstInterval(own.records().get(i)) == key) {
                records.addUnknownLoss(own.records().get(i));
            }
        }
        final boolean isNothingLost = summary.hasLoss() && summary.lostPackets() == 0 && summary.unexpectedPackets == 0;
        final boolean isUnlisted = summary.hasSketches ? !isNothingLost && repair.mayHideUnnamed() :
            pairs.sent().overflowPackets() > 0;
        if (isUnlisted | repair.takeForgotten()) {
            keeper.hideEarlierLoss(summary.endNs);
        }
    }

    /**
     * Upper bound on packets received but never sent. A flow's packets are spread over an aggregator's cells, so unexpected ones
     * show there even if their flow lost more. Those in a cell with a loss do not show; their share is estimated by the share of
     * such cells. Twice the standard deviation is added. Packets that only change their class count too.
     */
    private double unexpectedPackets(final SenderAnswer answer, final ReceiverInterval own) {
        double most = 0;
        boolean isHidden = false;
        for (int bank = 0; bank < own.aggregator(0).rows(); bank++) {
            long seen = 0;
            long lossyCells = 0;
            for (int cell = 0; cell < own.aggregator(0).columns(); cell++) {
                long gained = 0;
                long digest = 0;
                for (int i = 0; i < summary.aggregators.length; i++) {
                    gained += own.aggregator(i).count(bank, cell) - answer.aggregator(i).count(bank, cell);
                    digest += own.aggregator(i).digest(bank, cell) - answer.aggregator(i).digest(bank, cell);
                }
                seen += gained > 0 ? gained : gained == 0 && digest != 0 ? 1 : 0;
                lossyCells += gained < 0 ? 1 : 0;
            }
            final double lossyShare = lossyCells / (double)own.aggregator(0).columns();
            isHidden |= lossyShare > MOST_LOSSY_SHARE;
            final double hidden = seen * lossyShare;
            most += seen + Math.ceil((hidden + 2 * Math.sqrt(hidden)) / (1 - Math.min(MOST_LOSSY_SHARE, lossyShare)));
        }
        return most > 0 && isHidden ? -1 : most;
    }

    /** Whether packets changed their class on the path: a surplus in one class then matches a deficit in another. */
    private boolean isRemarked() {
        boolean isMore = false;
        for (int i = 0; summary.hasSketches && summary.aggregators.length > 1 && i < summary.aggregators.length; i++) {
            isMore |= summary.aggregators[i].hasLoss() && summary.aggregators[i].lostPackets() < 0;
        }
        return isMore;
    }

    private void giveUp(final ReceiverInterval own) {
        final long key = run.key(own.intervalNumber());
        for (int i = 0; i < own.records().count(); i++) {
            records.addUnknownLoss(own.records().get(i));
        }
        for (int record = 0; record < records.limit(); record++) {
            if (records.isSilent(record, key)) {
                records.addUnknownLoss(record);
            }
        }
        keeper.hideEarlierLoss((own.intervalNumber() + 1) * run.intervalNs());
        handler.onUnknownLoss();
        joint.giveUp(own, key);
        releaseRecords(own);
    }

    private void releaseRecords(final ReceiverInterval own) {
        for (int i = 0; i < own.records().count(); i++) {
            ahead.before(own.records(), i);
            records.clearPackets(own.records().get(i), run.key(own.intervalNumber()));
            keeper.release(own.records().get(i));
        }
    }
}
