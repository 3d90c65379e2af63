package io.flowlag.exporter.monitoring;

import io.flowlag.exporter.listing.FlowRow;

import java.util.List;
import java.util.Map;

/**
 * The displayed flows, the slowest first; without delays, the largest first. Immutable.
 *
 * @param livingCount flows in the cache in the last pass over it.
 * @param endedCount  flow records in the last minute, roughly.
 * @param worst       of the last hour, as {@link WorstOfHour#rows}.
 */
public record FlowList(long livingCount, long endedCount, List<FlowView> flows, Map<String, List<FlowRow>> worst) {
    /** No flows yet. */
    public static final FlowList EMPTY = new FlowList(0, 0, List.of(), Map.of());
}
