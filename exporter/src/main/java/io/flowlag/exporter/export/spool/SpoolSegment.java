package io.flowlag.exporter.export.spool;

import org.agrona.CloseHelper;

import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.channels.FileChannel;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardOpenOption;

/** The state of one file of a spool. Used by the exporting thread. */
final class SpoolSegment implements AutoCloseable {
    final long number;
    final Path path;
    /** Octets of whole frames. */
    long lengthBytes;
    long records;
    /** Records read since the start, or since reading went back. */
    long readRecords;
    long releasedRecords;
    /** Packets of unreleased records. */
    long packets;
    /** Octets of unreleased records. */
    long octets;
    /** Whether writing to it has ended. */
    boolean isSealed;
    private FileChannel channel;

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
            channel = FileChannel.open(path, StandardOpenOption.READ, StandardOpenOption.WRITE, StandardOpenOption.CREATE);
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
        Files.deleteIfExists(path);
    }

    @Override
    public void close() {
        CloseHelper.quietClose(channel);
        channel = null;
    }
}
