package io.flowlag.exporter.listing;

import java.util.Set;
import java.util.stream.Collectors;

/** Finds the values by which a query chooses or sorts rows, but which no record has. One thread. */
public final class UnknownValues {
    private final Set<SortKey> unknown;
    private boolean hasRows;

    /** Before the first record. */
    public UnknownValues(final FlowQuery query) {
        unknown = query.keys();
    }

    /** Takes a record that may be shown or not. */
    public void onRow(final FlowRow row) {
        hasRows = true;
        unknown.removeIf((key) -> !Double.isNaN(key.of(row)));
    }

    /** {@return what is not known, in words; empty if nothing} */
    public String remark() {
        return !hasRows || unknown.isEmpty() ? "" : "no record has " +
            unknown.stream().map(SortKey::label).collect(Collectors.joining(", ")) +
            ": nothing can be chosen or sorted by it" +
            (unknown.stream().allMatch(SortKey::isOfTcp) ? "; flows of TCP have it if metered with metering.tcp=on" :
            unknown.contains(SortKey.MEAN) ? "; a delay needs two points" : "");
    }
}
