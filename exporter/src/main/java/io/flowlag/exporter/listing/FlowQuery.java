package io.flowlag.exporter.listing;

import java.util.Comparator;
import java.util.EnumSet;
import java.util.Set;

/**
 * Which rows are shown: those that pass the filter, in groups or not, in an order, and so many of them. Immutable.
 *
 * @param grouping null for a row a record.
 * @param order    null for the order of the records; groups are then in order of their mean.
 * @param isRising whether the smallest come first.
 * @param limit    of the rows; 0 for none.
 */
public record FlowQuery(RowFilter filter, Grouping grouping, SortKey order, boolean isRising, int limit) {
    /** Every record, as it comes. */
    public static final FlowQuery ALL = new FlowQuery(RowFilter.ALL, null, null, false, 0);

    private static final String RISING = ":a";
    private static final String FALLING = ":d";

    /** {@return the same with another filter} */
    public FlowQuery with(final RowFilter other) {
        return new FlowQuery(other, grouping, order, isRising, limit);
    }

    /** {@return the same in groups} */
    public FlowQuery by(final Grouping other) {
        return new FlowQuery(filter, other, order, isRising, limit);
    }

    /** {@return the same in an order, such as {@code mean} or {@code mean:a}} Throws {@link IllegalArgumentException}. */
    public FlowQuery sorted(final String text) {
        final boolean hasDirection = text.endsWith(RISING) || text.endsWith(FALLING);
        final String name = hasDirection ? text.substring(0, text.length() - RISING.length()) : text;
        return sorted(SortKey.parse(name), text.endsWith(RISING));
    }

    /** {@return the same in an order} */
    public FlowQuery sorted(final SortKey key, final boolean rises) {
        return new FlowQuery(filter, grouping, key, rises, limit);
    }

    /** {@return the same with at most so many rows} */
    public FlowQuery first(final int count) {
        return new FlowQuery(filter, grouping, order, isRising, count);
    }

    /** {@return whether rows can be shown as they come} */
    public boolean isImmediate() {
        return grouping == null && order == null && limit == 0;
    }

    /** {@return the values by which rows are chosen or sorted} */
    public Set<SortKey> keys() {
        final Set<SortKey> keys = EnumSet.noneOf(SortKey.class);
        keys.addAll(filter.least().keySet());
        if (order != null) {
            keys.add(order);
        }
        return keys;
    }

    /** {@return the order of rows: unknown values last, then those with most packets first} */
    public Comparator<FlowRow> comparator() {
        final SortKey key = order == null ? SortKey.MEAN : order;
        final int sign = isRising ? -1 : 1;
        final Comparator<FlowRow> byValue = (one, other) -> {
            final double first = key.of(one);
            final double second = key.of(other);
            return Double.isNaN(first) || Double.isNaN(second) ? Boolean.compare(Double.isNaN(first), Double.isNaN(second)) :
                sign * Double.compare(second, first);
        };
        return byValue.thenComparing((row) -> row.traffic().packets(), Comparator.nullsLast(Comparator.reverseOrder()));
    }

    /** {@return what the rows are sorted by, in words} */
    public String orderText() {
        return (order == null ? SortKey.MEAN : order).label() + (isRising ? ", the smallest first" : "");
    }
}
