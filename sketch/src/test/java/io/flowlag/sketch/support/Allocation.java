package io.flowlag.sketch.support;

import com.sun.management.ThreadMXBean;

import java.lang.management.ManagementFactory;

import static org.junit.jupiter.api.Assertions.assertEquals;

/**
 * Asserts that work allocates nothing on the thread that does it, once it is warm. The JVM itself may allocate on the thread
 * while it warms up, so one round without an allocation is the proof: what the work allocates, it allocates in every round.
 */
public final class Allocation {
    private static final ThreadMXBean THREADS = (ThreadMXBean)ManagementFactory.getThreadMXBean();

    private static final int ROUNDS = 20;

    private Allocation() {
    }

    public static void assertNone(final Runnable work) {
        long least = Long.MAX_VALUE;
        for (int round = 0; round < ROUNDS && least > 0; round++) {
            least = Math.min(least, measured(work));
        }
        assertEquals(0, least);
    }

    private static long measured(final Runnable work) {
        final long thread = Thread.currentThread().getId();
        final long before = THREADS.getThreadAllocatedBytes(thread);
        work.run();
        return THREADS.getThreadAllocatedBytes(thread) - before;
    }
}
