package io.flowlag.exporter.capture;

import org.agrona.concurrent.EpochNanoClock;

/** The clock of packets' timestamps, UNIX epoch. Live, it runs on while none come; in files, packets alone tell the time. */
@FunctionalInterface
public interface CaptureClock extends EpochNanoClock {
    /** Of files: it stands still, before every packet. */
    CaptureClock FILES = new CaptureClock() {
        @Override
        public long nanoTime() {
            return Long.MIN_VALUE;
        }

        @Override
        public boolean isLive() {
            return false;
        }
    };

    /** {@return monotonic time of any origin, ns; by default this clock's} */
    default long monotonicNs() {
        return nanoTime();
    }

    /** {@return whether packets are live} */
    default boolean isLive() {
        return true;
    }
}
