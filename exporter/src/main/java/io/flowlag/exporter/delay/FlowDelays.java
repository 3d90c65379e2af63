package io.flowlag.exporter.delay;

import io.flowlag.exporter.config.ExporterConfig;
import io.flowlag.exporter.delay.interval.records.FlowSums;
import io.flowlag.exporter.delay.interval.records.UnseenFlowHandler;
import io.flowlag.exporter.delay.interval.records.WaitedRecordHandler;
import io.flowlag.exporter.flow.EndReason;
import io.flowlag.exporter.flow.FlowCache;
import io.flowlag.exporter.flow.FlowEntry;
import io.flowlag.exporter.status.ClockEstimate;
import io.flowlag.exporter.status.CounterId;
import io.flowlag.exporter.status.Counters;
import io.flowlag.rli.counters.DelayCounters;
import io.flowlag.rli.path.PathEstimate;
import io.flowlag.rli.receiver.HeldOutErrors;
import io.flowlag.rli.receiver.PathSplit;
import io.flowlag.rli.receiver.RliReceiver;
import org.agrona.DirectBuffer;
import org.agrona.MutableDirectBuffer;
import org.agrona.concurrent.UnsafeBuffer;

/**
 * The delays of a flow at the receiver point: while it lives, and when its record is completed. A record whose sketches are not
 * compared yet waits and is handed on later; a flow that only the sender point saw gets its own record. The metering thread
 * owns it. Allocates at construction.
 */
public final class FlowDelays {
    /** Reference sizes include the link header, flow sizes begin at IP; the differences between links are negligible. */
    private static final int LINK_HEADER_LENGTH_BYTES = 14;

    private final DelayWiring wiring;
    private final FlowEnd flowEnd;
    private final FlowCache cache;
    private final Counters counters;
    private final CurrentSegment segment;
    private final SenderSelector senders;
    private final ClockDifference clocks;
    private final RliReceiver receiver;
    private final FlowDistributions distributions;
    private final Matching matching;
    private final MeanChoice choice;
    private final int segmentId;
    private final int estimator;
    private final boolean isSampling;
    private final int waitingRecords;
    private final SenderSketches sketches;
    private final PathEstimate path = new PathEstimate();
    private final UnsafeBuffer unseen =
        new UnsafeBuffer(new byte[FlowEntry.BASE_LENGTH_BYTES + FlowDelay.SKETCH_LENGTH_BYTES]);

    /**
     * No flow known.
     *
     * @param wiring  of the stage.
     * @param flowEnd hands on records that have waited.
     * @param isLive  whether packets come as they happen.
     * @param parts   of the stage, all but the sketches.
     */
    FlowDelays(
        final ExporterConfig config,
        final DelayWiring wiring,
        final FlowEnd flowEnd,
        final FlowCache cache,
        final Counters counters,
        final boolean isLive,
        final DelayParts parts) {
        choice = new MeanChoice(isLive, config.segment().maximumDelayNs());
        this.wiring = wiring;
        this.flowEnd = flowEnd;
        this.cache = cache;
        this.counters = counters;
        segment = parts.segment;
        senders = segment.senders();
        clocks = parts.clocks;
        distributions = parts.distributions;
        matching = parts.matching;
        receiver = matching instanceof StandIn standIn ? standIn.receiver() : parts.interpolation.receiver();
        segmentId = (int)config.segment().id();
        isSampling = config.quantiles().bandwidthBps() > 0 && parts.interpolation.isOn() && !wiring.isExact();
        waitingRecords = Math.max(1, config.lds().waitingRecords());
        estimator = config.rli().estimator() == ExporterConfig.EstimatorKind.LEFT ?
            FlowDelay.ESTIMATOR_LEFT : FlowDelay.ESTIMATOR_INTERPOLATED;
        sketches = new SenderSketches(config, wiring, isLive, cache, segment, this, parts.earlier);
    }

    SenderSketches sketches() {
        return sketches;
    }

    /** {@return the handler of a sender's records that have waited} */
    WaitedRecordHandler records(final int senderIndex) {
        return (buffer, offset, lengthBytes, record) -> onWaited(senderIndex, buffer, offset, lengthBytes, record);
    }

    /** {@return the handler of a sender's flows that only the sender point saw} */
    UnseenFlowHandler unseenFlows(final int senderIndex) {
        return (sent, row, startNs, endNs) -> onUnseenFlow(senderIndex, sent, row, startNs, endNs);
    }

    /** A flow ends: writes the fields that are known only now. Returns false if the record waits for more, and was copied. */
    boolean onFlowEnd(final MutableDirectBuffer entry, final int offset) {
        final boolean isMixed = wiring.isExact() && !wiring.isInterpolated() && DelayCounters.count(entry, offset) > 0 &&
            DelayCounters.count(entry, FlowDelay.matchedOffset(offset)) > 0;
        findPath(entry, offset);
        if (DelayCounters.count(entry, offset) > 0 && !isMixed) {
            final long boundNs = boundNs(entry, 0, 0);
            if (boundNs >= 0) {
                FlowDelay.errorBoundNs(entry, offset, boundNs);
            }
        }
        distributions.finish(entry, offset, wiring.isExact() ? FlowDelay.matchedOffset(offset) : offset);
        if (isSampling) {
            finishSampled(entry, offset);
        }
        matching.onFlowEnd(entry, offset, wiring.isExact() || !sketches.isOn());
        if (isMixed) {
            mix(entry, offset);
        }
        final boolean isSketched = sketches.isOn() && !isBackward(entry, offset - FlowEntry.BASE_LENGTH_BYTES);
        final int slot = cache.slotOf(entry, 0);
        if (isSketched && sketches.waits(entry, offset)) {
            counters.increment(CounterId.RECORDS_WAITING);
            if (slot >= 0 && isPathOpen(entry, offset)) {
                receiver.stream(stream(entry, 0)).paths().copy(
                    slot, cache.generation(slot), waitingSlot(entry, 0), (int)FlowEntry.flowId(entry, 0));
            }
            return false;
        }
        if (isSketched && slot >= 0 && isPathOpen(entry, offset)) {
            findPathBySketches(entry, offset, slot, cache.generation(slot));
        }
        begin(entry, offset);
        if (isSketched) {
            sketches.finish(entry, offset, choice);
        }
        conclude(entry, offset);
        return true;
    }

    /** Moves the delays of a flow to those by the path that it takes, as far as that is known by now. */
    private void findPath(final MutableDirectBuffer entry, final int offset) {
        resolvePath(entry, offset - FlowEntry.BASE_LENGTH_BYTES);
        if (path.hasMean() && DelayCounters.count(entry, offset) > 0) {
            DelayCounters.shift(entry, offset, Math.round(path.meanNs()) - DelayCounters.meanNs(entry, offset));
        }
        if (path.state().isUnknown()) {
            FlowDelay.addFlags(entry, offset, FlowDelay.FLAG_PATH_UNKNOWN);
        }
    }

    /** {@return whether sketches may tell the path of an ended flow} */
    private boolean isPathOpen(final DirectBuffer entry, final int offset) {
        return FlowDelay.has(entry, offset, FlowDelay.FLAG_PATH_UNKNOWN) && !wiring.isExact() &&
            DelayCounters.count(entry, offset) > 0;
    }

    /** Where what is known of the path of a flow stays while its record waits: that of a record long before may be there. */
    private int waitingSlot(final DirectBuffer entry, final int offset) {
        return cache.capacity() + (int)(FlowEntry.flowId(entry, offset) % waitingRecords);
    }

    /** The sketches of an ended flow are complete. If they tell its path, moves its delays to those by that path. */
    private void findPathBySketches(final MutableDirectBuffer entry, final int offset, final int slot, final int generation) {
        final int entryOffset = offset - FlowEntry.BASE_LENGTH_BYTES;
        final PathSplit paths = receiver.stream(stream(entry, entryOffset)).paths();
        sketches.ofEntry(entry, entryOffset).writer().tellPath(entry, offset, paths, slot, generation);
        paths.resolve(slot, generation, path);
        final long meanNs = DelayCounters.meanNs(entry, offset);
        if (path.state() == PathEstimate.State.KNOWN && path.hasMean()) {
            DelayCounters.shift(entry, offset, Math.round(path.meanNs()) - meanNs);
            final long boundNs = boundNs(entry, entryOffset, 0);
            if (boundNs >= 0) {
                FlowDelay.errorBoundNs(entry, offset, boundNs);
                FlowDelay.clearPathUnknown(entry, offset);
            } else {
                DelayCounters.shift(entry, offset, meanNs - DelayCounters.meanNs(entry, offset));
            }
        }
    }

    /** What is known of a flow's path; nothing of a copy's. */
    private void resolvePath(final DirectBuffer entry, final int offset) {
        final int stream = stream(entry, offset);
        final int slot = cache.slotOf(entry, offset);
        path.set(0, Double.NaN, 0, PathEstimate.State.SINGLE);
        if (stream < receiver.streamCount()) {
            final int generation = slot < 0 ? 0 : cache.generation(slot);
            receiver.stream(stream).paths().resolve(slot < 0 ? Integer.MAX_VALUE : slot, generation, path);
        }
    }

    private int stream(final DirectBuffer entry, final int offset) {
        final int way = isBackward(entry, offset) ? senders.count() : senders.ofEntry(entry, offset);
        return way * segment.classes().count() + classIndex(entry, offset);
    }

    /** Only a part of the record's packets was matched: combines the mean of matched and interpolated delays. */
    private void mix(final MutableDirectBuffer entry, final int offset) {
        final int matchedOffset = FlowDelay.matchedOffset(offset);
        final long boundNs = boundNs(entry, 0, DelayCounters.count(entry, matchedOffset));
        DelayCounters.add(entry, offset, entry, matchedOffset);
        if (boundNs >= 0) {
            final long sumErrorNs = FlowDelay.matchedErrorNs(entry, offset);
            FlowDelay.errorBoundNs(entry, offset, boundNs + 1 + sumErrorNs / DelayCounters.count(entry, offset));
        }
    }

    /** Begins the choice of the mean with the results of matching and references. */
    private void begin(final MutableDirectBuffer entry, final int offset) {
        choice.begin(entry, offset, matching.isWatched(entry));
        choice.learnRange(entry, offset);
        if (wiring.isMatched() || wiring.isExact()) {
            choice.learnRange(entry, FlowDelay.matchedOffset(offset));
        }
        if (wiring.isExact() && DelayCounters.count(entry, FlowDelay.matchedOffset(offset)) > 0) {
            final int matchedOffset = FlowDelay.matchedOffset(offset);
            choice.offerExact(
                FlowDelay.ESTIMATOR_MATCHED, DelayCounters.count(entry, matchedOffset),
                DelayCounters.meanNs(entry, matchedOffset), FlowDelay.matchedErrorNs(entry, offset));
        }
        if (DelayCounters.count(entry, offset) > 0) {
            choice.offerWhole(
                FlowDelay.has(entry, offset, FlowDelay.FLAG_PATH_UNKNOWN) ? FlowDelay.ESTIMATOR_MIXED_PATHS : estimator,
                DelayCounters.count(entry, offset), DelayCounters.meanNs(entry, offset),
                FlowDelay.has(entry, offset, FlowDelay.FLAG_ERROR_BOUND) ?
                    referenceFactor(entry, offset) * FlowDelay.errorBoundNs(entry, offset) : MeanChoice.UNKNOWN);
        }
    }

    private double referenceFactor(final DirectBuffer entry, final int offset) {
        return !sketches.isOn() ? 1 : sketches.ofEntry(entry, offset - FlowEntry.BASE_LENGTH_BYTES).writer()
            .referenceFactor(choice.packets());
    }

    /** Writes the chosen mean; deletes quantiles of another estimator's delays, but not those of sampled packets. */
    private void conclude(final MutableDirectBuffer entry, final int offset) {
        choice.conclude(entry, offset);
        final boolean isMatched = FlowDelay.estimator(entry, offset) == FlowDelay.ESTIMATOR_MATCHED;
        final boolean isSampled = FlowQuantiles.errorPpm(entry, FlowDelay.quantilesOffset(offset)) > 0;
        if (!isSampled && (wiring.isExact() ? !isMatched : !FlowDelay.isInterpolated(entry, offset))) {
            FlowQuantiles.clear(entry, FlowDelay.quantilesOffset(offset));
        }
        writeSegment(entry, offset);
    }

    /**
     * Takes the quantiles of sampled packets where these are nearer than estimates: 95 % of the references that were held out
     * were estimated within an error. Where sketches choose the mean, estimates have no quantiles. If the error is above the
     * median, quantiles of estimates say nothing and are deleted.
     */
    private void finishSampled(final MutableDirectBuffer entry, final int offset) {
        final int quantilesOffset = FlowDelay.quantilesOffset(offset);
        final boolean hasOther = !sketches.isOn() && FlowQuantiles.groups(entry, quantilesOffset) > 0;
        final HeldOutErrors heldOut = heldOut(entry, offset - FlowEntry.BASE_LENGTH_BYTES);
        final double errorNs = hasOther && heldOut.hasBound() ? heldOut.quantile95Ns() : Double.POSITIVE_INFINITY;
        distributions.finishSampled(entry, offset, errorNs);
        if (hasOther && heldOut.hasBound() && FlowQuantiles.errorPpm(entry, quantilesOffset) == 0 &&
            errorNs > Math.abs(FlowQuantiles.quantileNs(entry, quantilesOffset, 0))) {
            FlowQuantiles.clear(entry, quantilesOffset);
        }
    }

    private HeldOutErrors heldOut(final DirectBuffer entry, final int offset) {
        return receiver.statistics(stream(entry, offset)).heldOut();
    }

    /** {@return the error bound of a flow's mean, where unmatched packets are interpolated, ns; below 0 if it is not known} */
    private long boundNs(final DirectBuffer entry, final int offset, final long matchedPackets) {
        final HeldOutErrors heldOut = heldOut(entry, offset);
        final int delayOffset = offset + FlowEntry.BASE_LENGTH_BYTES;
        final double packets = FlowEntry.packetCount(entry, offset);
        if (!heldOut.hasBound()) {
            return -1;
        }
        final double scaleNs = FlowDelay.errorScaleNs(entry, delayOffset);
        final long samples = DelayCounters.count(entry, delayOffset);
        final long meanNs = DelayCounters.meanNs(entry, delayOffset);
        final double unknownPackets = Math.max(0, packets - matchedPackets - samples);
        final double lengthBytes = LINK_HEADER_LENGTH_BYTES + FlowEntry.octetCount(entry, offset) / packets;
        final long boundNs = heldOut.halfWidthNs(scaleNs, samples, meanNs, unknownPackets / packets, lengthBytes, path);
        if (boundNs == Long.MAX_VALUE) {
            return -1;
        }
        return matchedPackets == 0 ? boundNs :
            boundNs - (long)(matchedPackets / packets * heldOut.halfWidthNs(scaleNs, samples, meanNs, 0, lengthBytes, path));
    }

    /** The estimator that a living flow would have if its record were written now. Returns 0 for none. */
    public int livingEstimator(final DirectBuffer entry, final int offset) {
        if (!wiring.role().isReceiver()) {
            return 0;
        }
        final int delayOffset = offset + FlowEntry.BASE_LENGTH_BYTES;
        if (wiring.isExact() && DelayCounters.count(entry, FlowDelay.matchedOffset(delayOffset)) > 0 &&
            !FlowDelay.hasSeveralSegments(entry, delayOffset)) {
            return FlowDelay.ESTIMATOR_MATCHED;
        }
        return DelayCounters.count(entry, delayOffset) > 0 ? estimator : 0;
    }

    /**
     * Completes the image of a living flow with delays as if its record were written now; see {@link
     * FlowDelay#IMAGE_LENGTH_BYTES} and {@link #livingEstimator}.
     */
    public void completeImage(final MutableDirectBuffer image, final int offset, final int livingEstimator) {
        final int delayOffset = offset + FlowEntry.BASE_LENGTH_BYTES;
        FlowDelay.estimator(image, delayOffset, livingEstimator);
        FlowDelay.segmentId(image, delayOffset, wiring.pairs().isOn() ? (int)FlowDelay.matchedSegmentId(image, delayOffset) :
            segmentId + senders.ofEntry(image, offset));
        if (livingEstimator != FlowDelay.ESTIMATOR_MATCHED) {
            resolvePath(image, offset);
            final long boundNs = boundNs(image, offset, 0);
            if (boundNs >= 0) {
                FlowDelay.errorBoundNs(image, delayOffset, boundNs);
            }
        } else if (FlowDelay.isMatchedWhole(image, delayOffset) && matching.isUnambiguous(image, offset)) {
            FlowDelay.addFlags(image, delayOffset, FlowDelay.FLAG_EXACT);
            choice.learnUnit(image, delayOffset);
            FlowDelay.errorBoundNs(image, delayOffset, choice.floorNs(FlowEntry.packetCount(image, offset)));
        }
    }

    /** The traffic class of a flow. */
    public int classIndex(final DirectBuffer entry, final int offset) {
        return segment.classes().ofClassOfService(FlowEntry.ipClassOfService(entry, offset));
    }

    /** A record has waited and is complete. */
    private void onWaited(
        final int senderIndex, final MutableDirectBuffer buffer, final int offset, final int lengthBytes,
        final int record) {
        final int delayOffset = offset + FlowEntry.BASE_LENGTH_BYTES;
        if (isPathOpen(buffer, delayOffset)) {
            findPathBySketches(buffer, delayOffset, waitingSlot(buffer, offset), (int)FlowEntry.flowId(buffer, offset));
        }
        begin(buffer, delayOffset);
        sketches.of(senderIndex).writer().write(buffer, delayOffset, record, choice);
        conclude(buffer, delayOffset);
        counters.add(CounterId.RECORDS_WAITING, -1);
        flowEnd.onWaited(buffer, offset, lengthBytes);
    }

    /** Writes the record of a flow that only the sender point saw: no packets, only loss. */
    private void onUnseenFlow(
        final int senderIndex, final FlowSums sent, final int row, final long startNs, final long endNs) {
        unseen.setMemory(0, unseen.capacity(), (byte)0);
        sent.copyKey(row, unseen, 0);
        FlowEntry.endReason(unseen, 0, EndReason.ACTIVE_TIMEOUT.code());
        FlowEntry.startNs(unseen, 0, startNs);
        FlowEntry.endNs(unseen, 0, endNs - 1);
        FlowEntry.flowId(unseen, 0, cache.countForeignRecord(EndReason.ACTIVE_TIMEOUT));
        FlowDelay.exactLoss(unseen, FlowEntry.BASE_LENGTH_BYTES, sent.packets(row));
        FlowDelay.segmentId(unseen, FlowEntry.BASE_LENGTH_BYTES, segmentId + senderIndex);
        flowEnd.onWaited(unseen, 0, unseen.capacity());
    }

    /** The backward direction is a segment of its own, with the number after that of the last sender. */
    private boolean isBackward(final DirectBuffer entry, final int offset) {
        return wiring.captures().areBothWays() && wiring.captures().sides().isBackwardEntry(entry, offset);
    }

    private void writeSegment(final MutableDirectBuffer entry, final int offset) {
        final boolean hasDelay = FlowDelay.estimator(entry, offset) != 0;
        if (hasDelay || flowEnd.isOfSeveral()) {
            final int entryOffset = offset - FlowEntry.BASE_LENGTH_BYTES;
            final int senderIndex = senders.ofEntry(entry, entryOffset);
            FlowDelay.segmentId(entry, offset, wiring.pairs().isOn() ? (int)FlowDelay.matchedSegmentId(entry, offset) :
                segmentId + (isBackward(entry, entryOffset) ? senders.count() : senderIndex));
            final ClockEstimate clock = clocks.estimate(senderIndex);
            final boolean isCorrected = hasDelay && clock.isCorrected();
            final long clockErrorNs = clocks.errorNs(senderIndex);
            // Packets before the estimate began were corrected by another, or not at all.
            if (hasDelay && clockErrorNs >= 0 && (!isCorrected || FlowEntry.startNs(entry, entryOffset) >= clock.sinceNs())) {
                FlowDelay.clockErrorNs(entry, offset, clockErrorNs);
            }
            if (isCorrected) {
                FlowDelay.clockCorrectionNs(entry, offset, clock.offsetNs());
            }
        }
    }
}
