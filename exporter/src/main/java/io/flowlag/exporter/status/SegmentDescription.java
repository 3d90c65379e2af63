package io.flowlag.exporter.status;

import com.fasterxml.jackson.annotation.JsonIgnore;
import com.fasterxml.jackson.annotation.JsonPropertyOrder;

import java.util.List;

/**
 * Description of a process's segment. Immutable.
 *
 * @param points       interfaces or captures: the sender point, then the receiver point, where the process has both.
 * @param dscps        of the traffic classes; empty for one class of all.
 * @param policy       of the references, as the configuration writes it; empty where it is not known here.
 * @param clockErrorNs bound of the clocks' difference; negative if unknown.
 */
@JsonPropertyOrder({"role", "segment_id"})
public record SegmentDescription(
    long segmentId,
    String role,
    List<String> points,
    @JsonIgnore List<Integer> dscps,
    String policy,
    @JsonIgnore long clockErrorNs,
    @JsonIgnore boolean isClockSynchronized) {
}
