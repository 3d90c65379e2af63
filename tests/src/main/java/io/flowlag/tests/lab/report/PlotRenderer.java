package io.flowlag.tests.lab.report;

import de.erichseifert.vectorgraphics2d.Document;
import de.erichseifert.vectorgraphics2d.VectorGraphics2D;
import de.erichseifert.vectorgraphics2d.svg.SVGProcessor;
import de.erichseifert.vectorgraphics2d.util.PageSize;
import org.knowm.xchart.XYChart;
import org.knowm.xchart.XYChartBuilder;
import org.knowm.xchart.XYSeries;
import org.knowm.xchart.style.Styler;
import org.knowm.xchart.style.lines.SeriesLines;
import org.knowm.xchart.style.markers.Marker;
import org.knowm.xchart.style.markers.SeriesMarkers;

import java.awt.BasicStroke;
import java.awt.Color;
import java.awt.Font;
import java.io.ByteArrayOutputStream;
import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.util.Arrays;
import java.util.List;
import java.util.Locale;
import java.util.regex.Pattern;
import java.util.stream.Collectors;
import java.util.stream.IntStream;

/** Draws plots as SVG, with XChart. Needs no display, but fonts. */
public final class PlotRenderer {
    private static final int WIDTH = 760;
    private static final int HEIGHT = 460;
    private static final int TICK_SPACING = 64;
    private static final int NAME_LENGTH = 44;
    /** Distinct with common kinds of colour blindness, after Okabe and Ito; the strokes tell the second round apart. */
    private static final Color[] COLOURS = {
        new Color(0x0072B2), new Color(0xD55E00), new Color(0x009E73), new Color(0xCC79A7), new Color(0x56B4E9),
        new Color(0xE69F00), new Color(0x000000), new Color(0x8C6D31)};
    private static final Marker[] MARKERS = {
        SeriesMarkers.CIRCLE, SeriesMarkers.SQUARE, SeriesMarkers.DIAMOND, SeriesMarkers.TRIANGLE_UP,
        SeriesMarkers.TRIANGLE_DOWN, SeriesMarkers.CROSS};

    private static final Pattern LONG_NUMBER = Pattern.compile("-?[0-9]+\\.[0-9]{3,}(E-?[0-9]+)?");

    private PlotRenderer() {
    }

    /**
     * Draws a plot. On logarithmic axes what is not above 0 is left out, as is what is absent.
     *
     * @param plot to draw.
     * @return an SVG document, from its svg element on; null if there is no point to draw.
     * @throws IOException if this machine cannot draw: Java's own drawing needs fontconfig and a font.
     */
    public static String svg(final Plot plot) throws IOException {
        System.setProperty("java.awt.headless", "true");
        try {
            return draw(plot);
        } catch (final LinkageError | InternalError | IllegalStateException | NullPointerException e) {
            throw new IOException("plots, for which Java needs fontconfig and a font such as fonts-dejavu-core: " + e, e);
        }
    }

    private static String draw(final Plot plot) throws IOException {
        final XYChart chart = chart(plot);
        if (chart.getSeriesMap().isEmpty()) {
            return null;
        }
        final VectorGraphics2D graphics = new VectorGraphics2D();
        chart.paint(graphics, WIDTH, HEIGHT);
        final Document document = new SVGProcessor().getDocument(
            graphics.getCommands(), new PageSize(0, 0, WIDTH, HEIGHT));
        final ByteArrayOutputStream out = new ByteArrayOutputStream();
        document.writeTo(out);
        final String text = out.toString(StandardCharsets.UTF_8);
        return withTitle(rounded(uniqueIds(text.substring(text.indexOf("<svg")), plot.name())), plot);
    }

    /** Letters are outlines, so that they look alike everywhere; this says in words what is shown. */
    private static String withTitle(final String svg, final Plot plot) {
        final int end = svg.indexOf('>') + 1;
        final String words = plot.title() + ": " + plot.yLabel() + " over " + plot.xLabel() + "; " +
            plot.series().stream().map(Plot.Series::name).collect(Collectors.joining(", "));
        return svg.substring(0, end) + "<title>" +
            words.replace("&", "&amp;").replace("<", "&lt;").replace(">", "&gt;") + "</title>" + svg.substring(end);
    }

    /** Coordinates to hundredths of a pixel: a quarter of the octets. */
    private static String rounded(final String svg) {
        return LONG_NUMBER.matcher(svg).replaceAll(match ->
            String.format(Locale.ROOT, "%.2f", Double.parseDouble(match.group())).replaceFirst("\\.?0+$", ""));
    }

    /** Several documents in one page must not share ids. */
    private static String uniqueIds(final String svg, final String name) {
        return svg.replaceAll("id=\"([^\"]+)\"", "id=\"" + name + "-$1\"").replaceAll("url\\(#", "url(#" + name + "-");
    }

    private static XYChart chart(final Plot plot) {
        final XYChart chart = new XYChartBuilder().width(WIDTH).height(HEIGHT).title(plot.title())
            .xAxisTitle(plot.xLabel()).yAxisTitle(plot.yLabel()).build();
        final Styler styler = chart.getStyler();
        styler.setChartTitleFont(new Font(Font.SANS_SERIF, Font.BOLD, 14));
        styler.setLegendFont(new Font(Font.SANS_SERIF, Font.PLAIN, 11));
        styler.setLegendPosition(Styler.LegendPosition.OutsideE);
        styler.setLegendBorderColor(Color.WHITE);
        styler.setChartBackgroundColor(Color.WHITE);
        styler.setPlotBorderVisible(false);
        // Dashes would be outlines of each dash, four fifths of the file.
        chart.getStyler().setPlotGridLinesStroke(new BasicStroke(0.5f));
        styler.setAntiAlias(true);
        chart.getStyler().setLocale(Locale.ROOT);
        chart.getStyler().setAxisTitleFont(new Font(Font.SANS_SERIF, Font.PLAIN, 12));
        chart.getStyler().setAxisTickLabelsFont(new Font(Font.SANS_SERIF, Font.PLAIN, 11));
        chart.getStyler().setXAxisLogarithmic(plot.isXLogarithmic());
        chart.getStyler().setYAxisLogarithmic(plot.isYLogarithmic());
        chart.getStyler().setMarkerSize(6);
        chart.getStyler().setDecimalPattern("0.######");
        chart.getStyler().setYAxisTickMarkSpacingHint(TICK_SPACING);
        if (!Double.isNaN(plot.yMinimum())) {
            chart.getStyler().setYAxisMin(plot.yMinimum()).setYAxisMax(plot.yMaximum());
        }
        final List<Plot.Series> all = plot.series();
        for (int i = 0; i < all.size(); i++) {
            add(chart, plot, all.get(i), i);
        }
        decades(chart, plot);
        return chart;
    }

    /** Logarithmic axes have labels at powers of ten only, so that they must begin and end there. */
    private static void decades(final XYChart chart, final Plot plot) {
        if (chart.getSeriesMap().isEmpty()) {
            return;
        }
        if (plot.isXLogarithmic()) {
            final double[] xs = chart.getSeriesMap().values().stream().flatMapToDouble(series ->
                Arrays.stream(series.getXData())).toArray();
            chart.getStyler().setXAxisMin(decade(xs, false)).setXAxisMax(decade(xs, true));
        }
        if (plot.isYLogarithmic()) {
            final double[] ys = chart.getSeriesMap().values().stream().flatMapToDouble(series ->
                Arrays.stream(series.getYData())).toArray();
            chart.getStyler().setYAxisMin(decade(ys, false)).setYAxisMax(decade(ys, true));
        }
    }

    private static double decade(final double[] values, final boolean isUpper) {
        final double least = Math.floor(Math.log10(Arrays.stream(values).min().orElseThrow()));
        final double most = Math.ceil(Math.log10(Arrays.stream(values).max().orElseThrow()));
        return Math.pow(10, isUpper ? Math.max(most, least + 1) : least);
    }

    private static void add(final XYChart chart, final Plot plot, final Plot.Series series, final int index) {
        final int[] shown = IntStream.range(0, series.xs().length).filter(i ->
            isShown(series.xs()[i], plot.isXLogarithmic()) && isShown(series.ys()[i], plot.isYLogarithmic())).toArray();
        if (shown.length == 0) {
            return;
        }
        final String name = series.name().length() > NAME_LENGTH ? series.name().substring(0, NAME_LENGTH) : series.name();
        final XYSeries added = chart.addSeries(name, Arrays.stream(shown).mapToDouble(i -> series.xs()[i]).toArray(),
            Arrays.stream(shown).mapToDouble(i -> series.ys()[i]).toArray());
        final Color colour = COLOURS[index % COLOURS.length];
        added.setLineColor(colour);
        added.setMarkerColor(colour);
        added.setMarker(series.style() == Plot.Style.LINE ? SeriesMarkers.NONE : MARKERS[index % MARKERS.length]);
        added.setLineStyle(stroke(series.style(), index / COLOURS.length));
        added.setLineWidth(1.8f);
        if (series.style() == Plot.Style.POINTS) {
            added.setXYSeriesRenderStyle(XYSeries.XYSeriesRenderStyle.Scatter);
        }
    }

    private static BasicStroke stroke(final Plot.Style style, final int round) {
        if (style == Plot.Style.POINTS) {
            return SeriesLines.NONE;
        }
        return round == 0 ? SeriesLines.SOLID : SeriesLines.DASH_DASH;
    }

    private static boolean isShown(final double value, final boolean isLogarithmic) {
        return Double.isFinite(value) && (!isLogarithmic || value > 0);
    }
}
