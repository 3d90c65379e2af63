package io.flowlag.exporter.export.spool;

import io.flowlag.common.file.Disk;
import io.flowlag.exporter.terminal.OutputFiles;
import org.agrona.CloseHelper;

import java.io.IOException;
import java.nio.channels.FileChannel;
import java.nio.channels.FileLock;
import java.nio.file.Path;
import java.nio.file.StandardOpenOption;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;

/** The lock of a spool's directory, and the file with its read position. Used by one thread at a time. */
final class SpoolHold implements AutoCloseable {
    private static final Set<Path> HELD_DIRECTORIES = ConcurrentHashMap.newKeySet();

    private final Path directory;
    private FileChannel lockChannel;
    private FileLock lock;
    private SpoolPosition position;

    private SpoolHold(final Path directory) {
        this.directory = directory;
    }

    /**
     * Locks the directory, unless a spool of this process holds it. This is checked before the lock file is opened, because
     * closing a file releases all locks that its process has on it.
     *
     * @return the lock, or null if a spool of this process holds it.
     * @throws IOException if another process holds it, or the lock or the position cannot be opened; the message names it.
     */
    static SpoolHold take(final Path directory) throws IOException {
        final Path realDirectory = directory.toRealPath();
        if (!HELD_DIRECTORIES.add(realDirectory)) {
            return null;
        }
        final SpoolHold hold = new SpoolHold(realDirectory);
        boolean isTaken = false;
        try {
            hold.lockChannel = openLock(directory.resolve("lock"));
            hold.lock = hold.lockChannel.tryLock();
            if (hold.lock == null) {
                throw new IOException(directory + ": another process uses this spool");
            }
            hold.position = new SpoolPosition(directory.resolve("position"));
            isTaken = true;
        } finally {
            if (!isTaken) {
                hold.close();
            }
        }
        return hold;
    }

    private static FileChannel openLock(final Path path) throws IOException {
        try {
            return Disk.open(path, SpoolSegment.MODE, StandardOpenOption.CREATE, StandardOpenOption.WRITE);
        } catch (final IOException ex) {
            throw new IOException(path + ": " + OutputFiles.reason(ex), ex);
        }
    }

    SpoolPosition position() {
        return position;
    }

    @Override
    public void close() {
        CloseHelper.quietCloseAll(position, lock, lockChannel);
        HELD_DIRECTORIES.remove(directory);
    }
}
