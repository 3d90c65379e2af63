package io.flowlag.exporter.delay;

import io.flowlag.exporter.sketching.SketchRecords;
import io.flowlag.rli.counters.CounterTable;
import io.flowlag.rli.counters.DelayCounters;
import org.agrona.DirectBuffer;
import org.agrona.MutableDirectBuffer;

/**
 * Writes what the sketches of a sender say of a flow into its record, the mean of the best estimator and the loss, and compares
 * it with what matching and references found. The metering thread writes; what was counted may be read by any. Allocates at
 * construction.
 */
final class SketchWriter {
    private static final int BOUNDED_FLOWS = 0;
    private static final int BOUNDS_HELD = 1;
    private static final int BOTH_FLOWS = 2;
    private static final int BOTH_AGREED = 3;
    private static final int JOINT_BOUNDED_FLOWS = 4;
    private static final int JOINT_BOUNDS_HELD = 5;
    private static final int JOINT_FLOWS = 6;
    private static final int LISTED_FLOWS = 7;
    private static final int LISTED_AGREED = 8;
    private static final int COLUMNS = 9;

    private final SketchRecords records;
    private final boolean isReconciled;
    private final EstimateErrors errors = new EstimateErrors();
    private final CounterTable table = new CounterTable(1, COLUMNS);

    /**
     * Nothing compared yet.
     *
     * @param records      have what the sketches say.
     * @param isReconciled whether lost packets are listed, so that a loss by sketches can be exact.
     */
    SketchWriter(final SketchRecords records, final boolean isReconciled) {
        this.records = records;
        this.isReconciled = isReconciled;
    }

    /** Writes what the sketches say into a record. */
    void write(final MutableDirectBuffer entry, final int offset, final int record) {
        final int sketchOffset = FlowDelay.sketchOffset(offset);
        if (records.hasMean(record) && !records.hasCells(record)) {
            writeSums(entry, offset, record);
        } else if (records.hasMean(record)) {
            FlowSketch.mean(
                entry, sketchOffset, records.meanNs(record), records.samples(record), records.usableCells(record),
                records.answeredPackets(record));
            FlowDelay.sketchFlags(entry, offset, FlowDelay.FLAG_SKETCH);
            if (records.hasStandardDeviation(record)) {
                FlowSketch.standardDeviationNs(entry, sketchOffset, records.standardDeviationNs(record));
                FlowDelay.sketchFlags(entry, offset, FlowDelay.FLAG_SKETCH_DEVIATION);
            }
            judge(entry, offset, record);
            if (FlowDelay.estimator(entry, offset) == 0) {
                FlowDelay.estimator(entry, offset, FlowDelay.ESTIMATOR_SKETCH);
                if (records.hasBound(record)) {
                    FlowDelay.errorBoundNs(entry, offset, records.boundNs(record));
                }
            }
        }
        writeJoint(entry, offset, record);
        judgeLoss(entry, offset, record);
        if (records.hasLoss(record) && !FlowDelay.has(entry, offset, FlowDelay.FLAG_LOSS)) {
            if (records.isLossExact(record) && !records.hasUnexpected(record)) {
                FlowDelay.lossDifference(entry, offset, records.lostPackets(record));
            } else if (records.isLossExact(record)) {
                FlowDelay.loss(
                    entry, offset, records.lostPackets(record), records.unexpectedPackets(record), FlowDelay.LOSS_EXACT);
            } else {
                FlowDelay.lossBound(entry, offset, records.lostPackets(record));
            }
        }
    }

    /** Compares losses that were listed with what was matched. */
    private void judgeLoss(final DirectBuffer entry, final int offset, final int record) {
        if (isReconciled && records.hasLoss(record) && records.isLossExact(record) &&
            FlowDelay.has(entry, offset, FlowDelay.FLAG_LOSS)) {
            table.increment(0, LISTED_FLOWS);
            table.add(0, LISTED_AGREED, records.lostPackets(record) == FlowDelay.lostPackets(entry, offset) ? 1 : 0);
        }
    }

    /** The mean by sums of the flow: exact if it is of all packets, else of the intervals in which the sums agree. */
    private void writeSums(final MutableDirectBuffer entry, final int offset, final int record) {
        final int estimator = FlowDelay.estimator(entry, offset);
        final boolean isExact = records.isMeanExact(record);
        if (estimator == 0 || isExact && estimator != FlowDelay.ESTIMATOR_MATCHED) {
            FlowSketch.mean(
                entry, FlowDelay.sketchOffset(offset), records.meanNs(record), records.samples(record), 0,
                records.answeredPackets(record));
            FlowDelay.estimator(entry, offset, FlowDelay.ESTIMATOR_FLOW_SUMS);
            if (isExact) {
                FlowDelay.errorBoundNs(entry, offset, 0);
            }
        }
    }

    /** References and sketches together, or the parent that stands in; only exact matching knows better. */
    private void writeJoint(final MutableDirectBuffer entry, final int offset, final int record) {
        final int matchedOffset = FlowDelay.matchedOffset(offset);
        final boolean isSketchBetter = DelayCounters.count(entry, offset) == 0 && records.hasBound(record) &&
            !records.hasJointBound(record);
        final boolean hasMean = records.hasJointMean(record) && !isSketchBetter;
        final boolean isTold = records.isJointTold(record);
        table.add(0, JOINT_FLOWS, hasMean ? 1 : 0);
        if (hasMean && !isTold && records.hasJointBound(record) && DelayCounters.count(entry, matchedOffset) > 0) {
            final long errorNs = Math.abs(records.jointMeanNs(record) - DelayCounters.meanNs(entry, matchedOffset));
            table.increment(0, JOINT_BOUNDED_FLOWS);
            table.add(0, JOINT_BOUNDS_HELD, errorNs <= Math.max(1, records.jointBoundNs(record)) ? 1 : 0);
        }
        if (hasMean && !isTold && records.hasMean(record) && DelayCounters.count(entry, offset) > 0 &&
            DelayCounters.count(entry, matchedOffset) > 0) {
            errors.record(
                DelayCounters.meanNs(entry, matchedOffset), DelayCounters.meanNs(entry, offset), records.meanNs(record),
                records.jointMeanNs(record));
        }
        final int estimator = FlowDelay.estimator(entry, offset);
        if (estimator == FlowDelay.ESTIMATOR_MATCHED || estimator == FlowDelay.ESTIMATOR_FLOW_SUMS) {
            return;
        }
        if (hasMean) {
            FlowSketch.jointMean(
                entry, FlowDelay.sketchOffset(offset), records.jointMeanNs(record), records.jointPackets(record));
            FlowDelay.estimator(entry, offset, FlowDelay.ESTIMATOR_JOINT);
            errorBound(entry, offset, records.hasJointBound(record) ? records.jointBoundNs(record) : -1);
        } else if (records.isSketchPreferred(record) && records.hasMean(record)) {
            FlowDelay.estimator(entry, offset, FlowDelay.ESTIMATOR_SKETCH);
            errorBound(entry, offset, records.hasBound(record) ? records.boundNs(record) : -1);
        }
    }

    private static void errorBound(final MutableDirectBuffer entry, final int offset, final long boundNs) {
        if (boundNs >= 0) {
            FlowDelay.errorBoundNs(entry, offset, boundNs);
        } else {
            FlowDelay.clearErrorBound(entry, offset);
        }
    }

    /** Compares the sketches' mean with what was matched, and with what was interpolated. */
    private void judge(final MutableDirectBuffer entry, final int offset, final int record) {
        final long meanNs = records.meanNs(record);
        final int matchedOffset = FlowDelay.matchedOffset(offset);
        final boolean isBounded = records.hasBound(record);
        if (isBounded && DelayCounters.count(entry, matchedOffset) > 0) {
            final long errorNs = Math.abs(meanNs - DelayCounters.meanNs(entry, matchedOffset));
            table.increment(0, BOUNDED_FLOWS);
            table.add(0, BOUNDS_HELD, errorNs <= Math.max(1, records.boundNs(record)) ? 1 : 0);
        }
        if (isBounded && DelayCounters.count(entry, offset) > 0 &&
            FlowDelay.has(entry, offset, FlowDelay.FLAG_ERROR_BOUND)) {
            final long distanceNs = Math.abs(meanNs - DelayCounters.meanNs(entry, offset));
            table.increment(0, BOTH_FLOWS);
            table.add(0, BOTH_AGREED, distanceNs <= records.boundNs(record) + FlowDelay.errorBoundNs(entry, offset) ? 1 : 0);
        }
    }

    /** {@return flow records with a mean that has a bound, and matched packets} */
    long boundedFlowCount() {
        return table.get(0, BOUNDED_FLOWS);
    }

    /** {@return those of them where the matched mean lies within the bound} */
    long heldBoundCount() {
        return table.get(0, BOUNDS_HELD);
    }

    /** {@return how far each estimator is from what was matched} */
    EstimateErrors errors() {
        return errors;
    }

    /** {@return flow records with a mean by references and sketches together} */
    long jointFlowCount() {
        return table.get(0, JOINT_FLOWS);
    }

    /** {@return those of them with a bound, and matched packets} */
    long jointBoundedFlowCount() {
        return table.get(0, JOINT_BOUNDED_FLOWS);
    }

    /** {@return those of them where the matched mean lies within the bound} */
    long jointHeldBoundCount() {
        return table.get(0, JOINT_BOUNDS_HELD);
    }

    /** {@return flow records with an exact loss by sketches and reconciliation, and one by matching} */
    long listedFlowCount() {
        return table.get(0, LISTED_FLOWS);
    }

    /** {@return those of them where the two are equal} */
    long listedAgreedCount() {
        return table.get(0, LISTED_AGREED);
    }

    /** {@return flow records with two bounded means, by sketches and by references} */
    long bothFlowCount() {
        return table.get(0, BOTH_FLOWS);
    }

    /** {@return those of them where the means differ by no more than both bounds} */
    long bothAgreedCount() {
        return table.get(0, BOTH_AGREED);
    }
}
