package io.flowlag.exporter.capture.posix;

import org.agrona.BufferUtil;
import org.agrona.concurrent.UnsafeBuffer;

/**
 * File descriptors of which one thread awaits that one is readable, by poll(2). Allocates at construction. A
 * {@code struct pollfd}, in the byte order of the machine:
 * <pre>
 *   descriptor 4, events 2, returned events 2
 * </pre>
 */
public final class PollSet {
    private static final int LENGTH_BYTES = 8;
    private static final int EVENTS_OFFSET = 4;
    private static final int RETURNED_EVENTS_OFFSET = 6;
    private static final short READABLE = 0x1;
    private static final short ERROR = 0x8;

    private final UnsafeBuffer descriptors;
    private final int count;

    /** A set of so many places, all empty. */
    public PollSet(final int count) {
        this.count = count;
        descriptors = new UnsafeBuffer(BufferUtil.allocateDirectAligned(Math.max(1, count) * LENGTH_BYTES, LENGTH_BYTES));
        for (int i = 0; i < count; i++) {
            put(i, -1);
        }
    }

    /** Puts a descriptor into a place, or -1 for none. */
    public void put(final int index, final int fd) {
        descriptors.putInt(index * LENGTH_BYTES, fd);
        descriptors.putShort(index * LENGTH_BYTES + EVENTS_OFFSET, READABLE);
        descriptors.putShort(index * LENGTH_BYTES + RETURNED_EVENTS_OFFSET, (short)0);
    }

    /** Waits until a descriptor is readable or has an error, at most so many ms. */
    public void await(final int timeoutMs) {
        CLibrary.poll(descriptors.addressOffset(), count, timeoutMs);
    }

    /** {@return whether the last wait found the descriptor of a place readable} */
    public boolean isReadable(final int index) {
        return (returned(index) & READABLE) != 0;
    }

    /** {@return whether the last wait found an error at the descriptor of a place} */
    public boolean hasError(final int index) {
        return (returned(index) & ERROR) != 0;
    }

    private int returned(final int index) {
        return descriptors.getShort(index * LENGTH_BYTES + RETURNED_EVENTS_OFFSET);
    }
}
