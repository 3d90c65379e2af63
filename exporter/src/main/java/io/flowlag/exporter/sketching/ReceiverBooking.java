package io.flowlag.exporter.sketching;

import io.flowlag.sketch.interval.IntervalSketches;

/**
 * Books packets of the receiver point into the intervals in which they were sent. A packet that arrives in the first W of an
 * interval may have been sent in the one before; it is held until that one is due, and the sender's digests of the last W of it
 * tell. The metering thread owns it. Allocates at construction.
 */
final class ReceiverBooking {
    private final SketchPoint point;
    private final IntervalSketches<PointInterval> intervals;
    private final SettingsRun run;
    private final ReceiverRecords keeper;
    private final SketchRecords records;
    private final HeldSettlement settlement;
    private final JointPart joint;
    private final SketchCounters counters;
    private final GatheredPackets gathered;
    private final long maximumDelayNs;
    private long ticket = PendingEstimates.NO_TICKET;
    private long earlierLate;
    private long earlierUnsketched;

    /**
     * Nothing booked yet.
     *
     * @param context    sizes and times.
     * @param point      with the intervals.
     * @param run        of the settings.
     * @param keeper     of the records.
     * @param settlement tells where packets were sent; shared with the run before.
     * @param joint      is told where packets are booked.
     * @param counters   of the receiver point.
     * @param marks      room to order records, as {@link PointInterval#orderRecords} wants it.
     */
    ReceiverBooking(
        final SketchContext context, final SketchPoint point, final SettingsRun run, final ReceiverRecords keeper,
        final HeldSettlement settlement, final JointPart joint, final SketchCounters counters, final long[] marks) {
        this.point = point;
        this.run = run;
        this.keeper = keeper;
        this.settlement = settlement;
        this.joint = joint;
        this.counters = counters;
        intervals = point.intervals();
        records = keeper.table();
        gathered = new GatheredPackets(run, records, marks);
        maximumDelayNs = context.maximumDelayNs();
    }

    /** The run before is over; what it refused stays counted. */
    void begin() {
        earlierLate = counters.get(SketchCounter.RECEIVED_LATE);
        earlierUnsketched = counters.get(SketchCounter.RECEIVED_UNSKETCHED);
    }

    /** {@return what an estimate of the last packet's delay has to carry; below 0 if the packet is in no sketch} */
    long ticket() {
        return ticket;
    }

    /** The packet is in no sketch. */
    void skip() {
        ticket = PendingEstimates.NO_TICKET;
    }

    /** A packet whose interval is not open. */
    void refuse(final int record) {
        counters.set(SketchCounter.RECEIVED_LATE, earlierLate + intervals.latePackets());
        counters.set(SketchCounter.RECEIVED_UNSKETCHED, earlierUnsketched + intervals.unsketchedPackets());
        if (record != SketchRecords.NONE) {
            records.addUnknownLoss(record);
        }
    }

    /** Says the weight of a record's flow, by the settings here. */
    void weigh(final int record, final int weight) {
        if (record != SketchRecords.NONE && records.weight(record, run.number()) == 0) {
            records.weight(record, run.number(), weight);
        }
    }

    /** {@return whether a packet of an interval may have been sent in the one before, if that was watched} */
    boolean isEarly(final long timestampNs, final long intervalNumber) {
        return timestampNs - intervalNumber * run.intervalNs() < maximumDelayNs;
    }

    /** {@return whether there was room to hold a packet} */
    boolean hold(
        final PointInterval open, final long timestampNs, final long flowHash, final long digest, final int lengthBytes,
        final int classIndex, final int weight, final int record) {
        if (!open.held().add(timestampNs, flowHash, digest, lengthBytes, classIndex, weight, record)) {
            counters.increment(SketchCounter.HELD_OVERFLOW);
            open.markDamaged();
            point.damage(open.intervalNumber() - 1);
            return false;
        }
        keeper.retain(record);
        ticket = joint.onHeld(open);
        counters.increment(SketchCounter.RECEIVED_HELD);
        return true;
    }

    /** Holds a packet that the next run of settings holds and counts too; without room its interval is damaged. */
    void holdAlso(
        final long timestampNs, final long flowHash, final long digest, final int lengthBytes, final int classIndex,
        final int weight, final int record, final long lastInterval) {
        final PointInterval tail = intervals.select(timestampNs);
        if (tail != null && tail.held().add(timestampNs, flowHash, digest, lengthBytes, classIndex, weight, record)) {
            joint.onHeldElsewhere(tail);
            weigh(record, weight);
            keeper.retain(record);
        } else {
            point.damage(lastInterval);
        }
    }

    /** Books a packet. */
    void book(
        final PointInterval open, final long timestampNs, final long flowHash, final long digest, final int lengthBytes,
        final int classIndex, final int weight, final int record) {
        add(open, timestampNs, flowHash, digest, lengthBytes, classIndex, weight, record);
        ticket = joint.onBooked(open, flowHash, digest, record, weight);
    }

    /** {@return whether packets are gathered for an interval} */
    boolean isGathering(final PointInterval open) {
        return gathered.isGathering(open);
    }

    /** {@return whether a record has had packets of that weight in the interval that gathers} */
    boolean isGathering(final int record, final int weight) {
        return gathered.isGathering(record, weight);
    }

    /** Books packets into the interval that gathers, whose records have had others there. */
    void gather(final ReceivedPackets packets) {
        final PointInterval open = gathered.take(packets);
        open.updateBesideCells(packets, records);
        joint.onBooked(open, packets);
    }

    private void add(
        final PointInterval open, final long timestampNs, final long flowHash, final long digest, final int lengthBytes,
        final int classIndex, final int weight, final int record) {
        counters.increment(SketchCounter.RECEIVED_BOOKED);
        if (record == SketchRecords.NONE) {
            open.update(timestampNs, flowHash, digest, lengthBytes, classIndex, weight, null, 0);
            return;
        }
        final long key = run.key(open.intervalNumber());
        final boolean isFirst = records.isFirst(record, key);
        if (gathered.take(open, record, timestampNs, flowHash, digest, lengthBytes, weight)) {
            open.updateBesideCells(timestampNs, flowHash, digest, lengthBytes, classIndex, weight, null, 0);
        } else {
            open.update(timestampNs, flowHash, digest, lengthBytes, classIndex, weight, null, 0);
            records.countPacket(record, key);
        }
        if (isFirst) {
            records.begin(record, key);
            open.addRecord(record);
            records.retain(record);
            joint.onFirstPacket(record, open.intervalNumber());
        }
    }

    /**
     * An interval is going to be looked at: its cells are to hold all packets that were booked into it.
     *
     * @param number of the interval.
     */
    void complete(final long number) {
        gathered.settle(number);
    }

    /** The next run of settings begins. */
    void end() {
        gathered.end();
    }

    private void add(final PointInterval target, final HeldPackets held, final int index) {
        add(target, held.timestampNs(index), held.flowHash(index), held.digest(index), held.lengthBytes(index),
            held.classIndex(index), held.weight(index), held.record(index));
    }

    /**
     * An interval is due: books the packets that were held in the next one, in one or the other.
     *
     * @param number of the interval.
     * @param answer of the sender; null if none came.
     * @param isLast whether the next one is the next run's: what was not sent in this one is booked there.
     * @return whether it is known where they were sent; then the settlement tells it again.
     */
    boolean settle(final long number, final SenderAnswer answer, final boolean isLast) {
        final PointInterval next = open(number + 1);
        if (!isLast && (next == null || next.held().count() == 0)) {
            return false;
        }
        final PointInterval own = open(number);
        final int ownInFlight = own == null ? 0 : own.inFlightCount();
        final boolean isKnown = settlement.read(answer, own, ownInFlight);
        if (!isKnown) {
            damage(next);
            damage(own);
        }
        if (next != null) {
            settle(next, own, isLast);
        }
        return isLast && isKnown && settlement.read(answer, own, ownInFlight);
    }

    private void settle(final PointInterval next, final PointInterval own, final boolean isLast) {
        final HeldPackets held = next.held();
        for (int i = 0; i < held.count(); i++) {
            final int record = held.record(i);
            final boolean isEarlier = settlement.takeEarlier(held.digest(i));
            if (isEarlier) {
                counters.increment(SketchCounter.BOOKED_EARLIER);
                if (record != SketchRecords.NONE) {
                    records.firstInterval(record, run.key(own.intervalNumber()));
                }
            }
            if (isEarlier || !isLast) {
                final PointInterval target = isEarlier ? own : next;
                add(target, held, i);
                joint.onSettled(target, held, i, record);
            }
            keeper.release(record);
        }
        counters.add(SketchCounter.RECEIVED_HELD, isLast ? 0 : -held.count());
        held.clear();
    }

    /**
     * Books what was held in the first interval while nobody knew whether it was the run's before, which it is where its digest
     * was in flight.
     *
     * @param number  of the first interval.
     * @param isKnown whether the settlement tells.
     */
    void settleFirst(final long number, final boolean isKnown) {
        final PointInterval first = open(number);
        if (first == null) {
            return;
        }
        final HeldPackets held = first.held();
        if (!isKnown) {
            first.markDamaged();
        }
        for (int i = 0; i < held.count(); i++) {
            if (!isKnown || !settlement.takeEarlier(held.digest(i))) {
                add(first, held, i);
            }
            keeper.release(held.record(i));
        }
        counters.add(SketchCounter.RECEIVED_HELD, -held.count());
        held.clear();
    }

    private PointInterval open(final long number) {
        return intervals.isOpen(number) ? intervals.selectInterval(number) : null;
    }

    private static void damage(final PointInterval interval) {
        if (interval != null) {
            interval.markDamaged();
        }
    }
}
