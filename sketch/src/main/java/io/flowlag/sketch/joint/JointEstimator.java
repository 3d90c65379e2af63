package io.flowlag.sketch.joint;

import io.flowlag.sketch.image.SketchGeometry;

import java.util.Arrays;

/**
 * Solves a {@link JointProblem}: mean delay of every flow, with the half width in which 95 % of the true means lie. The algorithm
 * is in {@code docs/joint.md}. It carries the learned distribution of RLI's errors and the calibration of bounds over to the next
 * interval, so one estimator belongs to one segment.
 *
 * <p>One thread at a time; off the packet path. The same problems in the same order give the same results. Owns
 * {@link #memoryBytes} of heap, allocated at construction; {@link #solve} allocates nothing. A value that is absent cannot be
 * read: its accessor throws.
 */
public final class JointEstimator {
    /** Largest number of cells for which all flows are solved jointly. */
    public static final int MAX_DENSE_CELLS = 256;
    /** Health up to which a solution is taken for sound. */
    public static final double MAX_SOUND_HEALTH = 4;

    private static final int COLD_SWEEPS = 24;
    private static final int WARM_SWEEPS = 10;
    private static final int DENSE_SWEEPS = 20;
    private static final int PLAIN_SWEEPS = 8;
    /** Sweeps between full sums: cells are updated message by message, and summed afresh to limit rounding errors. */
    private static final int SWEEPS_PER_SUM = 4;
    private static final int START_SWEEPS = 15;
    private static final int FAST_SWEEPS = 20;
    /** A change of RLI's errors, as a ratio of variances, after which what was learned is forgotten. */
    private static final double MAX_THETA_RATIO = 30;
    private static final double ABSENT = -1;
    /** Of a normal variable, on each side of 95 %. */
    private static final double LONE_DEVIATIONS = 1.96;

    private final CellSystem system;
    private final Landweber landweber;
    private final MixturePrior prior = new MixturePrior();
    private final MessagePassing passing;
    private final Quantiles quantiles = new Quantiles(prior);
    private final Witnesses witnesses;
    private final Peeling peeling;
    /** Where cells are few; else null. */
    private final DensePropagation dense;
    private final Calibration fullCalibration = new Calibration();
    /** For flows whose RLI mean is better. */
    private final Calibration preferredCalibration = new Calibration();
    private final Preference preference = new Preference();
    private final Calibration fastCalibration = new Calibration();
    private final Calibration rliCalibration = new Calibration();
    private final Calibration ldsCalibration = new Calibration();
    /** For flows of whose packets RLI knows fewer than half, in the unit of the tier; reset when the unit changes. */
    private final Calibration blindCalibration = new Calibration();
    private final Parents parents;
    private final NoiseScale noiseScale;
    private final double[] meanNs;
    private final double[] cellsMeanNs;
    private final double[] boundNs;
    private final boolean[] isVouched;
    /** Whether a flow is alone in its cells of a row, whose mean it has. */
    private final boolean[] isLone;
    /** Whether a flow has RLI's own mean, though there is a joint one. */
    private final boolean[] isPreferred;
    private final JointStatus[] sizeStatus = new JointStatus[CellSystem.SIZE_BINS];
    private final JointStatus[] fastStatus = new JointStatus[CellSystem.SIZE_BINS];
    private JointStatus status = JointStatus.NONE;
    private JointTier lastTier = JointTier.FULL;
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
        witnesses = new Witnesses(system, shape.maxFlows);
        peeling = new Peeling(system, shape.maxFlows);
        passing = new MessagePassing(system, prior, peeling, witnesses, shape.maxFlows);
        dense = isDense(system.isExact, system.cells) ?
            new DensePropagation(system, prior, peeling, witnesses, shape.maxFlows) : null;
        parents = new Parents(system, shape.maxWitnesses);
        noiseScale = new NoiseScale(system);
        meanNs = new double[shape.maxFlows];
        cellsMeanNs = new double[shape.maxFlows];
        boundNs = new double[shape.maxFlows];
        isVouched = new boolean[shape.maxFlows];
        isPreferred = new boolean[shape.maxFlows];
        isLone = new boolean[shape.maxFlows];
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
        final long learned = CellSystem.BINS * (4L * MixturePrior.COMPONENTS + 6);
        final long fixed = 8L * (learned + 6L * Calibration.VALUES + Preference.VALUES);
        return (8 * edges + 121) * maxFlows + 92 * cells + 24L * maxWitnesses + fixed +
            (cells <= MAX_DENSE_CELLS ? DensePropagation.memoryBytes(cells, maxFlows) : 0);
    }

    /** Whether {@link JointTier#FULL} solves all flows at once: cells are few, and it is known which packets are in each. */
    public static boolean isDense(final SketchGeometry geometry) {
        boolean isExact = geometry.vldaLength() == 1;
        for (int row = 0; row < geometry.rows(); row++) {
            isExact &= geometry.rate(row) == SketchGeometry.FULL_RATE_PPM;
        }
        return isDense(isExact, geometry.rows() * geometry.columns());
    }

    private static boolean isDense(final boolean isExact, final int cells) {
        return isExact && cells <= MAX_DENSE_CELLS;
    }

    /**
     * Solves a problem. The results are there until the next call.
     *
     * @param problem of the shape that the estimator was made for.
     * @param tier    how much work to do.
     */
    public JointStatus solve(final JointProblem problem, final JointTier tier) {
        if (problem.maxFlows != meanNs.length || problem.rows != system.rows || problem.columns != system.columns ||
            problem.vldaLength != system.vldaLength || !parents.fits(problem)) {
            throw new IllegalArgumentException("the problem has another shape than the estimator");
        }
        system.load(problem);
        witnesses.load(problem);
        calibrateRli(problem);
        Arrays.fill(sizeStatus, JointStatus.JOINT);
        Arrays.fill(isVouched, 0, system.flows, false);
        Arrays.fill(isPreferred, 0, system.flows, false);
        Arrays.fill(isLone, 0, system.flows, false);
        Arrays.fill(cellsMeanNs, 0, system.flows, Double.NaN);
        sweeps = 0;
        health = 0;
        isCalibrated = false;
        if (system.flows == 0 || !system.hasEstimates && system.usableCells == 0) {
            status = JointStatus.NONE;
        } else if (system.usableCells == 0) {
            fallBack(problem);
        } else {
            status = system.hasEstimates ? JointStatus.JOINT : JointStatus.CELLS_ALONE;
            if (tier != lastTier) {
                blindCalibration.forget();
                lastTier = tier;
            }
            if (tier == JointTier.FULL) {
                solveFully(problem);
            } else {
                solveFast(problem);
            }
        }
        if (system.flows != 0 && system.usableCells != 0) {
            readLoneFlows(problem);
        }
        return status;
    }

    /** Reads flows that are alone in a cell: the cell's value takes precedence over floor and references. */
    private void readLoneFlows(final JointProblem problem) {
        for (int flow = 0; flow < system.flows; flow++) {
            final double loneNs = system.loneMeanNs(flow);
            if (loneNs == loneNs) {
                isLone[flow] = true;
                isVouched[flow] = true;
                isPreferred[flow] = false;
                meanNs[flow] = loneNs;
                cellsMeanNs[flow] = loneNs;
                boundNs[flow] = LONE_DEVIATIONS * Math.sqrt(problem.timestampVarianceNs2 / system.packets[flow]);
            }
        }
    }

    private void solveFully(final JointProblem problem) {
        final double theta = noiseScale.theta();
        if (!isWarm || theta > MAX_THETA_RATIO * learnedTheta || theta < learnedTheta / MAX_THETA_RATIO) {
            isWarm = false;
            prior.start(theta, system.meanDelayNs);
        }
        final Propagation propagation = dense == null ? pass(problem, theta) : propagate(problem, theta);
        learnedTheta = theta;
        isWarm = health <= MAX_SOUND_HEALTH;
        if (!isWarm || !readPosteriors(problem, propagation)) {
            isWarm = false;
            fallBack(problem);
        } else {
            hasBounds = true;
            applyFactors(fullCalibration);
        }
    }

    private Propagation pass(final JointProblem problem, final double theta) {
        // With many edges a flow, Landweber costs as much as all sweeps, and the learned prior is as good a start.
        final boolean isFromPrior = isWarm && !system.isExact;
        if (isFromPrior) {
            passing.start(problem);
        } else {
            landweber.solve(START_SWEEPS);
            passing.start(problem, landweber.z, theta);
        }
        sweeps = isWarm ? WARM_SWEEPS : COLD_SWEEPS;
        for (int sweep = 0; sweep < sweeps; sweep++) {
            if (sweep % SWEEPS_PER_SUM == 0) {
                passing.measureCells();
            }
            passing.sweep(sweep);
            prior.conclude(!isWarm && sweep < sweeps - PLAIN_SWEEPS);
        }
        passing.measureCells();
        health = passing.chi();
        return passing;
    }

    private Propagation propagate(final JointProblem problem, final double theta) {
        dense.start(problem, theta);
        sweeps = DENSE_SWEEPS;
        for (int sweep = 0; sweep < sweeps; sweep++) {
            dense.sweep();
            prior.conclude(false);
        }
        dense.conclude();
        health = dense.chi();
        return dense;
    }

    /**
     * Reads the judges first: they decide which mean is used and how wide its bounds must be. Returns whether all results are
     * numbers.
     */
    private boolean readPosteriors(final JointProblem problem, final Propagation propagation) {
        judge(problem, propagation);
        double sum = 0;
        for (int flow = 0; flow < system.flows; flow++) {
            readPosterior(problem, propagation, flow);
            isVouched[flow] = propagation.isDetermined(flow);
            isPreferred[flow] = !isVouched[flow] && !system.isBlind(flow) &&
                preference.isRli(CellSystem.sizeBin(system.bin[flow]));
            if (isPreferred[flow]) {
                takeRli(problem, flow);
            }
            sum += Math.abs(meanNs[flow]) + boundNs[flow];
        }
        return sum < Double.MAX_VALUE;
    }

    private void readPosterior(final JointProblem problem, final Propagation propagation, final int flow) {
        propagation.read(flow);
        prior.measure(
            system.bin[flow], system.scaleNs[flow], system.meanNs[flow], system.packets[flow],
            propagation.precision(), propagation.natural());
        cellsMeanNs[flow] = propagation.precision() > 0 ? system.meanNs[flow] + propagation.cellsZ() : Double.NaN;
        meanNs[flow] = Math.max(problem.floorNs, system.meanNs[flow] + quantiles.median());
        boundNs[flow] = quantiles.halfWidth(meanNs[flow] - system.meanNs[flow]);
    }

    /** Takes RLI's mean and the width of the last posterior about it. */
    private void takeRli(final JointProblem problem, final int flow) {
        meanNs[flow] = Math.max(problem.floorNs, parents.rliNs(problem, flow));
        boundNs[flow] = quantiles.halfWidth(meanNs[flow] - system.meanNs[flow]);
    }

    /** Judges witnesses. Flows that the cells alone determine are no judges of the others, and need none. */
    private void judge(final JointProblem problem, final Propagation propagation) {
        fullCalibration.begin();
        preferredCalibration.begin();
        blindCalibration.begin();
        preference.begin();
        for (int index = 0; index < problem.witnesses; index++) {
            final int flow = problem.witnessFlow[index];
            readPosterior(problem, propagation, flow);
            if (boundNs[flow] > 0 && !propagation.isDetermined(flow) && !witnesses.isTeacher(flow)) {
                final double truthNs = problem.witnessSumNs[index] / system.packets[flow];
                final int size = CellSystem.sizeBin(system.bin[flow]);
                final double errorNs = Math.abs(meanNs[flow] - truthNs);
                (system.isBlind(flow) ? blindCalibration : fullCalibration).add(size, errorNs / boundNs[flow]);
                if (!system.isBlind(flow)) {
                    takeRli(problem, flow);
                    final double rliErrorNs = Math.abs(meanNs[flow] - truthNs);
                    preferredCalibration.add(size, rliErrorNs / boundNs[flow]);
                    preference.add(size, errorNs, rliErrorNs);
                }
            }
        }
        fullCalibration.conclude();
        preferredCalibration.conclude();
        blindCalibration.conclude();
        preference.conclude();
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

    /**
     * Prefers a parent where witnesses show it is better: Landweber spreads a cell's error over its flows even where RLI is right
     * for most.
     */
    private void preferParents(final JointProblem problem) {
        parents.choose(problem, meanNs, sizeStatus);
        for (int size = 0; size < CellSystem.SIZE_BINS; size++) {
            if (sizeStatus[size] != fastStatus[size]) {
                fastCalibration.forget(size);
                blindCalibration.forget(size);
                fastStatus[size] = sizeStatus[size];
            }
        }
        for (int flow = 0; flow < system.flows; flow++) {
            final JointStatus best = sizeStatus[CellSystem.sizeBin(system.bin[flow])];
            if (best != JointStatus.JOINT) {
                final double value =
                    best == JointStatus.RLI ? parents.rliNs(problem, flow) : parents.ldsNs(problem, flow);
                meanNs[flow] = value == value ? value : meanNs[flow];
                boundNs[flow] = Math.max(1, system.scaleNs[flow]);
            }
        }
    }

    /** Falls back to the parent with the smaller median error among witnesses; without witnesses, to RLI if present. */
    private void fallBack(final JointProblem problem) {
        Arrays.fill(cellsMeanNs, 0, system.flows, Double.NaN);
        Arrays.fill(isPreferred, 0, system.flows, false);
        Arrays.fill(sizeStatus, JointStatus.JOINT);
        final boolean isRli = system.usableCells == 0 || system.hasEstimates && parents.isRliBetter(problem);
        status = isRli ? JointStatus.RLI : JointStatus.LDS;
        for (int flow = 0; flow < system.flows; flow++) {
            final double value = isRli ? parents.rliNs(problem, flow) : parents.ldsNs(problem, flow);
            meanNs[flow] = value;
            boundNs[flow] = value == value ? Math.max(1, system.scaleNs[flow]) : ABSENT;
        }
        hasBounds = true;
        Arrays.fill(isVouched, 0, system.flows, false);
        if (isRli) {
            applyFactors(rliCalibration);
        } else {
            ldsCalibration.forget();
            blindCalibration.forget();
            calibrate(problem, ldsCalibration);
            blindCalibration.forget();
        }
        for (int flow = 0; flow < system.flows; flow++) {
            boundNs[flow] = isVouched[flow] ? boundNs[flow] : ABSENT;
        }
    }

    /** Estimates the error of RLI's own means, in units of the flows' scales. Applies whichever solution is chosen. */
    private void calibrateRli(final JointProblem problem) {
        rliCalibration.begin();
        for (int index = 0; index < problem.witnesses; index++) {
            final int flow = problem.witnessFlow[index];
            if (!system.isBlind(flow)) {
                final double truthNs = problem.witnessSumNs[index] / system.packets[flow];
                rliCalibration.add(
                    CellSystem.sizeBin(system.bin[flow]),
                    Math.abs(parents.rliNs(problem, flow) - truthNs) / Math.max(1, system.scaleNs[flow]));
            }
        }
        rliCalibration.conclude();
    }

    /** Calibrates with every witness as a judge, where truths are not used. */
    private void calibrate(final JointProblem problem, final Calibration calibration) {
        calibration.begin();
        blindCalibration.begin();
        for (int index = 0; index < problem.witnesses; index++) {
            final int flow = problem.witnessFlow[index];
            if (boundNs[flow] > 0) {
                final double truthNs = problem.witnessSumNs[index] / system.packets[flow];
                (system.isBlind(flow) ? blindCalibration : calibration).add(
                    CellSystem.sizeBin(system.bin[flow]), Math.abs(meanNs[flow] - truthNs) / boundNs[flow]);
            }
        }
        calibration.conclude();
        blindCalibration.conclude();
        applyFactors(calibration);
    }

    private void applyFactors(final Calibration calibration) {
        isCalibrated = true;
        for (int flow = 0; flow < system.flows; flow++) {
            if (!isVouched[flow]) {
                final Calibration own = system.isBlind(flow) ? blindCalibration :
                    isPreferred[flow] ? preferredCalibration : calibration;
                final int size = CellSystem.sizeBin(system.bin[flow]);
                boundNs[flow] *= own.factor(size);
                isVouched[flow] = own.isConcluded(size);
                isCalibrated &= isVouched[flow];
            }
        }
    }

    /**
     * The source of a flow's result: the interval's status, except for sizes for which witnesses show that a parent is better
     * ({@link JointTier#FULL}: RLI alone). {@link JointStatus#NONE} if there is no estimate.
     */
    public JointStatus status(final int flow) {
        if (!hasMean(flow)) {
            return JointStatus.NONE;
        }
        if (isLone[flow]) {
            return JointStatus.JOINT;
        }
        if (isPreferred[flow]) {
            return JointStatus.RLI;
        }
        final JointStatus ofSize = sizeStatus[CellSystem.sizeBin(system.bin[flow])];
        return ofSize == JointStatus.JOINT ? status : ofSize;
    }

    /**
     * Fit of the solution to the cells: the mean over usable cells of the squared difference between Q and the flows' parts, over
     * its variance, each cut at 25. Near 1 is sound; a solution above {@link #MAX_SOUND_HEALTH} is discarded. Returns 0 if there
     * was no cell.
     */
    public double health() {
        return health;
    }

    /** Sweeps over all flows in the last solution; 0 if only a parent was used. */
    public int sweeps() {
        return sweeps;
    }

    /** Whether the bounds of all flows are calibrated, see {@link #isCalibrated(int)}. */
    public boolean isCalibrated() {
        return isCalibrated;
    }

    /**
     * Whether a flow's bound is calibrated: by enough similar witnesses, or because the cells determine its mean. Otherwise the
     * bound is the model's, which covers too few flows. False without a bound.
     */
    public boolean isCalibrated(final int flow) {
        return hasBound(flow) && isVouched[flow];
    }

    /**
     * Whether a witness's mean and bound are those of any other flow: calibrated, and its truth was not used for them.
     */
    public boolean isJudge(final int flow) {
        return isCalibrated(flow) && !witnesses.isTeacher(flow);
    }

    /**
     * Whether {@link #partNs} is available: enough witnesses, and estimates of at least half of the flow's packets.
     *
     * @param partPackets some of its packets, at least 1 and fewer than all.
     */
    public boolean hasPart(final int flow, final double partPackets) {
        return hasMean(flow) && !system.isBlind(flow) && partPackets >= 1 && partPackets < system.packets[flow] &&
            rliCalibration.isConcluded(CellSystem.sizeBinOf(partPackets)) &&
            rliCalibration.isConcluded(CellSystem.sizeBinOf(system.packets[flow] - partPackets));
    }

    /**
     * Half width for the mean of a part of a flow, about the value that follows from the whole flow's mean if RLI's error were
     * equal in the part and the rest. It covers 95 % of parts if the errors in part and rest are independent and distributed as
     * in whole flows of their sizes. Returns ns; the flow's own bound is added to it.
     */
    public double partNs(final int flow, final double partPackets) {
        if (!hasPart(flow, partPackets)) {
            throw new IllegalStateException("no part: flow=" + flow + " packets=" + partPackets);
        }
        final double all = system.packets[flow];
        return (all - partPackets) / all * Math.hypot(rliWidthNs(flow, partPackets), rliWidthNs(flow, all - partPackets));
    }

    private double rliWidthNs(final int flow, final double partPackets) {
        return rliCalibration.factor(CellSystem.sizeBinOf(partPackets)) *
            Math.max(1, system.scaleNs[flow]) * Math.sqrt(system.packets[flow] / partPackets);
    }

    /** Whether a flow has an estimate. */
    public boolean hasMean(final int flow) {
        return flow >= 0 && flow < system.flows && status != JointStatus.NONE && meanNs[flow] == meanNs[flow];
    }

    /** Whether a flow's estimate has a bound, possibly only the model's. False only where a parent is used and gives no width. */
    public boolean hasBound(final int flow) {
        return hasMean(flow) && hasBounds && boundNs[flow] >= 0 && boundNs[flow] <= Double.MAX_VALUE;
    }

    /** Mean one-way delay of a flow's packets. Returns ns, signed. */
    public double meanNs(final int flow) {
        if (!hasMean(flow)) {
            throw new IllegalStateException("no mean: flow=" + flow + " status=" + status);
        }
        return meanNs[flow];
    }

    /**
     * A flow's mean as its cells have it, given the others', without the learned distribution: that errs the same way in each
     * interval, so an average over many should be of these means. Returns ns, signed; {@link #meanNs} where cells say nothing.
     */
    public double cellsMeanNs(final int flow) {
        return Double.isNaN(cellsMeanNs[flow]) ? meanNs(flow) : cellsMeanNs[flow];
    }

    /**
     * Half width about the mean that holds the true mean of 95 % of flows, where it {@link #isCalibrated(int)}. Returns ns, not
     * negative. Clock offset is not in it.
     */
    public double boundNs(final int flow) {
        if (!hasBound(flow)) {
            throw new IllegalStateException("no bound: flow=" + flow + " status=" + status);
        }
        return boundNs[flow];
    }
}
