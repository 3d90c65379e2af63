package io.flowlag.exporter.delay.interval;

import io.flowlag.common.counter.CounterSet;
import io.flowlag.exporter.delay.interval.compare.ClockEvidence;
import io.flowlag.exporter.delay.interval.compare.DigestSet;
import io.flowlag.exporter.delay.interval.compare.InFlightMatch;
import io.flowlag.exporter.delay.interval.compare.IntervalComparison;
import io.flowlag.exporter.delay.interval.compare.IntervalHandler;
import io.flowlag.exporter.delay.interval.joint.JointHandler;
import io.flowlag.exporter.delay.interval.joint.JointStage;
import io.flowlag.exporter.delay.interval.records.HeldPackets;
import io.flowlag.exporter.delay.interval.records.IntervalFlows;
import io.flowlag.exporter.delay.interval.records.IntervalKeys;
import io.flowlag.exporter.delay.interval.records.IntervalSettings;
import io.flowlag.exporter.delay.interval.records.ReceivedPackets;
import io.flowlag.exporter.delay.interval.records.ReceiverRecords;
import io.flowlag.exporter.delay.interval.records.SenderAnswer;
import io.flowlag.exporter.delay.interval.records.SketchCounter;
import io.flowlag.exporter.delay.interval.records.SketchRecords;
import io.flowlag.exporter.delay.interval.records.UnseenFlowHandler;
import io.flowlag.exporter.delay.interval.records.WaitedRecordHandler;
import org.agrona.DirectBuffer;

/**
 * The receiver point: takes packets in, concludes an interval when all its packets must have arrived and the sender has answered,
 * and goes over to other settings at their time. {@link IntervalAssignment} assigns packets to intervals,
 * {@link IntervalComparison} compares, {@link ReceiverRecords} keeps the records.
 * <p>
 * The metering thread owns it. Allocates at construction.
 */
public final class IntervalReceiver {
    private static final long REPAIR_POLL_NS = 1_000_000L;
    private static final long NO_KEY = Long.MIN_VALUE;

    private final IntervalPoint point;
    private final SenderAnswers answers;
    private final IntervalKeys run;
    private final long maximumDelayNs;
    private final long dueAfterNs;
    private final long lateAfterNs;
    private final long repairWaitNs;
    private final boolean isLive;
    private boolean isWhole;

    private final Shared shared;
    private final ReceiverRecords records;
    private final IntervalFlows flows;
    private final InFlightMatch inFlightMatch;
    private final CounterSet<SketchCounter> counters;
    private final JointStage joint;
    private final IntervalAssignment assignment;
    private final IntervalComparison comparison;
    private final ClockEvidence clocks;
    private final JointStage.IntervalLookup lookup = new JointStage.IntervalLookup() {
        @Override
        public PointInterval open(final long number) {
            return openInterval(number);
        }

        @Override
        public HeldPackets held(final long number) {
            return number >= nextInterval ? assignment.held(number) : null;
        }
    };
    /** What held before, until it has said all of its intervals. */
    private final IntervalReceiver predecessor;
    private IntervalReceiver successor;
    private long endInterval = Long.MAX_VALUE;
    private boolean isFollowing;
    private boolean isHandedOver;

    private boolean isStarted;
    private boolean isFirstCut;
    private long firstInterval;
    private long firstKey = NO_KEY;
    private long nextInterval;
    private long nextEventNs = Long.MIN_VALUE;
    private long newestNs = Long.MIN_VALUE;
    private boolean hasStragglers;
    private long lossKnownNs;
    /** When an interval was due of which the losses of this point are not known; {@link Long#MIN_VALUE} if none is. */
    private long heldUpNs = Long.MIN_VALUE;
    /** What is being repaired: concluded when that is done, or its time is up. */
    private SenderAnswer repairedAnswer;
    private PointInterval repairedInterval;
    private boolean isRepairedCut;
    private long repairUntilNs;

    /** What the receiver points of successive settings share. */
    private record Shared(
        CounterSet<SketchCounter> counters, ReceiverRecords records, IntervalFlows flows, InFlightMatch inFlightMatch,
        UnseenFlowHandler unseenFlowHandler) {
        private static Shared of(
            final IntervalSettings settings, final int entryLengthBytes, final WaitedRecordHandler recordHandler,
            final UnseenFlowHandler unseenFlowHandler) {
            final CounterSet<SketchCounter> counters = new CounterSet<>(SketchCounter.class);
            final ReceiverRecords records = new ReceiverRecords(settings, entryLengthBytes, counters, recordHandler);
            return new Shared(counters, records, new IntervalFlows(records.table(), settings.room().records()),
                new InFlightMatch(settings.room().inFlightPackets()), unseenFlowHandler);
        }
    }

    /**
     * A point that has seen nothing.
     *
     * @param settings          concluded.
     * @param entryLengthBytes  of a flow in the cache.
     * @param recordHandler     takes records that have waited.
     * @param intervalHandler   is told of each interval.
     * @param unseenFlowHandler is told of flows that only the sender point saw, where the sums of all flows are compared.
     */
    public IntervalReceiver(
        final IntervalSettings settings,
        final SenderAnswers answers,
        final int entryLengthBytes,
        final WaitedRecordHandler recordHandler,
        final IntervalHandler intervalHandler,
        final UnseenFlowHandler unseenFlowHandler) {
        this(settings, answers, null, IntervalKeys.first(settings.times().intervalNs()),
            Shared.of(settings, entryLengthBytes, recordHandler, unseenFlowHandler), intervalHandler);
    }

    /**
     * A point that goes on with the records of another, with other sketches, from a time on at which intervals of both begin.
     * Any thread; {@link #follow} joins the two.
     *
     * @param settings        concluded; as many flows, records, and packets in flight as the predecessor's.
     * @param answers         of the sender point, from that time on.
     * @param intervalHandler is told of each interval.
     */
    public IntervalReceiver(
        final IntervalSettings settings,
        final SenderAnswers answers,
        final IntervalReceiver predecessor,
        final IntervalHandler intervalHandler) {
        this(settings, answers, predecessor, predecessor.run.next(settings.times().intervalNs()), predecessor.shared,
            intervalHandler);
    }

    private IntervalReceiver(
        final IntervalSettings settings,
        final SenderAnswers answers,
        final IntervalReceiver predecessor,
        final IntervalKeys run,
        final Shared shared,
        final IntervalHandler intervalHandler) {
        this.answers = answers;
        this.predecessor = predecessor;
        this.run = run;
        this.shared = shared;
        counters = shared.counters;
        records = shared.records;
        flows = shared.flows;
        inFlightMatch = shared.inFlightMatch;
        point = new IntervalPoint(settings, true);
        maximumDelayNs = settings.times().maximumDelayNs();
        dueAfterNs = dueAfterNs(settings);
        lateAfterNs = lateAfterNs(settings);
        repairWaitNs = settings.reconcile() == null ? 0 : settings.reconcile().waitNs();
        joint = new JointStage(settings, records, counters);
        isLive = settings.isLive();
        lossKnownNs = isLive ? Long.MIN_VALUE : Long.MAX_VALUE;
        clocks = new ClockEvidence(settings, inFlightMatch);
        comparison = new IntervalComparison(
            settings, run, records, flows, counters, joint, intervalHandler, shared.unseenFlowHandler, clocks);
        assignment = new IntervalAssignment(
            settings, point, run, records, inFlightMatch, joint, counters, comparison.recordMarks());
    }

    /**
     * Memory of a receiver point, by formula.
     *
     * @param entryLengthBytes of a flow in the cache.
     * @return octets.
     */
    public static long bytes(final IntervalSettings settings, final int entryLengthBytes) {
        final int inFlight = settings.room().inFlightPackets();
        return IntervalPoint.bytes(settings, true) + (long)inFlight * HeldPackets.PACKET_BYTES +
            ReceiverRecords.bytes(settings, entryLengthBytes) + IntervalFlows.memoryBytes(settings.room().records()) +
            IntervalComparison.bytes(settings) + DigestSet.memoryBytes(inFlight) + JointStage.bytes(settings);
    }

    private static long dueAfterNs(final IntervalSettings settings) {
        return settings.times().maximumDelayNs() + settings.estimateWaitNs();
    }

    private static long lateAfterNs(final IntervalSettings settings) {
        return settings.times().maximumDelayNs() + Math.max(settings.times().answerDeadlineNs(), settings.estimateWaitNs());
    }

    /** Who is told of intervals that were solved; before the first packet. */
    public void jointHandler(final JointHandler handler) {
        joint.handler(handler);
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
        run.follow(predecessor.run, fromNs);
        predecessor.assignment.end();
        assignment.begin();
        predecessor.endInterval = Math.floorDiv(fromNs, predecessor.run.intervalNs());
        predecessor.onTime(fromNs);
        isFollowing = isSameWay && !predecessor.isOver();
        onTime(fromNs);
        if (!isSameWay) {
            predecessor.damageLast();
            cutFirst();
        }
    }

    private void damageLast() {
        point.damage(endInterval - 1);
    }

    private void damageFirst() {
        point.damage(firstInterval);
    }

    /** {@return whether all intervals before the successor's were told} */
    public boolean isOver() {
        return nextInterval >= endInterval && joint.isIdle();
    }

    /** Its place is given to others. */
    public void retire() {
        records.table().forgetWeights(run.number());
    }

    /**
     * A packet that came after the last interval ended, and may have been sent in it. The successor has it too, and counts it.
     *
     * @param classIndex of its traffic class, by the settings here.
     * @param weight     of its flow, by the settings here.
     */
    public void onStraddlingPacket(
        final long timestampNs, final long flowHash, final long digest, final int lengthBytes, final int classIndex,
        final int weight, final int record) {
        if (successor.isFollowing && assignment.isEarly(timestampNs, endInterval)) {
            assignment.holdAlso(timestampNs, flowHash, digest, lengthBytes, classIndex, weight, record, endInterval - 1);
        }
    }

    /** {@return whether packets need anything that {@link #touch} reads} */
    public boolean isTouched() {
        final PointInterval newest = point.intervals().newestOpen();
        return newest != null && newest.isTouched();
    }

    /** The packets of {@link #touch} have come; others will be told. */
    public void expectOthers() {
        final PointInterval newest = point.intervals().newestOpen();
        if (newest != null) {
            newest.expectOthers();
        }
    }

    /** Reads the cells of all packets of {@link #touch}. */
    public long touchExpected() {
        final PointInterval newest = point.intervals().newestOpen();
        return newest == null ? 0 : newest.touchExpected();
    }

    /**
     * Reads of the newest interval what a packet needs, so that it is in the processor's cache when it comes; but for its cells,
     * which {@link #touchExpected} reads.
     */
    public long touch(final long flowHash, final long digest) {
        final PointInterval newest = point.intervals().newestOpen();
        return newest == null ? 0 : newest.touch(flowHash, digest);
    }

    /**
     * A packet of the segment that a record counts.
     *
     * @param weight of its flow, at least 1.
     * @param slot   of its flow in the cache.
     * @param record what this returned for the flow's last packet, or {@link SketchRecords#NONE}.
     * @return index of what the sketches say of the flow's record; {@link SketchRecords#NONE} without room.
     */
    public int onPacket(
        final long timestampNs, final long flowHash, final long digest, final int lengthBytes, final int classIndex,
        final int weight, final int slot, final int record) {
        if (timestampNs >= nextEventNs) {
            onTime(timestampNs);
        }
        if (newestNs == Long.MIN_VALUE) {
            answers.onFirstReceived(timestampNs);
        }
        newestNs = Math.max(newestNs, timestampNs);
        assignment.skip();
        counters.increment(SketchCounter.RECEIVED);
        final PointInterval open = point.intervals().select(timestampNs);
        if (open == null) {
            assignment.refuse(record);
            hasStragglers = true;
            return record;
        }
        final boolean isEarly = isAmbiguous(timestampNs, open.intervalNumber());
        final boolean isAhead = !isEarly && assignment.isAhead(timestampNs, open.intervalNumber());
        final int booked = record != SketchRecords.NONE ? record :
            records.open(flowHash, classIndex, slot, run.key(open.intervalNumber()) + (isAhead ? 1 : 0));
        assignment.weigh(booked, weight);
        if (isAhead &&
            assignment.holdAhead(open, timestampNs, flowHash, digest, lengthBytes, classIndex, weight, booked)) {
            return booked;
        }
        if (isEarly) {
            if (assignment.hold(open, timestampNs, flowHash, digest, lengthBytes, classIndex, weight, booked)) {
                return booked;
            }
            if (isFollowing) {
                predecessor.damageLast();
            }
        }
        assignment.book(open, timestampNs, flowHash, digest, lengthBytes, classIndex, weight, booked);
        return booked;
    }

    /**
     * Whether nothing is due while packets of a span of time come, all of them are of the newest interval, and packets are
     * gathered there: then they may be given to {@link #gather}.
     */
    public boolean isQuiet(final long earliestNs, final long latestNs) {
        final PointInterval newest = point.intervals().newestOpen();
        return newest != null && latestNs < nextEventNs && earliestNs >= newest.startNs() &&
            !isAmbiguous(earliestNs, newest.intervalNumber()) && !assignment.isAhead(latestNs, newest.intervalNumber()) &&
            assignment.isGathering(newest);
    }

    /**
     * Whether a packet of a quiet time can be gathered: its flow has had others in the interval, of the same weight.
     *
     * @param record of its flow, of whose whole packets it is one.
     * @return false if it is for {@link #onPacket}.
     */
    public boolean isGathering(final int record, final int weight) {
        return assignment.isGathering(record, weight);
    }

    /**
     * Takes packets of a quiet time that can be gathered, as {@link #onPacket} would.
     *
     * @param latestNs the largest timestamp, or a later one of the quiet time.
     */
    public void gather(final ReceivedPackets packets, final long latestNs) {
        // Time has come so far, for the intervals too.
        point.intervals().select(latestNs);
        assignment.gather(packets);
        newestNs = Math.max(newestNs, latestNs);
        counters.add(SketchCounter.RECEIVED, packets.count());
        counters.add(SketchCounter.RECEIVED_BOOKED, packets.count());
    }

    private boolean isAmbiguous(final long timestampNs, final long number) {
        return assignment.isEarly(timestampNs, number) &&
            (point.intervals().isOpen(number - 1) || isFollowing && number == firstInterval);
    }

    /** What an estimate of the last packet's delay has to carry. Returns a ticket; below 0 if the packet is in no sketch. */
    public long ticket() {
        return assignment.ticket();
    }

    /**
     * An estimate of a packet's delay by references, whether its flow lives or not.
     *
     * @param delayNs      signed.
     * @param spanNumber   of the span of two gaps between references that the packet lies in.
     * @param errorScaleNs scale of the estimate's error; 0 if it is not known.
     */
    public void onEstimate(
        final long packetTicket, final long delayNs, final long spanNumber, final float errorScaleNs) {
        joint.onEstimate(packetTicket, delayNs, spanNumber, errorScaleNs, lookup);
    }

    private PointInterval openInterval(final long number) {
        return number >= nextInterval && point.intervals().isOpen(number) ? point.intervals().selectInterval(number) : null;
    }

    /** Intervals that were solved meanwhile are told to their records. */
    public void onSolved() {
        joint.onSolved();
    }

    /** Ends the solver's thread. */
    public void close() {
        joint.close();
    }

    /** A packet of the segment without a digest: no sketch can take it. */
    public void onPacketWithoutDigest() {
        assignment.skip();
        counters.increment(SketchCounter.RECEIVED);
        counters.increment(SketchCounter.RECEIVED_WITHOUT_DIGEST);
    }

    /**
     * Time has passed: intervals that are due are compared, new ones open.
     *
     * @param timestampNs since the epoch, by the clock of the packets' timestamps.
     */
    public void onTime(final long timestampNs) {
        work(timestampNs);
        answers.advance(timestampNs);
    }

    private void work(final long timestampNs) {
        if (!isStarted) {
            start(timestampNs);
        }
        if (predecessor != null) {
            predecessor.makeWay(run.key(point.interval().number(timestampNs)), timestampNs);
        }
        while (nextInterval <= point.intervals().newestInterval() && nextInterval < endInterval &&
            (isRepairing() ? isRepaired(timestampNs) : isDue(timestampNs))) {
            nextInterval++;
        }
        if (isOver()) {
            handOver(false);
            nextEventNs = Long.MAX_VALUE;
            return;
        }
        giveRoom(timestampNs);
        point.advance(timestampNs);
        assignment.onBegun();
        nextInterval = Math.max(nextInterval, point.intervals().newestInterval() - point.openIntervals() + 1);
        final long endNs = point.interval().endNs(nextInterval);
        nextEventNs = Math.min(
            point.interval().endNs(point.intervals().newestInterval()),
            timestampNs < endNs + dueAfterNs ? endNs + dueAfterNs : endNs + lateAfterNs);
        if (isRepairing()) {
            nextEventNs = Math.min(nextEventNs, timestampNs + REPAIR_POLL_NS);
        }
    }

    private void start(final long timestampNs) {
        isStarted = true;
        point.advance(timestampNs);
        firstInterval = point.intervals().newestInterval();
        nextInterval = firstInterval;
        if (firstKey != NO_KEY) {
            run.restart(firstInterval, firstKey);
        }
    }

    /** Concludes what is not open any more at a time, whether or not everything is known of it. */
    private void giveRoom(final long timestampNs) {
        final long firstOpen = point.interval().number(timestampNs) - point.openIntervals() + 1;
        concludeBefore(firstOpen, timestampNs);
        if (isLive && firstOpen > point.intervals().newestInterval() + 1) {
            // Time has leapt over intervals that were never open: what was sent in them was not seen.
            comparison.doubtLoss();
        }
    }

    /** The successor opens an interval: records have no room for one of here that is so much older. */
    private void makeWay(final long key, final long timestampNs) {
        concludeBefore(run.number(key - SketchRecords.INTERVALS + 1), timestampNs);
    }

    private void concludeBefore(final long firstOpen, final long timestampNs) {
        final long newest = point.intervals().newestInterval();
        while (isStarted && nextInterval < firstOpen && nextInterval <= newest && nextInterval < endInterval) {
            if (!isRepairing()) {
                if (!isLossKnown(nextInterval)) {
                    point.damage(nextInterval);
                }
                conclude(answers.take(nextInterval), isFirst(), timestampNs);
            }
            if (isRepairing()) {
                concludeRepaired(true);
            }
            nextInterval++;
        }
    }

    /** The clock was set back after the successor had begun: what is open is compared as far as it was seen, and that was all. */
    public void giveUp() {
        concludeOpen();
        nextInterval = Math.max(nextInterval, endInterval);
        handOver(false);
    }

    /** Nobody knows any more what this point lost in what is open. */
    private void concludeOpen() {
        lossKnownNs = Long.MIN_VALUE;
        concludeBefore(Long.MAX_VALUE, newestNs);
    }

    /**
     * The clock was set back, and the run before, if there was one, is over or was given up: what is open is compared as far as
     * it was seen, and its losses are not known. Then time begins anew, with the next packet or {@link #onTime}.
     */
    public void restart() {
        if (!isStarted) {
            return;
        }
        concludeOpen();
        firstKey = run.key(point.intervals().newestInterval()) + 1;
        point.restart();
        answers.restart();
        inFlightMatch.restart();
        clocks.restart();
        comparison.doubtLoss();
        records.restart();
        isStarted = false;
        isFollowing = false;
        isFirstCut = true;
        hasStragglers = false;
        lossKnownNs = isLive ? Long.MIN_VALUE : Long.MAX_VALUE;
        heldUpNs = Long.MIN_VALUE;
        newestNs = Long.MIN_VALUE;
        nextEventNs = Long.MIN_VALUE;
    }

    /** No packet is under way when the captures begin and when they end: the first and the last interval are whole. */
    public void capturesAreWhole() {
        isWhole = true;
    }

    /** The input has ended: every interval is compared as far as it was seen. */
    public void onEnd() {
        while (isStarted && nextInterval <= point.intervals().newestInterval() && nextInterval < endInterval) {
            final boolean isCut = !isWhole && point.interval().endNs(nextInterval) + maximumDelayNs > newestNs;
            if (!isRepairing()) {
                conclude(answers.take(nextInterval), isCut || isFirst(), newestNs);
            }
            if (isRepairing()) {
                concludeRepaired(true);
            }
            nextInterval++;
            joint.onEnd();
        }
        joint.onEnd();
    }

    /** The sender point found a packet of an interval that may have been compared. */
    void onStraggler() {
        hasStragglers = true;
    }

    /** Tells the successor what was sent before its time; once. */
    private void handOver(final boolean isKnown) {
        if (successor != null && !isHandedOver) {
            isHandedOver = true;
            successor.isFollowing = false;
            successor.assignment.settleFirst(successor.firstInterval, isKnown);
        }
    }

    /** Only a part of the first interval was seen: the sender point was watched for longer. */
    public void cutFirst() {
        isFirstCut = true;
    }

    /**
     * Everything that this point lost of its own from before a time was told by {@link #onOwnLoss}. Drops are heard of later than
     * the packets that came after them, so an interval is not concluded by the time of packets alone.
     *
     * @param throughNs that time, by the clock of the packets' timestamps.
     */
    public void lossKnown(final long throughNs) {
        lossKnownNs = throughNs;
        if (heldUpNs != Long.MIN_VALUE && isLossKnown(nextInterval)) {
            final long timestampNs = heldUpNs;
            heldUpNs = Long.MIN_VALUE;
            onTime(timestampNs);
        }
    }

    /** Packets of an interval arrive up to W after its end, and may be dropped until then. */
    private boolean isLossKnown(final long number) {
        return lossKnownNs >= point.interval().endNs(number) + maximumDelayNs;
    }

    /**
     * This point lost packets of its own.
     *
     * @param timestampNs up to when.
     */
    public void onOwnLoss(final long timestampNs) {
        point.onOwnLoss(timestampNs);
        answers.onOwnLoss(timestampNs);
    }

    /**
     * Whether the record of a flow that has ended must wait. If so it was copied, and {@link WaitedRecordHandler} gets it later.
     *
     * @param record index of what the sketches say of it.
     * @return false if it is complete, or there is no room; then {@link #done} is to be called.
     */
    public boolean waits(final int record, final DirectBuffer entry, final int offset) {
        return records.waits(record, entry, offset);
    }

    /**
     * The record of a flow that has ended was handed on and is not asked for any more.
     *
     * @param record index of what the sketches say of it.
     */
    public void done(final int record) {
        records.done(record);
    }

    /** {@return what the sketches say of each record} */
    public SketchRecords records() {
        return records.table();
    }

    /**
     * How long the last packets took, by the two clocks, that came earlier or later than packets are held for. Returns ns; 0 if
     * none did. Any thread.
     */
    public long apartNs() {
        return clocks.apartNs();
    }

    /** {@return the counters} */
    public CounterSet<SketchCounter> counters() {
        return counters;
    }

    /** The time from which on {@link #onTime} has something to do. Returns ns since the epoch. */
    public long nextEventNs() {
        return nextEventNs;
    }

    /**
     * Where the octets of a record lie.
     *
     * @param record  with packets in the interval that is told of.
     * @param visitor gets the slot of a living flow, or the octets of a record that waits; nothing if it is neither.
     */
    public void locate(final int record, final ReceiverRecords.RecordVisitor visitor) {
        records.locate(record, visitor);
    }

    /** Concludes the next interval if it is time, and says whether it was. */
    private boolean isDue(final long timestampNs) {
        final long endNs = point.interval().endNs(nextInterval);
        if (timestampNs < endNs + dueAfterNs) {
            return false;
        }
        if (!isLossKnown(nextInterval)) {
            heldUpNs = timestampNs;
            return false;
        }
        final SenderAnswer answer = answers.take(nextInterval);
        if (answer == null && answers.isExpected(nextInterval) && timestampNs < endNs + lateAfterNs) {
            return false;
        }
        conclude(answer, isFirst(), timestampNs);
        return !isRepairing();
    }

    private boolean isFirst() {
        return isFirstCut && !isWhole && nextInterval == firstInterval;
    }

    private boolean isRepairing() {
        return repairedInterval != null;
    }

    /** Whether the repair of the next interval is over, by itself or because its time is up; then it was concluded. */
    private boolean isRepaired(final long timestampNs) {
        if (!comparison.repair().work()) {
            if (timestampNs < repairUntilNs) {
                return false;
            }
            comparison.repair().giveUp();
        }
        concludeRepaired(false);
        return true;
    }

    private void concludeRepaired(final boolean isGivenUp) {
        if (isGivenUp) {
            comparison.repair().giveUp();
        }
        final SenderAnswer answer = repairedAnswer;
        final PointInterval own = repairedInterval;
        repairedAnswer = null;
        repairedInterval = null;
        compare(answer, own, isRepairedCut);
    }

    /** Both go back, whatever becomes of comparing them: another interval needs the room. */
    private void compare(final SenderAnswer answer, final PointInterval own, final boolean isCut) {
        try {
            if (own != null) {
                comparison.conclude(answer, own, isCut);
            }
        } finally {
            if (own != null) {
                point.giveBack(own);
            }
            if (answer != null) {
                answers.giveBack(answer);
            }
        }
    }

    private void conclude(final SenderAnswer answer, final boolean isCut, final long timestampNs) {
        final long number = nextInterval;
        if (hasStragglers || answer != null && answer.hasStragglers()) {
            hasStragglers = false;
            counters.increment(SketchCounter.STRAGGLERS);
            comparison.doubtLoss();
        }
        final boolean isLast = number + 1 == endInterval;
        final boolean isKnown = assignment.settle(number, answer, isLast);
        if (isLast) {
            handOver(isKnown);
        }
        if (isLast && assignment.isTorn()) {
            successor.damageFirst();
        }
        assignment.complete(number);
        final PointInterval own = point.take(number);
        if (own != null && !comparison.repair().begin(answer, own, openInterval(number + 1), answers.peer())) {
            repairedAnswer = answer;
            repairedInterval = own;
            isRepairedCut = isCut;
            repairUntilNs = timestampNs + repairWaitNs;
            return;
        }
        compare(answer, own, isCut);
    }
}
