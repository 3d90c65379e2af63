package io.flowlag.rli.receiver;

import io.flowlag.common.counter.CounterSet;
import io.flowlag.rli.path.FlowPaths;
import io.flowlag.rli.path.PathFinder;
import io.flowlag.rli.reference.Continuity;
import io.flowlag.rli.reference.SequenceWindow;

import static io.flowlag.rli.receiver.ReceiverCounter.*;

/**
 * One stream of references and the packets between them. A reference arrives, waits for its effective send time, and is settled.
 * It is then the right reference of the packets before it and the left reference of those after it.
 *
 * <p>Silence, a restart of the sender, or a step of a clock ends the present left reference without a right one and settles the
 * waiting packets. One thread. Allocates at construction.
 */
public final class ReferenceStream {
    /** Tolerated disorder of packets that several processors stamp. */
    private static final long STEP_TOLERANCE_NS = 1_000_000L;
    /** Of a period, for a bound of its mean. */
    private static final long LEAST_REFERENCES = 100;

    private final int row;
    private final CounterSet<ReceiverCounter> counters;
    private final SampleHandler handler;
    private final ClassStatistics[] statistics;
    private final ClassStatistics ownStatistics;
    private final ErrorScales scales;
    private final boolean isLinear;
    private final boolean isStampUsed;
    private final boolean isDriftApplied;
    private final boolean isReferenceRegular;
    private final long silentAfterNs;
    private long maximumGapNs;
    private final long maximumDelayNs;
    private final long stampToleranceNs;

    private final SequenceWindow window;
    private final InterpolationBuffer buffer;
    private final DelaySamples samples;
    /** A packet that does not wait, and its sample. */
    private final InterpolationBuffer onePacket = new InterpolationBuffer(1);
    private final DelaySamples oneSample = new DelaySamples(onePacket, 1);
    private final Interpolation interpolation = new Interpolation();
    private final WaitingReferences waiting = new WaitingReferences();
    private final StampCorrection correction = new StampCorrection();
    private final DriftEstimator drift;
    private final Serialisation serialisation;
    private final Serialisation.OctetTime octetTime;
    private final PathSplit split;

    private final SettledReference previous = new SettledReference();
    private final SettledReference left = new SettledReference();
    private final SettledReference right = new SettledReference();
    private boolean hasPrevious;
    private long previousGapPackets;
    private float previousErrorScaleNs;

    private boolean hasLeft;
    /** No left reference, but a delay is known from before the silence. */
    private boolean isAfterSilence;
    private long gapPackets;
    private long gapNumber;

    private boolean isHeard;
    private long lastArrivalNs;
    private long lastStampNs;
    private double appliedDriftNs;
    private long appliedAtNs;
    /** When the period of the statistics began: packets that waited, and the delay of their left reference. */
    private int waitingBefore;
    private long delayBeforeNs;

    ReferenceStream(final int row, final ReceiverSettings settings, final CounterSet<ReceiverCounter> counters,
        final ClassStatistics[] statistics, final SampleHandler handler, final FlowPaths flowPaths) {
        this.row = row;
        this.counters = counters;
        this.handler = handler;
        this.statistics = statistics;
        ownStatistics = statistics[settings.streamClasses().get(row)];
        scales = ownStatistics.heldOut().scales();
        isReferenceRegular = settings.estimation().isReferenceRegular();
        if (isReferenceRegular) {
            ownStatistics.heldOut().referenceRegular();
        }
        isLinear = settings.estimation().estimator() == Estimator.LINEAR;
        isStampUsed = settings.estimation().sendTimes() == SendTimes.STAMP;
        isDriftApplied = settings.drift().isApplied();
        silentAfterNs = settings.limits().silentAfterNs();
        maximumGapNs = settings.limits().maximumGapNs();
        maximumDelayNs = settings.limits().maximumDelayNs();
        stampToleranceNs = isReferenceRegular ? maximumDelayNs : STEP_TOLERANCE_NS;
        window = new SequenceWindow(silentAfterNs + maximumDelayNs);
        buffer = new InterpolationBuffer(isLinear ? settings.limits().bufferPackets() : 1);
        samples = new DelaySamples(buffer, DelaySamples.LIMIT);
        drift = new DriftEstimator(settings.drift().windowNs());
        serialisation = new Serialisation(settings.estimation().serialisation(), settings.estimation().capacityBps());
        split = new PathSplit(row, ownStatistics.heldOut(), serialisation, flowPaths, settings.estimation());
        octetTime = split.single();
    }

    /**
     * A regular packet that took the way of the references.
     *
     * @param slot           of the flow, handed through to the sample, as are the next three.
     * @param generation     of the slot when the packet came.
     * @param classIndex     of the packet, for the statistics.
     * @param intervalNumber any number.
     * @param lengthBytes    of the packet, counted as references are.
     */
    public void onPacket(
        final int slot, final int generation, final int classIndex, final long intervalNumber, final int lengthBytes,
        final long arrivalNs) {
        count(PACKETS);
        onTime(arrivalNs);
        if (hasLeft && (!isLinear || arrivalNs < left.arrivalNs && !split.isReady())) {
            onePacket.offer(slot, generation, classIndex, intervalNumber, lengthBytes, arrivalNs);
            onOnePacket(lengthBytes, arrivalNs);
            onePacket.poll(1);
        } else if (!hasLeft && (!isLinear || waiting.isEmpty())) {
            count(WITHOUT_REFERENCE);
        } else if (buffer.offer(slot, generation, classIndex, intervalNumber, lengthBytes, arrivalNs)) {
            counters.set(row, BUFFERED, buffer.size());
        } else {
            count(OVERFLOW);
        }
    }

    /**
     * Whether regular packets would only wait for the next reference. They may then go to {@link #onBufferedPacket}, with no
     * other call in between.
     *
     * @param packets    how many.
     * @param earliestNs the first arrival.
     * @param latestNs   the last one.
     */
    public boolean wouldBuffer(final int packets, final long earliestNs, final long latestNs) {
        return isLinear && (hasLeft ? earliestNs >= left.arrivalNs : !waiting.isEmpty()) && !isSilent(latestNs) &&
            buffer.hasRoom(packets);
    }

    /** A regular packet that waits for the next reference: as {@link #onPacket}, but {@link #onBuffered} updates the counters. */
    public void onBufferedPacket(
        final int slot, final int generation, final int classIndex, final long intervalNumber, final int lengthBytes,
        final long arrivalNs) {
        buffer.offer(slot, generation, classIndex, intervalNumber, lengthBytes, arrivalNs);
    }

    /** Counts packets that were given to {@link #onBufferedPacket}. */
    public void onBuffered(final int packets) {
        counters.add(row, PACKETS, packets);
        counters.set(row, BUFFERED, buffer.size());
    }

    private boolean isSilent(final long nowNs) {
        return isHeard && nowNs - lastArrivalNs > silentAfterNs;
    }

    /**
     * Handles a packet that does not wait for a right reference: without interpolation, or read shortly after the reference that
     * followed it, because references and packets may be read alternately.
     */
    private void onOnePacket(final int lengthBytes, final long arrivalNs) {
        final boolean isBeforeLeft = arrivalNs < left.arrivalNs;
        if (isBeforeLeft && !(hasPrevious && arrivalNs >= previous.arrivalNs)) {
            count(WITHOUT_REFERENCE);
        } else if (isLinear) {
            interpolation.between(previous, left, serialisation.nsPerByte()).correct(octetTime);
            sample(interpolation.delayNs(arrivalNs, lengthBytes), previousErrorScaleNs);
        } else if (!isBeforeLeft && arrivalNs - left.arrivalNs > maximumGapNs) {
            count(SILENCE);
        } else {
            final SettledReference reference = isBeforeLeft ? previous : left;
            final long extraNs = Math.round(serialisation.nsPerByte() * (lengthBytes - reference.lengthBytes));
            sample(reference.delayNs + extraNs, leftErrorScaleNs());
        }
    }

    /** A reference of a stream from one source port; its length is counted as those of packets are. */
    public void onReference(final int sequenceNumber, final long stampNs, final long arrivalNs, final int lengthBytes) {
        onReference(sequenceNumber, stampNs, arrivalNs, lengthBytes, PathFinder.NONE);
    }

    /** A reference of a stream from several source ports, which may take several paths. */
    public void onReference(
        final int sequenceNumber, final long stampNs, final long arrivalNs, final int lengthBytes, final int sourcePort) {
        final int port = isLinear ? sourcePort : PathFinder.NONE;
        final int lane = split.lane(port);
        count(REFERENCES);
        onTime(arrivalNs);
        final Continuity continuity = window.offer(sequenceNumber, stampNs, arrivalNs);
        counters.set(row, REFERENCES_LOST, window.lostCount());
        switch (continuity) {
            case DUPLICATE -> count(REFERENCES_DUPLICATED);
            case OUT_OF_ORDER -> {
                if (!isReferenceRegular && !split.hasLanes()) {
                    count(REFERENCES_OUT_OF_ORDER);
                    break;
                }
                enter(sequenceNumber, stampNs, arrivalNs, lengthBytes, lane);
            }
            case TOO_OLD -> count(REFERENCES_TOO_OLD);
            case RESTART -> {
                count(SENDER_RESTARTS);
                abandon(RESTART);
                forgetDrift();
                split.forget();
                enter(sequenceNumber, stampNs, arrivalNs, lengthBytes, split.lane(port));
            }
            default -> enter(sequenceNumber, stampNs, arrivalNs, lengthBytes, lane);
        }
        counters.set(row, REFERENCES_WAITING, waiting.size());
    }

    /** A reference that is the newest of its lane, or a regular packet that was overtaken, whose delay is as typical as any. */
    private void enter(
        final int sequenceNumber, final long stampNs, final long arrivalNs, final int lengthBytes, final int lane) {
        final long stampBeforeNs = lane == PathFinder.NONE ? lastStampNs : split.stampNs(lane, stampNs);
        if (isHeard && (arrivalNs < lastArrivalNs - STEP_TOLERANCE_NS || stampNs < stampBeforeNs - stampToleranceNs)) {
            onClockStep();
        }
        if (isHeard && arrivalNs < lastArrivalNs) {
            count(REFERENCES_BACKWARDS);
            return;
        }
        while (waiting.isOver(arrivalNs, buffer.hasRoom(buffer.size()))) {
            settleOldest();
        }
        lastStampNs = isHeard && isReferenceRegular ? Math.max(lastStampNs, stampNs) : stampNs;
        isHeard = true;
        lastArrivalNs = arrivalNs;
        waiting.add(sequenceNumber, stampNs, arrivalNs, lengthBytes, lane);
        if (!isStampUsed && waiting.hasSendTime(sequenceNumber)) {
            know(waiting.newest(), waiting.takeKeptNs(sequenceNumber));
        }
        settle();
    }

    /**
     * An effective send time, before or after its reference. Ignored if send times are those of the stamps.
     *
     * @param sentNs when it passed the sender's observation point.
     */
    public void onSendTime(final int sequenceNumber, final long sentNs) {
        if (isStampUsed) {
            return;
        }
        final long position = waiting.find(sequenceNumber);
        if (position >= 0 && !waiting.isKnown(position)) {
            know(position, sentNs);
            settle();
            counters.set(row, REFERENCES_WAITING, waiting.size());
        } else if (waiting.hasStamp(sequenceNumber)) {
            learn(waiting.takeKeptNs(sequenceNumber), sentNs);
        } else {
            waiting.keepSendTime(sequenceNumber, sentNs);
        }
    }

    private void know(final long position, final long sentNs) {
        if (learn(waiting.stampNs(position), sentNs)) {
            waiting.know(position, sentNs);
        }
    }

    /** Updates the difference between send time and stamp, unless it is implausible. */
    private boolean learn(final long stampNs, final long sentNs) {
        final long differenceNs = sentNs - stampNs;
        if (differenceNs > maximumDelayNs || differenceNs < -maximumDelayNs) {
            count(FOLLOW_UPS_REFUSED);
            return false;
        }
        correction.record(differenceNs);
        return true;
    }

    /** Stops estimates after a silence. */
    void onTime(final long nowNs) {
        if (isSilent(nowNs)) {
            count(SILENCES);
            abandon(SILENCE);
            isAfterSilence = true;
        }
    }

    void maximumGapNs(final long gapNs) {
        maximumGapNs = gapNs;
    }

    void capacityBps(final long capacityBps) {
        serialisation.capacityBps(capacityBps);
        split.capacityBps(capacityBps);
    }

    void onClockStep() {
        if (isHeard) {
            count(CLOCK_STEPS);
            abandon(CLOCK_STEP);
        }
        forgetDrift();
    }

    /** Resets the drift: after a clock step, real or possible, the drift correction may be wrong by any amount. */
    private void forgetDrift() {
        drift.reset();
        serialisation.onClockStep();
        octetTime.reset();
        appliedDriftNs = 0;
        isAfterSilence = false;
    }

    /** Settles the waiting packets; none of them gets a right reference. */
    void abandon(final ReceiverCounter reason) {
        while (!waiting.isEmpty()) {
            settleOldest();
        }
        estimateByPath(false);
        split.restart();
        drop(Long.MAX_VALUE, reason);
        hasLeft = false;
        hasPrevious = false;
        isHeard = false;
        counters.set(row, REFERENCES_WAITING, 0);
    }

    private void settle() {
        // Without a buffer, packets do not wait for a follow-up either.
        while (!waiting.isEmpty() && (isStampUsed || !isLinear || waiting.isKnown(waiting.oldest()) || waiting.isPassedOver())) {
            settleOldest();
        }
    }

    private void settleOldest() {
        final long position = waiting.oldest();
        final long stampNs = waiting.stampNs(position);
        final int sequenceNumber = waiting.sequenceNumber(position);
        final long sentNs;
        if (waiting.isKnown(position)) {
            count(REFERENCES_BY_FOLLOW_UP);
            sentNs = waiting.sentNs(position);
        } else if (isStampUsed) {
            count(REFERENCES_BY_STAMP);
            sentNs = stampNs;
        } else {
            count(REFERENCES_WITHOUT_FOLLOW_UP);
            sentNs = stampNs + correction.correctionNs();
            waiting.keepStamp(sequenceNumber, stampNs);
        }
        waiting.poll();
        count(REFERENCES_SETTLED);
        onSettled(waiting.arrivalNs(position), sentNs, waiting.lengthBytes(position), sequenceNumber, waiting.lane(position));
    }

    private void onSettled(
        final long arrivalNs, final long sentNs, final int lengthBytes, final int sequenceNumber, final int lane) {
        final long measuredNs = arrivalNs - sentNs;
        right.set(arrivalNs, measuredNs - driftNs(arrivalNs), lengthBytes);
        final long changeNs = right.delayNs - left.delayNs;
        final boolean isGap = hasLeft && arrivalNs - left.arrivalNs > maximumGapNs;
        final boolean isStep = hasLeft ? isStep(changeNs) : isAfterSilence && isStep(changeNs - reportedDriftNs(arrivalNs));
        if (isStep) {
            count(CLOCK_STEPS);
            forgetDrift();
            right.delayNs = measuredNs;
        }
        serialisation.onDelay(lengthBytes, right.delayNs);
        scales.onDelay(ownDelayNs(right));
        if (isStep || isGap) {
            estimateByPath(false);
            split.restart();
        }
        split.onReference(lane, sequenceNumber, arrivalNs, ownDelayNs(right), lengthBytes, counters.get(row, ESTIMATED));
        if (isStep) {
            drop(arrivalNs, hasLeft ? CLOCK_STEP : WITHOUT_REFERENCE);
            hasPrevious = false;
        } else if (isGap) {
            count(SILENCES);
            drop(arrivalNs, SILENCE);
            hasPrevious = false;
        } else if (hasLeft && split.isReady()) {
            estimateByPath(true);
            hasPrevious = false;
        } else if (hasLeft) {
            serialisation.onChange(lengthBytes, changeNs, arrivalNs - left.arrivalNs - changeNs);
            final float errorScaleNs = isLinear ? scales.scaleNs(kind(left, right)) : 0;
            estimate(errorScaleNs);
            holdOut();
            previousErrorScaleNs = errorScaleNs;
            previous.set(left);
            hasPrevious = true;
        } else {
            drop(arrivalNs, WITHOUT_REFERENCE);
        }
        previousGapPackets = gapPackets;
        gapPackets = 0;
        gapNumber++;
        hasLeft = true;
        isAfterSilence = false;
        left.set(right);
        drift.record(arrivalNs, measuredNs);
        ownStatistics.references().record(left.delayNs);
        if (left.delayNs < 0) {
            count(REFERENCES_NEGATIVE);
        }
    }

    private boolean isStep(final long changeNs) {
        return changeNs > maximumDelayNs || changeNs < -maximumDelayNs;
    }

    /** Drift since the left reference, if it is not corrected. */
    private long reportedDriftNs(final long arrivalNs) {
        return isDriftApplied ? 0 : Math.round(drift.slope() * (arrivalNs - left.arrivalNs));
    }

    /** The drift since it was first applied, as the estimate was at each moment. */
    private long driftNs(final long arrivalNs) {
        if (isDriftApplied) {
            appliedDriftNs += drift.slope() * (arrivalNs - appliedAtNs);
            appliedAtNs = arrivalNs;
        }
        return Math.round(appliedDriftNs);
    }

    /** A reference's delay without its own transmission time. */
    private double ownDelayNs(final SettledReference reference) {
        return reference.delayNs - serialisation.nsPerByte() * reference.lengthBytes;
    }

    /** Kind of error between two references. */
    private int kind(final SettledReference from, final SettledReference to) {
        final double fromNs = ownDelayNs(from);
        final double toNs = ownDelayNs(to);
        return scales.kind(to.arrivalNs - from.arrivalNs - (toNs - fromNs), fromNs, toNs);
    }

    /** Error scale of the left estimator: with a single reference, all errors are of one kind. */
    private float leftErrorScaleNs() {
        return scales.scaleNs(0);
    }

    private void estimate(final float errorScaleNs) {
        interpolation.between(left, right, serialisation.nsPerByte()).correct(octetTime);
        long octets = left.lengthBytes;
        int count = buffer.countUpTo(right.arrivalNs, DelaySamples.LIMIT);
        while (count > 0) {
            counters.add(row, NEGATIVE, samples.estimate(count, interpolation, spanNumber(), errorScaleNs));
            octets += samples.octets();
            if (isReferenceRegular) {
                samples.exact(right.arrivalNs, right.lengthBytes);
            }
            passOn(samples);
            buffer.poll(count);
            count = buffer.countUpTo(right.arrivalNs, DelaySamples.LIMIT);
        }
        if (split.isTimed()) {
            octetTime.onGap(interpolation, left, right, octets);
            ownStatistics.heldOut().octetTime(octetTime.doubtNsPerByte(), octetTime.isCapacityKnown());
        }
        counters.set(row, BUFFERED, buffer.size());
    }

    /** Estimates the packets of gaps that have references of each path on their right. */
    private void estimateByPath(final boolean isPatient) {
        while (split.isReady() && split.advance(isPatient)) {
            int count = buffer.countUpTo(split.gapEndNs(), DelaySamples.LIMIT);
            while (count > 0) {
                counters.add(row, NEGATIVE, split.estimate(samples, buffer, count, serialisation.nsPerByte()));
                passOn(samples);
                buffer.poll(count);
                count = buffer.countUpTo(split.gapEndNs(), DelaySamples.LIMIT);
            }
        }
        counters.set(row, BUFFERED, buffer.size());
    }

    /** {@return the paths that references take, as far as they differ} */
    public PathSplit paths() {
        return split;
    }

    private void sample(final long delayNs, final float errorScaleNs) {
        oneSample.take(delayNs, spanNumber(), errorScaleNs);
        counters.add(row, NEGATIVE, delayNs >>> Long.SIZE - 1);
        passOn(oneSample);
    }

    private void passOn(final DelaySamples taken) {
        // With a single reference, errors lean the same way while a queue grows.
        taken.record(statistics, isLinear ? taken.spanNumber() : 0);
        final int endedCount = handler.onSamples(taken);
        counters.add(row, ESTIMATED, taken.count() - endedCount);
        counters.add(row, FLOW_ENDED, endedCount);
        gapPackets += taken.count();
    }

    private void drop(final long upToNs, final ReceiverCounter reason) {
        final int count = buffer.countUpTo(upToNs, Integer.MAX_VALUE);
        buffer.poll(count);
        counters.add(row, reason, count);
        counters.set(row, BUFFERED, buffer.size());
    }

    /**
     * Holds out the left reference: interpolates it from the one before it and the right one; without interpolation, holds out
     * the right one.
     */
    private void holdOut() {
        if (!isLinear) {
            final double extraBytes = right.lengthBytes - left.lengthBytes;
            ownStatistics.heldOut().record(
                right.delayNs - left.delayNs - serialisation.nsPerByte() * extraBytes, right.delayNs, right.lengthBytes,
                extraBytes, gapPackets, 0);
        } else if (hasPrevious) {
            final double weight = interpolation.between(previous, right, serialisation.nsPerByte()).weight(left.arrivalNs);
            final double errorNs = left.delayNs - previous.delayNs - weight * (right.delayNs - previous.delayNs);
            final double extraBytes =
                left.lengthBytes - previous.lengthBytes - weight * (right.lengthBytes - previous.lengthBytes);
            ownStatistics.heldOut().record(
                errorNs - serialisation.nsPerByte() * extraBytes, left.delayNs, left.lengthBytes, extraBytes,
                previousGapPackets + gapPackets, kind(previous, right));
        }
    }

    private long spanNumber() {
        return gapNumber >> 1;
    }

    private void count(final ReceiverCounter counter) {
        counters.increment(row, counter);
    }

    /** {@return the drift of the clocks as the stream sees it} */
    public DriftEstimator drift() {
        return drift;
    }

    /**
     * Error of a send time without an effective one: the mean deviation from the average difference. Returns ns; 0 while no
     * effective send time was seen.
     */
    public long stampErrorNs() {
        return correction.errorNs();
    }

    /** Average lag of effective send times behind stamps. Returns ns, signed; 0 while no effective send time was seen. */
    public long stampCorrectionNs() {
        return correction.correctionNs();
    }

    /** {@return the time that an octet adds to a packet's delay, as it is used now, ns} */
    public double serialisationNsPerByte() {
        return serialisation.nsPerByte();
    }

    /** A new period of the statistics begins; packets that wait for their estimate arrived in the one before. */
    void rotate() {
        waitingBefore = buffer.size();
        delayBeforeNs = left.delayNs;
    }

    /**
     * Half the width of the 95 % interval around the mean of the estimates since the last {@link RliReceiver#rotate}, as the mean
     * of the packets that have come since then. Only for a stream whose class is its own.
     *
     * <p>The packets that wait at either end of the period count on its wrong side. Their delays are as far from the mean as that
     * of their left reference, and off by as much as a single estimate. If references are of one size, the bound also covers what
     * the packets' octets add and the estimates ignore.
     *
     * @param packets that have come since then.
     * @return ns; below 0 without estimates, with fewer than 100 references, which may have missed a burst, or if the errors or
     *         the effect of packets' sizes are not known.
     */
    public long meanBoundNs(final long packets) {
        final HeldOutErrors heldOut = ownStatistics.heldOut();
        final long samples = ownStatistics.estimates().count();
        final boolean isEnough = samples > 0 && ownStatistics.references().count() >= LEAST_REFERENCES;
        if (packets == 0 || !isEnough || !heldOut.hasBound()) {
            return -1;
        }
        final double sizeNs = isReferenceRegular ? 0 :
            Math.abs(serialisation.missingNsPerByte() * (ownStatistics.meanLengthBytes() - left.lengthBytes));
        final long meanNs = ownStatistics.estimates().meanNs();
        final int waitingNow = buffer.size();
        final double unknownShare = Math.min(1, Math.max(0, packets - samples + waitingBefore - waitingNow) / (double)packets);
        final long singleNs = heldOut.halfWidthNs(Double.NaN, 1, meanNs, 0);
        final double edgesNs = waitingBefore * (double)(Math.abs(delayBeforeNs - meanNs) + singleNs) +
            waitingNow * (double)(Math.abs(left.delayNs - meanNs) + singleNs);
        return Double.isNaN(sizeNs) ? -1 : (long)Math.ceil(ownStatistics.meanBoundNs(unknownShare) + edgesNs / packets + sizeNs);
    }

    /** {@return whether references arrive: false before the first, and after a silence} */
    public boolean isHeard() {
        return isHeard;
    }
}
