package io.flowlag.exporter.sketching;

import io.flowlag.sketch.hash.KeyedMix;
import org.agrona.MutableDirectBuffer;
import org.agrona.concurrent.UnsafeBuffer;

import java.util.ArrayList;
import java.util.Comparator;
import java.util.HashMap;
import java.util.List;
import java.util.Map;

/** Packets of flows, handed to both points of a {@link SketchPair} in the order of time; a flow's slot is its number. */
final class TwoPoints implements RecordHandler {
    static final long START_NS = 1_700_000_000_000_000_000L;
    static final int ENTRY_LENGTH_BYTES = 64;

    /** A packet at one point, or an estimate of its delay. */
    private record Event(long timeNs, Kind kind, int flow, long digest, long estimateNs) {
    }

    /** What happens. */
    private enum Kind {
        SENT, RECEIVED, ESTIMATED
    }

    final List<IntervalSummary> intervals = new ArrayList<>();
    final Map<Integer, Integer> completed = new HashMap<>();
    final Map<Integer, Integer> recordOfFlow = new HashMap<>();
    private final Map<Long, Long> tickets = new HashMap<>();
    final Map<Long, Long> witnessPackets = new HashMap<>();
    final Map<Long, Long> witnessDelaysNs = new HashMap<>();
    final SketchPair pair;
    private final List<Event> events = new ArrayList<>();
    private final UnsafeBuffer entry = new UnsafeBuffer(new byte[ENTRY_LENGTH_BYTES]);
    private long nextDigest;

    /** What an interval said, copied. */
    record IntervalSummary(
        long number, boolean isDamaged, boolean isCut, int usableCells, int occupiedCells, Long lostPackets, Long unexplained) {
    }

    TwoPoints(final SketchContext context) {
        pair = new SketchPair(context.conclude(), ENTRY_LENGTH_BYTES, this, this::onInterval);
    }

    private void onInterval(final IntervalAnswer answer) {
        final FlowSumPairs pairs = answer.flowSums();
        for (int row = 0; row < pairs.count(); row++) {
            if (pairs.sent().isWitness(row) && pairs.agreement(row) == FlowSumPairs.Agreement.EXACT) {
                witnessPackets.merge(pairs.sent().flowHash(row), pairs.sent().packets(row), Long::sum);
                witnessDelaysNs.merge(pairs.sent().flowHash(row), pairs.delaySumNs(row), Long::sum);
            }
        }
        intervals.add(new IntervalSummary(
            answer.number(), answer.isDamaged(), answer.isCut(), answer.usableCells(), answer.occupiedCells(),
            answer.hasLoss() ? answer.lostPackets() : null, answer.hasLoss() ? answer.unexplainedLostPackets() : null));
    }

    @Override
    public void onRecord(final MutableDirectBuffer buffer, final int offset, final int lengthBytes, final int record) {
        completed.merge(buffer.getInt(offset), 1, Integer::sum);
    }

    static long flowHash(final int flow) {
        return KeyedMix.mix(flow, 77);
    }

    /** A packet that arrives. */
    TwoPoints packet(final int flow, final long sentNs, final long delayNs) {
        return packet(flow, sentNs, delayNs, KeyedMix.mix(++nextDigest, 5));
    }

    TwoPoints packet(final int flow, final long sentNs, final long delayNs, final long digest) {
        events.add(new Event(START_NS + sentNs, Kind.SENT, flow, digest, 0));
        events.add(new Event(START_NS + sentNs + delayNs, Kind.RECEIVED, flow, digest, 0));
        return this;
    }

    /** The delay of the last packet is estimated some time after its arrival. */
    TwoPoints estimated(final long estimateNs, final long lagNs) {
        final Event last = events.get(events.size() - 1);
        events.add(new Event(last.timeNs + lagNs, Kind.ESTIMATED, last.flow, last.digest, estimateNs));
        return this;
    }

    /** A packet that does not arrive. */
    TwoPoints lost(final int flow, final long sentNs) {
        events.add(new Event(START_NS + sentNs, Kind.SENT, flow, KeyedMix.mix(++nextDigest, 5), 0));
        return this;
    }

    /** Hands over what there is, in the order of time. */
    TwoPoints pass() {
        events.sort(Comparator.comparingLong(Event::timeNs));
        for (final Event event : events) {
            if (event.kind == Kind.ESTIMATED) {
                pair.onTime(event.timeNs);
                pair.receiver().onEstimate(tickets.get(event.digest), event.estimateNs);
            } else if (event.kind == Kind.SENT) {
                pair.onSent(event.timeNs, flowHash(event.flow), event.digest, 100, 0, 1, null, 0);
            } else {
                final int record = recordOfFlow.getOrDefault(event.flow, SketchRecords.NONE);
                recordOfFlow.put(event.flow, pair.onReceived(
                    event.timeNs, flowHash(event.flow), event.digest, 100, 0, 1, event.flow, record));
                tickets.put(event.digest, pair.receiver().ticket());
            }
        }
        events.clear();
        return this;
    }

    /** A flow ends, its next packet begins another record; true if its record waits. */
    boolean end(final int flow) {
        entry.putInt(0, flow);
        final int record = recordOfFlow.remove(flow);
        final boolean waits = pair.receiver().waits(record, entry, 0);
        if (!waits) {
            pair.receiver().done(record);
        }
        return waits;
    }

    SketchRecords records() {
        return pair.receiver().records();
    }

    int record(final int flow) {
        return recordOfFlow.get(flow);
    }

    SketchCounters counters() {
        return pair.receiver().counters();
    }

    boolean isAccountedFor() {
        return counters().unexplainedSent() == 0 && counters().unexplainedReceived() == 0 &&
            counters().unexplainedRecords() == 0;
    }
}
