package io.flowlag.rli.receiver;

import io.flowlag.common.counter.CounterSet;
import io.flowlag.rli.reference.Continuity;
import io.flowlag.rli.reference.SequenceWindow;

import static io.flowlag.rli.receiver.ReceiverCounter.BUFFERED;
import static io.flowlag.rli.receiver.ReceiverCounter.CLOCK_STEP;
import static io.flowlag.rli.receiver.ReceiverCounter.CLOCK_STEPS;
import static io.flowlag.rli.receiver.ReceiverCounter.ESTIMATED;
import static io.flowlag.rli.receiver.ReceiverCounter.FLOW_ENDED;
import static io.flowlag.rli.receiver.ReceiverCounter.FOLLOW_UPS_REFUSED;
import static io.flowlag.rli.receiver.ReceiverCounter.NEGATIVE;
import static io.flowlag.rli.receiver.ReceiverCounter.OVERFLOW;
import static io.flowlag.rli.receiver.ReceiverCounter.PACKETS;
import static io.flowlag.rli.receiver.ReceiverCounter.REFERENCES;
import static io.flowlag.rli.receiver.ReceiverCounter.REFERENCES_BACKWARDS;
import static io.flowlag.rli.receiver.ReceiverCounter.REFERENCES_BY_FOLLOW_UP;
import static io.flowlag.rli.receiver.ReceiverCounter.REFERENCES_BY_STAMP;
import static io.flowlag.rli.receiver.ReceiverCounter.REFERENCES_DUPLICATED;
import static io.flowlag.rli.receiver.ReceiverCounter.REFERENCES_LOST;
import static io.flowlag.rli.receiver.ReceiverCounter.REFERENCES_NEGATIVE;
import static io.flowlag.rli.receiver.ReceiverCounter.REFERENCES_OUT_OF_ORDER;
import static io.flowlag.rli.receiver.ReceiverCounter.REFERENCES_SETTLED;
import static io.flowlag.rli.receiver.ReceiverCounter.REFERENCES_TOO_OLD;
import static io.flowlag.rli.receiver.ReceiverCounter.REFERENCES_WAITING;
import static io.flowlag.rli.receiver.ReceiverCounter.REFERENCES_WITHOUT_FOLLOW_UP;
import static io.flowlag.rli.receiver.ReceiverCounter.RESTART;
import static io.flowlag.rli.receiver.ReceiverCounter.SENDER_RESTARTS;
import static io.flowlag.rli.receiver.ReceiverCounter.SILENCE;
import static io.flowlag.rli.receiver.ReceiverCounter.SILENCES;
import static io.flowlag.rli.receiver.ReceiverCounter.WITHOUT_REFERENCE;

/**
 * One stream of references and the packets between them. A reference arrives, waits for its effective send time, and is settled.
 * It is then the right reference of the packets before it and the left reference of those after it.
 *
 * <p>Silence, a restart of the sender, or a step of a clock ends the present left reference without a right one and settles the
 * waiting packets. One thread. Allocates at construction.
 */
final class ReferenceStream {
    /** Tolerated disorder of packets that several processors stamp. */
    private static final long STEP_TOLERANCE_NS = 1_000_000L;
    /** A sender keeps a send time for 100 ms; observing, carrying and delivering it takes additional time. */
    private static final long FOLLOW_UP_PATIENCE_NS = 250_000_000L;

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

    private final SequenceWindow window;
    private final InterpolationBuffer buffer;
    private final DelaySamples samples;
    private final Interpolation interpolation = new Interpolation();
    private final WaitingReferences waiting = new WaitingReferences();
    private final StampCorrection correction = new StampCorrection();
    private final DriftEstimator drift;
    private final Serialisation serialisation;

    private boolean hasPrevious;
    private long previousArrivalNs;
    private long previousDelayNs;
    private int previousLengthBytes;
    private long previousGapPackets;
    private float previousErrorScaleNs;

    private boolean hasLeft;
    /** No left reference, but a delay is known from before the silence. */
    private boolean isAfterSilence;
    private long leftArrivalNs;
    private long leftDelayNs;
    private int leftLengthBytes;
    private long gapPackets;
    private long gapNumber;

    private boolean isHeard;
    private long lastArrivalNs;
    private long lastStampNs;
    private double appliedDriftNs;
    private long appliedAtNs;

    ReferenceStream(
        final int row, final ReceiverSettings settings, final CounterSet<ReceiverCounter> counters,
        final ClassStatistics[] statistics, final SampleHandler handler) {
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
        window = new SequenceWindow(silentAfterNs + maximumDelayNs);
        buffer = new InterpolationBuffer(isLinear ? settings.limits().bufferPackets() : 1);
        samples = new DelaySamples(buffer);
        drift = new DriftEstimator(settings.drift().windowNs());
        serialisation = new Serialisation(settings.estimation().serialisation(), settings.estimation().capacityBps());
    }

    void onPacket(
        final int slot, final int generation, final int classIndex, final long intervalNumber, final int lengthBytes,
        final long arrivalNs) {
        count(PACKETS);
        onTime(arrivalNs);
        if (hasLeft && arrivalNs < leftArrivalNs) {
            onPacketBeforeLeft(slot, generation, classIndex, intervalNumber, lengthBytes, arrivalNs);
        }
        else if (!isLinear && hasLeft && arrivalNs - leftArrivalNs > maximumGapNs) {
            count(SILENCE);
        }
        else if (!isLinear && hasLeft) {
            final double extraNs = serialisation.nsPerByte() * (lengthBytes - leftLengthBytes);
            sample(
                slot, generation, classIndex, intervalNumber, lengthBytes, arrivalNs, leftErrorScaleNs(),
                leftDelayNs + Math.round(extraNs));
        }
        else if (!hasLeft && (!isLinear || waiting.isEmpty())) {
            count(WITHOUT_REFERENCE);
        }
        else if (buffer.offer(slot, generation, classIndex, intervalNumber, lengthBytes, arrivalNs)) {
            counters.set(row, BUFFERED, buffer.size());
        }
        else {
            count(OVERFLOW);
        }
    }

    /** {@return whether packets would only wait for the next reference} */
    boolean wouldBuffer(final int packets, final long earliestNs, final long latestNs) {
        return isLinear && (hasLeft ? earliestNs >= leftArrivalNs : !waiting.isEmpty()) && !isSilent(latestNs) &&
            buffer.hasRoom(packets);
    }

    /** A packet that waits for the next reference. */
    void onBufferedPacket(
        final int slot, final int generation, final int classIndex, final long intervalNumber, final int lengthBytes,
        final long arrivalNs) {
        buffer.offer(slot, generation, classIndex, intervalNumber, lengthBytes, arrivalNs);
    }

    /** Counts packets that wait. */
    void onBuffered(final int packets) {
        counters.add(row, PACKETS, packets);
        counters.set(row, BUFFERED, buffer.size());
    }

    private boolean isSilent(final long nowNs) {
        return isHeard && nowNs - lastArrivalNs > silentAfterNs;
    }

    /**
     * Handles a packet read shortly after the reference that followed it, because references and packets may be read alternately.
     */
    private void onPacketBeforeLeft(
        final int slot, final int generation, final int classIndex, final long intervalNumber, final int lengthBytes,
        final long arrivalNs) {
        if (hasPrevious && arrivalNs >= previousArrivalNs) {
            sample(
                slot, generation, classIndex, intervalNumber, lengthBytes, arrivalNs,
                isLinear ? previousErrorScaleNs : leftErrorScaleNs(),
                isLinear ?
                    interpolation.between(
                        previousArrivalNs, previousDelayNs, previousLengthBytes, leftArrivalNs, leftDelayNs, leftLengthBytes,
                        serialisation.nsPerByte()).delayNs(arrivalNs, lengthBytes) :
                    previousDelayNs + Math.round(serialisation.nsPerByte() * (lengthBytes - previousLengthBytes)));
        }
        else {
            count(WITHOUT_REFERENCE);
        }
    }

    void onReference(final int sequenceNumber, final long stampNs, final long arrivalNs, final int lengthBytes) {
        count(REFERENCES);
        onTime(arrivalNs);
        final Continuity continuity = window.offer(sequenceNumber, stampNs, arrivalNs);
        counters.set(row, REFERENCES_LOST, window.lostCount());
        switch (continuity) {
            case DUPLICATE -> count(REFERENCES_DUPLICATED);
            case OUT_OF_ORDER -> count(REFERENCES_OUT_OF_ORDER);
            case TOO_OLD -> count(REFERENCES_TOO_OLD);
            case RESTART -> {
                count(SENDER_RESTARTS);
                abandon(RESTART);
                forgetDrift();
                enter(sequenceNumber, stampNs, arrivalNs, lengthBytes);
            }
            default -> enter(sequenceNumber, stampNs, arrivalNs, lengthBytes);
        }
        counters.set(row, REFERENCES_WAITING, waiting.size());
    }

    /** A reference that is the newest of the stream. */
    private void enter(final int sequenceNumber, final long stampNs, final long arrivalNs, final int lengthBytes) {
        if (isHeard && (arrivalNs < lastArrivalNs - STEP_TOLERANCE_NS || stampNs < lastStampNs - STEP_TOLERANCE_NS)) {
            onClockStep();
        }
        if (isHeard && arrivalNs < lastArrivalNs) {
            count(REFERENCES_BACKWARDS);
            return;
        }
        while (isWaitOver(arrivalNs)) {
            settleOldest();
        }
        isHeard = true;
        lastArrivalNs = arrivalNs;
        lastStampNs = stampNs;
        waiting.add(sequenceNumber, stampNs, arrivalNs, lengthBytes);
        if (!isStampUsed && waiting.hasSendTime(sequenceNumber)) {
            know(waiting.newest(), waiting.takeKeptNs(sequenceNumber));
        }
        settle();
    }

    /** Whether the oldest reference stops waiting for its send time when a later one arrives. */
    private boolean isWaitOver(final long arrivalNs) {
        return waiting.isFull() || waiting.size() >= WaitingReferences.PATIENT_COUNT &&
            (arrivalNs - waiting.arrivalNs(waiting.oldest()) > FOLLOW_UP_PATIENCE_NS || !buffer.hasRoom(buffer.size()));
    }

    void onSendTime(final int sequenceNumber, final long sentNs) {
        if (isStampUsed) {
            return;
        }
        final long position = waiting.find(sequenceNumber);
        if (position >= 0 && !waiting.isKnown(position)) {
            know(position, sentNs);
            settle();
            counters.set(row, REFERENCES_WAITING, waiting.size());
        }
        else if (waiting.hasStamp(sequenceNumber)) {
            learn(waiting.takeKeptNs(sequenceNumber), sentNs);
        }
        else {
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
        appliedDriftNs = 0;
        isAfterSilence = false;
    }

    /** Settles the waiting packets; none of them gets a right reference. */
    void abandon(final ReceiverCounter reason) {
        while (!waiting.isEmpty()) {
            settleOldest();
        }
        drop(Long.MAX_VALUE, reason);
        hasLeft = false;
        hasPrevious = false;
        isHeard = false;
        counters.set(row, REFERENCES_WAITING, 0);
    }

    private void settle() {
        // Without a buffer, packets do not wait for a follow-up either.
        while (!waiting.isEmpty() &&
            (isStampUsed || !isLinear || waiting.isKnown(waiting.oldest()) || waiting.isPassedOver())) {
            settleOldest();
        }
    }

    private void settleOldest() {
        final long position = waiting.oldest();
        final long stampNs = waiting.stampNs(position);
        final long sentNs;
        if (waiting.isKnown(position)) {
            count(REFERENCES_BY_FOLLOW_UP);
            sentNs = waiting.sentNs(position);
        }
        else if (isStampUsed) {
            count(REFERENCES_BY_STAMP);
            sentNs = stampNs;
        }
        else {
            count(REFERENCES_WITHOUT_FOLLOW_UP);
            sentNs = stampNs + correction.correctionNs();
            waiting.keepStamp(waiting.sequenceNumber(position), stampNs);
        }
        waiting.poll();
        count(REFERENCES_SETTLED);
        onSettled(waiting.arrivalNs(position), waiting.arrivalNs(position) - sentNs, waiting.lengthBytes(position));
    }

    private void onSettled(final long arrivalNs, final long measuredNs, final int lengthBytes) {
        final long delayNs = measuredNs - driftNs(arrivalNs);
        final long changeNs = delayNs - leftDelayNs;
        final boolean isGap = hasLeft && arrivalNs - leftArrivalNs > maximumGapNs;
        final boolean isStep = hasLeft ? isStep(changeNs) : isAfterSilence && isStep(changeNs - reportedDriftNs(arrivalNs));
        if (isStep) {
            count(CLOCK_STEPS);
            forgetDrift();
        }
        serialisation.onDelay(lengthBytes, isStep ? measuredNs : delayNs);
        scales.onDelay(ownDelayNs(isStep ? measuredNs : delayNs, lengthBytes));
        if (isStep) {
            drop(arrivalNs, hasLeft ? CLOCK_STEP : WITHOUT_REFERENCE);
            hasPrevious = false;
        }
        else if (isGap) {
            count(SILENCES);
            drop(arrivalNs, SILENCE);
            hasPrevious = false;
        }
        else if (hasLeft) {
            serialisation.onChange(lengthBytes, changeNs, arrivalNs - leftArrivalNs - changeNs);
            final float errorScaleNs = isLinear ?
                scales.scaleNs(kind(leftArrivalNs, leftDelayNs, leftLengthBytes, arrivalNs, delayNs, lengthBytes)) : 0;
            estimate(arrivalNs, delayNs, lengthBytes, errorScaleNs);
            holdOut(arrivalNs, delayNs, lengthBytes);
            previousErrorScaleNs = errorScaleNs;
            previousArrivalNs = leftArrivalNs;
            previousDelayNs = leftDelayNs;
            previousLengthBytes = leftLengthBytes;
            hasPrevious = true;
        }
        else {
            drop(arrivalNs, WITHOUT_REFERENCE);
        }
        previousGapPackets = gapPackets;
        gapPackets = 0;
        gapNumber++;
        hasLeft = true;
        isAfterSilence = false;
        leftArrivalNs = arrivalNs;
        leftDelayNs = isStep ? measuredNs : delayNs;
        leftLengthBytes = lengthBytes;
        drift.record(arrivalNs, measuredNs);
        ownStatistics.references().record(leftDelayNs);
        if (leftDelayNs < 0) {
            count(REFERENCES_NEGATIVE);
        }
    }

    private boolean isStep(final long changeNs) {
        return changeNs > maximumDelayNs || changeNs < -maximumDelayNs;
    }

    /** Drift since the left reference, if it is not corrected. */
    private long reportedDriftNs(final long arrivalNs) {
        return isDriftApplied ? 0 : Math.round(drift.slope() * (arrivalNs - leftArrivalNs));
    }

    /** The drift since it was first applied, as the estimate was at each moment. */
    private long driftNs(final long arrivalNs) {
        if (isDriftApplied) {
            appliedDriftNs += drift.slope() * (arrivalNs - appliedAtNs);
            appliedAtNs = arrivalNs;
        }
        return Math.round(appliedDriftNs);
    }

    /** A delay without its reference's own transmission time. */
    private double ownDelayNs(final long delayNs, final int lengthBytes) {
        return delayNs - serialisation.nsPerByte() * lengthBytes;
    }

    /** Kind of error between two references. */
    private int kind(
        final long fromArrivalNs, final long fromDelayNs, final int fromLengthBytes, final long toArrivalNs,
        final long toDelayNs, final int toLengthBytes) {
        final double fromNs = ownDelayNs(fromDelayNs, fromLengthBytes);
        final double toNs = ownDelayNs(toDelayNs, toLengthBytes);
        return scales.kind(toArrivalNs - fromArrivalNs - (toNs - fromNs), fromNs, toNs);
    }

    /** Error scale of the left estimator: with a single reference, all errors are of one kind. */
    private float leftErrorScaleNs() {
        return scales.scaleNs(0);
    }

    private void estimate(
        final long rightArrivalNs, final long rightDelayNs, final int rightLengthBytes, final float errorScaleNs) {
        interpolation.between(
            leftArrivalNs, leftDelayNs, leftLengthBytes, rightArrivalNs, rightDelayNs, rightLengthBytes,
            serialisation.nsPerByte());
        int count = buffer.countUpTo(rightArrivalNs, DelaySamples.LIMIT);
        while (count > 0) {
            counters.add(row, NEGATIVE, samples.estimate(count, interpolation, spanNumber(), errorScaleNs));
            if (isReferenceRegular) {
                samples.exact(rightArrivalNs, rightLengthBytes);
            }
            samples.record(statistics);
            final int endedCount = handler.onSamples(samples);
            counters.add(row, ESTIMATED, count - endedCount);
            counters.add(row, FLOW_ENDED, endedCount);
            gapPackets += count;
            buffer.poll(count);
            count = buffer.countUpTo(rightArrivalNs, DelaySamples.LIMIT);
        }
        counters.set(row, BUFFERED, buffer.size());
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
    private void holdOut(final long rightArrivalNs, final long rightDelayNs, final int rightLengthBytes) {
        if (!isLinear) {
            final double extraBytes = rightLengthBytes - leftLengthBytes;
            ownStatistics.heldOut().record(
                rightDelayNs - leftDelayNs - serialisation.nsPerByte() * extraBytes, rightDelayNs, rightLengthBytes, extraBytes,
                gapPackets, 0);
        }
        else if (hasPrevious) {
            holdOutLeft(rightArrivalNs, rightDelayNs, rightLengthBytes);
        }
    }

    private void holdOutLeft(final long rightArrivalNs, final long rightDelayNs, final int rightLengthBytes) {
        final double weight = interpolation.between(
            previousArrivalNs, previousDelayNs, previousLengthBytes, rightArrivalNs, rightDelayNs, rightLengthBytes,
            serialisation.nsPerByte()).weight(leftArrivalNs);
        final double errorNs =
            leftDelayNs - previousDelayNs - weight * (rightDelayNs - previousDelayNs);
        final double extraBytes =
            leftLengthBytes - previousLengthBytes - weight * (rightLengthBytes - previousLengthBytes);
        ownStatistics.heldOut().record(
            errorNs - serialisation.nsPerByte() * extraBytes, leftDelayNs, leftLengthBytes, extraBytes,
            previousGapPackets + gapPackets,
            kind(previousArrivalNs, previousDelayNs, previousLengthBytes, rightArrivalNs, rightDelayNs, rightLengthBytes));
    }

    private void sample(
        final int slot, final int generation, final int classIndex, final long intervalNumber, final int lengthBytes,
        final long arrivalNs, final float errorScaleNs, final long delayNs) {
        gapPackets++;
        statistics[classIndex].estimates().record(delayNs);
        if (delayNs < 0) {
            count(NEGATIVE);
        }
        count(
            handler.onSample(
                slot, generation, classIndex, intervalNumber, lengthBytes, arrivalNs, spanNumber(), errorScaleNs, delayNs) ?
                ESTIMATED : FLOW_ENDED);
    }

    private long spanNumber() {
        return gapNumber >> 1;
    }

    private void count(final ReceiverCounter counter) {
        counters.increment(row, counter);
    }

    DriftEstimator drift() {
        return drift;
    }

    long stampErrorNs() {
        return correction.errorNs();
    }

    long stampCorrectionNs() {
        return correction.correctionNs();
    }

    double serialisationNsPerByte() {
        return serialisation.nsPerByte();
    }

    boolean isHeard() {
        return isHeard;
    }
}
