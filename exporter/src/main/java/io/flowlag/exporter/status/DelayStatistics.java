package io.flowlag.exporter.status;

import com.fasterxml.jackson.annotation.JsonIgnore;
import com.fasterxml.jackson.annotation.JsonInclude;
import com.fasterxml.jackson.annotation.JsonInclude.Include;
import com.fasterxml.jackson.annotation.JsonProperty;
import com.fasterxml.jackson.annotation.JsonPropertyOrder;

import java.util.ArrayList;
import java.util.Collections;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;

/**
 * The statistics of the delay stage, for {@link StatisticsWriter} and the options records. Counters and gauges are by label,
 * role and policy as the configuration writes them. Immutable.
 *
 * @param clockErrorNs bound of the clocks' difference; negative if unknown.
 * @param interval     the last measurement interval that ended, by class; empty before the first.
 * @param total        since the start, by class, as of the last interval or the end.
 * @param sketches     statistics of sketches by sender; empty without sketches.
 * @param unexplained  remainder of each sum of the stage, by name; 0 when it holds.
 */
@JsonPropertyOrder({"role", "segment_id", "policy", "clock_error_ns", "counters", "gauges", "identity"})
public record DelayStatistics(
    String role,
    long segmentId,
    @JsonInclude(Include.NON_EMPTY) String policy,
    long clockErrorNs,
    Map<String, Long> counters,
    Map<String, Double> gauges,
    List<DelaySummary> interval,
    List<DelaySummary> total,
    @JsonInclude(Include.NON_EMPTY) List<SketchStatistics> sketches,
    @JsonIgnore Map<String, Long> unexplained) implements PartlyKnown {
    /**
     * The aggregators' results of the last compared interval, by sender, then class, like {@link #interval}. Returns an entry for
     * each; null before the first interval of the sender.
     */
    public List<AggregateDelay> sketchedInterval() {
        final List<AggregateDelay> all = new ArrayList<>();
        for (final SketchStatistics each : sketches) {
            all.addAll(each.interval().isEmpty() ? Collections.nCopies(each.total().size(), null) : each.interval());
        }
        return all;
    }

    @Override
    public boolean knows(final String label) {
        return clockErrorNs >= 0 || !"clock_error_ns".equals(label);
    }

    @JsonProperty
    Map<String, Object> identity() {
        final Map<String, Object> identity = new LinkedHashMap<>();
        identity.put("holds", isAccountedFor());
        identity.putAll(unexplained);
        return identity;
    }

    /** {@return whether every sum holds} */
    public boolean isAccountedFor() {
        return unexplained.values().stream().allMatch((each) -> each == 0);
    }
}
