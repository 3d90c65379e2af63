package io.flowlag.tests.lab.reconcile;

import io.flowlag.tests.lab.report.Plot;
import io.flowlag.tests.lab.report.Results;
import io.flowlag.tests.lab.report.Setup;
import io.flowlag.tests.lab.report.Table;

import java.util.Arrays;

/** Passes measurements to the laboratory. */
final class ReconcileResults {
    private static final double THOUSAND = 1000;

    private ReconcileResults() {
    }

    /** {@return the share of the paper's size} */
    static double scale(final Setup setup, final int testThousandths, final int smallThousandths) {
        return setup.size(testThousandths, smallThousandths, (int)THOUSAND) / THOUSAND;
    }

    /** Adds a table; one that holds times is not the same from run to run. */
    static void add(final Results results, final String name, final Rows from, final boolean isMeasured) {
        final String[] columns = from.columns().toArray(new String[0]);
        final Table table =
            isMeasured ? results.measured(name, from.title(), columns) : results.table(name, from.title(), columns);
        for (final double[] row : from.rows()) {
            table.row(Arrays.stream(row).boxed().toArray());
        }
    }

    /** Adds a line for each column but the first, where it is above 0. */
    static void plot(final Results results, final String name, final Rows from, final String y) {
        final Plot plot = new Plot(name, from.title()).x(from.columns().get(0), false).y(y, true);
        final double[] xs = from.column(from.columns().get(0));
        for (final String column : from.columns().subList(1, from.columns().size())) {
            plot.add(column, Plot.Style.MARKED_LINE, xs,
                Arrays.stream(from.column(column)).map((value) -> value > 0 ? value : Double.NaN).toArray());
        }
        results.plot(plot);
    }

    /** {@return the value of a column in the row whose first value is nearest} */
    static double near(final Rows table, final String column, final double first) {
        final double[] xs = table.column(table.columns().get(0));
        int best = 0;
        for (int row = 1; row < xs.length; row++) {
            best = Math.abs(xs[row] - first) < Math.abs(xs[best] - first) ? row : best;
        }
        return table.column(column)[best];
    }
}
