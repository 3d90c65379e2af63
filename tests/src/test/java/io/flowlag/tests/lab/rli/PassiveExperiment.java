package io.flowlag.tests.lab.rli;

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
import io.flowlag.exporter.flow.FlowEntry;
import io.flowlag.exporter.lab.ReferenceModel;
import io.flowlag.exporter.lab.SegmentHandler;
import io.flowlag.exporter.lab.SegmentProfile;
import io.flowlag.exporter.lab.SegmentTruth;
import io.flowlag.exporter.lab.SimulatedPacket;
import io.flowlag.exporter.lab.SimulatedSegment;
import io.flowlag.exporter.pipeline.DelayMeteringAgent;
import io.flowlag.exporter.pipeline.MeteringAgent;
import io.flowlag.exporter.pipeline.StageRing;
import io.flowlag.exporter.status.Counters;
import io.flowlag.rli.counters.DelayCounters;
import io.flowlag.tests.lab.report.Numbers;
import org.agrona.DirectBuffer;
import org.agrona.concurrent.UnsafeBuffer;

import java.util.List;
import java.util.Locale;
import java.util.stream.IntStream;

/**
 * One run of a simulated segment without injected references, through the product's delay stage with policy passive: estimates
 * and the truth, flow by flow.
 */
final class PassiveExperiment {
    private static final long LIFE_NS = 3_600_000_000_000L;
    private static final int DIGEST_SEED = 11;

    private final SegmentTruth truth;
    private final long[] counts;
    private final long[] sumsNs;
    private final DelayStage stage;
    private final MeteringAgent agent;
    private final UnsafeBuffer descriptor = new UnsafeBuffer(new byte[PacketDescriptor.LENGTH_BYTES]);

    /** Runs it to the end, with a share of the packets as references. */
    PassiveExperiment(final SegmentProfile profile, final double share) {
        final SimulatedSegment segment = new SimulatedSegment(profile.with((ReferenceModel)null));
        truth = new SegmentTruth(segment.flows());
        counts = new long[segment.flows().flowCount()];
        sumsNs = new long[counts.length];
        final ExporterConfig read = new ConfigLoader().text("test", String.format(Locale.ROOT,
            "segment: {role: both, ingress: a, egress: b, exact: off}\nrli: {policy: passive, passive-share: %.6f}\n" +
            "lds: {enabled: on, rows: 1, columns: 16}\n", share)).conclude();
        final ExporterConfig config = read.with(read.rli().withSerialisationAt(profile.capacityBps()));
        final DelayWiring wiring = new DelayWiring(
            Role.BOTH, new DelayWiring.References(ReferenceMode.PASSIVE, List.of()), ClockError.NONE, true, false, false, false);
        final Counters counters = new Counters();
        final FlowEnd flowEnd = new FlowEnd(this::onFlow);
        final FlowCache cache = new FlowCache(
            new FlowCacheSettings(
                counts.length, DelayStage.stateLengthBytes(wiring), FlowAdditions.NONE,
                new FlowCacheSettings.Timeouts(LIFE_NS, LIFE_NS, 0, 0), 0,
                FlowCacheSettings.Key.of(false, false, false), FlowCacheSettings.Snapshots.NONE, 0, 1), flowEnd, counters);
        stage = new DelayStage(config, wiring, flowEnd, cache, CaptureClock.FILES, counters);
        agent = new DelayMeteringAgent(cache, StageRing.unused(), () -> true, CaptureClock.FILES, stage, wiring, false, counters);
        segment.run(new Feed());
        IntStream.range(0, 2 + counts.length).forEach((each) -> agent.doWork());
    }

    private void onFlow(final DirectBuffer entry, final int offset, final int lengthBytes) {
        final int flow = (int)FlowEntry.sourceLow(entry, offset);
        final int delayOffset = offset + FlowEntry.BASE_LENGTH_BYTES;
        if (DelayCounters.count(entry, delayOffset) > 0) {
            counts[flow] += DelayCounters.count(entry, delayOffset);
            sumsNs[flow] += DelayCounters.sumNs(entry, delayOffset);
        }
    }

    /** The truth, and both points at the same time. */
    private final class Feed implements SegmentHandler {
        @Override
        public void onSent(final SimulatedPacket packet) {
            truth.onSent(packet);
            pass(packet, 0, packet.sentNs());
        }

        @Override
        public void onReceived(final SimulatedPacket packet, final long arrivalNs) {
            truth.onReceived(packet, arrivalNs);
            pass(packet, 1, arrivalNs);
        }

        @Override
        public void onLost(final SimulatedPacket packet) {
            truth.onLost(packet);
        }
    }

    private void pass(final SimulatedPacket packet, final int point, final long timestampNs) {
        descriptor.setMemory(0, PacketDescriptor.LENGTH_BYTES, (byte)0);
        PacketDescriptor.timestampNs(descriptor, 0, timestampNs);
        PacketDescriptor.ipVersion(descriptor, 0, 4);
        PacketDescriptor.protocol(descriptor, 0, 17);
        PacketDescriptor.sourceLow(descriptor, 0, packet.flow());
        PacketDescriptor.segmentCount(descriptor, 0, 1);
        PacketDescriptor.ipLengthBytes(descriptor, 0, packet.lengthBytes() - 14);
        PacketDescriptor.wireLengthBytes(descriptor, 0, packet.lengthBytes());
        PacketDescriptor.observationPoint(descriptor, 0, point);
        PacketDescriptor.flags(descriptor, 0, PacketDescriptor.FLAG_DIGEST);
        PacketDescriptor.digest(descriptor, 0, KeyedMix.mix((long)packet.flow() << Integer.SIZE | packet.number(), DIGEST_SEED));
        PacketDescriptor.segmentFlowHash(descriptor, 0, KeyedMix.mix(packet.flow(), DIGEST_SEED));
        agent.onDescriptors(descriptor, 0, 1);
    }

    /** The median relative error of the means of all flows with an estimate. */
    double medianMeanError() {
        return Numbers.quantile(IntStream.range(0, counts.length)
            .filter((flow) -> counts[flow] > 0 && truth.receivedPackets(flow) > 0)
            .mapToDouble((flow) -> Math.abs((double)sumsNs[flow] / counts[flow] - truth.meanNs(flow)) / truth.meanNs(flow))
            .toArray(), 0.5);
    }

    /** The mean delay of all packets, µs. */
    double trueMeanUs() {
        return IntStream.range(0, counts.length).mapToDouble(truth::sumNs).sum() / 1e3 /
            IntStream.range(0, counts.length).mapToLong(truth::receivedPackets).sum();
    }

    /** The mean error of all packets with an estimate, µs, signed. */
    double biasUs() {
        final double error = IntStream.range(0, counts.length).filter((flow) -> counts[flow] > 0)
            .mapToDouble((flow) -> sumsNs[flow] - truth.meanNs(flow) * counts[flow]).sum();
        return error / 1e3 / IntStream.range(0, counts.length).mapToLong((flow) -> counts[flow]).sum();
    }

    /** Packets with an estimate among those that arrived. */
    double estimatedShare() {
        return (double)count("rli_estimated") / count("rli_packets");
    }

    long count(final String label) {
        return stage.statistics().counters().get(label);
    }

    boolean isAccountedFor() {
        return stage.statistics().isAccountedFor();
    }
}
