package io.flowlag.tests.lab;

import io.flowlag.exporter.lab.CaptureWriter;
import io.flowlag.exporter.lab.PathFaults;
import io.flowlag.exporter.lab.ReferenceModel;
import io.flowlag.exporter.lab.SegmentProfile;
import io.flowlag.exporter.lab.SegmentTruth;
import io.flowlag.exporter.lab.SimulatedSegment;
import io.flowlag.exporter.lab.TrafficFlows;
import io.flowlag.rli.sender.AdaptivePolicy;
import io.flowlag.tests.lab.report.Experiment;
import io.flowlag.tests.lab.report.Plot;
import io.flowlag.tests.lab.report.Results;
import io.flowlag.tests.lab.report.Setup;
import io.flowlag.tests.lab.report.Table;
import io.flowlag.tests.lab.rli.PaperSegment;

import java.nio.file.Path;

/** Both points of a segment as captures, for other tools and for {@code flowlag delay}, with the truth of every flow. */
public final class CapturesExperiment implements Experiment {
    private static final double UTILIZATION = 0.88;
    private static final double LOSS = 0.005;
    private static final double EPISODE_PACKETS = 20;

    @Override
    public void run(final Setup setup, final Results results) {
        final SegmentProfile profile = PaperSegment.of(
            UTILIZATION, PaperSegment.dropTail(), setup.size(5_000, 20_000, 400_000), 1)
            .with(ReferenceModel.of(AdaptivePolicy.PAPER)).with(PathFaults.NONE.withBursts(LOSS, EPISODE_PACKETS));
        final SimulatedSegment segment = new SimulatedSegment(profile);
        final SegmentTruth truth = segment.truth();
        final TrafficFlows flows = segment.flows();
        final Table table = results.table("truth", "The columns of flowlag delay --truth; lost packets in episodes of 20",
            "src", "dst", "proto", "sport", "dport", "sent", "received", "mean_ns", "sd_ns", "min_ns", "max_ns");
        final double[] meansUs = new double[flows.flowCount()];
        for (int flow = 0; flow < meansUs.length; flow++) {
            final boolean isThere = truth.receivedPackets(flow) > 0;
            meansUs[flow] = isThere ? truth.meanNs(flow) / 1e3 : Double.NaN;
            table.row(flows.sourceAddress(flow), flows.destinationAddress(flow), flows.protocol(flow), flows.sourcePort(flow),
                flows.destinationPort(flow), truth.sentPackets(flow), truth.receivedPackets(flow),
                isThere ? truth.meanNs(flow) : Double.NaN, isThere ? truth.standardDeviationNs(flow) : Double.NaN,
                isThere ? (Object) truth.minimumNs(flow) : Double.NaN, isThere ? (Object) truth.maximumNs(flow) : Double.NaN);
        }
        results.plot(new Plot("delays", "Mean delays of the flows in the captures").x("mean delay, µs", true)
            .y("share of flows", false).between(0, 1).addDistribution("88 %", meansUs, 1));
        results.output("sender.pcapng", file -> segment.writeCaptures(
            file, other(file), CaptureWriter.Format.PCAPNG_NANOSECONDS));
        results.note("The receiver's capture is next to the sender's. flowlag delay -s captures-sender.pcapng -r " +
            "captures-receiver.pcapng --references injected --estimators rli,exact " +
            "--capacity " + Math.round(profile.capacityBps() / 1e6) + "m reads both.");
    }

    private static Path other(final Path sender) {
        return sender.resolveSibling(sender.getFileName().toString().replace("sender", "receiver"));
    }
}
