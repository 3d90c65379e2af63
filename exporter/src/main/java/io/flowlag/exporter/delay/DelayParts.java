package io.flowlag.exporter.delay;

import io.flowlag.common.hash.SipHash;
import io.flowlag.exporter.capture.CaptureClock;
import io.flowlag.exporter.config.ExporterConfig;
import io.flowlag.exporter.delay.interval.records.IntervalMode;
import io.flowlag.exporter.flow.FlowCache;
import io.flowlag.exporter.status.Counters;
import io.flowlag.rli.path.FlowPaths;
import io.flowlag.rli.receiver.ReceiverSettings;
import io.flowlag.rli.receiver.RliReceiver;

import java.util.List;
import java.util.function.Consumer;

/**
 * The parts of a delay stage, as its wiring asks for them: estimators, schedule and statistics. A part that the wiring leaves
 * out does nothing. Allocates at construction.
 */
final class DelayParts {
    final CurrentSegment segment;
    final ClockDifference clocks;
    final FlowDistributions distributions;
    final SampleWriter samples;
    final PacketInterpolation interpolation;
    final DelaySummaries summaries;
    final Matching matching;
    final ReferenceSchedule schedule;
    final SenderReports reports;
    final SketchSending sending;
    final FlowDelays flowDelays;
    final SenderSketches sketches;
    /** Of the shards before this one. */
    final List<SenderSketches> earlier;

    /** Parts that have seen nothing; parameters as of {@link DelayStage}, and the handler of changes of the segment. */
    DelayParts(
        final ExporterConfig config, final DelayWiring wiring, final FlowEnd flowEnd, final FlowCache cache,
        final CaptureClock clock, final Counters counters, final FlowMemory memory,
        final Consumer<SketchChange> changeHandler) {
        earlier = memory.earlier();
        segment = new CurrentSegment(config, wiring.pairs(), changeHandler);
        final int classCount = segment.classes().count();
        final int senderCount = segment.senders().count();
        clocks = new ClockDifference(wiring, senderCount, classCount);
        distributions = memory.distributions();
        samples = new SampleWriter(cache, distributions, !wiring.isExact(), classCount);
        final RliReceiver receiver =
            isInterpolated(wiring) ? new RliReceiver(receiverSettings(config, wiring), samples, memory.paths(mode(wiring))) :
                RliReceiver.none();
        final ReferencePackets references = references(config, wiring, receiver, cache);
        interpolation = new PacketInterpolation(receiver, references, cache, distributions, classCount);
        final int ways = wiring.pairs().isOn() ? wiring.pairs().count() : senderCount + wiring.captures().otherWays();
        summaries = new DelaySummaries(
            receiver, (index) -> clocks.estimate(wiring.pairs().isOn() ? 0 : index), wiring.isExact(), segment.classes(),
            !isInterpolated(wiring) && !wiring.isExact() ? 0 : ways, config.segment().intervalNs(),
            DelaySummaries.recordNs(config), config.segment().maximumDelayNs());
        summaries.segments(wiring.pairs().names());
        matching = matching(config, wiring, cache, clock);
        schedule = wiring.references().isSent() ?
            earlier.isEmpty() ? new ReferenceSender(config, wiring, segment, sendTimeHandler(wiring), clock) :
                new PassedPackets(config.rli().injection().policy(), segment, classCount) :
            references instanceof MarkedStage marked ? new MarkingSchedule(config, segment, marked) :
                new ReferenceSchedule(config.rli().injection().policy());
        reports = wiring.receiverLink() == null ? new SenderReports() :
            new SenderReports.Linked(
                wiring.receiverLink(), earlier.isEmpty(), config.rli().senderCount(), interpolation, clocks);
        sending = new SketchSending(wiring.senderLink());
        flowDelays = new FlowDelays(config, wiring, flowEnd, cache, counters, clock.isLive(), this);
        sketches = flowDelays.sketches();
        tellEstimates(config);
    }

    static boolean isInterpolated(final DelayWiring wiring) {
        return wiring.role().isReceiver() && wiring.isInterpolated();
    }

    private static ReferenceMode mode(final DelayWiring wiring) {
        return isInterpolated(wiring) ? wiring.references().mode() : ReferenceMode.NONE;
    }

    private static ReceiverSettings receiverSettings(final ExporterConfig config, final DelayWiring wiring) {
        return PacketInterpolation.settings(
            config, wiring.references().mode(), config.rli().senderCount() * config.rli().classCount(),
            config.rli().silentAfterNs());
    }

    private ReferencePackets references(
        final ExporterConfig config, final DelayWiring wiring, final RliReceiver receiver, final FlowCache cache) {
        final long maximumDelayNs = config.segment().maximumDelayNs();
        return switch (mode(wiring)) {
            case MARKED -> new MarkedStage(receiver, config.rli().classCount(), maximumDelayNs);
            case PASSIVE -> new PassiveStage(
                receiver, config.rli().senderCount(), config.rli().passivePpm(), maximumDelayNs,
                wiring.receiverLink() == null ? 0 : config.rli().silentAfterNs(), sendTimesBps(config),
                new FlowSamples(
                    cache, distributions, wiring.receiverLink() == null ? new SipHash(0, 0) : wiring.receiverLink().hash(),
                    config.quantiles().bandwidthBps() > 0 && !wiring.isExact()), clocks);
            default -> !isSampled(config, wiring) ? new ReferencePackets() : new PathSamples(
                receiver, cache, config.rli().senderCount(), config.rli().passivePpm(), maximumDelayNs,
                config.rli().silentAfterNs(), sendTimesBps(config), clocks);
        };
    }

    /** Whether packets are sampled at both points beside injected references, which needs the exchange. */
    private static boolean isSampled(final ExporterConfig config, final DelayWiring wiring) {
        return mode(wiring) == ReferenceMode.SENT && wiring.receiverLink() != null && config.rli().passivePpm() > 0;
    }

    private static long sendTimesBps(final ExporterConfig config) {
        return config.rli().injection().ceilingBps() + config.quantiles().bandwidthBps();
    }

    private Matching matching(
        final ExporterConfig config, final DelayWiring wiring, final FlowCache cache, final CaptureClock clock) {
        if (!wiring.isMatched()) {
            return new Matching();
        }
        final boolean isLive = clock.isLive();
        final ExactMatching exact = wiring.pairs().isOn() ?
            new PairMatching(config, wiring, isLive, cache, distributions, summaries) : hasStandIn(wiring, isLive) ?
                new StandIn(config, wiring, isLive, cache, distributions, summaries, segment) :
                new ExactMatching(config, wiring, isLive, cache, distributions, summaries, interpolation.receiver());
        if (isLive) {
            exact.onLive(clock.nanoTime());
        }
        return exact;
    }

    /** Whether flows may be left out of matching while no other estimator measures their delays. */
    private static boolean hasStandIn(final DelayWiring wiring, final boolean isLive) {
        return wiring.isMatched() && wiring.isExact() && !wiring.isInterpolated() && !wiring.pairs().isOn() &&
            (isLive || wiring.captures().matchedOneIn() > 1);
    }

    /** The consumer of effective send times in addition to follow-ups: the receiver in this process, or the remote one. */
    private ReferenceTransmitter.SendTimeHandler sendTimeHandler(final DelayWiring wiring) {
        return wiring.isShipping() && !interpolation.isOn() ?
            (stream, number, sentNs, method) -> wiring.senderLink().shipSendTime(stream, number, sentNs, method.code()) :
            (stream, number, sentNs, method) -> interpolation.onSendTime(stream, number, sentNs);
    }

    /** Passes estimates by references to the sketches if the joint estimation is on, or already was. */
    void tellEstimates(final ExporterConfig config) {
        if (sketches.isOn() && config.joint().enabled()) {
            samples.tell(sketches);
        }
    }

    /**
     * Decides whether packets may wait. They may if they are only sketched and interpolated, in cells of one sender's sketches,
     * and no packet is estimated before the next has come. More estimates fit than packets wait, so waiting discards none.
     */
    boolean mayWait(final ExporterConfig config, final DelayWiring wiring) {
        return wiring.isFlowHashLeft() && wiring.receiverLink().mode() != IntervalMode.FLOWS &&
            segment.senders().isOneForAll() && !mode(wiring).isTraffic() &&
            config.rli().estimator() == ExporterConfig.EstimatorKind.LINEAR &&
            (!config.joint().enabled() || config.joint().pendingPackets() >= 2 * PendingPackets.LIMIT);
    }

    private static long receiverBytes(final ReceiverSettings settings) {
        return settings.memoryBytes() - FlowPaths.memoryBytes(settings.pathFlows());
    }

    /** The memory of the parts without the sketches and {@link FlowMemory}, see {@link DelayStage#memoryBytes}. */
    static long memoryBytes(final ExporterConfig config, final DelayWiring wiring, final boolean isLive) {
        final boolean isInterpolated = isInterpolated(wiring);
        final int senderCount = config.rli().senderCount();
        return (isInterpolated ? receiverBytes(receiverSettings(config, wiring)) : 0) +
            (isInterpolated || wiring.isExact() ? DelaySummaries.memoryBytes(
                Math.max(senderCount, wiring.pairs().count()) * config.rli().classCount(), isInterpolated,
                wiring.isExact()) : 0) + wiring.pairs().memoryBytes() +
            (mode(wiring) == ReferenceMode.MARKED ? MarkedStage.memoryBytes() : 0) +
            (mode(wiring) == ReferenceMode.PASSIVE || isSampled(config, wiring) ? PassiveStage.memoryBytes(
                senderCount, wiring.receiverLink() != null, sendTimesBps(config)) : 0) +
            (wiring.isSketched() ? PendingPackets.MEMORY_BYTES + senderCount * IntervalStage.BATCH_BYTES : 0) +
            (wiring.isMatched() ? ExactMatching.memoryBytes(config, isLive, wiring.captures()) : 0) +
            (hasStandIn(wiring, isLive) ? StandIn.memoryBytes(config, wiring.captures()) : 0);
    }
}
