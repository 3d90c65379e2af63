package io.flowlag.exporter.delay.interval;

import io.flowlag.common.counter.CounterSet;
import io.flowlag.common.hash.KeyedMix;
import io.flowlag.exporter.decode.PacketDescriptor;
import io.flowlag.exporter.delay.interval.compare.IntervalAnswer;
import io.flowlag.exporter.delay.interval.records.FlowSumPairs;
import io.flowlag.exporter.delay.interval.records.IntervalSettings;
import io.flowlag.exporter.delay.interval.records.SketchCounter;
import io.flowlag.exporter.delay.interval.records.SketchRecords;
import io.flowlag.exporter.delay.interval.records.SketchedPacket;
import io.flowlag.exporter.delay.interval.records.WaitedRecordHandler;
import io.flowlag.sketch.reconcile.AggregateEstimate;
import org.agrona.MutableDirectBuffer;
import org.agrona.concurrent.UnsafeBuffer;

import java.util.ArrayList;
import java.util.Comparator;
import java.util.HashMap;
import java.util.List;
import java.util.Map;

/** Packets of flows, handed to both points of a {@link SketchPair} in the order of time; a flow's slot is its number. */
final class TwoPoints implements WaitedRecordHandler {
    static final long START_NS = 1_700_000_000_000_000_000L;
    static final int ENTRY_LENGTH_BYTES = 64;

    /** A packet at one point, or an estimate of its delay. */
    private record Event(long timeNs, Kind kind, int flow, long digest, long estimateNs, int classIndex) {
        private Event(final long timeNs, final Kind kind, final int flow, final long digest, final long estimateNs) {
            this(timeNs, kind, flow, digest, estimateNs, 0);
        }
    }

    /** The result of reconciling a class in an interval; null where unknown. */
    record ClassSummary(long number, int classIndex, Long lost, Long unexpected, Double meanNs, boolean isExact, double samples) {
    }

    private enum Kind {
        SENT, RECEIVED, ESTIMATED
    }

    final List<IntervalSummary> intervals = new ArrayList<>();
    final List<ClassSummary> classes = new ArrayList<>();
    final Map<Integer, Integer> completed = new HashMap<>();
    /** Lost packets of flows that only the sender point saw. */
    final Map<Integer, Long> unseen = new HashMap<>();
    final List<JointRecord> jointRecords = new ArrayList<>();
    final Map<Integer, Integer> recordOfFlow = new HashMap<>();
    private final SketchedPacket packet = new SketchedPacket();
    private final Map<Long, Long> tickets = new HashMap<>();
    final Map<Long, Long> witnessPackets = new HashMap<>();
    final Map<Long, Long> witnessDelaysNs = new HashMap<>();
    SketchPair pair;
    private SketchPair next;
    private SketchPair older;
    private long changeNs;
    private long maximumDelayNs;
    private int weight = 1;
    private int nextWeight;
    final List<RecordLoss> losses = new ArrayList<>();
    private final int classCount;
    private int endedCount;
    private final List<Event> events = new ArrayList<>();
    private final UnsafeBuffer entry = new UnsafeBuffer(new byte[ENTRY_LENGTH_BYTES]);
    private final UnsafeBuffer descriptor = new UnsafeBuffer(new byte[PacketDescriptor.LENGTH_BYTES]);
    private long nextDigest;

    /** A copy of an interval's results. */
    record IntervalSummary(
        long number, boolean isDamaged, boolean isCut, int usableCells, int occupiedCells, Long lostPackets, Long unexplained) {
    }

    /** A record that waited; the bound is NaN if there is none. */
    record JointRecord(int flow, long meanNs, double boundNs) {
    }

    /** The loss of a record, if known; numbered by the order in which flows ended. */
    record RecordLoss(int number, boolean isKnown, boolean isExact, long lostPackets) {
    }

    private RecordLoss loss(final int number, final int record) {
        return new RecordLoss(number, records().hasLoss(record), records().isLossExact(record), records().lostPackets(record));
    }

    TwoPoints(final SettingsBuilder builder) {
        final IntervalSettings settings = builder.build();
        classCount = settings.cells().classCount();
        pair = new SketchPair(settings, ENTRY_LENGTH_BYTES, this, this::onInterval,
            (sent, row, startNs, endNs) -> unseen.merge((int)sent.sourceLow(row), sent.packets(row), Long::sum));
    }

    private void onInterval(final IntervalAnswer answer) {
        final FlowSumPairs pairs = answer.flowSums();
        for (int row = 0; row < pairs.count(); row++) {
            if (pairs.sent().isWitness(row) && pairs.agreement(row) == FlowSumPairs.Agreement.SAME_PACKETS) {
                witnessPackets.merge(pairs.sent().flowHash(row), pairs.sent().packets(row), Long::sum);
                witnessDelaysNs.merge(pairs.sent().flowHash(row), pairs.delaySumNs(row), Long::sum);
            }
        }
        for (int i = 0; i < classCount; i++) {
            addClass(answer, i);
        }
        intervals.add(new IntervalSummary(
            answer.number(), answer.isDamaged(), answer.isCut(), answer.usableCells(), answer.occupiedCells(),
            answer.hasLoss() ? answer.lostPackets() : null,
            answer.hasUnexplainedLoss() ? answer.unexplainedLostPackets() : null));
    }

    private void addClass(final IntervalAnswer answer, final int classIndex) {
        final AggregateEstimate estimate = answer.reconciled(classIndex);
        if (estimate != null) {
            classes.add(new ClassSummary(
                answer.number(), classIndex, estimate.hasLoss() ? estimate.lostPackets() : null,
                estimate.hasLoss() ? estimate.unexpectedPackets() : null, estimate.hasMean() ? estimate.meanNs() : null,
                estimate.exact(), estimate.samples()));
        }
    }

    @Override
    public void onRecord(final MutableDirectBuffer buffer, final int offset, final int lengthBytes, final int record) {
        final int flow = buffer.getInt(offset);
        completed.merge(flow, 1, Integer::sum);
        losses.add(loss(buffer.getInt(offset + Integer.BYTES), record));
        if (records().hasJointMean(record)) {
            jointRecords.add(new JointRecord(flow, records().jointMeanNs(record), jointBoundNs(record)));
        }
    }

    static long flowHash(final int flow) {
        return KeyedMix.mix(flow, 77);
    }

    /** Adds a packet that arrives. */
    TwoPoints packet(final int flow, final long sentNs, final long delayNs) {
        return packet(flow, sentNs, delayNs, KeyedMix.mix(++nextDigest, 5));
    }

    TwoPoints packet(final int flow, final long sentNs, final long delayNs, final long digest) {
        events.add(new Event(START_NS + sentNs, Kind.SENT, flow, digest, 0));
        events.add(new Event(START_NS + sentNs + delayNs, Kind.RECEIVED, flow, digest, 0));
        return this;
    }

    /** Adds a packet with a traffic class at the sender point, and another or the same one at the receiver point. */
    TwoPoints packet(final int flow, final long sentNs, final long delayNs, final int sentClass, final int receivedClass) {
        final long digest = KeyedMix.mix(++nextDigest, 5);
        events.add(new Event(START_NS + sentNs, Kind.SENT, flow, digest, 0, sentClass));
        events.add(new Event(START_NS + sentNs + delayNs, Kind.RECEIVED, flow, digest, 0, receivedClass));
        return this;
    }

    /** Adds a packet of a class that does not arrive. */
    TwoPoints lostOfClass(final int flow, final long sentNs, final int sentClass) {
        events.add(new Event(START_NS + sentNs, Kind.SENT, flow, KeyedMix.mix(++nextDigest, 5), 0, sentClass));
        return this;
    }

    /** Adds an estimate of the last packet's delay, some time after its arrival. */
    TwoPoints estimated(final long estimateNs, final long lagNs) {
        final Event last = events.get(events.size() - 1);
        events.add(new Event(last.timeNs + lagNs, Kind.ESTIMATED, last.flow, last.digest, estimateNs));
        return this;
    }

    /** Adds a packet that does not arrive. */
    TwoPoints lost(final int flow, final long sentNs) {
        events.add(new Event(START_NS + sentNs, Kind.SENT, flow, KeyedMix.mix(++nextDigest, 5), 0));
        return this;
    }

    TwoPoints lost(final int flow, final long sentNs, final long digest) {
        events.add(new Event(START_NS + sentNs, Kind.SENT, flow, digest, 0));
        return this;
    }

    /** Switches both points to other sketches, and flows to another weight, at a time. */
    TwoPoints change(final SettingsBuilder builder, final long fromNs, final int newWeight) {
        changeNs = START_NS + fromNs;
        final IntervalSettings settings = builder.build();
        maximumDelayNs = settings.times().maximumDelayNs();
        nextWeight = newWeight;
        next = new SketchPair(settings, pair, changeNs, this::onInterval);
        return this;
    }

    private void changeOver(final long timeNs) {
        if (next != null && timeNs >= changeNs) {
            older = pair;
            pair = next;
            next = null;
            pair.follow(older, changeNs);
        }
        if (older != null) {
            older.onTime(timeNs);
            if (older.receiver().isOver()) {
                older.receiver().retire();
                older = null;
            }
        }
    }

    void onEnd() {
        if (older != null) {
            older.onEnd();
        }
        pair.onEnd();
    }

    /** Adds a packet that arrives without having been sent. */
    TwoPoints unexpected(final int flow, final long receivedNs) {
        events.add(new Event(START_NS + receivedNs, Kind.RECEIVED, flow, KeyedMix.mix(++nextDigest, 5), 0));
        return this;
    }

    /** Adds another copy of a packet. */
    TwoPoints copied(final int flow, final long receivedNs, final long digest) {
        events.add(new Event(START_NS + receivedNs, Kind.RECEIVED, flow, digest, 0));
        return this;
    }

    /** Passes all pending events to the points, in the order of time. */
    TwoPoints pass() {
        return passUntil(Long.MAX_VALUE - START_NS);
    }

    /** Passes all events before a time to the points. */
    TwoPoints passUntil(final long untilNs) {
        events.sort(Comparator.comparingLong(Event::timeNs));
        final List<Event> due = events.stream().takeWhile((each) -> each.timeNs < START_NS + untilNs).toList();
        for (final Event event : due) {
            changeOver(event.timeNs);
            final int flowWeight = changeNs != 0 && event.timeNs >= changeNs ? nextWeight : weight;
            if (event.kind == Kind.ESTIMATED) {
                pair.onTime(event.timeNs);
                pair.receiver().onEstimate(tickets.get(event.digest), event.estimateNs, 0, 0);
            } else if (event.kind == Kind.SENT) {
                PacketDescriptor.ipVersion(descriptor, 0, 4);
                PacketDescriptor.sourceLow(descriptor, 0, event.flow);
                PacketDescriptor.timestampNs(descriptor, 0, event.timeNs);
                PacketDescriptor.segmentFlowHash(descriptor, 0, flowHash(event.flow));
                PacketDescriptor.digest(descriptor, 0, event.digest);
                PacketDescriptor.ipLengthBytes(descriptor, 0, 100);
                pair.onSent(packet.wrap(descriptor, 0, event.classIndex, flowWeight));
            } else {
                final int record = recordOfFlow.getOrDefault(event.flow, SketchRecords.NONE);
                packet.set(event.timeNs, flowHash(event.flow), event.digest, 100, event.classIndex, flowWeight);
                recordOfFlow.put(event.flow, pair.onReceived(packet, event.flow, record));
                tickets.put(event.digest, pair.receiver().ticket());
                if (older != null && event.timeNs - changeNs < maximumDelayNs) {
                    older.receiver().onStraddlingPacket(
                        packet.set(event.timeNs, flowHash(event.flow), event.digest, 100, 0, weight), record(event.flow));
                }
            }
        }
        events.subList(0, due.size()).clear();
        return this;
    }

    /** Ends a flow; its next packet begins another record. Returns whether its record waits. */
    boolean end(final int flow) {
        entry.putInt(0, flow);
        entry.putInt(Integer.BYTES, endedCount);
        final int record = recordOfFlow.remove(flow);
        final boolean waits = pair.receiver().waits(record, entry, 0);
        if (!waits) {
            losses.add(loss(endedCount, record));
            pair.receiver().keeper().done(record);
        }
        endedCount++;
        return waits;
    }

    SketchRecords records() {
        return pair.receiver().records();
    }

    double jointBoundNs(final int record) {
        return records().hasJointBound(record) ? records().jointBoundNs(record) : Double.NaN;
    }

    int record(final int flow) {
        return recordOfFlow.get(flow);
    }

    CounterSet<SketchCounter> counters() {
        return pair.receiver().counters();
    }

    boolean isAccountedFor() {
        return SketchCounter.unexplainedSent(counters()) == 0 && SketchCounter.unexplainedReceived(counters()) == 0 &&
            SketchCounter.unexplainedRecords(counters()) == 0;
    }
}
