package io.flowlag.ipfix.collect;

import io.flowlag.ipfix.transport.Endpoint;

import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.net.URI;
import java.net.URISyntaxException;
import java.net.UnknownHostException;
import java.util.Locale;

/**
 * An address to receive on. Immutable.
 *
 * @param kind {@link SessionKind#UDP}, {@link SessionKind#TCP} or {@link SessionKind#TLS}.
 * @param host name or address; an IPv6 address without brackets.
 * @param port 0 for any.
 */
public record ListenAddress(SessionKind kind, String host, int port) {
    /** The default of {@code collect}. */
    public static final ListenAddress DEFAULT = new ListenAddress(SessionKind.UDP, "127.0.0.1", Endpoint.IPFIX_PORT);

    private static final int MAX_PORT = 65535;

    /** Checks the address. */
    public ListenAddress {
        if (kind == SessionKind.FILE) {
            throw new IllegalArgumentException("a file is not an address to receive on");
        }
        if (port < 0 || port > MAX_PORT) {
            throw new IllegalArgumentException("port=" + port + " is outside 0 to " + MAX_PORT);
        }
    }

    /**
     * The address that a URI names.
     *
     * @param text {@code udp://HOST:PORT}, {@code tcp://HOST:PORT} or {@code tls://HOST:PORT}; without port, 4739, or 4740 for
     *             TLS.
     * @throws IllegalArgumentException if the text is something else; the message says what is expected.
     */
    public static ListenAddress parse(final String text) {
        final String expected =
            text + " is not an address to receive on: write udp://HOST:PORT, tcp://HOST:PORT or tls://HOST:PORT";
        try {
            final URI uri = new URI(text);
            if (uri.getScheme() == null || uri.getHost() == null || !uri.getRawPath().isEmpty() || uri.getRawQuery() != null) {
                throw new IllegalArgumentException(expected);
            }
            final SessionKind kind = switch (uri.getScheme().toLowerCase(Locale.ROOT)) {
                case "udp" -> SessionKind.UDP;
                case "tcp" -> SessionKind.TCP;
                case "tls" -> SessionKind.TLS;
                default -> throw new IllegalArgumentException(expected);
            };
            final int defaultPort = kind == SessionKind.TLS ? Endpoint.IPFIX_TLS_PORT : Endpoint.IPFIX_PORT;
            final String host = uri.getHost().replaceAll("^\\[|]$", "");
            return new ListenAddress(kind, host, uri.getPort() < 0 ? defaultPort : uri.getPort());
        } catch (final URISyntaxException ex) {
            throw new IllegalArgumentException(expected, ex);
        }
    }

    /**
     * Looks the host up.
     *
     * @throws UnknownHostException if there is none of that name.
     */
    public InetSocketAddress resolve() throws UnknownHostException {
        return new InetSocketAddress(InetAddress.getByName(host), port);
    }

    @Override
    public String toString() {
        return kind.name().toLowerCase(Locale.ROOT) + "://" + (host.indexOf(':') < 0 ? host : '[' + host + ']') + ':' + port;
    }
}
