package io.flowlag.exporter.delay;

import io.flowlag.exporter.decode.PacketDescriptor;
import io.flowlag.rli.receiver.RliReceiver;
import org.agrona.DirectBuffer;

/**
 * Packets of the traffic that the sender point marks as references by a policy; the receiver point recognises them by digest.
 * Both points are in this process. The metering thread owns it. Allocates at construction.
 */
final class MarkedStage extends ReferencePackets {
    private static final int CAPACITY = 64 * 1024;

    private final RliReceiver receiver;
    private final MarkedReferences marked;
    private final EarlyArrivals early;

    /** Nothing marked yet; the receiver takes the references. */
    MarkedStage(final RliReceiver receiver, final int classCount, final long maximumDelayNs) {
        this.receiver = receiver;
        marked = new MarkedReferences(CAPACITY, classCount, maximumDelayNs);
        early = new EarlyArrivals(maximumDelayNs);
    }

    /** {@return octets, by formula} */
    static long memoryBytes() {
        return MarkedReferences.memoryBytes(CAPACITY) + EarlyArrivals.memoryBytes();
    }

    @Override
    long touch(final DirectBuffer descriptors, final int offset, final int count) {
        long octets = 0;
        for (int i = 0; i < count; i++) {
            octets += early.touch(PacketDescriptor.digest(descriptors, offset + i * PacketDescriptor.LENGTH_BYTES));
        }
        return octets;
    }

    /**
     * A reference of a class is due, drawn among so many packets. A packet that arrives when a timer expires is not typical: the
     * gap before it is longer than most, so the queue before it is shorter. The timer's reference is therefore drawn among the
     * next packets; one that the packet count names is marked at once.
     */
    void due(final int classIndex, final long packets) {
        marked.due(classIndex, packets);
    }

    /** A packet passed the sender point, after {@link #due} if it is due: marks it if it is the next reference. */
    void onScheduled(final DirectBuffer descriptor, final int offset, final int classIndex) {
        final boolean isNext = marked.isNext(classIndex);
        if (!CurrentSegment.hasDigest(descriptor, offset)) {
            return;
        }
        final long digest = PacketDescriptor.digest(descriptor, offset);
        final long sentNs = PacketDescriptor.timestampNs(descriptor, offset);
        final int arrived = early.onSent(digest, sentNs);
        if (isNext && arrived >= 0) {
            receiver.stream(classIndex).onReference(
                marked.markArrived(classIndex), sentNs, early.arrivalNs(arrived), early.lengthBytes(arrived));
        } else if (isNext) {
            marked.mark(classIndex, digest, sentNs);
        }
    }

    @Override
    void onReceived(final DirectBuffer descriptor, final int offset, final int slot, final int streamIndex) {
        if (CurrentSegment.hasDigest(descriptor, offset)) {
            take(descriptor, offset);
        }
    }

    private void take(final DirectBuffer descriptor, final int offset) {
        final long digest = PacketDescriptor.digest(descriptor, offset);
        final long arrivalNs = PacketDescriptor.timestampNs(descriptor, offset);
        final int lengthBytes = PacketDescriptor.wireLengthBytes(descriptor, offset);
        final long position = marked.take(digest);
        if (position != MarkedReferences.NONE) {
            receiver.stream(marked.stream(position)).onReference(
                marked.number(position), marked.sentNs(position), arrivalNs, lengthBytes);
        }
        early.onReceived(digest, arrivalNs, lengthBytes);
    }
}
