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
import io.flowlag.exporter.delay.interval.records.SketchedPacket;
import io.flowlag.sketch.interval.IntervalSketches;

/**
 * Assigns packets of the receiver point to the intervals in which they were sent. A packet that arrives in the first W of an
 * interval may have been sent in the previous one. Where clocks differ, one that arrives in the last G of an interval may have
 * been sent in the next one. Both are held until the earlier interval is due; the sender's digests of its last W + G then decide.
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
    private final SketchedPacket settled = new SketchedPacket();
    private final long maximumDelayNs;
    /** Offset from an interval's beginning after which packets of the next one may arrive. */
    private final long aheadNs;
    /** Offset from an interval's end after which an arrival shows that later packets of the interval are missed. */
    private final long edgeNs;
    /** Whether reconciliation finds packets that are missed here, see {@link IntervalRepair}. */
    private final boolean isLateFound;
    /** Packets held until the newest interval is due, while the next one has not begun. */
    private HeldPackets ahead;
    private long aheadInterval;
    /** Number of an interval to be marked damaged when it begins. */
    private long aheadDamaged = Long.MIN_VALUE;
    private boolean isTorn;
    private long ticket = ReceivedPackets.NO_TICKET;
    private long earlierLate;
    private long earlierUnsketched;

    /**
     * Creates an assignment without packets.
     *
     * @param inFlightMatch decides where packets were sent; shared with the previous generation.
     * @param joint         receives the interval of each packet.
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

    /** Begins after the previous generation has ended; the packets that it refused stay counted. */
    void begin() {
        earlierLate = counters.get(SketchCounter.RECEIVED_LATE);
        earlierUnsketched = counters.get(SketchCounter.RECEIVED_UNSKETCHED);
    }

    /** {@return the ticket for an estimate of the last packet's delay; negative if the packet is in no sketch} */
    long ticket() {
        return ticket;
    }

    /** Marks the last packet as in no sketch. */
    void skip() {
        ticket = ReceivedPackets.NO_TICKET;
    }

    /** Counts a packet whose interval is not open. */
    void refuse(final int record) {
        counters.set(SketchCounter.RECEIVED_LATE, earlierLate + intervals.latePackets());
        counters.set(SketchCounter.RECEIVED_UNSKETCHED, earlierUnsketched + intervals.unsketchedPackets());
        if (record != SketchRecords.NONE) {
            records.addUnknownLoss(record);
        }
    }

    /** Sets the weight of a record's flow in this generation of settings. */
    void weigh(final int record, final int weight) {
        if (record != SketchRecords.NONE && records.weight(record, run.number()) == 0) {
            records.weight(record, run.number(), weight);
        }
    }

    /** {@return whether a packet of an interval may have been sent in the previous one, if that one was observed} */
    boolean isEarly(final long timestampNs, final long intervalNumber) {
        return timestampNs - intervalNumber * run.intervalNs() < maximumDelayNs;
    }

    /** {@return whether a packet of an interval may have been sent in the next one} */
    boolean isAhead(final long timestampNs, final long intervalNumber) {
        return timestampNs - intervalNumber * run.intervalNs() >= aheadNs;
    }

    /** {@return whether there was room to hold a packet that may have been sent in the previous interval} */
    boolean hold(final PointInterval open, final SketchedPacket packet, final int record) {
        return hold(open.held(), open.intervalNumber(), packet, record);
    }

    /** {@return whether there was room to hold a packet that may have been sent in the next interval} */
    boolean holdAhead(final PointInterval open, final SketchedPacket packet, final int record) {
        return hold(roomAhead(open), open.intervalNumber() + 1, packet, record);
    }

    private boolean hold(final HeldPackets room, final long number, final SketchedPacket packet, final int record) {
        if (room == null || !room.add(packet, record)) {
            damageAround(number);
            return false;
        }
        keeper.retain(record);
        ticket = joint.onHeld(room, number);
        counters.increment(SketchCounter.RECEIVED_HELD);
        return true;
    }

    /** {@return the held packets that may belong to the interval after this one; null if that one has no room or is over} */
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

    /** Holds a packet that the next generation holds and counts too. Without room, the interval is damaged. */
    void holdAlso(final SketchedPacket packet, final int record, final long lastInterval) {
        final PointInterval tail = intervals.select(packet.timestampNs());
        if (tail != null && tail.held().add(packet, record)) {
            joint.onHeldElsewhere(tail.held());
            weigh(record, packet.weight());
            keeper.retain(record);
        } else {
            point.damage(lastInterval);
        }
    }

    /** Assigns a packet to an interval. */
    void book(final PointInterval open, final SketchedPacket packet, final int record) {
        add(open, packet, record);
        ticket = joint.onBooked(open.intervalNumber(), packet.flowHash(), packet.digest(), record, packet.weight());
    }

    /** {@return whether packets of the interval are gathered} */
    boolean isGathering(final PointInterval open) {
        return gathered.isGathering(open);
    }

    /** {@return whether the record has packets of that weight in the gathering interval} */
    boolean isGathering(final int record, final int weight) {
        return gathered.isGathering(record, weight);
    }

    /** Assigns packets to the gathering interval, in which their records already have packets. */
    void gather(final ReceivedPackets packets) {
        final PointInterval open = gathered.take(packets);
        open.updateBesideCells(packets, records);
        joint.onBooked(open.intervalNumber(), packets);
    }

    private void add(final PointInterval open, final SketchedPacket packet, final int record) {
        counters.increment(SketchCounter.RECEIVED_BOOKED);
        if (record == SketchRecords.NONE) {
            open.update(packet);
            return;
        }
        final long key = run.key(open.intervalNumber());
        final boolean isFirst = records.isFirst(record, key);
        if (gathered.take(open, record, packet)) {
            open.updateBesideCells(packet);
        } else {
            open.update(packet);
            records.countPacket(record, key);
        }
        if (isFirst) {
            records.begin(record, key);
            open.records().add(record);
            records.retain(record);
            joint.onFirstPacket(record, open.intervalNumber());
        }
    }

    /** Adds all packets of the interval to its cells, before the cells are read. */
    void complete(final long number) {
        gathered.settle(number);
    }

    /** Ends this generation of settings. */
    void end() {
        gathered.end();
    }

    private void add(final PointInterval target, final HeldPackets held, final int index) {
        add(target, held.read(index, settled), held.record(index));
    }

    /** Moves packets held for an interval into it, once it has begun. */
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
     * The packets held until the previous interval is due.
     *
     * @param number of an interval that need not have begun.
     * @return null if there are none.
     */
    HeldPackets held(final long number) {
        final PointInterval next = open(number);
        return next != null ? next.held() : ahead.count() > 0 && number == aheadInterval ? ahead : null;
    }

    /**
     * Assigns the packets held around the end of a due interval to it or to the next one.
     *
     * @param answer of the sender; null if none came.
     * @param isLast whether the next interval belongs to the next generation: packets that arrived after the end and were not
     *               sent in this interval are assigned there.
     * @return whether it is known where they were sent; then {@link InFlightMatch} decides for the next generation too.
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

    /** {@return whether packets around the last boundary may be assigned to the wrong interval} */
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
                // Packets after the last end are also held by the next generation, which counts them.
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

    /**
     * Keeps holding a packet that was not sent before an interval but may have been sent after it: W and G can nearly fill one.
     */
    private boolean holdOn(final PointInterval open, final HeldPackets held, final int index) {
        if (!isAhead(held.timestampNs(index), open.intervalNumber())) {
            return false;
        }
        final HeldPackets room = roomAhead(open);
        if (room == null || !room.add(held.read(index, settled), held.record(index))) {
            damageAround(open.intervalNumber() + 1);
            return false;
        }
        joint.onHeldOn(room, open.intervalNumber() + 1, held, index);
        return true;
    }

    /**
     * Assigns the packets held in the first interval. A packet whose digest was in flight belongs to the previous generation.
     *
     * @param number  of the first interval.
     * @param isKnown whether {@link InFlightMatch} can decide.
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

    /** Damages an interval and the previous one, because packets that may belong to either were not held. */
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
