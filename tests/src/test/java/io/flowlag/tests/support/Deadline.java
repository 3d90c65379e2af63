package io.flowlag.tests.support;

import java.time.Duration;
import java.util.concurrent.locks.LockSupport;
import java.util.function.BooleanSupplier;
import java.util.function.Supplier;

/** Waits for conditions, never for time alone. */
public final class Deadline {
    private static final long LEAST_PAUSE_NS = 1_000_000L;
    private static final long MOST_PAUSE_NS = 20_000_000L;
    private static final long WORK_PAUSE_NS = 100_000L;
    /** A pause is this part of the time waited so far: looks may cost something, and the process waited for needs the time. */
    private static final int PAUSE_PART = 16;

    private Deadline() {
    }

    /**
     * Waits until a condition holds.
     *
     * @param timeout   after which the test fails.
     * @param condition to wait for.
     * @param what      was waited for, for the message.
     */
    public static void await(final Duration timeout, final BooleanSupplier condition, final Supplier<String> what) {
        await(timeout, LEAST_PAUSE_NS, MOST_PAUSE_NS, condition, what);
    }

    /**
     * Works until a condition holds: asks for it again at once.
     *
     * @param timeout   after which the test fails.
     * @param condition to work for.
     * @param what      was worked for, for the message.
     */
    public static void workUntil(final Duration timeout, final BooleanSupplier condition, final Supplier<String> what) {
        await(timeout, WORK_PAUSE_NS, WORK_PAUSE_NS, condition, what);
    }

    private static void await(final Duration timeout, final long leastPauseNs, final long mostPauseNs,
        final BooleanSupplier condition, final Supplier<String> what) {
        final long beginNs = System.nanoTime();
        long waitedNs = 0;
        while (!condition.getAsBoolean()) {
            if (waitedNs > timeout.toNanos()) {
                throw new AssertionError("not within " + timeout + ": " + what.get());
            }
            LockSupport.parkNanos(Math.min(mostPauseNs, Math.max(leastPauseNs, waitedNs / PAUSE_PART)));
            waitedNs = System.nanoTime() - beginNs;
        }
    }
}
