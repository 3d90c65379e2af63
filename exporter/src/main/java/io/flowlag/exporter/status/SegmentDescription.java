package io.flowlag.exporter.status;

import com.fasterxml.jackson.annotation.JsonIgnore;
import com.fasterxml.jackson.annotation.JsonInclude;
import com.fasterxml.jackson.annotation.JsonInclude.Include;
import com.fasterxml.jackson.annotation.JsonPropertyOrder;

import java.util.List;

/**
 * Description of a process's segment. Immutable.
 *
 * @param segmentId    of the first, if there are several.
 * @param points       interfaces or captures: the sender point, then the receiver point, where the process has both.
 * @param dscps        of the traffic classes; empty for one class of all.
 * @param policy       of the references, as the configuration writes it; empty where it is not known here.
 * @param segments     of several between interfaces of this host; empty for one.
 * @param clockErrorNs bound of the clocks' difference; negative if unknown.
 */
@JsonPropertyOrder({"role", "segment_id"})
public record SegmentDescription(
    long segmentId,
    String role,
    List<String> points,
    @JsonIgnore List<Integer> dscps,
    String policy,
    @JsonInclude(Include.NON_EMPTY) List<SegmentName> segments,
    @JsonIgnore long clockErrorNs,
    @JsonIgnore boolean isClockSynchronized) {
    /** {@return a description of each segment} */
    public List<SegmentDescription> each() {
        return segments.isEmpty() ? List.of(this) : segments.stream().map((segment) -> new SegmentDescription(
            segment.id(), role, List.of(segment.ingress(), segment.egress()), dscps, policy, List.of(), clockErrorNs,
            isClockSynchronized)).toList();
    }

    /** {@return the number of the segment, or how many there are, for people} */
    public String text() {
        return segments.isEmpty() ? "segment " + segmentId : segments.size() + " segments";
    }
}
