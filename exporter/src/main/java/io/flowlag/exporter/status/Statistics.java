package io.flowlag.exporter.status;

import java.util.List;

/**
 * A view of the whole process for {@link StatisticsWriter}. Immutable but for the counters, which go on.
 *
 * @param counters         of the process.
 * @param sources          in the order of the configuration.
 * @param destinations     in the order of the configuration.
 * @param delay            what the delay stage tells of itself; null where no delay is measured.
 * @param startTimeMs      of the process, since 1970.
 * @param nowMs            of the view, since 1970.
 * @param memoryBoundBytes that cache, rings and tables take at most, as the configuration has it.
 */
public record Statistics(
    Counters counters,
    List<SourceStatistics> sources,
    List<DestinationStatistics> destinations,
    DelayStatistics delay,
    long startTimeMs,
    long nowMs,
    long memoryBoundBytes) {
    /** {@return whether every sum of the accounting identity holds} */
    public boolean isAccountedFor() {
        return AccountingIdentity.unexplainedCaptured(counters) == 0 && AccountingIdentity.unexplainedDecoded(counters) == 0 &&
            AccountingIdentity.unexplainedRecords(counters) == 0 && (delay == null || delay.isAccountedFor()) &&
            destinations.stream().allMatch((each) -> each.unexplainedRecords() == 0);
    }
}
