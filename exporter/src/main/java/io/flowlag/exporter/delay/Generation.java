package io.flowlag.exporter.delay;

import io.flowlag.exporter.config.ExporterConfig;
import io.flowlag.exporter.decode.PacketDescriptor;
import io.flowlag.exporter.delay.interval.FlowWeights;
import io.flowlag.exporter.delay.interval.IntervalPoint;
import io.flowlag.exporter.delay.interval.IntervalReceiver;
import io.flowlag.exporter.delay.interval.ReceiverShard;
import io.flowlag.exporter.delay.interval.SenderAnswers;
import io.flowlag.exporter.delay.interval.compare.IntervalHandler;
import io.flowlag.exporter.delay.interval.records.IntervalMode;
import io.flowlag.exporter.delay.interval.records.IntervalSettings;
import io.flowlag.exporter.delay.interval.records.JointSettings;
import io.flowlag.exporter.delay.interval.records.ReceiverRecords;
import io.flowlag.exporter.delay.interval.records.SharedSampling;
import io.flowlag.exporter.delay.interval.records.SketchedPacket;
import io.flowlag.exporter.delay.interval.records.UnseenFlowHandler;
import io.flowlag.exporter.delay.interval.records.WaitedRecordHandler;
import io.flowlag.exporter.delay.interval.repair.ReconcileSettings;
import io.flowlag.exporter.flow.FlowAdditions;
import io.flowlag.exporter.flow.FlowEntry;
import io.flowlag.sketch.image.SketchGeometry;
import org.agrona.DirectBuffer;

import java.util.Arrays;
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
    /** Of this metering thread: the receiver, or one more of its shards. */
    private final ReceiverShard shard;
    private Generation[] shards = {this};
    private final String geometry;
    private final boolean isStep;
    private final long memoryBytes;
    private final IntervalSettings.Times times;

    /** The first one. */
    Generation(
        final ExporterConfig config, final IntervalSettings settings, final SenderAnswers sender, final TrafficClasses classes,
        final WaitedRecordHandler recordHandler, final UnseenFlowHandler unseenHandler, final IntervalHandler intervalHandler) {
        this(first(config), settings, sender, classes, 0,
            new IntervalReceiver(settings, sender, entryLengthBytes(config), recordHandler, intervalHandler, unseenHandler));
    }

    /** One that follows another. */
    Generation(
        final SketchChange change, final IntervalSettings settings, final SenderAnswers sender, final Generation predecessor,
        final IntervalHandler intervalHandler) {
        this(change, settings, sender, new TrafficClasses(change.config().rli().references().classes()), predecessor.parity ^ 1,
            new IntervalReceiver(settings, sender, predecessor.receiver, intervalHandler));
    }

    /** One more shard of another one, with its records; {@link #join} follows. */
    Generation(
        final SketchChange change, final IntervalSettings settings, final Generation first, final ReceiverRecords records) {
        this(change, settings, first.sender, first.classes, first.parity, first.receiver,
            new ReceiverShard(settings, first.receiver, records));
    }

    private Generation(
        final SketchChange change, final IntervalSettings settings, final SenderAnswers sender, final TrafficClasses classes,
        final int parity, final IntervalReceiver receiver) {
        this(change, settings, sender, classes, parity, receiver, receiver);
    }

    private Generation(
        final SketchChange change, final IntervalSettings settings, final SenderAnswers sender, final TrafficClasses classes,
        final int parity, final IntervalReceiver receiver, final ReceiverShard shard) {
        this.shard = shard;
        fromNs = change.fromNs();
        isSameWay = change.isSameWay();
        isStep = !change.reason().isEmpty();
        this.parity = parity;
        this.classes = classes;
        this.sender = sender;
        this.receiver = receiver;
        weights = new FlowWeights(change.config().lds().weights());
        geometry = text(settings.cells().geometry()) + text(change.config().lds()) + (isStep ? ": " + change.reason() : "");
        memoryBytes = bytes(change.config(), settings);
        times = settings.times();
    }

    /** The change to the settings of the start. */
    static SketchChange first(final ExporterConfig config) {
        return new SketchChange(config, Long.MIN_VALUE, List.of(), true);
    }

    /** Joins the shards, this one first; before the first packet. */
    void join(final Generation[] all) {
        shards = all;
        receiver.join(Arrays.stream(all).map((each) -> each.shard).toArray(ReceiverShard[]::new));
    }

    /** What a configuration says of both points; with all flows of all shards. */
    static IntervalSettings settings(final ExporterConfig config, final ReceiverLink link, final boolean isLive) {
        final ExporterConfig.Joint joint = config.joint();
        final ExporterConfig.Lds lds = config.lds();
        final int[] ratesPpm = lds.ratesPpm().stream().mapToInt(Integer::intValue).toArray();
        final JointSettings jointSettings = !joint.enabled() || link != null && link.mode() == IntervalMode.FLOWS ? null :
            new JointSettings(joint.waitNs(), joint.budgetNs(), joint.maxFlows(), joint.pendingPackets(),
                isLive && config.threading() != ExporterConfig.Threading.INVOKER, joint.isChecked() && link == null);
        // The delay limit is by the clocks, which may be apart.
        final ExporterConfig.Segment segment = config.segment();
        final long guardNs = IntervalSettings.clockGuardNs(segment.intervalNs());
        final long heldNs = Math.min(segment.intervalNs(), segment.maximumDelayNs() + guardNs);
        final long longerNs = heldNs - segment.maximumDelayNs();
        return new IntervalSettings(
            new IntervalSettings.Cells(
                SketchGeometry.lds(lds.shape().rows(), lds.shape().columns(), lds.shape().vldaLength(), ratesPpm),
                IntervalSettings.Cells.aggregator(lds.aggregatorCells(), lds.aggregatorZeros()),
                config.rli().classCount(), IntervalSettings.SKETCH_SEED, lds.alpha()),
            new IntervalSettings.Times(
                segment.intervalNs(), heldNs, guardNs, link == null ? 0 : Math.max(0, link.answerDeadlineNs() - longerNs),
                config.metering().idleTimeoutNs()),
            new IntervalSettings.Room(lds.inFlightPackets(), lds.waitingRecords(), maxFlows(config), 0),
            new IntervalSettings.Sums(
                link == null ? IntervalMode.CELLS : link.mode(), link == null ? 1 : link.mostFlows(),
                // Witnesses serve joint estimation and, for captures, the check of bounds.
                jointSettings == null && (isLive || link != null) ? 0 : lds.witnessPpm(), SharedSampling.WITNESS_PACKETS),
            jointSettings,
            !isReconciled(config) ? null : new ReconcileSettings(
                config.reconcile().packets(), config.reconcile().cells(), link == null ? 0 : config.reconcile().waitNs()),
            isSelected(config) || link == null && !isReconciled(config), isLive);
    }

    /** Whether the configuration selects the packets that pass both points. */
    private static boolean isSelected(final ExporterConfig config) {
        return !new SegmentSelector(config.segment()).selectsAll() ||
            config.rli().references().senders().stream().anyMatch((each) -> !each.sources().isEmpty());
    }

    static boolean isReconciled(final ExporterConfig config) {
        return config.reconcile().enabled();
    }

    /** The flows of all shards, where the configuration has those of one. */
    private static int maxFlows(final ExporterConfig config) {
        return Math.multiplyExact(config.metering().maxFlows(), config.shardCount());
    }

    /** {@return octets of both points and all shards, by formula} */
    static long bytes(final ExporterConfig config, final IntervalSettings settings) {
        return IntervalPoint.bytes(settings, false) + IntervalReceiver.bytes(settings, entryLengthBytes(config)) +
            (config.shardCount() - 1L) * ReceiverShard.bytes(settings, waitingRecords(config), entryLengthBytes(config));
    }

    /** Records of a shard's ended flows that may wait. */
    static int waitingRecords(final ExporterConfig config) {
        return (config.lds().waitingRecords() + config.shardCount() - 1) / config.shardCount();
    }

    /** Octets of a record that waits. */
    static int entryLengthBytes(final ExporterConfig config) {
        return FlowEntry.BASE_LENGTH_BYTES + FlowDelay.SKETCH_LENGTH_BYTES +
            FlowAdditions.lengthBytes(FlowAdditions.of(config.metering()));
    }

    private static String text(final ExporterConfig.Lds lds) {
        return lds.aggregatorZeros() == 0 ? "" : ", classes sampled from 1 in " + (1 << lds.aggregatorZeros());
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

    ReceiverShard shard() {
        return shard;
    }

    /** {@return those of all shards, where this is the first} */
    Generation[] shards() {
        return shards;
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
        return shard.onPacket(
            packet.wrap(descriptor, offset, flowHash, classes.of(descriptor, offset), weight), slot, record);
    }

    /** {@return the receiver's index of the record of a flow whose packet is in no sketch} */
    int doubtLoss(final DirectBuffer descriptor, final int offset, final long flowHash, final int slot, final int record) {
        return shard.doubtLoss(weighted(descriptor, offset, flowHash), slot, record);
    }

    /** A packet of the next generation that may have been sent in this one. */
    void onStraddling(
        final DirectBuffer descriptor, final int offset, final long flowHash, final long endNs, final int record) {
        if (PacketDescriptor.timestampNs(descriptor, offset) - endNs < times.maximumDelayNs()) {
            shard.onStraddlingPacket(weighted(descriptor, offset, flowHash), record);
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
