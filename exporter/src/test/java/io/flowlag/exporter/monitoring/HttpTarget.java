package io.flowlag.exporter.monitoring;

import io.flowlag.exporter.fuzz.Corpus;
import io.flowlag.exporter.fuzz.FuzzTarget;

import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.List;
import java.util.stream.Stream;

/** Heads of HTTP requests, as the metrics port reads them. */
public final class HttpTarget implements FuzzTarget {
    /** A target. */
    public HttpTarget() {
    }

    @Override
    public List<byte[]> seeds() {
        final List<byte[]> seeds = new ArrayList<>(Corpus.of("http"));
        Stream.of("GET /metrics HTTP/1.1\r\nHost: localhost:9471\r\nAccept: text/plain\r\n\r\n",
            "GET / HTTP/1.0\r\n\r\n", "HEAD /healthz?x=1 HTTP/1.1\r\nhost: [::1]:9471\r\nOrigin: http://a\r\n\r\n",
            "POST /flows HTTP/1.1\r\nHost: a\r\nContent-Length: 3\r\n\r\nabc", "GET http://a/ HTTP/2.0\r\n\r\n")
            .forEach((each) -> seeds.add(each.getBytes(StandardCharsets.ISO_8859_1)));
        return seeds;
    }

    @Override
    public List<byte[]> dictionary() {
        return Stream.of("\r\n\r\n", "\r\n", "HTTP/1.1", "Host: ", " ", ":", "GET ", "\0").map(String::getBytes).toList();
    }

    @Override
    public long take(final byte[] octets, final int length) {
        final HttpRequest.Parsed parsed = HttpRequest.parse(octets, length);
        if ((parsed.verdict() == HttpRequest.Verdict.ACCEPTED) != (parsed.request() != null)) {
            throw new AssertionError(parsed.toString());
        }
        if (parsed.request() == null) {
            return parsed.verdict().ordinal();
        }
        if (!parsed.request().path().startsWith("/") || parsed.request().path().indexOf('?') >= 0) {
            throw new AssertionError(parsed.request().path());
        }
        return 100 + parsed.request().method().length() + 10L * parsed.request().headers().size();
    }

    @Override
    public int maxInputBytes() {
        return HttpRequest.MAXIMUM_BYTES;
    }

    @Override
    public long allocationBoundBytes() {
        return 8L << 20;
    }
}
