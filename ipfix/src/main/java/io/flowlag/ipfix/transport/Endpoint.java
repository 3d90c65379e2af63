package io.flowlag.ipfix.transport;

import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.net.UnknownHostException;
import java.util.Arrays;
import java.util.List;
import java.util.regex.Pattern;

/**
 * A host, by name or by address, and a port. Immutable, safe to share between threads.
 *
 * @param host a name, an IPv4 address or an IPv6 address without brackets.
 * @param port 1 to 65535.
 */
public record Endpoint(String host, int port) {
    /** The port of IPFIX over UDP, TCP and SCTP (RFC 7011 section 10.1). */
    public static final int IPFIX_PORT = 4739;
    /** The port of IPFIX over TLS and DTLS (RFC 7011 section 10.1). */
    public static final int IPFIX_TLS_PORT = 4740;

    private static final Pattern IPV4_ADDRESS = Pattern.compile("[0-9]+(\\.[0-9]+){3}");

    /** Checks host and port. */
    public Endpoint {
        if (host.isBlank()) {
            throw new IllegalArgumentException("host is empty");
        }
        if (port < 1 || port > 65535) {
            throw new IllegalArgumentException("port=" + port + " is outside 1 to 65535");
        }
    }

    /** {@return whether the host is an address, so that resolving it needs no lookup} */
    public boolean isAddress() {
        return host.indexOf(':') >= 0 || IPV4_ADDRESS.matcher(host).matches();
    }

    /**
     * The present addresses of the host, in the order to try them. Blocks during a name server query, unless {@link
     * #isAddress()}.
     *
     * @return address and port, at least one.
     * @throws UnknownHostException if the host has no address.
     */
    public List<InetSocketAddress> resolve() throws UnknownHostException {
        return Arrays.stream(InetAddress.getAllByName(host)).map((address) -> new InetSocketAddress(address, port)).toList();
    }

    @Override
    public String toString() {
        return host.indexOf(':') >= 0 ? "[" + host + "]:" + port : host + ":" + port;
    }
}
