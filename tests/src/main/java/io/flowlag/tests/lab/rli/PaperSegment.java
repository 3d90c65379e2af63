package io.flowlag.tests.lab.rli;

import io.flowlag.exporter.lab.LoadModel;
import io.flowlag.exporter.lab.QueueModel;
import io.flowlag.exporter.lab.SegmentProfile;
import io.flowlag.exporter.lab.TrafficProfile;

import java.util.concurrent.TimeUnit;

/** The segment of the RLI paper, and its queues. Stateless. */
public final class PaperSegment {
    private static final double PARETO_SHAPE = 1.131;
    private static final int PACKETS_PER_FLOW = 16;
    private static final double TRAFFIC_BPS = 2e9;
    private static final int LIMIT_PACKETS = 10_000;

    private PaperSegment() {
    }

    /**
     * The RLI paper's backbone link as far as its figures tell (docs/laboratory.md has the fit): flow sizes of the trace SANJ
     * (Pareto, shape 1.131 from 2.4 packets on), about 363 000 packets/s of three sizes, 2 Gbit/s, and as in the paper a
     * transmitter that is as slow as the utilization asks. Bursts of 0.2, 2 and 50 ms. Without references.
     *
     * @param utilization of the link, on average: 0.2, 0.55, 0.7 and 0.88 in the paper.
     * @param queue       in front of the transmitter.
     * @param packetCount of the trace: 1 800 000 for 5 s.
     * @param seed        any number.
     */
    public static SegmentProfile of(
        final double utilization, final QueueModel queue, final int packetCount, final long seed) {
        final TrafficProfile traffic = TrafficProfile.builder("rli-paper").seed(seed)
            .packetCount(packetCount).flowCount(packetCount / PACKETS_PER_FLOW)
            .singlePacketFlowShare(0).fewPacketFlowShare(0).paretoShape(PARETO_SHAPE).largestFlowPackets(packetCount / 10)
            .udpShare(0.15).smallFrameShare(0.42).mediumFrameShare(0.15).build();
        final LoadModel load = LoadModel.constant(utilization).bursting(
            new LoadModel.Burstiness(0.15, TimeUnit.MICROSECONDS.toNanos(200)),
            new LoadModel.Burstiness(0.15, TimeUnit.MILLISECONDS.toNanos(2)),
            new LoadModel.Burstiness(0.08, TimeUnit.MILLISECONDS.toNanos(50)));
        return SegmentProfile.of(traffic, load, Math.round(TRAFFIC_BPS / utilization), queue);
    }

    /** {@return a FIFO of 10 000 packets} */
    public static QueueModel dropTail() {
        return QueueModel.dropTail(LIMIT_PACKETS);
    }

    /** {@return RED as in section IV-A: 10 000 packets, 4000, 9000, 0.002, 1/50} */
    public static QueueModel red() {
        return new QueueModel(QueueModel.Discipline.RED, LIMIT_PACKETS, 4_000, 9_000, 0.002, 1.0 / 50);
    }
}
