package io.flowlag.ipfix.support;

import java.util.concurrent.TimeUnit;
import java.util.concurrent.locks.LockSupport;
import java.util.function.BooleanSupplier;

/** Waiting for a condition with a deadline, never for a time. */
public final class Await {
    private static final long DEADLINE_NS = TimeUnit.SECONDS.toNanos(20);
    private static final long PAUSE_NS = TimeUnit.MICROSECONDS.toNanos(200);

    private Await() {
    }

    /** Works until a condition holds; fails with the text after twenty seconds. */
    public static void until(final String what, final Runnable work, final BooleanSupplier condition) {
        final long beginNs = System.nanoTime();
        work.run();
        while (!condition.getAsBoolean()) {
            if (System.nanoTime() - beginNs > DEADLINE_NS) {
                throw new AssertionError("waited in vain until " + what);
            }
            LockSupport.parkNanos(PAUSE_NS);
            work.run();
        }
    }
}
