package io.flowlag.rli.receiver;

/**
 * What the errors of held-out references have to do with their sizes: the slope of the error over the octets that a reference has
 * more than its neighbours, in weighted least squares. It is 0 where the time per octet is right, and unknown, taken for 0, where
 * references are of one size. A flow whose packets are larger or smaller than the references in the mean has that error in each
 * of its packets, so that no number of them averages it out.
 *
 * <p>Nothing is said where references hardly differ in size, as our own, nor of sizes that too few references come near.
 *
 * <p>A queue that does not empty keeps what a packet has brought, so that the right neighbour's delay has it too: then the slope
 * is half of the time per octet that is wrong. Hence all is doubled here.
 *
 * <p>Errors of this period and of the one before count. One thread. Allocates at construction.
 */
final class SizeErrors {
    private static final int DOUBLED = 2;
    /** The standard deviation of sizes that tells anything, as a share of the mean size. */
    private static final double LEAST_SPREAD = 0.2;
    /** A size needs as much evidence as so many references of it give. */
    private static final double LEAST_EVIDENCE = 25;

    private final double[] weights = new double[2];
    private final double[] lengthSums = new double[2];
    private final double[] extraSums = new double[2];
    private final double[] extraSquares = new double[2];
    private final double[] products = new double[2];

    /** An error; the weight as in {@link HeldOutErrors}. */
    void record(final double errorNs, final int lengthBytes, final double extraBytes, final long weight) {
        weights[0] += weight;
        lengthSums[0] += (double)weight * lengthBytes;
        extraSums[0] += weight * extraBytes;
        extraSquares[0] += weight * extraBytes * extraBytes;
        products[0] += weight * extraBytes * errorNs;
    }

    void rotate() {
        HeldOutErrors.rotate(weights);
        HeldOutErrors.rotate(lengthSums);
        HeldOutErrors.rotate(extraSums);
        HeldOutErrors.rotate(extraSquares);
        HeldOutErrors.rotate(products);
    }

    /** {@return true if references tell what packets of this mean size are off by; with how many of equal weight there were} */
    boolean tell(final double lengthBytes, final double errorCount) {
        final double distanceBytes = distanceBytes(lengthBytes);
        final double leastBytes = LEAST_SPREAD * sum(lengthSums) / sum(weights);
        final double variance = variance();
        return variance >= leastBytes * leastBytes && errorCount * variance >= LEAST_EVIDENCE * distanceBytes * distanceBytes;
    }

    /** {@return what packets of this mean size are off by, ns, of either sign; with the mean error over all sizes} */
    double biasNs(final double lengthBytes, final double meanErrorNs) {
        final double covariance = sum(products) / sum(weights) - meanErrorNs * sum(extraSums) / sum(weights);
        return DOUBLED * distanceBytes(lengthBytes) * Math.abs(covariance) / variance();
    }

    /** {@return the variance of that, ns²; with the variance of one error, and how many of equal weight there were} */
    double biasVarianceNs2(final double lengthBytes, final double errorVarianceNs2, final double errorCount) {
        final double distanceBytes = DOUBLED * distanceBytes(lengthBytes);
        return distanceBytes * distanceBytes * errorVarianceNs2 / (variance() * errorCount);
    }

    private double distanceBytes(final double lengthBytes) {
        return Math.abs(lengthBytes - sum(lengthSums) / sum(weights));
    }

    private double variance() {
        final double mean = sum(extraSums) / sum(weights);
        return Math.max(0, sum(extraSquares) / sum(weights) - mean * mean);
    }

    private static double sum(final double[] periods) {
        return periods[0] + periods[1];
    }
}
