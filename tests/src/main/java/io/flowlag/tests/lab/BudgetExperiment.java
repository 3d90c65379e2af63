package io.flowlag.tests.lab;

import io.flowlag.exporter.lab.PathFaults;
import io.flowlag.exporter.lab.ReferenceModel;
import io.flowlag.exporter.lab.SegmentProfile;
import io.flowlag.rli.receiver.Estimator;
import io.flowlag.rli.sender.EveryNPolicy;
import io.flowlag.sketch.image.SketchGeometry;
import io.flowlag.tests.lab.joint.JointMethod;
import io.flowlag.tests.lab.method.DelayMethod;
import io.flowlag.tests.lab.method.PathTrace;
import io.flowlag.tests.lab.method.RliMethod;
import io.flowlag.tests.lab.method.Simple;
import io.flowlag.tests.lab.method.SketchMethod;
import io.flowlag.tests.lab.report.Experiment;
import io.flowlag.tests.lab.report.Numbers;
import io.flowlag.tests.lab.report.Plot;
import io.flowlag.tests.lab.report.Results;
import io.flowlag.tests.lab.report.Setup;
import io.flowlag.tests.lab.report.Table;
import io.flowlag.tests.lab.rli.PaperSegment;

import java.lang.management.ManagementFactory;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.function.ToDoubleFunction;

/**
 * The cost of accuracy: error over octets on the wire, memory and CPU, for references, LDS, joint estimation, flow sums and all
 * packets' timestamps, each by budget; and the cheapest method for an error.
 */
public final class BudgetExperiment implements Experiment {
    private static final double UTILIZATION = 0.88;
    private static final int PACKETS_PER_FLOW = 16;
    private static final int ROWS = 4;
    private static final int[] PACKETS_PER_REFERENCE = {10_000, 3_000, 1_000, 300, 100, 30, 10};
    /** Setting of joint estimation and all methods other than references. */
    private static final int USUAL_PACKETS_PER_REFERENCE = 1_000;
    /** Cells of all rows for a flow. */
    private static final double[] CELLS_PER_FLOW = {0.02, 0.05, 0.1, 0.25, 0.5, 1, 2, 4};
    private static final double[] WANTED_PERCENT = {10, 3, 1, 0.3, 0.1, 0.03, 0.01, 0};
    private static final double LOSS = 0.001;
    private static final double EPISODE_PACKETS = 100;
    private static final int LARGE = 100;

    /**
     * A method with a budget; medians over the seeds.
     *
     * @param kind     one line of the plots.
     * @param setting  how much it is given.
     * @param wire     octets an interval.
     * @param memory   octets of both points.
     * @param nsPacket CPU, ns a packet.
     * @param error    median relative error of flows of 100 packets or more, %.
     * @param all      the same of all flows.
     * @param missing  flows without an estimate where 0.1 % of packets are lost in episodes, %.
     */
    private record Point(
        String kind, String setting, double wire, double memory, double nsPacket, double error, double all, double missing) {
    }

    /** A measured method, over the trace with this many packets for each reference. */
    private record Candidate(String kind, String setting, int packetsPerReference, DelayMethod method) {
    }

    private static List<Candidate> candidates(final int flows) {
        final List<Candidate> candidates = new ArrayList<>();
        for (final int packets : PACKETS_PER_REFERENCE) {
            candidates.add(new Candidate("references", "1 in " + packets, packets, new RliMethod(Estimator.LINEAR)));
        }
        for (final String kind : new String[] {"LDS", "joint"}) {
            for (final double cells : CELLS_PER_FLOW) {
                final SketchGeometry geometry =
                    SketchGeometry.lds(ROWS, Math.max(4, (int)Math.round(cells * flows / ROWS)), 1);
                candidates.add(new Candidate(kind, cells + " cells a flow", USUAL_PACKETS_PER_REFERENCE, kind.equals("LDS") ?
                    new SketchMethod(SketchMethod.Kind.LDS, geometry) : new JointMethod(geometry)));
            }
        }
        candidates.add(new Candidate("flow sums", "every flow", USUAL_PACKETS_PER_REFERENCE, Simple.exactSums()));
        candidates.add(new Candidate("exact", "every packet", USUAL_PACKETS_PER_REFERENCE, Simple.hashAndTimestamp()));
        return candidates;
    }

    @Override
    public void run(final Setup setup, final Results results) {
        final int packets = setup.size(50_000, 100_000, 400_000);
        final int flows = packets / PACKETS_PER_FLOW;
        final List<Candidate> candidates = candidates(flows);
        final List<double[][]> figures = new ArrayList<>();
        candidates.forEach(each -> figures.add(new double[setup.seeds()][]));
        for (int seed = 1; seed <= setup.seeds(); seed++) {
            PathTrace whole = null;
            PathTrace losing = null;
            int packetsPerReference = 0;
            for (int i = 0; i < candidates.size(); i++) {
                final Candidate each = candidates.get(i);
                if (packetsPerReference != each.packetsPerReference()) {
                    packetsPerReference = each.packetsPerReference();
                    final SegmentProfile profile = PaperSegment.of(UTILIZATION, PaperSegment.dropTail(), packets, seed)
                        .with(ReferenceModel.of(new EveryNPolicy(packetsPerReference)));
                    whole = PathTrace.of(profile);
                    losing = PathTrace.of(profile.with(PathFaults.NONE.withBursts(LOSS, EPISODE_PACKETS)));
                }
                figures.get(i)[seed - 1] = measure(whole, losing, each.method());
            }
        }
        final Map<String, List<Point>> points = new LinkedHashMap<>();
        for (int i = 0; i < candidates.size(); i++) {
            final Candidate each = candidates.get(i);
            points.computeIfAbsent(each.kind(), kind -> new ArrayList<>()).add(point(each, figures.get(i)));
        }
        report(results, points, flows);
    }

    private static double[] measure(final PathTrace whole, final PathTrace losing, final DelayMethod method) {
        final double[] meansNs = new double[whole.flows()];
        final long beforeNs = ManagementFactory.getThreadMXBean().getCurrentThreadCpuTime();
        final DelayMethod.Cost cost = method.estimate(whole, meansNs);
        final double cpuNs = ManagementFactory.getThreadMXBean().getCurrentThreadCpuTime() - beforeNs;
        final double large = Numbers.median(whole.relativeErrors(meansNs, LARGE));
        final double all = Numbers.median(whole.relativeErrors(meansNs, 1));
        final double[] losingNs = new double[losing.flows()];
        method.estimate(losing, losingNs);
        final double[] errors = losing.relativeErrors(losingNs, 1);
        int missing = 0;
        for (final double error : errors) {
            missing += Double.isNaN(error) ? 1 : 0;
        }
        return new double[] {cost.controlBytes(), cost.memoryBytes(), cpuNs / whole.packets(), 100 * large, 100 * all,
            100.0 * missing / errors.length};
    }

    private static Point point(final Candidate candidate, final double[][] ofSeeds) {
        final double[] medians = new double[ofSeeds[0].length];
        for (int column = 0; column < medians.length; column++) {
            final double[] values = new double[ofSeeds.length];
            for (int seed = 0; seed < values.length; seed++) {
                values[seed] = ofSeeds[seed][column];
            }
            medians[column] = Numbers.median(values);
        }
        return new Point(candidate.kind(), candidate.setting(), medians[0], medians[1], medians[2], medians[3], medians[4],
            medians[5]);
    }

    private static void report(final Results results, final Map<String, List<Point>> points, final int flows) {
        final Table table = results.table("errors", "RLI paper's link, FIFO at 88 %, " + flows + " flows of 16 packets on " +
            "average in an interval; LDS 4 rows, joint with a reference for 1000 packets; median relative errors", "method",
            "given", "wire octets a flow", "memory octets a flow", "100 packets or more %", "all flows %",
            "without estimate at 0.1 % loss %");
        final Table times = results.measured("cpu", "CPU of both points and the estimates, one thread", "method", "given",
            "ns a packet");
        final Plot wire = plot("wire", "Error over octets on the wire").x("octets a flow", true);
        final Plot memory =
            plot("memory", "Error over memory").x("octets a flow, both points", true);
        points.forEach((kind, ofKind) -> {
            for (final Point each : ofKind) {
                table.row(kind, each.setting(), each.wire() / flows, each.memory() / flows, each.error(), each.all(),
                    each.missing());
                times.row(kind, each.setting(), each.nsPacket());
            }
            add(wire, kind, ofKind, point -> point.wire() / flows);
            add(memory, kind, ofKind, point -> point.memory() / flows);
        });
        results.plot(wire);
        results.plot(memory);
        final Table crossovers = results.table("crossovers", "The cheapest method for a median error of flows of 100 packets " +
            "or more, and what it takes for each flow", "error at most %", "on the wire", "wire octets a flow", "in memory",
            "memory octets a flow");
        for (final double percent : WANTED_PERCENT) {
            final Point onWire = cheapest(points, percent, Point::wire);
            final Point inMemory = cheapest(points, percent, Point::memory);
            crossovers.row(percent, name(onWire), onWire.wire() / flows, name(inMemory), inMemory.memory() / flows);
        }
        final double sums = points.get("flow sums").get(0).wire();
        points.get("joint").stream().filter(each -> each.wire() >= sums).findFirst().ifPresent(each -> results.note(
            String.format(Locale.ROOT, "From %s on joint estimation takes more octets on the wire than the sums of all " +
            "flows, which are exact where nothing is lost.", each.setting())));
        results.note("Without loss flow sums and timestamps have no error; plots show them at 0.001 %. Large flows have " +
            "100 packets or more. Where packets are lost, sums need a repair (reconciliation), and so do sketches; lab " +
            "rda-repair and lab joint-repair have its cost.");
    }

    private static Plot plot(final String name, final String title) {
        return new Plot(name, title).y("median error of large flows, %", true);
    }

    private static void add(
        final Plot plot, final String kind, final List<Point> points, final ToDoubleFunction<Point> cost) {
        plot.add(kind, points.size() == 1 ? Plot.Style.POINTS : Plot.Style.MARKED_LINE,
            points.stream().mapToDouble(cost).toArray(),
            points.stream().mapToDouble(each -> Math.max(0.001, each.error())).toArray());
    }

    private static Point cheapest(
        final Map<String, List<Point>> points, final double percent, final ToDoubleFunction<Point> cost) {
        Point cheapest = null;
        for (final List<Point> ofKind : points.values()) {
            for (final Point each : ofKind) {
                if (each.error() <= percent + 1e-9 &&
                    (cheapest == null || cost.applyAsDouble(each) < cost.applyAsDouble(cheapest))) {
                    cheapest = each;
                }
            }
        }
        return cheapest;
    }

    private static String name(final Point point) {
        return point.kind() + ", " + point.setting();
    }
}
