package io.flowlag.rli;

import com.sun.management.ThreadMXBean;

import java.lang.management.ManagementFactory;

import static org.junit.jupiter.api.Assertions.assertEquals;

/** Measures what the calling thread allocates. */
public final class Allocation {
    private static final ThreadMXBean THREADS = (ThreadMXBean)ManagementFactory.getThreadMXBean();
    private static final int ROUNDS = 5;

    private Allocation() {
    }

    /**
     * Runs something often enough to be compiled, then asserts that a whole round of runs allocates nothing. There are several
     * rounds, because the virtual machine itself allocates a little on the thread now and then, as when it drops compiled code.
     *
     * @param warmUpRuns   runs before.
     * @param measuredRuns runs of a round.
     * @param run          what to run.
     */
    public static void assertNone(final int warmUpRuns, final int measuredRuns, final Runnable run) {
        repeat(warmUpRuns, run);
        long leastBytes = Long.MAX_VALUE;
        for (int i = 0; i < ROUNDS && leastBytes > 0; i++) {
            leastBytes = Math.min(leastBytes, allocatedBytes(measuredRuns, run));
        }
        assertEquals(0, leastBytes, "bytes allocated in " + measuredRuns + " runs");
    }

    private static long allocatedBytes(final int runs, final Runnable run) {
        final long beforeBytes = THREADS.getCurrentThreadAllocatedBytes();
        repeat(runs, run);
        return THREADS.getCurrentThreadAllocatedBytes() - beforeBytes;
    }

    private static void repeat(final int runs, final Runnable run) {
        for (int i = 0; i < runs; i++) {
            run.run();
        }
    }
}
