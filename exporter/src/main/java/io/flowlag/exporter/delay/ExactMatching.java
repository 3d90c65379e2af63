package io.flowlag.exporter.delay;

import io.flowlag.common.counter.CounterSet;
import io.flowlag.common.memory.OffHeapBuffer;
import io.flowlag.exporter.config.ExporterConfig;
import io.flowlag.exporter.delay.exact.ExactMatcher;
import io.flowlag.exporter.delay.exact.ExactMatcherSettings;
import io.flowlag.exporter.delay.exact.MatchCounter;
import io.flowlag.exporter.delay.exact.MatchCounters;
import io.flowlag.exporter.delay.exact.MatchHandler;
import io.flowlag.exporter.delay.exact.MatchResult;
import io.flowlag.exporter.delay.exact.SegmentFlows;
import io.flowlag.exporter.flow.EndReason;
import io.flowlag.exporter.flow.FlowCache;
import io.flowlag.exporter.flow.FlowEntry;
import io.flowlag.rli.counters.DelayCounters;
import io.flowlag.rli.receiver.RliReceiver;
import org.agrona.DirectBuffer;
import org.agrona.MutableDirectBuffer;

import java.util.Map;

/**
 * Exact matching of every packet, in addition to the estimates: exact delay and loss of each flow, and the accuracy of the
 * estimates. The metering thread owns it; counters may be read by any. Allocates at construction.
 */
class ExactMatching extends Matching implements MatchHandler {
    private static final int DECIDE_LIMIT = 256;
    private static final int FINISH_LIMIT = 64 * 1024;
    /** Longer than packets spend in the merge of live sources and in the rings. */
    private static final long LIVE_GRACE_NS = 1_000_000_000L;
    /** The longest wait for packets that come later than the maximum delay. */
    private static final long LIVE_WAIT_NS = 5_000_000_000L;
    /** Room for live packets at first; it grows as needed. */
    private static final int LIVE_START_PACKETS = 128 * 1024;
    /** A share of the flows may hold a larger share of the packets; this factor gives them room. */
    private static final int SPARE_SHARE = 2;
    private static final int LEAST_FLOWS = 1024;
    /** A tag holds the generation of a flow's slot, the stream of the packet, and the slot. */
    private static final int STREAM_SHIFT = 24;
    private static final int SLOT_MASK = (1 << STREAM_SHIFT) - 1;
    private static final int STREAM_MASK = 0xFF;

    private final FlowCache cache;
    private final FlowDistributions distributions;
    private final DelaySummaries summaries;
    private final RliReceiver receiver;
    private final boolean isExact;
    private final OffHeapBuffer entries;
    private final SegmentFlows flows;
    private final MatchedShare share;
    private final ExactMatcher matcher;
    private final CounterSet<Count> counts = new CounterSet<>(Count.class);
    private final boolean isLive;
    private final long maximumDelayNs;
    private final long recordNs;
    private final boolean areBothWays;
    /** Flows that began before this were not watched completely. */
    private long watchedSinceNs = Long.MAX_VALUE;
    /** The number of this process's last drops, and until when. */
    private long ownLoss;
    private long ownLossNs = Long.MIN_VALUE;
    private long senderTimeNs = Long.MIN_VALUE;
    private long receiverTimeNs = Long.MIN_VALUE;
    private long newestMatchedNs = Long.MIN_VALUE;
    /** The largest observed overtaking: how much later a packet was sent that arrived first. */
    private long overtakenNs;

    /**
     * Nothing matched yet.
     *
     * @param wiring        of the stage; if it is exact, distributions and summaries are of matched delays.
     * @param isLive        whether packets come as they happen; flows of captures are kept to the end.
     * @param cache         whose flows have room for matched counters.
     * @param distributions of flows' delays.
     * @param summaries     of classes' delays.
     * @param receiver      of references; matched delays tell it which paths flows take.
     */
    ExactMatching(
        final ExporterConfig config, final DelayWiring wiring, final boolean isLive, final FlowCache cache,
        final FlowDistributions distributions, final DelaySummaries summaries, final RliReceiver receiver) {
        final CaptureFacts captures = wiring.captures();
        this.distributions = distributions;
        this.summaries = summaries;
        this.receiver = receiver;
        isExact = wiring.isExact();
        this.cache = cache;
        this.isLive = isLive;
        areBothWays = captures.areBothWays();
        maximumDelayNs = config.segment().maximumDelayNs();
        entries = cache.entries();
        recordNs = DelaySummaries.recordNs(config);
        final long silenceNs = 2 * (config.metering().activeTimeoutNs() + config.segment().maximumDelayNs());
        flows = new SegmentFlows(
            flowCount(config, captures), isLive ? silenceNs : SegmentFlows.NEVER_NS,
            wiring.pairs().isOn() || !config.segment().selector().selectsAll());
        matcher = new ExactMatcher(settings(config, isLive, captures), flows, this);
        share = new MatchedShare(matcher, config.segment().exactPackets());
        if (captures.matchedOneIn() > 1) {
            flows.matchOneIn(captures.matchedOneIn());
        }
    }

    private static int flowCount(final ExporterConfig config, final CaptureFacts captures) {
        final int flows = config.metering().maxFlows();
        final int oneIn = captures.matchedOneIn();
        return oneIn == 1 ? flows : Math.min(flows, LEAST_FLOWS + SPARE_SHARE * flows / oneIn);
    }

    private static ExactMatcherSettings settings(
        final ExporterConfig config, final boolean isLive, final CaptureFacts captures) {
        return new ExactMatcherSettings(
            config.segment().exactPackets(), isLive ? LIVE_START_PACKETS : ExactMatcherSettings.MAX_PACKETS,
            config.segment().maximumDelayNs(), ExactMatcherSettings.MAXIMUM_DELAY, isLive ? LIVE_GRACE_NS : 0,
            isLive ? LIVE_WAIT_NS : 0, captures.joinedAboveBytes());
    }

    /** {@return octets off the heap, by formula} */
    static long memoryBytes(final ExporterConfig config, final boolean isLive, final CaptureFacts captures) {
        return settings(config, isLive, captures).memoryBytes() + SegmentFlows.memoryBytes(flowCount(config, captures));
    }

    /** The sender point saw any packet. Packets that arrived before its first one cannot be judged. */
    @Override
    final void onSenderTime(final long timeNs) {
        if (senderTimeNs == Long.MIN_VALUE) {
            onFirst(timeNs, true);
        }
        senderTimeNs = Math.max(senderTimeNs, timeNs);
    }

    /** The receiver point saw any packet. Packets sent before its first one cannot be judged. */
    @Override
    final void onReceiverTime(final long timeNs) {
        if (receiverTimeNs == Long.MIN_VALUE) {
            onFirst(timeNs, false);
        }
        receiverTimeNs = Math.max(receiverTimeNs, timeNs);
    }

    /** The first packet of a point. Where captures hold both directions, each point is sender and receiver. */
    private void onFirst(final long timeNs, final boolean isSender) {
        watchedSinceNs = Math.min(watchedSinceNs, timeNs);
        if (isSender || areBothWays) {
            matcher.onSenderGap(timeNs);
        }
        if (!isSender || areBothWays) {
            // For clocks that are apart, the matcher adds its lead, here the maximum delay.
            matcher.onReceiverGap(timeNs - maximumDelayNs);
        }
    }

    /** Both live points are watched from a time on, whether packets pass or not; earlier, a point may have missed packets. */
    final void onLive(final long nowNs) {
        onFirst(nowNs, true);
        onFirst(nowNs, false);
        senderTimeNs = nowNs;
        receiverTimeNs = nowNs;
    }

    @Override
    final long touch(final DirectBuffer descriptors, final int offset, final int count) {
        return matcher.touch(descriptors, offset, count);
    }

    @Override
    final void onSent(final DirectBuffer descriptor, final int offset, final int senderIndex) {
        onSent(matcher.onSent(descriptor, offset, senderTag(descriptor, offset)), descriptor, offset, senderIndex);
    }

    /** {@return what {@link #matchedStream} needs of a packet at the sender point} */
    long senderTag(final DirectBuffer descriptor, final int offset) {
        return 0;
    }

    @Override
    final void onReceived(final DirectBuffer descriptor, final int offset, final int slot, final int stream) {
        final long received = received(descriptor, offset, stream);
        onReceived(matcher.onReceived(
            descriptor, offset, (long)cache.generation(slot) << Integer.SIZE | received << STREAM_SHIFT | slot),
            descriptor, offset, slot, stream);
    }

    /** Counts a packet at the receiver point. Returns its stream, or what {@link #matchedStream} needs of it, below 256. */
    int received(final DirectBuffer descriptor, final int offset, final int stream) {
        if (isExact) {
            summaries.onReceived(stream);
        }
        return stream;
    }

    /** {@return the stream of a packet that matched, or below 0 if it is of none} */
    int matchedStream(final int flow, final long senderTag, final int received) {
        return received;
    }

    /** Whether a matched packet counts in the record of its flow. */
    boolean isOfRecord(final MutableDirectBuffer flowEntries, final int offset, final int stream) {
        return true;
    }

    /** The result of a packet at the sender point, for subclasses. */
    void onSent(final MatchResult result, final DirectBuffer descriptor, final int offset, final int senderIndex) {
    }

    /** The result of a packet at the receiver point, for subclasses. */
    void onReceived(
        final MatchResult result, final DirectBuffer descriptor, final int offset, final int slot, final int stream) {
    }

    /** {@return whether some flows are not matched} */
    final boolean isPartial() {
        return matcher.isPartial();
    }

    /** {@return the delay of the packet that matched last} */
    final long delayNs() {
        return matcher.delayNs();
    }

    @Override
    final void onOversize(final boolean isSent) {
        matcher.onOversize(isSent);
    }

    @Override
    final void onOwnLoss(final long throughNs, final long packets) {
        matcher.onSenderGap(throughNs);
        matcher.onReceiverGap(throughNs);
        ownLoss = ownLossNs < throughNs - recordNs ? packets : ownLoss + packets;
        ownLossNs = throughNs;
        share.onOwnLoss(packets);
    }

    @Override
    void onTimeSetBack(final long nowNs) {
        matcher.onTimeSetBack(nowNs);
        newestMatchedNs = Long.MIN_VALUE;
        watchedSinceNs = Math.min(watchedSinceNs, nowNs);
        senderTimeNs = nowNs;
        receiverTimeNs = nowNs;
    }

    @Override
    void onTime(final long capturedNs) {
        // One capture may end before the other: a packet counts as lost only if the receiver point was watched for long enough.
        final long watchedNs = isLive ? capturedNs : Math.min(senderTimeNs, receiverTimeNs);
        if (watchedNs != Long.MIN_VALUE) {
            matcher.onTime(watchedNs, DECIDE_LIMIT);
            if (isLive && share.hasGrown(watchedNs)) {
                watchedSinceNs = watchedNs;
            }
        }
    }

    /** A packet that may have passed a point after its capture ended is left undecided. */
    @Override
    void onEnd() {
        if (receiverTimeNs > senderTimeNs || areBothWays) {
            matcher.onSenderGap(Math.max(receiverTimeNs, senderTimeNs));
        }
        final long watchedNs = areBothWays ? Math.min(senderTimeNs, receiverTimeNs) : receiverTimeNs;
        // A packet sent before an arrived one, by more than the largest overtaking, would have arrived too.
        final long passedNs =
            newestMatchedNs == Long.MIN_VALUE ? Long.MIN_VALUE : newestMatchedNs - overtakenNs - 1 + maximumDelayNs;
        while (matcher.finish(Math.max(watchedNs, passedNs), FINISH_LIMIT)) {
            Thread.onSpinWait();
        }
        matcher.onEnd();
    }

    @Override
    public final void onMatched(
        final int flow, final long senderTag, final long receiverTag, final long sentNs, final long receivedNs) {
        if (sentNs >= newestMatchedNs) {
            newestMatchedNs = sentNs;
        } else {
            overtakenNs = Math.max(overtakenNs, newestMatchedNs - sentNs);
        }
        final int stream = matchedStream(flow, senderTag, (int)(receiverTag >> STREAM_SHIFT) & STREAM_MASK);
        if (stream < 0) {
            return;
        }
        final long delayNs = receivedNs - sentNs;
        if (isExact) {
            summaries.onMatched(stream, delayNs, receivedNs);
        }
        final int slot = (int)receiverTag & SLOT_MASK;
        if (cache.isCurrent(slot, (int)(receiverTag >> Integer.SIZE))) {
            final int offset = cache.stateOffset(slot);
            final int matchedOffset = FlowDelay.matchedOffset(offset);
            if (!isOfRecord(entries, offset, stream)) {
                return;
            }
            DelayCounters.record(entries, matchedOffset, delayNs);
            if (stream < receiver.streamCount() && receiver.stream(stream).paths().wantsKnown()) {
                final int entry = offset - FlowEntry.BASE_LENGTH_BYTES;
                receiver.stream(stream).paths().onKnown(
                    slot, (int)(receiverTag >> Integer.SIZE),
                    (int)(FlowEntry.octetCount(entries, entry) / FlowEntry.packetCount(entries, entry)), receivedNs, delayNs);
            }
            if (isExact) {
                distributions.record(entries, offset, DelayCounters.count(entries, matchedOffset), delayNs);
            }
        } else {
            counts.increment(Count.FLOW_ENDED);
        }
    }

    @Override
    final boolean isComplete(final DirectBuffer entries, final int offset) {
        final int flow = flows.findOfEntry(entries, offset);
        return flow < 0 || flows.waitingCount(flow) == 0;
    }

    /**
     * A flow ends: writes its loss, and compares its estimate with the matched delays. If packets of its last record are
     * undecided, its loss is unknown.
     */
    @Override
    void onFlowEnd(final MutableDirectBuffer entry, final int offset, final boolean isLossTold) {
        final int flow = flows.findOfEntry(entry, 0);
        final int matchedOffset = FlowDelay.matchedOffset(offset);
        final boolean isWaiting = flow >= 0 && flows.waitingCount(flow) > 0;
        FlowDelay.matchedErrorNs(entry, offset, flow >= 0 ? flows.takeAmbiguousNs(flow) : FlowDelay.UNKNOWN_ERROR_NS);
        if (flow >= 0 && (!isWaiting || FlowEntry.endReason(entry, 0) == EndReason.ACTIVE_TIMEOUT.code())) {
            // A packet that this process dropped at the sender point may be lost too, and is not counted.
            final long undecided = flows.takeUndecided(flow) + (FlowEntry.startNs(entry, 0) <= ownLossNs ? ownLoss : 0);
            final long lost = flows.takeLost(flow);
            final long unexpected = flows.takeUnexpected(flow);
            final long matched = DelayCounters.count(entry, matchedOffset);
            if (isLive && matched < FlowEntry.packetCount(entry, 0) && (unexpected > 0 || isWaiting)) {
                // Such a packet may have a larger delay than any that matched.
                FlowDelay.matchedErrorNs(entry, offset, FlowDelay.UNKNOWN_ERROR_NS);
            }
            // Where most packets have different digests at the other point, loss is unknown.
            if (isLossTold && isWatched(entry) && (!isLive || flows.sent(flow) > 0 && unexpected <= matched)) {
                writeLoss(entry, offset, lost, unexpected, undecided);
            }
        }
        if (DelayCounters.count(entry, offset) > 0 && DelayCounters.count(entry, matchedOffset) > 0 &&
            FlowDelay.has(entry, offset, FlowDelay.FLAG_ERROR_BOUND)) {
            final long errorNs = DelayCounters.meanNs(entry, offset) - DelayCounters.meanNs(entry, matchedOffset);
            counts.increment(Count.BOUNDED_FLOWS);
            counts.add(Count.BOUNDS_HELD, Math.abs(errorNs) <= FlowDelay.errorBoundNs(entry, offset) ? 1 : 0);
        }
    }

    @Override
    final boolean isWatched(final DirectBuffer entry) {
        return FlowEntry.startNs(entry, 0) >= watchedSinceNs;
    }

    @Override
    final boolean isUnambiguous(final DirectBuffer entries, final int offset) {
        final int flow = flows.findOfEntry(entries, offset);
        return flow >= 0 && flows.isUnambiguous(flow);
    }

    /**
     * Writes the loss, as an upper bound if packets are undecided, because they may be lost. A live lost packet may also be
     * among the unexpected ones: it was late, or was rewritten.
     */
    private void writeLoss(
        final MutableDirectBuffer entry, final int offset, final long lost, final long unexpected, final long undecided) {
        if (undecided > 0) {
            FlowDelay.lossBound(entry, offset, lost + undecided);
        } else if (isLive && lost > 0 && (unexpected > 0 || mayBeLate(entry, offset))) {
            FlowDelay.lossBound(entry, offset, lost);
        } else {
            FlowDelay.loss(entry, offset, lost, unexpected, FlowDelay.LOSS_EXACT);
        }
    }

    /** Whether packets took so long that others, still on their way, may count as lost: the wait is at its limit. */
    private boolean mayBeLate(final DirectBuffer entry, final int offset) {
        final int matchedOffset = FlowDelay.matchedOffset(offset);
        return counters().waitNs() >= LIVE_WAIT_NS && DelayCounters.count(entry, matchedOffset) > 0 &&
            DelayCounters.maximumNs(entry, matchedOffset) > LIVE_WAIT_NS / 2;
    }

    @Override
    final SegmentFlows flows() {
        return flows;
    }

    @Override
    final MatchCounters counters() {
        return flows.counters();
    }

    @Override
    void tell(final Map<String, Long> values, final Map<String, Long> unexplained) {
        for (final MatchCounter each : MatchCounter.values()) {
            values.put(each.label(), counters().get(each));
        }
        values.put("match_flow_ended", counts.get(Count.FLOW_ENDED));
        values.put("bounded_flows", counts.get(Count.BOUNDED_FLOWS));
        values.put("bounds_held", counts.get(Count.BOUNDS_HELD));
        unexplained.put("unexplained_sent", counters().unexplainedSent());
        unexplained.put("unexplained_received", counters().unexplainedReceived());
    }

    @Override
    final void tellGauges(final Map<String, Double> gauges) {
        gauges.put("match_share", 1.0 / counters().matchedOneIn());
        gauges.put("match_wait_ns", (double)counters().waitNs());
    }

    private enum Count {
        /** Matched packets whose flow had ended. */
        FLOW_ENDED,
        /** Flow records with an estimate that has a bound, and matched packets. */
        BOUNDED_FLOWS,
        /** Those of them where the matched mean lies within the bound. */
        BOUNDS_HELD
    }
}
