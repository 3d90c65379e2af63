package io.flowlag.ipfix.transport;

/**
 * A token bucket in bits, filled by the time that is passed in: over any second at most the rate, and bursts of a tenth of a
 * second or one message, whichever is more. Used by one thread; allocates nothing.
 */
final class RateLimit {
    private static final long BURSTS_PER_SECOND = 10L;
    private static final long MILLISECONDS_PER_SECOND = 1_000L;

    private final long bitsPerSecond;
    private final long capacityMilliBits;
    private long milliBits;
    private long lastMs = Long.MIN_VALUE;

    RateLimit(final long bitsPerSecond, final int maxMessageBytes) {
        if (bitsPerSecond < 0) {
            throw new IllegalArgumentException("bitsPerSecond=" + bitsPerSecond + " is negative");
        }
        this.bitsPerSecond = bitsPerSecond;
        this.capacityMilliBits =
            Math.max(bitsPerSecond / BURSTS_PER_SECOND, (long)maxMessageBytes * Byte.SIZE) * MILLISECONDS_PER_SECOND;
    }

    void onTime(final long nowMs) {
        if (lastMs == Long.MIN_VALUE) {
            milliBits = capacityMilliBits;
        } else if (nowMs > lastMs) {
            final long elapsedMs = Math.min(nowMs - lastMs, MILLISECONDS_PER_SECOND);
            milliBits = Math.min(capacityMilliBits, milliBits + elapsedMs * bitsPerSecond);
        }
        lastMs = nowMs;
    }

    boolean allows(final int lengthBytes) {
        return bitsPerSecond == 0 || milliBits >= cost(lengthBytes);
    }

    /** Octets that may be sent now. */
    long allowedBytes() {
        return bitsPerSecond == 0 ? Long.MAX_VALUE : milliBits / (Byte.SIZE * MILLISECONDS_PER_SECOND);
    }

    void onSent(final int lengthBytes) {
        if (bitsPerSecond != 0) {
            milliBits -= cost(lengthBytes);
        }
    }

    private static long cost(final int lengthBytes) {
        return lengthBytes * Byte.SIZE * MILLISECONDS_PER_SECOND;
    }
}
