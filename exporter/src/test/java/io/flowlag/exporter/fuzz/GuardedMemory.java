package io.flowlag.exporter.fuzz;

import io.flowlag.exporter.capture.posix.CLibrary;
import org.agrona.BitUtil;
import org.agrona.concurrent.UnsafeBuffer;

/**
 * Memory for an input that ends at a page without access: reading beyond the input ends the process, even where nothing checks.
 * Off the heap, until the process ends. One thread. Allocates at construction.
 */
public final class GuardedMemory {
    /** A multiple of every page size. */
    private static final int GUARD_BYTES = 64 << 10;
    private static final int PROTECTION_NONE = 0;
    private static final int PROTECTION_READ_WRITE = 3;
    private static final int MAP_PRIVATE_ANONYMOUS = 0x22;
    private static final int MAP_FIXED = 0x10;
    private static final int NO_FILE = -1;

    private final UnsafeBuffer memory;

    /**
     * Maps memory and the page behind it.
     *
     * @param maxBytes the longest input.
     */
    public GuardedMemory(final int maxBytes) {
        final int lengthBytes = BitUtil.align(Math.max(1, maxBytes), GUARD_BYTES);
        final long address = CLibrary.mmap(
            0, lengthBytes + GUARD_BYTES, PROTECTION_READ_WRITE, MAP_PRIVATE_ANONYMOUS, NO_FILE, 0);
        if (address == -1 || CLibrary.mmap(address + lengthBytes, GUARD_BYTES, PROTECTION_NONE,
            MAP_PRIVATE_ANONYMOUS | MAP_FIXED, NO_FILE, 0) != address + lengthBytes) {
            throw new IllegalStateException("no memory of " + lengthBytes + " octets with a page without access");
        }
        memory = new UnsafeBuffer(address, lengthBytes);
    }

    /**
     * Copies an input to the end of the memory; the one before is gone.
     *
     * @param view   wraps the copy, and nothing else.
     * @param octets to copy from.
     * @param offset of the first octet.
     * @param length how many, at most as many as fit.
     */
    public void wrap(final UnsafeBuffer view, final byte[] octets, final int offset, final int length) {
        final int at = memory.capacity() - length;
        memory.putBytes(at, octets, offset, length);
        view.wrap(memory.addressOffset() + at, length);
    }
}
