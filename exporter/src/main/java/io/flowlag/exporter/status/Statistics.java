package io.flowlag.exporter.status;

import java.util.List;

/**
 * A view of the whole process for {@link StatisticsWriter}. Immutable, except that the counters go on.
 *
 * @param delays           of the delay stages, by segment; empty without delay measurement.
 * @param latency          of packets in the process; null if packets are not live.
 * @param nowMs            of the view, since 1970, as is the start.
 * @param memoryBoundBytes limit of cache, rings and tables by the configuration.
 * @param memory           of the process, and of each part of it, whose bounds make up that of the process; empty without.
 */
public record Statistics(
    Counters counters,
    List<SourceStatistics> sources,
    List<DestinationStatistics> destinations,
    List<DelayStatistics> delays,
    LatencySummary latency,
    long startTimeMs,
    long nowMs,
    long memoryBoundBytes,
    List<MemoryUse> memory) {
    /** {@return those of the first segment; null without delay measurement} */
    public DelayStatistics delay() {
        return delays.isEmpty() ? null : delays.get(0);
    }

    /** {@return whether every sum of the accounting identity holds} */
    public boolean isAccountedFor() {
        return AccountingIdentity.unexplainedCaptured(counters) == 0 && AccountingIdentity.unexplainedDecoded(counters) == 0 &&
            AccountingIdentity.unexplainedRecords(counters) == 0 && delays.stream().allMatch(DelayStatistics::isAccountedFor) &&
            destinations.stream().allMatch((each) -> each.unexplainedRecords() == 0);
    }
}
