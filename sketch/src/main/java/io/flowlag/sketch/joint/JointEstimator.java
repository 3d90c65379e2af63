package io.flowlag.sketch.joint;

import io.flowlag.sketch.image.SketchGeometry;

import java.util.Arrays;

/**
 * Solves a {@link JointProblem}: mean delay of every flow, with the half width in which 95 % of the true means lie. The algorithm
 * is in {@code docs/joint.md}. What it learned of RLI's errors, and how far bounds must be stretched, it carries over to the
 * next interval, so one estimator belongs to one segment.
 *
 * <p>One thread at a time; off the packet path. The same problems in the same order give the same results. Owns
 * {@link #memoryBytes} of heap, allocated at construction; {@link #solve} allocates nothing. A value that is absent cannot be
 * read: its accessor throws.
 */
public final class JointEstimator {
    /** Most traffic classes. */
    public static final int MAX_CLASSES = 8;

    /** Health up to which a solution is taken for sound. */
    public static final double MAX_SOUND_HEALTH = 4;

    private static final int COLD_SWEEPS = 24;
    private static final int WARM_SWEEPS = 10;
    private static final int PLAIN_SWEEPS = 8;
    /** Cells are kept up to date message by message, and added up afresh now and then, so that rounding does not add up. */
    private static final int SWEEPS_PER_SUM = 4;
    private static final int START_SWEEPS = 15;
    private static final int FAST_SWEEPS = 20;
    /** A change of RLI's errors, as a ratio of variances, after which what was learned is forgotten. */
    private static final double MAX_THETA_RATIO = 30;
    private static final double ABSENT = -1;

    private final CellSystem system;
    private final Landweber landweber;
    private final MixturePrior prior = new MixturePrior();
    private final MessagePassing passing;
    private final Quantiles quantiles = new Quantiles(prior);
    private final Calibration fullCalibration = new Calibration();
    private final Calibration fastCalibration = new Calibration();
    private final Calibration parentCalibration = new Calibration();
    private final Parents parents;
    private final NoiseScale noiseScale;
    private final double[] meanNs;
    private final double[] boundNs;
    private final JointStatus[] sizeStatus = new JointStatus[CellSystem.SIZE_BINS];
    private final JointStatus[] fastStatus = new JointStatus[CellSystem.SIZE_BINS];
    private JointStatus status = JointStatus.NONE;
    private boolean isWarm;
    private boolean hasBounds;
    private boolean isCalibrated;
    private double learnedTheta;
    private double health;
    private int sweeps;

    /**
     * An estimator for problems of one shape.
     *
     * @param shape a problem; its limits and geometry are read, nothing else.
     */
    public JointEstimator(final JointProblem shape) {
        system = new CellSystem(shape);
        landweber = new Landweber(system, shape.maxFlows);
        passing = new MessagePassing(system, prior, shape.maxFlows);
        parents = new Parents(system, shape.maxWitnesses);
        noiseScale = new NoiseScale(system);
        meanNs = new double[shape.maxFlows];
        boundNs = new double[shape.maxFlows];
    }

    /**
     * Heap that an estimator takes.
     *
     * @param shape a problem of the shape.
     * @return octets, without array headers.
     */
    public static long memoryBytes(final JointProblem shape) {
        return memoryBytes(shape.rows, shape.columns, shape.vldaLength, shape.maxFlows, shape.maxWitnesses);
    }

    /**
     * Heap that an estimator takes, before there is a problem.
     *
     * @param geometry     of the sketches.
     * @param maxFlows     most flows.
     * @param maxWitnesses most witness flows.
     * @return octets, without array headers.
     */
    public static long memoryBytes(final SketchGeometry geometry, final int maxFlows, final int maxWitnesses) {
        return memoryBytes(geometry.rows(), geometry.columns(), geometry.vldaLength(), maxFlows, maxWitnesses);
    }

    private static long memoryBytes(
        final int rows, final int columns, final int vldaLength, final int maxFlows, final int maxWitnesses) {
        final long edges = (long)rows * vldaLength;
        final long cells = (long)rows * columns;
        final long fixed = 8L * (CellSystem.BINS * (4L * MixturePrior.COMPONENTS + 6) + 3L * Calibration.VALUES);
        return (8 * edges + 83) * maxFlows + 72 * cells + 24L * maxWitnesses + fixed;
    }

    /** Forgets what was learned in earlier intervals. */
    public void forget() {
        isWarm = false;
        fullCalibration.forget();
        fastCalibration.forget();
        parentCalibration.forget();
    }

    /**
     * Solves a problem. The results are there until the next call.
     *
     * @param problem of the shape that the estimator was made for.
     * @param tier    how much work to do.
     * @return the status.
     */
    public JointStatus solve(final JointProblem problem, final JointTier tier) {
        if (problem.maxFlows != meanNs.length || problem.rows != system.rows || problem.columns != system.columns ||
            problem.vldaLength != system.vldaLength || !parents.fits(problem)) {
            throw new IllegalArgumentException("the problem has another shape than the estimator");
        }
        system.load(problem);
        Arrays.fill(sizeStatus, JointStatus.JOINT);
        sweeps = 0;
        health = 0;
        isCalibrated = false;
        if (0 == system.flows || !system.hasEstimates && 0 == system.usableCells) {
            status = JointStatus.NONE;
        } else if (0 == system.usableCells) {
            fallBack(problem);
        } else {
            status = system.hasEstimates ? JointStatus.JOINT : JointStatus.CELLS_ALONE;
            if (JointTier.FULL == tier) {
                solveFully(problem);
            } else {
                solveFast(problem);
            }
        }
        return status;
    }

    private void solveFully(final JointProblem problem) {
        landweber.solve(START_SWEEPS);
        final double theta = noiseScale.theta();
        if (!isWarm || theta > MAX_THETA_RATIO * learnedTheta || theta < learnedTheta / MAX_THETA_RATIO) {
            isWarm = false;
            prior.start(theta, system.meanDelayNs);
        }
        passing.start(problem, landweber.z, theta);
        sweeps = isWarm ? WARM_SWEEPS : COLD_SWEEPS;
        for (int sweep = 0; sweep < sweeps; sweep++) {
            if (0 == sweep % SWEEPS_PER_SUM) {
                passing.measureCells();
            }
            passing.sweep(0 == sweep);
            prior.conclude(!isWarm && sweep < sweeps - PLAIN_SWEEPS);
        }
        passing.measureCells();
        health = passing.chi();
        learnedTheta = theta;
        isWarm = health <= MAX_SOUND_HEALTH;
        if (!isWarm || !readPosteriors(problem)) {
            isWarm = false;
            fallBack(problem);
        } else {
            hasBounds = true;
            calibrate(problem, fullCalibration);
        }
    }

    /** Whether all are numbers. */
    private boolean readPosteriors(final JointProblem problem) {
        double sum = 0;
        for (int flow = 0; flow < system.flows; flow++) {
            passing.read(flow);
            prior.measure(
                system.bin[flow], system.scaleNs[flow], system.meanNs[flow], system.packets[flow],
                passing.precision(), passing.natural());
            meanNs[flow] = Math.max(problem.floorNs, system.meanNs[flow] + quantiles.median());
            boundNs[flow] = quantiles.halfWidth(meanNs[flow] - system.meanNs[flow]);
            sum += Math.abs(meanNs[flow]) + boundNs[flow];
        }
        return sum < Double.MAX_VALUE;
    }

    private void solveFast(final JointProblem problem) {
        landweber.solve(FAST_SWEEPS);
        sweeps = FAST_SWEEPS;
        final double theta = noiseScale.theta();
        noiseScale.addVariances(theta);
        double sum = 0;
        for (int flow = 0; flow < system.flows; flow++) {
            meanNs[flow] = Math.max(problem.floorNs, system.meanNs[flow] + landweber.z[flow]);
            boundNs[flow] = 2 * Math.sqrt(noiseScale.variance(flow, theta));
            sum += Math.abs(meanNs[flow]) + boundNs[flow];
        }
        health = landweber.misfit(noiseScale);
        if (!(sum < Double.MAX_VALUE) || health > MAX_SOUND_HEALTH) {
            fallBack(problem);
        } else {
            hasBounds = true;
            preferParents(problem);
            calibrate(problem, fastCalibration);
        }
    }

    /** Landweber spreads a cell's error over its flows even where RLI is right for most: witnesses say which is better. */
    private void preferParents(final JointProblem problem) {
        parents.choose(problem, meanNs, sizeStatus);
        for (int size = 0; size < CellSystem.SIZE_BINS; size++) {
            if (sizeStatus[size] != fastStatus[size]) {
                fastCalibration.forget(size);
                fastStatus[size] = sizeStatus[size];
            }
        }
        for (int flow = 0; flow < system.flows; flow++) {
            final JointStatus best = sizeStatus[CellSystem.sizeBin(system.bin[flow])];
            if (JointStatus.JOINT != best) {
                final double value =
                    JointStatus.RLI == best ? parents.rliNs(problem, flow) : parents.ldsNs(problem, flow);
                meanNs[flow] = value == value ? value : meanNs[flow];
                boundNs[flow] = Math.max(1, system.scaleNs[flow]);
            }
        }
    }

    /** To the parent with the smaller median error among witnesses; without witnesses, to RLI if there is any. */
    private void fallBack(final JointProblem problem) {
        Arrays.fill(sizeStatus, JointStatus.JOINT);
        final boolean isRli = 0 == system.usableCells || system.hasEstimates && parents.isRliBetter(problem);
        status = isRli ? JointStatus.RLI : JointStatus.LDS;
        for (int flow = 0; flow < system.flows; flow++) {
            final double value = isRli ? parents.rliNs(problem, flow) : parents.ldsNs(problem, flow);
            meanNs[flow] = value;
            boundNs[flow] = value == value ? Math.max(1, system.scaleNs[flow]) : ABSENT;
        }
        hasBounds = problem.witnesses >= Calibration.LEAST_WITNESSES;
        parentCalibration.forget();
        calibrate(problem, parentCalibration);
    }

    private void calibrate(final JointProblem problem, final Calibration calibration) {
        calibration.begin();
        for (int index = 0; index < problem.witnesses; index++) {
            final int flow = problem.witnessFlow[index];
            if (boundNs[flow] > 0) {
                final double truthNs = problem.witnessSumNs[index] / system.packets[flow];
                calibration.add(CellSystem.sizeBin(system.bin[flow]), Math.abs(meanNs[flow] - truthNs) / boundNs[flow]);
            }
        }
        calibration.conclude();
        isCalibrated = calibration.isConcluded();
        for (int flow = 0; flow < system.flows; flow++) {
            boundNs[flow] *= calibration.factor(CellSystem.sizeBin(system.bin[flow]));
        }
    }

    /**
     * Where the results come from.
     *
     * @return the status of the last solution.
     */
    public JointStatus status() {
        return status;
    }

    /**
     * Where the result of a flow comes from: as the interval's status, but for sizes for which witnesses say that a parent does
     * better than {@link JointTier#FAST}.
     *
     * @param flow index in the problem.
     * @return the status; {@link JointStatus#NONE} if there is no estimate.
     */
    public JointStatus status(final int flow) {
        if (!hasMean(flow)) {
            return JointStatus.NONE;
        }
        final JointStatus ofSize = sizeStatus[CellSystem.sizeBin(system.bin[flow])];
        return JointStatus.JOINT == ofSize ? status : ofSize;
    }

    /**
     * Whether the solution fits the cells: the mean over usable cells of the squared difference between Q and the flows' parts,
     * over its variance, each cut at 25. Near 1 is sound; above {@link #MAX_SOUND_HEALTH} the solution was thrown away.
     *
     * @return the figure, 0 if there was no cell.
     */
    public double health() {
        return health;
    }

    /**
     * How often all flows were visited.
     *
     * @return sweeps of the last solution, 0 if a parent alone was asked.
     */
    public int sweeps() {
        return sweeps;
    }

    /**
     * Whether witnesses vouch for the bounds. Otherwise there were too few, and the bounds are what the model believes.
     *
     * @return true if so.
     */
    public boolean isCalibrated() {
        return isCalibrated;
    }

    /**
     * Whether a flow has an estimate.
     *
     * @param flow index in the problem.
     * @return true if so.
     */
    public boolean hasMean(final int flow) {
        return flow >= 0 && flow < system.flows && JointStatus.NONE != status && meanNs[flow] == meanNs[flow];
    }

    /**
     * Whether a flow's estimate has a bound: always, but when a parent stands in and there are too few witnesses.
     *
     * @param flow index in the problem.
     * @return true if so.
     */
    public boolean hasBound(final int flow) {
        return hasMean(flow) && hasBounds && boundNs[flow] >= 0 && boundNs[flow] <= Double.MAX_VALUE;
    }

    /**
     * Mean one-way delay of a flow's packets.
     *
     * @param flow index in the problem.
     * @return ns, signed.
     */
    public double meanNs(final int flow) {
        if (!hasMean(flow)) {
            throw new IllegalStateException("no mean: flow=" + flow + " status=" + status);
        }
        return meanNs[flow];
    }

    /**
     * Half width about the mean that holds the true mean of 95 % of the flows of a size.
     *
     * @param flow index in the problem.
     * @return ns, not negative. Clock offset is not in it.
     */
    public double boundNs(final int flow) {
        if (!hasBound(flow)) {
            throw new IllegalStateException("no bound: flow=" + flow + " status=" + status);
        }
        return boundNs[flow];
    }
}
