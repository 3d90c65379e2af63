package io.flowlag.exporter.capture.file;

import org.agrona.concurrent.UnsafeBuffer;

import java.io.IOException;
import java.io.InputStream;
import java.util.Arrays;

/**
 * A window on a stream: a buffer that is filled as far as a reader requires, and whose passed octets are dropped. Owns the
 * buffer and the stream. Allocates at construction, and when a reader requires a piece longer than the buffer. Readers limit
 * such pieces, so a hostile archive cannot exhaust memory. Reading may wait for the writer of a pipe.
 */
final class StreamWindow extends ByteWindow {
    /** Length of the buffer, unless a reader requires more in one piece. */
    static final int BUFFER_LENGTH_BYTES = 1 << 20;

    /** For streams that are stored as they are read, and whose length is unknown. */
    static final StoredLength AS_STORED = new StoredLength() {
        @Override
        public long consumedBytes() {
            return UNKNOWN_LENGTH;
        }

        @Override
        public long totalBytes() {
            return UNKNOWN_LENGTH;
        }
    };

    private final InputStream input;
    private final StoredLength storedLength;
    private byte[] octets;
    private boolean hasEnded;

    /** Reports how much of the stored input a stream consumed, where that differs from its output. */
    interface StoredLength {
        /** {@return octets consumed so far, or -1 if equal to the output} */
        long consumedBytes();

        /** {@return octets in all, or -1 if unknown} */
        long totalBytes();
    }

    /** A window that shows nothing yet; it closes the input. */
    StreamWindow(final InputStream input, final StoredLength storedLength, final int bufferLengthBytes) {
        super(new UnsafeBuffer(0, 0));
        this.input = input;
        this.storedLength = storedLength;
        this.octets = new byte[bufferLengthBytes];
        view.wrap(octets);
    }

    @Override
    protected int move(final long position, final int lengthBytes) {
        dropBefore(position);
        if (lengthBytes > octets.length) {
            octets = Arrays.copyOf(octets, Math.max(lengthBytes, 2 * octets.length));
            view.wrap(octets);
        }
        while (viewPosition < position || viewLengthBytes < lengthBytes) {
            if (!fill()) {
                return NOT_THERE;
            }
            dropBefore(position);
        }
        return 0;
    }

    private void dropBefore(final long position) {
        final int droppedBytes = (int) Math.min(position - viewPosition, viewLengthBytes);
        viewLengthBytes -= droppedBytes;
        viewPosition += droppedBytes;
        System.arraycopy(octets, droppedBytes, octets, 0, viewLengthBytes);
    }

    private boolean fill() {
        if (hasEnded) {
            return false;
        }
        try {
            final int readBytes = input.read(octets, viewLengthBytes, octets.length - viewLengthBytes);
            hasEnded = readBytes < 0;
            viewLengthBytes += Math.max(readBytes, 0);
        } catch (final IOException ex) {
            failure = ex.getMessage() == null ? ex.toString() : ex.getMessage();
            hasEnded = true;
        }
        return !hasEnded;
    }

    @Override
    boolean isReady(final long position) {
        if (hasEnded || position < viewPosition + viewLengthBytes) {
            return true;
        }
        try {
            return input.available() > 0;
        } catch (final IOException ex) {
            failure = "cannot be read: " + ex;
            hasEnded = true;
            return true;
        }
    }

    @Override
    long endPosition() {
        return viewPosition + viewLengthBytes;
    }

    @Override
    boolean isCutBelowView() {
        return false;
    }

    @Override
    long consumedBytes(final long position) {
        final long storedBytes = storedLength.consumedBytes();
        return storedBytes < 0 ? position : storedBytes;
    }

    @Override
    long totalBytes() {
        return storedLength.totalBytes();
    }

    @Override
    public void close() {
        try {
            input.close();
        } catch (final IOException ex) {
            failure = "cannot be closed: " + ex;
        }
    }
}
