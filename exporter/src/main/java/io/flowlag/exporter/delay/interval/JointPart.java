package io.flowlag.exporter.delay.interval;

import io.flowlag.common.counter.CounterSet;

/**
 * What a receiver point does for references and sketches to be solved together, if anybody wants that; else nothing. The metering
 * thread owns it. Allocates at construction.
 */
final class JointPart implements AutoCloseable {
    private final JointStage stage;
    private final ReceiverRecords records;
    private JointHandler handler = (answer) -> { };

    /**
     * Nothing solved yet.
     *
     * @param context  says whether it is wanted.
     * @param records  are told.
     * @param counters of the receiver point.
     */
    JointPart(final SketchContext context, final ReceiverRecords records, final CounterSet<SketchCounter> counters) {
        this.records = records;
        stage = context.joint() == null ? null : new JointStage(context, records.table(), counters);
    }

    void handler(final JointHandler newHandler) {
        handler = newHandler;
    }

    /** {@return the ticket of a packet that is booked} */
    long onBooked(
        final PointInterval open, final long flowHash, final long digest, final int record, final int weight) {
        return stage == null ? PendingEstimates.NO_TICKET : stage.onBooked(open, flowHash, digest, record, weight);
    }

    /** Gives tickets to the packets that were taken. */
    void onBooked(final PointInterval open, final ReceivedPackets packets) {
        for (int i = 0; stage != null && i < packets.count(); i++) {
            final int record = packets.record(i);
            packets.ticket(
                i, stage.onBooked(open, records.table().flowHash(record), packets.digest(i), record, packets.weight(i)));
        }
    }

    /** {@return the ticket of the packet that was held last, until the interval before that number is due} */
    long onHeld(final HeldPackets held, final long intervalNumber) {
        if (stage == null) {
            return PendingEstimates.NO_TICKET;
        }
        final long ticket = stage.onHeld(intervalNumber, held.count() - 1);
        held.ticket(ticket);
        return ticket;
    }

    /** A packet that was held is the last of others now. */
    void onHeldOn(final HeldPackets room, final long intervalNumber, final HeldPackets held, final int index) {
        if (stage != null) {
            stage.onHeldOn(room, intervalNumber, held, index);
        }
    }

    /** The estimate of the packet that the interval held last goes elsewhere. */
    void onHeldElsewhere(final PointInterval open) {
        if (stage != null) {
            open.held().ticket(PendingEstimates.NO_TICKET);
        }
    }

    void onFirstPacket(final int record, final long intervalNumber) {
        if (stage != null) {
            stage.onFirstPacket(record, intervalNumber);
        }
    }

    void onSettled(final PointInterval target, final HeldPackets held, final int index, final int record) {
        if (stage != null) {
            stage.onSettled(target, held, index, record);
        }
    }

    void onEstimate(
        final long ticket, final long delayNs, final long spanNumber, final float errorScaleNs,
        final JointStage.IntervalLookup lookup) {
        if (stage != null) {
            stage.onEstimate(ticket, delayNs, spanNumber, errorScaleNs, lookup);
        }
    }

    /** The mean of a flow is exact; a record that has only some of its packets has no bound from that. */
    void tellExact(final int record, final int packets, final boolean isWhole, final double meanNs) {
        if (stage != null) {
            records.table().addJoint(record, packets, meanNs, isWhole ? 0 : Double.NaN, JointKind.JOINT);
        }
    }

    /** Has an interval solved whose sketches were compared, its records counting under the key. */
    void solve(
        final SenderAnswer answer, final PointInterval own, final FlowSumPairs pairs, final long key, final int settingsRun) {
        if (stage != null && answer.hasSketches() && !stage.submit(answer, own, pairs, key, settingsRun)) {
            stage.tellUnsolved(own, key);
        }
    }

    /** An interval was not compared. */
    void giveUp(final PointInterval own, final long key) {
        if (stage != null) {
            stage.tellUnsolved(own, key);
        }
    }

    /** Tells the records of the next interval that was solved meanwhile, if there is one. */
    void onSolved() {
        if (stage != null) {
            tell(stage.take());
        }
    }

    /** Tells of every interval that is under way, and waits for it. */
    void onEnd() {
        JointTask task = stage == null ? null : stage.takeLast();
        while (task != null) {
            tell(task);
            task = stage.takeLast();
        }
    }

    private void tell(final JointTask task) {
        if (task == null) {
            return;
        }
        for (int i = 0; i < task.recordCount; i++) {
            stage.tell(task, i);
            records.release(task.records[i]);
        }
        handler.onJoint(task.answer);
        stage.giveBack(task);
    }

    /** {@return whether nothing is under way} */
    boolean isIdle() {
        return stage == null || stage.isIdle();
    }

    /** Ends the solver's thread. */
    @Override
    public void close() {
        if (stage != null) {
            stage.close();
        }
    }
}
