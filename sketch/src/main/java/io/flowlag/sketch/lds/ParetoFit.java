package io.flowlag.sketch.lds;

/**
 * A Pareto distribution of flow sizes in packets, P[size &gt; x] = (scale / x)^shape for x ≥ scale (LDS paper, section 3.1).
 * Immutable, any thread.
 *
 * @param shape of the tail; the smaller, the heavier.
 * @param scale the smallest size, in packets.
 */
public record ParetoFit(double shape, double scale) {
    /**
     * Checks the parameters.
     *
     * @param shape above 0.
     * @param scale above 0.
     */
    public ParetoFit {
        if (!(shape > 0 && scale > 0)) {
            throw new IllegalArgumentException("shape=" + shape + " scale=" + scale + " are not above 0");
        }
    }

    /**
     * The fit that is exact at one size: sizing needs the tail there, not the body.
     *
     * @param sizePackets   above 1.
     * @param fractionAbove share of flows with more packets, between 0 and 1.
     * @return a fit with scale 1.
     */
    public static ParetoFit throughTail(final double sizePackets, final double fractionAbove) {
        if (!(sizePackets > 1 && fractionAbove > 0 && fractionAbove < 1)) {
            throw new IllegalArgumentException(
                "sizePackets=" + sizePackets + " fractionAbove=" + fractionAbove + " say nothing of a tail");
        }
        return new ParetoFit(-Math.log(fractionAbove) / Math.log(sizePackets), 1);
    }

    /**
     * The fit with a mean, for when only the numbers of packets and flows are known.
     *
     * @param meanPackets of a flow, above 1.
     * @return a fit with scale 1.
     */
    public static ParetoFit ofMean(final double meanPackets) {
        if (!(meanPackets > 1)) {
            throw new IllegalArgumentException("meanPackets=" + meanPackets + " is not above 1");
        }
        return new ParetoFit(meanPackets / (meanPackets - 1), 1);
    }

    /**
     * The maximum likelihood fit to flows.
     *
     * @param sizesPackets of flows, each at least 1.
     * @return a fit with the smallest size as scale.
     */
    public static ParetoFit ofFlows(final long[] sizesPackets) {
        long smallest = Long.MAX_VALUE;
        for (final long size : sizesPackets) {
            smallest = Math.min(smallest, size);
        }
        double logSum = 0;
        for (final long size : sizesPackets) {
            logSum += Math.log(size / (double)smallest);
        }
        if (smallest < 1 || !(logSum > 0)) {
            throw new IllegalArgumentException("no fit to " + sizesPackets.length + " flows from " + smallest + " packets on");
        }
        return new ParetoFit(sizesPackets.length / logSum, smallest);
    }

    /** Share of flows above a size. */
    public double tail(final double sizePackets) {
        return sizePackets <= scale ? 1 : Math.pow(scale / sizePackets, shape);
    }
}
