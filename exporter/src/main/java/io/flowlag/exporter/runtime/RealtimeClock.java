package io.flowlag.exporter.runtime;

import io.flowlag.common.time.Nanoseconds;
import io.flowlag.exporter.capture.CaptureClock;
import org.agrona.concurrent.EpochNanoClock;
import org.agrona.concurrent.SystemEpochNanoClock;

import java.lang.invoke.MethodHandle;
import java.lang.invoke.MethodHandles;

/**
 * The system's realtime clock, without an {@link java.time.Instant} for each reading, which compilers remove only in some places.
 * It reads {@code jdk.internal.misc.VM.getNanoTimeAdjustment}, as the JVM's own clocks do. If that is unavailable, it is {@link
 * SystemEpochNanoClock}. Any thread. Allocates at construction.
 */
public final class RealtimeClock implements CaptureClock {
    private static final long MS_PER_SECOND = 1_000;
    /** The offset is too far from the time and must be renewed. */
    private static final long TOO_FAR = -1;
    private static final MethodHandle ADJUSTMENT = adjustment();
    private static final EpochNanoClock STAND_IN = new SystemEpochNanoClock();

    /** Seconds since the epoch, near the current time; the time is read as an offset from it. */
    private volatile long offsetSeconds = System.currentTimeMillis() / MS_PER_SECOND;

    /** {@return the clock of live packets} */
    public static CaptureClock ofSystem() {
        return new RealtimeClock();
    }

    private RealtimeClock() {
    }

    /** {@return whether it reads without an object for each reading} */
    static boolean isDirect() {
        return ADJUSTMENT != null;
    }

    private static MethodHandle adjustment() {
        try {
            return MethodHandles.lookup().unreflect(
                Class.forName("jdk.internal.misc.VM").getMethod("getNanoTimeAdjustment", long.class));
        } catch (final ReflectiveOperationException | RuntimeException ex) {
            return null;
        }
    }

    @Override
    public long nanoTime() {
        if (ADJUSTMENT == null) {
            return STAND_IN.nanoTime();
        }
        final long offset = offsetSeconds;
        final long distanceNs = distanceNs(offset);
        if (distanceNs != TOO_FAR) {
            return offset * Nanoseconds.PER_SECOND + distanceNs;
        }
        final long newOffset = System.currentTimeMillis() / MS_PER_SECOND;
        offsetSeconds = newOffset;
        return newOffset * Nanoseconds.PER_SECOND + distanceNs(newOffset);
    }

    @Override
    public long monotonicNs() {
        return System.nanoTime();
    }

    private static long distanceNs(final long offset) {
        try {
            return (long)ADJUSTMENT.invokeExact(offset);
        } catch (final RuntimeException | Error ex) {
            throw ex;
        } catch (final Throwable ex) {
            throw new IllegalStateException(ex);
        }
    }
}
