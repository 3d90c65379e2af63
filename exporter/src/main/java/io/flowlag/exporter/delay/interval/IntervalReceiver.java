package io.flowlag.exporter.delay.interval;

import io.flowlag.exporter.delay.interval.compare.ClockEvidence;
import io.flowlag.exporter.delay.interval.compare.DigestSet;
import io.flowlag.exporter.delay.interval.compare.InFlightMatch;
import io.flowlag.exporter.delay.interval.compare.IntervalComparison;
import io.flowlag.exporter.delay.interval.compare.IntervalHandler;
import io.flowlag.exporter.delay.interval.compare.IntervalRepair;
import io.flowlag.exporter.delay.interval.joint.JointAnswer;
import io.flowlag.exporter.delay.interval.joint.JointStage;
import io.flowlag.exporter.delay.interval.records.HeldPackets;
import io.flowlag.exporter.delay.interval.records.IntervalKeys;
import io.flowlag.exporter.delay.interval.records.IntervalSettings;
import io.flowlag.exporter.delay.interval.records.ReceiverInterval;
import io.flowlag.exporter.delay.interval.records.ReceiverRecords;
import io.flowlag.exporter.delay.interval.records.SenderAnswer;
import io.flowlag.exporter.delay.interval.records.SketchCounter;
import io.flowlag.exporter.delay.interval.records.SketchRecords;
import io.flowlag.exporter.delay.interval.records.SketchedPacket;
import io.flowlag.exporter.delay.interval.records.UnseenFlowHandler;
import io.flowlag.exporter.delay.interval.records.WaitedRecordHandler;

import java.util.Arrays;
import java.util.function.Consumer;

/**
 * The receiver point. It concludes an interval when all its packets must have arrived and the sender has answered, and switches
 * to other settings at their time. {@link IntervalAssignment} assigns packets to intervals, {@link IntervalComparison} compares,
 * {@link ReceiverRecords} keeps the records.
 * <p>
 * The metering thread owns it. Allocates at construction.
 */
public final class IntervalReceiver extends ReceiverShard {
    private static final long REPAIR_POLL_NS = 1_000_000L;
    private static final long NO_KEY = Long.MIN_VALUE;

    private final long maximumDelayNs;
    private final long dueAfterNs;
    private final long lateAfterNs;
    private final long repairWaitNs;
    private final boolean isLive;
    private boolean isWhole;

    private final SenderAnswers answers;
    private ReceiverShard[] shards = {this};
    private final UnseenFlowHandler unseenFlowHandler;
    private final IntervalComparison comparison;
    /** Repairs the next interval, which is concluded when the repair ends or its time is up. */
    private final IntervalRepair repair;
    private final ClockEvidence clocks;
    private EarlierIntervals earlier = EarlierIntervals.NONE;
    private long endInterval = Long.MAX_VALUE;
    private boolean isHandedOver;

    private boolean isStarted;
    private boolean isFirstCut;
    private long firstKey = NO_KEY;
    private long nextInterval;
    private long lossKnownNs;
    /** Time at which an interval was due while this point's own losses were unknown; {@link Long#MIN_VALUE} if none. */
    private long heldUpNs = Long.MIN_VALUE;
    private boolean isRepairedCut;
    private long repairUntilNs;

    /**
     * Creates a point without packets.
     *
     * @param entryLengthBytes  of a flow in the cache.
     * @param recordHandler     receives records that have waited.
     * @param intervalHandler   receives each interval.
     * @param unseenFlowHandler receives flows that only the sender point saw, where the sums of all flows are compared.
     */
    public IntervalReceiver(
        final IntervalSettings settings, final SenderAnswers answers, final int entryLengthBytes,
        final WaitedRecordHandler recordHandler, final IntervalHandler intervalHandler,
        final UnseenFlowHandler unseenFlowHandler) {
        this(settings, answers, IntervalKeys.first(settings.times().intervalNs()),
            new ReceiverRecords(settings, entryLengthBytes, recordHandler),
            new InFlightMatch(settings.room().inFlightPackets()), intervalHandler, unseenFlowHandler);
    }

    /**
     * Creates a point that takes over the records of another with other sketches, from a time at which intervals of both begin.
     * Any thread; {@link #follow} joins the two.
     *
     * @param settings        with as many flows, records, and packets in flight as the predecessor's.
     * @param answers         of the sender point, from that time on.
     * @param intervalHandler receives each interval.
     */
    public IntervalReceiver(
        final IntervalSettings settings, final SenderAnswers answers, final IntervalReceiver predecessor,
        final IntervalHandler intervalHandler) {
        this(settings, answers, predecessor.run.next(settings.times().intervalNs()), predecessor.records,
            predecessor.inFlightMatch, intervalHandler, predecessor.unseenFlowHandler);
    }

    private IntervalReceiver(
        final IntervalSettings settings, final SenderAnswers answers, final IntervalKeys run, final ReceiverRecords records,
        final InFlightMatch inFlightMatch, final IntervalHandler intervalHandler, final UnseenFlowHandler unseenFlowHandler) {
        super(settings, run, records, inFlightMatch);
        this.answers = answers;
        this.unseenFlowHandler = unseenFlowHandler;
        maximumDelayNs = settings.times().maximumDelayNs();
        dueAfterNs = maximumDelayNs + settings.estimateWaitNs();
        lateAfterNs = maximumDelayNs + Math.max(settings.times().answerDeadlineNs(), settings.estimateWaitNs());
        repairWaitNs = settings.reconcile() == null ? 0 : settings.reconcile().waitNs();
        isLive = settings.isLive();
        lossKnownNs = isLive ? Long.MIN_VALUE : Long.MAX_VALUE;
        clocks = new ClockEvidence(settings, inFlightMatch);
        comparison = new IntervalComparison(settings, run, records, joint, intervalHandler, unseenFlowHandler, clocks);
        repair = comparison.repair();
    }

    /** Joins the points of shards, this one first; before the first packet. */
    public void join(final ReceiverShard[] all) {
        shards = all.clone();
        point.join(Arrays.stream(all).map((each) -> each.point).toArray(IntervalPoint[]::new));
        assignment.join(Arrays.stream(all).map((each) -> each.assignment).toArray(IntervalAssignment[]::new));
    }

    /** {@return octets of a receiver point, by formula; the length is that of a flow in the cache} */
    public static long bytes(final IntervalSettings settings, final int entryLengthBytes) {
        final int inFlight = settings.room().inFlightPackets();
        return IntervalPoint.bytes(settings, true) + (long)inFlight * HeldPackets.PACKET_BYTES +
            ReceiverRecords.bytes(settings, entryLengthBytes) + IntervalComparison.bytes(settings) +
            DigestSet.memoryBytes(inFlight) + JointStage.bytes(settings);
    }

    /** Sets the handler of solved intervals, see {@link JointStage#handler}. */
    public void jointHandler(final Consumer<JointAnswer> handler) {
        joint.handler(handler);
    }

    /**
     * Takes over from the predecessor, whose last interval has ended. Both points hold packets that arrive in the first W, until
     * it is known in which interval they were sent.
     *
     * @param predecessor whose records this point has.
     * @param fromNs      time at which intervals of both begin.
     * @param isSameWay   whether both select the same packets; if not, the loss in the intervals on both sides is unknown.
     */
    public void follow(final IntervalReceiver predecessor, final long fromNs, final boolean isSameWay) {
        earlier = predecessor;
        for (int i = 0; i < shards.length; i++) {
            predecessor.shards[i].successor = shards[i];
        }
        run.follow(predecessor.run, fromNs);
        predecessor.endInterval = Math.floorDiv(fromNs, predecessor.run.intervalNs());
        predecessor.assignment.end(predecessor.endInterval);
        assignment.begin();
        predecessor.onTime(fromNs);
        final boolean isFollowing = isSameWay && !predecessor.isOver();
        for (int i = 0; i < shards.length; i++) {
            shards[i].assignment.follow(isFollowing ? predecessor.shards[i] : EarlierIntervals.NONE);
        }
        onTime(fromNs);
        if (!isSameWay) {
            predecessor.damageLast();
            cutFirst();
        }
    }

    /** {@return whether all intervals before the successor's were reported} */
    @Override
    public boolean isOver() {
        return nextInterval >= endInterval && joint.isIdle();
    }

    /** Releases the place of this generation for another. */
    public void retire() {
        records.table().forgetWeights(run.number());
    }

    /** Writes the results of solved intervals into their records. */
    public void onSolved() {
        joint.onSolved();
    }

    /** Stops the solver's thread. */
    public void close() {
        joint.close();
    }

    @Override
    public int onPacket(final SketchedPacket packet, final int slot, final int record) {
        final long timestampNs = packet.timestampNs();
        if (timestampNs >= nextEventNs) {
            onTime(timestampNs);
        }
        if (newestNs == Long.MIN_VALUE) {
            answers.onFirstReceived(timestampNs);
        }
        return super.onPacket(packet, slot, record);
    }

    /** Advances time, by the clock of the packets' timestamps: compares intervals that are due and opens new ones. */
    public void onTime(final long timestampNs) {
        work(timestampNs);
        answers.advance(timestampNs);
    }

    private void work(final long timestampNs) {
        if (!isStarted) {
            start(timestampNs);
        }
        earlier.makeWay(run.key(point.interval().number(timestampNs)), timestampNs);
        earlier = earlier.isOver() ? EarlierIntervals.NONE : earlier;
        while (nextInterval <= point.intervals().newestInterval() && nextInterval < endInterval &&
            (repair.isPending() ? isRepaired(timestampNs) : isDue(timestampNs))) {
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
        if (repair.isPending()) {
            nextEventNs = Math.min(nextEventNs, timestampNs + REPAIR_POLL_NS);
        }
    }

    private void start(final long timestampNs) {
        isStarted = true;
        point.advance(timestampNs);
        nextInterval = point.intervals().newestInterval();
        assignment.start(nextInterval);
        if (firstKey != NO_KEY) {
            run.restart(nextInterval, firstKey);
        }
    }

    /** Concludes intervals that are no longer open at a time, even if data is missing. */
    private void giveRoom(final long timestampNs) {
        final long firstOpen = point.interval().number(timestampNs) - point.openIntervals() + 1;
        concludeBefore(firstOpen, timestampNs);
        if (isLive && firstOpen > point.intervals().newestInterval() + 1) {
            // Time skipped intervals that were never open: packets sent in them were not seen.
            comparison.doubtLoss();
        }
    }

    @Override
    public void makeWay(final long key, final long timestampNs) {
        concludeBefore(run.number(key - SketchRecords.INTERVALS + 1), timestampNs);
    }

    private void concludeBefore(final long firstOpen, final long timestampNs) {
        final long newest = point.intervals().newestInterval();
        while (isStarted && nextInterval < firstOpen && nextInterval <= newest && nextInterval < endInterval) {
            if (isBehindEarlier()) {
                earlier.makeWay(run.key(nextInterval) + SketchRecords.INTERVALS - 1, timestampNs);
            }
            if (!repair.isPending() && !isLossKnown(nextInterval)) {
                point.damage(nextInterval);
            }
            concludeNext(isFirst(), timestampNs);
        }
    }

    /** Concludes the next interval as far as it was seen. */
    private void concludeNext(final boolean isCut, final long timestampNs) {
        if (!repair.isPending()) {
            conclude(answers.take(nextInterval), isCut, timestampNs);
        }
        if (repair.isPending()) {
            repair.giveUp();
            compareRepaired();
        }
        nextInterval++;
    }

    /**
     * Ends this generation after the clock was set back under the successor. Open intervals are compared as far as they were
     * seen.
     */
    public void giveUp() {
        concludeOpen();
        nextInterval = Math.max(nextInterval, endInterval);
        handOver(false);
    }

    /** Concludes all open intervals and marks this point's own loss in them as unknown. */
    private void concludeOpen() {
        lossKnownNs = Long.MIN_VALUE;
        concludeBefore(Long.MAX_VALUE, newestOfAllNs());
    }

    private long newestOfAllNs() {
        return Arrays.stream(shards).mapToLong((each) -> each.newestNs).max().orElseThrow();
    }

    /**
     * Restarts after the clock was set back, when the previous generation, if any, is over or was given up. Open intervals are
     * compared as far as they were seen, and their losses are unknown. Time begins anew with the next packet or {@link #onTime}.
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
        assignment.restart();
        isStarted = false;
        isFirstCut = true;
        lossKnownNs = isLive ? Long.MIN_VALUE : Long.MAX_VALUE;
        heldUpNs = Long.MIN_VALUE;
        for (final ReceiverShard each : shards) {
            each.newestNs = Long.MIN_VALUE;
        }
        nextEventNs = Long.MIN_VALUE;
    }

    /** Declares the first and the last interval whole: no packet is in flight when the captures begin and when they end. */
    public void capturesAreWhole() {
        isWhole = true;
    }

    /** Ends the input: compares every interval as far as it was seen. */
    public void onEnd() {
        final long endNs = newestOfAllNs();
        while (isStarted && nextInterval <= point.intervals().newestInterval() && nextInterval < endInterval) {
            final boolean isCut = !isWhole && point.interval().endNs(nextInterval) + maximumDelayNs > endNs;
            concludeNext(isCut || isFirst(), endNs);
            joint.onEnd();
        }
        joint.onEnd();
    }

    /** Reports that the sender point found a packet of an interval that may have been compared. */
    void onStraggler() {
        assignment.onStraggler();
    }

    /** Settles the successor's first interval; once. */
    private void handOver(final boolean isKnown) {
        if (successor != null && !isHandedOver) {
            isHandedOver = true;
            successor.assignment.settleFirst(isKnown);
            successor.nextEventNs = Long.MIN_VALUE; // its first interval may have waited for this
        }
    }

    /** Marks the first interval as cut: the sender point observed it for longer than this point. */
    public void cutFirst() {
        isFirstCut = true;
    }

    /**
     * States that {@link #onOwnLoss} has reported every loss of this point before a time. Drops are reported later than the
     * packets after them, so packet time alone does not conclude an interval.
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

    /** Whether this point's own losses are known up to W after an interval's end, the last time at which its packets arrive. */
    private boolean isLossKnown(final long number) {
        return lossKnownNs >= point.interval().endNs(number) + maximumDelayNs;
    }

    /** Reports that this point lost packets of its own, up to a time. */
    public void onOwnLoss(final long timestampNs) {
        point.onOwnLoss(timestampNs);
        answers.onOwnLoss(timestampNs);
    }

    @Override
    long lastEndedKey() {
        if (!isStarted) {
            return Long.MIN_VALUE;
        }
        final long lastEnded = point.intervals().newestInterval() - 1;
        if (nextInterval <= lastEnded) {
            return run.key(lastEnded);
        }
        return earlier.isOver() ? Long.MIN_VALUE : run.key(assignment.firstInterval()) - 1;
    }

    /** {@return the delay of the last packets that arrived before or after packets are held, ns; 0 without; any thread} */
    public long apartNs() {
        return clocks.apartNs();
    }

    /** {@return the end of the newest interval, before which shards meet} */
    public long newestEndNs() {
        return point.interval().endNs(point.intervals().newestInterval());
    }

    /** {@return whether time has begun, ever or since the clock was set back} */
    public boolean isStarted() {
        return isStarted;
    }

    /** {@return whether an interval is due, and this point's own losses in it are unknown} */
    public boolean isHeldUp() {
        return heldUpNs != Long.MIN_VALUE;
    }

    /** {@return the time at which {@link #onTime} next has work, ns since the epoch} */
    public long nextEventNs() {
        return nextEventNs;
    }

    /** Whether the next interval holds packets that may belong to the previous generation's last one, which comes first. */
    private boolean isBehindEarlier() {
        return assignment.isFollowing() && nextInterval == assignment.firstInterval();
    }

    /** Concludes the next interval if it is due. Returns whether it was concluded. */
    private boolean isDue(final long timestampNs) {
        final long endNs = point.interval().endNs(nextInterval);
        if (timestampNs < endNs + dueAfterNs || isBehindEarlier()) {
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
        return !repair.isPending();
    }

    private boolean isFirst() {
        return isFirstCut && !isWhole && nextInterval == assignment.firstInterval();
    }

    /** Whether the repair of the next interval has ended or timed out. If so, the interval was concluded. */
    private boolean isRepaired(final long timestampNs) {
        if (!repair.work()) {
            if (timestampNs < repairUntilNs) {
                return false;
            }
            repair.giveUp();
        }
        compareRepaired();
        return true;
    }

    private void compareRepaired() {
        compare(repair.sent(), repair.received(), isRepairedCut);
    }

    /** Compares an interval. Both parts are given back even if the comparison fails, because another interval needs the room. */
    private void compare(final SenderAnswer answer, final ReceiverInterval own, final boolean isCut) {
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
            records.releaseSilent(run.key(nextInterval));
        }
    }

    private void conclude(final SenderAnswer answer, final boolean isCut, final long timestampNs) {
        final long number = nextInterval;
        if (assignment.takeStragglers() | (answer != null && answer.hasStragglers())) {
            counters().increment(SketchCounter.STRAGGLERS);
            comparison.doubtLoss();
        }
        if (answer != null && answer.hasSketches()) {
            point.followSeed(answer.sketch());
        }
        if (answer != null && answer.isDamaged() || point.isLossy(number)) {
            inFlightMatch.doubt(); // perhaps a clock was set
        }
        final boolean isLast = number + 1 == endInterval;
        final boolean isKnown = assignment.settle(number, answer, isLast);
        if (isLast) {
            handOver(isKnown);
        }
        if (isLast && assignment.isTorn()) {
            successor.assignment.damageFirst();
        }
        assignment.complete(number);
        final PointInterval own = point.take(number);
        if (own != null && !repair.begin(answer, own, assignment.open(number + 1), answers.peer())) {
            isRepairedCut = isCut;
            repairUntilNs = timestampNs + repairWaitNs;
            return;
        }
        compare(answer, own, isCut);
    }
}
