package io.flowlag.sketch.joint;

import java.util.Arrays;

/**
 * Expectation propagation for few cells. A normal distribution stands in for each flow's prior, so the joint posterior of all
 * flows has a closed form, including correlations through shared cells. Each flow's stand-in is then refitted to its mixture.
 * Belief propagation counts evidence twice where flows share several cells and becomes overconfident; that is common where cells
 * are few.
 *
 * <p>Needs the packets of each flow in each cell. Cost: two thirds of the cube of the cells, a sweep. Allocates at construction:
 * three squares of the cells.
 */
final class DensePropagation implements Propagation {
    /** A flow is determined by the cells if its variance is below this share of the prior's. */
    private static final double DETERMINED_SHARE = 1e-6;
    private static final double LEAST_SHARE = 1e-9;
    private static final double JITTER = 1e-9;
    private static final double LEAST_PIVOT = 1e-13;
    private static final double STEP = 0.5;
    /** Least precision: a mixture may be wider than its stand-in normal distribution can express. */
    private static final double LEAST_PRECISION = 1e-4;
    private static final double LARGEST_CHI = 25;
    private static final double SHARP = 1e12;

    private final CellSystem system;
    private final MixturePrior prior;
    private final Peeling peeling;
    private final Witnesses witnesses;
    /** Of each flow: precision, and mean times precision, of the normal distribution that stands in for its prior. */
    private final double[] sitePrecision;
    private final double[] siteNatural;
    private final boolean[] isDetermined;
    /** Of each cell: its row in the matrix, or -1. */
    private final int[] rowOfCell;
    /** The covariance of the cells that are not solved, then its inverse. */
    private final double[] inverse;
    private final double[] lower;
    private final double[] lowerInverse;
    private final double[] difference;
    private final double[] weighted;
    private int size;
    private double leastPrecision;
    private double chi;
    private double precision;
    private double natural;

    DensePropagation(
        final CellSystem system, final MixturePrior prior, final Peeling peeling, final Witnesses witnesses, final int maxFlows) {
        this.system = system;
        this.prior = prior;
        this.peeling = peeling;
        this.witnesses = witnesses;
        sitePrecision = new double[maxFlows];
        siteNatural = new double[maxFlows];
        isDetermined = new boolean[maxFlows];
        rowOfCell = new int[system.cells];
        inverse = new double[system.cells * system.cells];
        lower = new double[system.cells * system.cells];
        lowerInverse = new double[system.cells * system.cells];
        difference = new double[system.cells];
        weighted = new double[system.cells];
    }

    /** Octets, by formula. */
    static long memoryBytes(final long cells, final int maxFlows) {
        return 24 * cells * cells + 20 * cells + 17L * maxFlows;
    }

    /** Mean over cells of squared error over variance, each cell left out in turn and cut. */
    double chi() {
        return chi;
    }

    @Override
    public double cellsZ() {
        return natural() / precision();
    }

    @Override
    public boolean isDetermined(final int flow) {
        return isDetermined[flow];
    }

    /** Subtracts known flows from the cells; the others start at the prior's scale. */
    void start(final JointProblem problem, final double theta) {
        peeling.solve(witnesses, problem.timestampVarianceNs2);
        for (int flow = 0; flow < system.flows; flow++) {
            isDetermined[flow] = false;
            sitePrecision[flow] = 1 / (theta * system.scaleNs[flow] * system.scaleNs[flow]);
            siteNatural[flow] = 0;
        }
        leastPrecision = LEAST_PRECISION / theta;
        size = 0;
        for (int cell = 0; cell < system.cells; cell++) {
            rowOfCell[cell] = peeling.isOpen(cell) ? size++ : -1;
        }
    }

    void sweep() {
        solveCells();
        prior.beginLearning();
        for (int flow = 0; flow < system.flows; flow++) {
            read(flow);
            final double scale = system.scaleNs[flow];
            prior.measure(system.bin[flow], scale, system.meanNs[flow], system.packets[flow], precision, natural);
            prior.learn(system.bin[flow], scale, system.meanNs[flow], witnesses.isTeacher(flow) ? witnesses.times() : 1);
            if (!peeling.isKnown(flow)) {
                fitSite(flow);
            }
        }
    }

    private void fitSite(final int flow) {
        final double least = leastPrecision / (system.scaleNs[flow] * system.scaleNs[flow]);
        double newPrecision = 1 / prior.variance - precision;
        double newNatural = prior.mean / prior.variance - natural;
        if (!(newPrecision > least)) {
            newPrecision = least;
            newNatural = least * prior.mean;
        }
        sitePrecision[flow] += STEP * (newPrecision - sitePrecision[flow]);
        siteNatural[flow] += STEP * (newNatural - siteNatural[flow]);
    }

    /** After the last sweep. */
    void conclude() {
        solveCells();
        double sum = 0;
        for (int cell = 0; cell < system.cells; cell++) {
            if (system.cellPackets[cell] > 0) {
                sum += Math.min(LARGEST_CHI, misfit(cell));
            }
        }
        final double mean = sum / Math.max(1, system.usableCells);
        chi = mean <= LARGEST_CHI ? mean : LARGEST_CHI;
    }

    /**
     * Misfit of a cell: its remainder if all of its flows are known, else its error against the prediction from all other cells.
     */
    private double misfit(final int cell) {
        final int row = rowOfCell[cell];
        return row < 0 ? peeling.remainderNs(cell) * peeling.remainderNs(cell) / peeling.remainderVariance(cell) :
            weighted[row] * weighted[row] / inverse[row * size + row];
    }

    @Override
    public void read(final int flow) {
        if (peeling.isKnown(flow)) {
            final double scale = system.scaleNs[flow];
            precision = 1 / Math.max(peeling.variance(flow), scale * scale / SHARP);
            natural = precision * peeling.z(flow);
            isDetermined[flow] = true;
            return;
        }
        final double a = system.coefficient[flow];
        double information = 0;
        double pull = 0;
        for (int edge = 0; edge < system.edges; edge++) {
            final int row = rowOfCell[system.cell(flow, edge)];
            if (row >= 0) {
                pull += a * weighted[row];
                for (int other = 0; other < system.edges; other++) {
                    final int column = rowOfCell[system.cell(flow, other)];
                    information += column >= 0 ? a * a * inverse[row * size + column] : 0;
                }
            }
        }
        final double variance = 1 / sitePrecision[flow];
        final double share = Math.max(LEAST_SHARE, 1 - variance * information);
        final double mean = variance * (siteNatural[flow] + pull);
        isDetermined[flow] = share < DETERMINED_SHARE;
        precision = Math.max(0, information / share);
        natural = mean / (variance * share) - siteNatural[flow];
    }

    @Override
    public double precision() {
        return precision;
    }

    @Override
    public double natural() {
        return natural;
    }

    /** Computes the inverse of the cells' covariance, and its product with the remainder of Q after the flows' stand-ins. */
    private void solveCells() {
        Arrays.fill(inverse, 0, size * size, 0);
        for (int cell = 0; cell < system.cells; cell++) {
            final int row = rowOfCell[cell];
            if (row >= 0) {
                difference[row] = peeling.remainderNs(cell);
                inverse[row * size + row] = peeling.remainderVariance(cell);
            }
        }
        for (int flow = 0; flow < system.flows; flow++) {
            if (!peeling.isKnown(flow)) {
                addFlow(flow);
            }
        }
        for (int row = 0; row < size; row++) {
            inverse[row * size + row] *= 1 + JITTER;
        }
        factor();
        invert();
        for (int row = 0; row < size; row++) {
            double sum = 0;
            for (int column = 0; column < size; column++) {
                sum += inverse[row * size + column] * difference[column];
            }
            weighted[row] = sum;
        }
    }

    private void addFlow(final int flow) {
        final double a = system.coefficient[flow];
        final double variance = a * a / sitePrecision[flow];
        final double mean = a * siteNatural[flow] / sitePrecision[flow];
        for (int edge = 0; edge < system.edges; edge++) {
            final int row = rowOfCell[system.cell(flow, edge)];
            if (row >= 0) {
                difference[row] -= mean;
                for (int other = 0; other < system.edges; other++) {
                    final int column = rowOfCell[system.cell(flow, other)];
                    if (column >= 0) {
                        inverse[row * size + column] += variance;
                    }
                }
            }
        }
    }

    /** Cholesky's factor, and its inverse. */
    private void factor() {
        for (int row = 0; row < size; row++) {
            for (int column = 0; column <= row; column++) {
                double sum = inverse[row * size + column];
                for (int k = 0; k < column; k++) {
                    sum -= lower[row * size + k] * lower[column * size + k];
                }
                lower[row * size + column] = column < row ? sum / lower[column * size + column] :
                    Math.sqrt(Math.max(sum, LEAST_PIVOT * inverse[row * size + row]));
            }
        }
        // Column by column, each as a row of the other matrix, so that the innermost loop goes through memory in order.
        for (int column = 0; column < size; column++) {
            lowerInverse[column * size + column] = 1 / lower[column * size + column];
            for (int row = column + 1; row < size; row++) {
                double sum = 0;
                for (int k = column; k < row; k++) {
                    sum -= lower[row * size + k] * lowerInverse[column * size + k];
                }
                lowerInverse[column * size + row] = sum / lower[row * size + row];
            }
        }
    }

    private void invert() {
        for (int row = 0; row < size; row++) {
            for (int column = 0; column <= row; column++) {
                double sum = 0;
                for (int k = row; k < size; k++) {
                    sum += lowerInverse[row * size + k] * lowerInverse[column * size + k];
                }
                inverse[row * size + column] = sum;
                inverse[column * size + row] = sum;
            }
        }
    }
}
