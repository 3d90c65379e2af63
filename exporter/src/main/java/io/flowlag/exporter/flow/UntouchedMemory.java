package io.flowlag.exporter.flow;

import io.flowlag.sketch.memory.OffHeapBuffer;
import org.agrona.UnsafeApi;

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
    static OffHeapBuffer allocate(final int lengthBytes) {
        final long address = UnsafeApi.allocateMemory((long)lengthBytes + CACHE_LINE_LENGTH);
        final OffHeapBuffer buffer = new OffHeapBuffer(align(address, CACHE_LINE_LENGTH), lengthBytes);
        CLEANER.register(buffer, () -> UnsafeApi.freeMemory(address));
        return buffer;
    }
}
