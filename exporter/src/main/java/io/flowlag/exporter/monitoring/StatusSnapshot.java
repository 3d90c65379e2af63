package io.flowlag.exporter.monitoring;

import io.flowlag.exporter.status.DelayHistogram;
import io.flowlag.exporter.status.DistinctError;
import io.flowlag.exporter.status.SegmentDescription;
import io.flowlag.exporter.status.Statistics;

import java.util.List;

/**
 * The state of a process at one moment, for everything that shows it. Immutable, but for counters of the own process, which
 * go on.
 *
 * @param statistics as {@code --stats} has them.
 * @param segment    what the segment is; null where no delay is measured.
 * @param histograms delays since the start in fixed buckets; not in the status file.
 * @param errors     that nobody foresaw, each kind once.
 */
public record StatusSnapshot(
    long pid,
    Statistics statistics,
    SegmentDescription segment,
    List<DelayHistogram> histograms,
    List<HealthCheck> health,
    List<DistinctError> errors,
    FlowList flows) {
    /** {@return whether every check is well} */
    public boolean isWell() {
        return health.stream().allMatch(HealthCheck::isWell);
    }
}
