package io.flowlag.tests.support;

import java.util.ArrayList;
import java.util.List;
import java.util.Locale;

/**
 * Errors of flows' estimated means, compared with the error of the mean over all flows. Flows with fewer packets than a limit
 * count only for the overall mean. Not thread-safe.
 */
public final class FlowAccuracy {
    private final long leastPackets;
    private final List<double[]> flows = new ArrayList<>();
    private double sumNs;
    private long packets;
    private int flowCount;

    /**
     * No flows yet.
     *
     * @param leastPackets of flows whose errors count.
     */
    public FlowAccuracy(final long leastPackets) {
        this.leastPackets = leastPackets;
    }

    /**
     * Adds a flow.
     *
     * @param packetCount that the true mean is of.
     * @param trueNs      mean.
     * @param estimateNs  mean.
     */
    public void add(final long packetCount, final double trueNs, final double estimateNs) {
        sumNs += packetCount * trueNs;
        packets += packetCount;
        flowCount++;
        if (packetCount >= leastPackets) {
            flows.add(new double[] {trueNs, estimateNs});
        }
    }

    /** {@return all flows} */
    public int flowCount() {
        return flowCount;
    }

    /** {@return flows whose errors count} */
    public int countedFlows() {
        return flows.size();
    }

    /** {@return mean over all packets, ns} */
    public double meanNs() {
        return sumNs / packets;
    }

    /** {@return standard deviation of the true means of the counted flows over their mean} */
    public double coefficientOfVariation() {
        final double mean = flows.stream().mapToDouble(flow -> flow[0]).average().orElse(Double.NaN);
        final double variance = flows.stream().mapToDouble(flow -> (flow[0] - mean) * (flow[0] - mean)).average()
            .orElse(Double.NaN);
        return Math.sqrt(variance) / mean;
    }

    /** {@return median of the relative errors of the estimates} */
    public double medianError() {
        return quantile(flows.stream().mapToDouble(flow -> Math.abs(flow[1] - flow[0]) / flow[0]).sorted().toArray(), 0.5);
    }

    /** {@return median of the absolute errors of the estimates, ns} */
    public double medianErrorNs() {
        return quantile(flows.stream().mapToDouble(flow -> Math.abs(flow[1] - flow[0])).sorted().toArray(), 0.5);
    }

    /** {@return 90 % quantile of the relative errors of the estimates} */
    public double error90() {
        return quantile(flows.stream().mapToDouble(flow -> Math.abs(flow[1] - flow[0]) / flow[0]).sorted().toArray(), 0.9);
    }

    /** {@return median of the relative errors, were the mean over all flows the estimate of each} */
    public double medianErrorOfOverallMean() {
        final double meanNs = meanNs();
        return quantile(flows.stream().mapToDouble(flow -> Math.abs(meanNs - flow[0]) / flow[0]).sorted().toArray(), 0.5);
    }

    private static double quantile(final double[] sorted, final double share) {
        return sorted.length == 0 ? Double.NaN : sorted[(int) Math.min(sorted.length - 1, sorted.length * share)];
    }

    @Override
    public String toString() {
        return String.format(Locale.ROOT,
            "%d flows, %d of %d packets or more; delay %.2f ms, coefficient of variation of flow means %.2f; relative error: " +
            "median %.4f (%.1f us), p90 %.4f; of the overall mean: median %.4f", flowCount, flows.size(), leastPackets,
            meanNs() / 1e6, coefficientOfVariation(), medianError(), medianErrorNs() / 1e3, error90(),
            medianErrorOfOverallMean());
    }
}
