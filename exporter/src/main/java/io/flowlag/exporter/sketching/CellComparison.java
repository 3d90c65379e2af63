package io.flowlag.exporter.sketching;

import io.flowlag.sketch.estimate.FlowEstimate;
import io.flowlag.sketch.estimate.FlowEstimator;
import io.flowlag.sketch.estimate.LossKind;
import io.flowlag.sketch.image.PairingResult;

/**
 * Tells the records of an interval what the cells of both points say of them. The metering thread owns it. Allocates at
 * construction.
 */
final class CellComparison {
    private final SketchRecords records;
    private final FlowTotals totals;
    private final SettingsRun run;
    private final SketchCounters counters;
    private final FlowEstimator estimator;
    private final FlowEstimate estimate = new FlowEstimate();
    private final int rowCount;
    private final IntervalRepair repair;
    private final ReadAhead ahead;

    /**
     * Nothing compared yet.
     *
     * @param context  shape and seed.
     * @param run      of the settings.
     * @param records  are told.
     * @param totals   packets of each flow in the interval that is compared.
     * @param counters of the receiver point.
     * @param repair   knows which packets were taken out of the cells.
     */
    CellComparison(
        final SketchContext context, final SettingsRun run, final SketchRecords records, final FlowTotals totals,
        final SketchCounters counters, final IntervalRepair repair) {
        this.repair = repair;
        this.run = run;
        this.records = records;
        this.totals = totals;
        this.counters = counters;
        rowCount = context.geometry().rows();
        estimator = new FlowEstimator(
            context.geometry(), context.seed(), context.alpha(), FlowEstimator.DEFAULT_NOISE_TOLERANCE,
            FlowEstimator.DEFAULT_CONFIDENCE);
        ahead = new ReadAhead(records, totals, estimator);
    }

    /** {@return whether the sketches of both points fit each other; then {@link #unpair} is to be called at the end} */
    boolean pair(final SenderAnswer answer, final PointInterval own) {
        return estimator.pair(answer.sketch(), own.sketch()) == PairingResult.PAIRED;
    }

    void unpair() {
        estimator.unpair();
    }

    /** Tells the records of the interval whose sketches were paired. */
    void tell(final PointInterval own, final IntervalAnswer summary) {
        final long key = run.key(own.intervalNumber());
        summary.cells(estimator.overview(), rowCount);
        counters.add(SketchCounter.OCCUPIED_CELLS, summary.occupiedCells);
        counters.add(SketchCounter.USABLE_CELLS, summary.usableCells);
        for (int i = 0; i < own.recordCount(); i++) {
            ahead.before(own, i);
            tell(own.record(i), key, summary);
        }
        if (summary.isDamaged || summary.usableCells < summary.occupiedCells || repair.isRepaired()) {
            tellSilentFlows(key, summary);
        }
        final FlowSumPairs pairs = summary.flowSums;
        for (int row = 0; row < pairs.count(); row++) {
            if (pairs.sent().isWitness(row)) {
                counters.increment(SketchCounter.WITNESSES);
                counters.add(SketchCounter.WITNESSES_EXACT, pairs.agreement(row) == FlowSumPairs.Agreement.EXACT ? 1 : 0);
            }
        }
    }

    private void tell(final int record, final long key, final IntervalAnswer summary) {
        final int packets = records.packets(record, key);
        final long flowPackets = totals.get(records.flowHash(record));
        final double share = (double)packets / flowPackets;
        final long unexpectedPackets = repair.unexpectedPackets(records.flowHash(record));
        final long commonPackets = Math.max(0, flowPackets - unexpectedPackets);
        final int measuredPackets = Math.max(0, packets - (int)Math.round(share * unexpectedPackets));
        estimator.estimate(records.flowHash(record), records.weight(record, run.number()), commonPackets, estimate);
        summary.flowCount++;
        if (estimate.hasMean() && measuredPackets > 0) {
            summary.estimatedFlowCount++;
            records.addDelay(record, measuredPackets, share, estimate);
        } else {
            records.addUnanswered(record, packets);
        }
        tellLoss(record, share, summary);
    }

    private void tellLoss(final int record, final double share, final IntervalAnswer summary) {
        final long flowHash = records.flowHash(record);
        repair.name(flowHash);
        if (repair.isForgotten(flowHash) || repair.isLossHidden() && repair.isListed(flowHash)) {
            records.addUnknownLoss(record);
        } else if (repair.isLossKnown(flowHash) && !repair.isLossHidden()) {
            tellListed(record, share, LossKind.EXACT, 0, summary);
        } else if (repair.isListed(flowHash) &&
            (estimate.lossKind() == LossKind.EXACT || estimate.lossKind() == LossKind.UPPER_BOUND)) {
            tellListed(record, share, estimate.lossKind(), estimate.lostPackets(), summary);
        } else if (estimate.lossKind() == LossKind.NONE || summary.isCut && estimate.lossKind() != LossKind.EXACT) {
            records.addUnknownLoss(record);
        } else {
            records.addLoss(record, estimate.lostPackets(), estimate.lossKind());
            summary.flowLostPackets += share * estimate.lostPackets();
        }
    }

    /**
     * The packets that were taken out of the cells, and what the cells still say of the flow: exact for a record that has all of
     * it, else each may have lost all.
     */
    private void tellListed(
        final int record, final double share, final LossKind kind, final double restPackets, final IntervalAnswer summary) {
        final long flowHash = records.flowHash(record);
        final long lost = repair.lostPackets(flowHash);
        final long unexpected = repair.unexpectedPackets(flowHash);
        final boolean isExact = kind == LossKind.EXACT && (share == 1 || lost + unexpected == 0);
        records.addListedLoss(
            record, lost + restPackets, unexpected, isExact ? LossKind.EXACT : LossKind.UPPER_BOUND);
        summary.flowLostPackets += share * (lost - unexpected + restPackets);
    }

    /** Flows that live and of which nothing arrived may have lost all that they sent. */
    private void tellSilentFlows(final long key, final IntervalAnswer summary) {
        totals.addSilent(records, key);
        for (int record = 0; record < records.limit(); record++) {
            final long silentRecords = totals.silentRecords(records.flowHash(record));
            if (silentRecords > 0 && records.isSilent(record, key)) {
                tellSilentFlow(record, 1.0 / silentRecords, summary);
            }
        }
    }

    /** Nobody knows the weight of a flow of which nothing arrived since settings changed. */
    private void tellSilentFlow(final int record, final double share, final IntervalAnswer summary) {
        final int weight = records.weight(record, run.number());
        final long flowHash = records.flowHash(record);
        if (repair.isLossKnown(flowHash) && !repair.isLossHidden()) {
            repair.name(flowHash);
            tellListed(record, share, LossKind.EXACT, 0, summary);
        } else if (weight == 0) {
            records.addUnknownLoss(record);
        } else {
            estimator.estimate(records.flowHash(record), weight, 0, estimate);
            tellLoss(record, share, summary);
        }
    }
}
