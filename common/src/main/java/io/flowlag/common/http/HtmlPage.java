package io.flowlag.common.http;

import java.io.IOException;
import java.io.InputStream;
import java.io.UncheckedIOException;
import java.nio.charset.StandardCharsets;
import java.security.MessageDigest;
import java.security.NoSuchAlgorithmException;
import java.util.Base64;

/**
 * A page: one resource, which may have inline style and script. The security policy allows only these, by their digests, and
 * what the page may have beside them. {@link #COMMON} in a style is replaced by what all pages share. Immutable.
 */
public final class HtmlPage {
    /** Stands for {@link #commonStyle}. */
    static final String COMMON = "/* common.css */";
    /** Nothing but the page's own script and style. */
    public static final String NOTHING = "";
    /** Scripts and styles of the same server. */
    public static final String SAME_SERVER = " 'self'";

    private final HttpResponse response;

    /**
     * Reads a page.
     *
     * @param owner    beside which the resource is.
     * @param resource its name.
     * @param besides  {@link #NOTHING} or {@link #SAME_SERVER}.
     */
    public HtmlPage(final Class<?> owner, final String resource, final String besides) {
        final String page = read(owner, resource).replace(COMMON, commonStyle());
        response = HttpResponse.of(200, "text/html; charset=utf-8", page).with("Content-Security-Policy",
            "default-src 'none'; style-src " + digest(page, "style") + besides + "; script-src " + digest(page, "script") +
            besides + "; connect-src 'self'; base-uri 'none'; form-action 'none'; frame-ancestors 'none'");
    }

    /** {@return the page} */
    public HttpResponse response() {
        return response;
    }

    /** {@return colours and elements that look alike on all pages} */
    public static String commonStyle() {
        return read(HtmlPage.class, "common.css");
    }

    private static String read(final Class<?> owner, final String resource) {
        try (InputStream stream = owner.getResourceAsStream(resource)) {
            return new String(stream.readAllBytes(), StandardCharsets.UTF_8);
        } catch (final IOException ex) {
            throw new UncheckedIOException(ex);
        }
    }

    private static String digest(final String page, final String element) {
        final String begin = "<" + element + ">";
        final int start = page.indexOf(begin) + begin.length();
        if (start < begin.length()) {
            return ""; // it has none
        }
        final String content = page.substring(start, page.indexOf("</" + element + ">", start));
        try {
            final byte[] digest =
                MessageDigest.getInstance("SHA-256").digest(content.getBytes(StandardCharsets.UTF_8));
            return "'sha256-" + Base64.getEncoder().encodeToString(digest) + "'";
        } catch (final NoSuchAlgorithmException ex) {
            throw new IllegalStateException(ex);
        }
    }
}
