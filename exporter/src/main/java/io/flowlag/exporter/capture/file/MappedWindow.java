package io.flowlag.exporter.capture.file;

import io.flowlag.common.memory.CheckedBuffer;
import org.agrona.BufferUtil;

import java.io.IOException;
import java.nio.MappedByteBuffer;
import java.nio.channels.FileChannel;
import java.nio.channels.FileChannel.MapMode;

/**
 * A window on a file that maps one piece after another, because files may be longer than a mapping. Owns the channel and the
 * mapping; both are released at once, not by the garbage collector. Allocates one small object each time it maps (every {@link
 * #WINDOW_LENGTH_BYTES} octets), and nothing else.
 * <p>
 * If the file is truncated while mapped, reading the octets behind the new end faults. The JVM reports this by an {@link
 * InternalError}, which may come late: until then the octets read are undefined. The window therefore checks the file's length
 * before it shows each further {@link #TRUSTED_LENGTH_BYTES} octets, which limits the octets read wrongly. On the error, the
 * source calls {@link #isCutBelowView()}.
 */
final class MappedWindow extends ByteWindow {
    /** The length of a mapping, which counts as the process's memory. Longer than the longest piece that a reader requires. */
    static final int WINDOW_LENGTH_BYTES = 16 << 20;

    /** How much of the mapping is in view after one check of the file's length. */
    static final int TRUSTED_LENGTH_BYTES = 64 << 10;

    private final FileChannel channel;
    private final int windowLengthBytes;
    private final long fileLengthBytes;
    private MappedByteBuffer mapping;
    private int mappedLengthBytes;

    /** A window that shows nothing yet, of so much of the file at a time; the channel is closed with it. */
    MappedWindow(final FileChannel channel, final int windowLengthBytes) throws IOException {
        super(new CheckedBuffer(0, 0));
        this.channel = channel;
        this.windowLengthBytes = windowLengthBytes;
        this.fileLengthBytes = channel.size();
    }

    @Override
    protected int move(final long position, final int lengthBytes) {
        if (failure != null || position > fileLengthBytes - lengthBytes) {
            return NOT_THERE;
        }
        try {
            return extend(position, lengthBytes);
        } catch (final IOException ex) {
            return failed("cannot be read: " + ex);
        }
    }

    private int extend(final long position, final int lengthBytes) throws IOException {
        final long currentLengthBytes = channel.size();
        if (currentLengthBytes < position + lengthBytes) {
            return failed("the file was cut to " + currentLengthBytes + " octets while it was read");
        }
        if (position + lengthBytes > viewPosition + mappedLengthBytes) {
            map(position, Math.min(Math.max(windowLengthBytes, lengthBytes), fileLengthBytes - position));
        }
        final long trustedBytes = position - viewPosition + Math.max(TRUSTED_LENGTH_BYTES, lengthBytes);
        viewLengthBytes = (int) Math.min(Math.min(trustedBytes, mappedLengthBytes), currentLengthBytes - viewPosition);
        return (int) (position - viewPosition);
    }

    private void map(final long position, final long lengthBytes) throws IOException {
        release();
        mapping = channel.map(MapMode.READ_ONLY, position, lengthBytes);
        view.wrap(mapping, 0, (int) lengthBytes);
        viewPosition = position;
        mappedLengthBytes = (int) lengthBytes;
    }

    private int failed(final String reason) {
        failure = reason;
        return NOT_THERE;
    }

    @Override
    boolean isReady(final long position) {
        return true;
    }

    @Override
    long endPosition() {
        return fileLengthBytes;
    }

    @Override
    boolean isCutBelowView() {
        try {
            return channel.size() < viewPosition + viewLengthBytes;
        } catch (final IOException ex) {
            failure = "cannot be read: " + ex;
            return true;
        }
    }

    @Override
    long consumedBytes(final long position) {
        return Math.min(position, fileLengthBytes);
    }

    @Override
    long totalBytes() {
        return fileLengthBytes;
    }

    @Override
    public void close() {
        release();
        try {
            channel.close();
        } catch (final IOException ex) {
            failure = "cannot be closed: " + ex;
        }
    }

    private void release() {
        view.wrap(0, 0);
        viewLengthBytes = 0;
        mappedLengthBytes = 0;
        if (mapping != null) {
            BufferUtil.free(mapping);
            mapping = null;
        }
    }
}
