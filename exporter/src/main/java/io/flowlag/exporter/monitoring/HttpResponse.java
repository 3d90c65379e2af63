package io.flowlag.exporter.monitoring;

import java.nio.charset.StandardCharsets;
import java.util.LinkedHashMap;
import java.util.Map;

/**
 * An answer; the connection is closed behind it. Immutable.
 *
 * @param status  such as 200.
 * @param headers besides those that every answer has.
 * @param body    of the answer.
 */
record HttpResponse(int status, Map<String, String> headers, byte[] body) {
    /** For what is no page: nothing may be loaded or framed. */
    private static final String NOTHING_POLICY = "default-src 'none'; frame-ancestors 'none'";
    private static final Map<Integer, String> REASONS = Map.of(
        200, "OK", 400, "Bad Request", 404, "Not Found", 405, "Method Not Allowed", 414, "URI Too Long",
        421, "Misdirected Request", 431, "Request Header Fields Too Large", 500, "Internal Server Error",
        503, "Service Unavailable", 505, "HTTP Version Not Supported");

    static HttpResponse of(final int status, final String type, final String body) {
        return new HttpResponse(status, Map.of("Content-Type", type), body.getBytes(StandardCharsets.UTF_8));
    }

    static HttpResponse plain(final int status, final String line) {
        return of(status, "text/plain; charset=utf-8", line + "\n");
    }

    /** Without a body of its own. */
    static HttpResponse refusal(final int status) {
        return plain(status, status + " " + REASONS.get(status));
    }

    HttpResponse with(final String name, final String value) {
        final Map<String, String> more = new LinkedHashMap<>(headers);
        more.put(name, value);
        return new HttpResponse(status, more, body);
    }

    /** {@return the octets to send} */
    byte[] octets(final boolean withBody) {
        final Map<String, String> all = new LinkedHashMap<>();
        all.put("Content-Security-Policy", NOTHING_POLICY);
        all.put("X-Content-Type-Options", "nosniff");
        all.put("X-Frame-Options", "DENY");
        all.put("Referrer-Policy", "no-referrer");
        all.put("Cross-Origin-Resource-Policy", "same-origin");
        all.put("Cache-Control", "no-store");
        all.putAll(headers);
        final StringBuilder head = new StringBuilder("HTTP/1.1 ").append(status).append(' ').append(REASONS.get(status));
        all.forEach((name, value) -> head.append("\r\n").append(name).append(": ").append(value));
        head.append("\r\nContent-Length: ").append(body.length).append("\r\nConnection: close\r\n\r\n");
        final byte[] headOctets = head.toString().getBytes(StandardCharsets.ISO_8859_1);
        final byte[] octets = new byte[headOctets.length + (withBody ? body.length : 0)];
        System.arraycopy(headOctets, 0, octets, 0, headOctets.length);
        if (withBody) {
            System.arraycopy(body, 0, octets, headOctets.length, body.length);
        }
        return octets;
    }
}
