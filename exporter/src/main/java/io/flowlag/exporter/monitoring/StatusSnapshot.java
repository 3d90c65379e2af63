package io.flowlag.exporter.monitoring;

import io.flowlag.exporter.status.DelayHistogram;
import io.flowlag.exporter.status.DistinctError;
import io.flowlag.exporter.status.SegmentDescription;
import io.flowlag.exporter.status.Statistics;

import java.util.List;

/**
 * The state of a process at one moment, for every view of it. Immutable, except that the counters of the own process go on.
 *
 * @param statistics as {@code --stats} shows them.
 * @param segments   the measured segments; empty without delay measurement.
 * @param histograms delays since the start in fixed buckets, by segment; not in the status file.
 * @param errors     unexpected exceptions, one entry per kind.
 */
public record StatusSnapshot(
    long pid,
    Statistics statistics,
    List<SegmentDescription> segments,
    List<List<DelayHistogram>> histograms,
    List<HealthCheck> health,
    List<DistinctError> errors,
    FlowList flows) {
    /** {@return the same with other flows and without histograms} */
    StatusSnapshot withFlows(final List<FlowView> others) {
        return new StatusSnapshot(pid, statistics, segments, List.of(), health, errors,
            new FlowList(flows.livingCount(), flows.endedCount(), others, flows.worst()));
    }

    /** {@return the same with another result of a check} */
    StatusSnapshot with(final HealthCheck check) {
        return new StatusSnapshot(pid, statistics, segments, histograms,
            health.stream().map((each) -> each.name().equals(check.name()) ? check : each).toList(), errors, flows);
    }

    /** {@return whether every check is ok} */
    public boolean isOk() {
        return health.stream().allMatch(HealthCheck::isOk);
    }
}
