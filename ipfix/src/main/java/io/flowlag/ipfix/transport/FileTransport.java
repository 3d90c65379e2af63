package io.flowlag.ipfix.transport;

import io.flowlag.common.file.Disk;
import org.agrona.CloseHelper;
import org.agrona.DirectBuffer;
import org.agrona.collections.IntArrayList;

import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.channels.FileChannel;
import java.nio.channels.FileLock;
import java.nio.channels.OverlappingFileLockException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardOpenOption;

/**
 * Consecutive messages in a file (RFC 5655 section 7), which a File Reader reads from the first octet. The buffer is written when
 * it is full, one second after a message was added, and at {@link #flush}. After a write error the file is truncated to its last
 * whole message. The transport is then {@link TransportState#FAILED} for good, or continues behind that message once the file can
 * be reopened, as configured.
 *
 * <p>A regular file is locked while it is written, so that a second process does not empty it; a file system without locks offers
 * no such protection.
 *
 * <p>See {@link Transport} for threads and memory. Writing to a file may block on the disk. Allocates at construction.
 */
public final class FileTransport extends TransportSupport {
    /** The suffix of RFC 5655 section 11. */
    public static final String SUFFIX = ".ipfix";

    private static final String MODE = "rw-r-----";
    private static final int BUFFER_BYTES = 256 * 1024;
    private static final int MIN_MESSAGE_BYTES = 20;
    private static final long MAX_BUFFERED_MS = 1_000L;
    private static final long NEVER = Long.MIN_VALUE;

    private final Path path;
    private final long retryIntervalMs;
    private FileChannel channel;
    /** Kept reachable, because the JVM drops a lock that is unreachable. */
    private FileLock lock;
    private final boolean isRegularFile;
    private final ByteBuffer buffer = ByteBuffer.allocateDirect(BUFFER_BYTES);
    private final IntArrayList messageEnds = new IntArrayList(BUFFER_BYTES / MIN_MESSAGE_BYTES, IntArrayList.DEFAULT_NULL_VALUE);
    private long writtenOctets;
    private long wholeMessageOctets;
    private long writeDueMs = Long.MAX_VALUE;
    private long retryMs = NEVER;
    private boolean isContinued;

    /**
     * Creates the file or empties it; after a write error the transport has failed for good.
     *
     * @throws IOException if that cannot be done; the message names the file.
     */
    public FileTransport(final Path path) throws IOException {
        this(path, 0);
    }

    /**
     * Creates the file or empties it. A non-regular file (a pipe, a device) is not reopened after a write error.
     *
     * @param retryIntervalMs between attempts to open it again after a write error; 0 for none.
     * @throws IOException if that cannot be done; the message names the file.
     */
    public FileTransport(final Path path, final long retryIntervalMs) throws IOException {
        super("file:" + path);
        this.path = path;
        this.retryIntervalMs = retryIntervalMs;
        this.channel = openEmpty();
        this.isRegularFile = Files.isRegularFile(path);
        state(TransportState.CONNECTED);
    }

    /** {@return most octets that wait in this process} */
    public static int bufferBytes() {
        return BUFFER_BYTES;
    }

    private FileChannel openEmpty() throws IOException {
        FileChannel opened = null;
        try {
            opened = open();
            if (Files.isRegularFile(path)) {
                opened.truncate(0);
            }
            return opened;
        } catch (final IOException ex) {
            CloseHelper.quietClose(opened);
            throw new IOException("cannot write " + path + ": " + FileErrors.reason(ex), ex);
        }
    }

    /** Opens the file without truncating it, and locks a regular one. It is no link, but for those of the system in /dev. */
    private FileChannel open() throws IOException {
        final FileChannel opened = path.startsWith("/dev") || Files.exists(path) && !Files.isRegularFile(path) ?
            FileChannel.open(path, StandardOpenOption.CREATE, StandardOpenOption.WRITE) :
            Disk.open(path, MODE, StandardOpenOption.CREATE, StandardOpenOption.WRITE);
        try {
            lock = Files.isRegularFile(path) ? lock(opened) : null;
            return opened;
        } catch (final IOException ex) {
            CloseHelper.quietClose(opened);
            throw ex;
        }
    }

    private static FileLock lock(final FileChannel opened) throws IOException {
        final FileLock taken;
        try {
            taken = opened.tryLock();
        } catch (final OverlappingFileLockException ex) {
            throw new IOException("this process writes it already; name another file", ex);
        } catch (final IOException ex) {
            return null; // a file system without locks; exporting is more important
        }
        if (taken == null) {
            throw new IOException("another process writes it; name another file");
        }
        return taken;
    }

    @Override
    public TransportKind kind() {
        return TransportKind.FILE;
    }

    @Override
    public SendResult send(final DirectBuffer message, final int offset, final int lengthBytes) {
        if (!isConnected() || lengthBytes > buffer.remaining() && !write()) {
            return SendResult.FAILED;
        }
        message.getBytes(offset, buffer, buffer.position(), lengthBytes);
        buffer.position(buffer.position() + lengthBytes);
        messageEnds.addInt(buffer.position());
        return SendResult.SENT;
    }

    @Override
    public int doWork(final long nowMs) {
        if (state() == TransportState.DISCONNECTED) {
            return goOn(nowMs);
        }
        if (buffer.position() == 0 || !isConnected()) {
            return 0;
        }
        if (writeDueMs - nowMs > MAX_BUFFERED_MS) { // not set, or the clock was set back
            writeDueMs = nowMs + MAX_BUFFERED_MS;
        }
        return nowMs >= writeDueMs && write() ? 1 : 0;
    }

    @Override
    public boolean flush(final long nowMs) {
        return buffer.position() == 0 || isConnected() && write();
    }

    private boolean write() {
        writeDueMs = Long.MAX_VALUE;
        buffer.flip();
        try {
            while (buffer.hasRemaining()) {
                writtenOctets += channel.write(buffer);
            }
            clear();
            wholeMessageOctets = writtenOctets;
            return true;
        } catch (final IOException ex) {
            fail(ex);
            return false;
        }
    }

    private void clear() {
        buffer.clear();
        messageEnds.clear();
    }

    private void fail(final IOException cause) {
        wholeMessageOctets += wholeMessagesIn(writtenOctets - wholeMessageOctets);
        clear();
        String text = "cannot write " + path + ": " + FileErrors.reason(cause);
        try {
            if (Files.isRegularFile(path)) {
                channel.truncate(wholeMessageOctets);
            }
        } catch (final IOException ex) {
            text += "; its last message is cut: " + FileErrors.reason(ex);
        }
        error(text);
        CloseHelper.quietClose(channel);
        retryMs = NEVER;
        state(retryIntervalMs > 0 && isRegularFile ? TransportState.DISCONNECTED : TransportState.FAILED);
    }

    /** Tries to reopen the file. If the clock was set back, a whole interval starts again. */
    private int goOn(final long nowMs) {
        if (retryMs == NEVER || retryMs - nowMs > retryIntervalMs) {
            retryMs = nowMs + retryIntervalMs;
        }
        if (nowMs < retryMs) {
            return 0;
        }
        retryMs = NEVER;
        FileChannel reopened = null;
        try {
            reopened = open();
            isContinued = Files.isRegularFile(path) && reopened.size() >= wholeMessageOctets;
            if (!isContinued) {
                wholeMessageOctets = 0;
            }
            if (Files.isRegularFile(path)) {
                reopened.truncate(wholeMessageOctets);
                reopened.position(wholeMessageOctets);
            }
        } catch (final IOException ex) {
            CloseHelper.quietClose(reopened);
            error("cannot write " + path + ": " + FileErrors.reason(ex));
            return 1;
        }
        channel = reopened;
        writtenOctets = wholeMessageOctets;
        error("");
        state(TransportState.CONNECTED);
        return 1;
    }

    @Override
    public boolean isContinued() {
        return isContinued;
    }

    /** Octets of the buffer, up to a limit, that are completely written messages. */
    private int wholeMessagesIn(final long limit) {
        int end = 0;
        for (int i = 0; i < messageEnds.size() && messageEnds.getInt(i) <= limit; i++) {
            end = messageEnds.getInt(i);
        }
        return end;
    }

    @Override
    public long deliveredOctets() {
        return wholeMessageOctets;
    }

    @Override
    public void close() {
        if (state() == TransportState.CONNECTED) {
            CloseHelper.quietClose(channel);
            state(TransportState.CLOSED);
        }
    }
}
