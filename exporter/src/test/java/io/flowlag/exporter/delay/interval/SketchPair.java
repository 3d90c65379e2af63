package io.flowlag.exporter.delay.interval;

import io.flowlag.exporter.delay.interval.compare.IntervalHandler;
import io.flowlag.exporter.delay.interval.records.IntervalSettings;
import io.flowlag.exporter.delay.interval.records.SketchedPacket;
import io.flowlag.exporter.delay.interval.records.UnseenFlowHandler;
import io.flowlag.exporter.delay.interval.records.WaitedRecordHandler;

/** Both points of a segment in one process, for tests. */
public final class SketchPair {
    private final LocalSender sender;
    private final IntervalReceiver receiver;

    /** Creates points without packets. */
    public SketchPair(
        final IntervalSettings settings, final int entryLengthBytes, final WaitedRecordHandler recordHandler,
        final IntervalHandler intervalHandler, final UnseenFlowHandler unseenHandler) {
        sender = new LocalSender(settings, Long.MAX_VALUE);
        receiver = new IntervalReceiver(settings, sender, entryLengthBytes, recordHandler, intervalHandler, unseenHandler);
        sender.join(receiver);
    }

    /** Creates points that take over the records of others. */
    SketchPair(
        final IntervalSettings settings, final SketchPair predecessor, final long fromNs, final IntervalHandler intervalHandler) {
        sender = new LocalSender(settings, fromNs);
        receiver = new IntervalReceiver(settings, sender, predecessor.receiver, intervalHandler);
        sender.join(receiver);
    }

    void follow(final SketchPair predecessor, final long fromNs) {
        receiver.follow(predecessor.receiver, fromNs, true);
        sender.follow();
    }

    public void onSent(final SketchedPacket packet) {
        sender.onSent(packet);
    }

    public int onReceived(final SketchedPacket packet, final int slot, final int record) {
        return receiver.onPacket(packet, slot, record);
    }

    public void onTime(final long timestampNs) {
        if (timestampNs >= receiver.nextEventNs()) {
            receiver.onTime(timestampNs);
        }
    }

    void onOwnLoss(final long timestampNs) {
        receiver.onOwnLoss(timestampNs);
    }

    void restart() {
        receiver.restart();
    }

    public void onEnd() {
        receiver.onEnd();
    }

    IntervalReceiver receiver() {
        return receiver;
    }
}
