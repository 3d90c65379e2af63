package io.flowlag.exporter.delay;

import io.flowlag.exporter.config.ExporterConfig;
import io.flowlag.exporter.decode.PacketDescriptor;
import org.agrona.DirectBuffer;

import java.util.concurrent.atomic.AtomicReference;
import java.util.function.Consumer;

/**
 * The packets and classes of the segment, and the announced change of both. The metering thread owns it; {@link #announce} and
 * {@link #isAnnounced} are safe from any thread. Allocates at construction and where a change is announced.
 */
final class CurrentSegment {
    private final SenderSelector senders;
    private final Consumer<SketchChange> handler;
    private final AtomicReference<Next> announced = new AtomicReference<>();
    private Next next;
    private final SegmentPairs pairs;
    private SegmentSelector selector;
    private TrafficClasses classes;

    /** A change, with what it brings; the lookup is that of several segments between interfaces of this host. */
    private record Next(SketchChange change, SegmentSelector selector, SegmentLookup lookup, TrafficClasses classes) {
    }

    /** The segment as configured; the handler is called when a change takes effect. */
    CurrentSegment(final ExporterConfig config, final SegmentPairs pairs, final Consumer<SketchChange> handler) {
        this.handler = handler;
        this.pairs = pairs;
        senders = new SenderSelector(config.rli().references().senders());
        selector = new SegmentSelector(config.segment().selector(), pairs);
        classes = new TrafficClasses(config.rli().references().classes());
    }

    /** Announces a change; its settings have as many classes as before. */
    void announce(final SketchChange newChange) {
        final ExporterConfig config = newChange.config();
        announced.set(new Next(newChange, new SegmentSelector(config.segment().selector(), pairs),
            SegmentPairs.lookup(config.pairs()), new TrafficClasses(config.rli().references().classes())));
    }

    /** {@return whether the metering thread has not seen the last change yet} */
    boolean isAnnounced() {
        return announced.get() != null;
    }

    /** {@return whether a change is known whose time has not come} */
    boolean isChanging() {
        return next != null;
    }

    /** {@return the selector of packets of a time; applies a change whose time has come} */
    SegmentSelector at(final long timeNs) {
        if (next == null && announced.getPlain() != null) {
            next = announced.getAndSet(null);
        }
        if (next != null && timeNs >= next.change.fromNs()) {
            selector = next.selector;
            classes = next.classes;
            if (pairs.isOn()) {
                pairs.select(next.lookup);
            }
            handler.accept(next.change);
            next = null;
        }
        return selector;
    }

    /** {@return whether every packet is of the segment, and no new change is announced} */
    boolean selectsAll() {
        return announced.getPlain() == null && selector.selectsAll();
    }

    SenderSelector senders() {
        return senders;
    }

    TrafficClasses classes() {
        return classes;
    }

    /** The stream of a packet, and the index of the statistics of a sender's class: numbered by sender, then class. */
    int stream(final int senderIndex, final DirectBuffer descriptor, final int offset) {
        return senderIndex * classes.count() + classes.of(descriptor, offset);
    }

    static boolean hasDigest(final DirectBuffer descriptor, final int offset) {
        return (PacketDescriptor.flags(descriptor, offset) & PacketDescriptor.FLAG_DIGEST) != 0;
    }

    static boolean isOversize(final DirectBuffer descriptor, final int offset) {
        return (PacketDescriptor.flags(descriptor, offset) & PacketDescriptor.FLAG_OVERSIZE) != 0;
    }
}
