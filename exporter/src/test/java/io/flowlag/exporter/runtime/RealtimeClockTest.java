package io.flowlag.exporter.runtime;

import com.sun.management.ThreadMXBean;
import io.flowlag.exporter.capture.CaptureClock;
import org.junit.jupiter.api.Test;

import java.lang.management.ManagementFactory;
import java.time.Instant;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

class RealtimeClockTest {
    private static final int READINGS = 200_000;
    private static final int ROUNDS = 50;

    private final CaptureClock clock = RealtimeClock.ofSystem();
    private long read;

    @Test
    void shouldTellTheTimeOfTheSystem() {
        assertTrue(RealtimeClock.isDirect());
        // The clock may be set while the test runs, but not in every round.
        int between = 0;
        for (int i = 0; i < ROUNDS; i++) {
            final Instant before = Instant.now();
            final long nowNs = clock.nanoTime();
            final Instant after = Instant.now();
            between += nowNs >= ns(before) && nowNs <= ns(after) ? 1 : 0;
        }
        assertTrue(between > ROUNDS / 2, between + " of " + ROUNDS);
    }

    @Test
    void shouldTellMonotonicTime() {
        final long before = System.nanoTime();
        final long monotonicNs = clock.monotonicNs();
        assertTrue(monotonicNs - before >= 0 && System.nanoTime() - monotonicNs >= 0, before + " " + monotonicNs);
    }

    private static long ns(final Instant instant) {
        return instant.getEpochSecond() * 1_000_000_000L + instant.getNano();
    }

    /** A request for the epoch itself gets an existing object, so that compilers keep those of other clocks. */
    @Test
    void shouldAllocateNothing() {
        for (int i = 0; i < READINGS; i++) {
            read += Instant.ofEpochSecond(i & 1, 0).getEpochSecond();
        }
        final ThreadMXBean threads = (ThreadMXBean)ManagementFactory.getThreadMXBean();
        long least = Long.MAX_VALUE;
        for (int round = 0; round < ROUNDS && least > 0; round++) {
            final long before = threads.getCurrentThreadAllocatedBytes();
            for (int i = 0; i < READINGS; i++) {
                read += clock.nanoTime();
            }
            least = Math.min(least, threads.getCurrentThreadAllocatedBytes() - before);
        }
        assertEquals(0, least, () -> "octets for " + READINGS + " readings, " + read);
    }
}
