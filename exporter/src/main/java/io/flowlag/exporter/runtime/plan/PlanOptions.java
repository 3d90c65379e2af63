package io.flowlag.exporter.runtime.plan;

import java.nio.file.Path;
import java.util.List;

/**
 * What a plan is asked for.
 *
 * @param network      as {@code --network} names it.
 * @param points       to add, 0 or more.
 * @param objective    what each of them is to make least.
 * @param maxFlows     as {@code metering.max-flows} is written; null for its default.
 * @param destinations of records, as {@code exporting.destinations} has them; none leaves them out of the files.
 * @param directory    of the files; null for none.
 * @param key          path of the exchanges' key on each host; null for that of the directory here.
 * @param format       of what is printed.
 */
public record PlanOptions(String network, int points, Objective objective, String maxFlows, List<String> destinations,
    Path directory, Path key, Format format) {
    /** What a point is to make least. */
    public enum Objective {
        /** Hops of probes between all points and measurement servers: the LDA paper's Algorithm 1. */
        PROBES,
        /** Hops that are suspected when one is slow, with points and nothing else. */
        SETS
    }

    /** How a plan is printed. */
    public enum Format {
        TABLE, JSON, CSV
    }
}
