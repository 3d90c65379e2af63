package io.flowlag.exporter.monitoring;

import com.fasterxml.jackson.annotation.JsonProperty;

import java.util.List;

/**
 * The status page's data of one moment. Immutable. Unknown values are null.
 *
 * @param timeMs         of the row, since 1970.
 * @param captured       packets since the start.
 * @param dropped        packets lost in the kernel or at the ring since the start.
 * @param referenceShare of references in the traffic.
 */
public record HistoryRow(
    @JsonProperty("t") long timeMs, long captured, long dropped, Double referenceShare, List<ClassPoint> classes) {
    /**
     * One class.
     *
     * @param isExact             whether mean and quantiles are of matched packets, not by references.
     * @param meanNs              of regular packets in the interval.
     * @param p95Ns               95 % quantile.
     * @param p99Ns               99 % quantile.
     * @param interpolatedMeanNs  of regular packets, by references.
     * @param sketchMeanNs        of the class by sketches, in the last compared interval.
     * @param lost                packets of that interval, by sketches.
     * @param utilization         of the link, 0 to 1.
     * @param packetsPerReference at the policy's present rate.
     */
    public record ClassPoint(
        String name,
        @JsonProperty("exact") boolean isExact,
        Long meanNs,
        Long p95Ns,
        Long p99Ns,
        Long interpolatedMeanNs,
        Long referenceMeanNs,
        Long sketchMeanNs,
        Long lost,
        Double utilization,
        Double packetsPerReference) {
    }
}
