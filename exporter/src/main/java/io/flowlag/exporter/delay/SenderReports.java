package io.flowlag.exporter.delay;

import io.flowlag.common.memory.OffHeapBuffer;
import org.agrona.concurrent.MessageHandler;
import org.agrona.concurrent.ringbuffer.OneToOneRingBuffer;
import org.agrona.concurrent.ringbuffer.RingBufferDescriptor;

import java.util.List;
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

    /** Passes send times on to other shards; before the first packet. */
    void join(final List<SenderReports> others) {
        // there are no reports
    }

    /** Shows every counter. Any thread. */
    void counters(final ObjLongConsumer<String> consumer) {
        // nothing is counted
    }

    /** The reports of senders that are linked. */
    static final class Linked extends SenderReports {
        static final int QUEUE_BYTES = 1 << 17;
        private static final int KEY_OFFSET = 2 * Integer.BYTES;
        private static final int SENT_OFFSET = KEY_OFFSET + Long.BYTES;
        private static final int LENGTH_BYTES = SENT_OFFSET + Long.BYTES;

        private final ReceiverLink link;
        private final boolean isFirst;
        private final int senderCount;
        private final PacketInterpolation interpolation;
        private final ClockDifference clocks;
        private final ReceiverLink.SendTimeHandler handler = this::onSendTime;
        /** From the first shard. */
        private final OneToOneRingBuffer arrived;
        private final MessageHandler reader = (type, buffer, offset, length) -> onSendTime(
            buffer.getInt(offset), buffer.getInt(offset + Integer.BYTES) == 1, buffer.getLong(offset + KEY_OFFSET),
            buffer.getLong(offset + SENT_OFFSET));
        private Linked[] others = {};
        private volatile long usedCount;
        private volatile long unusedCount;

        /** None yet; the first shard alone takes them from the link. */
        Linked(
            final ReceiverLink link, final boolean isFirst, final int senderCount, final PacketInterpolation interpolation,
            final ClockDifference clocks) {
            this.link = link;
            this.isFirst = isFirst;
            arrived = new OneToOneRingBuffer(OffHeapBuffer.allocate(
                (isFirst ? 1 << 10 : QUEUE_BYTES) + RingBufferDescriptor.TRAILER_LENGTH));
            this.senderCount = senderCount;
            this.interpolation = interpolation;
            this.clocks = clocks;
        }

        @Override
        void poll() {
            for (int i = 0; i < senderCount; i++) {
                if (isFirst && interpolation.hasRoom(i)) {
                    link.takeSendTimes(i, handler);
                }
            }
            arrived.read(reader);
            for (int i = 0; i < senderCount; i++) {
                clocks.onSender(i, link.errorEstimate(i));
            }
        }

        @Override
        void join(final List<SenderReports> shards) {
            others = shards.toArray(new Linked[0]);
        }

        /** A full queue loses it for that shard, as the exchange does. */
        private void pass(
            final OneToOneRingBuffer queue, final int senderIndex, final boolean isPassive, final long key, final long sentNs) {
            final int at = queue.tryClaim(1, LENGTH_BYTES);
            if (at > 0) {
                queue.buffer().putInt(at, senderIndex);
                queue.buffer().putInt(at + Integer.BYTES, isPassive ? 1 : 0);
                queue.buffer().putLong(at + KEY_OFFSET, key);
                queue.buffer().putLong(at + SENT_OFFSET, sentNs);
                queue.commit(at);
            }
        }

        private void onSendTime(final int senderIndex, final boolean isPassive, final long key, final long sentNs) {
            for (final Linked each : others) {
                pass(each.arrived, senderIndex, isPassive, key, sentNs);
            }
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
