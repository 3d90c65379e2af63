package io.flowlag.exporter.capture.afpacket;

import io.flowlag.common.time.Nanoseconds;
import io.flowlag.exporter.capture.posix.LinuxLibrary;
import org.agrona.BufferUtil;
import org.agrona.concurrent.UnsafeBuffer;

import java.nio.ByteOrder;

/**
 * How far CLOCK_REALTIME is ahead of CLOCK_MONOTONIC. The kernel slews both as one, so that changes only when the clock is set;
 * here at the next {@link #follow}. One thread; allocates at construction only.
 */
final class MonotonicClock {
    private static final int CLOCK_REALTIME = 0;
    private static final int CLOCK_MONOTONIC = 1;
    private static final int READING_COUNT = 16;
    private static final int TIME_LENGTH_BYTES = 2 * Long.BYTES;
    private static final ByteOrder ORDER = ByteOrder.nativeOrder();

    private final UnsafeBuffer time = new UnsafeBuffer(BufferUtil.allocateDirectAligned(TIME_LENGTH_BYTES, Long.BYTES));
    private long offsetNs;

    MonotonicClock() {
        set();
    }

    long offsetNs() {
        return offsetNs;
    }

    /** Reads both clocks; what agrees with the offset does not change it. */
    void follow() {
        final long beforeNs = read(CLOCK_MONOTONIC);
        final long nowNs = read(CLOCK_REALTIME);
        final long afterNs = read(CLOCK_MONOTONIC);
        if (offsetNs < nowNs - afterNs || offsetNs > nowNs - beforeNs) {
            set();
        }
    }

    /** Of several readings the shortest is the most exact. */
    private void set() {
        long shortestNs = Long.MAX_VALUE;
        for (int i = 0; i < READING_COUNT; i++) {
            final long beforeNs = read(CLOCK_MONOTONIC);
            final long nowNs = read(CLOCK_REALTIME);
            final long lengthNs = read(CLOCK_MONOTONIC) - beforeNs;
            if (lengthNs < shortestNs) {
                shortestNs = lengthNs;
                offsetNs = nowNs - beforeNs - lengthNs / 2;
            }
        }
    }

    private long read(final int clock) {
        LinuxLibrary.clock_gettime(clock, time.addressOffset());
        return time.getLong(0, ORDER) * Nanoseconds.PER_SECOND + time.getLong(Long.BYTES, ORDER);
    }
}
