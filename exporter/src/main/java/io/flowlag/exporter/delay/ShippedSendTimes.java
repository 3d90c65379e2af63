package io.flowlag.exporter.delay;

import io.flowlag.rli.receiver.RliReceiver;

import java.util.function.ObjLongConsumer;

/**
 * Distributes send times of the exchange: those of injected references go to the interpolation, which also accepts a follow-up
 * for them, and those of regular packets to the policy passive. The metering thread owns it; counters may be read by any.
 * Allocates at construction.
 */
final class ShippedSendTimes {
    private final ReceiverLink link;
    private final RliReceiver receiver;
    private final PassiveStage passive;
    private final int senderCount;
    private final int classCount;
    private final ReceiverLink.SendTimeHandler handler = this::onSendTime;
    private volatile long usedCount;
    private volatile long unusedCount;

    /**
     * None yet.
     *
     * @param receiver   takes those of injected references.
     * @param passive    takes those of regular packets; null if the policy is another.
     * @param classCount of the traffic: a sender numbers its streams by class.
     */
    ShippedSendTimes(
        final ReceiverLink link, final RliReceiver receiver, final PassiveStage passive, final int senderCount,
        final int classCount) {
        this.senderCount = senderCount;
        this.classCount = classCount;
        this.link = link;
        this.receiver = receiver;
        this.passive = passive;
    }

    /** Takes send times while there is room. Send times ahead of this point's packets wait in the exchange's queue. */
    int poll() {
        int count = 0;
        for (int i = 0; i < senderCount; i++) {
            if (passive == null || passive.hasRoom(i)) {
                count += link.takeSendTimes(i, handler);
            }
        }
        return count;
    }

    private void onSendTime(final int senderIndex, final boolean isPassive, final long key, final long sentNs) {
        if (isPassive && passive != null) {
            passive.onSendTime(senderIndex, key, sentNs);
            usedCount = usedCount + 1;
        } else if (!isPassive && passive == null && key >>> Integer.SIZE < classCount) {
            receiver.onSendTime(senderIndex * classCount + (int)(key >>> Integer.SIZE), (int)key, sentNs);
            usedCount = usedCount + 1;
        } else {
            unusedCount = unusedCount + 1;
        }
    }

    /** Shows every counter. Any thread. */
    void counters(final ObjLongConsumer<String> consumer) {
        consumer.accept("send_times_used", usedCount);
        consumer.accept("send_times_unused", unusedCount);
    }
}
