package io.flowlag.exporter.monitoring;

import io.flowlag.common.command.ExitException;
import org.agrona.DirectBuffer;
import org.agrona.IoUtil;
import org.agrona.concurrent.UnsafeBuffer;

import java.io.IOException;
import java.lang.invoke.VarHandle;
import java.nio.ByteBuffer;
import java.nio.MappedByteBuffer;
import java.nio.channels.FileChannel;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardCopyOption;
import java.nio.file.StandardOpenOption;
import java.nio.file.attribute.FileAttribute;
import java.nio.file.attribute.PosixFilePermissions;
import java.util.Set;

import static java.nio.ByteOrder.LITTLE_ENDIAN;

/**
 * The only writer of a {@link StatusFile}. The file appears complete under its name, readable by owner and group, with its blocks
 * allocated. It is deleted on close unless another process has replaced it. One thread, never the packets'. Allocates at
 * construction.
 */
final class StatusFileWriter implements AutoCloseable {
    private static final FileAttribute<?> MODE =
        PosixFilePermissions.asFileAttribute(PosixFilePermissions.fromString("rw-r-----"));
    private static final int ZEROS_BYTES = 1 << 16;

    private final Path path;
    private final long pid;
    private final int bufferLength;
    private final MappedByteBuffer mapped;
    private final UnsafeBuffer file;
    private long number;
    private boolean isClosed;

    /**
     * Makes the file.
     *
     * @param path           of the file; replaced if its process has ended.
     * @param contentsLength of a snapshot at most.
     * @throws IOException if it cannot be created, belongs to a running process, or is not a status file.
     */
    StatusFileWriter(
        final Path path, final long pid, final long startTimeMs, final long intervalMs, final int contentsLength)
        throws IOException {
        this.path = path.toAbsolutePath();
        this.pid = pid;
        bufferLength = (StatusFile.CONTENT_OFFSET + contentsLength + 7) & ~7;
        refuseOthers();
        final Path part = this.path.resolveSibling(this.path.getFileName() + "." + pid + ".part");
        Files.deleteIfExists(part);
        final int length = StatusFile.HEADER_LENGTH + 2 * bufferLength;
        try (FileChannel channel = FileChannel.open(part,
            Set.of(StandardOpenOption.CREATE_NEW, StandardOpenOption.READ, StandardOpenOption.WRITE), MODE)) {
            allocate(channel, length);
            mapped = channel.map(FileChannel.MapMode.READ_WRITE, 0, length);
            file = new UnsafeBuffer(mapped);
            writeHeader(startTimeMs, intervalMs);
            Files.move(part, this.path, StandardCopyOption.ATOMIC_MOVE, StandardCopyOption.REPLACE_EXISTING);
        } catch (final IOException ex) {
            Files.deleteIfExists(part);
            throw ex;
        }
    }

    private void refuseOthers() throws IOException {
        if (!Files.exists(path)) {
            return;
        }
        try (StatusFileReader other = new StatusFileReader(path)) {
            if (other.pid() != pid && !other.isEnded() && StatusFileReader.isAlive(other.pid())) {
                throw new IOException(path + " is the status file of process " + other.pid() + ", which lives");
            }
        } catch (final ExitException ex) {
            throw new IOException("will not overwrite: " + ex.getMessage(), ex);
        }
    }

    /** Allocates all blocks: a page fault on a full disk would end the process. */
    private static void allocate(final FileChannel channel, final int length) throws IOException {
        final ByteBuffer zeros = ByteBuffer.allocate(ZEROS_BYTES);
        long position = 0;
        while (position < length) {
            zeros.clear().limit((int)Math.min(ZEROS_BYTES, length - position));
            position += channel.write(zeros, position);
        }
    }

    private void writeHeader(final long startTimeMs, final long intervalMs) {
        file.putInt(StatusFile.VERSION_OFFSET, StatusFile.VERSION, LITTLE_ENDIAN);
        file.putInt(StatusFile.HEADER_LENGTH_OFFSET, StatusFile.HEADER_LENGTH, LITTLE_ENDIAN);
        file.putLong(StatusFile.BUFFER_LENGTH_OFFSET, bufferLength, LITTLE_ENDIAN);
        file.putLong(StatusFile.PID_OFFSET, pid, LITTLE_ENDIAN);
        file.putLong(StatusFile.START_TIME_OFFSET, startTimeMs, LITTLE_ENDIAN);
        file.putLong(StatusFile.INTERVAL_OFFSET, intervalMs, LITTLE_ENDIAN);
        file.putLong(StatusFile.ACTIVITY_OFFSET, startTimeMs, LITTLE_ENDIAN);
        file.putLongVolatile(StatusFile.MAGIC_OFFSET, StatusFile.MAGIC);
    }

    /** {@return where the file is} */
    Path path() {
        return path;
    }

    /** Writes a snapshot. Returns false if it does not fit; the previous snapshot stays. */
    boolean write(final DirectBuffer contents) {
        final int lengthBytes = contents.capacity();
        if (lengthBytes > bufferLength - StatusFile.CONTENT_OFFSET) {
            return false;
        }
        final long next = number + 1;
        final int offset = StatusFile.bufferOffset(next, bufferLength);
        VarHandle.fullFence();
        file.putLong(offset + StatusFile.NUMBER_OFFSET, next, LITTLE_ENDIAN);
        file.putInt(offset + StatusFile.CONTENT_LENGTH_OFFSET, lengthBytes, LITTLE_ENDIAN);
        file.putBytes(offset + StatusFile.CONTENT_OFFSET, contents, 0, lengthBytes);
        file.putInt(offset + StatusFile.CHECKSUM_OFFSET,
            StatusFile.checksum(file, offset + StatusFile.CONTENT_OFFSET, lengthBytes), LITTLE_ENDIAN);
        file.putLongRelease(StatusFile.SNAPSHOT_NUMBER_OFFSET, next);
        number = next;
        return true;
    }

    /** Updates the activity to a time since 1970. */
    void activity(final long nowMs) {
        file.putLongRelease(StatusFile.ACTIVITY_OFFSET, nowMs);
    }

    /** Marks the process as ended, and deletes the file. */
    @Override
    public void close() {
        if (isClosed) {
            return;
        }
        isClosed = true;
        file.putLongRelease(StatusFile.ENDED_OFFSET, System.currentTimeMillis());
        boolean isOurs = false;
        try (StatusFileReader reader = new StatusFileReader(path)) {
            isOurs = reader.pid() == pid;
        } catch (final ExitException ex) {
            // Another file has replaced it, and stays.
            isOurs = false;
        }
        IoUtil.unmap(mapped);
        if (isOurs) {
            IoUtil.deleteIfExists(path.toFile());
        }
    }
}
