package io.flowlag.sketch.joint;

import java.util.Arrays;

/**
 * The prior of z_i: a mixture of normal distributions whose weights are learned for each bin of traffic class, packet count, and
 * RLI level. Family A is centred near RLI's estimate, family B at the class's mean delay. Belongs to the estimator's thread;
 * allocates at construction.
 */
final class MixturePrior {
    static final int CENTRED = 10;
    static final int COMPONENTS = CENTRED + 7;
    private static final double LEAST_ACTIVE_WEIGHT = 2e-5;
    private static final double NEIGHBOUR_SHARE = 0.1;
    private static final double CLASS_PACKETS = 3;
    /** Flows without a common error that are averaged in: over few flows, of which cells say little, an average would drift. */
    private static final double SHRINKAGE = 30;
    private static final double CENTRED_START = 0.7;
    private static final double MAX_RATIO = 3;

    /** Of the last posterior that was measured. */
    double mean;
    double variance;
    int count;
    final double[] share = new double[COMPONENTS];
    final double[] componentMean = new double[COMPONENTS];
    final double[] componentVariance = new double[COMPONENTS];
    private final int[] component = new int[COMPONENTS];
    private double x;

    private final double[] weight = new double[CellSystem.BINS * COMPONENTS];
    private final double[] offset = new double[CellSystem.BINS * COMPONENTS];
    /** Centre of family A for each bin: the part of RLI's error that all of its flows share. */
    private final double[] centreNs = new double[CellSystem.BINS];
    private final double[] centreSum = new double[CellSystem.BINS];
    private final double[] centreCount = new double[CellSystem.BINS];
    private final double[] levelNs = new double[JointProblem.MAX_CLASSES];
    private final double[] weightSum = new double[CellSystem.BINS * COMPONENTS];
    private final double[] offsetSum = new double[CellSystem.BINS * COMPONENTS];
    private final double[] smoothed = new double[COMPONENTS];
    private final double[] classSum = new double[COMPONENTS];
    private final double[] levelSumNs = new double[JointProblem.MAX_CLASSES];
    private final double[] levelCount = new double[JointProblem.MAX_CLASSES];
    private final int[] activeCount = new int[CellSystem.BINS];
    private final byte[] active = new byte[CellSystem.BINS * COMPONENTS];
    private final double[] factor = new double[COMPONENTS];
    private final double[] rootFactor = new double[COMPONENTS];
    private final double[] perRootFactor = new double[COMPONENTS];

    MixturePrior() {
        for (int k = 0; k < COMPONENTS; k++) {
            factor[k] = Math.pow(16, k < CENTRED ? k - 5 : k - CENTRED - 2.5);
            rootFactor[k] = Math.sqrt(factor[k]);
            perRootFactor[k] = 1 / rootFactor[k];
        }
    }

    /** Initial state: family A with the size that the cells show, family B uniform. */
    void start(final double theta, final double meanDelayNs) {
        final double centre = Math.log(Math.max(theta, 1e-12)) / Math.log(16) + 5;
        double sum = 0;
        for (int k = 0; k < CENTRED; k++) {
            smoothed[k] = Math.exp(-0.5 * (k - centre) * (k - centre)) + 1e-4;
            sum += smoothed[k];
        }
        for (int bin = 0; bin < CellSystem.BINS; bin++) {
            for (int k = 0; k < COMPONENTS; k++) {
                weight[bin * COMPONENTS + k] = k < CENTRED ? CENTRED_START * smoothed[k] / sum :
                    (1 - CENTRED_START) / (COMPONENTS - CENTRED);
            }
            activate(bin);
        }
        Arrays.fill(offset, 0);
        Arrays.fill(centreNs, 0);
        Arrays.fill(levelNs, meanDelayNs);
    }

    private void activate(final int bin) {
        int next = 0;
        for (int k = 0; k < COMPONENTS; k++) {
            if (weight[bin * COMPONENTS + k] > LEAST_ACTIVE_WEIGHT || k == CENTRED - 1) {
                active[bin * COMPONENTS + next++] = (byte)k;
            }
        }
        activeCount[bin] = next;
    }

    /**
     * Combines the prior of a flow with a normal likelihood.
     *
     * @param precision of the likelihood, 0 if there is none.
     * @param natural   its mean times its precision.
     */
    void measure(
        final int bin, final double scaleNs, final double meanNs, final double packets,
        final double precision, final double natural) {
        final double inverse = precision > 0 ? 1 / precision : 0;
        final double likely = natural * inverse;
        final double classNs = levelNs[CellSystem.classOf(bin)];
        final double levelVariance = (classNs * classNs + 1) / packets;
        final double levelCentre = classNs - meanNs - likely;
        final double variance0 = scaleNs * scaleNs;
        final double centre = centreNs[bin] - likely;
        final int from = bin * COMPONENTS;
        final int active0 = activeCount[bin];
        double total = 0;
        double first = 0;
        double second = 0;
        x = likely;
        for (int index = 0; index < active0; index++) {
            final int k = active[from + index];
            final double s;
            final double d;
            if (k < CENTRED) {
                s = variance0 * factor[k];
                d = centre + offset[from + k] * scaleNs * rootFactor[k];
            } else {
                s = levelVariance * factor[k];
                d = levelCentre;
            }
            final double r = 1 / (1 + precision * s);
            final double w = weight[from + k] * Math.sqrt(r) * FastMath.exp(-0.5 * precision * d * d * r);
            final double m = d * r;
            final double v = s * r;
            component[index] = k;
            share[index] = w;
            componentMean[index] = m;
            componentVariance[index] = v;
            total += w;
            first += w * m;
            second += w * (v + m * m);
        }
        count = active0;
        finish(total, first, second);
    }

    private void finish(final double total, final double first, final double second) {
        if (total > 1e-250) {
            final double norm = 1 / total;
            final double shift = first * norm;
            for (int index = 0; index < count; index++) {
                share[index] *= norm;
            }
            mean = x + shift;
            variance = Math.max(second * norm - shift * shift, 1e-12 * shift * shift + 1e-30);
        } else {
            // The cells contradict every component: only the widest is plausible.
            int widest = 0;
            for (int index = 1; index < count; index++) {
                widest = componentVariance[index] > componentVariance[widest] ? index : widest;
            }
            Arrays.fill(share, 0, count, 0);
            share[widest] = 1;
            mean = x + componentMean[widest];
            variance = componentVariance[widest];
        }
    }

    /** Origin of the components' means. */
    double origin() {
        return x;
    }

    void beginLearning() {
        Arrays.fill(weightSum, 0);
        Arrays.fill(offsetSum, 0);
        Arrays.fill(centreSum, 0);
        Arrays.fill(centreCount, 0);
        Arrays.fill(levelSumNs, 0);
        Arrays.fill(levelCount, 0);
    }

    /** Adds the last measured posterior. */
    void learn(final int bin, final double scaleNs, final double meanNs, final double times) {
        final int from = bin * COMPONENTS;
        final double perScale = 1 / scaleNs;
        final double fromCentre = x - centreNs[bin];
        double levelShare = 0;
        for (int index = 0; index < count; index++) {
            final int k = component[index];
            final double w = times * share[index];
            weightSum[from + k] += w;
            if (k < CENTRED) {
                final double perDeviation = perScale * perRootFactor[k];
                final double deviations = (fromCentre + componentMean[index]) * perDeviation;
                offsetSum[from + k] += w * deviations;
                centreSum[bin] += w * (deviations - offset[from + k]);
                centreCount[bin] += w * perDeviation;
            } else {
                levelShare += w;
            }
        }
        final int classIndex = CellSystem.classOf(bin);
        levelSumNs[classIndex] += levelShare * (meanNs + mean);
        levelCount[classIndex] += levelShare;
    }

    /** The M step. */
    void conclude(final boolean overRelaxed) {
        final int binsPerClass = CellSystem.BINS / JointProblem.MAX_CLASSES;
        for (int classIndex = 0; classIndex < JointProblem.MAX_CLASSES; classIndex++) {
            double total = 0;
            Arrays.fill(classSum, 0);
            for (int bin = classIndex * binsPerClass; bin < (classIndex + 1) * binsPerClass; bin++) {
                for (int k = 0; k < COMPONENTS; k++) {
                    classSum[k] += weightSum[bin * COMPONENTS + k];
                    total += weightSum[bin * COMPONENTS + k];
                }
            }
            if (total > 0) {
                for (int k = 0; k < COMPONENTS; k++) {
                    classSum[k] *= CLASS_PACKETS / total;
                }
                for (int bin = classIndex * binsPerClass; bin < (classIndex + 1) * binsPerClass; bin++) {
                    conclude(bin, overRelaxed);
                }
                if (levelCount[classIndex] > 1) {
                    levelNs[classIndex] = levelSumNs[classIndex] / levelCount[classIndex];
                }
            }
        }
    }

    private void conclude(final int bin, final boolean overRelaxed) {
        final int from = bin * COMPONENTS;
        final int size = CellSystem.sizeBin(bin);
        final int step = CellSystem.LEVEL_BINS * COMPONENTS;
        double total = 0;
        double centred = 0;
        for (int k = 0; k < COMPONENTS; k++) {
            double sum = weightSum[from + k] + classSum[k];
            sum += size > 0 ? NEIGHBOUR_SHARE * weightSum[from + k - step] : 0;
            sum += size < CellSystem.SIZE_BINS - 1 ? NEIGHBOUR_SHARE * weightSum[from + k + step] : 0;
            smoothed[k] = sum;
            total += sum;
            if (k < CENTRED) {
                centred += weightSum[from + k];
                final double mean0 = offsetSum[from + k] / (weightSum[from + k] + SHRINKAGE);
                offset[from + k] = Math.max(-1, Math.min(1, mean0));
            }
        }
        if (centreCount[bin] > 0) {
            // Without references the mean is anything, and its common error not near 0.
            final double without = bin % CellSystem.LEVEL_BINS == CellSystem.NO_ESTIMATE_LEVEL ? 0 : SHRINKAGE;
            centreNs[bin] = (centreNs[bin] + centreSum[bin] / centreCount[bin]) * centred / (centred + without);
        }
        double newTotal = 0;
        for (int k = 0; k < COMPONENTS; k++) {
            double share0 = smoothed[k] / total;
            if (overRelaxed) {
                final double ratio = Math.max(1 / MAX_RATIO, Math.min(MAX_RATIO, share0 / (weight[from + k] + 1e-12)));
                share0 *= ratio * ratio;
            }
            smoothed[k] = share0 + 1e-9;
            newTotal += smoothed[k];
        }
        for (int k = 0; k < COMPONENTS; k++) {
            weight[from + k] = smoothed[k] / newTotal;
        }
        activate(bin);
    }
}
