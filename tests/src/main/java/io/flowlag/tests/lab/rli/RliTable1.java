package io.flowlag.tests.lab.rli;

import io.flowlag.exporter.lab.SegmentProfile;
import io.flowlag.exporter.lab.SegmentSimulation;
import io.flowlag.exporter.lab.SegmentTruth;
import io.flowlag.exporter.lab.SimulatedSegment;
import io.flowlag.tests.lab.report.Experiment;
import io.flowlag.tests.lab.report.Numbers;
import io.flowlag.tests.lab.report.Plot;
import io.flowlag.tests.lab.report.Results;
import io.flowlag.tests.lab.report.Setup;
import io.flowlag.tests.lab.report.Table;

import java.util.Arrays;

/** Table I of the RLI paper: properties of the traffic, and true delays of flows without references. */
public final class RliTable1 implements Experiment {
    private static final double[] QUANTILES = {0.01, 0.1, 0.25, 0.5, 0.75, 0.9, 0.99, 0.999, 0.9999, 1};

    @Override
    public void run(final Setup setup, final Results results) {
        final Table table = results.table("traffic", "True delays of flows, µs; medians over the seeds of the fit, from 1000",
            "queue", "utilization", "packets/s", "packets a flow", "lost %", "mean delay us", "range factor R", "1 % us",
            "10 % us", "25 % us", "50 % us", "75 % us", "90 % us", "99 % us", "99.9 % us", "99.99 % us", "most us");
        final Plot plot = new Plot("delays", "True mean delays of flows").x("mean delay of a flow, µs", true)
            .y("share of flows", false).between(0, 1);
        for (final boolean isRed : new boolean[] {true, false}) {
            for (final double utilization : PaperLink.UTILIZATIONS) {
                final double[][] first = new double[1][];
                final double[] row = setup.medians(seed -> {
                    final Truth truth = new Truth(PaperSegment.of(utilization,
                        isRed ? PaperSegment.red() : PaperSegment.dropTail(),
                        setup.size(50_000, 180_000, 1_800_000), PaperLink.FIRST_FIT_SEED + seed - 1));
                    first[0] = first[0] == null ? truth.meansUs : first[0];
                    return truth.row();
                });
                final Object[] cells = new Object[2 + row.length];
                cells[0] = isRed ? "RED" : "FIFO";
                cells[1] = utilization;
                for (int i = 0; i < row.length; i++) {
                    cells[2 + i] = row[i];
                }
                table.row(cells);
                if (isRed) {
                    plot.addDistribution(PaperLink.percent(utilization), first[0], 1);
                }
            }
        }
        results.plot(plot);
        results.compare("packets a flow, trace SANJ", 20.8, table.number("packets a flow", "RED", 0.88));
        results.compare("mean delay at 88 %, ms, SANJ (600 s)", 0.386, table.number("mean delay us", "RED", 0.88) / 1e3);
        results.compare("range factor R at 88 %, SANJ (600 s)", 4.54e4, table.number("range factor R", "RED", 0.88));
        results.note("The paper does not say at which utilization its Table I was made; 88 % is its highest.");
    }

    /** The mean delays of the flows of one run. */
    static final class Truth {
        final double[] meansUs;
        final double meanUs;
        private final SegmentProfile profile;
        private final SegmentSimulation simulation;

        Truth(final SegmentProfile profile) {
            this.profile = profile;
            final SimulatedSegment segment = new SimulatedSegment(profile);
            final SegmentTruth truth = new SegmentTruth(segment.flows());
            simulation = segment.run(truth);
            final double[] all = new double[truth.flowCount()];
            int count = 0;
            long received = 0;
            double sumNs = 0;
            for (int flow = 0; flow < all.length; flow++) {
                if (truth.receivedPackets(flow) > 0) {
                    all[count++] = truth.meanNs(flow) / 1e3;
                    received += truth.receivedPackets(flow);
                    sumNs += truth.sumNs(flow);
                }
            }
            meansUs = Arrays.copyOf(all, count);
            meanUs = sumNs / received / 1e3;
        }

        private double[] row() {
            final int packets = profile.traffic().packetCount();
            final double[] row = new double[5 + QUANTILES.length];
            row[0] = packets * 1e9 / simulation.elapsedNs();
            row[1] = (double) packets / profile.traffic().flowCount();
            row[2] = 100.0 * simulation.lostCount() / packets;
            row[3] = meanUs;
            row[4] = Numbers.quantile(meansUs, 0.99) / Numbers.quantile(meansUs, 0.01);
            for (int i = 0; i < QUANTILES.length; i++) {
                row[5 + i] = Numbers.quantile(meansUs, QUANTILES[i]);
            }
            return row;
        }
    }
}
