package io.flowlag.exporter.sketching;

import io.flowlag.sketch.estimate.FlowEstimate;
import io.flowlag.sketch.estimate.FlowEstimator;
import io.flowlag.sketch.estimate.LossKind;
import io.flowlag.sketch.image.PairingResult;
import io.flowlag.sketch.interval.IntervalSketches;
import io.flowlag.sketch.lda.LdaEstimator;
import org.agrona.DirectBuffer;

import java.util.BitSet;

/**
 * The receiver point: books packets into the interval in which they were sent, compares an interval with the sender's when all
 * its packets must have arrived, and tells the records that have packets in it.
 * <p>
 * A packet that arrives in the first W of an interval may have been sent in the one before. It is held until that one is due, W
 * after its end; then the sender's digests of the last W of it tell. Digests that arrived before the end are taken out of them
 * first, so that of two packets with equal digests each is booked in the order of arrival.
 * <p>
 * The metering thread owns it. Allocates at construction.
 */
public final class SketchReceiver {
    private final SketchPoint point;
    private final IntervalSketches<PointInterval> intervals;
    private final SenderAnswers answers;
    private final long intervalNs;
    private final long maximumDelayNs;
    private final int rowCount;

    private final SketchRecords records;
    private final WaitingRecords waiting;
    private final FlowTotals totals;
    private final DigestSet inFlight;
    private final FlowEstimator estimator;
    private final FlowEstimate estimate = new FlowEstimate();
    private final LdaEstimator aggregatorEstimator;
    private final IntervalAnswer summary;
    private final SketchCounters counters;
    private final RecordHandler recordHandler;
    private final IntervalHandler intervalHandler;
    /** What held before, until it has said all of its intervals. */
    private final SketchReceiver predecessor;
    private final int settingsRun;
    /** From an interval's number to the one under which records count it: goes on where those before end. */
    private final long keyShift;
    private SketchReceiver successor;
    private long endInterval = Long.MAX_VALUE;
    private boolean isFollowing;
    private boolean isHandedOver;
    private long earlierLate;
    private long earlierUnsketched;
    private final JointStage joint;
    private final JointStage.IntervalLookup lookup = this::openInterval;
    private final long dueAfterNs;
    private final long lateAfterNs;
    private JointHandler jointHandler = (answer) -> { };
    private final UnseenFlowHandler unseenFlowHandler;
    private final FlowSumPairs pairs;
    private final BitSet explained = new BitSet();

    private long ticket = PendingEstimates.NO_TICKET;
    private boolean isStarted;
    private boolean isFirstCut;
    private long firstInterval;
    private long nextInterval;
    private long nextEventNs = Long.MIN_VALUE;
    private long newestNs = Long.MIN_VALUE;
    private boolean hasStragglers;

    /**
     * A point that has seen nothing.
     *
     * @param context          concluded.
     * @param answers          of the sender point.
     * @param entryLengthBytes of a flow in the cache.
     * @param recordHandler    takes records that have waited.
     * @param intervalHandler  is told of each interval.
     * @param unseenFlowHandler is told of flows that only the sender point saw, where the sums of all flows are compared.
     */
    public SketchReceiver(
        final SketchContext context,
        final SenderAnswers answers,
        final int entryLengthBytes,
        final RecordHandler recordHandler,
        final IntervalHandler intervalHandler,
        final UnseenFlowHandler unseenFlowHandler) {
        this(context, answers, null, 0,
            new SketchRecords(context.recordCount()), new WaitingRecords(context.waitingRecords(), entryLengthBytes),
            new FlowTotals(context.recordCount()), new DigestSet(context.inFlightPackets()), new SketchCounters(),
            recordHandler, intervalHandler, unseenFlowHandler);
    }

    /**
     * A point that goes on with the records of another, with other sketches, from a time on at which intervals of both begin.
     * Any thread; {@link #follow} joins the two.
     *
     * @param context         concluded; as many flows, records, and packets in flight as the predecessor's.
     * @param answers         of the sender point, from that time on.
     * @param predecessor     whose records go on.
     * @param fromNs          that time.
     * @param intervalHandler is told of each interval.
     */
    public SketchReceiver(
        final SketchContext context,
        final SenderAnswers answers,
        final SketchReceiver predecessor,
        final long fromNs,
        final IntervalHandler intervalHandler) {
        this(context, answers, predecessor, fromNs, predecessor.records, predecessor.waiting, predecessor.totals,
            predecessor.inFlight, predecessor.counters, predecessor.recordHandler, intervalHandler,
            predecessor.unseenFlowHandler);
    }

    private SketchReceiver(
        final SketchContext context, final SenderAnswers answers, final SketchReceiver predecessor, final long fromNs,
        final SketchRecords records, final WaitingRecords waiting, final FlowTotals totals, final DigestSet inFlight,
        final SketchCounters counters, final RecordHandler recordHandler, final IntervalHandler intervalHandler,
        final UnseenFlowHandler unseenFlowHandler) {
        this.answers = answers;
        this.predecessor = predecessor;
        this.records = records;
        this.waiting = waiting;
        this.totals = totals;
        this.inFlight = inFlight;
        this.counters = counters;
        this.unseenFlowHandler = unseenFlowHandler;
        this.recordHandler = recordHandler;
        this.intervalHandler = intervalHandler;
        point = new SketchPoint(context, true);
        intervals = point.intervals();
        intervalNs = context.intervalNs();
        maximumDelayNs = context.maximumDelayNs();
        dueAfterNs = maximumDelayNs + context.estimateWaitNs();
        lateAfterNs = maximumDelayNs + Math.max(context.answerDeadlineNs(), context.estimateWaitNs());
        rowCount = context.geometry().rows();
        settingsRun = predecessor == null ? 0 : predecessor.settingsRun + 1;
        keyShift = predecessor == null ? 0 :
            Math.floorDiv(fromNs, predecessor.intervalNs) + predecessor.keyShift - Math.floorDiv(fromNs, intervalNs);
        estimator = new FlowEstimator(
            context.geometry(), context.seed(), context.alpha(), FlowEstimator.DEFAULT_NOISE_TOLERANCE,
            FlowEstimator.DEFAULT_CONFIDENCE);
        aggregatorEstimator = new LdaEstimator(FlowEstimator.DEFAULT_CONFIDENCE);
        summary = new IntervalAnswer(context.classCount());
        pairs = summary.flowSums;
        joint = context.joint() == null ? null : new JointStage(context, records, counters);
    }

    /**
     * Who is told of intervals that were solved; before the first packet.
     *
     * @param handler takes them.
     */
    public void jointHandler(final JointHandler handler) {
        jointHandler = handler;
    }

    /**
     * The predecessor's last interval has ended; from now on packets come here. Those that arrive in the first W are held
     * here and there, until it is known where they were sent.
     *
     * @param fromNs     the time; intervals of both begin at it.
     * @param isSameWay whether both select the same packets; if not, nobody knows the loss in the intervals on both sides.
     */
    public void follow(final long fromNs, final boolean isSameWay) {
        predecessor.successor = this;
        earlierLate = counters.get(SketchCounter.RECEIVED_LATE);
        earlierUnsketched = counters.get(SketchCounter.RECEIVED_UNSKETCHED);
        predecessor.endInterval = Math.floorDiv(fromNs, predecessor.intervalNs);
        predecessor.onTime(fromNs);
        isFollowing = isSameWay && !predecessor.isOver();
        onTime(fromNs);
        if (!isSameWay) {
            predecessor.point.damage(predecessor.endInterval - 1);
            cutFirst();
        }
    }

    /** {@return whether all intervals before the successor's were told} */
    public boolean isOver() {
        return nextInterval >= endInterval && (joint == null || joint.isIdle());
    }

    /** Its place is given to others. */
    public void retire() {
        records.forgetWeights(settingsRun);
    }

    /**
     * A packet that came after the last interval ended, and may have been sent in it. The successor has it too, and counts it.
     *
     * @param timestampNs at this point.
     * @param flowHash    of its flow.
     * @param digest      of the packet.
     * @param lengthBytes of the packet.
     * @param classIndex  of its traffic class, by the settings here.
     * @param weight      of its flow, by the settings here.
     * @param record      of its flow.
     */
    public void onStraddlingPacket(
        final long timestampNs, final long flowHash, final long digest, final int lengthBytes, final int classIndex,
        final int weight, final int record) {
        if (!successor.isFollowing || timestampNs - endInterval * intervalNs >= maximumDelayNs) {
            return;
        }
        final PointInterval tail = intervals.select(timestampNs);
        if (tail != null && tail.held().add(timestampNs, flowHash, digest, lengthBytes, classIndex, weight, record)) {
            if (joint != null) {
                // Its estimate goes to the successor.
                tail.held().ticket(PendingEstimates.NO_TICKET);
            }
            if (record != SketchRecords.NONE && records.weight(record, settingsRun) == 0) {
                records.weight(record, settingsRun, weight);
            }
            retain(record);
        } else {
            point.damage(endInterval - 1);
        }
    }

    /**
     * A packet of the segment that a record counts.
     *
     * @param timestampNs at this point.
     * @param flowHash    of its flow.
     * @param digest      of the packet.
     * @param lengthBytes of the packet.
     * @param classIndex  of its traffic class.
     * @param weight      of its flow, at least 1.
     * @param slot        of its flow in the cache.
     * @param record      what this returned for the flow's last packet, or {@link SketchRecords#NONE}.
     * @return index of what the sketches say of the flow's record; {@link SketchRecords#NONE} without room.
     */
    public int onPacket(
        final long timestampNs, final long flowHash, final long digest, final int lengthBytes, final int classIndex,
        final int weight, final int slot, final int record) {
        if (timestampNs >= nextEventNs) {
            onTime(timestampNs);
        }
        newestNs = Math.max(newestNs, timestampNs);
        ticket = PendingEstimates.NO_TICKET;
        counters.increment(SketchCounter.RECEIVED);
        final PointInterval open = intervals.select(timestampNs);
        if (open == null) {
            countRefused();
            hasStragglers = true;
            if (record != SketchRecords.NONE) {
                records.addUnanswered(record, 1);
                records.addJointUnanswered(record, 1);
                records.addUnknownLoss(record);
            }
            return record;
        }
        final int booked = record == SketchRecords.NONE ? open(flowHash, classIndex, slot, open.intervalNumber()) : record;
        if (booked != SketchRecords.NONE && records.weight(booked, settingsRun) == 0) {
            records.weight(booked, settingsRun, weight);
        }
        if (isAmbiguous(timestampNs, open)) {
            if (open.held().add(timestampNs, flowHash, digest, lengthBytes, classIndex, weight, booked)) {
                retain(booked);
                if (joint != null) {
                    ticket = joint.onHeld(open, open.held().count() - 1);
                    open.held().ticket(ticket);
                }
                counters.increment(SketchCounter.RECEIVED_HELD);
                return booked;
            }
            counters.increment(SketchCounter.HELD_OVERFLOW);
            open.markDamaged();
            point.damage(open.intervalNumber() - 1);
            if (isFollowing) {
                predecessor.point.damage(predecessor.endInterval - 1);
            }
        }
        book(open, timestampNs, flowHash, digest, lengthBytes, classIndex, weight, booked);
        if (joint != null) {
            ticket = joint.onBooked(open, flowHash, digest, booked, weight);
        }
        return booked;
    }

    /**
     * What an estimate of the last packet's delay has to carry.
     *
     * @return a ticket; below 0 if the packet is in no sketch.
     */
    public long ticket() {
        return ticket;
    }

    /**
     * An estimate of a packet's delay by references, whether its flow lives or not.
     *
     * @param packetTicket of the packet.
     * @param delayNs      signed.
     */
    public void onEstimate(final long packetTicket, final long delayNs) {
        if (joint != null) {
            joint.onEstimate(packetTicket, delayNs, lookup);
        }
    }

    private PointInterval openInterval(final long number) {
        return number >= nextInterval && intervals.isOpen(number) ? intervals.selectInterval(number) : null;
    }

    /** Intervals that were solved meanwhile are told to their records. */
    public void onSolved() {
        if (joint != null) {
            tellSolved(joint.take());
        }
    }

    private void tellSolved(final JointTask task) {
        if (task == null) {
            return;
        }
        for (int i = 0; i < task.recordCount; i++) {
            joint.tell(task, i);
            release(task.records[i]);
        }
        jointHandler.onJoint(task.answer);
        joint.giveBack(task);
    }

    private void tellAllSolved() {
        JointTask task = joint == null ? null : joint.takeLast();
        while (task != null) {
            tellSolved(task);
            task = joint.takeLast();
        }
    }

    /** Ends the solver's thread. */
    public void close() {
        if (joint != null) {
            joint.close();
        }
    }

    /** A packet of the segment without a digest: no sketch can take it. */
    public void onPacketWithoutDigest() {
        ticket = PendingEstimates.NO_TICKET;
        counters.increment(SketchCounter.RECEIVED);
        counters.increment(SketchCounter.RECEIVED_WITHOUT_DIGEST);
    }

    /**
     * Time has passed: intervals that are due are compared, new ones open.
     *
     * @param timestampNs since the epoch, by the clock of the packets' timestamps.
     */
    public void onTime(final long timestampNs) {
        if (!isStarted) {
            isStarted = true;
            point.advance(timestampNs);
            firstInterval = intervals.newestInterval();
            nextInterval = firstInterval;
        }
        while (nextInterval <= intervals.newestInterval() && nextInterval < endInterval && isDue(timestampNs)) {
            nextInterval++;
        }
        if (isOver()) {
            handOver(false);
            nextEventNs = Long.MAX_VALUE;
            return;
        }
        point.advance(timestampNs);
        nextInterval = Math.max(nextInterval, intervals.newestInterval() - point.openIntervals() + 1);
        final long endNs = point.interval().endNs(nextInterval);
        nextEventNs = Math.min(
            point.interval().endNs(intervals.newestInterval()),
            timestampNs < endNs + dueAfterNs ? endNs + dueAfterNs : endNs + lateAfterNs);
    }

    /** The input has ended: every interval is compared as far as it was seen. */
    public void onEnd() {
        while (isStarted && nextInterval <= intervals.newestInterval() && nextInterval < endInterval) {
            final boolean isCut = point.interval().endNs(nextInterval) + maximumDelayNs > newestNs;
            conclude(answers.take(nextInterval), isCut || isFirst());
            nextInterval++;
            tellAllSolved();
        }
        tellAllSolved();
    }

    /** The sender point found a packet of an interval that may have been compared. */
    void onStraggler() {
        hasStragglers = true;
    }

    /** Tells the successor what was sent before its time; once. */
    private void handOver(final boolean isKnown) {
        if (successor != null && !isHandedOver) {
            isHandedOver = true;
            successor.settleFirst(isKnown);
        }
    }

    /** Books what was held while nobody knew whether it was the predecessor's, which it is where its digest was in flight. */
    private void settleFirst(final boolean isKnown) {
        isFollowing = false;
        if (!intervals.isOpen(firstInterval)) {
            return;
        }
        final PointInterval first = intervals.selectInterval(firstInterval);
        final HeldPackets held = first.held();
        if (!isKnown) {
            first.markDamaged();
        }
        for (int i = 0; i < held.count(); i++) {
            final int record = held.record(i);
            if (!isKnown || !inFlight.take(held.digest(i))) {
                book(first, held.timestampNs(i), held.flowHash(i), held.digest(i), held.lengthBytes(i), held.classIndex(i),
                    held.weight(i), record);
            }
            release(record);
        }
        counters.add(SketchCounter.RECEIVED_HELD, -held.count());
        held.clear();
    }

    /** Only a part of the first interval was seen: the sender point was watched for longer. */
    public void cutFirst() {
        isFirstCut = true;
    }

    /**
     * This point lost packets of its own.
     *
     * @param timestampNs up to when.
     */
    public void onOwnLoss(final long timestampNs) {
        point.onOwnLoss(timestampNs);
    }

    /**
     * Whether the record of a flow that has ended has to wait; if so it was copied, and {@link RecordHandler} gets it later.
     *
     * @param record index of what the sketches say of it.
     * @param entry  holds the finished flow.
     * @param offset of the flow.
     * @return false if it is complete, or there is no room; then {@link #done} is to be called.
     */
    public boolean waits(final int record, final DirectBuffer entry, final int offset) {
        if (!records.isReferred(record)) {
            return false;
        }
        final int place = waiting.add(entry, offset);
        if (place == WaitingRecords.NONE) {
            counters.increment(SketchCounter.RECORDS_NOT_WAITED);
            return false;
        }
        records.end(record, place);
        counters.increment(SketchCounter.RECORDS_WAITED);
        counters.set(SketchCounter.RECORDS_WAITING, waiting.count());
        return true;
    }

    /**
     * The record of a flow that has ended was handed on and is not asked for any more.
     *
     * @param record index of what the sketches say of it.
     */
    public void done(final int record) {
        if (records.isReferred(record)) {
            records.end(record, SketchRecords.NONE);
        } else {
            records.free(record);
        }
    }

    /** {@return what the sketches say of each record} */
    public SketchRecords records() {
        return records;
    }

    /** {@return the counters} */
    public SketchCounters counters() {
        return counters;
    }

    /**
     * The time from which on {@link #onTime} has something to do.
     *
     * @return ns since the epoch.
     */
    public long nextEventNs() {
        return nextEventNs;
    }

    /**
     * Where the octets of a record lie.
     *
     * @param record  with packets in the interval that is told of.
     * @param visitor gets the slot of a living flow, or the octets of a record that waits; nothing if it is neither.
     */
    public void locate(final int record, final RecordVisitor visitor) {
        final int place = records.place(record);
        if (records.isLive(record)) {
            visitor.onLiveFlow(place);
        } else if (place != SketchRecords.NONE) {
            visitor.onWaitingRecord(waiting.buffer(place), waiting.offset(place));
        }
    }

    /** Is told where a record is. */
    public interface RecordVisitor {
        /**
         * The flow lives.
         *
         * @param slot in the cache.
         */
        void onLiveFlow(int slot);

        /**
         * The flow has ended and its record waits.
         *
         * @param buffer holds the record.
         * @param offset of the record.
         */
        void onWaitingRecord(DirectBuffer buffer, int offset);
    }

    private boolean isAmbiguous(final long timestampNs, final PointInterval open) {
        final long number = open.intervalNumber();
        return timestampNs - number * intervalNs < maximumDelayNs &&
            (intervals.isOpen(number - 1) || isFollowing && number == firstInterval);
    }

    private long key(final long number) {
        return number + keyShift;
    }

    private int open(final long flowHash, final int classIndex, final int slot, final long number) {
        final int record = records.open(flowHash, classIndex, slot, key(number));
        if (record == SketchRecords.NONE) {
            counters.increment(SketchCounter.RECORDS_WITHOUT_ROOM);
        }
        return record;
    }

    private void retain(final int record) {
        if (record != SketchRecords.NONE) {
            records.retain(record);
        }
    }

    private void release(final int record) {
        if (record == SketchRecords.NONE || !records.release(record) || records.isLive(record)) {
            return;
        }
        final int place = records.place(record);
        if (place != SketchRecords.NONE) {
            counters.increment(SketchCounter.RECORDS_COMPLETED);
            recordHandler.onRecord(waiting.buffer(place), waiting.offset(place), waiting.lengthBytes(), record);
            waiting.remove(place);
            counters.set(SketchCounter.RECORDS_WAITING, waiting.count());
        }
        records.free(record);
    }

    private void countRefused() {
        counters.set(SketchCounter.RECEIVED_LATE, earlierLate + intervals.latePackets());
        counters.set(SketchCounter.RECEIVED_UNSKETCHED, earlierUnsketched + intervals.unsketchedPackets());
    }

    private void book(
        final PointInterval open, final long timestampNs, final long flowHash, final long digest, final int lengthBytes,
        final int classIndex, final int weight, final int record) {
        open.update(timestampNs, flowHash, digest, lengthBytes, classIndex, weight, null, 0);
        counters.increment(SketchCounter.RECEIVED_BOOKED);
        if (record != SketchRecords.NONE && records.countPacket(record, key(open.intervalNumber())) == 1) {
            open.addRecord(record);
            records.retain(record);
            if (joint != null) {
                joint.onFirstPacket(record, open.intervalNumber());
            }
        }
    }

    /** Concludes the next interval if it is time, and says whether it was. */
    private boolean isDue(final long timestampNs) {
        final long endNs = point.interval().endNs(nextInterval);
        if (timestampNs < endNs + dueAfterNs) {
            return false;
        }
        final SenderAnswer answer = answers.take(nextInterval);
        if (answer == null && answers.isExpected(nextInterval) && timestampNs < endNs + lateAfterNs) {
            return false;
        }
        conclude(answer, isFirst());
        return true;
    }

    private boolean isFirst() {
        return isFirstCut && nextInterval == firstInterval;
    }

    private void conclude(final SenderAnswer answer, final boolean isCut) {
        final long number = nextInterval;
        if (hasStragglers || answer != null && answer.hasStragglers()) {
            hasStragglers = false;
            doubt();
        }
        settleHeld(number, answer);
        final PointInterval own = point.take(number);
        if (own != null) {
            if (answer != null && isPaired(answer, own)) {
                compare(answer, own, isCut);
            } else {
                counters.increment(SketchCounter.INTERVALS_UNANSWERED);
                giveUp(own);
            }
            point.giveBack(own);
        }
        if (answer != null) {
            answers.giveBack(answer);
        }
    }

    /** A point compared an interval without all of its packets: nobody knows which flows' losses were told wrong. */
    private void doubt() {
        counters.increment(SketchCounter.STRAGGLERS);
        for (int record = 0; record < records.limit(); record++) {
            if (records.isInUse(record)) {
                records.addUnknownLoss(record);
            }
        }
    }

    /** Books the packets that were held in the next interval, or has the successor do so. */
    private void settleHeld(final long number, final SenderAnswer answer) {
        final boolean isLast = number + 1 == endInterval;
        final PointInterval next = intervals.isOpen(number + 1) ? intervals.selectInterval(number + 1) : null;
        if (!isLast && (next == null || next.held().count() == 0)) {
            return;
        }
        final PointInterval own = intervals.isOpen(number) ? intervals.selectInterval(number) : null;
        final int ownInFlight = own == null ? 0 : own.inFlightCount();
        final boolean isKnown = answer != null && own != null && answer.isInFlightComplete() && own.isInFlightComplete() &&
            readInFlight(answer, own, ownInFlight);
        if (!isKnown) {
            damage(next);
            damage(own);
        }
        if (next != null) {
            settle(next, own, number, isKnown, isLast);
        }
        if (isLast) {
            handOver(isKnown && readInFlight(answer, own, ownInFlight));
        }
    }

    private static void damage(final PointInterval interval) {
        if (interval != null) {
            interval.markDamaged();
        }
    }

    private void settle(
        final PointInterval next, final PointInterval own, final long number, final boolean isKnown, final boolean isLast) {
        final HeldPackets held = next.held();
        for (int i = 0; i < held.count(); i++) {
            final int record = held.record(i);
            final boolean isEarlier = isKnown && inFlight.take(held.digest(i));
            if (isEarlier) {
                counters.increment(SketchCounter.BOOKED_EARLIER);
                if (record != SketchRecords.NONE) {
                    records.firstInterval(record, key(number));
                }
            }
            if (isEarlier || !isLast) {
                book(isEarlier ? own : next, held.timestampNs(i), held.flowHash(i), held.digest(i), held.lengthBytes(i),
                    held.classIndex(i), held.weight(i), record);
                if (joint != null) {
                    joint.onSettled(isEarlier ? own : next, held, i, record);
                }
            }
            release(record);
        }
        counters.add(SketchCounter.RECEIVED_HELD, isLast ? 0 : -held.count());
        held.clear();
    }

    private boolean readInFlight(final SenderAnswer answer, final PointInterval own, final int ownCount) {
        if (answer.inFlightCount() > own.inFlightCapacity()) {
            return false;
        }
        inFlight.clear();
        for (int i = 0; i < answer.inFlightCount(); i++) {
            inFlight.add(answer.inFlight(i));
        }
        for (int i = 0; i < ownCount; i++) {
            inFlight.take(own.inFlight(i));
        }
        return true;
    }

    private boolean isPaired(final SenderAnswer answer, final PointInterval own) {
        final boolean isPaired = answer.hasSketches() ? own.hasSketches() && areSketchesPaired(answer, own) :
            answer.flows() != null && own.flows() != null;
        if (!isPaired) {
            counters.increment(SketchCounter.INTERVALS_REFUSED);
        }
        return isPaired;
    }

    private boolean areSketchesPaired(final SenderAnswer answer, final PointInterval own) {
        boolean isPaired = estimator.pair(answer.sketch(), own.sketch()) == PairingResult.PAIRED;
        for (int i = 0; isPaired && i < summary.aggregators.length; i++) {
            isPaired = aggregatorEstimator.estimate(answer.aggregator(i), own.aggregator(i), summary.aggregators[i]) ==
                PairingResult.PAIRED;
        }
        return isPaired;
    }

    private void compare(final SenderAnswer answer, final PointInterval own, final boolean isCut) {
        final long number = own.intervalNumber();
        counters.increment(SketchCounter.INTERVALS);
        summary.begin(number, intervalNs);
        summary.hasSketches = answer.hasSketches();
        summary.isDamaged = own.isDamaged() || answer.isDamaged();
        summary.isCut = isCut;
        counters.add(SketchCounter.INTERVALS_DAMAGED, summary.isDamaged ? 1 : 0);
        counters.add(SketchCounter.INTERVALS_CUT, isCut ? 1 : 0);
        counters.add(SketchCounter.INTERVALS_REMARKED, !summary.isDamaged && !isCut && isRemarked() ? 1 : 0);

        final FlowSums sent = answer.hasSketches() ? answer.witnesses() : answer.flows();
        final FlowSums received = answer.hasSketches() ? own.witnesses() : own.flows();
        if (sent != null && received != null) {
            pairs.pair(sent, received);
            counters.add(SketchCounter.FLOW_SUMS_OVERFLOW, sent.overflowPackets() + received.overflowPackets());
        }
        totals.clear();
        for (int i = 0; i < own.recordCount(); i++) {
            final int record = own.record(i);
            totals.add(records.flowHash(record), records.packets(record, key(number)));
            summary.heavyHitters.offer(record, records.packets(record, key(number)));
        }
        if (answer.hasSketches()) {
            compareCells(own, isCut);
        } else {
            compareFlows(own, isCut);
        }
        intervalHandler.onInterval(summary);
        if (joint != null && answer.hasSketches() && !joint.submit(answer, own, pairs, key(number), settingsRun)) {
            joint.tellUnsolved(own, key(number));
        }
        releaseRecords(own);
        pairs.unpair();
        estimator.unpair();
        onSolved();
    }

    private void compareCells(final PointInterval own, final boolean isCut) {
        final long number = own.intervalNumber();
        summary.cells(estimator.overview(), rowCount);
        counters.add(SketchCounter.OCCUPIED_CELLS, summary.occupiedCells);
        counters.add(SketchCounter.USABLE_CELLS, summary.usableCells);
        for (int i = 0; i < own.recordCount(); i++) {
            tell(own.record(i), number, isCut);
        }
        if (summary.isDamaged || summary.usableCells < summary.occupiedCells) {
            tellSilentFlows(number, isCut);
        }
        for (int row = 0; row < pairs.count(); row++) {
            if (pairs.sent().isWitness(row)) {
                counters.increment(SketchCounter.WITNESSES);
                counters.add(SketchCounter.WITNESSES_EXACT, pairs.agreement(row) == FlowSumPairs.Agreement.EXACT ? 1 : 0);
            }
        }
    }

    /** The sums of every flow: exact where they agree, and where they do not the counts tell the loss. */
    private void compareFlows(final PointInterval own, final boolean isCut) {
        final long number = own.intervalNumber();
        final boolean isLossKnown = !summary.isDamaged && !isCut;
        final boolean isSilenceKnown = isLossKnown && pairs.received().overflowPackets() == 0;
        counters.increment(SketchCounter.INTERVALS_OF_FLOWS);
        summary.hasAllSums = isSilenceKnown && pairs.sent().overflowPackets() == 0;
        explained.clear();
        for (int i = 0; i < own.recordCount(); i++) {
            tellSums(own.record(i), number, isLossKnown);
        }
        for (int record = 0; record < records.limit(); record++) {
            if (isSilent(record, number) && totals.get(records.flowHash(record)) == 0) {
                tellSilence(record, isSilenceKnown);
            }
        }
        for (int row = 0; row < pairs.count(); row++) {
            final FlowSumPairs.Agreement agreement = pairs.agreement(row);
            counters.increment(switch (agreement) {
                case EXACT -> SketchCounter.FLOWS_EXACT;
                case LOST -> SketchCounter.FLOWS_WITH_LOSS;
                case SENT_ONLY -> SketchCounter.FLOWS_UNSEEN;
                case DIFFERENT -> SketchCounter.FLOWS_DIFFERENT;
            });
            summary.sumLostPackets += pairs.lostPackets(row);
            if (agreement == FlowSumPairs.Agreement.EXACT) {
                summary.addExact(pairs.sent().packets(row), pairs.delaySumNs(row));
            } else if (agreement == FlowSumPairs.Agreement.SENT_ONLY && isSilenceKnown && !explained.get(row)) {
                unseenFlowHandler.onUnseenFlow(pairs.sent(), row, summary.startNs, summary.endNs);
            }
            summary.flowLostPackets += Math.max(0, pairs.lostPackets(row));
        }
        for (int row = 0; row < pairs.received().count(); row++) {
            if (pairs.sent().find(pairs.received().flowHash(row)) == FlowSums.NONE) {
                summary.sumLostPackets -= pairs.received().packets(row);
            }
        }
    }

    private void tellSums(final int record, final long number, final boolean isLossKnown) {
        final int packets = records.packets(record, key(number));
        final int row = pairs.sent().find(records.flowHash(record));
        final FlowSumPairs.Agreement agreement = row == FlowSums.NONE || !pairs.hasReceived(row) ?
            FlowSumPairs.Agreement.DIFFERENT : pairs.agreement(row);
        summary.flowCount++;
        if (agreement == FlowSumPairs.Agreement.EXACT) {
            final long flowPackets = pairs.sent().packets(row);
            summary.estimatedFlowCount++;
            records.addExactDelay(
                record, packets, packets == flowPackets, (double)pairs.delaySumNs(row) / flowPackets);
            if (joint != null) {
                records.addJoint(record, packets, (double)pairs.delaySumNs(row) / flowPackets, 0, JointKind.JOINT);
            }
            records.addLoss(record, 1, 0, LossKind.EXACT);
            return;
        }
        records.addUnanswered(record, packets);
        if (joint != null) {
            records.addJointUnanswered(record, packets);
        }
        if (agreement == FlowSumPairs.Agreement.LOST && isLossKnown) {
            final long flowPackets = totals.get(records.flowHash(record));
            records.addLoss(record, (double)packets / flowPackets, pairs.lostPackets(row),
                packets == flowPackets ? LossKind.EXACT : LossKind.UPPER_BOUND);
        } else {
            records.addUnknownLoss(record);
        }
    }

    /** A flow that lives and of which nothing arrived: what the sender has of it was lost. */
    private void tellSilence(final int record, final boolean isSilenceKnown) {
        final int row = pairs.sent().find(records.flowHash(record));
        final boolean isNothingSent = row == FlowSums.NONE && pairs.sent().overflowPackets() == 0 && !summary.isDamaged;
        if (!isSilenceKnown && !isNothingSent) {
            records.addUnknownLoss(record);
        } else if (row != FlowSums.NONE && !explained.get(row)) {
            explained.set(row);
            records.addLoss(record, 1, pairs.sent().packets(row), LossKind.EXACT);
        }
    }

    /** A packet that was lost is missing from its class; one too many in a class was sent in another. */
    private boolean isRemarked() {
        boolean isMore = false;
        for (int i = 0; summary.aggregators.length > 1 && i < summary.aggregators.length; i++) {
            isMore |= summary.aggregators[i].hasLoss() && summary.aggregators[i].lostPackets() < 0;
        }
        return isMore;
    }

    private void tell(final int record, final long number, final boolean isCut) {
        final int packets = records.packets(record, key(number));
        final long flowPackets = totals.get(records.flowHash(record));
        final double share = (double)packets / flowPackets;
        estimator.estimate(records.flowHash(record), records.weight(record, settingsRun), flowPackets, estimate);
        summary.flowCount++;
        if (estimate.hasMean()) {
            summary.estimatedFlowCount++;
            records.addDelay(record, packets, share, estimate);
        } else {
            records.addUnanswered(record, packets);
        }
        tellLoss(record, share, isCut);
    }

    private void tellLoss(final int record, final double share, final boolean isCut) {
        if (estimate.lossKind() == LossKind.NONE || isCut && estimate.lossKind() != LossKind.EXACT) {
            records.addUnknownLoss(record);
        } else {
            records.addLoss(record, share, estimate.lostPackets(), estimate.lossKind());
            summary.flowLostPackets += share * estimate.lostPackets();
        }
    }

    /** Flows that live and of which nothing arrived may have lost all that they sent. */
    private void tellSilentFlows(final long number, final boolean isCut) {
        for (int record = 0; record < records.limit(); record++) {
            if (isSilent(record, number) && totals.get(records.flowHash(record)) == 0) {
                tellSilentFlow(record, isCut);
            }
        }
    }

    /** Nobody knows the weight of a flow of which nothing arrived since settings changed. */
    private void tellSilentFlow(final int record, final boolean isCut) {
        final int weight = records.weight(record, settingsRun);
        if (weight == 0) {
            records.addUnknownLoss(record);
        } else {
            estimator.estimate(records.flowHash(record), weight, 0, estimate);
            tellLoss(record, 1, isCut);
        }
    }

    private boolean isSilent(final int record, final long number) {
        return records.isLive(record) && records.packets(record, key(number)) == 0 &&
            records.firstInterval(record) <= key(number);
    }

    private void giveUp(final PointInterval own) {
        final long number = own.intervalNumber();
        for (int i = 0; i < own.recordCount(); i++) {
            records.addUnanswered(own.record(i), records.packets(own.record(i), key(number)));
            records.addUnknownLoss(own.record(i));
        }
        for (int record = 0; record < records.limit(); record++) {
            if (isSilent(record, number)) {
                records.addUnknownLoss(record);
            }
        }
        if (joint != null) {
            joint.tellUnsolved(own, key(number));
        }
        releaseRecords(own);
    }

    private void releaseRecords(final PointInterval own) {
        for (int i = 0; i < own.recordCount(); i++) {
            records.clearPackets(own.record(i), key(own.intervalNumber()));
            release(own.record(i));
        }
    }
}
