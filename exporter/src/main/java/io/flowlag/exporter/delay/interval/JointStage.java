package io.flowlag.exporter.delay.interval;

import io.flowlag.common.counter.CounterSet;
import io.flowlag.sketch.joint.JointTier;
import io.flowlag.sketch.lds.CellMap;

/**
 * What the receiver point keeps so that references and sketches can be solved together: which interval and cells each estimate of
 * a packet belongs to, sums of them, and intervals on their way to the solver. The metering thread owns it; the solver may have a
 * thread of its own. Allocates at construction.
 * <p>
 * Memory, by formula: 48 octets a pending packet, 24 for each record and interval that may be open at once (a power of two), 8 a
 * cell and open interval, 16 a packet held; the solver's is the library's, and two copies of an interval (one where captures are
 * read): both sketches, 8 octets a cell and 73 a flow.
 */
final class JointStage implements AutoCloseable {
    private final SketchRecords records;
    private final CounterSet<SketchCounter> counters;
    private final PendingEstimates pending;
    private final RecordEstimates recordEstimates;
    private final JointSolver solver;
    private final long intervalNs;

    JointStage(final SketchContext context, final SketchRecords records, final CounterSet<SketchCounter> counters) {
        this.records = records;
        this.counters = counters;
        intervalNs = context.intervalNs();
        pending = new PendingEstimates(context.joint().pendingPackets());
        recordEstimates = new RecordEstimates(context.recordCount(), context.openIntervals());
        solver = new JointSolver(context);
    }

    static long memoryBytes(final SketchContext context) {
        final int intervals = context.openIntervals() + 1;
        return PendingEstimates.memoryBytes(context.joint().pendingPackets()) +
            RecordEstimates.memoryBytes(context.recordCount(), context.openIntervals()) +
            intervals * CellEstimates.memoryBytes(context.geometry()) +
            (intervals + 1L) * context.inFlightPackets() * HeldPackets.ESTIMATE_BYTES +
            JointSolver.memoryBytes(context);
    }

    static CellEstimates cellEstimates(final SketchContext context) {
        return new CellEstimates(context.geometry(), new CellMap(context.geometry(), context.seed()));
    }

    /** Takes in a packet that is booked, and says its ticket. */
    long onBooked(
        final PointInterval open, final long flowHash, final long digest, final int record, final int weight) {
        return pending.add(flowHash, digest, open.intervalNumber(), record, weight, PendingEstimates.BOOKED);
    }

    /** Takes in a packet that is held until the interval before that number is due, and says its ticket. */
    long onHeld(final long intervalNumber, final int heldIndex) {
        return pending.add(0, 0, intervalNumber, SketchRecords.NONE, 0, heldIndex);
    }

    /** A packet that was held is the last of others now, and held until the interval before that number is due. */
    void onHeldOn(final HeldPackets room, final long intervalNumber, final HeldPackets held, final int index) {
        final long ticket = held.ticket(index);
        room.ticket(ticket);
        if (held.hasEstimate(index)) {
            room.estimate(
                room.count() - 1, held.estimateNs(index), held.spanNumber(index), held.errorScaleNs(index));
        } else if (pending.holds(ticket)) {
            pending.hold(ticket, intervalNumber, room.count() - 1);
        }
    }

    /** A record has its first packet in an interval. */
    void onFirstPacket(final int record, final long intervalNumber) {
        recordEstimates.clear(record, intervalNumber);
    }

    /** A packet that was held is booked: what its estimate belongs to is known now. */
    void onSettled(
        final PointInterval target, final HeldPackets held, final int index, final int record) {
        if (held.hasEstimate(index)) {
            counters.add(SketchCounter.JOINT_ESTIMATES_HELD, -1);
            book(
                target, held.flowHash(index), held.digest(index), held.weight(index), record, held.estimateNs(index),
                held.spanNumber(index), held.errorScaleNs(index));
        } else if (pending.holds(held.ticket(index))) {
            pending.book(
                held.ticket(index), target.intervalNumber(), held.flowHash(index), held.digest(index), record,
                held.weight(index));
        }
    }

    /** An estimate of a packet has come; the interval's sketch is null if it is not open any more. */
    void onEstimate(
        final long ticket, final long delayNs, final long spanNumber, final float errorScaleNs, final IntervalLookup lookup) {
        counters.increment(SketchCounter.JOINT_ESTIMATES);
        if (ticket == PendingEstimates.NO_TICKET) {
            counters.increment(SketchCounter.JOINT_ESTIMATES_UNSKETCHED);
            return;
        }
        if (!pending.holds(ticket)) {
            counters.increment(SketchCounter.JOINT_ESTIMATES_OVERRUN);
            return;
        }
        final boolean isBooked = pending.heldIndex(ticket) == PendingEstimates.BOOKED;
        final PointInterval open = isBooked ? lookup.open(pending.interval(ticket)) : null;
        final HeldPackets held = isBooked ? null : lookup.held(pending.interval(ticket));
        if (open != null) {
            book(
                open, pending.flowHash(ticket), pending.digest(ticket), pending.weight(ticket), pending.record(ticket),
                delayNs, spanNumber, errorScaleNs);
        } else if (held != null) {
            counters.increment(SketchCounter.JOINT_ESTIMATES_HELD);
            held.estimate(pending.heldIndex(ticket), delayNs, spanNumber, errorScaleNs);
        } else {
            counters.increment(SketchCounter.JOINT_ESTIMATES_LATE);
        }
    }

    /** Finds what is open. */
    interface IntervalLookup {
        /** {@return the interval; null if it is not open} */
        PointInterval open(long intervalNumber);

        /** {@return the packets that are held until the interval before that number is due; null if it is over} */
        HeldPackets held(long intervalNumber);
    }

    private void book(
        final PointInterval open, final long flowHash, final long digest, final int weight, final int record,
        final long delayNs, final long spanNumber, final float errorScaleNs) {
        counters.increment(SketchCounter.JOINT_ESTIMATES_BOOKED);
        open.estimates().add(flowHash, digest, weight, delayNs);
        if (record != SketchRecords.NONE) {
            recordEstimates.add(record, open.intervalNumber(), delayNs, spanNumber, errorScaleNs);
        }
    }

    /**
     * Hands an interval to the solver; its records, which count its packets under the key, are kept until it comes back.
     *
     * @return false if it cannot be solved, and nobody keeps anything.
     */
    boolean submit(
        final SenderAnswer answer, final PointInterval own, final FlowSumPairs pairs, final long key, final int settingsRun) {
        final JointTask task = solver.claim();
        if (task == null) {
            counters.increment(SketchCounter.JOINT_INTERVALS_SKIPPED);
            return false;
        }
        if (own.recordCount() > task.capacity()) {
            counters.increment(SketchCounter.JOINT_INTERVALS_TOO_LARGE);
            return false;
        }
        final long number = own.intervalNumber();
        task.begin(number, intervalNs);
        task.images(answer.sketch(), own.sketch());
        own.estimates().copyTo(task.cellEstimatesNs);
        task.leastEstimateNs = own.estimates().leastNs();
        for (int i = 0; i < own.recordCount(); i++) {
            final int record = own.record(i);
            records.retain(record);
            task.addRecord(
                record, records.flowHash(record), records.packets(record, key), records.weight(record, settingsRun),
                records.classIndex(record), recordEstimates.count(record, number), recordEstimates.sumNs(record, number),
                recordEstimates.squareSumNs2(record, number), recordEstimates.errorScaleNs(record, number));
        }
        addWitnesses(task, pairs);
        solver.submit(task);
        return true;
    }

    private void addWitnesses(final JointTask task, final FlowSumPairs pairs) {
        for (int row = 0; row < pairs.count(); row++) {
            final FlowSums sent = pairs.sent();
            if (pairs.agreement(row) != FlowSumPairs.Agreement.EXACT) {
                continue;
            }
            if (sent.isWitness(row)) {
                if (!task.addWitness(sent.flowHash(row), sent.packets(row), pairs.delaySumNs(row))) {
                    counters.increment(SketchCounter.JOINT_WITNESSES_LEFT_OUT);
                }
            } else {
                task.addOther(sent.flowHash(row), sent.packets(row), pairs.delaySumNs(row));
            }
        }
    }

    /**
     * An interval that cannot be solved: references alone say what they can. Its records count its packets under the key.
     */
    void tellUnsolved(final PointInterval own, final long key) {
        final long number = own.intervalNumber();
        for (int i = 0; i < own.recordCount(); i++) {
            final int record = own.record(i);
            final int packets = records.packets(record, key);
            final long estimates = recordEstimates.count(record, number);
            if (estimates > 0) {
                records.addJoint(
                    record, packets, recordEstimates.sumNs(record, number) / (double)estimates, Double.NaN, JointKind.RLI);
            }
        }
    }

    /** {@return whether nothing is under way} */
    boolean isIdle() {
        return solver.isIdle();
    }

    /** {@return an interval that came back, to be told and given back; null if there is none} */
    JointTask take() {
        return solver.take();
    }

    /** {@return as {@link #take}, but waits for what is under way} */
    JointTask takeLast() {
        return solver.takeLast();
    }

    /** Tells a record what its interval said. */
    void tell(final JointTask task, final int index) {
        final int record = task.records[index];
        if (task.kinds[index] != JointKind.NONE) {
            records.addJoint(
                record, task.packets[index], task.meansNs[index], task.boundsNs[index], task.kinds[index]);
            if (task.areTold[index]) {
                records.addJointTold(record);
            }
        }
    }

    /** Counts what came of an interval, and gives it back. */
    void giveBack(final JointTask task) {
        counters.increment(SketchCounter.JOINT_INTERVALS);
        final SketchCounter outcome = switch (task.answer.status) {
            case JOINT -> SketchCounter.JOINT_INTERVALS_SOLVED;
            case CELLS_ALONE -> SketchCounter.JOINT_INTERVALS_CELLS_ALONE;
            case RLI -> SketchCounter.JOINT_INTERVALS_BY_RLI;
            case LDS -> SketchCounter.JOINT_INTERVALS_BY_LDS;
            case NONE -> SketchCounter.JOINT_INTERVALS_UNKNOWN;
        };
        counters.increment(outcome);
        counters.add(SketchCounter.JOINT_ANSWERED, task.answer.answeredFlowCount);
        counters.add(SketchCounter.JOINT_VOUCHED, task.answer.vouchedFlowCount);
        counters.add(SketchCounter.JOINT_INTERVALS_FAST, task.answer.tier == JointTier.FAST ? 1 : 0);
        counters.add(SketchCounter.JOINT_WITNESSES, task.answer.witnessCount);
        counters.add(SketchCounter.JOINT_CHECKED, task.answer.checkedFlowCount);
        counters.add(SketchCounter.JOINT_CHECKED_HELD, task.answer.heldFlowCount);
        final RuntimeException failure = task.failure;
        solver.giveBack(task);
        if (failure != null) {
            throw failure;
        }
    }

    @Override
    public void close() {
        solver.close();
    }
}
