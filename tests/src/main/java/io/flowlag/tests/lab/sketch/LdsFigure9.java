package io.flowlag.tests.lab.sketch;

import io.flowlag.rli.receiver.Estimator;
import io.flowlag.sketch.image.SketchGeometry;
import io.flowlag.tests.lab.method.DelayMethod;
import io.flowlag.tests.lab.method.MethodTable;
import io.flowlag.tests.lab.method.MultiPointEstimator;
import io.flowlag.tests.lab.method.PathTrace;
import io.flowlag.tests.lab.method.RliMethod;
import io.flowlag.tests.lab.method.Simple;
import io.flowlag.tests.lab.method.SketchMethod;
import io.flowlag.tests.lab.report.Experiment;
import io.flowlag.tests.lab.report.Plot;
import io.flowlag.tests.lab.report.Results;
import io.flowlag.tests.lab.report.Setup;
import io.flowlag.tests.lab.report.Table;
import io.flowlag.tests.lab.sketch.PaperTraffic.DelayModel;

import java.util.List;
import java.util.Locale;

/** Figure 9 of the LDS paper: LDS of three sizes beside MPE, RLI with 1 kHz probes, and the mean of all packets. */
public final class LdsFigure9 implements Experiment {
    private static final double PROBES_PER_SECOND = 1000;
    private static final int PAPER_FLOWS = 146_000;

    private static List<DelayMethod> methods(final int flows) {
        return List.of(lds(flows, 175_000, SketchMethod.Kind.LDS), lds(flows, 17_500, SketchMethod.Kind.LDS),
            lds(flows, 17_500, SketchMethod.Kind.LDS_RULE), lds(flows, 1_750, SketchMethod.Kind.LDS),
            new MultiPointEstimator(0.1, true), new MultiPointEstimator(0.01, true), new RliMethod(Estimator.LINEAR),
            Simple.globalMean());
    }

    private static DelayMethod lds(final int flows, final int paperColumns, final SketchMethod.Kind kind) {
        return new SketchMethod(kind, SketchGeometry.lds(4, (int) ((long) paperColumns * flows / PAPER_FLOWS), 1));
    }

    /** Flows of a trace; at the paper's scale a third of the paper's, so that 2.6 million packets fit the memory. */
    static int flows(final Setup setup) {
        return setup.size(3_650, 7_300, 48_666);
    }

    @Override
    public void run(final Setup setup, final Results results) {
        final int flows = flows(setup);
        final List<DelayMethod> methods = methods(flows);
        final Table perFlow = MethodTable.compare(setup, results, "per-flow",
            "Delays that differ by flow and by packet (Weibull)",
            seed -> LdsTrace.of(flows, DelayModel.PER_FLOW, seed, PROBES_PER_SECOND, 0), methods);
        MethodTable.compare(setup, results, "fifo", "Delays of a FIFO at 90 % load",
            seed -> LdsTrace.of(flows, DelayModel.FIFO_QUEUE, seed, PROBES_PER_SECOND, 0), methods);
        final PathTrace trace = LdsTrace.of(flows, DelayModel.PER_FLOW, 1, PROBES_PER_SECOND, 0);
        for (final int least : new int[] {1000, 100}) {
            final Plot plot = Plot.errorDistribution("from-" + least, "Flows of " + least + " packets or more, delays by flow");
            for (final DelayMethod method : methods) {
                final double[] meansNs = new double[flows];
                method.estimate(trace, meansNs);
                plot.addDistribution(method.name(), trace.relativeErrors(meansNs, least), 100);
            }
            results.plot(plot);
        }
        final String column = "median, 1000 packets or more %";
        final double lds = perFlow.number(column, methods.get(1).name());
        results.note("Figure 9 has curves only: where delays differ by flow, LDS with half as many cells as flows has " +
            "a median error of " + String.format(Locale.ROOT, "%.2f", lds) + " % from 1000 packets on, MPE at 10 % " +
            String.format(Locale.ROOT, "%.1f", perFlow.number(column, methods.get(4).name())) + " %, RLI " +
            String.format(Locale.ROOT, "%.1f", perFlow.number(column, "RLI")) + " %.");
    }
}
