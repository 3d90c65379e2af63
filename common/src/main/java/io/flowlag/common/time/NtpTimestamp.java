package io.flowlag.common.time;

/**
 * Times in the NTP timestamp format (RFC 5905 section 6; in IPFIX RFC 7011 sections 6.1.9 and 6.1.10): 32 bits of seconds since
 * 1900 modulo 2^32, then 32 bits of binary fraction. The era of 136 years is implicit: a reader takes 1970 to 2106, or the era
 * that is nearest to a time it knows.
 * <p>
 * A fraction is rounded up to the next unit of the format. Readers that truncate and readers that round to nearest then both
 * recover the encoded nanosecond (or microsecond). Static, any thread; allocates nothing.
 */
public final class NtpTimestamp {
    private static final long NTP_TO_UNIX_SECONDS = 2_208_988_800L;
    private static final long NANOSECONDS_PER_MICROSECOND = 1_000L;
    private static final long MICROSECONDS_PER_SECOND = 1_000_000L;
    private static final long UNSIGNED_32 = 0xFFFF_FFFFL;
    /** The low bits that a dateTimeMicroseconds leaves 0. */
    private static final int MICROSECOND_UNUSED_BITS = 11;

    private NtpTimestamp() {
    }

    /**
     * The value of a dateTimeNanoseconds.
     *
     * @param epochNs nanoseconds since the UNIX epoch.
     * @return the 64 bits.
     */
    public static long ofEpochNs(final long epochNs) {
        final long seconds = Math.floorDiv(epochNs, Nanoseconds.PER_SECOND);
        final long nanoseconds = Math.floorMod(epochNs, Nanoseconds.PER_SECOND);
        final long fraction = ((nanoseconds << 32) + Nanoseconds.PER_SECOND - 1) / Nanoseconds.PER_SECOND;
        return join(seconds, fraction);
    }

    /**
     * The value of a dateTimeMicroseconds: cut to the microsecond, the low 11 bits 0.
     *
     * @param epochNs nanoseconds since the UNIX epoch.
     * @return the 64 bits.
     */
    public static long ofEpochNsAtMicroseconds(final long epochNs) {
        final long seconds = Math.floorDiv(epochNs, Nanoseconds.PER_SECOND);
        final long microseconds = Math.floorMod(epochNs, Nanoseconds.PER_SECOND) / NANOSECONDS_PER_MICROSECOND;
        final long divisor = MICROSECONDS_PER_SECOND << MICROSECOND_UNUSED_BITS;
        final long fraction = ((microseconds << 32) + divisor - 1) / divisor << MICROSECOND_UNUSED_BITS;
        return join(seconds, fraction);
    }

    /**
     * Reads either kind of value to the nanosecond.
     *
     * @param ntpTimestamp the 64 bits.
     * @return nanoseconds since the UNIX epoch, 1970 to 2106.
     */
    public static long toEpochNs(final long ntpTimestamp) {
        final long seconds = ((ntpTimestamp >>> 32) - NTP_TO_UNIX_SECONDS) & UNSIGNED_32;
        final long nanoseconds = ((ntpTimestamp & UNSIGNED_32) * Nanoseconds.PER_SECOND) >>> 32;
        return seconds * Nanoseconds.PER_SECOND + nanoseconds;
    }

    /**
     * Reads a dateTimeNanoseconds of the era that puts it nearest to a known time.
     *
     * @param ntpTimestamp the 64 bits.
     * @param nearNs       a time less than 68 years from it, nanoseconds since the UNIX epoch.
     * @return nanoseconds since the UNIX epoch.
     */
    public static long toEpochNs(final long ntpTimestamp, final long nearNs) {
        final long nearSeconds = Math.floorDiv(nearNs, Nanoseconds.PER_SECOND);
        final int aheadSeconds = (int)((ntpTimestamp >>> 32) - (nearSeconds + NTP_TO_UNIX_SECONDS));
        final long nanoseconds = (ntpTimestamp & UNSIGNED_32) * Nanoseconds.PER_SECOND >>> 32;
        return (nearSeconds + aheadSeconds) * Nanoseconds.PER_SECOND + nanoseconds;
    }

    private static long join(final long epochSeconds, final long fraction) {
        return (epochSeconds + NTP_TO_UNIX_SECONDS) << 32 | fraction;
    }
}
