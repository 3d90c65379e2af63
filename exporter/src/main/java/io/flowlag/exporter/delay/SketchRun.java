package io.flowlag.exporter.delay;

import io.flowlag.exporter.config.ExporterConfig;
import io.flowlag.exporter.decode.PacketDescriptor;
import io.flowlag.exporter.delay.interval.FlowWeights;
import io.flowlag.exporter.delay.interval.SenderAnswers;
import io.flowlag.exporter.delay.interval.SketchPair;
import io.flowlag.exporter.delay.interval.SketchReceiver;
import io.flowlag.exporter.delay.interval.compare.IntervalHandler;
import io.flowlag.exporter.delay.interval.records.IntervalSettings;
import io.flowlag.exporter.delay.interval.records.UnseenFlowHandler;
import io.flowlag.exporter.delay.interval.records.WaitedRecordHandler;
import io.flowlag.sketch.image.SketchGeometry;
import org.agrona.DirectBuffer;

/**
 * Sketches of the time in which settings do not change. Made by any thread, then the metering thread's. Allocates at
 * construction.
 */
final class SketchRun {
    /** The source that is the sender point where both are in this process. */
    private static final int SENDER_POINT = 0;

    private final long fromNs;
    private final boolean isSameWay;
    private final int parity;
    private final TrafficClasses classes;
    private final FlowWeights weights;
    private final SketchPair pair;
    private final SketchReceiver receiver;
    private final String geometry;
    private final long memoryBytes;
    private final long intervalNs;
    private final long maximumDelayNs;

    /** The first run. */
    SketchRun(
        final ExporterConfig config, final IntervalSettings settings, final SenderAnswers answers, final TrafficClasses classes,
        final int entryLengthBytes, final WaitedRecordHandler recordHandler, final UnseenFlowHandler unseenHandler,
        final IntervalHandler intervalHandler) {
        this(config, settings, classes, Long.MIN_VALUE, true, 0,
            answers != null ? null : new SketchPair(settings, entryLengthBytes, recordHandler, intervalHandler, unseenHandler),
            answers == null ? null :
                new SketchReceiver(settings, answers, entryLengthBytes, recordHandler, intervalHandler, unseenHandler),
            entryLengthBytes);
        if (pair == null) {
            receiver.cutFirst();
        }
    }

    /** A run that follows another. */
    SketchRun(
        final SketchChange change, final SenderAnswers answers, final IntervalSettings settings, final SketchRun predecessor,
        final int entryLengthBytes, final IntervalHandler intervalHandler) {
        this(change.config(), settings, new TrafficClasses(change.config().rli().classes()), change.fromNs(),
            change.isSameWay(), predecessor.parity ^ 1,
            predecessor.pair == null ? null : new SketchPair(settings, predecessor.pair, change.fromNs(), intervalHandler),
            predecessor.pair != null ? null :
                new SketchReceiver(settings, answers, predecessor.receiver, intervalHandler),
            entryLengthBytes);
    }

    private SketchRun(
        final ExporterConfig config, final IntervalSettings settings, final TrafficClasses classes, final long fromNs,
        final boolean isSameWay, final int parity, final SketchPair pair, final SketchReceiver alone,
        final int entryLengthBytes) {
        this.fromNs = fromNs;
        this.isSameWay = isSameWay;
        this.parity = parity;
        this.classes = classes;
        this.pair = pair;
        receiver = pair == null ? alone : pair.receiver();
        weights = new FlowWeights(config.lds().weights());
        geometry = text(settings.cells().geometry());
        memoryBytes = SketchPair.bytes(settings, entryLengthBytes);
        intervalNs = settings.times().intervalNs();
        maximumDelayNs = settings.times().maximumDelayNs();
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
        return intervalNs;
    }

    /** {@return 0 and 1 in turn, from run to run} */
    int parity() {
        return parity;
    }

    /** The shape, for people. */
    String geometry() {
        return geometry;
    }

    /** Octets of all sketches and records, by formula. */
    long memoryBytes() {
        return memoryBytes;
    }

    SketchReceiver receiver() {
        return receiver;
    }

    /** The run before is over. */
    void follow() {
        if (pair != null) {
            pair.follow(fromNs);
        } else {
            receiver.follow(fromNs, isSameWay);
        }
    }

    TrafficClasses classes() {
        return classes;
    }

    int weight(final DirectBuffer descriptor, final int offset) {
        return weights.weight(descriptor, offset);
    }

    /** Reads ahead what the next packets of the sender point need, where it is in this process; all packets are given. */
    long touchSent(final DirectBuffer descriptors, final int offset, final int count) {
        if (pair == null) {
            return 0;
        }
        long octets = 0;
        pair.expectOthersSent();
        for (int i = 0; i < count; i++) {
            final int at = offset + i * PacketDescriptor.LENGTH_BYTES;
            if (PacketDescriptor.observationPoint(descriptors, at) == SENDER_POINT) {
                octets += pair.expectSent(
                    PacketDescriptor.segmentFlowHash(descriptors, at), PacketDescriptor.digest(descriptors, at));
            }
        }
        return octets + pair.touchSent();
    }

    void onSent(final DirectBuffer descriptor, final int offset) {
        pair.onSent(
            PacketDescriptor.timestampNs(descriptor, offset), PacketDescriptor.segmentFlowHash(descriptor, offset),
            PacketDescriptor.digest(descriptor, offset), PacketDescriptor.ipLengthBytes(descriptor, offset),
            classes.of(descriptor, offset), weight(descriptor, offset), descriptor, offset);
    }

    void onSentWithoutDigest() {
        pair.onSentWithoutDigest();
    }

    /** {@return what the receiver says of the flow's record from now on} */
    int onReceived(
        final DirectBuffer descriptor, final int offset, final long flowHash, final int weight, final int slot,
        final int record) {
        final long timestampNs = PacketDescriptor.timestampNs(descriptor, offset);
        final long digest = PacketDescriptor.digest(descriptor, offset);
        final int lengthBytes = PacketDescriptor.ipLengthBytes(descriptor, offset);
        final int classIndex = classes.of(descriptor, offset);
        return pair == null ?
            receiver.onPacket(timestampNs, flowHash, digest, lengthBytes, classIndex, weight, slot, record) :
            pair.onReceived(timestampNs, flowHash, digest, lengthBytes, classIndex, weight, slot, record);
    }

    /** A packet of the run that follows this one, which may have been sent in this one. */
    void onStraddling(
        final DirectBuffer descriptor, final int offset, final long flowHash, final long endNs, final int record) {
        final long timestampNs = PacketDescriptor.timestampNs(descriptor, offset);
        if (timestampNs - endNs < maximumDelayNs) {
            receiver.onStraddlingPacket(
                timestampNs, flowHash, PacketDescriptor.digest(descriptor, offset),
                PacketDescriptor.ipLengthBytes(descriptor, offset), classes.of(descriptor, offset), weight(descriptor, offset),
                record);
        }
    }

    void onOwnLoss(final long throughNs) {
        if (pair != null) {
            pair.onOwnLoss(throughNs);
        } else {
            receiver.onOwnLoss(throughNs);
        }
    }

    void onTime(final long throughNs) {
        if (pair != null) {
            pair.onTime(throughNs);
        } else if (throughNs >= receiver.nextEventNs()) {
            receiver.onTime(throughNs);
        }
    }

    void restart() {
        if (pair != null) {
            pair.restart();
        } else {
            receiver.restart();
        }
    }

    void onEnd() {
        if (pair != null) {
            pair.onEnd();
        } else {
            receiver.onEnd();
        }
    }
}
