package io.flowlag.tests.lab.report;

import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;

/** A plot: axes with units and series of points. {@link PlotRenderer} draws it. One thread. */
public final class Plot {
    /** How points are shown. */
    public enum Style {
        /** Joined. */
        LINE,
        /** Joined, each marked. */
        MARKED_LINE,
        /** Marked alone. */
        POINTS
    }

    /** Points of one name. */
    record Series(String name, double[] xs, double[] ys, Style style) {
    }

    private final String name;
    private final String title;
    private final List<Series> series = new ArrayList<>();
    private String xLabel = "";
    private String yLabel = "";
    private boolean isXLogarithmic;
    private boolean isYLogarithmic;
    private double yMinimum = Double.NaN;
    private double yMaximum = Double.NaN;

    /**
     * An empty plot.
     *
     * @param name part of the file's name.
     */
    public Plot(final String name, final String title) {
        this.name = name;
        this.title = title;
    }

    /**
     * A distribution: relative errors, in per cent, on a logarithmic axis; shares of flows on the other.
     *
     * @param name part of the file's name.
     */
    public static Plot errorDistribution(final String name, final String title) {
        return new Plot(name, title).x("relative error of a flow's mean delay, %", true).y("share of flows", false).between(0, 1);
    }

    /**
     * The horizontal axis.
     *
     * @param label         with its unit.
     * @param isLogarithmic or linear.
     */
    public Plot x(final String label, final boolean isLogarithmic) {
        xLabel = label;
        isXLogarithmic = isLogarithmic;
        return this;
    }

    /**
     * The vertical axis.
     *
     * @param label         with its unit.
     * @param isLogarithmic or linear.
     */
    public Plot y(final String label, final boolean isLogarithmic) {
        yLabel = label;
        isYLogarithmic = isLogarithmic;
        return this;
    }

    /**
     * The range of the vertical axis.
     *
     * @param least lowest value shown.
     * @param most  highest value shown.
     */
    public Plot between(final double least, final double most) {
        yMinimum = least;
        yMaximum = most;
        return this;
    }

    /**
     * Adds points.
     *
     * @param ys vertical places, as many.
     */
    public Plot add(final String label, final Style style, final double[] xs, final double[] ys) {
        if (xs.length != ys.length) {
            throw new IllegalArgumentException(name + ": " + xs.length + " and " + ys.length + " numbers");
        }
        series.add(new Series(label, xs.clone(), ys.clone(), style));
        return this;
    }

    /**
     * Adds a distribution.
     *
     * @param values in any order; what is absent is left out.
     * @param factor that values are shown times.
     */
    public Plot addDistribution(final String label, final double[] values, final double factor) {
        final double[] xs = Arrays.stream(Numbers.percentiles(values)).map(value -> value * factor).toArray();
        return add(label, Style.LINE, xs, Numbers.shares());
    }

    /** {@return part of the file's name} */
    public String name() {
        return name;
    }

    /** {@return what is above it} */
    public String title() {
        return title;
    }

    String xLabel() {
        return xLabel;
    }

    String yLabel() {
        return yLabel;
    }

    boolean isXLogarithmic() {
        return isXLogarithmic;
    }

    boolean isYLogarithmic() {
        return isYLogarithmic;
    }

    double yMinimum() {
        return yMinimum;
    }

    double yMaximum() {
        return yMaximum;
    }

    List<Series> series() {
        return List.copyOf(series);
    }
}
