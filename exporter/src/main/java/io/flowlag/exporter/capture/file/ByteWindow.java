package io.flowlag.exporter.capture.file;

import org.agrona.DirectBuffer;
import org.agrona.concurrent.UnsafeBuffer;

/**
 * A view of a piece of an input of any length, moved forward on demand. Positions count octets of the (unpacked) input from its
 * start; they must not decrease. One thread owns a window; the window owns its memory. The contents of {@link #buffer()} are
 * valid until the next call of {@link #require}. Allocates only where a subclass says so.
 */
abstract class ByteWindow implements AutoCloseable {
    /** Returned by {@link #require} when the input ends earlier. */
    static final int NOT_THERE = -1;

    /** Returned where the length of an input is unknown. */
    static final long UNKNOWN_LENGTH = -1;

    protected final UnsafeBuffer view;
    /** Position of the first octet in view. */
    protected long viewPosition;
    protected int viewLengthBytes;
    /** Why reading failed, if it did. */
    protected String failure;

    /** A window that shows nothing yet; its view is off the heap if the type says so. */
    ByteWindow(final UnsafeBuffer view) {
        this.view = view;
    }

    /**
     * Brings a piece of the input into view.
     *
     * @param position of its first octet.
     * @return the index of the first octet in {@link #buffer()}, or {@link #NOT_THERE}.
     */
    final int require(final long position, final int lengthBytes) {
        final long index = position - viewPosition;
        if (index >= 0 && index + lengthBytes <= viewLengthBytes) {
            return (int) index;
        }
        return move(position, lengthBytes);
    }

    /** {@return the buffer in which indexes given by {@link #require} are valid; always the same} */
    final DirectBuffer buffer() {
        return view;
    }

    /** {@return why reading failed, or null: then the input ended normally} */
    final String failure() {
        return failure;
    }

    /** The slow path of {@link #require}: same parameters, same result. */
    protected abstract int move(long position, int lengthBytes);

    /** {@return whether the octets at the position can be read without waiting for a writer} */
    abstract boolean isReady(long position);

    /** {@return the position behind the last octet; reliable only after {@link #require} returned {@link #NOT_THERE}} */
    abstract long endPosition();

    /** {@return whether the input was truncated below the end of the view, so that reading it faults} */
    abstract boolean isCutBelowView();

    /** {@return octets of the stored input before the position} */
    abstract long consumedBytes(long position);

    /** {@return octets of the stored input, or -1 if unknown} */
    abstract long totalBytes();

    @Override
    public abstract void close();
}
