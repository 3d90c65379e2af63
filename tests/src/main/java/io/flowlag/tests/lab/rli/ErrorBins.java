package io.flowlag.tests.lab.rli;

import io.flowlag.tests.lab.report.Numbers;
import io.flowlag.tests.lab.report.Table;

import java.util.ArrayList;
import java.util.List;

/** Errors of flows of several runs, sorted into bins by something of the flow. */
final class ErrorBins {
    private final double[] bounds;
    private final List<List<double[]>> bins = new ArrayList<>();

    /** One bin from each bound to the next. */
    ErrorBins(final double... bounds) {
        this.bounds = bounds;
        for (int i = 0; i + 1 < bounds.length; i++) {
            bins.add(new ArrayList<>());
        }
    }

    void add(final double key, final double relativeError, final double absoluteErrorUs) {
        for (int bin = 0; bin < bins.size(); bin++) {
            if (key >= bounds[bin] && key < bounds[bin + 1]) {
                bins.get(bin).add(new double[] {relativeError, absoluteErrorUs});
            }
        }
    }

    /** The centres of the bins that hold flows, for a plot with a logarithmic axis; the last bin is where it begins. */
    double[] centres() {
        return filled().stream().mapToDouble(bin -> bin + 1 == bins.size() ? bounds[bin] :
            Math.sqrt(Math.max(bounds[bin], bounds[bin + 1] / 4) * bounds[bin + 1])).toArray();
    }

    double[] meansPercent() {
        return filled().stream().mapToDouble(bin -> 100 * Numbers.mean(column(bin, 0))).toArray();
    }

    /** The mean error of all flows from a bound on, per cent. */
    double meanPercentFrom(final double bound) {
        double sum = 0;
        int count = 0;
        for (int bin = 0; bin < bins.size(); bin++) {
            if (bounds[bin] >= bound) {
                sum += bins.get(bin).stream().mapToDouble(error -> error[0]).sum();
                count += bins.get(bin).size();
            }
        }
        return 100 * sum / count;
    }

    /** A row for each bin that holds flows: the first cell, from, to, flows, mean %, median %, median µs. */
    void rows(final Table table, final Object first) {
        for (final int bin : filled()) {
            table.row(first, bounds[bin], bin + 1 == bins.size() ? Double.NaN : bounds[bin + 1], bins.get(bin).size(),
                100 * Numbers.mean(column(bin, 0)), 100 * Numbers.median(column(bin, 0)), Numbers.median(column(bin, 1)));
        }
    }

    private List<Integer> filled() {
        final List<Integer> filled = new ArrayList<>();
        for (int bin = 0; bin < bins.size(); bin++) {
            if (!bins.get(bin).isEmpty()) {
                filled.add(bin);
            }
        }
        return filled;
    }

    private double[] column(final int bin, final int index) {
        return bins.get(bin).stream().mapToDouble(error -> error[index]).toArray();
    }
}
