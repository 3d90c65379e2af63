package io.flowlag.tests.lab.rli;

import io.flowlag.rli.sender.AdaptivePolicy;
import io.flowlag.rli.sender.CombinedPolicy;
import io.flowlag.rli.sender.EveryIntervalPolicy;
import io.flowlag.rli.sender.EveryNPolicy;
import io.flowlag.rli.sender.InjectionPolicy;
import io.flowlag.tests.lab.report.Experiment;
import io.flowlag.tests.lab.report.Plot;
import io.flowlag.tests.lab.report.Results;
import io.flowlag.tests.lab.report.Setup;
import io.flowlag.tests.lab.report.Table;

import java.util.LinkedHashMap;
import java.util.Map;
import java.util.concurrent.TimeUnit;

/** Figure 6 of the RLI paper: the four injection policies at n = 300 and τ = 780 µs. */
public final class RliFigure6 implements Experiment {
    private static final int PAPER_N = 300;
    private static final long PAPER_TAU_NS = TimeUnit.MICROSECONDS.toNanos(780);

    private static Map<String, InjectionPolicy> policies() {
        final Map<String, InjectionPolicy> policies = new LinkedHashMap<>();
        policies.put("adaptive", AdaptivePolicy.PAPER);
        policies.put("every-n", new EveryNPolicy(PAPER_N));
        policies.put("every-interval", new EveryIntervalPolicy(PAPER_TAU_NS));
        policies.put("combined", new CombinedPolicy(PAPER_N, PAPER_TAU_NS));
        return policies;
    }

    @Override
    public void run(final Setup setup, final Results results) {
        final Table table = results.table("policies", "Relative error of flows' means; RED; n = 300, τ = 780 µs; medians",
            "policy", "utilization", "median %", "75th percentile %", "references %");
        final Plot plot = new Plot("policies", "Injection policies").x("utilization, %", false)
            .y("median relative error, %", false);
        policies().forEach((name, policy) -> {
            final double[] loads = new double[PaperLink.UTILIZATIONS.length];
            final double[] errors = new double[loads.length];
            for (int i = 0; i < loads.length; i++) {
                final double utilization = PaperLink.UTILIZATIONS[i];
                final double[] row = setup.medians(seed -> {
                    final RliExperiment run = PaperLink.run(
                        PaperLink.of(utilization, PaperLink.sweepPackets(setup), seed), policy);
                    return new double[] {
                        100 * run.medianMeanError(), 100 * run.meanError(flow -> true, 0.75), 100 * run.injectionRate()};
                });
                table.row(name, utilization, row[0], row[1], row[2]);
                loads[i] = 100 * utilization;
                errors[i] = row[0];
            }
            plot.add(name, Plot.Style.MARKED_LINE, loads, errors);
        });
        results.plot(plot);
        results.compare("every-n at 55 %, error, % (at least)", 40, table.number("median %", "every-n", 0.55));
        results.compare("adaptive over every-n at 55 %", 0.5,
            table.number("median %", "adaptive", 0.55) / table.number("median %", "every-n", 0.55));
        final double[] paperRates = {10, 9, 4.8, 0.6};
        for (int i = 0; i < paperRates.length; i++) {
            final double utilization = PaperLink.UTILIZATIONS[i];
            results.compare("references at " + PaperLink.percent(utilization) + ", % of packets", paperRates[i],
                table.number("references %", "adaptive", utilization));
        }
    }
}
