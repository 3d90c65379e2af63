package io.flowlag.tests.support;

import java.net.InetAddress;
import java.net.UnknownHostException;

/** One notation for addresses that different witnesses write differently. */
public final class Addresses {
    private Addresses() {
    }

    /**
     * An address as {@link InetAddress} writes it, with IPv4-mapped IPv6 addresses kept apart from IPv4.
     *
     * @param text an address, never a name.
     * @return its one notation.
     */
    public static String canonical(final String text) {
        final boolean ipv6 = text.indexOf(':') >= 0;
        if (!ipv6 && !text.matches("[0-9.]+")) {
            throw new IllegalArgumentException("no address: " + text);
        }
        try {
            final InetAddress address = InetAddress.getByName(text);
            return ipv6 && address.getAddress().length == 4 ? "::ffff:" + address.getHostAddress() : address.getHostAddress();
        } catch (final UnknownHostException ex) {
            throw new IllegalArgumentException("no address: " + text, ex);
        }
    }

    /**
     * The notation of an address in octets.
     *
     * @param octets 4 or 16.
     * @return its one notation.
     */
    public static String of(final byte[] octets) {
        try {
            final InetAddress address = InetAddress.getByAddress(octets);
            final boolean mapped = octets.length == 16 && address.getAddress().length == 4;
            return mapped ? "::ffff:" + address.getHostAddress() : address.getHostAddress();
        } catch (final UnknownHostException ex) {
            throw new IllegalArgumentException("address of " + octets.length + " octets", ex);
        }
    }
}
