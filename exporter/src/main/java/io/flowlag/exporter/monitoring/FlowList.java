package io.flowlag.exporter.monitoring;

import java.util.List;

/**
 * Flows worth a look, the slowest first; where no delay is known, the largest. Immutable.
 *
 * @param livingCount flows in the cache in the last pass over it.
 * @param endedCount  flow records in the last minute, roughly.
 * @param flows       as many of them as are kept.
 */
public record FlowList(long livingCount, long endedCount, List<FlowView> flows) {
    /** Nothing seen yet. */
    public static final FlowList EMPTY = new FlowList(0, 0, List.of());
}
