package io.flowlag.exporter.runtime.report;

import io.flowlag.exporter.listing.FlowRow;
import io.flowlag.exporter.listing.RowGroup;
import io.flowlag.exporter.listing.RowKey;

import java.util.ArrayList;
import java.util.Comparator;
import java.util.HashMap;
import java.util.List;
import java.util.Map;

/**
 * The records of flows, for the history of those that are listed at last. Holds at most {@link #MOST_ROWS}: when there is no more
 * room, the flows whose slowest record is fastest, or has least packets, are forgotten until half is free. One thread.
 */
final class FlowHistories {
    /** About 50 MB. */
    static final int MOST_ROWS = 1 << 16;
    static final int MOST_POINTS = 120;

    private final Map<RowKey, List<FlowRow>> flows = new HashMap<>();
    private final int mostRows;
    private int rowCount;

    FlowHistories() {
        this(MOST_ROWS);
    }

    FlowHistories(final int mostRows) {
        this.mostRows = mostRows;
    }

    void add(final RowKey flow, final FlowRow row) {
        if (rowCount == mostRows) {
            forget();
        }
        flows.computeIfAbsent(flow, (any) -> new ArrayList<>(1)).add(row);
        rowCount++;
    }

    private void forget() {
        final List<Map.Entry<RowKey, List<FlowRow>>> slowestFirst = new ArrayList<>(flows.entrySet());
        slowestFirst.sort(Comparator.comparingDouble((each) -> -each.getValue().stream().mapToDouble(FlowHistories::weight).max()
            .orElseThrow()));
        flows.clear();
        rowCount = 0;
        for (final Map.Entry<RowKey, List<FlowRow>> each : slowestFirst) {
            if (rowCount + each.getValue().size() <= mostRows / 2) {
                flows.put(each.getKey(), each.getValue());
                rowCount += each.getValue().size();
            }
        }
    }

    /** Those with a delay are before those without. */
    private static double weight(final FlowRow row) {
        return row.delay().meanNs() != null ? row.delay().meanNs() :
            row.traffic().packets() == null ? Double.NEGATIVE_INFINITY : row.traffic().packets() - 0x1p63;
    }

    /** {@return a flow in the order of time, in at most {@link #MOST_POINTS} rows of one or more records; empty if forgotten} */
    List<FlowRow> of(final RowKey flow) {
        final List<FlowRow> rows = new ArrayList<>(flows.getOrDefault(flow, List.of()));
        rows.removeIf((row) -> row.traffic().startNs() == null);
        rows.sort(Comparator.comparing((row) -> row.traffic().startNs()));
        final int together = (rows.size() + MOST_POINTS - 1) / MOST_POINTS;
        final List<FlowRow> points = new ArrayList<>();
        for (int i = 0; i < rows.size(); i += together) {
            final RowGroup group = new RowGroup(flow);
            rows.subList(i, Math.min(rows.size(), i + together)).forEach(group::add);
            points.add(group.row());
        }
        return points;
    }
}
