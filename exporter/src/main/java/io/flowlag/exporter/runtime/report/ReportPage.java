package io.flowlag.exporter.runtime.report;

import com.fasterxml.jackson.core.JsonProcessingException;
import io.flowlag.common.http.PageFiles;
import io.flowlag.exporter.monitoring.StatusServer;
import io.flowlag.exporter.status.StatisticsWriter;
import io.flowlag.exporter.terminal.OutputFiles;
import io.flowlag.exporter.terminal.Terminal;

import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Path;
import java.security.MessageDigest;
import java.security.NoSuchAlgorithmException;
import java.util.Base64;
import java.util.LinkedHashMap;
import java.util.Locale;
import java.util.Map;

/**
 * The page of a report: one file with its data, style and scripts, which loads nothing. Its policy allows these alone, by their
 * digests, and no connection. Stateless.
 */
public final class ReportPage {
    /** The bounds, in words. */
    public static final String BOUNDS = "at most " + (ReportContents.MOST_FLOWS + ReportContents.MOST_FLOWS / 4) + " flows of " +
        FlowHistories.MOST_POINTS + " points, " + ReportContents.MOST_GROUPS + " groups, " + ReportSeries.MOST_STEPS +
        " steps of time in " + ReportSeries.MOST_CLASSES + " classes";

    private ReportPage() {
    }

    /**
     * Writes the page, as a whole, and says so.
     *
     * @param about what stands on it in addition to the contents, by name.
     * @param file  {@code -} is standard output.
     * @throws io.flowlag.common.command.ExitException if it cannot be written.
     */
    public static void write(
        final Map<String, Object> about, final ReportContents contents, final Path file, final Terminal terminal) {
        final Map<String, Object> data = new LinkedHashMap<>(about);
        data.putAll(contents.take());
        data.put("bounds", BOUNDS);
        final byte[] page = page(data).getBytes(StandardCharsets.UTF_8);
        try {
            if (OutputFiles.STANDARD_OUTPUT.equals(file.toString())) {
                terminal.out().write(page, 0, page.length);
                return;
            }
            StatisticsWriter.write(page, file);
        } catch (final IOException ex) {
            throw OutputFiles.failure("the report", file, ex);
        }
        terminal.message(String.format(Locale.ROOT, "flowlag: wrote %s (%,d octets)", file, page.length));
    }

    private static String page(final Map<String, Object> data) {
        final String plain = data.remove(ReportContents.PLAIN) + "\n" + data.get("printed");
        final String style = PageFiles.shared("/common.css") + PageFiles.shared("/uplot.css") +
            PageFiles.text(StatusServer.class, "status.css") + PageFiles.text(ReportPage.class, "report.css");
        final String script = PageFiles.shared("/uplot.js") + PageFiles.shared("/common.js") + PageFiles.shared("/plot.js") +
            PageFiles.text(StatusServer.class, "charts.js") + PageFiles.text(ReportPage.class, "report.js");
        try {
            return PageFiles.text(ReportPage.class, "report.html").replace("/* style */", style).replace("/* script */", script)
                .replace("/* policy */", "default-src 'none'; style-src " + digest(style) + "; script-src " + digest(script) +
                "; base-uri 'none'; form-action 'none'")
                .replace("/* plain */", plain.replace("&", "&amp;").replace("<", "&lt;"))
                .replace("/* data */", StatisticsWriter.mapper().writeValueAsString(data).replace("<", "\\u003c"));
        } catch (final JsonProcessingException ex) {
            throw new IllegalStateException(ex);
        }
    }

    private static String digest(final String text) {
        try {
            return "'sha256-" + Base64.getEncoder().encodeToString(
                MessageDigest.getInstance("SHA-256").digest(text.getBytes(StandardCharsets.UTF_8))) + "'";
        } catch (final NoSuchAlgorithmException ex) {
            throw new IllegalStateException(ex);
        }
    }
}
