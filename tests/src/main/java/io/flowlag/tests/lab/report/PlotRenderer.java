package io.flowlag.tests.lab.report;

import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.Locale;
import java.util.stream.Collectors;
import java.util.stream.IntStream;

/** Draws plots as SVG, with text as text. Has no state. */
public final class PlotRenderer {
    private static final int WIDTH = 760;
    private static final int HEIGHT = 460;
    private static final int LEFT = 76;
    private static final int TOP = 34;
    private static final int BOTTOM = HEIGHT - 48;
    private static final int NAME_LENGTH = 44;
    private static final double LETTER_WIDTH = 6.2;
    private static final int LEGEND_MARGIN = 44;
    private static final int LEGEND_STEP = 18;
    private static final int TICKS = 6;
    /** Distinct with common kinds of colour blindness, after Okabe and Ito; dashes tell the second round apart. */
    private static final String[] COLOURS =
        {"#0072b2", "#d55e00", "#009e73", "#cc79a7", "#56b4e9", "#e69f00", "#000000", "#8c6d31"};
    /** Circle, square, diamond, triangles, cross; relative to the point. */
    private static final String[] MARKERS = {
        "m-3,0a3,3 0 1,0 6,0a3,3 0 1,0 -6,0z", "m-3,-3h6v6h-6z", "m0,-4l4,4l-4,4l-4,-4z",
        "m0,-4l4,7h-8z", "m0,4l4,-7h-8z", "m-3,-3l6,6m0,-6l-6,6"};

    /** An axis between two pixels. */
    private record Axis(double least, double most, boolean isLogarithmic, double leastPx, double mostPx) {
        static Axis of(final double[] values, final boolean isLogarithmic, final double leastPx, final double mostPx) {
            final double least = Arrays.stream(values).min().orElseThrow();
            final double most = Arrays.stream(values).max().orElseThrow();
            if (isLogarithmic) {
                final double first = Math.floor(Math.log10(least));
                return new Axis(first, Math.max(Math.ceil(Math.log10(most)), first + 1), true, leastPx, mostPx);
            }
            final double step = step(most > least ? most - least : Math.max(1, Math.abs(most)));
            final double first = Math.floor(least / step) * step;
            return new Axis(first, Math.max(Math.ceil(most / step) * step, first + step), false, leastPx, mostPx);
        }

        /** 1, 2 or 5 times a power of ten. */
        private static double step(final double range) {
            final double power = Math.pow(10, Math.floor(Math.log10(range / TICKS)));
            final double ratio = range / TICKS / power;
            return power * (ratio <= 1 ? 1 : ratio <= 2 ? 2 : ratio <= 5 ? 5 : 10);
        }

        double px(final double value) {
            final double place = isLogarithmic ? Math.log10(value) : value;
            return leastPx + (place - least) / (most - least) * (mostPx - leastPx);
        }

        double[] ticks() {
            final double step = isLogarithmic ? Math.max(1, Math.ceil((most - least) / (2 * TICKS))) : step(most - least);
            return IntStream.rangeClosed(0, (int)Math.floor((most - least) / step + 1e-9))
                .mapToDouble(i -> isLogarithmic ? Math.pow(10, least + i * step) : least + i * step).toArray();
        }
    }

    private PlotRenderer() {
    }

    /**
     * Draws a plot. On logarithmic axes what is not above 0 is left out, as is what is absent. Returns an SVG document, from its
     * svg element on; null if there is no point to draw.
     */
    public static String svg(final Plot plot) {
        final List<Plot.Series> all = plot.series().stream().map(series -> shown(plot, series)).toList();
        final double[] xs = all.stream().flatMapToDouble(series -> Arrays.stream(series.xs())).toArray();
        final double[] ys = Double.isNaN(plot.yMinimum()) ?
            all.stream().flatMapToDouble(series -> Arrays.stream(series.ys())).toArray() :
            new double[] {plot.yMinimum(), plot.yMaximum()};
        if (xs.length == 0) {
            return null;
        }
        final int longest = all.stream().mapToInt(series -> series.name().length()).max().orElseThrow();
        final int right = WIDTH - LEGEND_MARGIN - (int)(LETTER_WIDTH * longest);
        final Axis x = Axis.of(xs, plot.isXLogarithmic(), LEFT, right);
        final Axis y = Axis.of(ys, plot.isYLogarithmic(), BOTTOM, TOP);
        final StringBuilder svg = new StringBuilder(String.format(Locale.ROOT,
            "<svg xmlns=\"http://www.w3.org/2000/svg\" width=\"%d\" height=\"%d\" viewBox=\"0 0 %1$d %2$d\" " +
            "font-family=\"sans-serif\" font-size=\"11\"><title>%s</title>\n" +
            "<rect width=\"%1$d\" height=\"%2$d\" fill=\"#fff\"/>\n",
            WIDTH, HEIGHT, escaped(plot.title() + ": " + plot.yLabel() + " over " + plot.xLabel() + "; " +
            all.stream().map(Plot.Series::name).collect(Collectors.joining(", ")))));
        axes(svg, plot, x, y);
        // A document of its own cuts off what lies outside, and needs no id that two plots of a page could share.
        final StringBuilder inside = new StringBuilder();
        for (int i = 0; i < all.size(); i++) {
            series(svg, inside, all.get(i), i, x, y);
        }
        return svg.append(String.format(Locale.ROOT,
            "<svg x=\"%d\" y=\"%d\" width=\"%d\" height=\"%d\" viewBox=\"%1$d %2$d %3$d %4$d\">",
            LEFT - 4, TOP - 4, right - LEFT + 8, BOTTOM - TOP + 8)).append(inside).append("</svg>\n</svg>\n").toString();
    }

    private static Plot.Series shown(final Plot plot, final Plot.Series series) {
        final int[] shown = IntStream.range(0, series.xs().length).filter(i ->
            isShown(series.xs()[i], plot.isXLogarithmic()) && isShown(series.ys()[i], plot.isYLogarithmic())).toArray();
        return new Plot.Series(series.name().substring(0, Math.min(series.name().length(), NAME_LENGTH)),
            Arrays.stream(shown).mapToDouble(i -> series.xs()[i]).toArray(),
            Arrays.stream(shown).mapToDouble(i -> series.ys()[i]).toArray(), series.style());
    }

    private static boolean isShown(final double value, final boolean isLogarithmic) {
        return Double.isFinite(value) && (!isLogarithmic || value > 0);
    }

    private static void axes(final StringBuilder svg, final Plot plot, final Axis x, final Axis y) {
        final StringBuilder grid = new StringBuilder();
        final double middle = (x.leastPx() + x.mostPx()) / 2;
        text(svg, middle, TOP - 14, "middle\" font-size=\"14\" font-weight=\"bold", plot.title());
        for (final double tick : x.ticks()) {
            grid.append('M').append(px(x.px(tick))).append(',').append(TOP).append('V').append(BOTTOM);
            text(svg, x.px(tick), BOTTOM + 16, "middle", number(tick));
        }
        for (final double tick : y.ticks()) {
            grid.append('M').append(LEFT).append(',').append(px(y.px(tick))).append('H').append(px(x.mostPx()));
            text(svg, LEFT - 6, y.px(tick) + 4, "end", number(tick));
        }
        svg.append("<path d=\"").append(grid).append("\" stroke=\"#ccc\" stroke-width=\"0.5\"/>\n");
        text(svg, middle, HEIGHT - 12, "middle\" font-size=\"12", plot.xLabel());
        text(svg, -(TOP + BOTTOM) / 2.0, 16, "middle\" font-size=\"12\" transform=\"rotate(-90)", plot.yLabel());
    }

    /** The series inside the axes, and its line of the legend. */
    private static void series(
        final StringBuilder svg, final StringBuilder inside, final Plot.Series series, final int index, final Axis x,
        final Axis y) {
        if (series.xs().length == 0) {
            return;
        }
        final double legendX = x.mostPx() + 14;
        final double legendY = TOP + 8 + LEGEND_STEP * index;
        final List<String> points = new ArrayList<>();
        for (int i = 0; i < series.xs().length; i++) {
            points.add(px(x.px(series.xs()[i])) + "," + px(y.px(series.ys()[i])));
        }
        final String colour = COLOURS[index % COLOURS.length];
        if (series.style() != Plot.Style.POINTS) {
            final String line = " stroke=\"" + colour + "\" fill=\"none\" stroke-width=\"1.8\"" +
                (index < COLOURS.length ? "" : " stroke-dasharray=\"6 3\"");
            path(inside, "M" + String.join("L", points), line);
            path(svg, "M" + px(legendX) + "," + px(legendY) + "h20", line);
        }
        if (series.style() != Plot.Style.LINE) {
            final String marker = MARKERS[index % MARKERS.length];
            final String look = " stroke=\"" + colour + "\" fill=\"" + colour + "\"";
            path(inside, points.stream().map(point -> "M" + point + marker).collect(Collectors.joining()), look);
            path(svg, "M" + px(legendX + 10) + "," + px(legendY) + marker, look);
        }
        text(svg, legendX + 26, legendY + 4, "start", series.name());
    }

    private static void path(final StringBuilder svg, final String data, final String attributes) {
        svg.append("<path d=\"").append(data).append('"').append(attributes).append("/>\n");
    }

    private static void text(
        final StringBuilder svg, final double x, final double y, final String anchor, final String words) {
        svg.append("<text x=\"").append(px(x)).append("\" y=\"").append(px(y)).append("\" text-anchor=\"").append(anchor)
            .append("\">").append(escaped(words)).append("</text>\n");
    }

    private static String px(final double value) {
        return trimmed(String.format(Locale.ROOT, "%.1f", value));
    }

    private static String number(final double value) {
        final double magnitude = Math.abs(value);
        return magnitude >= 1e7 || magnitude > 0 && magnitude < 1e-4 ?
            String.format(Locale.ROOT, "%.0e", value) : trimmed(String.format(Locale.ROOT, "%.6f", value));
    }

    private static String trimmed(final String number) {
        return number.replaceFirst("\\.?0+$", "");
    }

    private static String escaped(final String words) {
        return words.replace("&", "&amp;").replace("<", "&lt;").replace(">", "&gt;");
    }
}
