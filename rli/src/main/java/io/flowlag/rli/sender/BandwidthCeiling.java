package io.flowlag.rli.sender;

/**
 * A token bucket, in octets. References due by the maximum gap may overdraw it up to a limit; the others pay the debt back. No
 * class starves another, and the average stays below the ceiling. One thread. Never allocates.
 */
final class BandwidthCeiling {
    private static final double BITS_NS_PER_OCTET_SECOND = 8e9;

    private double bytesPerNs;
    private double depthBytes;
    private double debtBytes;
    private double creditBytes;
    private long creditNs;
    private boolean isUnlimited;

    /** Sets the bucket's size: the inflow during the maximum gap, but at least two references. */
    void configure(final InjectionSettings settings) {
        isUnlimited = settings.ceilingBps() == Long.MAX_VALUE;
        bytesPerNs = settings.ceilingBps() / BITS_NS_PER_OCTET_SECOND;
        depthBytes = Math.max(2.0 * settings.referenceLengthBytes(), bytesPerNs * settings.maximumGapNs());
        debtBytes = (double)settings.classCount() * settings.referenceLengthBytes();
        creditBytes = Math.min(creditBytes, depthBytes);
    }

    void start(final long nowNs) {
        creditBytes = depthBytes;
        creditNs = nowNs;
    }

    boolean admits(final long nowNs, final int lengthBytes, final boolean mayOverdraw) {
        if (isUnlimited) {
            return true;
        }
        refill(nowNs);
        return creditBytes + (mayOverdraw ? debtBytes : 0) >= lengthBytes;
    }

    void take(final long nowNs, final int lengthBytes) {
        refill(nowNs);
        creditBytes -= lengthBytes;
    }

    /** Time at which the bucket has enough for a reference that may not overdraw. */
    long readyNs(final long nowNs, final int lengthBytes) {
        if (admits(nowNs, lengthBytes, false)) {
            return nowNs;
        }
        return nowNs + (long)Math.ceil((lengthBytes - creditBytes) / bytesPerNs);
    }

    private void refill(final long nowNs) {
        final long elapsedNs = nowNs - creditNs;
        creditNs = nowNs;
        if (elapsedNs > 0) {
            creditBytes = Math.min(depthBytes, creditBytes + bytesPerNs * elapsedNs);
        }
    }
}
