package io.flowlag.exporter.delay;

import io.flowlag.exporter.config.ExporterConfig;
import io.flowlag.rli.receiver.RliReceiver;
import org.agrona.DirectBuffer;

import java.util.function.ObjLongConsumer;

/** Interpolation between references. This class interpolates nothing: its hooks do nothing. */
class PacketInterpolation {
    /** {@return whether packets are interpolated} */
    boolean isOn() {
        return false;
    }

    /** {@return the receiver of references, for its statistics; null if nothing is interpolated} */
    RliReceiver receiver() {
        return null;
    }

    /** Prefetches what the next packets need. */
    long touch(final DirectBuffer descriptors, final int offset, final int count) {
        return 0;
    }

    void onSent(final DirectBuffer descriptor, final int offset) {
    }

    /** A packet of the segment passed the receiver point; the ticket is of the sketches, for its estimate. */
    void onReceived(final DirectBuffer descriptor, final int offset, final int slot, final int stream, final long ticket) {
    }

    /** Packets of the first sender that waited, with their tickets. */
    void onReceived(final PendingPackets packets, final TrafficClasses classes) {
    }

    void onReference(
        final int stream, final int sequenceNumber, final long sentNs, final long arrivalNs, final int lengthBytes) {
    }

    void onSendTime(final int stream, final int sequenceNumber, final long sentNs) {
    }

    /** {@return whether there is room for send times of a sender; they wait in the exchange's queue until then} */
    boolean hasRoom(final int senderIndex) {
        return false;
    }

    /** Takes a send time from the exchange, see {@link ReceiverLink.SendTimeHandler}; returns whether it is of use. */
    boolean onShipped(final int senderIndex, final boolean isPassive, final long key, final long sentNs) {
        return false;
    }

    void settings(final ExporterConfig.Rli rli) {
    }

    void onTime(final long capturedNs) {
    }

    void onTimeSetBack() {
    }

    void onEnd() {
    }

    /** Shows the counters of packets that stand in for references. Any thread. */
    void counters(final ObjLongConsumer<String> consumer) {
    }
}
