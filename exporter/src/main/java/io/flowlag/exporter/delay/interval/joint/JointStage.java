package io.flowlag.exporter.delay.interval.joint;

import io.flowlag.common.counter.CounterSet;
import io.flowlag.exporter.delay.interval.records.CellEstimates;
import io.flowlag.exporter.delay.interval.records.FlowSumPairs;
import io.flowlag.exporter.delay.interval.records.FlowSums;
import io.flowlag.exporter.delay.interval.records.HeldPackets;
import io.flowlag.exporter.delay.interval.records.IntervalKeys;
import io.flowlag.exporter.delay.interval.records.IntervalSettings;
import io.flowlag.exporter.delay.interval.records.JointSettings;
import io.flowlag.exporter.delay.interval.records.ReceivedPackets;
import io.flowlag.exporter.delay.interval.records.ReceiverInterval;
import io.flowlag.exporter.delay.interval.records.ReceiverRecords;
import io.flowlag.exporter.delay.interval.records.RecordList;
import io.flowlag.exporter.delay.interval.records.SenderAnswer;
import io.flowlag.exporter.delay.interval.records.SketchCounter;
import io.flowlag.exporter.delay.interval.records.SketchRecords;
import io.flowlag.exporter.delay.interval.records.SketchedPacket;
import io.flowlag.sketch.image.SketchGeometry;
import io.flowlag.sketch.joint.JointTier;

import java.util.function.Consumer;

/**
 * Joint estimation at the receiver point. It finds the interval and cells of each packet estimate, sums the estimates, and passes
 * intervals to the solver. Without joint estimation it is empty and does nothing. The metering thread owns it; the solver may
 * have its own thread. Allocates at construction.
 */
public final class JointStage implements AutoCloseable {
    private final ReceiverRecords keeper;
    private final SketchRecords records;
    private final CounterSet<SketchCounter> counters;
    private final boolean isOn;
    private final PendingEstimates pending;
    private final RecordEstimates recordEstimates;
    private final JointSolver solver;
    private final SketchedPacket booked = new SketchedPacket();
    private Consumer<JointAnswer> handler = (answer) -> { };

    /** Creates the stage of records that receive estimates. */
    public JointStage(final IntervalSettings settings, final ReceiverRecords keeper) {
        this.keeper = keeper;
        counters = keeper.counters();
        records = keeper.table();
        isOn = settings.joint() != null;
        final JointSettings joint = isOn ? settings.joint() : JointSettings.OFF;
        pending = new PendingEstimates(joint.pendingPackets());
        recordEstimates = new RecordEstimates(isOn ? settings.room().records() : 0, settings.openIntervals());
        solver = new JointSolver(
            isOn ? settings.cells().geometry() : IntervalSettings.NO_CELLS, settings.cells().seed(), joint);
    }

    /** The stage of one more shard of a point, with that shard's records: its packets wait for their estimates here. */
    public JointStage(final IntervalSettings settings, final JointStage first, final ReceiverRecords keeper) {
        this.keeper = keeper;
        counters = keeper.counters();
        records = keeper.table();
        isOn = first.isOn;
        pending = new PendingEstimates(isOn ? settings.joint().pendingPackets() : JointSettings.OFF.pendingPackets());
        recordEstimates = first.recordEstimates;
        solver = first.solver;
    }

    /** Octets of one more shard, by formula. */
    public static long shardBytes(final IntervalSettings settings) {
        return settings.joint() == null ? 0 : PendingEstimates.memoryBytes(settings.joint().pendingPackets()) +
            (settings.openIntervals() + 1L) * CellEstimates.memoryBytes(settings.cells().geometry()) +
            (settings.openIntervals() + 2L) * settings.room().inFlightPackets() * HeldPackets.ESTIMATE_BYTES;
    }

    /**
     * Memory, by formula: 48 octets for each pending packet; 24 for each record and interval that may be open at once, rounded up
     * to a power of two; 8 for each cell and open interval; 16 for each held packet. The library gives the solver's memory. Two
     * copies of an interval (one for captures) take both sketches, 8 octets for each cell and 73 for each flow. Returns octets; 0
     * without joint estimation.
     */
    public static long bytes(final IntervalSettings settings) {
        if (settings.joint() == null) {
            return 0;
        }
        final int intervals = settings.openIntervals() + 1;
        final SketchGeometry geometry = settings.cells().geometry();
        return PendingEstimates.memoryBytes(settings.joint().pendingPackets()) +
            RecordEstimates.memoryBytes(settings.room().records(), settings.openIntervals()) +
            intervals * CellEstimates.memoryBytes(geometry) +
            (intervals + 1L) * settings.room().inFlightPackets() * HeldPackets.ESTIMATE_BYTES +
            JointSolver.memoryBytes(geometry, settings.joint());
    }

    /**
     * Sets the handler of solved intervals whose records are updated; before the first packet. An answer is valid during the
     * call; the handler must not throw.
     */
    public void handler(final Consumer<JointAnswer> newHandler) {
        handler = newHandler;
    }

    /** {@return the ticket of a packet that was assigned to an interval} */
    public long onBooked(final long intervalNumber, final SketchedPacket packet) {
        return isOn ? pending.add(packet, intervalNumber, PendingEstimates.BOOKED) : ReceivedPackets.NO_TICKET;
    }

    /** Gives tickets to packets that were assigned to an interval. */
    public void onBooked(final long intervalNumber, final ReceivedPackets packets) {
        for (int i = 0; isOn && i < packets.count(); i++) {
            packets.ticket(i, pending.add(packets.read(i, records, booked), intervalNumber, PendingEstimates.BOOKED));
        }
    }

    /** {@return the ticket of the packet held last, until the interval before that number is due} */
    public long onHeld(final HeldPackets held, final long intervalNumber, final SketchedPacket packet) {
        if (!isOn) {
            return ReceivedPackets.NO_TICKET;
        }
        final long ticket = pending.add(packet, intervalNumber, held.count() - 1);
        held.ticket(ticket);
        return ticket;
    }

    /** Moves a held packet to the end of another buffer, where it is held until the interval before that number is due. */
    public void onHeldOn(final HeldPackets room, final long intervalNumber, final HeldPackets held, final int index) {
        if (!isOn) {
            return;
        }
        final long ticket = held.ticket(index);
        room.ticket(ticket);
        if (held.hasEstimate(index)) {
            room.estimate(room.count() - 1, held.estimateNs(index), held.spanNumber(index), held.errorScaleNs(index));
        } else if (pending.holds(ticket)) {
            pending.hold(ticket, intervalNumber, room.count() - 1);
        }
    }

    /** Marks the estimate of the packet held last as kept elsewhere. */
    public void onHeldElsewhere(final HeldPackets held) {
        if (isOn) {
            held.ticket(ReceivedPackets.NO_TICKET);
        }
    }

    /** Begins the estimates of a record in an interval, at its first packet there. */
    public void onFirstPacket(final int record, final long intervalNumber) {
        if (isOn) {
            recordEstimates.clear(record, intervalNumber);
        }
    }

    /** Assigns the estimate of a held packet to the interval that it was assigned to. */
    public void onSettled(
        final ReceiverInterval target, final HeldPackets held, final int index, final SketchedPacket packet) {
        if (isOn && held.hasEstimate(index)) {
            counters.add(SketchCounter.JOINT_ESTIMATES_HELD, -1);
            book(target, packet, held.estimateNs(index), held.spanNumber(index), held.errorScaleNs(index));
        } else if (isOn && pending.holds(held.ticket(index))) {
            pending.book(held.ticket(index), packet, target.intervalNumber());
        }
    }

    /** Adds an estimate of a packet. */
    public void onEstimate(
        final long ticket, final long delayNs, final long spanNumber, final float errorScaleNs, final IntervalLookup lookup) {
        if (!isOn) {
            return;
        }
        counters.increment(SketchCounter.JOINT_ESTIMATES);
        if (ticket == ReceivedPackets.NO_TICKET) {
            counters.increment(SketchCounter.JOINT_ESTIMATES_UNSKETCHED);
            return;
        }
        if (!pending.holds(ticket)) {
            counters.increment(SketchCounter.JOINT_ESTIMATES_OVERRUN);
            return;
        }
        final boolean isBooked = pending.heldIndex(ticket) == PendingEstimates.BOOKED;
        final ReceiverInterval open = isBooked ? lookup.open(pending.interval(ticket)) : null;
        final HeldPackets held = isBooked ? null : lookup.held(pending.interval(ticket));
        if (open != null) {
            book(open, pending.read(ticket, booked), delayNs, spanNumber, errorScaleNs);
        } else if (held != null) {
            counters.increment(SketchCounter.JOINT_ESTIMATES_HELD);
            held.estimate(pending.heldIndex(ticket), delayNs, spanNumber, errorScaleNs);
        } else {
            counters.increment(SketchCounter.JOINT_ESTIMATES_LATE);
        }
    }

    /** Finds open intervals. */
    public interface IntervalLookup {
        /** {@return the interval; null if it is not open} */
        ReceiverInterval open(long intervalNumber);

        /** {@return the packets held until the interval before that number is due; null if it is over} */
        HeldPackets held(long intervalNumber);
    }

    private void book(
        final ReceiverInterval open, final SketchedPacket packet, final long delayNs, final long spanNumber,
        final float errorScaleNs) {
        counters.increment(SketchCounter.JOINT_ESTIMATES_BOOKED);
        open.estimates().add(packet.flowHash(), packet.digest(), packet.weight(), delayNs);
        if (packet.record() != SketchRecords.NONE) {
            recordEstimates.add(packet.record(), open.intervalNumber(), delayNs, spanNumber, errorScaleNs);
        }
    }

    /** Adds the exact mean of a flow. A record with only some of its packets gets no bound from it. */
    public void addExact(final int record, final int packets, final boolean isWhole, final double meanNs) {
        if (isOn) {
            records.addJoint(record, packets, meanNs, meanNs, isWhole ? 0 : Double.NaN, false);
        }
    }

    /** Submits an interval whose sketches were compared. */
    public void solve(
        final SenderAnswer answer, final ReceiverInterval own, final FlowSumPairs pairs, final IntervalKeys run) {
        if (isOn && answer.hasSketches() && !submit(answer, own, pairs, run)) {
            giveUp(own, run.key(own.intervalNumber()));
        }
    }

    /** Submits an interval to the solver, and retains its records until it comes back. */
    private boolean submit(
        final SenderAnswer answer, final ReceiverInterval own, final FlowSumPairs pairs, final IntervalKeys run) {
        final JointTask task = solver.claim();
        if (task == null) {
            counters.increment(SketchCounter.JOINT_INTERVALS_SKIPPED);
            return false;
        }
        final RecordList list = own.records();
        if (list.count() > task.capacity()) {
            counters.increment(SketchCounter.JOINT_INTERVALS_TOO_LARGE);
            return false;
        }
        task.begin(own.intervalNumber(), run.intervalNs());
        task.images(answer.sketch(), own.sketch());
        own.estimates().copyTo(task.cellEstimatesNs);
        task.leastEstimateNs = own.estimates().leastNs();
        for (int i = 0; i < list.count(); i++) {
            records.retain(list.get(i));
            task.addRecord(list.get(i), records, run, recordEstimates);
        }
        addWitnesses(task, pairs);
        solver.submit(task);
        return true;
    }

    private void addWitnesses(final JointTask task, final FlowSumPairs pairs) {
        for (int row = 0; row < pairs.count(); row++) {
            final FlowSums sent = pairs.sent();
            if (pairs.agreement(row) != FlowSumPairs.Agreement.SAME_PACKETS) {
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

    /** Completes an interval without solving it: its records get the estimates by references alone. */
    public void giveUp(final ReceiverInterval own, final long key) {
        for (int i = 0; isOn && i < own.records().count(); i++) {
            final int record = own.records().get(i);
            final long estimates = recordEstimates.count(record, own.intervalNumber());
            if (estimates > 0) {
                final double meanNs = recordEstimates.sumNs(record, own.intervalNumber()) / (double)estimates;
                records.addJoint(record, records.packets(record, key), meanNs, meanNs, Double.NaN, true);
            }
        }
    }

    /** Writes the estimates of the next solved interval, if there is one, into its records. */
    public void onSolved() {
        finish(solver.take());
    }

    /** Waits for every submitted interval and writes its estimates. */
    public void onEnd() {
        JointTask task = solver.takeLast();
        while (task != null) {
            finish(task);
            task = solver.takeLast();
        }
    }

    private void finish(final JointTask task) {
        if (task == null) {
            return;
        }
        for (int i = 0; i < task.recordCount; i++) {
            final int record = task.records[i];
            if (task.kinds[i] != JointKind.NONE) {
                records.addJoint(
                    record, task.packets[i], task.meansNs[i], task.cellsMeansNs[i], task.boundsNs[i],
                    task.kinds[i] != JointKind.JOINT);
                if (task.areTold[i]) {
                    records.addJointTold(record);
                }
            }
            keeper.release(record);
        }
        handler.accept(task.answer);
        giveBack(task);
    }

    /** {@return whether no interval is being solved} */
    public boolean isIdle() {
        return solver.isIdle();
    }

    /** Counts the result of an interval and releases its task. */
    private void giveBack(final JointTask task) {
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

    /** Stops the solver's thread. */
    @Override
    public void close() {
        solver.close();
    }
}
