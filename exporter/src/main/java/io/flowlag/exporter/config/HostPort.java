package io.flowlag.exporter.config;

import io.flowlag.common.config.BadValueException;
import io.flowlag.common.config.Prefix;

import java.util.List;
import java.util.regex.Matcher;
import java.util.regex.Pattern;

/**
 * A host, a name or an address without brackets, and a port from 1, written {@code HOST:PORT}, an IPv6 address in brackets.
 * Immutable.
 */
public record HostPort(String host, int port) {
    /** Default port of the exchange's receiver. */
    public static final int EXCHANGE_PORT = 8621;

    /** All addresses of this host. */
    public static final String EVERYWHERE = "0.0.0.0";

    /** Default host. */
    public static final String LOOPBACK = "127.0.0.1";

    private static final Pattern WRITTEN =
        Pattern.compile("(?:(?:\\[([0-9A-Fa-f:.]*:[0-9A-Fa-f:.]*)\\]|([A-Za-z0-9]([A-Za-z0-9._-]*[A-Za-z0-9])?)):)?([0-9]{1,5})");
    private static final int MAXIMUM_PORT = 65_535;
    private static final List<Prefix> LOOPBACKS = List.of(Prefix.of("127.0.0.0/8"), Prefix.of("::1"));

    static HostPort parse(final String text, final boolean isHostNeeded) throws BadValueException {
        final Matcher matcher = WRITTEN.matcher(text);
        if (!matcher.matches()) {
            throw new BadValueException("is no host and port: write HOST:PORT, an IPv6 address in brackets");
        }
        final int port = Integer.parseInt(matcher.group(4));
        if (port < 1 || port > MAXIMUM_PORT) {
            throw new BadValueException("has a port that is not within 1 and 65535");
        }
        final String host = matcher.group(1) != null ? matcher.group(1) : matcher.group(2);
        if (host == null && isHostNeeded) {
            throw new BadValueException("names no host: write HOST:" + port);
        }
        return new HostPort(host == null ? LOOPBACK : host, port);
    }

    /** Whether a process that listens at one of both cannot listen at the other; names may be of any address. */
    boolean meets(final HostPort other) {
        return port == other.port && (host.equals(other.host) || !isOneAddress() || !other.isOneAddress());
    }

    private boolean isOneAddress() {
        return !EVERYWHERE.equals(host) && !"::".equals(host) && (host.contains(":") || host.matches("[0-9.]+"));
    }

    /** Whether the host is an address outside loopback; false for a name, which is not resolved here. */
    boolean isAddressBeyondLoopback() {
        return isAddressBeyondLoopback(host, false);
    }

    /** {@return whether an address is outside loopback; a name gives the argument} */
    static boolean isAddressBeyondLoopback(final String host, final boolean ofName) {
        try {
            final Prefix address = Prefix.parse(host);
            return LOOPBACKS.stream().noneMatch(address::overlaps);
        } catch (final BadValueException ex) {
            return ofName;
        }
    }

    @Override
    public String toString() {
        return (host.contains(":") ? "[" + host + "]" : host) + ":" + port;
    }
}
