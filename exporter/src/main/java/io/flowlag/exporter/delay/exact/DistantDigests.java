package io.flowlag.exporter.delay.exact;

import org.agrona.BufferUtil;
import org.agrona.concurrent.UnsafeBuffer;

import java.util.concurrent.TimeUnit;

import static org.agrona.BitUtil.CACHE_LINE_LENGTH;

/**
 * A few digests of one point, kept far longer than the maximum delay. They tell packets that the other point never saw from
 * packets that it saw at a distant time, as when clocks are apart. Each digest maps to one place; an entry stays until it is
 * old.
 * <pre>
 *   0  digest  8
 *   8  timeNs  8   at its point, UNIX epoch; EMPTY if there is none
 * </pre>
 * One thread owns it. Allocates at construction, off-heap.
 */
final class DistantDigests {
    /** How long a digest stays, ns. */
    static final long REMEMBERED_NS = TimeUnit.SECONDS.toNanos(60);
    /** Returned by {@link #timeNs} for a digest that is not known. */
    static final long UNKNOWN = Long.MIN_VALUE;

    private static final int COUNT = 4096;
    private static final int DIGEST_OFFSET = 0;
    private static final int TIME_NS_OFFSET = DIGEST_OFFSET + 8;
    private static final int RECORD_LENGTH_BYTES = TIME_NS_OFFSET + 8;

    private final UnsafeBuffer records =
        new UnsafeBuffer(BufferUtil.allocateDirectAligned(COUNT * RECORD_LENGTH_BYTES, CACHE_LINE_LENGTH));

    DistantDigests() {
        for (int i = 0; i < COUNT; i++) {
            records.putLong(i * RECORD_LENGTH_BYTES + TIME_NS_OFFSET, UNKNOWN);
        }
    }

    static long memoryBytes() {
        return (long)COUNT * RECORD_LENGTH_BYTES;
    }

    void add(final long digest, final long timeNs) {
        final int offset = offset(digest);
        final long keptNs = records.getLong(offset + TIME_NS_OFFSET);
        if (keptNs == UNKNOWN || Math.abs(timeNs - keptNs) > REMEMBERED_NS) {
            records.putLong(offset + DIGEST_OFFSET, digest);
            records.putLong(offset + TIME_NS_OFFSET, timeNs);
        }
    }

    /** {@return the time at which a digest was seen, or {@link #UNKNOWN}} */
    long timeNs(final long digest) {
        final int offset = offset(digest);
        return records.getLong(offset + DIGEST_OFFSET) == digest ? records.getLong(offset + TIME_NS_OFFSET) : UNKNOWN;
    }

    private static int offset(final long digest) {
        return (int)((digest ^ digest >>> 32) & (COUNT - 1)) * RECORD_LENGTH_BYTES;
    }
}
