package io.flowlag.exporter.delay;

import io.flowlag.common.memory.OffHeapBuffer;
import io.flowlag.exporter.config.ExporterConfig;
import io.flowlag.exporter.decode.DecodedReference;
import io.flowlag.exporter.decode.PacketDescriptor;
import io.flowlag.exporter.delay.exact.MatchCounters;
import io.flowlag.exporter.delay.exact.MatchResult;
import io.flowlag.exporter.delay.exact.SegmentFlows;
import io.flowlag.exporter.delay.interval.records.IntervalMode;
import io.flowlag.exporter.delay.interval.records.SketchCounter;
import io.flowlag.exporter.flow.FlowCache;
import io.flowlag.exporter.status.CounterId;
import io.flowlag.exporter.status.Counters;
import io.flowlag.exporter.status.DelayHistogram;
import io.flowlag.exporter.status.DelayStatistics;
import io.flowlag.exporter.status.DelaySummary;
import io.flowlag.exporter.status.DelayView;
import io.flowlag.exporter.status.SegmentDescription;
import io.flowlag.exporter.status.SketchStatistics;
import io.flowlag.rli.receiver.Estimator;
import io.flowlag.rli.receiver.ReceiverContext;
import io.flowlag.rli.receiver.RliReceiver;
import io.flowlag.rli.receiver.SendTimes;
import io.flowlag.rli.receiver.SerialisationMode;
import io.flowlag.rli.sender.InjectionScheduler;
import io.flowlag.rli.sender.SenderCounter;
import org.agrona.CloseHelper;
import org.agrona.DirectBuffer;
import org.agrona.MutableDirectBuffer;
import org.agrona.concurrent.EpochNanoClock;

import java.util.List;
import java.util.concurrent.atomic.AtomicReference;

/**
 * The delay stage: passes each packet of the segment to the estimators. At the sender point that is the reference schedule, at
 * the receiver point the interpolation, whose samples are written into the state of their flows.
 * <p>
 * The metering thread owns it; {@link #reload} and {@link #statistics} are safe from any thread. Allocates at construction and
 * at the end of a measurement interval.
 */
public final class DelayMeter implements DelayView, AutoCloseable {
    /** For {@link #onTime}: capture progress is not known yet. */
    public static final long NOTHING_CAPTURED_NS = Long.MIN_VALUE;

    private static final int MARKED_CAPACITY = 64 * 1024;
    /** In place of a slot: a packet of the sender point, which is not metered. */
    private static final int NOT_METERED = -1;
    private static final long LEAST_HELD = 50;
    private static final long HELD_SHARE = 100;
    /** Live packets come in blocks, later than reported by less than this. */
    private static final long LINK_LAG_NS = 100_000_000L;

    private final DelayWiring wiring;
    private SegmentSelector selector;
    private final SenderSelector senders;
    private TrafficClasses classes;
    private final ClockDifference clocks;
    private final FlowCache cache;
    private final OffHeapBuffer entries;
    private final EpochNanoClock clock;
    private final Counters counters;

    private final RliReceiver receiver;
    private final DelaySummaries summaries;
    private final InjectionScheduler scheduler;
    /** When references are sent; null without a schedule. */
    private InjectionTerms terms;
    private ExporterConfig.Rli ownReferences;
    private InjectionTerms ownTerms;
    private SketchAgreement followed;
    private final ReferenceSender sender;
    private final MarkedReferences marked;
    private final EarlyArrivals early;
    private final PassiveStage passive;
    private final ShippedSendTimes shipped;
    private final FlowDistributions distributions;
    private final SampleWriter samples;
    private final FlowDelays flowDelays;
    private final Matching matching;
    /** Null where every flow is certainly matched, or references cover the unmatched ones. */
    private final StandIn standIn;
    private final SenderSketches sketching;
    /** Packets that wait to be measured together; null where each is measured at once. */
    private final PendingPackets pending;
    private final SketchSending sending;
    private final DelayReport report;
    private final AtomicReference<SketchChange> newSegment = new AtomicReference<>();
    private SketchChange change;
    private long toldCapturedNs = NOTHING_CAPTURED_NS;
    private long kernelDrops;
    private long ringDrops;
    private SegmentSelector changedSelector;
    private long touched;
    private final AtomicReference<ExporterConfig> newSettings = new AtomicReference<>();

    /**
     * A stage that has seen nothing.
     *
     * @param wiring  of the stage.
     * @param flowEnd finishes the records of ended flows; the cache's sink.
     * @param cache   with {@link #stateLengthBytes} of state for this stage.
     * @param clock   that stamps references; null where packets come from captures.
     */
    public DelayMeter(
        final ExporterConfig config,
        final DelayWiring wiring,
        final FlowEnd flowEnd,
        final FlowCache cache,
        final EpochNanoClock clock,
        final Counters counters) {
        this.wiring = wiring;
        this.cache = cache;
        this.clock = clock;
        this.counters = counters;
        entries = cache.entries();
        selector = new SegmentSelector(config.segment());
        senders = new SenderSelector(config.rli().senders());
        classes = new TrafficClasses(config.rli().classes());
        clocks = new ClockDifference(wiring, senders.count(), classes.count());
        distributions = wiring.role().isReceiver() ? new FlowDistributions(config.quantiles()) : null;
        samples = new SampleWriter(cache, wiring.isExact() ? null : distributions, classes.count());
        final boolean isReceiver = wiring.role().isReceiver() && wiring.isInterpolated();
        receiver = isReceiver ? new RliReceiver(receiverContext(config, wiring, classes), samples) : null;
        summaries = isReceiver || wiring.isExact() ? new DelaySummaries(
            receiver, wiring.isExact(), classes, senders.count() + (wiring.captures().sides() == null ? 0 : 1),
            config.segment().intervalNs(), recordNs(config)) : null;
        final boolean isMarking = wiring.referenceMode() == ReferenceMode.MARKED && isReceiver;
        ownReferences = config.rli();
        ownTerms = isMarking ? InjectionTerms.ofMarked(config) :
            wiring.transmitter() != null ? InjectionTerms.of(ownReferences) : null;
        terms = ownTerms;
        scheduler = terms == null ? null : new InjectionScheduler(terms.context());
        marked = isMarking ?
            new MarkedReferences(MARKED_CAPACITY, classes.count(), config.segment().maximumDelayNs()) : null;
        early = isMarking ? new EarlyArrivals(config.segment().maximumDelayNs()) : null;
        passive = wiring.referenceMode() == ReferenceMode.PASSIVE && isReceiver ? new PassiveStage(
            receiver, senders.count(), config.rli().passivePpm(), config.segment().maximumDelayNs(),
            wiring.receiverLink() == null ? 0 : config.rli().silentAfterNs(), config.rli().ceilingBps()) : null;
        shipped = isReceiver && wiring.receiverLink() != null ?
            new ShippedSendTimes(wiring.receiverLink(), receiver, passive, senders.count(), classes.count()) : null;
        sender = wiring.transmitter() == null ? null : new ReferenceSender(scheduler, wiring, sendTimeTaker(), clock);
        matching = wiring.isMatched() ?
            new Matching(config, clock != null, wiring.captures(), cache, wiring.isExact() ? distributions : null,
                wiring.isExact() ? summaries : null) : null;
        if (matching != null && clock != null) {
            matching.onLive(clock.nanoTime());
        }
        standIn = hasStandIn(wiring, clock != null) ? new StandIn(
            standInContext(config, wiring, classes), new SampleWriter(cache, null, classes.count()), recordNs(config)) : null;
        flowDelays = new FlowDelays(
            config, wiring, flowEnd, cache, counters, senders, classes, clocks, standIn == null ? receiver : standIn.receiver(),
            distributions, matching, clock != null);
        sketching = wiring.isSketched() ?
            new SenderSketches(config, clock != null, wiring.receiverLink(), cache, classes, senders, flowDelays) : null;
        flowDelays.sketches(sketching);
        if (sketching != null && wiring.captures().isWhole()) {
            sketching.capturesAreWhole();
        }
        tellEstimates(config);
        pending = mayWait(config) ? new PendingPackets() : null;
        sending = wiring.isShipping() ? new SketchSending(wiring.senderLink()) : null;
        report = new DelayReport(
            config, wiring, clocks, receiver, summaries, scheduler, sender, matching, distributions, sketching, sending,
            passive, shipped, counters);
        flowEnd.meter(this);
    }

    /**
     * Decides whether packets may wait. They may if they are only sketched and interpolated, in cells of one sender's sketches,
     * and no packet is estimated before the next has come. More estimates fit than packets wait, so waiting discards none.
     */
    private boolean mayWait(final ExporterConfig config) {
        return wiring.isFlowHashLeft() && wiring.receiverLink().mode() != IntervalMode.FLOWS && senders.isOneForAll() &&
            passive == null && marked == null && config.rli().estimator() == ExporterConfig.EstimatorKind.LINEAR &&
            (!config.joint().enabled() || config.joint().pendingPackets() >= 2 * PendingPackets.LIMIT);
    }

    /** Whether flows may be left out of matching while no other estimator measures their delays. */
    private static boolean hasStandIn(final DelayWiring wiring, final boolean isLive) {
        return wiring.isMatched() && wiring.isExact() && !wiring.isInterpolated() &&
            (isLive || wiring.captures().matchedOneIn() > 1);
    }

    /** Passes estimates by references to the sketches if the joint estimation is on, or already was. */
    private void tellEstimates(final ExporterConfig config) {
        if (sketching != null && config.joint().enabled()) {
            samples.tell(sketching);
        }
    }

    /** The consumer of effective send times in addition to follow-ups: the receiver in this process, or the remote one. */
    private ReferenceTransmitter.SendTimeHandler sendTimeTaker() {
        if (receiver != null) {
            return (stream, number, sentNs, method) -> receiver.onSendTime(stream, number, sentNs);
        }
        return !wiring.isShipping() ? null :
            (stream, number, sentNs, method) -> wiring.senderLink().shipSendTime(stream, number, sentNs, method.code());
    }

    /**
     * The size of this stage's state of a flow.
     *
     * @param wiring of the stage.
     * @return octets; 0 if it measures nothing.
     */
    public static int stateLengthBytes(final DelayWiring wiring) {
        if (!wiring.role().isReceiver()) {
            return 0;
        }
        if (wiring.isSketched()) {
            return FlowDelay.SKETCH_LENGTH_BYTES;
        }
        return wiring.isMatched() ? FlowDelay.EXACT_LENGTH_BYTES : FlowDelay.LENGTH_BYTES;
    }

    /**
     * The memory of the sketches of both points, by formula.
     *
     * @param wiring of the stage.
     * @param isLive whether packets come as they happen.
     * @return octets; 0 without sketches.
     */
    public static long sketchMemoryBytes(final ExporterConfig config, final DelayWiring wiring, final boolean isLive) {
        return wiring.isSketched() ? SenderSketches.memoryBytes(config, wiring.receiverLink(), isLive) : 0;
    }

    /** Warnings for the operator about the weights of flows. */
    public static List<String> weightWarnings(final ExporterConfig config) {
        return IntervalStage.weightWarnings(config);
    }

    /**
     * The memory of this stage, by formula, without its state in the flow cache.
     *
     * @param wiring of the stage.
     * @param isLive whether packets come as they happen.
     * @return octets, on and off the heap.
     */
    public static long memoryBytes(final ExporterConfig config, final DelayWiring wiring, final boolean isLive) {
        final TrafficClasses classes = new TrafficClasses(config.rli().classes());
        final boolean isReceiver = wiring.role().isReceiver() && wiring.isInterpolated();
        return (isReceiver ? receiverContext(config, wiring, classes).memoryBytes() : 0) +
            (isReceiver || wiring.isExact() ? DelaySummaries.memoryBytes(
                config.rli().senderCount() * classes.count(), isReceiver, wiring.isExact()) : 0) +
            (isReceiver && wiring.referenceMode() == ReferenceMode.MARKED ?
                MarkedReferences.memoryBytes(MARKED_CAPACITY) + EarlyArrivals.memoryBytes() : 0) +
            (isReceiver && wiring.referenceMode() == ReferenceMode.PASSIVE ?
                PassiveStage.memoryBytes(
                    config.rli().senderCount(), wiring.receiverLink() != null, config.rli().ceilingBps()) : 0) +
            (wiring.isSketched() ? PendingPackets.MEMORY_BYTES + config.rli().senderCount() * IntervalStage.BATCH_BYTES : 0) +
            (wiring.isMatched() ? Matching.memoryBytes(config, isLive, wiring.captures()) : 0) +
            (hasStandIn(wiring, isLive) ? standInContext(config, wiring, classes).memoryBytes() : 0) +
            sketchMemoryBytes(config, wiring, isLive) +
            (wiring.role().isReceiver() ? FlowDistributions.memoryBytes(config.quantiles()) : 0);
    }

    /**
     * Prefetches what the next packets need besides their flows; call it after {@link FlowCache#touch}. Changes nothing.
     *
     * @param offset of the first.
     * @param count  how many there are, at most {@link FlowCache#TOUCH_LIMIT}.
     */
    public void touch(final DirectBuffer descriptors, final int offset, final int count) {
        if (!wiring.role().isReceiver()) {
            return;
        }
        long octets = 0;
        for (int i = 0; receiver != null && i < count; i++) {
            final int slot = cache.likelySlot(i);
            octets += slot < 0 ? 0 : distributions.touch(entries, cache.stateOffset(slot));
        }
        if (sketching != null) {
            octets += sketching.touch(descriptors, offset, count);
        }
        if (matching != null) {
            octets += matching.touch(descriptors, offset, count);
        }
        for (int i = 0; early != null && i < count; i++) {
            octets += early.touch(PacketDescriptor.digest(descriptors, offset + i * PacketDescriptor.LENGTH_BYTES));
        }
        touched = octets;
    }

    /**
     * A packet at the sender point.
     *
     * @param nowNs the time, by the clock that references are sent by.
     */
    public void onSenderPacket(final DirectBuffer descriptor, final int offset, final long nowNs) {
        if (isBackward(descriptor, offset)) {
            onBackward(descriptor, offset, NOT_METERED);
            return;
        }
        if (sending != null) {
            sending.onSent(descriptor, offset);
        }
        final int lengthBytes = PacketDescriptor.wireLengthBytes(descriptor, offset);
        if (scheduler != null) {
            scheduler.onLinkTime(PacketDescriptor.timestampNs(descriptor, offset));
        }
        if (matching != null) {
            matching.onSenderTime(PacketDescriptor.timestampNs(descriptor, offset));
        }
        if (!selectorAt(PacketDescriptor.timestampNs(descriptor, offset)).selects(descriptor, offset)) {
            counters.increment(CounterId.SENDER_OUTSIDE_SEGMENT);
            if (scheduler != null) {
                scheduler.onOtherPacket(lengthBytes);
            }
            return;
        }
        if (isOversize(descriptor, offset)) {
            counters.increment(CounterId.SENDER_OVERSIZE);
            onOversize(descriptor, offset, true);
            if (scheduler != null) {
                scheduler.onOtherPacket(lengthBytes);
            }
            return;
        }
        if (matching != null) {
            onSentStandIn(matching.onSent(descriptor, offset), descriptor, offset, senders.of(descriptor, offset));
        }
        if (sketching != null) {
            sketching.of(0).onSent(descriptor, offset);
        }
        if (passive != null) {
            passive.onSent(descriptor, offset);
        }
        if (scheduler == null) {
            return;
        }
        final int classIndex = classes.of(descriptor, offset);
        final boolean isDue = scheduler.onPacket(classIndex, nowNs, lengthBytes) && terms.isInjecting();
        if (sender == null) {
            mark(descriptor, offset, classIndex, nowNs, isDue);
        } else if (isDue) {
            sender.send(classIndex, nowNs);
        }
    }

    /**
     * Marks a packet as a reference. A packet that arrives when a timer expires is not typical: the gap before it is longer
     * than most, so the queue before it is shorter. The timer's reference is therefore drawn among the next packets; one that
     * the packet count names is marked at once.
     */
    private void mark(
        final DirectBuffer descriptor, final int offset, final int classIndex, final long nowNs, final boolean isDue) {
        if (isDue) {
            marked.due(classIndex, scheduler.isDueByCount(classIndex) ? 1 : scheduler.packetCount(classIndex));
            scheduler.onInjected(classIndex, nowNs, InjectionTerms.REFERENCE_LENGTH_BYTES);
        }
        final boolean isNext = marked.isNext(classIndex);
        if ((PacketDescriptor.flags(descriptor, offset) & PacketDescriptor.FLAG_DIGEST) == 0) {
            return;
        }
        final long digest = PacketDescriptor.digest(descriptor, offset);
        final long sentNs = PacketDescriptor.timestampNs(descriptor, offset);
        final int arrived = early.onSent(digest, sentNs);
        if (isNext && arrived >= 0) {
            receiver.onReference(
                classIndex, marked.markArrived(classIndex), sentNs, early.arrivalNs(arrived), early.lengthBytes(arrived));
        } else if (isNext) {
            marked.mark(classIndex, digest, sentNs);
        }
    }

    /** A packet at the receiver point. {@link #settle} measures it at the latest; its descriptor must stay valid until then. */
    public void onReceiverPacket(final DirectBuffer descriptor, final int offset, final int slot) {
        if (pending == null || pending.count() == 0 && (change != null || isChanging())) {
            measure(descriptor, offset, slot);
            return;
        }
        pending.add(descriptor, offset, slot);
        if (pending.isFull()) {
            settle();
        }
    }

    /**
     * Measures the waiting packets. Call it before any event other than a further receiver packet, and before their descriptors
     * become invalid.
     */
    public void settle() {
        if (pending == null || pending.count() == 0) {
            return;
        }
        try {
            if (isPlain()) {
                sketching.of(0).onReceived(pending);
                if (receiver != null) {
                    interpolate();
                }
            } else {
                for (int i = 0; i < pending.count(); i++) {
                    measure(pending.descriptors(), pending.offset(i), pending.slot(i));
                }
            }
        } finally {
            pending.clear();
        }
    }

    /** Whether all waiting packets belong to the segment, and nothing is due between the first and the last of them. */
    private boolean isPlain() {
        return newSegment.getPlain() == null && selector.selectsAll() && !pending.hasOversize() &&
            (summaries == null || !summaries.isDue(pending.latestNs())) && sketching.of(0).isQuiet(pending);
    }

    private void interpolate() {
        summaries.onTime(pending.latestNs());
        final DirectBuffer descriptors = pending.descriptors();
        final int count = pending.count();
        if (classes.count() > 1 || !receiver.wouldBuffer(0, count, pending.earliestNs(), pending.latestNs())) {
            for (int i = 0; i < count; i++) {
                interpolate(descriptors, pending.offset(i), pending.slot(i), 0, pending.ticket(i));
            }
            return;
        }
        for (int i = 0; i < count; i++) {
            receiver.onBufferedPacket(
                0, pending.slot(i), cache.generation(pending.slot(i)), 0, pending.ticket(i),
                PacketDescriptor.wireLengthBytes(descriptors, pending.offset(i)),
                PacketDescriptor.timestampNs(descriptors, pending.offset(i)));
        }
        receiver.onBuffered(0, count);
    }

    private void interpolate(
        final DirectBuffer descriptor, final int offset, final int slot, final int senderIndex, final long ticket) {
        final int stream = stream(senderIndex, classes.of(descriptor, offset));
        receiver.onPacket(
            stream, slot, cache.generation(slot), stream, ticket, PacketDescriptor.wireLengthBytes(descriptor, offset),
            PacketDescriptor.timestampNs(descriptor, offset));
    }

    private boolean isBackward(final DirectBuffer descriptor, final int offset) {
        return wiring.captures().sides() != null && wiring.captures().sides().isBackward(descriptor, offset);
    }

    /** Packets in the backward direction are only matched: references and sketches belong to one queue. */
    private void onBackward(final DirectBuffer descriptor, final int offset, final int slot) {
        final boolean isSent = slot == NOT_METERED;
        final long timeNs = PacketDescriptor.timestampNs(descriptor, offset);
        if (isSent) {
            matching.onReceiverTime(timeNs);
        } else {
            matching.onSenderTime(timeNs);
        }
        if (!selectorAt(timeNs).selects(descriptor, offset)) {
            counters.increment(isSent ? CounterId.SENDER_OUTSIDE_SEGMENT : CounterId.OUTSIDE_SEGMENT);
        } else if (isSent) {
            onSentStandIn(matching.onSent(descriptor, offset), descriptor, offset, senders.count());
        } else {
            if (summaries.onTime(timeNs)) {
                report.onInterval();
            }
            match(descriptor, offset, slot, stream(senders.count(), classes.of(descriptor, offset)));
            // References and sketches ignore it.
            counters.add(CounterId.OUTSIDE_SEGMENT, receiver == null ? 0 : 1);
        }
    }

    private void match(final DirectBuffer descriptor, final int offset, final int slot, final int stream) {
        final MatchResult result = matching.onReceived(descriptor, offset, slot, stream);
        if (standIn != null && matching.isPartial()) {
            final long arrivalNs = PacketDescriptor.timestampNs(descriptor, offset);
            final int lengthBytes = PacketDescriptor.wireLengthBytes(descriptor, offset);
            if (result == MatchResult.MATCHED) {
                standIn.onMatched(stream, matching.delayNs(), arrivalNs, lengthBytes);
            } else if (result == MatchResult.NOT_SAMPLED) {
                standIn.onOther(stream, slot, cache.generation(slot), arrivalNs, lengthBytes);
            }
        }
    }

    /** Where clocks are apart, a packet may arrive before the sender point saw it. */
    private void onSentStandIn(
        final MatchResult result, final DirectBuffer descriptor, final int offset, final int senderIndex) {
        if (standIn != null && result == MatchResult.MATCHED && matching.isPartial() && senderIndex >= 0) {
            standIn.onMatched(
                stream(senderIndex, classes.of(descriptor, offset)), matching.delayNs(),
                PacketDescriptor.timestampNs(descriptor, offset) + matching.delayNs(),
                PacketDescriptor.wireLengthBytes(descriptor, offset));
        }
    }

    private void measure(final DirectBuffer descriptor, final int offset, final int slot) {
        if (isBackward(descriptor, offset)) {
            onBackward(descriptor, offset, slot);
            return;
        }
        if (matching != null) {
            matching.onReceiverTime(PacketDescriptor.timestampNs(descriptor, offset));
        }
        final int senderIndex = senders.of(descriptor, offset);
        if (senderIndex < 0 || !selectorAt(PacketDescriptor.timestampNs(descriptor, offset)).selects(descriptor, offset)) {
            counters.increment(CounterId.OUTSIDE_SEGMENT);
            return;
        }
        if (isOversize(descriptor, offset)) {
            counters.increment(CounterId.OVERSIZE);
            onOversize(descriptor, offset, false);
            return;
        }
        final long arrivalNs = PacketDescriptor.timestampNs(descriptor, offset);
        if (summaries != null && summaries.onTime(arrivalNs)) {
            report.onInterval();
        }
        if (matching != null) {
            match(descriptor, offset, slot, stream(senderIndex, classes.of(descriptor, offset)));
        }
        if (sketching != null) {
            sketching.of(senderIndex).onReceived(descriptor, offset, slot);
        }
        if (receiver == null) {
            return;
        }
        interpolate(descriptor, offset, slot, senderIndex, sketching == null ? 0 : sketching.of(senderIndex).ticket());
        if (passive != null) {
            passive.onReceived(descriptor, offset, stream(senderIndex, classes.of(descriptor, offset)));
        }
        if (marked != null && (PacketDescriptor.flags(descriptor, offset) & PacketDescriptor.FLAG_DIGEST) != 0) {
            takeMarked(descriptor, offset, arrivalNs);
        }
    }

    /** A separate method, because with it the calling one is too long for the compiler to inline. */
    private void takeMarked(final DirectBuffer descriptor, final int offset, final long arrivalNs) {
        final long digest = PacketDescriptor.digest(descriptor, offset);
        final int lengthBytes = PacketDescriptor.wireLengthBytes(descriptor, offset);
        final long position = marked.take(digest);
        if (position != MarkedReferences.NONE) {
            receiver.onReference(
                marked.stream(position), marked.number(position), marked.sentNs(position), arrivalNs, lengthBytes);
        }
        early.onReceived(digest, arrivalNs, lengthBytes);
    }

    /** Applies changes whose time has come. */
    private SegmentSelector selectorAt(final long timeNs) {
        if (change == null && newSegment.getPlain() != null) {
            change = newSegment.getAndSet(null);
            changedSelector = new SegmentSelector(change.config().segment());
        }
        if (change != null && timeNs >= change.fromNs()) {
            selector = changedSelector;
            if (summaries != null) {
                if (summaries.onTime(change.fromNs())) {
                    report.onInterval();
                }
                summaries.intervalNs(change.config().segment().intervalNs());
            }
            classes = new TrafficClasses(change.config().rli().classes());
            if (summaries != null) {
                summaries.classes(classes);
            }
            report.classes(change.config().rli().classes());
            flowDelays.classes(classes);
            tellEstimates(change.config());
            change = null;
        }
        return selector;
    }

    private static boolean isOversize(final DirectBuffer descriptor, final int offset) {
        return (PacketDescriptor.flags(descriptor, offset) & PacketDescriptor.FLAG_OVERSIZE) != 0;
    }

    private void onOversize(final DirectBuffer descriptor, final int offset, final boolean isSent) {
        final int senderIndex = senders.of(descriptor, offset);
        if (summaries != null && senderIndex >= 0) {
            summaries.onOversize(stream(senderIndex, classes.of(descriptor, offset)));
        }
        if (matching != null) {
            matching.onOversize(isSent);
        }
    }

    /** The index of a stream, and of the statistics of a sender's class: numbered by sender, then class. */
    private int stream(final int senderIndex, final int classIndex) {
        return senderIndex * classes.count() + classIndex;
    }

    /**
     * A verified reference, at either point.
     *
     * @param descriptor of the reference, see {@link DecodedReference}.
     */
    public void onReference(final DirectBuffer descriptor, final int offset) {
        settle();
        final int streamIndex = DecodedReference.streamIndex(descriptor, offset);
        final int sequenceNumber = DecodedReference.sequenceNumber(descriptor, offset);
        final long timestampNs = PacketDescriptor.timestampNs(descriptor, offset);
        if (wiring.isSenderPoint(PacketDescriptor.observationPoint(descriptor, offset))) {
            if (receiver != null) {
                receiver.onSendTime(streamIndex, sequenceNumber, timestampNs);
            } else if (sender != null) {
                sender.onSeen(streamIndex, sequenceNumber, timestampNs);
            }
        } else if (receiver != null) {
            clocks.onReference(streamIndex, DecodedReference.errorEstimate(descriptor, offset));
            receiver.onReference(
                streamIndex, sequenceNumber, DecodedReference.stampNs(descriptor, offset), timestampNs,
                PacketDescriptor.wireLengthBytes(descriptor, offset));
            if (DecodedReference.hasFollowUp(descriptor, offset)) {
                receiver.onSendTime(
                    streamIndex, DecodedReference.followUpSequenceNumber(descriptor, offset),
                    DecodedReference.followUpSentNs(descriptor, offset));
            }
        }
    }

    /**
     * Live capture has reached a time; this process's drops of earlier packets are counted. Call it in the order of the
     * packets, because later calls may end intervals.
     *
     * @param throughNs that time, since the epoch; smaller than before if the clock was set back, and then all packets that
     *                  were stamped before that have come.
     */
    public void onCaptured(final long throughNs) {
        if (throughNs < toldCapturedNs) {
            onTimeSetBack(throughNs);
        }
        toldCapturedNs = throughNs;
        readOwnLoss(throughNs);
        if (sketching != null) {
            sketching.lossKnown(throughNs);
        }
    }

    /**
     * Time was set back: restarts everything that depends on packet times. Nothing is measured across the step.
     *
     * @param nowNs since the epoch.
     */
    public void onTimeSetBack(final long nowNs) {
        settle();
        if (receiver != null) {
            receiver.onClockStep();
        }
        if (summaries != null) {
            summaries.onTimeSetBack();
        }
        if (passive != null) {
            passive.onTimeSetBack();
        }
        if (standIn != null) {
            standIn.onTimeSetBack();
        }
        if (matching != null) {
            matching.onTimeSetBack(nowNs);
        }
        if (sketching != null) {
            sketching.onTimeSetBack();
        }
        if (sending != null) {
            sending.onTimeSetBack(nowNs);
        }
        report.onInterval();
    }

    /** Reads the clock, if there is one, after the counters: whatever they count was dropped before. */
    private void readOwnLoss(final long packetNs) {
        final long kernelTotal = counters.get(CounterId.LOST_IN_KERNEL);
        final long ringTotal = counters.get(CounterId.DROPPED_AT_PACKET_RING);
        if (kernelTotal == kernelDrops && ringTotal == ringDrops) {
            return;
        }
        final long newDrops = kernelTotal - kernelDrops + ringTotal - ringDrops;
        kernelDrops = kernelTotal;
        ringDrops = ringTotal;
        final long nowNs = clock == null ? packetNs : clock.nanoTime();
        if (matching != null) {
            matching.onOwnLoss(nowNs, newDrops);
        }
        if (sketching != null) {
            sketching.onOwnLoss(nowNs);
        }
        if (sending != null) {
            sending.onOwnLoss(nowNs, kernelTotal, ringTotal);
        }
    }

    /**
     * Time has passed: sends due references, times out silent streams, ends intervals.
     *
     * @param nowNs      by the clock (live) or the newest packet (files).
     * @param capturedNs all packets from before it have come, or are counted as dropped; or {@link #NOTHING_CAPTURED_NS}.
     * @return how much was done.
     */
    public int onTime(final long nowNs, final long capturedNs) {
        final ExporterConfig settings = newSettings.getPlain() == null ? null : newSettings.getAndSet(null);
        if (settings != null) {
            takeOver(settings);
        }
        if (sending != null && scheduler != null && sending.holdingAt(nowNs) != followed) {
            injectBy(sending.holdingAt(nowNs));
        }
        selectorAt(capturedNs);
        if (shipped != null) {
            shipped.poll();
        }
        for (int i = 0; wiring.receiverLink() != null && i < senders.count(); i++) {
            clocks.onSender(i, wiring.receiverLink().errorEstimate(i));
        }
        if (capturedNs != NOTHING_CAPTURED_NS) {
            advance(nowNs, capturedNs);
            if (scheduler != null) {
                scheduler.onLinkQuiet(capturedNs - LINK_LAG_NS);
            }
        }
        return sender == null ? 0 : sender.onTime(nowNs, terms.isInjecting());
    }

    /** Sends references on the receiver's terms, from the time they hold, or by this process's own configuration. */
    private void injectBy(final SketchAgreement agreement) {
        followed = agreement;
        terms = agreement == null || agreement.injection() == null ?
            ownTerms : agreement.injection().apply(ownReferences);
        report.policy(terms.name());
        if (terms.isInjecting()) {
            scheduler.reconfigure(terms.context());
        }
    }

    private void takeOver(final ExporterConfig settings) {
        final ExporterConfig.Rli rli = settings.rli();
        if (scheduler != null && rli.policy() != ExporterConfig.Policy.PASSIVE) {
            ownReferences = rli;
            ownTerms = marked == null ? InjectionTerms.of(rli) : InjectionTerms.ofMarked(settings);
            injectBy(followed);
        }
        if (receiver != null) {
            receiver.capacityBps(rli.capacityBps());
        }
        if (summaries != null) {
            summaries.recordNs(recordNs(settings));
        }
        if (passive != null) {
            receiver.maximumGapNs(rli.maximumGapNs());
        }
    }

    private void advance(final long nowNs, final long capturedNs) {
        if (clock == null) {
            readOwnLoss(capturedNs);
        }
        if (passive != null) {
            passive.onTime(capturedNs);
        }
        if (receiver != null) {
            receiver.onTime(capturedNs);
        }
        if (summaries != null && summaries.onTime(capturedNs)) {
            report.onInterval();
        }
        if (standIn != null) {
            standIn.onTime(capturedNs);
        }
        if (matching != null) {
            matching.onTime(capturedNs);
        }
        if (sketching != null) {
            sketching.onTime(capturedNs);
        }
        if (sending != null) {
            sending.onTime(nowNs, capturedNs);
        }
    }

    /** The input has ended: settles or discards everything that waits for a reference, before the flows end. */
    public void onEnd() {
        if (clock != null) {
            onCaptured(Long.MAX_VALUE);
        }
        if (receiver != null) {
            receiver.onEnd();
        }
        if (summaries != null) {
            summaries.onEnd();
        }
        if (standIn != null) {
            standIn.onEnd();
        }
        if (matching != null) {
            matching.onEnd();
        }
        if (sketching != null) {
            sketching.onEnd();
        }
        report.onInterval();
    }

    /** A flow ends: writes the fields that are known only now. Returns false if the record waits for more, and was copied. */
    boolean onFlowEnd(final MutableDirectBuffer entry, final int offset) {
        if (!wiring.role().isReceiver()) {
            return true;
        }
        settle();
        return flowDelays.onFlowEnd(entry, offset);
    }

    /** {@return whether every packet of a flow is decided} */
    boolean isComplete(final DirectBuffer entries, final int offset) {
        return matching == null || matching.isComplete(entries, offset);
    }

    /** {@return the delays of flows; for the metering thread} */
    public FlowDelays flowDelays() {
        return flowDelays;
    }

    /**
     * Checks whether new settings of the segment and its sketches can be applied; call before announcing them. Any thread;
     * changes nothing.
     *
     * @throws IllegalArgumentException if not; the message names the value that is wrong.
     */
    public void check(final ExporterConfig config) {
        if (sketching != null) {
            sketching.check(config);
        }
    }

    /**
     * Changes the settings of the segment and its sketches, at the change's time. Any thread, one at a time, and not while
     * {@link #isChanging}.
     *
     * @param newChange from when, and what.
     */
    public void change(final SketchChange newChange) {
        if (sketching != null) {
            sketching.change(newChange);
        }
        newSegment.set(newChange);
    }

    /** {@return whether the last change is incomplete} */
    public boolean isChanging() {
        return newSegment.get() != null || sketching != null && sketching.isChanging();
    }

    /**
     * Changes the settings of references and flows that may change while packets pass; from the next duty cycle on.
     *
     * @param settings with as many classes as before.
     */
    public void reload(final ExporterConfig settings) {
        newSettings.set(settings);
    }

    /**
     * Sets the names of the points; before the first packet.
     *
     * @param names of the sources, the sender point first.
     */
    public void points(final List<String> names) {
        report.points(names);
    }

    @Override
    public long intervalCount() {
        return summaries == null ? 0 : summaries.intervals().count();
    }

    @Override
    public List<DelaySummary> interval(final long number) {
        return summaries.intervals().get(number);
    }

    @Override
    public List<DelayHistogram> histograms() {
        return summaries == null ? List.of() : summaries.histograms();
    }

    @Override
    public SegmentDescription segment() {
        return report.segment();
    }

    @Override
    public List<SketchStatistics> sketches() {
        return sketching == null ? List.of() : sketching.statistics();
    }

    /**
     * Intervals in which a class received more packets than were sent in it. Any thread. Returns how many; 0 without sketches.
     */
    public long remarkedIntervals() {
        return sketching == null ? 0 : sketching.get(SketchCounter.INTERVALS_REMARKED);
    }

    /**
     * Ends of intervals at which the clocks of the two points were too far apart. Any thread. Returns how many; 0 without
     * sketches.
     */
    public long clocksApartIntervals() {
        return sketching == null ? 0 : sketching.get(SketchCounter.CLOCKS_APART);
    }

    /** {@return packets of the segment at the receiver point that went into sketches; 0 without sketches; any thread} */
    public long sketchedPackets() {
        return sketching == null ? 0 : sketching.get(SketchCounter.RECEIVED);
    }

    /**
     * Packets that arrived after the sketches' hold time and were found at reconciliation. Any thread. Returns how many; 0
     * without sketches.
     */
    public long latePackets() {
        return sketching == null ? 0 : sketching.get(SketchCounter.RECONCILE_LATE);
    }

    /**
     * The delay, by the two clocks, of packets that came too early or too late for their interval. Any thread. Returns ns,
     * signed, of the last ones; 0 if none are known.
     */
    public long clocksApartNs() {
        return sketching == null ? 0 : sketching.clocksApartNs();
    }

    /**
     * Whether the ceiling of references limits the policy. Any thread. Returns true if one reference in a hundred had to wait
     * for it, and {@value #LEAST_HELD} in all.
     */
    public boolean isCeilingTooLow() {
        final long held = scheduler == null ? 0 : scheduler.counter(SenderCounter.HELD_BY_CEILING);
        return held >= LEAST_HELD && held * HELD_SHARE > scheduler.counter(SenderCounter.REFERENCES);
    }

    @Override
    public DelayStatistics statistics() {
        return report.statistics();
    }

    /**
     * The flows of the segment by exact matching, for a truth file. Returns the flows, usable after the stage has ended; null
     * without matching.
     */
    public SegmentFlows matchedFlows() {
        return matching == null ? null : matching.flows();
    }

    /**
     * The counters of exact matching, which compare the digests of the two points. Returns the counters, safe from any thread;
     * null without matching.
     */
    public MatchCounters matchCounters() {
        return matching == null ? null : matching.counters();
    }

    @Override
    public void close() {
        CloseHelper.close(sender);
        if (sketching != null) {
            sketching.close();
        }
    }

    /** How long a record may wait for its flow's end. */
    private static long recordNs(final ExporterConfig config) {
        return config.metering().activeTimeoutNs() + config.metering().idleTimeoutNs();
    }

    private static boolean isStamped(final ReferenceMode mode) {
        return mode == ReferenceMode.MARKED || mode == ReferenceMode.PASSIVE;
    }

    /**
     * References that this process sends have one size, so serialisation is not fitted; packets of the traffic differ in size.
     */
    private static SerialisationMode serialisation(final ExporterConfig.Rli rli, final ReferenceMode mode) {
        return switch (rli.serialisation()) {
            case AUTO -> isStamped(mode) ? SerialisationMode.AUTO : SerialisationMode.NONE;
            case NONE -> SerialisationMode.NONE;
            case CAPACITY -> SerialisationMode.CAPACITY;
            case FITTED -> SerialisationMode.FITTED;
        };
    }

    private static ReceiverContext receiverContext(
        final ExporterConfig config, final DelayWiring wiring, final TrafficClasses classes) {
        return receiverContext(config, wiring.referenceMode(), config.rli().senderCount() * classes.count());
    }

    /**
     * The streams of unmatched flows, in both directions where captures hold both. A pause between matched packets does not
     * mean a silent sender.
     */
    private static ReceiverContext standInContext(
        final ExporterConfig config, final DelayWiring wiring, final TrafficClasses classes) {
        final int ways = config.rli().senderCount() + (wiring.captures().sides() == null ? 0 : 1);
        return receiverContext(config, ReferenceMode.MARKED, ways * classes.count()).silentAfterNs(recordNs(config));
    }

    private static ReceiverContext receiverContext(
        final ExporterConfig config, final ReferenceMode mode, final int streamCount) {
        final ExporterConfig.Rli rli = config.rli();
        final int[] streamClasses = new int[streamCount];
        for (int i = 0; i < streamClasses.length; i++) {
            streamClasses[i] = i;
        }
        return new ReceiverContext()
            .classCount(streamClasses.length)
            .streams(streamClasses)
            .referenceRegular(mode == ReferenceMode.PASSIVE || mode == ReferenceMode.MARKED)
            .estimator(rli.estimator() == ExporterConfig.EstimatorKind.LEFT ? Estimator.LEFT : Estimator.LINEAR)
            .sendTimes(isStamped(mode) ? SendTimes.STAMP : SendTimes.FOLLOW_UP)
            .serialisation(serialisation(rli, mode))
            .capacityBps(rli.capacityBps())
            .bufferPackets(rli.bufferPackets())
            .silentAfterNs(rli.silentAfterNs())
            .maximumGapNs(mode == ReferenceMode.PASSIVE ? rli.maximumGapNs() : Long.MAX_VALUE)
            .maximumDelayNs(config.segment().maximumDelayNs())
            .driftApplied(rli.drift() == ExporterConfig.Drift.APPLY);
    }
}
