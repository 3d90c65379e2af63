package io.flowlag.exporter.monitoring;

import io.flowlag.common.command.ExitCode;
import io.flowlag.common.command.ExitException;
import org.agrona.IoUtil;
import org.agrona.concurrent.UnsafeBuffer;

import java.io.IOException;
import java.lang.invoke.VarHandle;
import java.nio.MappedByteBuffer;
import java.nio.channels.FileChannel;
import java.nio.file.AccessDeniedException;
import java.nio.file.Files;
import java.nio.file.NoSuchFileException;
import java.nio.file.Path;
import java.nio.file.StandardOpenOption;

import static java.nio.ByteOrder.LITTLE_ENDIAN;

/** Reads a {@link StatusFile}; any other file is refused with one line. Never writes to it. One thread. */
public final class StatusFileReader implements AutoCloseable {
    private static final int LARGEST_BUFFER_LENGTH = 64 << 20;
    private static final int ATTEMPTS = 1000;
    /** The writer updates its activity five times a second, but the machine may be loaded. */
    private static final long LEAST_SILENCE_MS = 10_000;
    /** A process that is not found may be in another container, as long as its activity goes on. */
    private static final long DEAD_SILENCE_MS = 2_000;

    private final Path path;
    private final MappedByteBuffer mapped;
    private final UnsafeBuffer file;
    private final int bufferLength;

    /** Opens a status file; throws an {@link ExitException} if it is absent, unreadable, or not a status file. */
    public StatusFileReader(final Path path) {
        this.path = path;
        try (FileChannel channel = FileChannel.open(path, StandardOpenOption.READ)) {
            final long length = channel.size();
            if (!Files.isRegularFile(path) || length < StatusFile.HEADER_LENGTH || length > 2L * LARGEST_BUFFER_LENGTH) {
                throw refusal("is no status file of flowlag");
            }
            mapped = channel.map(FileChannel.MapMode.READ_ONLY, 0, length);
            file = new UnsafeBuffer(mapped);
            bufferLength = checked(length);
        } catch (final NoSuchFileException ex) {
            throw new ExitException(ExitCode.NO_INPUT, path + ": no such file: is the process running, with status.enabled on?");
        } catch (final AccessDeniedException ex) {
            throw new ExitException(ExitCode.NO_INPUT, path + ": may not be read: be its owner, or of its group");
        } catch (final IOException ex) {
            throw new ExitException(ExitCode.NO_INPUT, path + ": cannot be read: " + ex.getMessage());
        }
    }

    private int checked(final long length) {
        String refusal = null;
        final int version = file.getInt(StatusFile.VERSION_OFFSET, LITTLE_ENDIAN);
        final long bufferOctets = file.getLong(StatusFile.BUFFER_LENGTH_OFFSET, LITTLE_ENDIAN);
        if (file.getLongVolatile(StatusFile.MAGIC_OFFSET) != StatusFile.MAGIC) {
            refusal = "is no status file of flowlag";
        } else if (version != StatusFile.VERSION) {
            refusal = "has version " + version + ", this flowlag reads " + StatusFile.VERSION + ": take the flowlag that runs";
        } else if (file.getInt(StatusFile.HEADER_LENGTH_OFFSET, LITTLE_ENDIAN) != StatusFile.HEADER_LENGTH ||
            bufferOctets < StatusFile.CONTENT_OFFSET || bufferOctets > LARGEST_BUFFER_LENGTH ||
            length != StatusFile.HEADER_LENGTH + 2 * bufferOctets) {
            refusal = "is a damaged status file";
        }
        if (refusal != null) {
            IoUtil.unmap(mapped);
            throw refusal(refusal);
        }
        return (int)bufferOctets;
    }

    private ExitException refusal(final String reason) {
        return new ExitException(ExitCode.DAMAGED_INPUT, path + ": " + reason);
    }

    /** {@return the id of the writing process} */
    public long pid() {
        return file.getLong(StatusFile.PID_OFFSET, LITTLE_ENDIAN);
    }

    /** {@return whether its process has ended normally} */
    public boolean isEnded() {
        return file.getLongVolatile(StatusFile.ENDED_OFFSET) != 0;
    }

    /** Why no new snapshot is expected, one line; null while the process is active. The time is since 1970. */
    public String silence(final long nowMs) {
        if (isEnded()) {
            return path + ": process " + pid() + " has ended";
        }
        final long silenceMs = nowMs - file.getLongVolatile(StatusFile.ACTIVITY_OFFSET);
        if (silenceMs <= DEAD_SILENCE_MS) {
            return null;
        }
        if (!isAlive(pid())) {
            return path + ": process " + pid() + " was killed, no sign of life for " + silenceMs / 1000 + " s";
        }
        return silenceMs <= LEAST_SILENCE_MS ? null :
            path + ": process " + pid() + " hangs, no sign of life for " + silenceMs / 1000 + " s";
    }

    /** The number of the newest snapshot. Returns 0 before the first. */
    public long snapshotNumber() {
        return file.getLongVolatile(StatusFile.SNAPSHOT_NUMBER_OFFSET);
    }

    /** Copies the newest snapshot, null before the first; throws an {@link ExitException} if it is damaged. */
    public StatusSnapshot read() {
        try {
            for (int i = 0; i < ATTEMPTS; i++) {
                final long number = snapshotNumber();
                if (number == 0) {
                    return null;
                }
                final UnsafeBuffer copy = copy(number);
                if (copy != null) {
                    return SnapshotCodec.decode(copy);
                }
            }
        } catch (final InternalError ex) {
            throw refusal("was cut while it was read");
        } catch (final ExitException ex) {
            throw refusal(ex.getMessage());
        }
        throw refusal("changes faster than it can be read");
    }

    private UnsafeBuffer copy(final long number) {
        final int offset = StatusFile.bufferOffset(number, bufferLength);
        final int length = file.getInt(offset + StatusFile.CONTENT_LENGTH_OFFSET, LITTLE_ENDIAN);
        final boolean isPossible = length >= 0 && length <= bufferLength - StatusFile.CONTENT_OFFSET;
        final UnsafeBuffer copy = new UnsafeBuffer(new byte[isPossible ? length : 0]);
        final long numberInBuffer = file.getLong(offset + StatusFile.NUMBER_OFFSET, LITTLE_ENDIAN);
        final int checksum = file.getInt(offset + StatusFile.CHECKSUM_OFFSET, LITTLE_ENDIAN);
        copy.putBytes(0, file, offset + StatusFile.CONTENT_OFFSET, copy.capacity());
        VarHandle.fullFence();
        if (snapshotNumber() != number) {
            return null;
        }
        if (!isPossible || numberInBuffer != number || StatusFile.checksum(copy, 0, length) != checksum) {
            throw new ExitException(ExitCode.DAMAGED_INPUT, "is a damaged status file");
        }
        return copy;
    }

    static boolean isAlive(final long pid) {
        return ProcessHandle.of(pid).map(ProcessHandle::isAlive).orElse(false);
    }

    @Override
    public void close() {
        IoUtil.unmap(mapped);
    }
}
