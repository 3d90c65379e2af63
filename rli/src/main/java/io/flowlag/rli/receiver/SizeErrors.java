package io.flowlag.rli.receiver;

/**
 * What the errors of held-out references have to do with their sizes: the slope of the error over the octets that a reference has
 * more than its neighbours, in weighted least squares. It is 0 where the time per octet is right, and unknown, taken for 0, where
 * references are of one size. A flow whose packets are larger or smaller than the references in the mean has that error in each
 * of its packets, so that no number of them averages it out.
 *
 * <p>A queue that does not empty keeps what a packet has brought, so that the right neighbour's delay has it too: then the slope
 * is half of the time per octet that is wrong. Hence all is doubled here.
 *
 * <p>Errors of this period and of the one before count. One thread. Allocates at construction.
 */
final class SizeErrors {
    private static final int DOUBLED = 2;

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

    /** {@return what packets of this mean size are off by, ns, of either sign; with the mean error over all sizes} */
    double biasNs(final double lengthBytes, final double meanErrorNs) {
        final double variance = variance();
        return variance == 0 ? 0 : DOUBLED * distanceBytes(lengthBytes) *
            Math.abs(sum(products) / sum(weights) - meanErrorNs * sum(extraSums) / sum(weights)) / variance;
    }

    /** {@return the variance of that, ns²; with the variance of one error, and how many of equal weight there were} */
    double biasVarianceNs2(final double lengthBytes, final double errorVarianceNs2, final double errorCount) {
        final double variance = variance();
        final double distanceBytes = DOUBLED * distanceBytes(lengthBytes);
        return variance == 0 ? 0 : distanceBytes * distanceBytes * errorVarianceNs2 / (variance * errorCount);
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
