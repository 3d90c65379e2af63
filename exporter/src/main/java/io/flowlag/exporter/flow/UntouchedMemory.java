package io.flowlag.exporter.flow;

import org.agrona.UnsafeApi;
import org.agrona.concurrent.UnsafeBuffer;

import java.lang.ref.Cleaner;

import static org.agrona.BitUtil.CACHE_LINE_LENGTH;
import static org.agrona.BitUtil.align;

/**
 * Off-heap memory whose octets are undefined until somebody writes them. Unlike a direct buffer it is not filled with zeros when
 * it is taken, so that start-up does not pay for it, and the system gives a page only to who writes into it. Freed when the
 * buffer is no longer reachable. Any thread; allocates at construction.
 */
final class UntouchedMemory {
    private static final Cleaner CLEANER = Cleaner.create();

    private UntouchedMemory() {
    }

    /**
     * Takes memory.
     *
     * @param lengthBytes how much.
     * @return a buffer that begins on a cache line; views of it must not outlive it.
     */
    static UnsafeBuffer allocate(final int lengthBytes) {
        final long address = UnsafeApi.allocateMemory((long)lengthBytes + CACHE_LINE_LENGTH);
        final UnsafeBuffer buffer = new UnsafeBuffer(align(address, CACHE_LINE_LENGTH), lengthBytes);
        CLEANER.register(buffer, () -> UnsafeApi.freeMemory(address));
        return buffer;
    }
}
