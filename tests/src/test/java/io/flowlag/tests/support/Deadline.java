package io.flowlag.tests.support;

import java.time.Duration;
import java.util.concurrent.locks.LockSupport;
import java.util.function.BooleanSupplier;
import java.util.function.Supplier;

/** Waits for conditions, never for time alone. */
public final class Deadline {
    private static final long POLL_INTERVAL_NS = 5_000_000L;

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
        final long deadlineNs = System.nanoTime() + timeout.toNanos();
        while (!condition.getAsBoolean()) {
            if (System.nanoTime() - deadlineNs > 0) {
                throw new AssertionError("not within " + timeout + ": " + what.get());
            }
            LockSupport.parkNanos(POLL_INTERVAL_NS);
        }
    }
}
