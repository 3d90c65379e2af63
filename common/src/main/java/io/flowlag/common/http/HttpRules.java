package io.flowlag.common.http;

import org.eclipse.jetty.http.HttpHeader;
import org.eclipse.jetty.http.HttpMethod;
import org.eclipse.jetty.server.Request;

import java.net.InetSocketAddress;
import java.util.Locale;
import java.util.Objects;
import java.util.Optional;
import java.util.Set;

/**
 * What a read-only server refuses before it looks further: long targets, unknown paths, methods other than GET and HEAD. On
 * loopback it accepts only loopback host names, which prevents DNS rebinding. Immutable.
 */
public final class HttpRules {
    private static final int MAXIMUM_TARGET_CHARS = 1024;

    private final boolean isLoopback;
    private final String host;
    private final Set<String> paths;

    /**
     * Rules of one server.
     *
     * @param address that it listens on.
     * @param host    the name that it was configured with.
     * @param paths   that it serves.
     */
    public HttpRules(final InetSocketAddress address, final String host, final Set<String> paths) {
        isLoopback = address.getAddress().isLoopbackAddress();
        this.host = host.toLowerCase(Locale.ROOT);
        this.paths = Set.copyOf(paths);
    }

    /** {@return the refusal of a request that breaks a rule} */
    public Optional<HttpResponse> refusal(final Request request) {
        if (request.getHttpURI().getPathQuery().length() > MAXIMUM_TARGET_CHARS) {
            return Optional.of(HttpResponse.refusal(414));
        }
        if (isLoopback && !isHostOfLoopback(header(request, HttpHeader.HOST))) {
            return Optional.of(HttpResponse.refusal(421));
        }
        if (!paths.contains(request.getHttpURI().getPath())) {
            return Optional.of(HttpResponse.refusal(404));
        }
        if (!HttpMethod.GET.is(request.getMethod()) && !HttpMethod.HEAD.is(request.getMethod())) {
            return Optional.of(HttpResponse.refusal(405).with("Allow", "GET, HEAD"));
        }
        return Optional.empty();
    }

    /** {@return a header of a request, empty if it has none} */
    public static String header(final Request request, final HttpHeader name) {
        return Objects.requireNonNullElse(request.getHeaders().get(name), "");
    }

    /** An address, localhost, or the configured name. */
    private boolean isHostOfLoopback(final String written) {
        final String name = written.toLowerCase(Locale.ROOT).replaceFirst(":[0-9]*$", "");
        return name.isEmpty() || "localhost".equals(name) || name.equals(host) || name.startsWith("[") ||
            name.matches("[0-9]+(\\.[0-9]+){3}");
    }
}
