package io.flowlag.tests.lab.quantile;

import io.flowlag.common.hash.KeyedMix;
import io.flowlag.common.hash.SipHash;
import io.flowlag.exporter.capture.CaptureClock;
import io.flowlag.exporter.config.ConfigLoader;
import io.flowlag.exporter.config.ExporterConfig;
import io.flowlag.exporter.config.ExporterConfig.Role;
import io.flowlag.exporter.decode.PacketDescriptor;
import io.flowlag.exporter.delay.ClockError;
import io.flowlag.exporter.delay.DelayStage;
import io.flowlag.exporter.delay.DelayWiring;
import io.flowlag.exporter.delay.FlowDelay;
import io.flowlag.exporter.delay.FlowEnd;
import io.flowlag.exporter.delay.FlowQuantiles;
import io.flowlag.exporter.delay.ReferenceMode;
import io.flowlag.exporter.delay.SampledFlows;
import io.flowlag.exporter.delay.interval.records.SharedSampling;
import io.flowlag.exporter.flow.FlowAdditions;
import io.flowlag.exporter.flow.FlowCache;
import io.flowlag.exporter.flow.FlowCacheSettings;
import io.flowlag.exporter.flow.FlowEntry;
import io.flowlag.exporter.pipeline.DelayMeteringAgent;
import io.flowlag.exporter.pipeline.MeteringAgent;
import io.flowlag.exporter.pipeline.StageRing;
import io.flowlag.exporter.status.Counters;
import org.agrona.DirectBuffer;
import org.agrona.concurrent.UnsafeBuffer;

import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.Locale;
import java.util.SplittableRandom;
import java.util.stream.IntStream;

/**
 * Flows with bounded Pareto sizes whose packets pass both points in random order, through the product's delay stage with policy
 * passive: the quantiles of each flow's record, and the true ones of all its packets. One run; the same seed gives the same.
 */
final class QuantileRun {
    static final double[] QUANTILES = {0.5, 0.9, 0.95, 0.99, 0.999};
    private static final long LIFE_NS = 3_600_000_000_000L;
    private static final long BEGIN_NS = 1_700_000_000_000_000_000L;
    private static final int DIGEST_SEED = 11;
    private static final int INDEX_BITS = 23;
    private static final double LEAST_PACKETS = 3;
    private static final double MOST_PACKETS = 60_000;
    private static final int WIRE_BYTES = 500;
    /** Of a send time in the exchange, with its share of a message's header and trailer. */
    private static final double SEND_TIME_BITS = 8 * 8.2;
    private static final double LEAST_BEYOND = 10;

    final List<Flow> flows = new ArrayList<>();
    final int packets;
    private final long[][] delaysNs;
    private final int[] sampled;
    /** Chosen as the receiver chooses. */
    private final SampledFlows sampledFlows = new SampledFlows(new SipHash(0, 0), 0);
    private final SharedSampling references;
    private final DelayStage stage;
    private final MeteringAgent agent;
    private final UnsafeBuffer descriptor = new UnsafeBuffer(new byte[PacketDescriptor.LENGTH_BYTES]);
    private final double seconds;

    /** Delays of a path. */
    enum Delays {
        WEIBULL_06("Weibull 0.6", 0.6),
        WEIBULL_08("Weibull 0.8", 0.8),
        /** Packets that are near in time have nearly the same delay. */
        QUEUE("slow queue", 0);

        final String title;
        private final double shape;

        Delays(final String title, final double shape) {
            this.title = title;
            this.shape = shape;
        }

        private long delayNs(final SplittableRandom random, final double position, final double scale) {
            return shape > 0 ? 20_000 + (long)(scale * Math.pow(-Math.log(1 - random.nextDouble()), 1 / shape)) :
                20_000 + (long)(scale * (1.2 + Math.sin(400 * position)));
        }
    }

    /**
     * A flow's record.
     *
     * @param packets all.
     * @param sampled at both points.
     * @param errors  of its quantiles, as shares of themselves.
     * @param bound   of these; 0 without one.
     */
    record Flow(int packets, int sampled, double[] errors, double bound) {
        /** {@return whether it has ten sampled packets on the rarer side of a quantile} */
        boolean isWorth(final int index) {
            return sampled * (1 - QUANTILES[index]) > LEAST_BEYOND - 1e-6;
        }

        /** {@return whether it has a quantile of sampled packets} */
        boolean hasSampled(final int index) {
            return bound > 0 && errors.length > index;
        }
    }

    /** Runs flows to their end, 20 000 packets a second, and a share of the packets as references. */
    QuantileRun(final Delays delays, final int flowCount, final double passiveShare, final long seed) {
        final SplittableRandom random = new SplittableRandom(seed);
        final int[] sizes = IntStream.range(0, flowCount).map((flow) -> size(random.nextDouble())).toArray();
        packets = Arrays.stream(sizes).sum();
        seconds = packets / 20_000.0;
        delaysNs = new long[flowCount][];
        sampled = new int[flowCount];
        references = new SharedSampling(0, (int)Math.round(SharedSampling.PPM * passiveShare), 0);
        final int[] flowOfPacket = new int[packets];
        int at = 0;
        for (int flow = 0; flow < flowCount; flow++) {
            delaysNs[flow] = new long[sizes[flow]];
            Arrays.fill(flowOfPacket, at, at + sizes[flow], flow);
            at += sizes[flow];
        }
        for (int i = packets - 1; i > 0; i--) {
            final int other = random.nextInt(i + 1);
            final int flow = flowOfPacket[i];
            flowOfPacket[i] = flowOfPacket[other];
            flowOfPacket[other] = flow;
        }
        final ExporterConfig config = new ConfigLoader().text("test", String.format(Locale.ROOT,
            "segment: {role: both, ingress: a, egress: b, exact: off, max-delay: 1s}\n" +
            "lds: {enabled: on, rows: 1, columns: 16}\n" +
            "rli: {policy: passive, passive-share: %.6f}\nquantiles: {bandwidth: 1m, memory: 256m}\n", passiveShare)).conclude();
        final DelayWiring wiring = new DelayWiring(
            Role.BOTH, new DelayWiring.References(ReferenceMode.PASSIVE, List.of()), ClockError.NONE, true, false, false, false);
        final Counters counters = new Counters();
        final FlowEnd flowEnd = new FlowEnd(this::onFlow);
        final FlowCache cache = new FlowCache(
            new FlowCacheSettings(
                flowCount, DelayStage.stateLengthBytes(wiring), FlowAdditions.NONE,
                new FlowCacheSettings.Timeouts(LIFE_NS, LIFE_NS, 0, 0), 0,
                FlowCacheSettings.Key.of(false, false, false), FlowCacheSettings.Snapshots.NONE, 0, 1), flowEnd, counters);
        stage = new DelayStage(config, wiring, flowEnd, cache, CaptureClock.FILES, counters);
        agent = new DelayMeteringAgent(cache, StageRing.unused(), () -> true, CaptureClock.FILES, stage, wiring, false, counters);
        pass(delays, flowOfPacket, random);
        IntStream.range(0, 2 + flowCount).forEach((each) -> agent.doWork());
    }

    /** Bounded Pareto of shape 1.1. */
    private static int size(final double uniform) {
        final double shape = 1.1;
        final double ratio = Math.pow(LEAST_PACKETS / MOST_PACKETS, shape);
        return (int)(LEAST_PACKETS * Math.pow(1 - uniform * (1 - ratio), -1 / shape));
    }

    private void pass(final Delays delays, final int[] flowOfPacket, final SplittableRandom random) {
        final long gapNs = (long)(seconds * 1e9 / packets);
        final int[] seen = new int[delaysNs.length];
        final long[] arrivals = new long[packets];
        for (int i = 0; i < packets; i++) {
            final int flow = flowOfPacket[i];
            final double scale = delays == Delays.QUEUE ? 100_000 : 50_000 * (1 + flow % 8);
            final long delayNs = delays.delayNs(random, (double)i / packets, scale);
            delaysNs[flow][seen[flow]++] = delayNs;
            arrivals[i] = i * gapNs + delayNs << INDEX_BITS | i;
        }
        Arrays.sort(arrivals);
        int sent = 0;
        for (final long arrival : arrivals) {
            final long arrivalNs = arrival >>> INDEX_BITS;
            while (sent < packets && sent * gapNs <= arrivalNs) {
                onPacket(sent, flowOfPacket[sent], 0, BEGIN_NS + sent * gapNs);
                sent++;
            }
            final int index = (int)arrival & (1 << INDEX_BITS) - 1;
            onPacket(index, flowOfPacket[index], 1, BEGIN_NS + arrivalNs);
        }
        for (final long[] each : delaysNs) {
            Arrays.sort(each);
        }
    }

    private void onPacket(final int number, final int flow, final int point, final long timestampNs) {
        descriptor.setMemory(0, PacketDescriptor.LENGTH_BYTES, (byte)0);
        PacketDescriptor.timestampNs(descriptor, 0, timestampNs);
        PacketDescriptor.ipVersion(descriptor, 0, 4);
        PacketDescriptor.protocol(descriptor, 0, 17);
        PacketDescriptor.sourceLow(descriptor, 0, flow);
        PacketDescriptor.segmentCount(descriptor, 0, 1);
        PacketDescriptor.ipLengthBytes(descriptor, 0, WIRE_BYTES);
        PacketDescriptor.wireLengthBytes(descriptor, 0, WIRE_BYTES);
        PacketDescriptor.observationPoint(descriptor, 0, point);
        PacketDescriptor.flags(descriptor, 0, PacketDescriptor.FLAG_DIGEST);
        PacketDescriptor.digest(descriptor, 0, KeyedMix.mix(number, DIGEST_SEED));
        PacketDescriptor.segmentFlowHash(descriptor, 0, KeyedMix.mix(flow, DIGEST_SEED));
        agent.onDescriptors(descriptor, 0, 1);
        sampled[flow] += point == 1 && (sampledFlows.isSampled(descriptor, 0) ||
            references.isPassiveReference(PacketDescriptor.digest(descriptor, 0))) ? 1 : 0;
    }

    private void onFlow(final DirectBuffer entry, final int offset, final int lengthBytes) {
        final int at = FlowDelay.quantilesOffset(offset + FlowEntry.BASE_LENGTH_BYTES);
        final int flow = (int)FlowEntry.sourceLow(entry, offset);
        final long[] truth = delaysNs[flow];
        final double[] errors = new double[FlowQuantiles.groups(entry, at)];
        for (int i = 0; i < errors.length; i++) {
            final double valueNs = FlowQuantiles.quantileNs(entry, at, i);
            errors[i] = Math.abs(truth[(int)Math.ceil(QUANTILES[i] * truth.length - 1e-9) - 1] / valueNs - 1);
        }
        flows.add(new Flow(truth.length, sampled[flow], errors, FlowQuantiles.errorPpm(entry, at) / 1e6));
    }

    /** What the send times of the sampled packets would take of an exchange, kbit/s. */
    double kilobitsPerS() {
        return stage.statistics().counters().get("passive_matched") * SEND_TIME_BITS / seconds / 1e3;
    }

    /** The same for each packet, bits. */
    double bitsPerPacket() {
        return stage.statistics().counters().get("passive_matched") * SEND_TIME_BITS / packets;
    }
}
