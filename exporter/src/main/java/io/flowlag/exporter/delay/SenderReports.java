package io.flowlag.exporter.delay;

import java.util.function.ObjLongConsumer;

/**
 * What the senders of a receiver report over the exchange: the send times of references, for the interpolation, and their clock
 * errors. Without the exchange there are no reports. The metering thread owns it; counters may be read by any. Allocates at
 * construction.
 */
class SenderReports {
    /** Takes send times while there is room, and clock errors. */
    void poll() {
        // there are no reports
    }

    /** Shows every counter. Any thread. */
    void counters(final ObjLongConsumer<String> consumer) {
        // nothing is counted
    }

    /** The reports of senders that are linked. */
    static final class Linked extends SenderReports {
        private final ReceiverLink link;
        private final int senderCount;
        private final PacketInterpolation interpolation;
        private final ClockDifference clocks;
        private final ReceiverLink.SendTimeHandler handler = this::onSendTime;
        private volatile long usedCount;
        private volatile long unusedCount;

        /** None yet. */
        Linked(
            final ReceiverLink link, final int senderCount, final PacketInterpolation interpolation,
            final ClockDifference clocks) {
            this.link = link;
            this.senderCount = senderCount;
            this.interpolation = interpolation;
            this.clocks = clocks;
        }

        @Override
        void poll() {
            for (int i = 0; i < senderCount; i++) {
                if (interpolation.hasRoom(i)) {
                    link.takeSendTimes(i, handler);
                }
            }
            for (int i = 0; i < senderCount; i++) {
                clocks.onSender(i, link.errorEstimate(i));
            }
        }

        private void onSendTime(final int senderIndex, final boolean isPassive, final long key, final long sentNs) {
            final long correctedNs = clocks.estimate(senderIndex).correctedNs(sentNs);
            if (interpolation.onShipped(senderIndex, isPassive, key, correctedNs, sentNs)) {
                usedCount = usedCount + 1;
            } else {
                unusedCount = unusedCount + 1;
            }
        }

        @Override
        void counters(final ObjLongConsumer<String> consumer) {
            if (interpolation.isOn()) {
                consumer.accept("send_times_used", usedCount);
                consumer.accept("send_times_unused", unusedCount);
            }
        }
    }
}
