package io.flowlag.exporter.delay;

import io.flowlag.exporter.capture.CaptureClock;
import io.flowlag.exporter.config.ExporterConfig;
import io.flowlag.exporter.decode.DecodedReference;
import io.flowlag.exporter.decode.PacketDescriptor;
import io.flowlag.exporter.delay.exact.MatchCounters;
import io.flowlag.exporter.delay.exact.SegmentFlows;
import io.flowlag.exporter.delay.interval.records.SketchCounter;
import io.flowlag.exporter.flow.FlowCache;
import io.flowlag.exporter.status.ClockEstimate;
import io.flowlag.exporter.status.CounterId;
import io.flowlag.exporter.status.Counters;
import io.flowlag.exporter.status.DelayHistogram;
import io.flowlag.exporter.status.DelayStatistics;
import io.flowlag.exporter.status.DelayView;
import io.flowlag.exporter.status.IntervalDelays;
import io.flowlag.exporter.status.SegmentDescription;
import io.flowlag.exporter.status.SketchStatistics;
import io.flowlag.rli.reference.ReferenceSession;
import org.agrona.DirectBuffer;
import org.agrona.MutableDirectBuffer;

import java.util.List;
import java.util.concurrent.atomic.AtomicReference;

/**
 * The delay stage: passes each packet of the segment to its measurement point, and references, time and the end of flows to the
 * estimators of both points.
 * <p>
 * The metering thread owns it; {@link #reload} and {@link #statistics} are safe from any thread. Allocates at construction and
 * at the end of a measurement interval.
 */
public final class DelayStage implements DelayView, AutoCloseable {
    /** For {@link #onTime}: capture progress is not known yet. */
    public static final long NOTHING_CAPTURED_NS = Long.MIN_VALUE;

    private final DelayWiring wiring;
    private final DelayParts parts;
    private final SenderPoint senderPoint;
    private final ReceiverPoint receiverPoint;
    private final DelayReport report;
    private final StandingLag lag = new StandingLag();
    private final CaptureClock clock;
    /** Of the process. */
    private final Counters counters;
    private final Counters own;
    /** Those of all shards in the process; where there is one, this one. The first speaks for all. */
    private List<DelayStage> shards = List.of(this);
    private final AtomicReference<ExporterConfig> newSettings = new AtomicReference<>();
    /** Whether the first shard works the sketches of all, where the shards meet. */
    private boolean isMeeting;
    private long toldCapturedNs = NOTHING_CAPTURED_NS;
    private long kernelDrops;
    private long ringDrops;
    private long clockSteps;

    /**
     * A stage that has seen nothing.
     *
     * @param wiring  of the stage.
     * @param flowEnd finishes the records of ended flows; the cache's sink.
     * @param cache   with {@link #stateLengthBytes} of state for this stage.
     * @param clock   of packets; it also stamps references.
     */
    public DelayStage(
        final ExporterConfig config,
        final DelayWiring wiring,
        final FlowEnd flowEnd,
        final FlowCache cache,
        final CaptureClock clock,
        final Counters counters) {
        this(config, wiring, flowEnd, cache, clock, counters, List.of());
    }

    /** One of several shards, after others; {@link #join} follows. */
    public DelayStage(
        final ExporterConfig config,
        final DelayWiring wiring,
        final FlowEnd flowEnd,
        final FlowCache cache,
        final CaptureClock clock,
        final Counters counters,
        final List<DelayStage> earlier) {
        this(config, wiring, flowEnd, cache, clock, counters, counters, new FlowMemory(
            config, List.of(wiring), earlier.stream().map((each) -> each.parts.sketches).toList()));
    }

    /** One of several stages that share a cache and memory; its packets count in its own share of the counters. */
    DelayStage(
        final ExporterConfig config,
        final DelayWiring wiring,
        final FlowEnd flowEnd,
        final FlowCache cache,
        final CaptureClock clock,
        final Counters counters,
        final Counters own,
        final FlowMemory memory) {
        this.wiring = wiring;
        this.clock = clock;
        this.counters = counters;
        this.own = own;
        parts = new DelayParts(config, wiring, flowEnd, cache, clock, own, memory, this::onSegmentChange);
        report = new DelayReport(config, wiring, parts, own);
        senderPoint = new SenderPoint(wiring, parts, own);
        receiverPoint = new ReceiverPoint(config, wiring, parts, report, own);
        flowEnd.stage(this);
    }

    /** Joins the stages of shards, which have different flows and the same references; before the first packet. */
    public static void join(final List<DelayStage> shards, final ExporterConfig config) {
        final DelayStage first = shards.get(0);
        final ShardSummaries summaries = new ShardSummaries(
            shards.size(), first.parts.summaries.streamCount(), config.segment().maximumDelayNs());
        for (int i = 0; i < shards.size(); i++) {
            shards.get(i).parts.summaries.join(summaries, i);
        }
        first.shards = List.copyOf(shards);
        SenderSketches.join(shards.stream().map((each) -> each.parts.sketches).toList());
        shards.forEach((each) -> each.isMeeting = each.parts.sketches.isOn());
        first.parts.schedule.join(shards.stream().skip(1).map((each) -> each.parts.schedule).toList());
        first.parts.reports.join(shards.stream().skip(1).map((each) -> each.parts.reports).toList());
        first.report.join(shards.stream().map((each) -> each.report).toList());
    }

    /** {@return a configuration with a shard's part of what flows take; the same where there is one} */
    public static ExporterConfig share(final ExporterConfig config) {
        final int shardCount = config.shardCount();
        return shardCount == 1 ? config : config.withFlows(
            (config.metering().maxFlows() + shardCount - 1) / shardCount, config.quantiles().memoryBytes() / shardCount);
    }

    /** {@return the counters of this stage's packets: a share of those of the process, or the same} */
    public Counters counters() {
        return own;
    }

    /** {@return the size of this stage's state of a flow, octets; 0 if it measures nothing} */
    public static int stateLengthBytes(final DelayWiring wiring) {
        if (!wiring.role().isReceiver()) {
            return 0;
        }
        if (wiring.isSketched()) {
            return FlowDelay.SKETCH_LENGTH_BYTES;
        }
        return wiring.isMatched() ? FlowDelay.EXACT_LENGTH_BYTES : FlowDelay.LENGTH_BYTES;
    }

    /** {@return the memory of the sketches of both points, by formula, octets; 0 without sketches} */
    public static long sketchMemoryBytes(final ExporterConfig config, final DelayWiring wiring, final boolean isLive) {
        return wiring.isSketched() ? SenderSketches.memoryBytes(config, wiring.receiverLink(), isLive) : 0;
    }

    /** Warnings for the operator about the weights of flows. */
    public static List<String> weightWarnings(final ExporterConfig config) {
        return IntervalStage.weightWarnings(config);
    }

    /**
     * The memory of the stages of a process, by formula, without their state in the flow cache; of sketches that may change, and
     * of intervals on their way to them, twice.
     *
     * @param segments configuration of each stage.
     * @param wirings  of the same stages.
     * @return octets on and off the heap.
     */
    public static long memoryBytes(
        final List<ExporterConfig> segments, final List<DelayWiring> wirings, final boolean isLive) {
        long bytes = FlowMemory.memoryBytes(segments.get(0), wirings);
        for (int i = 0; i < wirings.size(); i++) {
            bytes += DelayParts.memoryBytes(segments.get(i), wirings.get(i), isLive) +
                changingBytes(segments.get(i), wirings.get(i), isLive);
        }
        return bytes;
    }

    private static long changingBytes(final ExporterConfig config, final DelayWiring wiring, final boolean isLive) {
        final long sketchBytes = sketchMemoryBytes(config, wiring, isLive);
        return sketchBytes + (isLive && wiring.isSketched() ? sketchBytes + wiring.link().memoryBytes() : 0);
    }

    /** The same of the stages of shards that {@link #join}, with what flows of each take; the first's sketches are of all. */
    public static long memoryBytes(
        final ExporterConfig share, final DelayWiring wiring, final int shardCount, final boolean isLive) {
        final long changingBytes = changingBytes(share, wiring, isLive);
        return shardCount * (memoryBytes(List.of(share), List.of(wiring), isLive) - changingBytes) + changingBytes +
            (wiring.receiverLink() == null ? 0 : shardCount * SenderReports.Linked.QUEUE_BYTES) +
            ShardSummaries.waitingBytes(shardCount, share.rli().senderCount() * share.rli().classCount());
    }

    /**
     * Prefetches what the next packets need besides their flows; call it after {@link FlowCache#touch}. Changes nothing.
     *
     * @param offset of the first.
     * @param count  how many there are, at most {@link FlowCache#TOUCH_LIMIT}.
     */
    public void touch(final DirectBuffer descriptors, final int offset, final int count) {
        if (wiring.role().isReceiver()) {
            receiverPoint.touch(descriptors, offset, count);
        }
    }

    /** A packet at the sender point; the time is of the clock that references are sent by. */
    public void onSent(final DirectBuffer descriptor, final int offset, final long nowNs) {
        senderPoint.onPacket(descriptor, offset, nowNs);
    }

    /** Packets of other segments have used the link of the sender point, up to now. */
    public void onOthers(final int lengthBytes) {
        parts.schedule.onOtherPacket(lengthBytes);
    }

    /** {@return whether received packets may wait until {@link #settle}} */
    public boolean mayWait() {
        return receiverPoint.mayWait();
    }

    /** A packet at the receiver point. {@link #settle} measures it at the latest; its descriptor must stay valid until then. */
    public void onReceived(final DirectBuffer descriptor, final int offset, final int slot) {
        receiverPoint.onPacket(descriptor, offset, slot);
    }

    /**
     * Measures the waiting packets. Call it before any event other than a further receiver packet, and before their descriptors
     * become invalid.
     */
    public void settle() {
        receiverPoint.settle();
    }

    /** A verified reference, at either point, as {@link DecodedReference} has it. */
    public void onReference(final DirectBuffer descriptor, final int offset) {
        settle();
        final PacketInterpolation interpolation = parts.interpolation;
        final int stream = DecodedReference.streamIndex(descriptor, offset);
        final int sequenceNumber = DecodedReference.sequenceNumber(descriptor, offset);
        final long timestampNs = PacketDescriptor.timestampNs(descriptor, offset);
        if (wiring.isSenderPoint(PacketDescriptor.observationPoint(descriptor, offset))) {
            if (interpolation.isOn()) {
                interpolation.onSendTime(stream, sequenceNumber, timestampNs);
            } else {
                parts.schedule.onSeen(stream, sequenceNumber, timestampNs);
            }
        } else if (interpolation.isOn()) {
            parts.clocks.onReference(stream, DecodedReference.errorEstimate(descriptor, offset));
            final ClockEstimate estimate = parts.clocks.ofStream(stream);
            final long stampNs = DecodedReference.stampNs(descriptor, offset);
            if (parts.earlier.isEmpty()) {
                parts.clocks.onDelay(stream, stampNs, timestampNs);
            }
            interpolation.onReference(
                stream, sequenceNumber, estimate.correctedNs(stampNs), timestampNs,
                PacketDescriptor.wireLengthBytes(descriptor, offset), PacketDescriptor.sourcePort(descriptor, offset));
            if (DecodedReference.hasFollowUp(descriptor, offset)) {
                interpolation.onSendTime(
                    stream, DecodedReference.followUpSequenceNumber(descriptor, offset),
                    estimate.correctedNs(DecodedReference.followUpSentNs(descriptor, offset)));
            }
        }
    }

    /**
     * Live capture has reached a time; this process's drops of earlier packets are counted. Call it before {@link #onTime} of
     * that time, and in the order of the packets if the clock was set back.
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
        parts.sketches.lossKnown(throughNs);
    }

    /** Time was set back: restarts everything that depends on packet times. Nothing is measured across the step. */
    public void onTimeSetBack(final long nowNs) {
        settle();
        parts.interpolation.onTimeSetBack();
        parts.summaries.onTimeSetBack();
        parts.matching.onTimeSetBack(nowNs);
        if (!isMeeting) {
            parts.sketches.onTimeSetBack();
        }
        parts.sending.onTimeSetBack(nowNs);
        report.onInterval();
    }

    /**
     * Reads the clock of live packets after the counters: whatever they count was dropped before. Losses across a step of the
     * clock are as little known as if packets had been dropped.
     */
    private void readOwnLoss(final long packetNs) {
        final long kernelTotal = counters.ownCount(CounterId.LOST_IN_KERNEL);
        final long ringTotal = counters.ownCount(CounterId.DROPPED_AT_PACKET_RING);
        final long stepTotal = counters.ownCount(CounterId.CLOCK_STEPPED);
        if (kernelTotal == kernelDrops && ringTotal == ringDrops && stepTotal == clockSteps) {
            return;
        }
        final long newDrops = kernelTotal - kernelDrops + ringTotal - ringDrops;
        kernelDrops = kernelTotal;
        ringDrops = ringTotal;
        clockSteps = stepTotal;
        final long nowNs = clock.isLive() ? Math.max(clock.nanoTime(), packetNs) : packetNs;
        parts.matching.onOwnLoss(nowNs, newDrops);
        parts.sketches.onOwnLoss(nowNs);
        parts.sending.onOwnLoss(nowNs, kernelTotal, ringTotal);
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
            parts.schedule.settings(settings);
            parts.interpolation.settings(settings.rli());
            parts.summaries.recordNs(DelaySummaries.recordNs(settings));
        }
        parts.schedule.follow(parts.sending.holdingAt(nowNs));
        parts.segment.at(capturedNs);
        parts.reports.poll();
        if (capturedNs != NOTHING_CAPTURED_NS) {
            lag.onTime(nowNs, capturedNs);
            advance(nowNs, capturedNs);
        }
        return parts.schedule.onTime(nowNs, capturedNs);
    }

    /** {@return when the stage needs {@link #onTime} to be precise, since the epoch; others may come some milliseconds late} */
    public long nextDueNs(final long nowNs) {
        return parts.schedule.nextDueNs(nowNs);
    }

    private void advance(final long nowNs, final long capturedNs) {
        if (!clock.isLive()) {
            readOwnLoss(capturedNs);
        }
        parts.interpolation.onTime(capturedNs);
        receiverPoint.onTime(capturedNs);
        parts.matching.onTime(capturedNs);
        parts.sketches.onTime(capturedNs);
        if (wiring.isShipping()) {
            parts.sending.onTime(nowNs, capturedNs);
        }
    }

    /** A change of the segment takes effect. */
    private void onSegmentChange(final SketchChange change) {
        receiverPoint.onTime(change.fromNs());
        if (!change.isSameWay()) {
            // A packet on its way may be selected at one point alone.
            parts.matching.onOwnLoss(change.fromNs(), 0);
        }
        parts.summaries.intervalNs(change.config().segment().intervalNs());
        parts.summaries.classes(parts.segment.classes());
        report.classes(change.config().rli().references().classes());
        parts.tellEstimates(change.config());
    }

    /** The input has ended: settles or discards everything that waits for a reference, before the flows end. */
    public void onEnd() {
        if (clock.isLive()) {
            onCaptured(Long.MAX_VALUE);
        }
        parts.interpolation.onEnd();
        parts.summaries.onEnd();
        parts.matching.onEnd();
        if (!isMeeting) {
            parts.sketches.onEnd();
        }
        report.onInterval();
    }

    /** {@return whether the shards meet, and the first works the sketches of all while the others do nothing} */
    public boolean isMeeting() {
        return isMeeting;
    }

    /**
     * All shards have metered the packets from before a time, and do nothing: this one, the first, compares the intervals that
     * are due, of all. Returns the time up to which they may meter next.
     */
    public long meet(final long throughNs) {
        return parts.sketches.meet(throughNs);
    }

    /** The same after all shards have seen that time was set back; then all meet at their next packets. */
    public void meetTimeSetBack() {
        parts.sketches.onTimeSetBack();
    }

    /** The same after the end of all packets; then the flows end. */
    public void meetEnd() {
        parts.sketches.onEnd();
    }

    /** A flow ends: writes the fields that are known only now. Returns false if the record waits for more, and was copied. */
    boolean onFlowEnd(final MutableDirectBuffer entry, final int offset) {
        if (!wiring.role().isReceiver()) {
            return true;
        }
        settle();
        return parts.flowDelays.onFlowEnd(entry, offset);
    }

    /** {@return whether every packet of a flow is decided} */
    boolean isComplete(final DirectBuffer entries, final int offset) {
        return parts.matching.isComplete(entries, offset);
    }

    /** {@return the delays of flows; for the metering thread} */
    public FlowDelays flowDelays() {
        return parts.flowDelays;
    }

    /**
     * Checks whether new settings of the segment and its sketches can be applied; call before announcing them. Any thread;
     * changes nothing.
     *
     * @throws IllegalArgumentException if not; the message names the value that is wrong.
     */
    public void check(final ExporterConfig config) {
        parts.sketches.check(share(config));
    }

    /**
     * Changes the settings of the segment and its sketches, at the change's time. Any thread, one at a time, and not while {@link
     * #isChanging}.
     */
    public void change(final SketchChange newChange) {
        for (final DelayStage each : shards) {
            each.parts.segment.announce(newChange);
        }
        // Also of other shards.
        parts.sketches.change(new SketchChange(
            share(newChange.config()), newChange.fromNs(), newChange.answers(), newChange.isSameWay(), newChange.reason()));
    }

    /** {@return whether the last change is incomplete} */
    public boolean isChanging() {
        return shards.stream().anyMatch((each) -> each.parts.segment.isAnnounced() || each.parts.sketches.isChanging());
    }

    /**
     * Changes the settings of references and flows that may change while packets pass, with as many classes as before; from the
     * next duty cycle on.
     */
    public void reload(final ExporterConfig settings) {
        shards.forEach((each) -> each.newSettings.set(settings));
    }

    /** References are signed with the keys of the same sessions as they are now. Any thread. */
    public void renew(final List<ReferenceSession> newer) {
        parts.schedule.renew(newer);
    }

    /** Sets the names of the sources, the sender point first; before the first packet. */
    public void points(final List<String> names) {
        report.points(names);
    }

    @Override
    public long intervalCount() {
        return parts.summaries.intervals().count();
    }

    @Override
    public List<IntervalDelays> interval(final long number) {
        return parts.summaries.intervals().get(number);
    }

    @Override
    public List<DelayHistogram> histograms() {
        return parts.summaries.histograms();
    }

    @Override
    public SegmentDescription segment() {
        return report.segment();
    }

    @Override
    public List<SketchStatistics> sketches() {
        return parts.sketches.statistics();
    }

    /** {@return the traffic of each sender's last compared interval; any thread} */
    public List<IntervalLoad> loads() {
        return parts.sketches.loads();
    }

    /** {@return by how much the metering of live packets is behind and does not catch up, ns; any thread} */
    public long lagNs() {
        return shards.stream().mapToLong((each) -> each.lag.ns()).max().orElse(0);
    }

    /** {@return a counter of the sketches, of all senders together; 0 without sketches; any thread} */
    public long sketchCount(final SketchCounter counter) {
        return shards.stream().mapToLong((each) -> each.parts.sketches.get(counter)).sum();
    }

    /**
     * The delay, by the two clocks, of packets that came too early or too late for their interval. Any thread. Returns ns,
     * signed, of the last ones; 0 if none are known.
     */
    public long clocksApartNs() {
        return parts.sketches.clocksApartNs();
    }

    /** {@return whether the ceiling of references limits the policy; any thread} */
    public boolean isCeilingTooLow() {
        return parts.schedule.isCeilingTooLow();
    }

    @Override
    public DelayStatistics statistics() {
        return report.statistics();
    }

    /** {@return the flows of the segment by exact matching, usable after the stage has ended; null without matching} */
    public SegmentFlows matchedFlows() {
        return parts.matching.flows();
    }

    /** {@return the counters of exact matching, safe from any thread; null without matching} */
    public MatchCounters matchCounters() {
        return parts.matching.counters();
    }

    @Override
    public void close() {
        parts.schedule.close();
        parts.sketches.close();
    }
}
