package io.flowlag.exporter.delay;

import io.flowlag.exporter.config.ExporterConfig;
import io.flowlag.exporter.decode.PacketDescriptor;
import io.flowlag.exporter.delay.interval.FlowWeights;
import io.flowlag.exporter.delay.interval.IntervalPoint;
import io.flowlag.exporter.delay.interval.IntervalReceiver;
import io.flowlag.exporter.delay.interval.SenderAnswers;
import io.flowlag.exporter.delay.interval.compare.IntervalHandler;
import io.flowlag.exporter.delay.interval.records.IntervalSettings;
import io.flowlag.exporter.delay.interval.records.SketchedPacket;
import io.flowlag.exporter.delay.interval.records.UnseenFlowHandler;
import io.flowlag.exporter.delay.interval.records.WaitedRecordHandler;
import io.flowlag.exporter.flow.FlowAdditions;
import io.flowlag.exporter.flow.FlowEntry;
import io.flowlag.sketch.image.SketchGeometry;
import org.agrona.DirectBuffer;

import java.util.List;

/**
 * Both points of a segment under one set of settings; the sender point may be in another process. Any thread creates it; the
 * metering thread owns it. Allocates at construction.
 */
final class Generation {
    private final SketchedPacket packet = new SketchedPacket();
    private final long fromNs;
    private final boolean isSameWay;
    private final int parity;
    private final TrafficClasses classes;
    private final FlowWeights weights;
    private final SenderAnswers sender;
    private final IntervalReceiver receiver;
    private final String geometry;
    private final boolean isStep;
    private final long memoryBytes;
    private final IntervalSettings.Times times;

    /** The first one. */
    Generation(
        final ExporterConfig config, final IntervalSettings settings, final SenderAnswers sender, final TrafficClasses classes,
        final WaitedRecordHandler recordHandler, final UnseenFlowHandler unseenHandler, final IntervalHandler intervalHandler) {
        this(new SketchChange(config, Long.MIN_VALUE, List.of(), true), settings, sender, classes, 0,
            new IntervalReceiver(settings, sender, entryLengthBytes(config), recordHandler, intervalHandler, unseenHandler));
    }

    /** One that follows another. */
    Generation(
        final SketchChange change, final IntervalSettings settings, final SenderAnswers sender, final Generation predecessor,
        final IntervalHandler intervalHandler) {
        this(change, settings, sender, new TrafficClasses(change.config().rli().references().classes()), predecessor.parity ^ 1,
            new IntervalReceiver(settings, sender, predecessor.receiver, intervalHandler));
    }

    private Generation(
        final SketchChange change, final IntervalSettings settings, final SenderAnswers sender, final TrafficClasses classes,
        final int parity, final IntervalReceiver receiver) {
        fromNs = change.fromNs();
        isSameWay = change.isSameWay();
        isStep = !change.reason().isEmpty();
        this.parity = parity;
        this.classes = classes;
        this.sender = sender;
        this.receiver = receiver;
        weights = new FlowWeights(change.config().lds().weights());
        geometry = text(settings.cells().geometry()) + (isStep ? ": " + change.reason() : "");
        memoryBytes = bytes(change.config(), settings);
        times = settings.times();
    }

    /** {@return octets of both points, by formula} */
    static long bytes(final ExporterConfig config, final IntervalSettings settings) {
        return IntervalPoint.bytes(settings, false) + IntervalReceiver.bytes(settings, entryLengthBytes(config));
    }

    /** Octets of a record that waits. */
    private static int entryLengthBytes(final ExporterConfig config) {
        return FlowEntry.BASE_LENGTH_BYTES + FlowDelay.SKETCH_LENGTH_BYTES +
            FlowAdditions.lengthBytes(FlowAdditions.of(config.metering()));
    }

    private static String text(final SketchGeometry geometry) {
        final StringBuilder text = new StringBuilder(geometry.rows() + " rows of " + geometry.columns() + " cells");
        if (geometry.vldaLength() > 1) {
            text.append(", ").append(geometry.vldaLength()).append(" for a flow");
        }
        if (geometry.rate(0) < SketchGeometry.FULL_RATE_PPM || geometry.rate(geometry.rows() - 1) != geometry.rate(0)) {
            text.append(", sampling");
            for (int row = 0; row < geometry.rows(); row++) {
                text.append(' ').append(geometry.samplingRate(row));
            }
        }
        return text.toString();
    }

    long fromNs() {
        return fromNs;
    }

    long intervalNs() {
        return times.intervalNs();
    }

    /** {@return 0 and 1 alternately, from generation to generation} */
    int parity() {
        return parity;
    }

    /** {@return whether the process chose the shape by its load} */
    boolean isStep() {
        return isStep;
    }

    /** The shape, for people, with the reason why it was chosen by the load. */
    String geometry() {
        return geometry;
    }

    /** Octets of all sketches and records, by formula. */
    long memoryBytes() {
        return memoryBytes;
    }

    IntervalReceiver receiver() {
        return receiver;
    }

    /** The generation before is over. */
    void follow(final Generation predecessor) {
        receiver.follow(predecessor.receiver, fromNs, isSameWay);
        sender.follow();
    }

    TrafficClasses classes() {
        return classes;
    }

    int weight(final DirectBuffer descriptor, final int offset) {
        return weights.weight(descriptor, offset);
    }

    /** {@link SenderAnswers#touchSent}. */
    long touchSent(final DirectBuffer descriptors, final int offset, final int count) {
        return sender.touchSent(descriptors, offset, count);
    }

    void onSent(final DirectBuffer descriptor, final int offset) {
        sender.onSent(packet.wrap(descriptor, offset, classes.of(descriptor, offset), weight(descriptor, offset)));
    }

    void onSentWithoutDigest() {
        sender.onSentWithoutDigest();
    }

    /** {@return the receiver's index of the flow's record from now on} */
    int onReceived(
        final DirectBuffer descriptor, final int offset, final long flowHash, final int weight, final int slot,
        final int record) {
        return receiver.onPacket(
            packet.wrap(descriptor, offset, flowHash, classes.of(descriptor, offset), weight), slot, record);
    }

    /** {@return the receiver's index of the record of a flow whose packet is in no sketch} */
    int doubtLoss(final DirectBuffer descriptor, final int offset, final long flowHash, final int slot, final int record) {
        return receiver.doubtLoss(weighted(descriptor, offset, flowHash), slot, record);
    }

    /** A packet of the next generation that may have been sent in this one. */
    void onStraddling(
        final DirectBuffer descriptor, final int offset, final long flowHash, final long endNs, final int record) {
        if (PacketDescriptor.timestampNs(descriptor, offset) - endNs < times.maximumDelayNs()) {
            receiver.onStraddlingPacket(weighted(descriptor, offset, flowHash), record);
        }
    }

    private SketchedPacket weighted(final DirectBuffer descriptor, final int offset, final long flowHash) {
        return packet.wrap(descriptor, offset, flowHash, classes.of(descriptor, offset), weight(descriptor, offset));
    }

    void onTime(final long throughNs) {
        if (throughNs >= receiver.nextEventNs()) {
            receiver.onTime(throughNs);
        }
    }
}
