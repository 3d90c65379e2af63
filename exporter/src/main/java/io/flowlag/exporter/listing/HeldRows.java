package io.flowlag.exporter.listing;

import java.util.ArrayList;
import java.util.Comparator;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.PriorityQueue;

/**
 * The rows of a query that cannot be shown as they come: the first ones in its order, or its groups, with a text of each that the
 * caller gives. Holds at most {@link #MOST} rows or groups and counts what it had no room for. One thread.
 */
public final class HeldRows {
    /** Bound of the rows and groups in memory. */
    static final int MOST = 1 << 17;

    /** A row with its text, and when it came. */
    private record Held(FlowRow row, String text, long number) {
    }

    private final FlowQuery query;
    private final int most;
    private final PriorityQueue<Held> first;
    private final Comparator<Held> order;
    private final Map<RowKey, RowGroup> groups = new HashMap<>();
    private long count;
    private long leftOut;
    private boolean isUnordered;

    /** Takes the result. */
    @FunctionalInterface
    public interface Taker {
        /** A row and its text; null for a group. */
        void onRow(FlowRow row, String text);
    }

    /** Nothing yet. */
    public HeldRows(final FlowQuery query) {
        this(query, MOST);
    }

    HeldRows(final FlowQuery query, final int most) {
        this.query = query;
        this.most = most;
        order = Comparator.comparing(Held::row, query.comparator()).thenComparingLong(Held::number);
        first = new PriorityQueue<>(order.reversed());
    }

    /** {@return whether a record is of those asked for} */
    public static boolean matches(final FlowQuery query, final FlowRow row) {
        return query.filter().matches(row.key()) && (query.grouping() != null || query.filter().isEnough(row));
    }

    /** Adds a record that matches. The text is what is printed for it; null if that is made of the row. */
    public void add(final FlowRow row, final String text) {
        if (query.grouping() == null) {
            hold(new Held(row, text, count++));
            return;
        }
        final RowKey key = query.grouping().of(row.key());
        final RowGroup group = groups.get(key);
        if (group != null) {
            group.add(row);
        } else if (groups.size() < most) {
            groups.computeIfAbsent(key, RowGroup::new).add(row);
        } else {
            leftOut++;
        }
    }

    private void hold(final Held held) {
        first.add(held);
        if (first.size() > (query.limit() > 0 ? Math.min(most, query.limit()) : most)) {
            first.remove();
            leftOut += query.limit() > 0 && query.limit() <= most ? 0 : 1;
        }
    }

    /** Gives the rows in order, and forgets them. */
    public void take(final Taker taker) {
        for (final RowGroup group : groups.values()) {
            final FlowRow row = group.row();
            if (query.filter().isEnough(row)) {
                hold(new Held(row, null, count++));
            }
        }
        final List<Held> rows = new ArrayList<>(first);
        rows.sort(order);
        isUnordered = query.order() != null && !rows.isEmpty() && Double.isNaN(query.order().of(rows.get(0).row()));
        first.clear();
        groups.clear();
        rows.forEach((held) -> taker.onRow(held.row(), held.text()));
    }

    /** {@return what there was no room for, and that no row taken has what they are sorted by, in words; empty if neither} */
    public String remark() {
        final String room = leftOut == 0 ? "" : leftOut + " records are left out: there is room for " + most +
            (query.grouping() == null ? " rows; --top asks for fewer" : " groups; ask for fewer by --group-by or a filter");
        return room + (room.isEmpty() || !isUnordered ? "" : "; ") + (!isUnordered ? "" :
            "no row has " + query.order().label() + query.order().need() + ": rows are sorted by packets");
    }
}
