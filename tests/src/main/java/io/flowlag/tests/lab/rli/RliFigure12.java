package io.flowlag.tests.lab.rli;

import io.flowlag.exporter.lab.SegmentProfile;
import io.flowlag.exporter.lab.SegmentTruth;
import io.flowlag.exporter.lab.SimulatedSegment;
import io.flowlag.rli.sender.AdaptivePolicy;
import io.flowlag.tests.lab.report.Experiment;
import io.flowlag.tests.lab.report.Plot;
import io.flowlag.tests.lab.report.Results;
import io.flowlag.tests.lab.report.Setup;
import io.flowlag.tests.lab.report.Table;

/** Figure 12 of the RLI paper: the references' share of the link, and their effect on delay and loss of other packets. */
public final class RliFigure12 implements Experiment {
    private static final double[] UTILIZATIONS = {0.20, 0.40, 0.55, 0.70, 0.80, 0.88, 0.90, 1.0};
    private static final double HIGH = 0.88;

    @Override
    public void run(final Setup setup, final Results results) {
        final Table table = results.table("overhead", "RED, adaptive; the same traffic without references; medians",
            "utilization", "references, % of link", "references, % of packets", "mean delay added us", "flows slower %",
            "flows faster %", "loss without %", "loss added, percentage points");
        final Plot share = new Plot("share", "What references take of the link").x("utilization, %", false)
            .y("share of the link, %", true);
        final Plot added = new Plot("added", "Change of flows' mean delays at 88 % load")
            .x("change of the mean delay, µs", true).y("share of the flows that change so", false).between(0, 1);
        final double[] xs = new double[UTILIZATIONS.length];
        final double[] ys = new double[xs.length];
        for (int i = 0; i < xs.length; i++) {
            final double utilization = UTILIZATIONS[i];
            final double[] row = setup.medians(
                seed -> measure(PaperLink.of(utilization, PaperLink.packets(setup), seed), utilization == HIGH && seed == 1 ?
                    added : null));
            table.row(utilization, row[0], row[1], row[2], row[3], row[4], row[5], row[6]);
            xs[i] = 100 * utilization;
            ys[i] = row[0];
        }
        results.plot(share.add("adaptive", Plot.Style.MARKED_LINE, xs, ys));
        results.plot(added);
        results.compare("references at 20 %, % of the link", 0.1, table.number("references, % of link", 0.20));
        results.compare("references at 90 %, % of the link", 0.007, table.number("references, % of link", 0.90));
        results.compare("flows that became faster at 88 %, %", 10, table.number("flows faster %", HIGH));
        results.note("References here have 86 octets of frame, the paper's 48, and our link at 90 % is a fifth of the paper's. " +
            "Runs last 1.1 s, the paper's 600 s: the queue does not fill, so losses and faster flows of the paper do not come.");
    }

    private static double[] measure(final SegmentProfile profile, final Plot added) {
        final SegmentTruth without = new SimulatedSegment(profile).truth();
        final RliExperiment with = PaperLink.run(profile, AdaptivePolicy.PAPER);
        final int flows = without.flowCount();
        final double[] slowerUs = new double[flows];
        final double[] fasterUs = new double[flows];
        int slower = 0;
        int faster = 0;
        int both = 0;
        double lostWithout = 0;
        double lostWith = 0;
        double addedNs = 0;
        long packets = 0;
        for (int flow = 0; flow < flows; flow++) {
            slowerUs[flow] = Double.NaN;
            fasterUs[flow] = Double.NaN;
            lostWithout += without.lostPackets(flow);
            lostWith += with.truth().lostPackets(flow);
            if (without.receivedPackets(flow) > 0 && with.truth().receivedPackets(flow) > 0) {
                final double changeNs = with.truth().meanNs(flow) - without.meanNs(flow);
                both++;
                addedNs += changeNs * without.receivedPackets(flow);
                packets += without.receivedPackets(flow);
                if (changeNs > 0) {
                    slower++;
                    slowerUs[flow] = changeNs / 1e3;
                } else if (changeNs < 0) {
                    faster++;
                    fasterUs[flow] = -changeNs / 1e3;
                }
            }
        }
        if (added != null) {
            added.addDistribution("slower by", slowerUs, 1).addDistribution("faster by", fasterUs, 1);
        }
        final int all = profile.traffic().packetCount();
        return new double[] {100 * with.linkShare(), 100 * with.injectionRate(), addedNs / packets / 1e3,
            100.0 * slower / both, 100.0 * faster / both, 100 * lostWithout / all, 100 * (lostWith - lostWithout) / all};
    }
}
