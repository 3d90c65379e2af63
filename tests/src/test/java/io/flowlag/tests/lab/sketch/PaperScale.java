package io.flowlag.tests.lab.sketch;

import java.util.Arrays;
import java.util.Locale;

/**
 * Whether an experiment runs at the paper's size or at a twentieth of it: {@code -Dflowlag.scale=paper}. At the paper's size the
 * figures are printed as rows of a table.
 */
enum PaperScale {
    SMALL(7_300, 3),
    PAPER(146_000, 10);

    private static final int PAPER_FLOWS = 146_000;

    final int flows;
    final int seeds;

    PaperScale(final int flows, final int seeds) {
        this.flows = flows;
        this.seeds = seeds;
    }

    static PaperScale ofThisRun() {
        return "paper".equals(System.getProperty("flowlag.scale")) ? PAPER : SMALL;
    }

    /** As many cells for each flow as the paper has. */
    int columns(final int paperColumns) {
        return (int)((long)paperColumns * flows / PAPER_FLOWS);
    }

    void header(final String... columns) {
        row(columns);
        row(Arrays.stream(columns).map(column -> "---").toArray(String[]::new));
    }

    void row(final String... columns) {
        if (PAPER == this) {
            System.out.println("| " + String.join(" | ", columns) + " |");
        }
    }

    static String percent(final double share) {
        return share >= 0.1 ? String.format(Locale.ROOT, "%.1f %%", 100 * share) :
            String.format(Locale.ROOT, "%.2g %%", 100 * share).replaceAll("(\\.\\d*?)0+ %", "$1 %").replace(". %", " %");
    }

    static String ratio(final double ratio) {
        return String.format(Locale.ROOT, "%.2f", ratio);
    }

    static double median(final double[] values) {
        final double[] sorted = values.clone();
        Arrays.sort(sorted);
        return (sorted[(sorted.length - 1) / 2] + sorted[sorted.length / 2]) / 2;
    }
}
