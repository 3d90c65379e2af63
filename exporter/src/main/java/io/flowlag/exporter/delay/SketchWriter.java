package io.flowlag.exporter.delay;

import io.flowlag.common.counter.CounterSet;
import io.flowlag.exporter.delay.interval.records.SketchRecords;
import io.flowlag.exporter.flow.FlowEntry;
import io.flowlag.rli.counters.DelayCounters;
import io.flowlag.rli.receiver.PathSplit;
import org.agrona.DirectBuffer;
import org.agrona.MutableDirectBuffer;

import java.util.Locale;

/**
 * Writes a flow's sketch estimates into its record: the mean of the best estimator and the loss. Compares them with matching
 * and references. The metering thread writes; counters may be read by any. Allocates at construction.
 */
final class SketchWriter {
    private static final double NORMAL_95 = 1.96;
    /** Means of smaller flows in crowded cells lie near that of all flows, which is more often that of a wrong path. */
    private static final long LEAST_PACKETS_OF_A_PATH = 100;

    private final SketchRecords records;
    private final boolean isReconciled;
    private final BoundCheck referenceBounds = new BoundCheck();
    private final RecordCheck sketchBounds = new RecordCheck();
    /** Of records of several intervals; in one, the estimator calibrates its bounds. */
    private final RecordCheck jointBounds = new RecordCheck();
    private final EstimateErrors errors = new EstimateErrors();
    private final CounterSet<Count> counts = new CounterSet<>(Count.class);

    /** Nothing compared yet. With reconciliation lost packets are listed, so that a loss by sketches can be exact. */
    SketchWriter(final SketchRecords records, final boolean isReconciled) {
        this.records = records;
        this.isReconciled = isReconciled;
    }

    /** {@return the factor, from witnesses, for the bound of a mean by references} */
    double referenceFactor(final long packets) {
        return referenceBounds.factor(packets, 1);
    }

    /** Checks the bounds of all three against the record of a witness flow. */
    private void check(final DirectBuffer entry, final int offset, final int record, final long packets) {
        if (records.truthPackets(record) != packets) {
            return;
        }
        final double truthNs = records.truthNs(record);
        if (records.hasMean(record) && records.hasCells(record) && records.hasBound(record) &&
            records.answeredPackets(record) == packets) {
            sketchBounds.add(
                packets, records.boundIntervals(record), Math.abs(records.meanNs(record) - truthNs),
                Math.abs(records.lastingMeanNs(record) - truthNs), records.boundNs(record));
        }
        final double jointIntervals = records.jointBoundIntervals(record);
        if (records.hasJointBound(record) && records.jointPackets(record) == packets && !records.isJointTold(record) &&
            BoundCheck.isOfSeveral(jointIntervals)) {
            jointBounds.add(
                packets, jointIntervals, Math.abs(records.jointMeanNs(record) - truthNs),
                Math.abs(records.jointCellsMeanNs(record) - truthNs), records.jointBoundNs(record));
        }
        if (DelayCounters.count(entry, offset) > 0 && FlowDelay.has(entry, offset, FlowDelay.FLAG_ERROR_BOUND)) {
            referenceBounds.add(
                packets, 1, Math.abs(DelayCounters.meanNs(entry, offset) - truthNs), FlowDelay.errorBoundNs(entry, offset));
        }
    }

    /** Tells what cells say of the mean of all packets of a larger flow, whose path that may decide. */
    void tellPath(
        final DirectBuffer entry, final int offset, final PathSplit paths, final int slot, final int generation) {
        final int record = FlowDelay.sketchRecord(entry, offset);
        final long packets = FlowEntry.packetCount(entry, offset - FlowEntry.BASE_LENGTH_BYTES);
        if (record != SketchRecords.NONE && packets >= LEAST_PACKETS_OF_A_PATH && records.answeredPackets(record) == packets &&
            records.hasCells(record) && records.hasBound(record)) {
            paths.onMean(
                slot, generation, packets, sketchMeanNs(record, packets),
                sketchBoundNs(record, packets) / NORMAL_95, FlowDelay.errorScaleNs(entry, offset));
        }
    }

    /** Writes the loss and the sketch estimates into a record, and offers their means. */
    void write(final MutableDirectBuffer entry, final int offset, final int record, final MeanChoice choice) {
        check(entry, offset, record, choice.packets());
        judgeLoss(entry, offset, record);
        if (records.hasLoss(record) && !FlowDelay.has(entry, offset, FlowDelay.FLAG_LOSS)) {
            writeLoss(entry, offset, record);
            if (FlowDelay.has(entry, offset, FlowDelay.FLAG_UNEXPECTED) && FlowDelay.unexpectedPackets(entry, offset) > 0) {
                choice.leaveOut(FlowDelay.unexpectedPackets(entry, offset),
                    DelayCounters.count(entry, offset) == 0 ? 0 : DelayCounters.meanNs(entry, offset));
            }
        }
        if (choice.packets() <= 0) {
            return;
        }
        if (records.hasMean(record) && !records.hasCells(record)) {
            writeSums(entry, offset, record, choice);
        } else if (records.hasMean(record)) {
            final int sketchOffset = FlowDelay.sketchOffset(offset);
            final long meanNs = sketchMeanNs(record, choice.packets());
            FlowSketch.mean(
                entry, sketchOffset, meanNs, records.samples(record), records.usableCells(record),
                records.answeredPackets(record));
            FlowDelay.addFlags(entry, offset, FlowDelay.FLAG_SKETCH);
            if (records.hasStandardDeviation(record)) {
                FlowSketch.standardDeviationNs(entry, sketchOffset, records.standardDeviationNs(record));
                FlowDelay.addFlags(entry, offset, FlowDelay.FLAG_SKETCH_DEVIATION);
            }
            final double boundNs = records.hasBound(record) ? sketchBoundNs(record, choice.packets()) : MeanChoice.UNKNOWN;
            if (records.hasBound(record) && records.answeredPackets(record) == choice.packets()) {
                judge(entry, offset, meanNs, boundNs);
            }
            choice.offerEstimate(FlowDelay.ESTIMATOR_SKETCH, records.answeredPackets(record), meanNs, boundNs);
        }
        writeJoint(entry, offset, record, choice);
    }

    private long sketchMeanNs(final int record, final long packets) {
        return sketchBounds.isOther(packets, records.boundIntervals(record)) ? records.lastingMeanNs(record) :
            records.meanNs(record);
    }

    private long jointMeanNs(final int record) {
        return jointBounds.isOther(records.jointBoundPackets(record), records.jointBoundIntervals(record)) ?
            records.jointCellsMeanNs(record) : records.jointMeanNs(record);
    }

    private double sketchBoundNs(final int record, final long packets) {
        return sketchBounds.factor(packets, records.boundIntervals(record)) * records.boundNs(record);
    }

    private double jointBoundNs(final int record) {
        return jointBounds.factor(records.jointBoundPackets(record), records.jointBoundIntervals(record)) *
            records.jointBoundNs(record);
    }

    /** Writes the loss, as an upper bound if packets came unexpected too: each may be a lost one that was rewritten. */
    private void writeLoss(final MutableDirectBuffer entry, final int offset, final int record) {
        final long lost = records.lostPackets(record);
        final long unexpected = records.hasUnexpected(record) ? records.unexpectedPackets(record) : 0;
        if (!records.isLossExact(record) || lost > 0 && unexpected > 0) {
            FlowDelay.lossBound(entry, offset, lost);
        } else if (records.hasUnexpected(record)) {
            FlowDelay.loss(entry, offset, lost, unexpected, FlowDelay.LOSS_EXACT);
        } else {
            FlowDelay.exactLoss(entry, offset, lost);
        }
    }

    /** Compares listed losses with matching. */
    private void judgeLoss(final DirectBuffer entry, final int offset, final int record) {
        if (isReconciled && records.hasLoss(record) && records.isLossExact(record) &&
            FlowDelay.has(entry, offset, FlowDelay.FLAG_LOSS)) {
            counts.increment(Count.RECONCILE_LOSS_FLOWS);
            counts.add(Count.RECONCILE_LOSS_AGREED, records.lostPackets(record) == FlowDelay.lostPackets(entry, offset) ? 1 : 0);
        }
    }

    /** Writes the mean by flow sums, over the intervals in which the sums agree; for a part of a flow only the range is known. */
    private void writeSums(final MutableDirectBuffer entry, final int offset, final int record, final MeanChoice choice) {
        final long ofPackets = records.answeredPackets(record);
        final long meanNs = records.meanNs(record);
        FlowSketch.mean(entry, FlowDelay.sketchOffset(offset), meanNs, records.samples(record), 0, ofPackets);
        if (records.hasBound(record)) {
            choice.offerExact(FlowDelay.ESTIMATOR_FLOW_SUMS, ofPackets, meanNs);
        } else {
            choice.offerEstimate(FlowDelay.ESTIMATOR_FLOW_SUMS, ofPackets, meanNs, choice.reachNs(meanNs));
        }
    }

    /**
     * Writes the joint estimate of references and sketches; a parent replaces a whole record's mean only if there is no other.
     * Of a witness the true mean is written.
     */
    private void writeJoint(final MutableDirectBuffer entry, final int offset, final int record, final MeanChoice choice) {
        final long ofPackets = records.jointPackets(record);
        if (ofPackets == 0) {
            return;
        }
        final int matchedOffset = FlowDelay.matchedOffset(offset);
        final boolean isMatched = DelayCounters.count(entry, matchedOffset) > 0;
        final boolean isTold = records.isJointTold(record);
        final boolean isSolved = records.hasJointMean(record);
        final long meanNs = jointMeanNs(record);
        counts.add(Count.JOINT_FLOWS, isSolved ? 1 : 0);
        if (isSolved && !isTold && isMatched && ofPackets == choice.packets() && records.hasJointBound(record)) {
            final long errorNs = Math.abs(meanNs - DelayCounters.meanNs(entry, matchedOffset));
            counts.increment(Count.JOINT_BOUNDED_FLOWS);
            counts.add(Count.JOINT_BOUNDS_HELD, errorNs <= Math.max(choice.floorNs(), jointBoundNs(record)) ? 1 : 0);
        }
        if (isSolved && !isTold && isMatched && records.hasMean(record) && DelayCounters.count(entry, offset) > 0) {
            errors.record(
                DelayCounters.meanNs(entry, matchedOffset), DelayCounters.meanNs(entry, offset),
                sketchMeanNs(record, choice.packets()), meanNs);
            counts.set(Count.COMPARED_FLOWS, errors.count());
        }
        if (isSolved && records.truthPackets(record) == choice.packets()) {
            final long truthNs = Math.round(records.truthNs(record));
            FlowSketch.jointMean(entry, FlowDelay.sketchOffset(offset), truthNs, choice.packets());
            choice.offerEstimate(FlowDelay.ESTIMATOR_JOINT, choice.packets(), truthNs, 1);
            return;
        }
        FlowSketch.jointMean(entry, FlowDelay.sketchOffset(offset), meanNs, ofPackets);
        if (isSolved || !choice.hasMean()) {
            choice.offerEstimate(
                FlowDelay.ESTIMATOR_JOINT, ofPackets, meanNs, isSolved ? jointBoundNs(entry, offset, record, ofPackets) :
                    MeanChoice.UNKNOWN);
        }
    }

    /**
     * The bound of the joint estimate. Packets of intervals without a calibrated bound are assumed as wrong as references are
     * about so many packets; their bound grows with the inverse square root of the packets' share.
     */
    private double jointBoundNs(final DirectBuffer entry, final int offset, final int record, final long ofPackets) {
        final long bounded = records.jointBoundPackets(record);
        if (bounded == ofPackets) {
            return jointBoundNs(record);
        }
        if (bounded == 0 || !FlowDelay.has(entry, offset, FlowDelay.FLAG_ERROR_BOUND)) {
            return MeanChoice.UNKNOWN;
        }
        final double rest = ofPackets - bounded;
        final double restNs = referenceFactor(ofPackets) * FlowDelay.errorBoundNs(entry, offset) * Math.sqrt(ofPackets / rest);
        return (bounded * jointBoundNs(record) + rest * restNs) / ofPackets;
    }

    /** Compares the sketches' mean of all packets, and its bound, with the matched and the interpolated one, as exported. */
    private void judge(final DirectBuffer entry, final int offset, final long meanNs, final double boundNs) {
        final int matchedOffset = FlowDelay.matchedOffset(offset);
        if (DelayCounters.count(entry, matchedOffset) > 0) {
            final long errorNs = Math.abs(meanNs - DelayCounters.meanNs(entry, matchedOffset));
            counts.increment(Count.LDS_BOUNDED_FLOWS);
            counts.add(Count.LDS_BOUNDS_HELD, errorNs <= Math.max(1, boundNs) ? 1 : 0);
        }
        if (DelayCounters.count(entry, offset) > 0 && FlowDelay.has(entry, offset, FlowDelay.FLAG_ERROR_BOUND)) {
            final long packets = FlowEntry.packetCount(entry, offset - FlowEntry.BASE_LENGTH_BYTES);
            final double boundsNs = boundNs + referenceFactor(packets) * FlowDelay.errorBoundNs(entry, offset);
            final long distanceNs = Math.abs(meanNs - DelayCounters.meanNs(entry, offset));
            counts.increment(Count.LDS_RLI_FLOWS);
            counts.add(Count.LDS_RLI_AGREED, distanceNs <= boundsNs ? 1 : 0);
        }
    }

    /** {@return the errors of each estimator against matching} */
    EstimateErrors errors() {
        return errors;
    }

    /** {@return the counts of written records} */
    CounterSet<Count> counts() {
        return counts;
    }

    /** Counts of flow records, in the order of the statistics. */
    enum Count {
        /** Records with a mean by sketches that has a bound, and matched packets. */
        LDS_BOUNDED_FLOWS,
        /** Those of them where the matched mean lies within the bound. */
        LDS_BOUNDS_HELD,
        /** Records with two bounded means, by sketches and by references. */
        LDS_RLI_FLOWS,
        /** Those of them where the means differ by no more than both bounds. */
        LDS_RLI_AGREED,
        /** Records whose estimators' errors are known. */
        COMPARED_FLOWS,
        /** Records with a mean by references and sketches together. */
        JOINT_FLOWS,
        /** Those of them with a bound, and matched packets. */
        JOINT_BOUNDED_FLOWS,
        /** Those of them where the matched mean lies within the bound. */
        JOINT_BOUNDS_HELD,
        /** Records with an exact loss by sketches and reconciliation, and one by matching. */
        RECONCILE_LOSS_FLOWS,
        /** Those of them where the two are equal. */
        RECONCILE_LOSS_AGREED;

        /** {@return its name in statistics} */
        String label() {
            return name().toLowerCase(Locale.ROOT);
        }
    }
}
