package io.flowlag.sketch.joint;

import java.util.Arrays;

/** Draft. */
public final class JointEstimator {
    /** Most traffic classes. */
    public static final int MAX_CLASSES = 8;

    private static final int START_SWEEPS = 15;
    private static final int FAST_SWEEPS = 30;
    static int coldSweeps = Integer.getInteger("cold", 24);
    static int warmSweeps = Integer.getInteger("warm", 12);
    static boolean truncate = Boolean.getBoolean("truncate");

    private final CellSystem system;
    private final Landweber landweber;
    private final MixturePrior prior = new MixturePrior();
    private final MessagePassing passing;
    private final Quantiles quantiles = new Quantiles(prior);
    private final Calibration calibration = new Calibration();
    private final double[] cellRatio;
    private final double[] meanNs;
    private final double[] boundNs;
    private boolean isWarm;
    private double theta;
    public final double[] history = new double[64];

    public JointEstimator(final JointProblem shape) {
        system = new CellSystem(shape);
        landweber = new Landweber(system, shape.maxFlows);
        passing = new MessagePassing(system, prior, shape.maxFlows);
        cellRatio = new double[system.cells];
        meanNs = new double[shape.maxFlows];
        boundNs = new double[shape.maxFlows];
    }

    public double meanNs(final int flow) {
        return meanNs[flow];
    }

    public double boundNs(final int flow) {
        return boundNs[flow];
    }

    public double factor(final int size) {
        return calibration.factor(size);
    }

    public double health() {
        return passing.chi();
    }

    public void solve(final JointProblem problem, final JointTier tier) {
        system.load(problem);
        landweber.solve(tier == JointTier.FAST ? FAST_SWEEPS : START_SWEEPS);
        measureTheta();
        if (!isWarm) {
            prior.start(theta, system.meanDelayNs);
        }
        passing.start(problem, landweber.z, theta, problem.timestampVarianceNs2);
        final int sweeps = isWarm ? warmSweeps : coldSweeps;
        Arrays.fill(history, -1);
        for (int sweep = 0; sweep < sweeps; sweep++) {
            passing.measureCells();
            history[sweep] = passing.chi();
            passing.sweep(0 == sweep, true);
            prior.conclude(!isWarm && sweep < sweeps - 6);
        }
        passing.measureCells();
        history[sweeps] = passing.chi();
        conclude(problem);
        isWarm = true;
    }

    private void conclude(final JointProblem problem) {
        for (int flow = 0; flow < system.flows; flow++) {
            passing.read(flow);
            prior.measure(
                system.bin[flow], system.scaleNs[flow], system.meanNs[flow], system.packets[flow],
                passing.precision(), passing.natural());
            final double median = quantiles.median();
            meanNs[flow] = Math.max(problem.floorNs, system.meanNs[flow] + median);
            boundNs[flow] = quantiles.halfWidth(meanNs[flow] - system.meanNs[flow]);
        }
        calibration.begin();
        for (int index = 0; index < problem.witnesses; index++) {
            final int flow = problem.witnessFlow[index];
            final double truth = problem.witnessSumNs[index] / system.packets[flow];
            calibration.add(CellSystem.sizeBin(system.bin[flow]), Math.abs(meanNs[flow] - truth) / boundNs[flow]);
        }
        calibration.conclude();
        for (int flow = 0; flow < system.flows; flow++) {
            boundNs[flow] *= calibration.factor(CellSystem.sizeBin(system.bin[flow]));
        }
    }

    /** How much larger RLI's errors are than the flows' scales say, from the cells. */
    private void measureTheta() {
        Arrays.fill(cellRatio, 0);
        for (int flow = 0; flow < system.flows; flow++) {
            final double scale = system.scaleNs[flow];
            for (int edge = 0; edge < system.edges; edge++) {
                final double a = system.edgeCoefficient(flow, edge) * scale;
                cellRatio[system.cell(flow, edge)] += a * a;
            }
        }
        int count = 0;
        for (int cell = 0; cell < system.cells; cell++) {
            if (system.cellPackets[cell] > 0 && cellRatio[cell] > 0) {
                cellRatio[count++] = system.residualNs[cell] * system.residualNs[cell] / cellRatio[cell];
            }
        }
        if (0 == count) {
            theta = 1;
            return;
        }
        final double upper = Selection.smallest(cellRatio, count, (int)(0.98 * (count - 1)));
        final double tenth = Selection.smallest(cellRatio, count, (int)(0.9 * (count - 1)));
        double sum = 0;
        for (int index = 0; index < count; index++) {
            sum += Math.min(upper, cellRatio[index]);
        }
        theta = Math.max(1e-12, Math.max(sum / count, tenth / 2.7));
    }
}
