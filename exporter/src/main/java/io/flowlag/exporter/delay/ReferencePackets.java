package io.flowlag.exporter.delay;

import org.agrona.DirectBuffer;

import java.util.function.ObjLongConsumer;

/** Packets of the traffic that stand in for references. This class has none: references are packets of their own. */
class ReferencePackets {
    /** Prefetches what the next packets need. */
    long touch(final DirectBuffer descriptors, final int offset, final int count) {
        return 0;
    }

    /** A packet at the sender point of this process. */
    void onSent(final DirectBuffer descriptor, final int offset) {
    }

    /** A packet of a flow at the receiver point, after it was interpolated. */
    void onReceived(final DirectBuffer descriptor, final int offset, final int slot, final int streamIndex) {
    }

    /** Packets of flows of the first sender. */
    final void onReceived(final PendingPackets packets, final TrafficClasses classes) {
        for (int i = 0; isOn() && i < packets.count(); i++) {
            final int offset = packets.offset(i);
            onReceived(packets.descriptors(), offset, packets.slot(i), classes.of(packets.descriptors(), offset));
        }
    }

    /** {@return whether packets of the traffic matter} */
    boolean isOn() {
        return false;
    }

    /** {@return whether both points choose them, and they are the references} */
    boolean isPassive() {
        return false;
    }

    /** {@return whether send times of passive packets are of use here, or those of injected references} */
    boolean uses(final boolean isPassive) {
        return !isPassive;
    }

    /** {@return whether there is room for send times of a sender; they wait in the exchange's queue until then} */
    boolean hasRoom(final int senderIndex) {
        return true;
    }

    /** A send time of the sender point, from the exchange: by this host's clock, if delays are corrected, and as it came. */
    void onSendTime(final int senderIndex, final long digest, final long sentNs, final long shippedNs) {
    }

    void onTime(final long nowNs) {
    }

    void onTimeSetBack() {
    }

    /** Shows every counter. Any thread. */
    void counters(final ObjLongConsumer<String> consumer) {
    }
}
