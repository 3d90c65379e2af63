package io.flowlag.exporter.delay.interval;

import io.flowlag.common.counter.CounterSet;
import io.flowlag.exporter.delay.interval.compare.InFlightMatch;
import io.flowlag.exporter.delay.interval.compare.IntervalRepair;
import io.flowlag.exporter.delay.interval.joint.JointStage;
import io.flowlag.exporter.delay.interval.records.HeldPackets;
import io.flowlag.exporter.delay.interval.records.IntervalKeys;
import io.flowlag.exporter.delay.interval.records.IntervalSettings;
import io.flowlag.exporter.delay.interval.records.ReceivedPackets;
import io.flowlag.exporter.delay.interval.records.ReceiverInterval;
import io.flowlag.exporter.delay.interval.records.ReceiverRecords;
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
final class IntervalAssignment implements JointStage.IntervalLookup {
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
    /** The first of several shards has all of them, and works them while they do nothing. */
    private IntervalAssignment[] shards = {this};
    /** The shards of an interval that is settled. */
    private ReceiverInterval[] parts = new ReceiverInterval[1];
    private int takenCount;
    private long ticket = ReceivedPackets.NO_TICKET;
    private long earlierLate;
    private long earlierUnsketched;
    private boolean hasStragglers;
    private long firstInterval;
    private long endInterval = Long.MAX_VALUE;
    /** Packets of the first interval may belong to these, which hold them too. */
    private EarlierIntervals before = EarlierIntervals.NONE;

    /**
     * Creates an assignment without packets.
     *
     * @param inFlightMatch decides where packets were sent; shared with the previous generation.
     * @param joint         receives the interval of each packet.
     */
    IntervalAssignment(
        final IntervalSettings settings, final IntervalPoint point, final IntervalKeys run, final ReceiverRecords keeper,
        final InFlightMatch inFlightMatch, final JointStage joint) {
        this.point = point;
        this.run = run;
        this.keeper = keeper;
        this.inFlightMatch = inFlightMatch;
        this.joint = joint;
        counters = keeper.counters();
        intervals = point.intervals();
        records = keeper.table();
        gathered = new GatheredPackets(run, records, keeper.marks());
        maximumDelayNs = settings.times().maximumDelayNs();
        aheadNs = settings.times().intervalNs() - settings.times().guardNs();
        isLateFound = settings.reconcile() != null && settings.times().answerDeadlineNs() > 0;
        edgeNs = settings.times().guardNs() == 0 ? Long.MAX_VALUE : maximumDelayNs - InFlightMatch.edgeNs(settings);
        ahead = new HeldPackets(settings.room().inFlightPackets(), settings.joint() != null);
    }

    /** Joins the assignments of shards, this one first; before the first packet. */
    void join(final IntervalAssignment[] all) {
        shards = all;
        parts = new ReceiverInterval[all.length];
    }

    /** Begins after the previous generation has ended; the packets that it refused stay counted. */
    void begin() {
        for (final IntervalAssignment each : shards) {
            each.earlierLate = each.counters.get(SketchCounter.RECEIVED_LATE);
            each.earlierUnsketched = each.counters.get(SketchCounter.RECEIVED_UNSKETCHED);
        }
    }

    /** Sets the intervals to which packets of the first interval of this shard may belong. */
    void follow(final EarlierIntervals earlier) {
        before = earlier;
    }

    /** {@return whether there are such intervals, until {@link #settleFirst}} */
    boolean isFollowing() {
        return before != EarlierIntervals.NONE;
    }

    /** Sets the first interval, at the first packet. */
    void start(final long number) {
        for (final IntervalAssignment each : shards) {
            each.firstInterval = number;
        }
    }

    long firstInterval() {
        return firstInterval;
    }

    /** Restarts after the clock was set back. */
    void restart() {
        for (final IntervalAssignment each : shards) {
            each.before = EarlierIntervals.NONE;
            each.hasStragglers = false;
        }
    }

    /** Notes that a point found a packet of an interval that may have been compared. */
    void onStraggler() {
        hasStragglers = true;
    }

    /** {@return whether there were such packets since the last call} */
    boolean takeStragglers() {
        boolean wereAny = false;
        for (final IntervalAssignment each : shards) {
            wereAny |= each.hasStragglers;
            each.hasStragglers = false;
        }
        return wereAny;
    }

    /** {@return the ticket for an estimate of the last packet's delay; negative if the packet is in no sketch} */
    long ticket() {
        return ticket;
    }

    /** Takes a packet without a digest, which is in no sketch. */
    void skip() {
        ticket = ReceivedPackets.NO_TICKET;
        counters.increment(SketchCounter.RECEIVED);
    }

    /**
     * Marks the loss of a flow as unknown: one of its packets cannot be compared with those that were sent. Opens the flow's
     * record if it has none yet, so that it is no flow that never arrived. Returns the record.
     */
    int doubtLoss(final SketchedPacket packet, final int slot, final int record) {
        final int doubted = record != SketchRecords.NONE ? record : keeper.open(
            packet.flowHash(), packet.classIndex(), slot, run.key(Math.floorDiv(packet.timestampNs(), run.intervalNs())));
        doubtLoss(doubted);
        return doubted;
    }

    /** Assigns a packet to an interval, or holds it until that can be decided; see {@link IntervalReceiver#onPacket}. */
    int onPacket(final SketchedPacket packet, final int slot, final int record) {
        skip();
        final long timestampNs = packet.timestampNs();
        final PointInterval open = intervals.select(timestampNs);
        if (open == null) {
            refuse(record);
            return record;
        }
        final long number = open.intervalNumber();
        final boolean isEarly = isAmbiguous(timestampNs, number);
        final boolean isAhead = !isEarly && isAhead(timestampNs, number);
        final int booked = record != SketchRecords.NONE ? record :
            keeper.open(packet.flowHash(), packet.classIndex(), slot, run.key(number) + (isAhead ? 1 : 0));
        weigh(packet.record(booked));
        if (isAhead && hold(roomAhead(open), number + 1, packet) || isEarly && hold(open.held(), number, packet)) {
            return booked;
        }
        if (isEarly) {
            before.damageLast();
        }
        add(open, packet);
        ticket = joint.onBooked(number, packet);
        return booked;
    }

    /** Counts a packet whose interval is not open. */
    private void refuse(final int record) {
        counters.set(SketchCounter.RECEIVED_LATE, earlierLate + intervals.latePackets());
        counters.set(SketchCounter.RECEIVED_UNSKETCHED, earlierUnsketched + intervals.unsketchedPackets());
        hasStragglers = true;
        doubtLoss(record);
    }

    private void doubtLoss(final int record) {
        if (record != SketchRecords.NONE) {
            records.addUnknownLoss(record);
        }
    }

    /** Sets the weight of a record's flow in this generation of settings. */
    private void weigh(final SketchedPacket packet) {
        if (packet.record() != SketchRecords.NONE && records.weight(packet.record(), run.number()) == 0) {
            records.weight(packet.record(), run.number(), packet.weight());
        }
    }

    /** {@return whether a packet of an interval may have been sent in the previous one, if that one was observed} */
    private boolean isEarly(final long timestampNs, final long intervalNumber) {
        return timestampNs - intervalNumber * run.intervalNs() < maximumDelayNs;
    }

    /** {@return whether a packet of an interval may have been sent in the previous one} */
    private boolean isAmbiguous(final long timestampNs, final long number) {
        return isEarly(timestampNs, number) && (intervals.isOpen(number - 1) || isFollowing() && number == firstInterval);
    }

    /** {@return whether a packet of an interval may have been sent in the next one} */
    private boolean isAhead(final long timestampNs, final long intervalNumber) {
        return timestampNs - intervalNumber * run.intervalNs() >= aheadNs;
    }

    /** {@return whether there was room to hold a packet that may have been sent in an interval or the previous one} */
    private boolean hold(final HeldPackets room, final long number, final SketchedPacket packet) {
        if (room == null || !room.add(packet)) {
            damageAround(number);
            return false;
        }
        keeper.retain(packet.record());
        ticket = joint.onHeld(room, number, packet);
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
    void holdAlso(final SketchedPacket packet) {
        if (!isEarly(packet.timestampNs(), endInterval)) {
            return;
        }
        final PointInterval tail = intervals.select(packet.timestampNs());
        if (tail != null && tail.held().add(packet)) {
            joint.onHeldElsewhere(tail.held());
            weigh(packet);
            keeper.retain(packet.record());
        } else {
            damageLast();
        }
    }

    /** Damages the last interval of this generation. */
    void damageLast() {
        point.damage(endInterval - 1);
    }

    /** Damages the first interval of this generation. */
    void damageFirst() {
        point.damage(firstInterval);
    }

    /** {@return whether packets of a time span belong to the newest interval, which gathers} */
    boolean isGathering(final PointInterval newest, final long earliestNs, final long latestNs) {
        return earliestNs >= newest.startNs() && !isAmbiguous(earliestNs, newest.intervalNumber()) &&
            !isAhead(latestNs, newest.intervalNumber()) && gathered.isGathering(newest);
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
        counters.add(SketchCounter.RECEIVED, packets.count());
        counters.add(SketchCounter.RECEIVED_BOOKED, packets.count());
    }

    private void add(final PointInterval open, final SketchedPacket packet) {
        counters.increment(SketchCounter.RECEIVED_BOOKED);
        final int record = packet.record();
        if (record == SketchRecords.NONE) {
            open.update(packet);
            return;
        }
        final long key = run.key(open.intervalNumber());
        final boolean isFirst = records.isFirst(record, key);
        if (gathered.take(open, packet)) {
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
        for (final IntervalAssignment each : shards) {
            each.gathered.settle(number);
        }
    }

    /** Ends this generation of settings before an interval. */
    void end(final long number) {
        for (final IntervalAssignment each : shards) {
            each.endInterval = number;
            each.gathered.end();
        }
    }

    /** Moves packets held for an interval into it, once it has begun. */
    void onBegun() {
        for (final IntervalAssignment each : shards) {
            each.onOwnBegun();
        }
    }

    private void onOwnBegun() {
        final PointInterval next = ahead.count() > 0 ? open(aheadInterval) : null;
        if (next != null) {
            ahead = next.exchangeHeld(ahead);
        }
        if (intervals.isOpen(aheadDamaged)) {
            point.damage(aheadDamaged);
        }
    }

    /** {@return the packets held until the interval before is due; null if there are none; the interval need not have begun} */
    @Override
    public HeldPackets held(final long number) {
        final PointInterval next = open(number);
        return next != null ? next.held() : ahead.count() > 0 && number == aheadInterval ? ahead : null;
    }

    /**
     * Assigns the packets held around the end of a due interval to it or to the next one.
     *
     * @param answer of the sender; null if none came.
     * @param isLast whether the next interval belongs to the next generation: packets that arrived after the end and were not
     *               sent in this interval are assigned there.
     * @return whether it is known where they were sent; then {@link InFlightMatch} expects the packets that both generations
     *         held and this one counted.
     */
    boolean settle(final long number, final SenderAnswer answer, final boolean isLast) {
        parts[0] = open(number);
        boolean isKnown = inFlightMatch.read(answer, parts[0]);
        boolean isAnyHeld = isAnyHeld(number + 1);
        for (int i = 1; i < shards.length; i++) {
            parts[i] = shards[i].open(number);
            isKnown = inFlightMatch.readShard(parts[i]);
            isAnyHeld |= shards[i].isAnyHeld(number + 1);
        }
        if (!isKnown && (isLast || isAnyHeld)) {
            damageAt(number);
        }
        boolean isAnyTorn = false;
        for (final IntervalAssignment each : shards) {
            each.settle(number, isLast, isKnown);
            isAnyTorn |= each.isTorn;
        }
        final boolean isLate = isKnown && inFlightMatch.isFoundLate();
        if (isKnown && inFlightMatch.areClocksApart(parts) || isLate && (isLast || !isLateFound)) {
            counters.increment(SketchCounter.CLOCKS_APART);
            isAnyTorn = true;
        } else if (isLate) {
            expectLate(open(number));
            expectLate(open(number + 1));
        }
        isTorn = isAnyTorn;
        if (isTorn) {
            damageAt(number);
        }
        if (isLast) {
            inFlightMatch.expectNone();
        }
        for (final IntervalAssignment each : shards) {
            final HeldPackets held = each.held(number + 1);
            if (isLast) {
                inFlightMatch.expect(held, each.takenCount);
            }
            if (held != null) {
                held.clear();
            }
        }
        return isLast && isKnown;
    }

    private boolean isAnyHeld(final long number) {
        final HeldPackets held = held(number);
        return held != null && held.count() > 0;
    }

    /** Settles the packets that this shard holds. */
    private void settle(final long number, final boolean isLast, final boolean isKnown) {
        isTorn = false;
        final HeldPackets held = held(number + 1);
        takenCount = held == null ? 0 :
            settle(held, open(number), open(number + 1), (number + 1) * run.intervalNs(), isLast, isKnown);
    }

    /** {@return whether packets around the last boundary may be assigned to the wrong interval} */
    boolean isTorn() {
        return isTorn;
    }

    /** Assigns held packets. Returns how many of those taken the next generation counts; their digests are the first then. */
    private int settle(
        final HeldPackets held, final PointInterval own, final PointInterval next, final long endNs, final boolean isLast,
        final boolean isKnown) {
        int settledCount = 0;
        int takenCount = 0;
        for (int i = 0; i < held.count(); i++) {
            final boolean isBefore = held.timestampNs(i) < endNs;
            final boolean isEarlier = inFlightMatch.takeEarlier(held.digest(i), held.timestampNs(i) - endNs >= edgeNs);
            final boolean isByTime = isBefore && (!isKnown || isLast || next == null);
            isTorn |= isByTime && isKnown && !isEarlier;
            if (isEarlier || isByTime) {
                counters.add(SketchCounter.BOOKED_EARLIER, isBefore ? 0 : 1);
                bookHeld(own, held, i);
                if (isLast && !isBefore) {
                    held.digest(takenCount++, held.digest(i)); // the next generation counts it
                } else {
                    settledCount++;
                }
            } else if (isLast) {
                keeper.release(held.record(i));
            } else if (isBefore || !holdOn(next, held, i)) {
                counters.add(SketchCounter.BOOKED_LATER, isBefore ? 1 : 0);
                bookHeld(next, held, i);
                settledCount++;
            }
        }
        counters.add(SketchCounter.RECEIVED_HELD, -settledCount);
        return takenCount;
    }

    private void bookHeld(final PointInterval target, final HeldPackets held, final int index) {
        final SketchedPacket packet = held.read(index, settled);
        if (packet.record() != SketchRecords.NONE) {
            records.firstInterval(packet.record(), run.key(target.intervalNumber()));
        }
        add(target, packet);
        joint.onSettled(target, held, index, packet);
        keeper.release(packet.record());
    }

    /**
     * Keeps holding a packet that was not sent before an interval but may have been sent after it: W and G can nearly fill one.
     */
    private boolean holdOn(final PointInterval open, final HeldPackets held, final int index) {
        if (!isAhead(held.timestampNs(index), open.intervalNumber())) {
            return false;
        }
        final HeldPackets room = roomAhead(open);
        if (room == null || !room.add(held.read(index, settled))) {
            damageAround(open.intervalNumber() + 1);
            return false;
        }
        joint.onHeldOn(room, open.intervalNumber() + 1, held, index);
        return true;
    }

    /**
     * Assigns the packets held in the first interval, but for those that the previous generation took.
     *
     * @param isKnown whether {@link InFlightMatch} has these.
     */
    void settleFirst(final boolean isKnown) {
        for (final IntervalAssignment each : shards) {
            each.settleOwnFirst(isKnown);
        }
    }

    private void settleOwnFirst(final boolean isKnown) {
        before = EarlierIntervals.NONE;
        final PointInterval first = open(firstInterval);
        if (first == null) {
            return;
        }
        final HeldPackets held = first.held();
        if (!isKnown) {
            first.markDamaged();
        }
        for (int i = 0; i < held.count(); i++) {
            if (!isKnown || !inFlightMatch.takeEarlier(held.digest(i), false)) {
                add(first, held.read(i, settled));
            }
            keeper.release(held.record(i));
        }
        counters.add(SketchCounter.RECEIVED_HELD, -held.count());
        held.clear();
    }

    @Override
    public PointInterval open(final long number) {
        return intervals.isOpen(number) ? intervals.selectInterval(number) : null;
    }

    /** Damages an interval and the previous one, because packets that may belong to either were not held. */
    private void damageAround(final long number) {
        counters.increment(SketchCounter.HELD_OVERFLOW);
        damageAt(number - 1);
        aheadDamaged = intervals.isOpen(number) ? aheadDamaged : number;
    }

    private static void expectLate(final PointInterval interval) {
        if (interval != null) {
            interval.expectLate();
        }
    }

    /** Damages an interval and the next one. */
    private void damageAt(final long number) {
        point.damage(number + 1);
        point.damage(number);
    }
}
