package io.flowlag.tests.lab.report;

import io.flowlag.exporter.lab.Laboratory.Listing;

import java.util.ArrayList;
import java.util.List;
import java.util.Locale;
import java.util.stream.Collectors;

/** One self-contained page with every plot and table. One thread. */
public final class HtmlReport {
    private static final int ROWS_AT_MOST = 200;
    private static final String STYLE = """
        body { font: 15px/1.45 sans-serif; max-width: 1080px; margin: 2em auto; padding: 0 1em; color: #222 }
        table { border-collapse: collapse; margin: .8em 0; font-size: 13px } caption { text-align: left; font-weight: bold }
        th, td { border-bottom: 1px solid #ddd; padding: .2em .6em; text-align: right } th { background: #f3f3f3 }
        th:first-child, td:first-child { text-align: left } .wide { overflow-x: auto } svg { max-width: 100%; height: auto }
        h2 { border-top: 2px solid #888; padding-top: .6em; margin-top: 2em }
        """;

    /**
     * What ran.
     *
     * @param cpuSeconds what it took, with the plots.
     */
    public record Part(Listing listing, Results results, List<String> svgs, double cpuSeconds) {
        /** Copies the plots. */
        public Part {
            svgs = List.copyOf(svgs);
        }
    }

    private final List<Part> parts = new ArrayList<>();
    private final String command;
    private final Setup setup;

    /**
     * An empty report.
     *
     * @param command line that makes it again.
     * @param setup   size and seeds.
     */
    public HtmlReport(final String command, final Setup setup) {
        this.command = command;
        this.setup = setup;
    }

    /**
     * Adds the results of one experiment.
     *
     * @param part to show below those before it.
     */
    public void add(final Part part) {
        parts.add(part);
    }

    /**
     * The page.
     *
     * @param when it was made, as text.
     * @return HTML 5.
     */
    public String html(final String when, final String machine, final double elapsedSeconds) {
        final StringBuilder text = new StringBuilder("<!DOCTYPE html>\n<html lang=\"en\"><head><meta charset=\"utf-8\">")
            .append("<title>flowlag laboratory</title><style>\n").append(STYLE).append("</style></head><body>\n")
            .append("<h1>flowlag laboratory</h1>\n<p>");
        final double cpuSeconds = parts.stream().mapToDouble(Part::cpuSeconds).sum();
        text.append(escaped(String.format(Locale.ROOT,
            "Made by %s: scale %s, seeds 1 to %d unless a section says otherwise, %d experiments, %s, %.0f s elapsed, " +
            "%.0f s of CPU, %s.", command, setup.scale().name().toLowerCase(Locale.ROOT), setup.seeds(), parts.size(), when,
            elapsedSeconds, cpuSeconds, machine)));
        text.append(" Equal seeds give equal tables on every machine, but for those that say that they hold times.</p>\n");
        text.append("<h2>Paper and here</h2>\n<div class=\"wide\"><table><tr><th>experiment</th><th>figure</th><th>paper</th>")
            .append("<th>here</th><th>ratio</th></tr>\n");
        for (final Part part : parts) {
            for (final Comparison comparison : part.results().comparisons()) {
                row(text, "td", List.of("<a href=\"#" + part.listing().name() + "\">" + part.listing().name() + "</a>",
                    escaped(comparison.what()), Numbers.text(comparison.paper()), Numbers.text(comparison.here()),
                    Numbers.text(comparison.ratio())));
            }
        }
        text.append("</table></div>\n<h2>What took how long</h2>\n<div class=\"wide\"><table>")
            .append("<tr><th>experiment</th><th>source</th><th>CPU, s</th></tr>\n");
        parts.forEach(part -> row(text, "td", List.of(part.listing().name(), escaped(part.listing().source()),
            String.format(Locale.ROOT, "%.1f", part.cpuSeconds()))));
        text.append("</table></div>\n");
        parts.forEach(part -> section(text, part));
        return text.append("</body></html>\n").toString();
    }

    private static void section(final StringBuilder text, final Part part) {
        final Listing experiment = part.listing();
        text.append("<h2 id=\"").append(experiment.name()).append("\">").append(experiment.name()).append(" – ")
            .append(escaped(experiment.source())).append("</h2>\n<p>").append(escaped(experiment.purpose())).append("</p>\n");
        part.results().notes().forEach(note -> text.append("<p>").append(escaped(note)).append("</p>\n"));
        part.svgs().forEach(svg -> text.append("<div>").append(svg).append("</div>\n"));
        for (final Table table : part.results().tables()) {
            text.append("<div class=\"wide\"><table><caption>").append(escaped(table.title()))
                .append(table.isMeasured() ? " (times of this machine)" : "").append("</caption>\n");
            row(text, "th", table.columns().stream().map(HtmlReport::escaped).toList());
            table.rows().stream().limit(ROWS_AT_MOST)
                .forEach(cells -> row(text, "td", cells.stream().map(HtmlReport::cell).collect(Collectors.toList())));
            text.append("</table></div>\n");
            if (table.rows().size() > ROWS_AT_MOST) {
                text.append("<p>").append(table.rows().size() - ROWS_AT_MOST).append(" more rows are in the CSV file.</p>\n");
            }
        }
    }

    private static String cell(final Object value) {
        return value instanceof Double number ? Numbers.text(number) : escaped(String.valueOf(value));
    }

    private static void row(final StringBuilder text, final String tag, final List<String> cells) {
        text.append("<tr>");
        cells.forEach(cell -> text.append('<').append(tag).append('>').append(cell).append("</").append(tag).append('>'));
        text.append("</tr>\n");
    }

    private static String escaped(final String text) {
        return text.replace("&", "&amp;").replace("<", "&lt;").replace(">", "&gt;");
    }
}
