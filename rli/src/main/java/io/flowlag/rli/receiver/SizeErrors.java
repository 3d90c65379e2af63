package io.flowlag.rli.receiver;

/**
 * The dependence of held-out references' errors on size: the slope of the error over a reference's octets beyond its neighbours',
 * by weighted least squares. It is 0 if the time per octet is right, and taken as 0 if references are of one size. A flow with
 * packets larger or smaller than the mean reference has this error in each packet, so averaging does not remove it.
 *
 * <p>There is no result where references hardly differ in size, as those that flowlag injects, nor for sizes that too few
 * references are near.
 *
 * <p>A queue that does not empty retains a packet's octets, so the right neighbour's delay includes them and the slope is half of
 * the error per octet. All results are therefore doubled.
 *
 * <p>Errors of this period and of the one before count. One thread. Allocates at construction.
 */
final class SizeErrors {
    private static final int DOUBLED = 2;
    /** Least usable standard deviation of sizes, as a share of the mean size. */
    private static final double LEAST_SPREAD = 0.2;
    /** Evidence that a size needs, in references of that size. */
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
        rotate(weights);
        rotate(lengthSums);
        rotate(extraSums);
        rotate(extraSquares);
        rotate(products);
    }

    /** Begins a new period of a sum of two. */
    static void rotate(final double[] periods) {
        periods[1] = periods[0];
        periods[0] = 0;
    }

    /** {@return true if the bias for this mean packet size is known; with the effective number of errors} */
    boolean tell(final double lengthBytes, final double errorCount) {
        final double distanceBytes = distanceBytes(lengthBytes);
        final double leastBytes = LEAST_SPREAD * sum(lengthSums) / sum(weights);
        final double variance = variance();
        return variance >= leastBytes * leastBytes && errorCount * variance >= LEAST_EVIDENCE * distanceBytes * distanceBytes;
    }

    /** {@return the bias for this mean packet size, ns, signed; with the mean error over all sizes} */
    double biasNs(final double lengthBytes, final double meanErrorNs) {
        final double covariance = sum(products) / sum(weights) - meanErrorNs * sum(extraSums) / sum(weights);
        return DOUBLED * distanceBytes(lengthBytes) * Math.abs(covariance) / variance();
    }

    /** {@return the variance of the bias, ns²; with the variance of one error and the effective number of errors} */
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
