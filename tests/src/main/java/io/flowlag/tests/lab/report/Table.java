package io.flowlag.tests.lab.report;

import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.Locale;

/** A table of an experiment: a CSV file, and a part of the report. One thread. */
public final class Table {
    private final String name;
    private final String title;
    private final boolean isMeasured;
    private final List<String> columns;
    private final List<List<Object>> rows = new ArrayList<>();

    Table(final String name, final String title, final boolean isMeasured, final List<String> columns) {
        this.name = name;
        this.title = title;
        this.isMeasured = isMeasured;
        this.columns = List.copyOf(columns);
    }

    /**
     * Adds a row.
     *
     * @param cells texts and numbers, one for each column; NaN is absent.
     */
    public Table row(final Object... cells) {
        if (cells.length != columns.size()) {
            throw new IllegalArgumentException(name + ": " + cells.length + " cells for " + columns.size() + " columns");
        }
        rows.add(List.copyOf(Arrays.asList(cells)));
        return this;
    }

    /** {@return part of the file's name} */
    public String name() {
        return name;
    }

    /** {@return what it shows} */
    public String title() {
        return title;
    }

    /** {@return whether it holds times of this machine, which no seed repeats} */
    public boolean isMeasured() {
        return isMeasured;
    }

    /** {@return the columns' names, with units} */
    public List<String> columns() {
        return columns;
    }

    /** {@return the rows} */
    public List<List<Object>> rows() {
        return List.copyOf(rows);
    }

    /**
     * A number of the first row that begins so.
     *
     * @param first the first cells of the row.
     * @throws IllegalArgumentException if there is no such row or column.
     */
    public double number(final String column, final Object... first) {
        final int index = columns.indexOf(column);
        if (index < 0) {
            throw new IllegalArgumentException(name + ": no column " + column + " in " + columns);
        }
        return rows.stream().filter(row -> begins(row, first)).findFirst().map(row -> ((Number) row.get(index)).doubleValue())
            .orElseThrow(() -> new IllegalArgumentException(name + ": no row " + Arrays.toString(first)));
    }

    /**
     * Whether a row begins so.
     *
     * @param first the first cells of the row.
     * @return true if there is one.
     */
    public boolean has(final Object... first) {
        return rows.stream().anyMatch(row -> begins(row, first));
    }

    private static boolean begins(final List<Object> row, final Object... first) {
        return row.subList(0, first.length).equals(Arrays.asList(first));
    }

    /** {@return the table as CSV (RFC 4180, but lines end in LF): numbers with seven significant digits, absent ones empty} */
    public String csv() {
        final StringBuilder text = new StringBuilder();
        line(text, columns);
        rows.forEach(row -> line(text, row));
        return text.toString();
    }

    private static void line(final StringBuilder text, final List<?> cells) {
        for (int i = 0; i < cells.size(); i++) {
            text.append(i == 0 ? "" : ",").append(cell(cells.get(i)));
        }
        text.append('\n');
    }

    private static String cell(final Object value) {
        if (value instanceof Double number) {
            return Double.isNaN(number) ? "" : String.format(Locale.ROOT, "%.7g", number);
        }
        final String text = String.valueOf(value);
        return text.contains(",") || text.contains("\"") ? '"' + text.replace("\"", "\"\"") + '"' : text;
    }
}
