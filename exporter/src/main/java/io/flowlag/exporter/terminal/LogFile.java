package io.flowlag.exporter.terminal;

import io.flowlag.common.file.Disk;
import org.agrona.CloseHelper;

import java.io.IOException;
import java.io.OutputStream;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.LinkOption;
import java.nio.file.Path;
import java.nio.file.StandardOpenOption;
import java.util.function.Consumer;

/**
 * The log file, readable by its owner and group, and no link. A named pipe is opened where lines are written, because that waits
 * for a reader. When a write fails, the terminal shows this once and receives the lines until the file is reopened. Safe from any
 * thread; allocates with each line.
 */
public final class LogFile implements Consumer<String>, AutoCloseable {
    private static final int TYPE_MASK = 0xf000;
    private static final int PIPE_TYPE = 0x1000;

    private final Path path;
    private final Terminal terminal;
    private OutputStream stream;
    private boolean isLost;

    LogFile(final Path path, final Terminal terminal) throws IOException {
        this.path = path;
        this.terminal = terminal;
        final boolean isDevice = path.startsWith("/dev") || Files.exists(path) && !Files.isRegularFile(path);
        if (isDevice && isPipe(path)) {
            return;
        }
        if (!isDevice) {
            Disk.open(path, "rw-r-----", StandardOpenOption.CREATE, StandardOpenOption.APPEND).close();
        }
        stream = isDevice ? Files.newOutputStream(path, StandardOpenOption.APPEND) : open();
    }

    /** The stream, unlike a channel, stays open when a thread that writes is interrupted. */
    private OutputStream open() throws IOException {
        return Files.newOutputStream(path, StandardOpenOption.APPEND, LinkOption.NOFOLLOW_LINKS);
    }

    /** Whether it is one, and may be written. */
    private static boolean isPipe(final Path path) throws IOException {
        final int mode = (int)Files.getAttribute(path, "unix:mode", LinkOption.NOFOLLOW_LINKS);
        return Files.isWritable(path) && (mode & TYPE_MASK) == PIPE_TYPE;
    }

    /** Takes the place of the file in use. A named pipe is opened before that is closed, so that its reader sees no end. */
    void follow(final LogFile inUse) {
        terminal.write(() -> {
            try {
                begin();
            } catch (final IOException ex) {
                return; // told with the next line
            }
        });
        inUse.close();
    }

    private synchronized void begin() throws IOException {
        if (stream == null) {
            stream = open();
        }
    }

    @Override
    public void accept(final String line) {
        terminal.write(() -> write(line));
    }

    private synchronized void write(final String line) {
        if (!isLost) {
            try {
                begin();
                stream.write((line + '\n').getBytes(StandardCharsets.UTF_8));
                return;
            } catch (final IOException ex) {
                isLost = true;
                terminal.message("flowlag: log.file=" + path + " cannot be written: " + OutputFiles.reason(ex) +
                    "; the log goes on here");
            }
        }
        terminal.message(line);
    }

    @Override
    public void close() {
        if (!terminal.write(() -> CloseHelper.quietClose(stream))) {
            CloseHelper.quietClose(stream);
        }
    }
}
