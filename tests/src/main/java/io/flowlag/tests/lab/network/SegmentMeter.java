package io.flowlag.tests.lab.network;

import io.flowlag.common.hash.KeyedMix;
import io.flowlag.exporter.capture.CaptureClock;
import io.flowlag.exporter.config.ConfigLoader;
import io.flowlag.exporter.config.ExporterConfig;
import io.flowlag.exporter.config.ExporterConfig.Role;
import io.flowlag.exporter.decode.PacketDescriptor;
import io.flowlag.exporter.delay.ClockError;
import io.flowlag.exporter.delay.DelayStage;
import io.flowlag.exporter.delay.DelayWiring;
import io.flowlag.exporter.delay.FlowEnd;
import io.flowlag.exporter.delay.ReferenceMode;
import io.flowlag.exporter.flow.FlowAdditions;
import io.flowlag.exporter.flow.FlowCache;
import io.flowlag.exporter.flow.FlowCacheSettings;
import io.flowlag.exporter.pipeline.DelayMeteringAgent;
import io.flowlag.exporter.pipeline.MeteringAgent;
import io.flowlag.exporter.pipeline.StageRing;
import io.flowlag.exporter.status.AggregateDelay;
import io.flowlag.exporter.status.Counters;
import io.flowlag.exporter.status.DelayDistribution;
import io.flowlag.exporter.status.IntervalDelays;
import io.flowlag.exporter.status.JointStatistics;
import io.flowlag.exporter.status.ReconcileStatistics;
import io.flowlag.exporter.status.SketchStatistics;
import io.flowlag.network.window.IntervalDelay;
import io.flowlag.network.window.MeanSource;
import org.agrona.concurrent.UnsafeBuffer;

import java.util.List;

/**
 * Both points of a segment in simulated time: packets go through the product's metering and delay stages, and each mean of each
 * measurement interval comes out as its record has it. Packets come in the order of time. One thread.
 */
final class SegmentMeter {
    /** Before the first packet. */
    static final long BEGIN_NS = 1_700_000_000_000_000_000L;

    private static final int SENDER = 0;
    private static final int RECEIVER = 1;
    private static final long LIFE_NS = 3_600_000_000_000L;
    private static final int DIGEST_SEED = 11;
    private static final int POLLS_OF_INTERVAL = 8;

    private final Handler handler;
    private final DelayStage stage;
    private final MeteringAgent agent;
    private final UnsafeBuffer descriptor = new UnsafeBuffer(new byte[PacketDescriptor.LENGTH_BYTES]);
    private final long pollNs;
    private long polledNs;
    private long intervals;
    private SketchStatistics sketches;

    /** Takes the means of intervals. */
    @FunctionalInterface
    interface Handler {
        /**
         * An interval has ended.
         *
         * @param startNs since {@link #BEGIN_NS}; the interval has what was sent from then on, if {@code isSent}, else what was
         *                received.
         */
        void onInterval(long startNs, boolean isSent, IntervalDelay delay);
    }

    /**
     * A meter.
     *
     * @param keys       of the configuration, but for its role.
     * @param flowCount  of the flows at most.
     * @param intervalNs as the keys have it.
     */
    SegmentMeter(final String keys, final int flowCount, final long intervalNs, final Handler handler) {
        this.handler = handler;
        pollNs = intervalNs / POLLS_OF_INTERVAL;
        final ExporterConfig config = new ConfigLoader().text("test", keys).conclude();
        final boolean isExact = config.segment().exact();
        final ReferenceMode mode = keys.contains("passive") ? ReferenceMode.PASSIVE : ReferenceMode.MARKED;
        final DelayWiring wiring = new DelayWiring(Role.BOTH, new DelayWiring.References(mode, List.of()), ClockError.NONE, true,
            isExact, isExact, config.lds().enabled());
        final Counters counters = new Counters();
        final FlowEnd flowEnd = new FlowEnd((entry, offset, lengthBytes) -> { });
        final FlowCache cache = new FlowCache(
            new FlowCacheSettings(
                flowCount, DelayStage.stateLengthBytes(wiring), FlowAdditions.NONE,
                new FlowCacheSettings.Timeouts(LIFE_NS, LIFE_NS, 0, 0), 0,
                FlowCacheSettings.Key.of(false, false, false), FlowCacheSettings.Snapshots.NONE, 0, 1), flowEnd, counters);
        stage = new DelayStage(config, wiring, flowEnd, cache, CaptureClock.FILES, counters);
        agent = new DelayMeteringAgent(cache, StageRing.unused(), () -> true, CaptureClock.FILES, stage, wiring, false, counters);
    }

    /** A packet passes the sender's point; times are since {@link #BEGIN_NS}. */
    void onSent(final int flow, final long number, final int lengthBytes, final long sentNs) {
        onPacket(SENDER, flow, number, lengthBytes, sentNs);
    }

    /** A packet passes the receiver's point. */
    void onReceived(final int flow, final long number, final int lengthBytes, final long receivedNs) {
        onPacket(RECEIVER, flow, number, lengthBytes, receivedNs);
        if (receivedNs - polledNs >= pollNs) {
            polledNs = receivedNs;
            poll();
        }
    }

    private void onPacket(final int point, final int flow, final long number, final int lengthBytes, final long timeNs) {
        PacketDescriptor.timestampNs(descriptor, 0, BEGIN_NS + timeNs);
        PacketDescriptor.ipVersion(descriptor, 0, 4);
        PacketDescriptor.protocol(descriptor, 0, 17);
        PacketDescriptor.sourceLow(descriptor, 0, flow);
        PacketDescriptor.segmentCount(descriptor, 0, 1);
        PacketDescriptor.ipLengthBytes(descriptor, 0, lengthBytes);
        PacketDescriptor.wireLengthBytes(descriptor, 0, lengthBytes);
        PacketDescriptor.observationPoint(descriptor, 0, point);
        PacketDescriptor.flags(descriptor, 0, PacketDescriptor.FLAG_DIGEST);
        PacketDescriptor.digest(descriptor, 0, KeyedMix.mix(number, DIGEST_SEED));
        PacketDescriptor.segmentFlowHash(descriptor, 0, KeyedMix.mix(flow, DIGEST_SEED));
        agent.onDescriptors(descriptor, 0, 1);
    }

    /** The last packet has come. */
    void end() {
        stage.onEnd();
        poll();
        stage.close();
    }

    private void poll() {
        for (; intervals < stage.intervalCount(); intervals++) {
            onSummary(stage.interval(intervals).get(0));
        }
        final List<SketchStatistics> all = stage.sketches();
        final SketchStatistics newest = all.isEmpty() ? null : all.get(0);
        if (newest != null && newest != sketches) {
            if (newest.startNs() != null && (sketches == null || !newest.isOfInterval(sketches))) {
                onAggregate(MeanSource.AGGREGATOR, newest.startNs(), newest.interval().get(0));
            }
            onReconciled(newest.reconcile(), sketches == null ? null : sketches.reconcile());
            onJoint(newest.joint(), sketches == null ? null : sketches.joint());
            sketches = newest;
        }
    }

    private void onSummary(final IntervalDelays interval) {
        final long startNs = interval.summary().startNs() - BEGIN_NS;
        onDelays(MeanSource.EXACT, startNs, interval.packets(), interval.summary().matched(), interval.matchedBoundNs());
        onDelays(MeanSource.ESTIMATES, startNs, interval.packets(), interval.summary().estimates(), interval.estimatesBoundNs());
        onDelays(MeanSource.REFERENCES, startNs, interval.packets(), interval.summary().references(),
            interval.referencesBoundNs());
    }

    private void onDelays(
        final MeanSource source, final long startNs, final long packets, final DelayDistribution delays, final long boundNs) {
        if (delays.count() > 0 && packets > 0) {
            handler.onInterval(startNs, false, new IntervalDelay(source, packets, Math.min(packets, delays.count()),
                delays.meanNs(), delays.standardDeviationNs() == null ? 0 : delays.standardDeviationNs(),
                boundNs < 0 ? Double.NaN : boundNs, 0, delays.minimumNs(), delays.maximumNs()));
        }
    }

    private void onReconciled(final ReconcileStatistics newest, final ReconcileStatistics before) {
        if (newest != null && (before == null || before.startNs() != newest.startNs())) {
            onAggregate(MeanSource.RECONCILED, newest.startNs(), newest.interval().get(0));
        }
    }

    private void onAggregate(final MeanSource source, final long startNs, final AggregateDelay delay) {
        if (delay.meanNs() != null && delay.packets() != null) {
            handler.onInterval(startNs - BEGIN_NS, true, new IntervalDelay(source, delay.packets(), delay.samples(),
                delay.meanNs(), delay.standardDeviationNs() == null ? Double.NaN : delay.standardDeviationNs(),
                delay.boundNs() == null ? Double.NaN : delay.boundNs(), 0, Double.NaN, Double.NaN));
        }
    }

    private void onJoint(final JointStatistics newest, final JointStatistics before) {
        if (newest != null && newest.meanNs() != null && (before == null || before.startNs() != newest.startNs())) {
            handler.onInterval(newest.startNs() - BEGIN_NS, true, new IntervalDelay(MeanSource.JOINT, 1, 1, newest.meanNs(),
                Double.NaN, newest.boundNs() == null ? Double.NaN : newest.boundNs(), 0, Double.NaN, Double.NaN));
        }
    }
}
