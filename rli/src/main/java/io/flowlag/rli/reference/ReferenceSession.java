package io.flowlag.rli.reference;

import java.util.List;

/**
 * A session of reference packets as both ends are configured: one sender and one traffic class. Immutable except for the keys,
 * which are copied when used.
 *
 * @param ssid            STAMP session identifier, 1 to 65535.
 * @param keys            of the HMAC: the one that packets are sent with, then any that are accepted too; empty for an
 *                        unauthenticated session.
 * @param isSourceChecked whether the source address must be the one given.
 * @param sourceHigh      first eight octets of the source address; 0 for IPv4.
 * @param sourceLow       last eight octets; for IPv4 the address.
 */
public record ReferenceSession(int ssid, List<byte[]> keys, boolean isSourceChecked, long sourceHigh, long sourceLow) {
    private static final int MAXIMUM_SSID = 0xFFFF;

    /** Checks the session identifier. */
    public ReferenceSession {
        if (ssid < 1 || ssid > MAXIMUM_SSID) {
            throw new IllegalArgumentException("ssid=" + ssid + " is not in 1 to " + MAXIMUM_SSID);
        }
    }

    /** A session without authentication, from any address; identifiers are 1 to 65535. */
    public static ReferenceSession unauthenticated(final int ssid) {
        return new ReferenceSession(ssid, List.of(), false, 0, 0);
    }

    /**
     * A session with authentication, from any address.
     *
     * @param ssid 1 to 65535.
     * @param key  of at least 16 octets.
     */
    public static ReferenceSession authenticated(final int ssid, final byte[] key) {
        return new ReferenceSession(ssid, List.of(key), false, 0, 0);
    }

    /** The same session with other keys. */
    public ReferenceSession withKeys(final List<byte[]> others) {
        return new ReferenceSession(ssid, others, isSourceChecked, sourceHigh, sourceLow);
    }

    /**
     * The same session from one address only.
     *
     * @param high first eight octets of the address; 0 for IPv4.
     * @param low  last eight octets; for IPv4 the address.
     */
    public ReferenceSession from(final long high, final long low) {
        return new ReferenceSession(ssid, keys, true, high, low);
    }

    /** {@return true if packets carry an HMAC} */
    public boolean isAuthenticated() {
        return !keys.isEmpty();
    }
}
