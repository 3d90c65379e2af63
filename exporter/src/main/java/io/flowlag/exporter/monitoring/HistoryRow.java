package io.flowlag.exporter.monitoring;

import com.fasterxml.jackson.annotation.JsonInclude;
import com.fasterxml.jackson.annotation.JsonInclude.Include;
import com.fasterxml.jackson.annotation.JsonProperty;
import com.fasterxml.jackson.annotation.JsonUnwrapped;

import java.util.List;

/**
 * The status page's data of one moment. Immutable. Unknown values are null.
 *
 * @param timeMs         of the row, since 1970.
 * @param captured       packets since the start.
 * @param dropped        packets lost in the kernel or at the ring since the start.
 * @param referenceShare of references in the traffic.
 * @param clocks         estimates of senders' clocks.
 */
public record HistoryRow(
    @JsonProperty("t") long timeMs, long captured, long dropped, Double referenceShare, List<ClassPoint> classes,
    @JsonInclude(Include.NON_EMPTY) List<ClockPoint> clocks) {
    /**
     * One class: delays of regular packets in the interval, those by references, and the class by sketches in the last compared
     * interval.
     *
     * @param isExact   whether mean and quantiles are of matched packets, not by references.
     * @param lost      packets of that interval, by sketches.
     * @param injection of references.
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
        @JsonUnwrapped Injection injection) {
    }

    /** The clock of this host less that of a sender, as estimated, and the largest error. */
    public record ClockPoint(String name, long offsetNs, long errorNs) {
    }

    /** Utilization of the link, 0 to 1, and packets between two references at the policy's present rate. */
    public record Injection(Double utilization, Double packetsPerReference) {
    }
}
