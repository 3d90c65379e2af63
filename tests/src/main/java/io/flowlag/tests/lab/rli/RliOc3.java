package io.flowlag.tests.lab.rli;

import io.flowlag.exporter.lab.LoadModel;
import io.flowlag.exporter.lab.SegmentProfile;
import io.flowlag.exporter.lab.TrafficProfile;
import io.flowlag.rli.sender.AdaptivePolicy;
import io.flowlag.tests.lab.report.Experiment;
import io.flowlag.tests.lab.report.Numbers;
import io.flowlag.tests.lab.report.Results;
import io.flowlag.tests.lab.report.Setup;
import io.flowlag.tests.lab.report.Table;

/**
 * The OC-3 traces of the RLI paper, WEB468 and WEB700: 155 Mbit/s at 55 and 88 %, 8557 and 13 049 packets/s, so about 1270 octets
 * each. Frames are of 60 and 1514 octets; the bursts of each are fitted to mean delay and R of Table I on seeds 1000 to 1005.
 * The paper marks packets as references, here they are added.
 */
public final class RliOc3 implements Experiment {
    private static final long CAPACITY_BPS = 155_000_000;
    private static final double SMALL_SHARE = 0.09;
    private static final double PARETO_SHAPE = 1.131;
    private static final int PACKETS_PER_FLOW = 19;

    /** What the paper prints, and the bursts. */
    private enum Trace {
        WEB468(0.55, 0.552, 39, new LoadModel.Burstiness(0.75, 1_000_000)),
        WEB700(0.88, 3.70, 271, new LoadModel.Burstiness(0.1, 20_000_000), new LoadModel.Burstiness(0.085, 200_000_000));

        private final double utilization;
        private final double meanMs;
        private final double range;
        private final LoadModel.Burstiness[] bursts;

        Trace(final double utilization, final double meanMs, final double range, final LoadModel.Burstiness... bursts) {
            this.utilization = utilization;
            this.meanMs = meanMs;
            this.range = range;
            this.bursts = bursts;
        }
    }

    private static SegmentProfile profile(final Trace trace, final int packets, final long seed) {
        final TrafficProfile traffic = TrafficProfile.builder("rli-oc3").seed(seed)
            .packetCount(packets).flowCount(packets / PACKETS_PER_FLOW)
            .singlePacketFlowShare(0).fewPacketFlowShare(0).paretoShape(PARETO_SHAPE).largestFlowPackets(packets / 10)
            .udpShare(0).smallFrameShare(SMALL_SHARE).mediumFrameShare(0).build();
        return SegmentProfile.of(
            traffic, LoadModel.constant(trace.utilization).bursting(trace.bursts), CAPACITY_BPS, PaperSegment.red());
    }

    @Override
    public void run(final Setup setup, final Results results) {
        final Table table = results.table("oc3", "RED, adaptive injection; medians over the seeds", "trace", "packets/s",
            "mean delay ms", "range factor R", "lost %", "median error %", "75th percentile %",
            "mean error of the longest fifth of delays %");
        for (final Trace trace : Trace.values()) {
            final double[] row = setup.medians(seed -> row(trace, setup.size(30_000, 100_000, 400_000), seed));
            table.row(trace.name(), row[0], row[1], row[2], row[3], row[4], row[5], row[6]);
            results.compare("mean delay, " + trace + ", ms", trace.meanMs, row[1]);
            results.compare("range factor R, " + trace, trace.range, row[2]);
            results.compare("median error, " + trace + ", %", 12, row[4]);
        }
        results.compare("mean error of the longest fifth of delays, %", 11,
            table.number("mean error of the longest fifth of delays %", "WEB700"));
    }

    private static double[] row(final Trace trace, final int packets, final long seed) {
        final SegmentProfile profile = profile(trace, packets, seed);
        final RliTable1.Truth truth = new RliTable1.Truth(profile);
        final RliExperiment run = PaperLink.run(profile, AdaptivePolicy.PAPER);
        final double longestNs = 1e3 * Numbers.quantile(truth.meansUs, 0.8);
        return new double[] {run.regularPackets() * 1e9 / run.elapsedNs(), truth.meanUs / 1e3,
            Numbers.quantile(truth.meansUs, 0.99) / Numbers.quantile(truth.meansUs, 0.01), 100 * run.lossShare(),
            100 * run.medianMeanError(), 100 * run.meanError(flow -> true, 0.75),
            100 * Numbers.mean(run.values(flow -> run.truth().meanNs(flow) >= longestNs, run::relativeError))};
    }
}
