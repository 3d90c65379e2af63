package io.flowlag.sketch.joint;

import io.flowlag.common.hash.KeyedMix;

import java.util.Arrays;

/**
 * Belief propagation between flows and cells. Flows are visited in an order that depends only on their cells. Each visit reads
 * the flow's cells, forms its posterior, and at once replaces its messages to the cells. Allocates at construction.
 */
final class MessagePassing implements Propagation {
    private static final double RELATIVE_FLOOR = 1e-12;
    private static final double LARGEST_CHI = 25;
    /** Largest message, within the range of a float. */
    private static final double LARGEST_MESSAGE = 1e37;
    /** A message is computed exactly if its cell supplies more than this share of the flow's precision. */
    private static final double EXACT_SHARE = 0.5;
    private static final double DAMPING = 0.2;
    /** Flows to which the cells contribute less than this share change little; only one sweep in several visits them. */
    private static final double QUIET_SHARE = 0.1;
    private static final int QUIET_SWEEPS = 3;
    private static final int ORDER_BITS = 11;
    private static final int ORDER_MASK = (1 << ORDER_BITS) - 1;

    private final CellSystem system;
    private final MixturePrior prior;
    private final Witnesses witnesses;
    private final Peeling peeling;
    private final int edges;
    /** Per edge, flows in the order of visits: the message to the cell about the flow's part of it. */
    private final float[] messageMean;
    private final float[] messageVariance;
    /** Of each cell: the remainder of Q after its flows' messages, and the variance of their sum. */
    private final double[] cellState;
    private final int[] order;
    /** Of each flow: its place in the order, once that is there. */
    private final int[] place;
    private final boolean[] isQuiet;
    private final int[] orderCount;
    private final int[] orderHash;
    /** Root of the second moment of each flow's last posterior; unused where counts are exact. */
    private final float[] lastSize;
    private final int[] edgeCell;
    private final double[] edgeValue;
    private final double[] edgeVariance;
    private final double[] edgeWeight;
    private final double[] withoutPrecision;
    private final double[] withoutNatural;
    /** Of each size bin: within-flow variance in units of the flow's scale. */
    private final double[] spread = new double[CellSystem.SIZE_BINS];
    private final double[] spreadSum = new double[CellSystem.SIZE_BINS];
    private final double[] spreadCount = new double[CellSystem.SIZE_BINS];
    private double precision;
    private double natural;
    /** What a residual of 1 in each of the flow's cells adds to it. */
    private double naturalOfResidual;
    /** What messages of a cell's flows say too little, together, in the average cell. */
    private double residualNs;
    private double chi;
    private double timestampNs2;

    MessagePassing(
        final CellSystem system, final MixturePrior prior, final Peeling peeling, final Witnesses witnesses, final int maxFlows) {
        this.system = system;
        this.prior = prior;
        this.peeling = peeling;
        this.witnesses = witnesses;
        edges = system.edges;
        messageMean = new float[Math.multiplyExact(edges, maxFlows)];
        messageVariance = new float[edges * maxFlows];
        cellState = new double[2 * system.cells];
        order = new int[maxFlows];
        place = new int[maxFlows];
        isQuiet = new boolean[maxFlows];
        orderHash = new int[maxFlows];
        orderCount = new int[ORDER_MASK + 2];
        lastSize = new float[system.isExact ? 0 : maxFlows];
        edgeCell = new int[edges];
        edgeValue = new double[edges];
        edgeVariance = new double[edges];
        edgeWeight = new double[edges];
        withoutPrecision = new double[edges];
        withoutNatural = new double[edges];
    }

    /** Mean over cells of squared error over variance, each at most 25: about 1 if the messages are consistent. */
    double chi() {
        return chi;
    }

    @Override
    public double precision() {
        return precision;
    }

    @Override
    public double natural() {
        return natural;
    }

    /**
     * Messages of many flows err in the same direction, since each takes over what one flow of a cell has more than expected.
     * It is less than a single flow's spread, but alike in all intervals.
     */
    @Override
    public double cellsZ() {
        return (natural - residualNs * naturalOfResidual) / precision;
    }

    @Override
    public boolean isDetermined(final int flow) {
        return peeling.isKnown(flow) && !witnesses.isTeacher(flow);
    }

    /** Starts from a first solution, with wide variances. */
    void start(final JointProblem problem, final double[] z, final double theta) {
        begin(problem, Math.min(theta, 1));
        for (int flow = 0; flow < system.flows; flow++) {
            final double scale2 = system.scaleNs[flow] * system.scaleNs[flow];
            begin(flow, z[flow], Math.max(theta * scale2, z[flow] * z[flow]));
        }
    }

    /** Starts from the learned prior. */
    void start(final JointProblem problem) {
        begin(problem, 0);
        for (int flow = 0; flow < system.flows; flow++) {
            prior.measure(system.bin[flow], system.scaleNs[flow], system.meanNs[flow], system.packets[flow], 0, 0);
            begin(flow, prior.mean, prior.variance);
        }
    }

    /** A spread of 0 keeps the last interval's fit. */
    private void begin(final JointProblem problem, final double firstSpread) {
        if (firstSpread > 0) {
            Arrays.fill(spread, firstSpread);
        }
        sortFlows();
        timestampNs2 = problem.timestampVarianceNs2;
        peeling.solve(witnesses, timestampNs2);
    }

    private void begin(final int flow, final double z, final double zVariance) {
        final double mean = witnesses.isTeacher(flow) ? witnesses.z(flow) : z;
        final double variance = witnesses.isTeacher(flow) ? 0 : zVariance;
        remember(flow, mean, variance);
        for (int edge = 0; edge < edges; edge++) {
            final double a = system.edgeCoefficient(flow, edge);
            messageMean[place[flow] * edges + edge] = limited(a * mean);
            messageVariance[place[flow] * edges + edge] = limited(a * a * variance + noise(flow, a, mean * mean + variance));
        }
    }

    private static float limited(final double value) {
        return (float)Math.max(-LARGEST_MESSAGE, Math.min(LARGEST_MESSAGE, value));
    }

    private void remember(final int flow, final double z, final double variance) {
        if (!system.isExact) {
            lastSize[flow] = (float)Math.sqrt(z * z + variance);
        }
    }

    /** Variance of a cell's part of a flow about its expectation, where the packets in it are unknown. */
    private double noise(final int flow, final double a, final double zSquare) {
        if (system.isExact) {
            return 0;
        }
        final double w = system.coefficient[flow] / system.packets[flow];
        return w * a * (1 - a / system.coefficient[flow]) * within(flow, zSquare);
    }

    private double within(final int flow, final double zSquare) {
        final double n = system.packets[flow];
        final double scale2 = system.scaleNs[flow] * system.scaleNs[flow];
        return spread[CellSystem.sizeBin(system.bin[flow])] * (n - 1) * scale2 + zSquare;
    }

    /** Sorts by a hash of each flow's cells: independent of the flows' input order, and neighbours share no cell. */
    private void sortFlows() {
        for (int flow = 0; flow < system.flows; flow++) {
            long hash = 0;
            for (int row = 0; row < system.rows; row++) {
                hash = KeyedMix.mix(hash + system.baseColumns[flow * system.rows + row], row);
            }
            orderHash[flow] = (int)hash;
            order[flow] = flow;
        }
        for (int shift = 0; shift < Integer.SIZE; shift += ORDER_BITS) {
            Arrays.fill(orderCount, 0);
            for (int flow = 0; flow < system.flows; flow++) {
                orderCount[(orderHash[flow] >>> shift & ORDER_MASK) + 1]++;
            }
            for (int digit = 0; digit < ORDER_MASK; digit++) {
                orderCount[digit + 1] += orderCount[digit];
            }
            for (int index = 0; index < system.flows; index++) {
                final int flow = order[index];
                place[orderCount[orderHash[flow] >>> shift & ORDER_MASK]++] = flow;
            }
            System.arraycopy(place, 0, order, 0, system.flows);
        }
        for (int index = 0; index < system.flows; index++) {
            place[order[index]] = index;
        }
    }

    /** Sums the messages afresh and measures chi. */
    void measureCells() {
        for (int cell = 0; cell < system.cells; cell++) {
            final boolean usable = system.cellPackets[cell] > 0;
            cellState[2 * cell] = system.residualNs[cell];
            cellState[2 * cell + 1] = usable ? system.cellPackets[cell] * timestampNs2 : Double.POSITIVE_INFINITY;
        }
        for (int index = 0; index < system.flows; index++) {
            final int flow = order[index];
            for (int edge = 0; edge < edges; edge++) {
                final int cell = system.cell(flow, edge);
                cellState[2 * cell] -= messageMean[index * edges + edge];
                cellState[2 * cell + 1] += messageVariance[index * edges + edge];
            }
        }
        measureChi();
    }

    /** Measures chi. Cells whose flows are all known add nothing where each flow's packets in the cell are unknown. */
    private void measureChi() {
        double sum = 0;
        double residual = 0;
        double weight = 0;
        int told = 0;
        for (int cell = 0; cell < system.cells; cell++) {
            if (system.cellPackets[cell] > 0 && (system.isExact || peeling.isOpen(cell))) {
                final double d = cellState[2 * cell];
                sum += Math.min(LARGEST_CHI, d * d / cellState[2 * cell + 1]);
                final double part = peeling.isOpen(cell) ? 1 / cellState[2 * cell + 1] : 0;
                residual += d * part;
                weight += part;
                told++;
            }
        }
        final double mean = sum / Math.max(1, told);
        chi = mean <= LARGEST_CHI ? mean : LARGEST_CHI;
        residualNs = weight > 0 ? residual / weight : 0;
    }

    void sweep(final int sweep) {
        final double keep = sweep == 0 ? 0 : DAMPING;
        prior.beginLearning();
        Arrays.fill(spreadSum, 0);
        Arrays.fill(spreadCount, 0);
        for (int index = 0; index < system.flows; index++) {
            final int flow = order[index];
            final boolean wasQuiet = sweep > 0 && isQuiet[flow];
            if (wasQuiet && index % QUIET_SWEEPS != sweep % QUIET_SWEEPS) {
                continue;
            }
            final int bin = system.bin[flow];
            final double scale = system.scaleNs[flow];
            final double mean = system.meanNs[flow];
            final double n = system.packets[flow];
            if (witnesses.isTeacher(flow)) {
                final double sharp = 1e12 / (scale * scale);
                prior.measure(bin, scale, mean, n, sharp, sharp * witnesses.z(flow));
                prior.learn(bin, scale, mean, witnesses.times());
                isQuiet[flow] = false;
            } else {
                collect(flow);
                prior.measure(bin, scale, mean, n, precision, natural);
                prior.learn(bin, scale, mean, wasQuiet ? QUIET_SWEEPS : 1);
                isQuiet[flow] = precision * prior.variance < QUIET_SHARE;
                send(flow, keep);
            }
        }
        if (!system.isExact) {
            fitSpread();
        }
    }

    /** Flows that cells determine exactly need no messages. */
    @Override
    public void read(final int flow) {
        collect(flow);
        if (peeling.isKnown(flow) && !witnesses.isTeacher(flow)) {
            final double scale = system.scaleNs[flow];
            precision = Math.max(precision, 1 / Math.max(peeling.variance(flow), scale * scale * RELATIVE_FLOOR));
            natural = precision * peeling.z(flow);
            naturalOfResidual = 0;
        }
    }

    /** Combines the messages of the flow's cells: all together, and without each edge in turn. */
    private void collect(final int flow) {
        if (system.isExact) {
            readExact(flow);
        } else {
            readSampled(flow);
            naturalOfResidual = 0;
            if (peeling.isKnown(flow)) {
                readLone(flow);
            }
        }
    }

    private void readExact(final int flow) {
        final double a = system.coefficient[flow];
        final int from = place[flow] * edges;
        double p = 0;
        double h = 0;
        double ofResidual = 0;
        for (int edge = 0; edge < edges; edge++) {
            final int cell = edge * system.columns + system.baseColumns[flow * edges + edge];
            final double all = cellState[2 * cell + 1];
            final double others = Math.max(all - messageVariance[from + edge], RELATIVE_FLOOR * all);
            final double value = cellState[2 * cell] + messageMean[from + edge];
            final double part = a / others;
            edgeCell[edge] = cell;
            edgeWeight[edge] = a;
            withoutPrecision[edge] = a * part;
            withoutNatural[edge] = value * part;
            p += a * part;
            h += value * part;
            ofResidual += part;
        }
        precision = p;
        natural = h;
        naturalOfResidual = ofResidual;
        for (int edge = 0; edge < edges; edge++) {
            double p0 = 0;
            double h0 = 0;
            for (int other = 0; other < edges; other++) {
                if (other != edge) {
                    p0 += withoutPrecision[other];
                    h0 += withoutNatural[other];
                }
            }
            edgeValue[edge] = p0;
            edgeVariance[edge] = h0;
        }
        System.arraycopy(edgeValue, 0, withoutPrecision, 0, edges);
        System.arraycopy(edgeVariance, 0, withoutNatural, 0, edges);
    }

    /** Reads a lone flow: no other flow is in its cells, so the result may go to all of its other cells. */
    private void readLone(final int flow) {
        final double scale = system.scaleNs[flow];
        precision = 1 / Math.max(peeling.variance(flow), scale * scale * RELATIVE_FLOOR);
        natural = precision * peeling.z(flow);
        Arrays.fill(withoutPrecision, precision);
        Arrays.fill(withoutNatural, natural);
    }

    private void readSampled(final int flow) {
        final double n = system.coefficient[flow];
        final double w = n / system.packets[flow];
        final int k = system.vldaLength;
        final int from = place[flow] * edges;
        final double z = lastSize[flow];
        final double within = within(flow, z * z);
        final double shared = within * w / n;
        precision = 0;
        natural = 0;
        for (int row = 0; row < system.rows; row++) {
            double s = 0;
            double t = 0;
            expectPackets(flow, row);
            for (int edge = row * k; edge < (row + 1) * k; edge++) {
                final int cell = edgeCell[edge];
                final double a = edgeWeight[edge];
                final double all = cellState[2 * cell + 1];
                final double others = Math.max(all - messageVariance[from + edge], RELATIVE_FLOOR * all);
                final double value = cellState[2 * cell] + messageMean[from + edge];
                final double d = others + w * within * a;
                edgeValue[edge] = value;
                edgeVariance[edge] = others;
                s += a * a / d;
                t += a * value / d;
            }
            final double factor = 1 / Math.max(1e-9, 1 - shared * s);
            precision += s * factor;
            natural += t * factor;
            for (int edge = row * k; edge < (row + 1) * k; edge++) {
                final double a = edgeWeight[edge];
                final double d = edgeVariance[edge] + w * within * a;
                final double s0 = Math.max(0, s - a * a / d);
                final double factor0 = 1 / Math.max(1e-9, 1 - shared * s0);
                withoutPrecision[edge] = s0 * factor0 - s * factor;
                withoutNatural[edge] = (t - a * edgeValue[edge] / d) * factor0 - t * factor;
            }
        }
        for (int edge = 0; edge < edges; edge++) {
            withoutPrecision[edge] = Math.max(0, precision + withoutPrecision[edge]);
            withoutNatural[edge] += natural;
        }
    }

    /**
     * Updates the expected packets. Cells may hold more than expected; where all of a flow's cells are known, their sum is at
     * most the flow's packets.
     */
    private void expectPackets(final int flow, final int row) {
        final int from = row * system.vldaLength;
        final double all = system.coefficient[flow];
        int column = system.baseColumns[flow * system.rows + row];
        boolean isWhole = system.isWhole(row);
        double inUsable = 0;
        double elsewhere = 0;
        for (int edge = from; edge < from + system.vldaLength; edge++) {
            final int cell = row * system.columns + column;
            final double a = all * system.expectedShare(row, cell);
            if (system.cellPackets[cell] > 0) {
                inUsable += a;
            } else if (!system.isEmpty[cell]) {
                isWhole = false;
                elsewhere += a;
            }
            edgeCell[edge] = cell;
            edgeWeight[edge] = a;
            column = column + 1 == system.columns ? 0 : column + 1;
        }
        final double expected = inUsable + elsewhere;
        if (expected > all || isWhole && inUsable > 0) {
            for (int edge = from; edge < from + system.vldaLength; edge++) {
                edgeWeight[edge] *= all / expected;
            }
        }
    }

    private void send(final int flow, final double keep) {
        final double mean = prior.mean;
        final double variance = prior.variance;
        final double total = precision;
        final double totalNatural = natural;
        remember(flow, mean, variance);
        for (int edge = 0; edge < edges; edge++) {
            final double a = edgeWeight[edge];
            final double p0 = withoutPrecision[edge];
            final double rest = 1 - (total - p0) * variance;
            final double m;
            final double v;
            if (rest > 1 - EXACT_SHARE) {
                v = variance / rest;
                m = (mean - (totalNatural - withoutNatural[edge]) * variance) / rest;
            } else {
                prior.measure(
                    system.bin[flow], system.scaleNs[flow], system.meanNs[flow], system.packets[flow],
                    p0, withoutNatural[edge]);
                m = prior.mean;
                v = prior.variance;
            }
            final double noise = noise(flow, a, m * m + v);
            if (!system.isExact) {
                observeSpread(flow, edge, a, m, v, noise);
            }
            final int at = place[flow] * edges + edge;
            final float newMean = limited((1 - keep) * a * m + keep * messageMean[at]);
            final float newVariance = limited((1 - keep) * (a * a * v + noise) + keep * messageVariance[at]);
            final int cell = edgeCell[edge];
            cellState[2 * cell] -= newMean - (double)messageMean[at];
            cellState[2 * cell + 1] += newVariance - (double)messageVariance[at];
            messageMean[at] = newMean;
            messageVariance[at] = newVariance;
        }
    }

    private void observeSpread(
        final int flow, final int edge, final double a, final double m, final double v, final double noise) {
        if (noise > edgeVariance[edge]) {
            final double error = edgeValue[edge] - a * m;
            final int size = CellSystem.sizeBin(system.bin[flow]);
            spreadSum[size] += Math.min(9, error * error / (edgeVariance[edge] + a * a * v + noise));
            spreadCount[size]++;
        }
    }

    private void fitSpread() {
        for (int size = 1; size < CellSystem.SIZE_BINS; size++) {
            if (spreadCount[size] > 50) {
                final double ratio = spreadSum[size] / spreadCount[size];
                spread[size] = Math.max(1e-9, Math.min(1e6, spread[size] * Math.max(0.5, Math.min(2, ratio))));
            }
        }
    }
}
