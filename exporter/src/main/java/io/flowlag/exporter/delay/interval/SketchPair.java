package io.flowlag.exporter.delay.interval;

import io.flowlag.common.counter.CounterSet;
import io.flowlag.exporter.delay.interval.compare.IntervalHandler;
import io.flowlag.exporter.delay.interval.records.IntervalSettings;
import io.flowlag.exporter.delay.interval.records.SketchCounter;
import io.flowlag.exporter.delay.interval.records.SketchRecords;
import io.flowlag.exporter.delay.interval.records.UnseenFlowHandler;
import io.flowlag.exporter.delay.interval.records.WaitedRecordHandler;
import org.agrona.DirectBuffer;

/**
 * Both points of a segment in one process: the sender point answers the receiver point as an exchange would, without the way.
 * Time is the packets', which come from both points in its order. The metering thread owns it. Allocates at construction.
 */
public final class SketchPair {
    private final SketchPoint sender;
    private final SketchReceiver receiver;
    private final CounterSet<SketchCounter> counters;
    private final long maximumDelayNs;
    private final long guardNs;
    private long firstSentNs = Long.MAX_VALUE;
    private long firstReceivedNs = Long.MAX_VALUE;
    private long earlierLate;
    private long earlierUnsketched;

    /**
     * Points that have seen nothing.
     *
     * @param settings         concluded; the deadline is not used.
     * @param entryLengthBytes of a flow in the cache.
     * @param recordHandler    takes records that have waited.
     * @param intervalHandler  is told of each interval.
     * @param unseenHandler    is told of flows that only the sender point saw, where packets are reconciled.
     */
    public SketchPair(
        final IntervalSettings settings,
        final int entryLengthBytes,
        final WaitedRecordHandler recordHandler,
        final IntervalHandler intervalHandler,
        final UnseenFlowHandler unseenHandler) {
        sender = new SketchPoint(settings, false);
        receiver = new SketchReceiver(settings, sender, entryLengthBytes, recordHandler, intervalHandler, unseenHandler);
        counters = receiver.counters();
        maximumDelayNs = settings.times().maximumDelayNs();
        guardNs = settings.times().guardNs();
    }

    /**
     * Points that go on with the records of others, with other sketches.
     *
     * @param settings        concluded; as many flows, records, and packets in flight as the predecessor's.
     * @param predecessor     whose records go on.
     * @param fromNs          when; intervals of both begin then.
     * @param intervalHandler is told of each interval.
     */
    public SketchPair(
        final IntervalSettings settings, final SketchPair predecessor, final long fromNs, final IntervalHandler intervalHandler) {
        sender = new SketchPoint(settings, false);
        receiver = new SketchReceiver(settings, sender, predecessor.receiver, intervalHandler);
        counters = receiver.counters();
        maximumDelayNs = settings.times().maximumDelayNs();
        guardNs = settings.times().guardNs();
        firstSentNs = fromNs;
        firstReceivedNs = fromNs;
    }

    /**
     * Memory of both points, by formula.
     *
     * @param settings         sizes.
     * @param entryLengthBytes of a flow in the cache.
     * @return octets.
     */
    public static long bytes(final IntervalSettings settings, final int entryLengthBytes) {
        return SketchPoint.bytes(settings, false) + SketchReceiver.bytes(settings, entryLengthBytes);
    }

    /**
     * The predecessor's time is over.
     *
     * @param fromNs when.
     */
    public void follow(final long fromNs) {
        sender.advance(fromNs);
        receiver.follow(fromNs, true);
        earlierLate = counters.get(SketchCounter.SENT_LATE);
        earlierUnsketched = counters.get(SketchCounter.SENT_UNSKETCHED);
    }

    /** The packets of {@link #expectSent} have come; others will be told. */
    public void expectOthersSent() {
        final PointInterval newest = sender.intervals().newestOpen();
        if (newest != null) {
            newest.expectOthers();
        }
    }

    /**
     * Reads of the sender's newest interval what a packet needs, so that it is in the processor's cache when it comes; but for
     * its cells, which {@link #touchSent} reads.
     *
     * @param flowHash of its flow.
     * @param digest   of the packet.
     * @return what was read, for the caller to keep, or the compiler would leave the reading out.
     */
    public long expectSent(final long flowHash, final long digest) {
        final PointInterval newest = sender.intervals().newestOpen();
        return newest == null ? 0 : newest.touch(flowHash, digest);
    }

    /**
     * Reads the cells of all packets of {@link #expectSent}.
     *
     * @return what was read.
     */
    public long touchSent() {
        final PointInterval newest = sender.intervals().newestOpen();
        return newest == null ? 0 : newest.touchExpected();
    }

    /**
     * A packet of the segment at the sender point.
     *
     * @param timestampNs at that point.
     * @param flowHash    of its flow.
     * @param digest      of the packet.
     * @param lengthBytes of the packet.
     * @param classIndex  of its traffic class.
     * @param weight      of its flow, at least 1.
     * @param descriptor  of the packet, for the sums of its flow; null if nobody asks for its addresses.
     * @param offset      of the descriptor.
     */
    public void onSent(
        final long timestampNs, final long flowHash, final long digest, final int lengthBytes, final int classIndex,
        final int weight, final DirectBuffer descriptor, final int offset) {
        onTime(timestampNs);
        if (firstSentNs == Long.MAX_VALUE && firstReceivedNs != Long.MAX_VALUE && timestampNs - firstReceivedNs > guardNs) {
            receiver.cutFirst();
        }
        firstSentNs = Math.min(firstSentNs, timestampNs);
        counters.increment(SketchCounter.SENT);
        if (sender.onPacket(timestampNs, flowHash, digest, lengthBytes, classIndex, weight, descriptor, offset)) {
            counters.increment(SketchCounter.SENT_BOOKED);
        } else {
            receiver.onStraggler();
            counters.set(SketchCounter.SENT_LATE, earlierLate + sender.intervals().latePackets());
            counters.set(SketchCounter.SENT_UNSKETCHED, earlierUnsketched + sender.intervals().unsketchedPackets());
        }
    }

    /** A packet of the segment without a digest at the sender point: no sketch can take it. */
    public void onSentWithoutDigest() {
        counters.increment(SketchCounter.SENT);
        counters.increment(SketchCounter.SENT_WITHOUT_DIGEST);
    }

    /**
     * A packet of the segment at the receiver point.
     *
     * @param timestampNs at that point.
     * @param flowHash    of its flow.
     * @param digest      of the packet.
     * @param lengthBytes of the packet.
     * @param classIndex  of its traffic class.
     * @param weight      of its flow, at least 1.
     * @param slot        of its flow in the cache.
     * @param record      what this returned for the flow's last packet, or {@link SketchRecords#NONE}.
     * @return index of what the sketches say of the flow's record; {@link SketchRecords#NONE} without room.
     */
    public int onReceived(
        final long timestampNs, final long flowHash, final long digest, final int lengthBytes, final int classIndex,
        final int weight, final int slot, final int record) {
        onTime(timestampNs);
        if (firstReceivedNs == Long.MAX_VALUE) {
            firstReceivedNs = timestampNs;
            if (firstSentNs != Long.MAX_VALUE && timestampNs - firstSentNs > maximumDelayNs) {
                receiver.cutFirst();
            }
        }
        return receiver.onPacket(timestampNs, flowHash, digest, lengthBytes, classIndex, weight, slot, record);
    }

    /**
     * Time has passed.
     *
     * @param timestampNs since the epoch; all packets before it have come.
     */
    public void onTime(final long timestampNs) {
        if (timestampNs >= receiver.nextEventNs()) {
            receiver.onTime(timestampNs);
            sender.advance(timestampNs);
        }
    }

    /**
     * This process lost packets, at one point or the other.
     *
     * @param timestampNs up to when.
     */
    public void onOwnLoss(final long timestampNs) {
        sender.onOwnLoss(timestampNs);
        receiver.onOwnLoss(timestampNs);
    }

    /** The clock was set back, and the run before is over; {@link SketchReceiver#restart}. */
    public void restart() {
        receiver.restart();
    }

    /** The input has ended: every interval is compared as far as it was seen. */
    public void onEnd() {
        receiver.onEnd();
    }

    /** {@return the receiver point} */
    public SketchReceiver receiver() {
        return receiver;
    }
}
