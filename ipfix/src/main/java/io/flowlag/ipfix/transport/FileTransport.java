package io.flowlag.ipfix.transport;

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
 * Messages one after another in a file (RFC 5655 section 7), which a File Reader takes from the first octet. Buffered; the
 * buffer is written when it is full, a second after something was put into it, and at {@link #flush}. After a write error the
 * file is cut back to its last whole message, and the transport is {@link TransportState#FAILED} for good, or goes on behind that
 * message when the file can be opened again: as the user chooses.
 * <p>
 * A regular file is locked while it is written, so that a second process does not empty it; where the file system has no locks
 * nothing keeps one away.
 * <p>
 * See {@link Transport} for threads and memory. Writing to a file may take as long as the disk takes. Allocates at construction.
 */
public final class FileTransport extends TransportSupport {
    /** The suffix of RFC 5655 section 11. */
    public static final String SUFFIX = ".ipfix";

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
     * Creates the file or empties it. What is no regular file (a pipe, a device) is not opened again after a write error.
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

    /** {@return octets that wait in this process at most} */
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

    /** The file with what is in it, locked if it is a regular one. */
    private FileChannel open() throws IOException {
        final FileChannel opened = FileChannel.open(path, StandardOpenOption.CREATE, StandardOpenOption.WRITE);
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
            return null; // a file system without locks; to export matters more
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

    /** A clock that was set back waits for a whole interval once more. */
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

    /** How many octets of the buffer, up to a limit, are messages that were written to their end. */
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
    public long uncertainOctets() {
        return 0;
    }

    @Override
    public long peerLossCount() {
        return 0;
    }

    @Override
    public void close() {
        if (state() == TransportState.CONNECTED) {
            CloseHelper.quietClose(channel);
            state(TransportState.CLOSED);
        }
    }
}
