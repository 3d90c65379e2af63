package io.flowlag.tests.lab.rli;

import io.flowlag.exporter.lab.ReferenceModel;
import io.flowlag.rli.receiver.Estimator;
import io.flowlag.rli.sender.AdaptivePolicy;
import io.flowlag.tests.lab.method.DelayMethod;
import io.flowlag.tests.lab.method.MultiPointEstimator;
import io.flowlag.tests.lab.method.PathTrace;
import io.flowlag.tests.lab.method.RliMethod;
import io.flowlag.tests.lab.method.Simple;
import io.flowlag.tests.lab.report.Experiment;
import io.flowlag.tests.lab.report.Numbers;
import io.flowlag.tests.lab.report.Plot;
import io.flowlag.tests.lab.report.Results;
import io.flowlag.tests.lab.report.Setup;
import io.flowlag.tests.lab.report.Table;

import java.util.Arrays;
import java.util.List;

/**
 * Figure 10 of the RLI paper: RLI and RLI-L against trajectory sampling and MFE at a sampling rate of 0.1 %, over the flows with
 * a sampled packet.
 */
public final class RliFigure10 implements Experiment {
    private static final double SHARE = 0.001;
    private static final List<DelayMethod> METHODS = List.of(
        Simple.trajectorySampling(SHARE), new MultiPointEstimator(SHARE, false), new RliMethod(Estimator.LEFT),
        new RliMethod(Estimator.LINEAR));

    @Override
    public void run(final Setup setup, final Results results) {
        final Table table = results.table("methods", "Flows of which one in 1000 packets was sampled; RED, adaptive; medians",
            "method", "utilization", "median error %", "90th percentile %", "flows", "memory octets", "control octets");
        final Plot distribution = Plot.errorDistribution("errors", "Sampled flows at 88 % load");
        final Plot loads = new Plot("loads", "Sampled flows by load").x("utilization, %", false)
            .y("median relative error, %", true);
        final double[][][] figures = new double[PaperLink.UTILIZATIONS.length][][];
        for (int i = 0; i < figures.length; i++) {
            figures[i] = measure(setup, PaperLink.UTILIZATIONS[i], distribution);
        }
        for (int method = 0; method < METHODS.size(); method++) {
            final double[] xs = new double[figures.length];
            final double[] ys = new double[figures.length];
            for (int i = 0; i < figures.length; i++) {
                final double[] row = figures[i][method];
                table.row(METHODS.get(method).name(), PaperLink.UTILIZATIONS[i], row[0], row[1], row[2], row[3], row[4]);
                xs[i] = 100 * PaperLink.UTILIZATIONS[i];
                ys[i] = row[0];
            }
            loads.add(METHODS.get(method).name(), Plot.Style.MARKED_LINE, xs, ys);
        }
        results.plot(distribution);
        results.plot(loads);
        final double rli = table.number("median error %", "RLI", 0.88);
        results.compare("median error of RLI at 88 %, sampled flows, % (most are below)", 1, rli);
        results.compare("trajectory sampling over RLI at 88 %", 500,
            table.number("median error %", METHODS.get(0).name(), 0.88) / rli);
        results.compare("MFE over RLI at 88 %", 100, table.number("median error %", METHODS.get(1).name(), 0.88) / rli);
        results.compare("RLI-L over RLI at 88 %", 3.2, table.number("median error %", "RLI-L", 0.88) / rli);
        results.note("The paper's traces last 600 s, so that its sampled flows are longer than here; factors grow with them.");
    }

    /** Medians over seeds of each method: median and 90th percentile of errors, flows, memory, control. */
    private static double[][] measure(final Setup setup, final double utilization, final Plot distribution) {
        final double[] flat = setup.medians(seed -> {
            final PathTrace trace = PathTrace.of(PaperLink.of(utilization, PaperLink.packets(setup), seed)
                .with(ReferenceModel.of(AdaptivePolicy.PAPER)));
            final double[] sampledNs = new double[trace.flows()];
            METHODS.get(0).estimate(trace, sampledNs);
            final double[] row = new double[5 * METHODS.size()];
            for (int i = 0; i < METHODS.size(); i++) {
                final double[] meansNs = new double[trace.flows()];
                final DelayMethod.Cost cost = METHODS.get(i).estimate(trace, meansNs);
                for (int flow = 0; flow < meansNs.length; flow++) {
                    meansNs[flow] = Double.isNaN(sampledNs[flow]) ? Double.NaN : meansNs[flow];
                }
                final double[] errors = trace.relativeErrors(meansNs, 1);
                if (seed == 1 && utilization == 0.88) {
                    distribution.addDistribution(METHODS.get(i).name(), errors, 100);
                }
                row[5 * i] = 100 * Numbers.median(errors);
                row[5 * i + 1] = 100 * Numbers.quantile(errors, 0.9);
                row[5 * i + 2] = Arrays.stream(errors).filter(error -> !Double.isNaN(error)).count();
                row[5 * i + 3] = cost.memoryBytes();
                row[5 * i + 4] = cost.controlBytes();
            }
            return row;
        });
        final double[][] rows = new double[METHODS.size()][5];
        for (int i = 0; i < flat.length; i++) {
            rows[i / 5][i % 5] = flat[i];
        }
        return rows;
    }
}
