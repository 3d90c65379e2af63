package io.flowlag.exporter.delay.interval.compare;

import io.flowlag.common.counter.CounterSet;
import io.flowlag.exporter.delay.interval.records.FlowSumPairs;
import io.flowlag.exporter.delay.interval.records.FlowSums;
import io.flowlag.exporter.delay.interval.records.FlowTotals;
import io.flowlag.exporter.delay.interval.records.IntervalFlows;
import io.flowlag.exporter.delay.interval.records.IntervalKeys;
import io.flowlag.exporter.delay.interval.records.IntervalSettings;
import io.flowlag.exporter.delay.interval.records.ReceiverInterval;
import io.flowlag.exporter.delay.interval.records.ReceiverRecords;
import io.flowlag.exporter.delay.interval.records.SenderAnswer;
import io.flowlag.exporter.delay.interval.records.SketchCounter;
import io.flowlag.exporter.delay.interval.records.SketchRecords;
import io.flowlag.sketch.estimate.FlowEstimate;
import io.flowlag.sketch.estimate.FlowEstimator;
import io.flowlag.sketch.estimate.LossKind;
import io.flowlag.sketch.image.PairingResult;

/**
 * Writes what the cells of both points show into the records of an interval. The metering thread owns it. Allocates at
 * construction.
 */
final class CellComparison {
    private final SketchRecords records;
    private final IntervalFlows flows;
    private final IntervalKeys run;
    private final CounterSet<SketchCounter> counters;
    private final long sharedSeed;
    private final FlowEstimator estimator;
    private final FlowEstimate estimate = new FlowEstimate();
    private final int rowCount;
    private final IntervalRepair repair;
    private final long[] flowHashes = new long[FlowEstimator.TOUCH_LIMIT];
    private long touched;

    /** Creates the comparison; the repair knows which packets were removed from the cells. */
    CellComparison(
        final IntervalSettings settings, final IntervalKeys run, final ReceiverRecords keeper, final IntervalRepair repair) {
        this.repair = repair;
        this.run = run;
        records = keeper.table();
        flows = keeper.flows();
        counters = keeper.counters();
        rowCount = settings.geometry().rows();
        sharedSeed = settings.cells().seed();
        estimator = new FlowEstimator(
            settings.geometry(), sharedSeed, settings.cells().alpha(), FlowEstimator.DEFAULT_NOISE_TOLERANCE,
            FlowEstimator.DEFAULT_CONFIDENCE, true);
    }

    /** {@return whether the sketches of both points match; if so, {@link #unpair} must follow} */
    boolean pair(final SenderAnswer answer, final ReceiverInterval own) {
        estimator.reseed(own.sketch().seed(sharedSeed));
        return estimator.pair(answer.sketch(), own.sketch()) == PairingResult.PAIRED;
    }

    void unpair() {
        estimator.unpair();
    }

    /** Updates the records of the interval whose sketches were paired. */
    void tell(final ReceiverInterval own, final IntervalAnswer summary) {
        final long key = run.key(own.intervalNumber());
        summary.cells(estimator.overview(), rowCount);
        estimator.unexpected(summary.unexpectedPackets * (summary.unexpectedPackets == 0 ? 1 : largestWeight(own)));
        counters.add(SketchCounter.OCCUPIED_CELLS, summary.occupiedCells);
        counters.add(SketchCounter.USABLE_CELLS, summary.usableCells);
        for (int i = 0; i < own.records().count(); i++) {
            if (i % FlowEstimator.TOUCH_LIMIT == 0) {
                touch(own, i);
            }
            tell(i, own.records().get(i), summary);
        }
        if (summary.isDamaged || summary.usableCells < summary.occupiedCells || repair.isRepaired()) {
            tellSilentFlows(key, summary);
        }
        final FlowSumPairs pairs = summary.flowSums;
        for (int row = 0; row < pairs.count(); row++) {
            if (pairs.sent().isWitness(row)) {
                counters.increment(SketchCounter.WITNESSES);
                counters.add(SketchCounter.WITNESSES_EXACT, pairs.agreement(row) == FlowSumPairs.Agreement.SAME_PACKETS ? 1 : 0);
            }
        }
    }

    private int largestWeight(final ReceiverInterval own) {
        int weight = 1;
        for (int i = 0; i < own.records().count(); i++) {
            weight = Math.max(weight, flows.weight(i));
        }
        return weight;
    }

    /** Prefetches the data of the next records, so that the cache misses overlap. */
    private void touch(final ReceiverInterval own, final int from) {
        final int count = Math.min(FlowEstimator.TOUCH_LIMIT, own.records().count() - from);
        long octets = 0;
        for (int i = 0; i < count; i++) {
            flowHashes[i] = flows.flowHash(from + i);
            octets += records.touchAnswers(own.records().get(from + i));
        }
        touched += octets + estimator.touch(flowHashes, count);
    }

    private void tell(final int index, final int record, final IntervalAnswer summary) {
        final int packets = flows.packets(index);
        final long flowHash = flows.flowHash(index);
        final long flowPackets = flows.flowPackets(index);
        final double share = (double)packets / flowPackets;
        final long unexpectedPackets = repair.unexpectedPackets(flowHash);
        final long goneFromCells = unexpectedPackets + repair.withdrawnPackets(flowHash);
        final long commonPackets = Math.max(0, flowPackets - goneFromCells);
        final int measuredPackets = Math.max(0, packets - (int)Math.round(share * goneFromCells));
        estimator.estimate(flowHash, flows.weight(index), commonPackets, estimate);
        if (estimate.hasMean() && measuredPackets > 0) {
            records.addDelay(record, measuredPackets, share, estimate);
        }
        tellTruth(record, flowHash, packets, flowPackets, summary.flowSums);
        tellLoss(record, flowHash, share, summary);
    }

    private void tellTruth(
        final int record, final long flowHash, final int packets, final long flowPackets, final FlowSumPairs pairs) {
        final int row = packets == flowPackets && pairs.count() > 0 ? pairs.sent().find(flowHash) : FlowSums.NONE;
        if (row != FlowSums.NONE && pairs.sent().isWitness(row) && pairs.sent().packets(row) == packets &&
            pairs.agreement(row) == FlowSumPairs.Agreement.SAME_PACKETS) {
            records.addTruth(record, packets, pairs.delaySumNs(row));
        }
    }

    private void tellLoss(
        final int record, final long flowHash, final double share, final IntervalAnswer summary) {
        repair.name(flowHash);
        if (repair.isLossDoubtful(record, flowHash) || repair.isLossHidden() && repair.isListed(flowHash)) {
            tellUnknownLoss(record, summary);
        } else if (repair.isLossKnown(flowHash) && !repair.isLossHidden()) {
            tellListed(record, flowHash, share, LossKind.EXACT, 0, summary);
        } else if (repair.isListed(flowHash) &&
            (estimate.lossKind() == LossKind.EXACT || estimate.lossKind() == LossKind.UPPER_BOUND)) {
            tellListed(record, flowHash, share, estimate.lossKind(), estimate.lostPackets(), summary);
        } else if (estimate.lossKind() == LossKind.NONE || estimate.lossKind() == LossKind.SCALED ||
            summary.isCut && estimate.lossKind() != LossKind.EXACT) {
            tellUnknownLoss(record, summary);
        } else {
            records.addLoss(record, estimate.lostPackets(), estimate.lossKind());
            summary.flowLostPackets += share * estimate.lostPackets();
        }
    }

    private void tellUnknownLoss(final int record, final IntervalAnswer summary) {
        records.addUnknownLoss(record);
        summary.isFlowLossUnknown = true;
    }

    /**
     * Adds the packets removed from the cells and what the cells still show of the flow. This is exact for a record with all
     * packets of the flow; otherwise each record may have lost all of them.
     */
    private void tellListed(
        final int record, final long flowHash, final double share, final LossKind kind, final double restPackets,
        final IntervalAnswer summary) {
        final long lost = repair.lostPackets(flowHash);
        final long unexpected = repair.unexpectedPackets(flowHash);
        final boolean isExact = kind == LossKind.EXACT && (share == 1 || lost + unexpected == 0);
        records.addListedLoss(
            record, lost + restPackets, unexpected, isExact ? LossKind.EXACT : LossKind.UPPER_BOUND);
        summary.flowLostPackets += share * (lost - unexpected + restPackets);
    }

    /** Updates living flows without received packets: they may have lost all packets that they sent. */
    private void tellSilentFlows(final long key, final IntervalAnswer summary) {
        final FlowTotals totals = flows.countSilent(key);
        for (int record = 0; record < records.limit(); record++) {
            final long silentRecords = totals.silentRecords(records.flowHash(record));
            if (silentRecords > 0 && records.isSilent(record, key)) {
                tellSilentFlow(record, 1.0 / silentRecords, summary);
            }
        }
    }

    /** Updates one silent flow. Its weight is unknown if none of its packets arrived since settings changed. */
    private void tellSilentFlow(final int record, final double share, final IntervalAnswer summary) {
        final int weight = records.weight(record, run.number());
        final long flowHash = records.flowHash(record);
        if (repair.isLossKnown(flowHash) && !repair.isLossHidden()) {
            repair.name(flowHash);
            tellListed(record, flowHash, share, LossKind.EXACT, 0, summary);
        } else if (weight == 0) {
            tellUnknownLoss(record, summary);
        } else {
            estimator.estimate(flowHash, weight, 0, estimate);
            tellLoss(record, flowHash, share, summary);
        }
    }
}
