package io.flowlag.common.time;

/** Lengths of time in nanoseconds. */
public final class Nanoseconds {
    public static final long PER_SECOND = 1_000_000_000L;

    private Nanoseconds() {
    }
}
