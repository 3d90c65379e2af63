package io.flowlag.exporter.monitoring;

import java.util.List;

/**
 * The displayed flows, the slowest first; without delays, the largest first. Immutable.
 *
 * @param livingCount flows in the cache in the last pass over it.
 * @param endedCount  flow records in the last minute, roughly.
 */
public record FlowList(long livingCount, long endedCount, List<FlowView> flows) {
    /** No flows yet. */
    public static final FlowList EMPTY = new FlowList(0, 0, List.of());
}
