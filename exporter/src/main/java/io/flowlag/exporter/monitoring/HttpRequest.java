package io.flowlag.exporter.monitoring;

import java.nio.charset.StandardCharsets;
import java.util.HashMap;
import java.util.Locale;
import java.util.Map;

/**
 * The head of an HTTP/1.x request (RFC 9112), verified; a body is neither needed nor read. Immutable.
 *
 * @param method  such as GET.
 * @param path    of the target, without its query.
 * @param headers by name in lower case; of several with one name the first.
 */
record HttpRequest(String method, String path, Map<String, String> headers) {
    /** Octets of a head at most. */
    static final int MAXIMUM_BYTES = 8192;
    private static final int MAXIMUM_TARGET_CHARS = 1024;
    private static final String TOKEN_MARKS = "!#$%&'*+-.^_`|~";

    /** What came of reading a head. */
    enum Verdict {
        /** More octets are needed. */
        INCOMPLETE(0),
        /** The head is in order. */
        ACCEPTED(200),
        /** It is no HTTP. */
        MALFORMED(400),
        /** Its target is too long. */
        TARGET_TOO_LONG(414),
        /** It is too long. */
        TOO_LONG(431),
        /** It is of another version. */
        VERSION(505);

        private final int status;

        Verdict(final int status) {
            this.status = status;
        }

        int status() {
            return status;
        }
    }

    /**
     * What came of it.
     *
     * @param verdict on the octets.
     * @param request null unless accepted.
     */
    record Parsed(Verdict verdict, HttpRequest request) {
    }

    static Parsed parse(final byte[] octets, final int length) {
        if (length > 0 && (octets[0] < 'A' || octets[0] > 'Z')) {
            return new Parsed(Verdict.MALFORMED, null);
        }
        final String text = new String(octets, 0, length, StandardCharsets.ISO_8859_1);
        final int end = text.indexOf("\r\n\r\n");
        if (end < 0) {
            return new Parsed(length >= MAXIMUM_BYTES ? tooLong(text) : Verdict.INCOMPLETE, null);
        }
        final String[] lines = text.substring(0, end).split("\r\n", -1);
        final String[] words = lines[0].split(" ", -1);
        if (words.length != 3 || !isToken(words[0]) || !words[1].startsWith("/") || !isVisible(words[1])) {
            return new Parsed(Verdict.MALFORMED, null);
        }
        if (words[1].length() > MAXIMUM_TARGET_CHARS) {
            return new Parsed(Verdict.TARGET_TOO_LONG, null);
        }
        if (!"HTTP/1.1".equals(words[2]) && !"HTTP/1.0".equals(words[2])) {
            return new Parsed(words[2].startsWith("HTTP/") ? Verdict.VERSION : Verdict.MALFORMED, null);
        }
        final Map<String, String> headers = new HashMap<>();
        int hosts = 0;
        for (int i = 1; i < lines.length; i++) {
            final int colon = lines[i].indexOf(':');
            if (colon <= 0 || !isToken(lines[i].substring(0, colon)) || !isFieldValue(lines[i])) {
                return new Parsed(Verdict.MALFORMED, null);
            }
            final String name = lines[i].substring(0, colon).toLowerCase(Locale.ROOT);
            hosts += "host".equals(name) ? 1 : 0;
            headers.putIfAbsent(name, lines[i].substring(colon + 1).strip());
        }
        if (hosts > 1 || hosts == 0 && "HTTP/1.1".equals(words[2])) {
            return new Parsed(Verdict.MALFORMED, null);
        }
        final int query = words[1].indexOf('?');
        return new Parsed(Verdict.ACCEPTED, new HttpRequest(
            words[0], query < 0 ? words[1] : words[1].substring(0, query), Map.copyOf(headers)));
    }

    private static Verdict tooLong(final String text) {
        return text.contains("\r\n") ? Verdict.TOO_LONG : Verdict.TARGET_TOO_LONG;
    }

    private static boolean isToken(final String text) {
        return !text.isEmpty() && text.chars().allMatch((each) ->
            each >= 'a' && each <= 'z' || each >= 'A' && each <= 'Z' || each >= '0' && each <= '9' ||
            TOKEN_MARKS.indexOf(each) >= 0);
    }

    private static boolean isVisible(final String text) {
        return text.chars().allMatch((each) -> each > ' ' && each < 0x7F);
    }

    private static boolean isFieldValue(final String text) {
        return text.chars().allMatch((each) -> each == '\t' || each >= ' ' && each != 0x7F);
    }

    String header(final String name) {
        return headers.getOrDefault(name, "");
    }
}
