package io.flowlag.exporter.delay;

import io.flowlag.exporter.config.ExporterConfig;
import io.flowlag.exporter.decode.PacketDescriptor;
import io.flowlag.exporter.delay.exact.MatchCounter;
import io.flowlag.exporter.delay.exact.SegmentFlows;
import io.flowlag.exporter.flow.FlowCache;
import io.flowlag.rli.counters.DelayCounters;
import io.flowlag.rli.receiver.RliReceiver;
import org.agrona.DirectBuffer;
import org.agrona.MutableDirectBuffer;

import java.util.Map;
import java.util.concurrent.atomic.AtomicLongArray;
import java.util.stream.IntStream;

/**
 * Matching of the packets of several segments between interfaces of this host by one matcher. Where a packet was seen tells its
 * segment. A flow record has delay and loss of one segment; if its packets are of several, it has none. The metering thread owns
 * it; {@link #tell} is safe from any thread. Allocates at construction.
 */
final class PairMatching extends ExactMatching {
    private final SegmentPairs pairs;
    private final DelaySummaries summaries;
    private final FlowCache cache;
    private final int classCount;
    /** The stream of packets from an origin, by interface where they leave and class; {@link SegmentPairs#OUTSIDE} for none. */
    private final int[][] streams;
    /** The segment of a stream. */
    private final int[] segments;
    /** By segment; behind them those between interfaces of no segment. */
    private final AtomicLongArray matched;
    private final AtomicLongArray lost;

    /** Nothing matched yet; parameters as of {@link ExactMatching}, live. */
    PairMatching(
        final ExporterConfig config, final DelayWiring wiring, final boolean isLive, final FlowCache cache,
        final FlowDistributions distributions, final DelaySummaries summaries) {
        super(config, wiring, isLive, cache, distributions, summaries, RliReceiver.none());
        this.summaries = summaries;
        this.cache = cache;
        pairs = wiring.pairs();
        classCount = config.rli().classCount();
        matched = new AtomicLongArray(pairs.count() + 1);
        lost = new AtomicLongArray(pairs.count());
        segments = IntStream.range(0, pairs.count() * classCount).map((stream) -> stream / classCount).toArray();
        streams = new int[pairs.originCount()][pairs.interfaceCount() * classCount];
        for (int origin = 0; origin < streams.length; origin++) {
            for (int i = 0; i < streams[origin].length; i++) {
                final int segment = pairs.segment(origin, i / classCount);
                streams[origin][i] = segment < 0 ? SegmentPairs.OUTSIDE : segment * classCount + i % classCount;
            }
        }
    }

    @Override
    long senderTag(final DirectBuffer descriptor, final int offset) {
        return pairs.origin(descriptor, offset);
    }

    /** The class is of the packet, and its segment is known when it matches. */
    @Override
    int received(final DirectBuffer descriptor, final int offset, final int stream) {
        return (PacketDescriptor.observationPoint(descriptor, offset) >> 1) * classCount + stream;
    }

    @Override
    int matchedStream(final int flow, final long senderTag, final int received) {
        final int stream = streams[(int)senderTag][received];
        final int segment = stream < 0 ? pairs.count() : segments[stream];
        matched.setRelease(segment, matched.getPlain(segment) + 1);
        if (stream >= 0) {
            flows().onSegment(flow, segment);
            summaries.onReceived(stream);
        }
        return stream;
    }

    /** The first matched packet of a record tells its segment. */
    @Override
    boolean isOfRecord(final MutableDirectBuffer entries, final int offset, final int stream) {
        final long id = pairs.id(segments[stream]);
        final boolean isFirst = !FlowDelay.hasMatchedSegment(entries, offset);
        if (isFirst) {
            FlowDelay.matchedSegment(entries, offset, id, false);
        }
        final boolean isSame = FlowDelay.matchedSegmentId(entries, offset) == id;
        if (!isSame) {
            FlowDelay.matchedSegment(entries, offset, id, true);
        }
        return isSame;
    }

    @Override
    public MatchCounter whenLost(final SegmentFlows flows, final long senderTag, final int flow, final long sentNs) {
        final int segment = pairs.segmentOfLost((int)senderTag, flows, flow, sentNs);
        if (segment < 0) {
            return segment == SegmentPairs.UNDECIDED ? MatchCounter.SENT_UNDECIDED : MatchCounter.NOT_OF_SEGMENT;
        }
        lost.setRelease(segment, lost.getPlain(segment) + 1);
        flows.onSegment(flow, segment);
        return flows.onLost(flow);
    }

    /**
     * A record of several segments has no delay. Its loss is known where all packets of its 5-tuple are of one segment; if they
     * were of several, it is known again from now on.
     */
    @Override
    void onFlowEnd(final MutableDirectBuffer entry, final int offset, final boolean isLossTold) {
        if (FlowDelay.hasSeveralSegments(entry, offset)) {
            entry.setMemory(FlowDelay.matchedOffset(offset), DelayCounters.USED_BYTES, (byte)0);
        }
        final int flow = flows().findOfEntry(entry, 0);
        final int segment = flow < 0 ? SegmentFlows.NO_SEGMENT : flows().segment(flow);
        if (flow < 0 || segment >= 0 && segment < pairs.count() && !FlowDelay.hasSeveralSegments(entry, offset) &&
            FlowDelay.hasMatchedSegment(entry, offset) && FlowDelay.matchedSegmentId(entry, offset) == pairs.id(segment)) {
            super.onFlowEnd(entry, offset, isLossTold);
            return;
        }
        FlowDelay.matchedErrorNs(entry, offset, FlowDelay.UNKNOWN_ERROR_NS);
        if (segment == SegmentFlows.SEVERAL_SEGMENTS) {
            flows().leave(flow);
        }
    }

    @Override
    void tell(final Map<String, Long> values, final Map<String, Long> unexplained) {
        super.tell(values, unexplained);
        long unexplainedMatched = counters().get(MatchCounter.MATCHED) - matched.get(pairs.count());
        long unexplainedLost = counters().get(MatchCounter.LOST);
        values.put(MatchCounter.MATCHED.label() + "_segment_none", matched.get(pairs.count()));
        for (int i = 0; i < pairs.count(); i++) {
            final String suffix = "_segment_" + pairs.id(i);
            values.put(MatchCounter.MATCHED.label() + suffix, matched.get(i));
            values.put(MatchCounter.LOST.label() + suffix, lost.get(i));
            unexplainedMatched -= matched.get(i);
            unexplainedLost -= lost.get(i);
        }
        unexplained.put("unexplained_matched", unexplainedMatched);
        unexplained.put("unexplained_lost", unexplainedLost);
    }
}
