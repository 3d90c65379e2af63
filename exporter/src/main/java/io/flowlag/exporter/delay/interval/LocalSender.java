package io.flowlag.exporter.delay.interval;

import io.flowlag.common.counter.CounterSet;
import io.flowlag.exporter.decode.PacketDescriptor;
import io.flowlag.exporter.delay.interval.records.IntervalSettings;
import io.flowlag.exporter.delay.interval.records.SketchCounter;
import io.flowlag.exporter.delay.interval.records.SketchedPacket;
import org.agrona.DirectBuffer;

/**
 * The sender point in the same process as its receiver point: answers at once. Packet timestamps drive its time; packets of both
 * points arrive in time order. The metering thread owns it. Allocates at construction.
 */
public final class LocalSender extends IntervalPoint {
    /** The index of the point's source. */
    private static final int SENDER_POINT = 0;

    private final long maximumDelayNs;
    private final long guardNs;
    private IntervalReceiver receiver;
    private CounterSet<SketchCounter> counters;
    private long firstSentNs;
    private long firstReceivedNs;
    private long earlierLate;
    private long earlierUnsketched;

    /** Creates a point without packets, from the end of the previous sender point on; Long.MAX_VALUE for the first one. */
    public LocalSender(final IntervalSettings settings, final long fromNs) {
        super(settings, false);
        maximumDelayNs = settings.times().maximumDelayNs();
        guardNs = settings.times().guardNs();
        firstSentNs = fromNs;
        firstReceivedNs = fromNs;
    }

    /** Connects the receiver point, which receives the answers; before the first packet. */
    public void join(final IntervalReceiver newReceiver) {
        receiver = newReceiver;
        counters = newReceiver.counters();
    }

    @Override
    public void follow() {
        earlierLate = counters.get(SketchCounter.SENT_LATE);
        earlierUnsketched = counters.get(SketchCounter.SENT_UNSKETCHED);
    }

    @Override
    public long touchSent(final DirectBuffer descriptors, final int offset, final int count) {
        long octets = 0;
        expectOthers();
        for (int i = 0; i < count; i++) {
            final int at = offset + i * PacketDescriptor.LENGTH_BYTES;
            if (PacketDescriptor.observationPoint(descriptors, at) == SENDER_POINT) {
                octets += touch(
                    PacketDescriptor.segmentFlowHash(descriptors, at), PacketDescriptor.digest(descriptors, at));
            }
        }
        return octets + touchExpected();
    }

    @Override
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
        if (onPacket(packet)) {
            counters.increment(SketchCounter.SENT_BOOKED);
        } else {
            receiver.onStraggler();
            counters.set(SketchCounter.SENT_LATE, earlierLate + latePackets());
            counters.set(SketchCounter.SENT_UNSKETCHED, earlierUnsketched + unsketchedPackets());
        }
    }

    @Override
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
}
