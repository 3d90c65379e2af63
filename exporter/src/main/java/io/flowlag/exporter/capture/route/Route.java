package io.flowlag.exporter.capture.route;

import io.flowlag.common.config.Prefix;

import java.util.List;

/**
 * A route of one of the tables that the default rules use. Immutable.
 *
 * @param table      {@link #LOCAL}, {@link #MAIN} or {@link #DEFAULT}.
 * @param metric     the lower one wins; {@link #FIRST} for a route that the kernel looks at before all with a metric.
 * @param interfaces indices of the interfaces of its next hops that work, ascending; empty if it does not forward.
 * @param isKnown    whether the destination alone decides for these interfaces.
 * @param isDead     whether the kernel passes over it, because no next hop works.
 */
record Route(Prefix prefix, int table, long metric, List<Integer> interfaces, boolean isKnown, boolean isDead) {
    static final int LOCAL = 255;
    static final int MAIN = 254;
    static final int DEFAULT = 253;
    static final long FIRST = -1;

    /** Whether the kernel tells them apart by next hops only. */
    boolean hasKeyOf(final Route other) {
        return table == other.table && metric == other.metric && prefix.equals(other.prefix);
    }
}
