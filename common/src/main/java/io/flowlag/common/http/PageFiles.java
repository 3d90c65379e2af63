package io.flowlag.common.http;

import java.io.IOException;
import java.io.InputStream;
import java.io.UncheckedIOException;
import java.nio.charset.StandardCharsets;
import java.util.HashMap;
import java.util.List;
import java.util.Map;

/**
 * Pages, and the scripts and styles that they load, from the class path. Pages have neither inline: their security policy allows
 * those of the same server alone. Stateless.
 */
public final class PageFiles {
    /** Where libraries of the web are on the class path. */
    public static final String LIBRARIES = "/META-INF/resources/webjars/";
    private static final Map<String, String> SHARED = Map.of(
        "/common.css", "common.css", "/common.js", "common.js", "/plot.js", "plot.js",
        "/uplot.css", LIBRARIES + "uplot/1.6.30/dist/uPlot.min.css",
        "/uplot.js", LIBRARIES + "uplot/1.6.30/dist/uPlot.iife.min.js");

    private PageFiles() {
    }

    /**
     * Reads what pages load.
     *
     * @param owner beside which the scripts and styles are.
     * @param own   their names.
     * @return answers by path: these, and what all pages share.
     */
    public static Map<String, HttpResponse> of(final Class<?> owner, final List<String> own) {
        final Map<String, HttpResponse> files = new HashMap<>();
        SHARED.keySet().forEach((path) -> files.put(path, file(path, shared(path))));
        own.forEach((name) -> files.put("/" + name, file(name, text(owner, name))));
        return files;
    }

    /** {@return the text of what all pages share, by its path} */
    public static String shared(final String path) {
        return text(PageFiles.class, SHARED.get(path));
    }

    /** {@return a script or style, by the end of its name} */
    public static HttpResponse file(final String name, final String text) {
        return HttpResponse.of(200, name.endsWith(".css") ? "text/css; charset=utf-8" : "text/javascript; charset=utf-8", text);
    }

    /** {@return a page, beside its owner} */
    public static HttpResponse page(final Class<?> owner, final String resource) {
        return HttpResponse.of(200, "text/html; charset=utf-8", text(owner, resource)).with("Content-Security-Policy",
            "default-src 'none'; style-src 'self'; script-src 'self'; connect-src 'self'; base-uri 'none'; form-action 'none'; " +
            "frame-ancestors 'none'");
    }

    /** {@return the text of a resource beside its owner, or at an absolute path} */
    public static String text(final Class<?> owner, final String resource) {
        try (InputStream stream = owner.getResourceAsStream(resource)) {
            if (stream == null) {
                throw new IllegalStateException(resource + ": is not on the class path: build again");
            }
            return new String(stream.readAllBytes(), StandardCharsets.UTF_8);
        } catch (final IOException ex) {
            throw new UncheckedIOException(ex);
        }
    }
}
