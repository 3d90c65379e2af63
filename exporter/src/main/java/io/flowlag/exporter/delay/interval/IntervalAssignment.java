package io.flowlag.exporter.delay.interval;

import io.flowlag.common.counter.CounterSet;
import io.flowlag.exporter.delay.interval.compare.InFlightMatch;
import io.flowlag.exporter.delay.interval.compare.IntervalRepair;
import io.flowlag.exporter.delay.interval.joint.JointStage;
import io.flowlag.exporter.delay.interval.records.HeldPackets;
import io.flowlag.exporter.delay.interval.records.IntervalKeys;
import io.flowlag.exporter.delay.interval.records.IntervalSettings;
import io.flowlag.exporter.delay.interval.records.ReceivedPackets;
import io.flowlag.exporter.delay.interval.records.ReceiverRecords;
import io.flowlag.exporter.delay.interval.records.RecordList;
import io.flowlag.exporter.delay.interval.records.SenderAnswer;
import io.flowlag.exporter.delay.interval.records.SketchCounter;
import io.flowlag.exporter.delay.interval.records.SketchRecords;
import io.flowlag.sketch.interval.IntervalSketches;

/**
 * Assigns packets of the receiver point to the intervals in which they were sent. A packet that arrives in the first W of an
 * interval may have been sent in the one before. Where clocks are apart, one that arrives in the last G of an interval may have
 * been sent in the next one. Both are held until the earlier interval is due; the sender's digests of the last W + G of it tell.
 * The metering thread owns it. Allocates at construction.
 */
final class IntervalAssignment {
    private final IntervalPoint point;
    private final IntervalSketches<PointInterval> intervals;
    private final IntervalKeys run;
    private final ReceiverRecords keeper;
    private final SketchRecords records;
    private final InFlightMatch inFlightMatch;
    private final JointStage joint;
    private final CounterSet<SketchCounter> counters;
    private final GatheredPackets gathered;
    private final long maximumDelayNs;
    /** From the beginning of an interval on, when packets of the next one may arrive. */
    private final long aheadNs;
    /** From the end of an interval on, when an arrival of its packets shows that later ones are missed. */
    private final long edgeNs;
    /** Whether packets that are missed are found when an interval is reconciled, see {@link IntervalRepair}. */
    private final boolean isLateFound;
    /** Packets that are held until the newest interval is due, while the next one has not begun. */
    private HeldPackets ahead;
    private long aheadInterval;
    /** An interval that is damaged when it begins. */
    private long aheadDamaged = Long.MIN_VALUE;
    private boolean isTorn;
    private long ticket = ReceivedPackets.NO_TICKET;
    private long earlierLate;
    private long earlierUnsketched;

    /**
     * Nothing booked yet.
     *
     * @param inFlightMatch tells where packets were sent; shared with the generation before.
     * @param joint         is told where packets are booked.
     * @param marks         room to order records, see {@link RecordList#order}.
     */
    IntervalAssignment(
        final IntervalSettings settings, final IntervalPoint point, final IntervalKeys run, final ReceiverRecords keeper,
        final InFlightMatch inFlightMatch, final JointStage joint, final CounterSet<SketchCounter> counters, final long[] marks) {
        this.point = point;
        this.run = run;
        this.keeper = keeper;
        this.inFlightMatch = inFlightMatch;
        this.joint = joint;
        this.counters = counters;
        intervals = point.intervals();
        records = keeper.table();
        gathered = new GatheredPackets(run, records, marks);
        maximumDelayNs = settings.times().maximumDelayNs();
        aheadNs = settings.times().intervalNs() - settings.times().guardNs();
        isLateFound = settings.reconcile() != null && settings.times().answerDeadlineNs() > 0;
        edgeNs = settings.times().guardNs() == 0 ? Long.MAX_VALUE : maximumDelayNs - InFlightMatch.edgeNs(settings);
        ahead = PointInterval.newHeld(settings);
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
        ticket = ReceivedPackets.NO_TICKET;
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

    /** {@return whether a packet of an interval may have been sent in the next one} */
    boolean isAhead(final long timestampNs, final long intervalNumber) {
        return timestampNs - intervalNumber * run.intervalNs() >= aheadNs;
    }

    /** {@return whether there was room to hold a packet that may have been sent in the interval before} */
    boolean hold(
        final PointInterval open, final long timestampNs, final long flowHash, final long digest, final int lengthBytes,
        final int classIndex, final int weight, final int record) {
        return hold(
            open.held(), open.intervalNumber(), timestampNs, flowHash, digest, lengthBytes, classIndex, weight, record);
    }

    /** {@return whether there was room to hold a packet that may have been sent in the next interval} */
    boolean holdAhead(
        final PointInterval open, final long timestampNs, final long flowHash, final long digest, final int lengthBytes,
        final int classIndex, final int weight, final int record) {
        return hold(
            roomAhead(open), open.intervalNumber() + 1, timestampNs, flowHash, digest, lengthBytes, classIndex, weight, record);
    }

    private boolean hold(
        final HeldPackets room, final long number, final long timestampNs, final long flowHash, final long digest,
        final int lengthBytes, final int classIndex, final int weight, final int record) {
        if (room == null || !room.add(timestampNs, flowHash, digest, lengthBytes, classIndex, weight, record)) {
            damageAround(number);
            return false;
        }
        keeper.retain(record);
        ticket = joint.onHeld(room, number);
        counters.increment(SketchCounter.RECEIVED_HELD);
        return true;
    }

    /** {@return where packets wait that may belong to the interval after one; null if that one has no room or is over} */
    private HeldPackets roomAhead(final PointInterval open) {
        final long number = open.intervalNumber() + 1;
        if (intervals.isOpen(number)) {
            return intervals.selectInterval(number).held();
        }
        if (number <= intervals.newestInterval()) {
            return null;
        }
        aheadInterval = number;
        return ahead;
    }

    /** Holds a packet that the next run of settings holds and counts too; without room its interval is damaged. */
    void holdAlso(
        final long timestampNs, final long flowHash, final long digest, final int lengthBytes, final int classIndex,
        final int weight, final int record, final long lastInterval) {
        final PointInterval tail = intervals.select(timestampNs);
        if (tail != null && tail.held().add(timestampNs, flowHash, digest, lengthBytes, classIndex, weight, record)) {
            joint.onHeldElsewhere(tail.held());
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
        ticket = joint.onBooked(open.intervalNumber(), flowHash, digest, record, weight);
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
        joint.onBooked(open.intervalNumber(), packets);
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
            open.records().add(record);
            records.retain(record);
            joint.onFirstPacket(record, open.intervalNumber());
        }
    }

    /** An interval is going to be looked at: its cells are to hold all packets that were booked into it. */
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

    /** Intervals have begun: what was held for one of them is held there. */
    void onBegun() {
        final PointInterval next = ahead.count() > 0 ? open(aheadInterval) : null;
        if (next != null) {
            ahead = next.exchangeHeld(ahead);
        }
        if (intervals.isOpen(aheadDamaged)) {
            point.damage(aheadDamaged);
        }
    }

    /**
     * The packets that are held until the interval before is due.
     *
     * @param number of an interval, which may not have begun.
     * @return null if there are none.
     */
    HeldPackets held(final long number) {
        final PointInterval next = open(number);
        return next != null ? next.held() : ahead.count() > 0 && number == aheadInterval ? ahead : null;
    }

    /**
     * An interval is due: books the packets that were held around its end, in it or in the next one.
     *
     * @param answer of the sender; null if none came.
     * @param isLast whether the next one is the next run's: what came after the end and was not sent in this one is booked there.
     * @return whether it is known where they were sent; then {@link InFlightMatch} tells it again.
     */
    boolean settle(final long number, final SenderAnswer answer, final boolean isLast) {
        final PointInterval own = open(number);
        final PointInterval next = open(number + 1);
        final HeldPackets held = held(number + 1);
        final int ownInFlight = own == null ? 0 : own.inFlightCount();
        final boolean isKnown = inFlightMatch.read(answer, own, ownInFlight);
        if (!isKnown && (isLast || held != null && held.count() > 0)) {
            damage(next);
            damage(own);
        }
        isTorn = false;
        if (held != null) {
            settle(held, own, next, (number + 1) * run.intervalNs(), isLast, isKnown);
        }
        final boolean isLate = isKnown && inFlightMatch.isFoundLate();
        if (isKnown && inFlightMatch.areClocksApart(own) || isLate && (isLast || !isLateFound)) {
            counters.increment(SketchCounter.CLOCKS_APART);
            isTorn = true;
        } else if (isLate) {
            expectLate(own);
            expectLate(next);
        }
        if (isTorn) {
            damage(next);
            damage(own);
        }
        return isLast && isKnown && inFlightMatch.read(answer, own, ownInFlight);
    }

    /** {@return whether packets of the two intervals that met last may be booked into the wrong one} */
    boolean isTorn() {
        return isTorn;
    }

    private void settle(
        final HeldPackets held, final PointInterval own, final PointInterval next, final long endNs, final boolean isLast,
        final boolean isKnown) {
        int settledCount = 0;
        for (int i = 0; i < held.count(); i++) {
            final boolean isBefore = held.timestampNs(i) < endNs;
            final boolean isEarlier = inFlightMatch.takeEarlier(held.digest(i), held.timestampNs(i) - endNs >= edgeNs);
            final boolean isByTime = isBefore && (!isKnown || isLast || next == null);
            isTorn |= isByTime && isKnown && !isEarlier;
            if (isEarlier || isByTime) {
                counters.add(SketchCounter.BOOKED_EARLIER, isBefore ? 0 : 1);
                bookHeld(own, held, i);
                // What came after the last end is held by the next run too, which counts it.
                settledCount += isLast && !isBefore ? 0 : 1;
            } else if (isLast) {
                keeper.release(held.record(i));
            } else if (isBefore || !holdOn(next, held, i)) {
                counters.add(SketchCounter.BOOKED_LATER, isBefore ? 1 : 0);
                bookHeld(next, held, i);
                settledCount++;
            }
        }
        counters.add(SketchCounter.RECEIVED_HELD, -settledCount);
        held.clear();
    }

    private void bookHeld(final PointInterval target, final HeldPackets held, final int index) {
        final int record = held.record(index);
        if (record != SketchRecords.NONE) {
            records.firstInterval(record, run.key(target.intervalNumber()));
        }
        add(target, held, index);
        joint.onSettled(target, held, index, record);
        keeper.release(record);
    }

    /** A packet that was not sent before an interval may have been sent after it, where W and G nearly fill the interval. */
    private boolean holdOn(final PointInterval open, final HeldPackets held, final int index) {
        if (!isAhead(held.timestampNs(index), open.intervalNumber())) {
            return false;
        }
        final HeldPackets room = roomAhead(open);
        if (room == null || !room.add(
            held.timestampNs(index), held.flowHash(index), held.digest(index), held.lengthBytes(index), held.classIndex(index),
            held.weight(index), held.record(index))) {
            damageAround(open.intervalNumber() + 1);
            return false;
        }
        joint.onHeldOn(room, open.intervalNumber() + 1, held, index);
        return true;
    }

    /**
     * Books what was held in the first interval while nobody knew whether it was the run's before, which it is where its digest
     * was in flight.
     *
     * @param number  of the first interval.
     * @param isKnown whether {@link InFlightMatch} tells.
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
            if (!isKnown || !inFlightMatch.takeEarlier(held.digest(i), false)) {
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

    /** Packets were not held that may belong to an interval or to the one before. */
    private void damageAround(final long number) {
        counters.increment(SketchCounter.HELD_OVERFLOW);
        point.damage(number - 1);
        point.damage(number);
        aheadDamaged = intervals.isOpen(number) ? aheadDamaged : number;
    }

    private static void expectLate(final PointInterval interval) {
        if (interval != null) {
            interval.expectLate();
        }
    }

    private static void damage(final PointInterval interval) {
        if (interval != null) {
            interval.markDamaged();
        }
    }
}
