package io.flowlag.exporter.export.spool;

import io.flowlag.common.file.Disk;
import org.agrona.CloseHelper;

import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.channels.FileChannel;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardOpenOption;

/**
 * The state of one file of a spool. Used by one thread at a time, but for {@link #force}, which one other thread may call at the
 * same time; it has a channel of its own.
 */
final class SpoolSegment implements AutoCloseable {
    /** Of all files of a spool. */
    static final String MODE = "rw-------";

    final long number;
    final Path path;
    /** Octets of whole frames. */
    long lengthBytes;
    long records;
    /** Records read since the start, or since reading went back. */
    long readRecords;
    long releasedRecords;
    /** End of the last released record. */
    long releasedOffset = SpoolLayout.HEADER_LENGTH_BYTES;
    /** Packets of unreleased records. */
    long packets;
    /** Octets of unreleased records. */
    long octets;
    /** Whether writing to it has ended. */
    volatile boolean isSealed;
    /** Whether the disk did not take it once: what it holds may be lost by a power cut, whatever the disk answers later. */
    volatile boolean isDoubtful;
    /** Whether it was forced once. Thread of {@link #force}. */
    boolean isForced;
    private volatile boolean isDeleted;
    private FileChannel channel;
    private FileChannel forcedChannel;

    SpoolSegment(final Path directory, final long number) {
        this.number = number;
        path = directory.resolve(name(number));
    }

    static String name(final long number) {
        return String.format("%016x.spool", number);
    }

    /** The number in a file's name, or negative. */
    static long number(final Path path) {
        final String name = path.getFileName().toString();
        return name.matches("0[0-9a-f]{15}\\.spool") ? Long.parseUnsignedLong(name.substring(0, 16), 16) : -1;
    }

    FileChannel channel() throws IOException {
        if (channel == null) {
            channel = Disk.open(path, MODE, StandardOpenOption.READ, StandardOpenOption.WRITE, StandardOpenOption.CREATE);
        }
        return channel;
    }

    long recordsLeft() {
        return records - releasedRecords;
    }

    /** Writes so many octets behind the whole frames; {@link #lengthBytes} stays. */
    void write(final ByteBuffer buffer, final int count) throws IOException {
        buffer.limit(count).position(0);
        try {
            while (buffer.hasRemaining()) {
                channel().write(buffer, lengthBytes + buffer.position());
            }
        } finally {
            buffer.clear();
        }
    }

    /** Cuts off a partial write. */
    void cut() throws IOException {
        channel().truncate(lengthBytes);
    }

    void delete() throws IOException {
        close();
        isDeleted = true;
        Files.deleteIfExists(path);
    }

    /** Forces what was written, unless it is deleted. Returns whether nothing is left to force later. */
    boolean force(final Disk disk) throws IOException {
        final boolean isWhole = isSealed;
        try {
            if (forcedChannel == null && !isDeleted) {
                forcedChannel = Disk.open(path, MODE, StandardOpenOption.WRITE);
            }
            if (!isDeleted) {
                disk.force(forcedChannel, path);
                isForced = true;
            }
        } catch (final IOException ex) {
            isDoubtful = !isDeleted;
            if (isDoubtful) {
                throw ex;
            }
        }
        if (isWhole || isDeleted) {
            closeForced();
        }
        return isWhole || isDeleted;
    }

    /** Nothing is left to force, or nothing can be. Thread of {@link #force}. */
    void closeForced() {
        CloseHelper.quietClose(forcedChannel);
        forcedChannel = null;
    }

    boolean isDeleted() {
        return isDeleted;
    }

    @Override
    public void close() {
        CloseHelper.quietClose(channel);
        channel = null;
    }
}
