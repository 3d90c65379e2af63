package io.flowlag.rli.reference;

import io.flowlag.common.time.Nanoseconds;

/**
 * The error estimate of a STAMP timestamp (RFC 4656 section 4.1.2, RFC 8186 section 2.3), 16 bits:
 * <pre>
 *   S  1   the clock is synchronized to UTC by an outside source
 *   Z  1   the timestamp is PTP, not NTP
 *   scale       6
 *   multiplier  8   not 0
 * </pre>
 * The error is multiplier · 2^scale · 2^-32 seconds. Stateless. Allocates: never.
 */
public final class ErrorEstimate {
    private static final int SYNCHRONIZED_BIT = 1 << 15;
    private static final int PTP_BIT = 1 << 14;
    private static final int SCALE_SHIFT = 8;
    private static final int SCALE_MASK = 0x3F;
    private static final int MULTIPLIER_MASK = 0xFF;

    private ErrorEstimate() {
    }

    /**
     * Makes the smallest estimate that is not below an error.
     *
     * @param errorNs        0 or more; what is above 2^31 s becomes that.
     * @param isSynchronized to UTC by an outside source.
     * @return 16 bits.
     */
    public static int of(final long errorNs, final boolean isSynchronized) {
        final long seconds = errorNs / Nanoseconds.PER_SECOND;
        final long remainderNs = errorNs - seconds * Nanoseconds.PER_SECOND;
        final long ceiling = seconds < Integer.MAX_VALUE ?
            (seconds << 32) + ((remainderNs << 32) + Nanoseconds.PER_SECOND - 1) / Nanoseconds.PER_SECOND : Long.MAX_VALUE;
        long multiplier = Math.max(1, ceiling);
        int scale = 0;
        while (multiplier > MULTIPLIER_MASK) {
            multiplier = (multiplier >>> 1) + (multiplier & 1);
            scale++;
        }
        return (isSynchronized ? SYNCHRONIZED_BIT : 0) | scale << SCALE_SHIFT | (int)multiplier;
    }

    /**
     * Reads the error, rounded up.
     *
     * @param estimate 16 bits.
     * @return ns; {@link Long#MAX_VALUE} when it does not fit.
     */
    public static long errorNs(final int estimate) {
        final double seconds =
            Math.scalb((double)(estimate & MULTIPLIER_MASK), (estimate >>> SCALE_SHIFT & SCALE_MASK) - 32);
        return (long)Math.ceil(seconds * Nanoseconds.PER_SECOND);
    }

    /** Tells whether the sender says that its clock is synchronized, by the 16 bits. */
    public static boolean isSynchronized(final int estimate) {
        return (estimate & SYNCHRONIZED_BIT) != 0;
    }

    /**
     * Tells whether the timestamp is in PTP format.
     *
     * @param estimate 16 bits.
     * @return true if so; false for NTP.
     */
    public static boolean isPtp(final int estimate) {
        return (estimate & PTP_BIT) != 0;
    }
}
