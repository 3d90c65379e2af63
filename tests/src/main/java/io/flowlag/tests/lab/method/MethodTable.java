package io.flowlag.tests.lab.method;

import io.flowlag.tests.lab.report.Numbers;
import io.flowlag.tests.lab.report.Plot;
import io.flowlag.tests.lab.report.Results;
import io.flowlag.tests.lab.report.Setup;
import io.flowlag.tests.lab.report.Table;

import java.lang.management.ManagementFactory;
import java.util.ArrayList;
import java.util.List;
import java.util.function.LongFunction;
import java.util.stream.IntStream;

/** Several methods over the same traces: errors, memory, control traffic and CPU. */
public final class MethodTable {
    /** Columns of figures, behind the method's name. */
    public static final String[] COLUMNS = {
        "method", "median error %", "95th percentile %", "median, 100 packets or more %", "median, 1000 packets or more %",
        "flows without estimate %", "memory octets", "control octets"};

    private MethodTable() {
    }

    /**
     * Measures methods and adds two tables, NAME and NAME-cpu, and a plot of distributions.
     *
     * @param setup   says how many seeds.
     * @param name    of the table and the plot.
     * @param traces  makes a seed's trace.
     * @param methods to compare, for each trace new ones of the same names.
     * @return the table of errors.
     */
    public static Table compare(
        final Setup setup, final Results results, final String name, final String title,
        final LongFunction<PathTrace> traces, final List<DelayMethod> methods) {
        final Table table = results.table(name, title + "; medians over the seeds", COLUMNS);
        final Table times = results.measured(name + "-cpu", title + ": CPU time, both points and the estimates",
            "method", "ns a packet");
        final Plot plot = Plot.errorDistribution(name, title);
        final List<double[][]> figures = new ArrayList<>();
        methods.forEach(method -> figures.add(new double[setup.seeds()][]));
        final List<double[]> distributions = new ArrayList<>();
        for (int seed = 1; seed <= setup.seeds(); seed++) {
            final PathTrace trace = traces.apply(seed);
            for (int i = 0; i < methods.size(); i++) {
                final double[] meansNs = new double[trace.flows()];
                figures.get(i)[seed - 1] = figures(trace, methods.get(i), meansNs);
                if (seed == 1) {
                    distributions.add(trace.relativeErrors(meansNs, 1));
                }
            }
        }
        for (int i = 0; i < methods.size(); i++) {
            final double[][] ofSeeds = figures.get(i);
            final Double[] row = IntStream.range(0, ofSeeds[0].length).mapToObj(column -> Numbers.median(
                IntStream.range(0, ofSeeds.length).mapToDouble(seed -> ofSeeds[seed][column]).toArray())).toArray(Double[]::new);
            table.row(methods.get(i).name(), row[0], row[1], row[2], row[3], row[4], row[5], row[6]);
            times.row(methods.get(i).name(), row[7]);
            plot.addDistribution(methods.get(i).name(), distributions.get(i), 100);
        }
        results.plot(plot);
        return table;
    }

    private static double[] figures(final PathTrace trace, final DelayMethod method, final double[] meansNs) {
        final long beforeNs = ManagementFactory.getThreadMXBean().getCurrentThreadCpuTime();
        final DelayMethod.Cost cost = method.estimate(trace, meansNs);
        final long cpuNs = ManagementFactory.getThreadMXBean().getCurrentThreadCpuTime() - beforeNs;
        final double[] all = trace.relativeErrors(meansNs, 1);
        int missing = 0;
        for (final double error : all) {
            missing += Double.isNaN(error) ? 1 : 0;
        }
        return new double[] {
            100 * Numbers.median(all), 100 * Numbers.quantile(all, 0.95),
            100 * Numbers.median(trace.relativeErrors(meansNs, 100)),
            100 * Numbers.median(trace.relativeErrors(meansNs, 1000)), 100.0 * missing / all.length,
            cost.memoryBytes(), cost.controlBytes(), (double) cpuNs / trace.packets()};
    }
}
