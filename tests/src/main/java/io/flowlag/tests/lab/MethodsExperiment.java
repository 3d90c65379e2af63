package io.flowlag.tests.lab;

import io.flowlag.exporter.lab.PathFaults;
import io.flowlag.exporter.lab.ReferenceModel;
import io.flowlag.exporter.lab.SegmentProfile;
import io.flowlag.rli.receiver.Estimator;
import io.flowlag.rli.sender.AdaptivePolicy;
import io.flowlag.sketch.image.SketchGeometry;
import io.flowlag.tests.lab.joint.JointMethod;
import io.flowlag.tests.lab.method.DelayMethod;
import io.flowlag.tests.lab.method.FineCombMethod;
import io.flowlag.tests.lab.method.LdaMethod;
import io.flowlag.tests.lab.method.MethodTable;
import io.flowlag.tests.lab.method.MultiPointEstimator;
import io.flowlag.tests.lab.method.OpaMethod;
import io.flowlag.tests.lab.method.PathTrace;
import io.flowlag.tests.lab.method.ReconciledMethod;
import io.flowlag.tests.lab.method.RliMethod;
import io.flowlag.tests.lab.method.SharedCounters;
import io.flowlag.tests.lab.method.Simple;
import io.flowlag.tests.lab.method.SketchMethod;
import io.flowlag.tests.lab.method.StoredDelays;
import io.flowlag.tests.lab.report.Experiment;
import io.flowlag.tests.lab.report.Plot;
import io.flowlag.tests.lab.report.Results;
import io.flowlag.tests.lab.report.Setup;
import io.flowlag.tests.lab.report.Table;
import io.flowlag.tests.lab.rli.PaperSegment;

import java.util.List;

/** Every method over the same traffic: error, memory, control traffic and CPU. */
public final class MethodsExperiment implements Experiment {
    private static final int ROWS = 4;
    private static final int CELLS_FOR_FLOWS = 2;
    private static final double PROBES_PER_SECOND = 1000;
    private static final int PACKETS_PER_FLOW = 16;
    private static final int FINE_COMB_CELLS = 1024;
    private static final double EPISODE_PACKETS = 100;

    /** The compared methods; add a method as one more line. */
    static List<DelayMethod> methods(final int packets) {
        final int columns = packets / PACKETS_PER_FLOW / CELLS_FOR_FLOWS / ROWS;
        final SketchGeometry lds = SketchGeometry.lds(ROWS, columns, 1);
        return List.of(
            Simple.exactSums(), Simple.hashAndTimestamp(), Simple.trajectorySampling(0.01), new MultiPointEstimator(0.01, true),
            Simple.poissonProbes(PROBES_PER_SECOND, 1), Simple.globalMean(),
            new LdaMethod(LdaMethod.twoBanks(packets), 1), new FineCombMethod(FINE_COMB_CELLS, 1), new ReconciledMethod(1),
            new OpaMethod(10_000, 0.1), new OpaMethod(100, 1), new SharedCounters(0.1, 50),
            new SharedCounters(8, ROWS), new StoredDelays(),
            new RliMethod(Estimator.LEFT), new RliMethod(Estimator.LINEAR),
            new SketchMethod(SketchMethod.Kind.SDS, SketchGeometry.sds(ROWS, columns)),
            new SketchMethod(SketchMethod.Kind.LDS_RULE, lds), new SketchMethod(SketchMethod.Kind.LDS, lds),
            new JointMethod(lds));
    }

    @Override
    public void run(final Setup setup, final Results results) {
        final int packets = setup.size(50_000, 100_000, 400_000);
        final List<DelayMethod> methods = methods(packets);
        for (final double utilization : new double[] {0.55, 0.88}) {
            final String name = "load-" + Math.round(100 * utilization);
            final Table table = MethodTable.compare(setup, results, name,
                "FIFO at " + Math.round(100 * utilization) + " %, no loss, cells for half of the flows",
                seed -> PathTrace.of(profile(utilization, packets, seed)), methods);
            results.plot(cost(name, "Error over control traffic, FIFO at " + Math.round(100 * utilization) + " %", table));
        }
        MethodTable.compare(setup, results, "loss", "FIFO at 88 %, 0.1 % of packets lost in episodes of 100",
            seed -> PathTrace.of(profile(0.88, packets, seed)
                .with(PathFaults.NONE.withBursts(0.001, EPISODE_PACKETS))), methods);
        results.note("MAPLE and COLATE are known by their abstracts alone. Stored delays have MAPLE's memory, shared counters " +
            "COLATE's (0.1 bit a packet) or that of LDS, one update a packet, and no defence against loss.");
        results.note("Exact methods have no error and so no place on a logarithmic axis. A flow without an estimate does not " +
            "count in the median; the share of such flows stands beside it. CPU is that of the laboratory's code for both " +
            "points, one thread, a cold start of the joint estimator included.");
    }

    private static SegmentProfile profile(final double utilization, final int packets, final long seed) {
        return PaperSegment.of(utilization, PaperSegment.dropTail(), packets, seed)
            .with(ReferenceModel.of(AdaptivePolicy.PAPER));
    }

    private static Plot cost(final String name, final String title, final Table table) {
        final Plot plot = new Plot(name + "-cost", title)
            .x("control traffic, octets an interval", true).y("median relative error, all flows, %", true);
        for (final List<Object> row : table.rows()) {
            plot.add((String) row.get(0), Plot.Style.POINTS,
                new double[] {((Number) row.get(7)).doubleValue()}, new double[] {((Number) row.get(1)).doubleValue()});
        }
        return plot;
    }
}
