package io.flowlag.common.config;

import java.net.Inet4Address;
import java.net.InetAddress;
import java.net.UnknownHostException;
import java.nio.ByteBuffer;
import java.util.regex.Pattern;

/**
 * An address prefix: {@code 192.0.2.0/24}, {@code 2001:db8::/32}, or a single address. Immutable.
 *
 * @param high       first eight octets of the address; 0 for IPv4.
 * @param low        last eight octets; for IPv4 the address.
 * @param lengthBits of the prefix: 0 to 32, or 0 to 128.
 */
public record Prefix(boolean isIpv6, long high, long low, int lengthBits) {
    /** Only characters of addresses, so that no name is looked up. */
    private static final String OCTET = "([01]?[0-9]{1,2}|2[0-4][0-9]|25[0-5])";
    /** Rejects texts that could be host names, which would be resolved. */
    private static final Pattern LITERAL = Pattern.compile(OCTET + "(\\." + OCTET + "){3}|[0-9A-Fa-f]*:[0-9A-Fa-f:.]*");
    private static final int IPV4_BITS = 32;
    private static final int IPV6_BITS = 128;
    /** Start of the last eight octets of an IPv4-mapped IPv6 address (RFC 4291 section 2.5.5.2). */
    private static final long IPV4_MAPPED = 0xFFFFL << 32;

    /**
     * Whether an address lies in the prefix.
     *
     * @param addressHigh its first eight octets; 0 for IPv4.
     * @param addressLow  its last eight octets; for IPv4 the address.
     */
    public boolean contains(final boolean isOfIpv6, final long addressHigh, final long addressLow) {
        if (isOfIpv6 != isIpv6) {
            return false;
        }
        if (!isIpv6) {
            return lengthBits == 0 || (addressLow ^ low) >>> (IPV4_BITS - lengthBits) == 0;
        }
        if (lengthBits <= Long.SIZE) {
            return lengthBits == 0 || (addressHigh ^ high) >>> (Long.SIZE - lengthBits) == 0;
        }
        return addressHigh == high && (addressLow ^ low) >>> (IPV6_BITS - lengthBits) == 0;
    }

    /** {@return whether it is an IPv6 prefix of IPv4-mapped addresses} */
    public boolean isIpv4Mapped() {
        return isIpv6 && high == 0 && (low & -1L << IPV4_BITS) == IPV4_MAPPED;
    }

    /** {@return whether an address lies in both} */
    public boolean overlaps(final Prefix other) {
        return lengthBits <= other.lengthBits ? contains(other.isIpv6, other.high, other.low) :
            other.contains(isIpv6, high, low);
    }

    /** {@return the first eight octets of its mask; 0 for IPv4} */
    public long highMask() {
        return mask(isIpv6 ? lengthBits : 0);
    }

    /** {@return the last eight octets of its mask; for IPv4 of the address} */
    public long lowMask() {
        return mask(isIpv6 ? lengthBits - Long.SIZE : lengthBits + IPV4_BITS);
    }

    /** {@return the same prefix with zeros behind its length, so that equal prefixes are equal records} */
    public Prefix network() {
        return new Prefix(isIpv6, high & highMask(), low & lowMask(), lengthBits);
    }

    private static long mask(final int bits) {
        return bits <= 0 ? 0 : -1L << Math.max(0, Long.SIZE - bits);
    }

    /**
     * Parses a prefix; an address is a prefix of full length.
     *
     * @param text as 192.0.2.0/24 or 2001:db8::/32.
     * @throws IllegalArgumentException if it is invalid; the message continues the text.
     */
    public static Prefix of(final String text) {
        try {
            return parse(text);
        } catch (final BadValueException ex) {
            throw new IllegalArgumentException(ex.getMessage(), ex);
        }
    }

    /** The same for a value of a configuration. */
    public static Prefix parse(final String text) throws BadValueException {
        final int slash = text.indexOf('/');
        final String address = slash < 0 ? text : text.substring(0, slash);
        if (!LITERAL.matcher(address).matches()) {
            throw new BadValueException("is no prefix: write an address and a length, as 192.0.2.0/24 or 2001:db8::/32");
        }
        final InetAddress parsed;
        try {
            parsed = InetAddress.getByName(address);
        } catch (final UnknownHostException ex) {
            throw new BadValueException("is no prefix: '" + address + "' is no address");
        }
        final boolean isIpv6 = address.indexOf(':') >= 0;
        final int maximumBits = isIpv6 ? IPV6_BITS : IPV4_BITS;
        final String length = slash < 0 ? Integer.toString(maximumBits) : text.substring(slash + 1);
        if (!length.matches("[0-9]{1,3}") || Integer.parseInt(length) > maximumBits) {
            throw new BadValueException("has no length of 0 to " + maximumBits + " behind the slash");
        }
        final ByteBuffer octets = ByteBuffer.wrap(parsed.getAddress());
        if (parsed instanceof Inet4Address) { // IPv4-mapped addresses too
            return new Prefix(isIpv6, 0, (isIpv6 ? IPV4_MAPPED : 0) | octets.getInt(0) & 0xFFFF_FFFFL, Integer.parseInt(length));
        }
        return new Prefix(true, octets.getLong(0), octets.getLong(8), Integer.parseInt(length));
    }
}
