package io.flowlag.tests.lab.quantile;

import io.flowlag.tests.lab.quantile.QuantileRun.Delays;
import io.flowlag.tests.lab.quantile.QuantileRun.Flow;
import io.flowlag.tests.lab.report.Experiment;
import io.flowlag.tests.lab.report.Numbers;
import io.flowlag.tests.lab.report.Results;
import io.flowlag.tests.lab.report.Scale;
import io.flowlag.tests.lab.report.Setup;
import io.flowlag.tests.lab.report.Table;

import java.util.ArrayList;
import java.util.List;

/**
 * Quantiles of flows where delays of successive packets have nothing in common, from packets sampled at both points: errors
 * against all packets of each flow, how often the bounds hold, and what send times take. Beside it a queue that can be
 * interpolated, whose estimates the flows keep.
 */
public final class QuantileExperiment implements Experiment {
    private static final double PERCENT = 100;
    private static final int[] SHOWN = {0, 1, 3};

    @Override
    public void run(final Setup setup, final Results results) {
        final int flowCount = setup.size(10_000, 200_000, 200_000);
        final Table table = results.table("quantiles", flowCount + " flows of 3 to 60 000 packets (Pareto 1.1), one flow in 16 " +
            "sampled whole, of the others the references: flows with 10/(1 - q) sampled packets, and those with a quantile",
            "delays", "references %", "quantile", "flows", "with a quantile", "sampled in part", "median error %",
            "95 % of errors %", "bound holds %", "bound of those in part holds %", "median bound %");
        final Table bandwidth = results.table("bandwidth", "Send times of sampled packets, and flows by the delays that their " +
            "quantiles are of", "delays", "references %", "packets", "bit/packet", "kbit/s at 20 000 packets/s",
            "flows of sampled packets", "flows of estimates");
        for (final Delays delays : Delays.values()) {
            for (final double share : setup.scale() == Scale.TEST ? new double[] {0.15} : new double[] {0.01, 0.15}) {
                final List<QuantileRun> runs = new ArrayList<>();
                for (int seed = 1; seed <= setup.seeds(); seed++) {
                    runs.add(new QuantileRun(delays, flowCount, share, setup.firstSeed(1) + seed - 1));
                }
                for (final int index : SHOWN) {
                    quantile(table, runs, index, delays.title, PERCENT * share);
                }
                final QuantileRun first = runs.get(0);
                bandwidth.row(delays.title, PERCENT * share, first.packets, first.bitsPerPacket(), first.kilobitsPerS(),
                    first.flows.stream().filter((flow) -> flow.bound() > 0).count(),
                    first.flows.stream().filter((flow) -> flow.bound() == 0 && flow.errors().length > 0).count());
            }
        }
        results.note("A flow that is not sampled whole has quantiles of sampled packets if its bound is below 15 %, else none. " +
            "Bounds are of 95 %.");
    }

    private static void quantile(
        final Table table, final List<QuantileRun> runs, final int index, final String title, final double percent) {
        final List<Flow> worth =
            runs.stream().flatMap((run) -> run.flows.stream()).filter((flow) -> flow.isWorth(index)).toList();
        final List<Flow> flows = worth.stream().filter((flow) -> flow.hasSampled(index)).toList();
        final List<Flow> inPart = flows.stream().filter((flow) -> flow.sampled() < flow.packets()).toList();
        final double[] errors = flows.stream().mapToDouble((flow) -> PERCENT * flow.errors()[index]).toArray();
        table.row(title, percent, PERCENT * QuantileRun.QUANTILES[index], worth.size(), flows.size(), inPart.size(),
            Numbers.median(errors), Numbers.quantile(errors, 0.95), heldPercent(flows, index), heldPercent(inPart, index),
            Numbers.median(flows.stream().mapToDouble((flow) -> PERCENT * flow.bound()).toArray()));
    }

    private static double heldPercent(final List<Flow> flows, final int index) {
        return PERCENT * flows.stream().filter((flow) -> flow.errors()[index] <= flow.bound()).count() / flows.size();
    }
}
