package io.flowlag.exporter.delay;

import io.flowlag.exporter.config.ExporterConfig;
import io.flowlag.rli.receiver.RliReceiver;
import org.agrona.DirectBuffer;

import java.util.function.ObjLongConsumer;

/** Interpolation between references. This class interpolates nothing: its hooks do nothing. */
class Interpolation {
    /** {@return whether packets are interpolated} */
    boolean isOn() {
        return false;
    }

    /** {@return the receiver of references, for its statistics; null if nothing is interpolated} */
    RliReceiver receiver() {
        return null;
    }

    /** Prefetches what the next packets need; returns octets of them, so that the reads stay. */
    long touch(final DirectBuffer descriptors, final int offset, final int count) {
        return 0;
    }

    /** A packet of the segment passed the sender point of this process. */
    void onSent(final DirectBuffer descriptor, final int offset) {
    }

    /**
     * A packet of the segment passed the receiver point.
     *
     * @param ticket of the sketches for the estimate of its delay.
     */
    void onReceived(final DirectBuffer descriptor, final int offset, final int slot, final int stream, final long ticket) {
    }

    /** Packets of the first sender that waited, with their tickets. */
    void onReceived(final PendingPackets packets, final TrafficClasses classes) {
    }

    /** A reference arrived. */
    void onReference(
        final int stream, final int sequenceNumber, final long sentNs, final long arrivalNs, final int lengthBytes) {
    }

    /** The effective send time of a reference. */
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

    /** Takes over settings that may change while packets pass. */
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
