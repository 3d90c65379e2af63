package io.flowlag.rli.reference;

/**
 * The 64-bit NTP timestamp (RFC 5905 section 6): 32 bits of seconds since 1900, modulo an era of 136 years, and 32 bits of
 * fraction. The fraction is rounded up, so that a nanosecond survives the way there and back exactly, also with readers that
 * cut it off. Stateless. Allocates: never.
 */
public final class NtpTimestamp {
    private static final long UNIX_EPOCH_SECONDS = 2_208_988_800L;
    private static final long NS_PER_SECOND = 1_000_000_000L;
    private static final long FRACTION_MASK = 0xFFFF_FFFFL;

    private NtpTimestamp() {
    }

    /**
     * Makes a timestamp.
     *
     * @param unixNs since 1970, ns.
     * @return seconds in the upper half, fraction in the lower.
     */
    public static long fromUnixNs(final long unixNs) {
        final long seconds = Math.floorDiv(unixNs, NS_PER_SECOND);
        final long fraction = ((Math.floorMod(unixNs, NS_PER_SECOND) << 32) + NS_PER_SECOND - 1) / NS_PER_SECOND;
        return (seconds + UNIX_EPOCH_SECONDS << 32) + fraction;
    }

    /**
     * Reads a timestamp. Its era is the one that puts it nearest to a known time.
     *
     * @param timestamp seconds in the upper half, fraction in the lower.
     * @param nearNs    a time less than 68 years from it, ns since 1970.
     * @return since 1970, ns.
     */
    public static long toUnixNs(final long timestamp, final long nearNs) {
        final long nearSeconds = Math.floorDiv(nearNs, NS_PER_SECOND);
        final int aheadSeconds = (int)((timestamp >>> 32) - (nearSeconds + UNIX_EPOCH_SECONDS));
        final long fractionNs = (timestamp & FRACTION_MASK) * NS_PER_SECOND >>> 32;
        return (nearSeconds + aheadSeconds) * NS_PER_SECOND + fractionNs;
    }
}
