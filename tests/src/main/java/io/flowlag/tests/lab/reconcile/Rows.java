package io.flowlag.tests.lab.reconcile;

import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.Locale;

/**
 * Measurements of an experiment.
 *
 * @param title   names the figure and the setting.
 * @param columns names of the values of a row, with units.
 * @param rows    of values, as many as there are columns; NaN where there is none.
 */
public record Rows(String title, List<String> columns, List<double[]> rows) {
    static Rows of(final String title, final String... columns) {
        return new Rows(title, List.of(columns), new ArrayList<>());
    }

    void add(final double... values) {
        if (values.length != columns.size()) {
            throw new IllegalArgumentException(values.length + " values for " + columns.size() + " columns");
        }
        rows.add(values);
    }

    /** The values of a column, row by row. */
    public double[] column(final String name) {
        final int index = columns.indexOf(name);
        return rows.stream().mapToDouble(row -> row[index]).toArray();
    }

    /** As a page shows it. */
    public String markdown() {
        final StringBuilder text = new StringBuilder("**" + title + "**\n\n| " + String.join(" | ", columns) + " |\n|");
        columns.forEach(column -> text.append("---|"));
        for (final double[] row : rows) {
            text.append("\n| ").append(String.join(" | ", Arrays.stream(row).mapToObj(Rows::text).toList())).append(" |");
        }
        return text.append('\n').toString();
    }

    static double median(final double[] values) {
        final double[] sorted = values.clone();
        Arrays.sort(sorted);
        return (sorted[(sorted.length - 1) / 2] + sorted[sorted.length / 2]) / 2;
    }

    private static String text(final double value) {
        if (Double.isNaN(value)) {
            return "none";
        }
        return Math.rint(value) == value && Math.abs(value) < 1e9 ?
            String.valueOf((long)value) : String.format(Locale.ROOT, "%.2g", value);
    }
}
