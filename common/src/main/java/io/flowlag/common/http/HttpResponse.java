package io.flowlag.common.http;

import org.eclipse.jetty.http.HttpHeader;
import org.eclipse.jetty.http.HttpStatus;
import org.eclipse.jetty.server.Response;
import org.eclipse.jetty.util.Callback;

import java.nio.ByteBuffer;
import java.nio.charset.StandardCharsets;
import java.util.LinkedHashMap;
import java.util.Map;

/**
 * A response; the connection is closed after it. Immutable.
 *
 * @param status  such as 200.
 * @param headers besides {@link #COMMON_HEADERS}.
 */
public record HttpResponse(int status, Map<String, String> headers, byte[] body) {
    /** For responses that are not pages: forbids loading and framing. */
    private static final String NOTHING_POLICY = "default-src 'none'; frame-ancestors 'none'";
    private static final Map<String, String> COMMON_HEADERS = Map.of(
        "Content-Security-Policy", NOTHING_POLICY, "X-Content-Type-Options", "nosniff", "X-Frame-Options", "DENY",
        "Referrer-Policy", "no-referrer", "Cross-Origin-Resource-Policy", "same-origin", "Cache-Control", "no-store",
        "Connection", "close");

    /** A response of one type. */
    public static HttpResponse of(final int status, final String type, final String body) {
        return new HttpResponse(status, Map.of("Content-Type", type), body.getBytes(StandardCharsets.UTF_8));
    }

    /** One line of text. */
    public static HttpResponse plain(final int status, final String line) {
        return of(status, "text/plain; charset=utf-8", line + "\n");
    }

    /** Without a body of its own. */
    public static HttpResponse refusal(final int status) {
        return plain(status, status + " " + HttpStatus.getMessage(status));
    }

    /** {@return the same with another header} */
    public HttpResponse with(final String name, final String value) {
        final Map<String, String> more = new LinkedHashMap<>(headers);
        more.put(name, value);
        return new HttpResponse(status, more, body);
    }

    void write(final Response response, final Callback callback) {
        response.setStatus(status);
        COMMON_HEADERS.forEach(response.getHeaders()::put);
        headers.forEach(response.getHeaders()::put);
        response.getHeaders().put(HttpHeader.CONTENT_LENGTH, body.length);
        response.write(true, ByteBuffer.wrap(body), callback);
    }
}
