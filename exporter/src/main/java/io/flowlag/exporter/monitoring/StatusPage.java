package io.flowlag.exporter.monitoring;

import java.io.IOException;
import java.io.InputStream;
import java.io.UncheckedIOException;
import java.nio.charset.StandardCharsets;
import java.security.MessageDigest;
import java.security.NoSuchAlgorithmException;
import java.util.Base64;

/**
 * The status page: one resource with inline style and script. The security policy allows only these, by their digests. Immutable.
 */
final class StatusPage {
    private static final String RESOURCE = "status.html";

    private final HttpResponse response;

    StatusPage() {
        final String page = read();
        response = HttpResponse.of(200, "text/html; charset=utf-8", page).with("Content-Security-Policy",
            "default-src 'none'; style-src " + digest(page, "style") + "; script-src " + digest(page, "script") +
            "; connect-src 'self'; base-uri 'none'; form-action 'none'; frame-ancestors 'none'");
    }

    HttpResponse response() {
        return response;
    }

    private static String read() {
        try (InputStream stream = StatusPage.class.getResourceAsStream(RESOURCE)) {
            return new String(stream.readAllBytes(), StandardCharsets.UTF_8);
        } catch (final IOException ex) {
            throw new UncheckedIOException(ex);
        }
    }

    private static String digest(final String page, final String element) {
        final String begin = "<" + element + ">";
        final String content = page.substring(page.indexOf(begin) + begin.length(), page.indexOf("</" + element + ">"));
        try {
            final byte[] digest =
                MessageDigest.getInstance("SHA-256").digest(content.getBytes(StandardCharsets.UTF_8));
            return "'sha256-" + Base64.getEncoder().encodeToString(digest) + "'";
        } catch (final NoSuchAlgorithmException ex) {
            throw new IllegalStateException(ex);
        }
    }
}
