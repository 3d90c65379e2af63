package io.flowlag.exporter.listing;

import java.util.Set;
import java.util.stream.Collectors;

/**
 * Finds the values by which a query chooses or sorts rows, but which no record has, and whether it shows any row. One thread.
 */
public final class UnknownValues {
    private final Set<SortKey> unknown;
    private long records;
    private long shown;

    /** Before the first record. */
    public UnknownValues(final FlowQuery query) {
        unknown = query.keys();
    }

    /** Takes a record that may be shown or not. */
    public void onRow(final FlowRow row) {
        records++;
        unknown.removeIf((key) -> !Double.isNaN(key.of(row)));
    }

    /** Takes a row that is shown. */
    public void onShown() {
        shown++;
    }

    /** {@return that nothing is shown, and what is not known, in words; empty if neither} */
    public String remark() {
        final String nothing = records > 0 && shown == 0 ? "of " + records + " records none matches" : "";
        return records == 0 || unknown.isEmpty() ? nothing : nothing + (nothing.isEmpty() ? "" : "; ") + "no record has " +
            unknown.stream().map(SortKey::label).collect(Collectors.joining(", ")) +
            ": nothing can be chosen or sorted by it" +
            (unknown.stream().allMatch(SortKey::isOfTcp) ? "; flows of TCP have it if metered with metering.tcp=on" :
            unknown.contains(SortKey.MEAN) ? "; a delay needs two points" : "");
    }
}
