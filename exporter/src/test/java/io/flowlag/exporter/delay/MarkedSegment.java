package io.flowlag.exporter.delay;

import io.flowlag.common.hash.KeyedMix;
import io.flowlag.exporter.capture.CaptureClock;
import io.flowlag.exporter.config.ConfigLoader;
import io.flowlag.exporter.config.ExporterConfig;
import io.flowlag.exporter.config.ExporterConfig.Role;
import io.flowlag.exporter.decode.PacketDescriptor;
import io.flowlag.exporter.flow.FlowCache;
import io.flowlag.exporter.flow.FlowCacheSettingsBuilder;
import io.flowlag.exporter.flow.FlowEntry;
import io.flowlag.exporter.pipeline.DelayMeteringAgent;
import io.flowlag.exporter.pipeline.MeteringAgent;
import io.flowlag.exporter.pipeline.StageRing;
import io.flowlag.exporter.status.Counters;
import io.flowlag.exporter.status.DelayStatistics;
import io.flowlag.rli.counters.DelayCounters;
import org.agrona.DirectBuffer;
import org.agrona.concurrent.UnsafeBuffer;

import java.util.Arrays;
import java.util.List;
import java.util.Random;
import java.util.stream.IntStream;

/**
 * A FIFO link in simulated time, whose large packets come in bursts of one flow each, through the delay stage with packets that
 * stand in for references. Compares estimates with the truth, flow by flow.
 */
final class MarkedSegment {
    static final long CAPACITY_BPS = 1_000_000_000L;
    static final double NS_PER_BYTE = 8e9 / CAPACITY_BPS;
    static final int LARGE_BYTES = 1514;
    static final int PACKETS = 200_000;

    private static final long LIFE_NS = 3_600_000_000_000L;
    private static final long START_NS = 1_000_000_000_000L;
    private static final int FLOWS = 2_000;
    private static final int SMALL_BYTES = 66;
    private static final int BURST_PACKETS = 40;

    private final long[] sentNs = new long[PACKETS];
    private final long[] delaysNs = new long[PACKETS];
    private final int[] lengths = new int[PACKETS];
    private final int[] flows = new int[PACKETS];
    private final long[] truthSumsNs = new long[FLOWS];
    private final long[] truthCounts = new long[FLOWS];
    private final long[] sumsNs = new long[FLOWS];
    private final long[] counts = new long[FLOWS];
    private final UnsafeBuffer descriptor = new UnsafeBuffer(new byte[PacketDescriptor.LENGTH_BYTES]);

    private MeteringAgent agent;
    private DelayStatistics statistics;
    private long offsetNs;

    /**
     * Traffic of one kind.
     *
     * @param load of the link, 0 to 1.
     * @param seed any number.
     */
    MarkedSegment(final double load, final long seed) {
        final Random random = new Random(seed);
        final double burstShare = 0.02;
        final double meanBytes =
            (SMALL_BYTES * (1 - burstShare) + BURST_PACKETS * LARGE_BYTES * burstShare) / (1 + (BURST_PACKETS - 1) * burstShare);
        double nowNs = START_NS;
        double freeNs = 0;
        int left = 0;
        for (int i = 0; i < PACKETS; i++) {
            final boolean isInBurst = left > 0;
            if (!isInBurst && random.nextDouble() < burstShare) {
                left = BURST_PACKETS;
            }
            lengths[i] = left > 0 ? LARGE_BYTES : SMALL_BYTES;
            flows[i] = isInBurst ? flows[i - 1] : random.nextInt(FLOWS);
            // A burst comes at four times the link rate.
            nowNs += isInBurst ? LARGE_BYTES * NS_PER_BYTE / 4 : -Math.log(1 - random.nextDouble()) * meanBytes * NS_PER_BYTE *
                (1 + (BURST_PACKETS - 1) * burstShare) / load;
            left -= left > 0 ? 1 : 0;
            sentNs[i] = Math.round(nowNs);
            freeNs = Math.max(freeNs, nowNs) + lengths[i] * NS_PER_BYTE;
            delaysNs[i] = Math.round(freeNs) - sentNs[i];
        }
    }

    /**
     * Measures the traffic.
     *
     * @param clockOffsetNs of the receiver's clock, signed.
     * @param options       of the configuration's section rli, in YAML.
     * @return this.
     */
    MarkedSegment measure(final long clockOffsetNs, final String options) {
        offsetNs = clockOffsetNs;
        List.of(truthSumsNs, truthCounts, sumsNs, counts).forEach((each) -> Arrays.fill(each, 0));
        final ExporterConfig config = new ConfigLoader().text("test",
            "segment: {role: both, ingress: a, egress: b, exact: on}\nrli: {" + options + "}\n").conclude();
        final DelayWiring wiring = new DelayWiring(
            Role.BOTH, DelayWiring.References.MARKED, ClockError.NONE, true, false, false, false);
        final Counters counters = new Counters();
        final FlowEnd flowEnd = new FlowEnd(this::onFlow);
        final FlowCache cache = new FlowCache(
            new FlowCacheSettingsBuilder().maxFlows(FLOWS).activeTimeoutNs(LIFE_NS).idleTimeoutNs(LIFE_NS).tcpEndTimeoutNs(0)
                .stateLengthBytes(DelayStage.stateLengthBytes(wiring)).build(), flowEnd, counters);
        try (DelayStage stage = new DelayStage(config, wiring, flowEnd, cache, CaptureClock.FILES, counters)) {
            agent = new DelayMeteringAgent(
                cache, StageRing.unused(), () -> true, CaptureClock.FILES, stage, wiring, false, counters);
            int sent = 0;
            int received = 0;
            while (received < PACKETS) {
                if (sent < PACKETS && sentNs[sent] <= arrivalNs(received)) {
                    pass(sent, 0, sentNs[sent]);
                    sent++;
                } else {
                    pass(received, 1, arrivalNs(received));
                    truthSumsNs[flows[received]] += delaysNs[received] + offsetNs;
                    truthCounts[flows[received]]++;
                    received++;
                }
            }
            while (sent < PACKETS) {
                pass(sent, 0, sentNs[sent]);
                sent++;
            }
            IntStream.range(0, 2 + FLOWS).forEach((each) -> agent.doWork());
            statistics = stage.statistics();
        }
        return this;
    }

    private long arrivalNs(final int packet) {
        return sentNs[packet] + delaysNs[packet] + offsetNs;
    }

    private void onFlow(final DirectBuffer entry, final int offset, final int lengthBytes) {
        final int flow = (int)FlowEntry.sourceLow(entry, offset);
        counts[flow] += DelayCounters.count(entry, offset + FlowEntry.BASE_LENGTH_BYTES);
        sumsNs[flow] += DelayCounters.sumNs(entry, offset + FlowEntry.BASE_LENGTH_BYTES);
    }

    private void pass(final int packet, final int point, final long timestampNs) {
        descriptor.setMemory(0, PacketDescriptor.LENGTH_BYTES, (byte)0);
        PacketDescriptor.timestampNs(descriptor, 0, timestampNs);
        PacketDescriptor.ipVersion(descriptor, 0, 4);
        PacketDescriptor.protocol(descriptor, 0, 17);
        PacketDescriptor.sourceLow(descriptor, 0, flows[packet]);
        PacketDescriptor.segmentCount(descriptor, 0, 1);
        PacketDescriptor.ipLengthBytes(descriptor, 0, lengths[packet] - 14);
        PacketDescriptor.wireLengthBytes(descriptor, 0, lengths[packet]);
        PacketDescriptor.observationPoint(descriptor, 0, point);
        PacketDescriptor.flags(descriptor, 0, PacketDescriptor.FLAG_DIGEST);
        PacketDescriptor.digest(descriptor, 0, KeyedMix.mix(packet, 11));
        agent.onDescriptors(descriptor, 0, 1);
    }

    /** The median error of the means of flows whose packets have an estimate each, in ns. */
    double medianErrorNs() {
        final double[] errors = IntStream.range(0, FLOWS)
            .filter((flow) -> counts[flow] > 0 && counts[flow] == truthCounts[flow])
            .mapToDouble((flow) -> Math.abs(
                sumsNs[flow] / (double)counts[flow] - truthSumsNs[flow] / (double)truthCounts[flow])).sorted().toArray();
        return errors.length == 0 ? Double.NaN : errors[errors.length / 2];
    }

    long count(final String label) {
        return statistics.counters().get(label);
    }

    double nsPerByte() {
        return statistics.gauges().get("serialisation_ns_per_byte");
    }

    long leastEstimateNs() {
        return statistics.total().get(0).estimates().minimumNs();
    }

    long leastReferenceNs() {
        return statistics.total().get(0).references().minimumNs();
    }

    boolean isAccountedFor() {
        return statistics.isAccountedFor();
    }
}
