package io.flowlag.exporter.delay.interval;

import io.flowlag.common.counter.CounterSet;
import io.flowlag.exporter.delay.interval.records.IntervalSettings;
import io.flowlag.exporter.delay.interval.records.SenderAnswer;
import io.flowlag.exporter.delay.interval.records.SketchCounter;
import io.flowlag.exporter.delay.interval.records.SketchedPacket;

/**
 * The sender point in the same process as its receiver point: answers at once. Packet timestamps drive its time; packets of both
 * points arrive in time order. The metering thread owns it. Allocates at construction.
 */
public final class LocalSender implements SenderAnswers {
    private final IntervalPoint point;
    private final long maximumDelayNs;
    private final long guardNs;
    private IntervalReceiver receiver;
    private CounterSet<SketchCounter> counters;
    private long firstSentNs;
    private long firstReceivedNs;
    private long earlierLate;
    private long earlierUnsketched;

    /**
     * Creates a point without packets.
     *
     * @param fromNs end of the previous sender point; Long.MAX_VALUE for the first one.
     */
    public LocalSender(final IntervalSettings settings, final long fromNs) {
        point = new IntervalPoint(settings, false);
        maximumDelayNs = settings.times().maximumDelayNs();
        guardNs = settings.times().guardNs();
        firstSentNs = fromNs;
        firstReceivedNs = fromNs;
    }

    /**
     * Connects the receiver point; before the first packet.
     *
     * @param newReceiver receives the answers of this point.
     */
    public LocalSender join(final IntervalReceiver newReceiver) {
        receiver = newReceiver;
        counters = newReceiver.counters();
        return this;
    }

    /** Continues the counts of refused packets of the previous sender point. */
    public void follow() {
        earlierLate = counters.get(SketchCounter.SENT_LATE);
        earlierUnsketched = counters.get(SketchCounter.SENT_UNSKETCHED);
    }

    /** Ends the batch of packets announced by {@link #touch}; another follows. */
    public void expectOthers() {
        final PointInterval newest = point.intervals().newestOpen();
        if (newest != null) {
            newest.expectOthers();
        }
    }

    /**
     * Prefetches the data of the newest interval that a packet needs, except its cells, which {@link #touchExpected} prefetches.
     * Returns what was read; the caller must keep it, or the compiler removes the reads.
     */
    public long touch(final long flowHash, final long digest) {
        final PointInterval newest = point.intervals().newestOpen();
        return newest == null ? 0 : newest.touch(flowHash, digest);
    }

    /** Prefetches the cells of all packets of {@link #touch}. */
    public long touchExpected() {
        final PointInterval newest = point.intervals().newestOpen();
        return newest == null ? 0 : newest.touchExpected();
    }

    /** Adds a packet of the segment at the sender point. */
    public void onSent(final SketchedPacket packet) {
        final long timestampNs = packet.timestampNs();
        if (timestampNs >= receiver.nextEventNs()) {
            receiver.onTime(timestampNs);
        }
        if (firstSentNs == Long.MAX_VALUE && firstReceivedNs != Long.MAX_VALUE && timestampNs - firstReceivedNs > guardNs) {
            receiver.cutFirst();
        }
        firstSentNs = Math.min(firstSentNs, timestampNs);
        counters.increment(SketchCounter.SENT);
        if (point.onPacket(packet)) {
            counters.increment(SketchCounter.SENT_BOOKED);
        } else {
            receiver.onStraggler();
            counters.set(SketchCounter.SENT_LATE, earlierLate + point.intervals().latePackets());
            counters.set(SketchCounter.SENT_UNSKETCHED, earlierUnsketched + point.intervals().unsketchedPackets());
        }
    }

    /** Counts a packet of the segment without a digest; it enters no sketch. */
    public void onSentWithoutDigest() {
        counters.increment(SketchCounter.SENT);
        counters.increment(SketchCounter.SENT_WITHOUT_DIGEST);
    }

    @Override
    public void onFirstReceived(final long timestampNs) {
        if (firstReceivedNs == Long.MAX_VALUE) {
            firstReceivedNs = timestampNs;
            if (firstSentNs != Long.MAX_VALUE && timestampNs - firstSentNs > maximumDelayNs) {
                receiver.cutFirst();
            }
        }
    }

    @Override
    public void advance(final long timestampNs) {
        point.advance(timestampNs);
    }

    @Override
    public void onOwnLoss(final long timestampNs) {
        point.onOwnLoss(timestampNs);
    }

    @Override
    public SenderAnswer take(final long intervalNumber) {
        return point.take(intervalNumber);
    }

    @Override
    public boolean isExpected(final long intervalNumber) {
        return false;
    }

    @Override
    public void giveBack(final SenderAnswer answer) {
        point.giveBack(answer);
    }

    @Override
    public void restart() {
        point.restart();
    }
}
