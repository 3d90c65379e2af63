package io.flowlag.exporter.capture.file;

import io.flowlag.exporter.capture.CaptureException;
import io.flowlag.exporter.capture.CaptureException.Kind;
import org.agrona.CloseHelper;

import java.io.BufferedInputStream;
import java.io.ByteArrayInputStream;
import java.io.FileInputStream;
import java.io.IOException;
import java.io.InputStream;
import java.io.SequenceInputStream;
import java.nio.ByteBuffer;
import java.nio.channels.Channels;
import java.nio.channels.FileChannel;
import java.nio.file.AccessDeniedException;
import java.nio.file.AccessMode;
import java.nio.file.Files;
import java.nio.file.InvalidPathException;
import java.nio.file.NoSuchFileException;
import java.nio.file.Path;
import java.nio.file.StandardOpenOption;

/**
 * Recognises an input by its first octets and never by its name, and opens the matching reader. Regular files are mapped; gzip
 * is unpacked as a stream; standard input, pipes and devices are read as streams.
 */
final class CaptureOpener {
    private static final int GZIP_MAGIC_LENGTH_BYTES = 2;

    private final InputStream standardInput;
    private final int windowLengthBytes;
    private final int bufferLengthBytes;

    /**
     * An opener.
     *
     * @param standardInput     the stream of {@link CaptureFiles#STANDARD_INPUT}.
     * @param windowLengthBytes how much of a file to map at a time.
     * @param bufferLengthBytes how much of a stream to hold.
     */
    CaptureOpener(final InputStream standardInput, final int windowLengthBytes, final int bufferLengthBytes) {
        this.standardInput = standardInput;
        this.windowLengthBytes = windowLengthBytes;
        this.bufferLengthBytes = bufferLengthBytes;
    }

    /** {@return whether an input can be opened a second time, from its start} */
    static boolean isReopenable(final String path) {
        return !CaptureFiles.STANDARD_INPUT.equals(path) && Files.isRegularFile(Path.of(path));
    }

    /**
     * Opens one input.
     *
     * @param path of the file, or {@link CaptureFiles#STANDARD_INPUT}.
     * @return a reader before its first packet.
     * @throws CaptureException if it is missing, unreadable, foreign, or damaged within its first header.
     */
    CaptureReader open(final String path) {
        try {
            if (CaptureFiles.STANDARD_INPUT.equals(path)) {
                return readerOf("standard input", streamWindow(standardInput));
            }
            final Path file = Path.of(path);
            if (Files.isDirectory(file)) {
                throw new CaptureException(Kind.NO_INPUT, path + ": is a directory, not a capture file");
            }
            return readerOf(path, Files.isRegularFile(file) ? fileWindow(file) : streamWindow(pipe(file)));
        } catch (final NoSuchFileException ex) {
            throw new CaptureException(Kind.NO_INPUT, path + ": there is no such file");
        } catch (final AccessDeniedException ex) {
            throw new CaptureException(Kind.NO_INPUT, path + ": may not be read by this user");
        } catch (final InvalidPathException | IOException ex) {
            throw new CaptureException(Kind.NO_INPUT, path + ": cannot be read: " + ex.getMessage());
        }
    }

    /** A stream that says what is there without asking for a position, which a pipe has not. */
    private static InputStream pipe(final Path file) throws IOException {
        file.getFileSystem().provider().checkAccess(file, AccessMode.READ);
        return new BufferedInputStream(new FileInputStream(file.toFile()));
    }

    private ByteWindow fileWindow(final Path file) throws IOException {
        final FileChannel channel = FileChannel.open(file, StandardOpenOption.READ);
        try {
            final ByteBuffer head = ByteBuffer.allocate(GZIP_MAGIC_LENGTH_BYTES);
            channel.read(head, 0);
            return isGzip(head.array())
                ? gzipWindow(Channels.newInputStream(channel), channel.size())
                : new MappedWindow(channel, windowLengthBytes);
        } catch (final IOException ex) {
            CloseHelper.quietClose(channel);
            throw ex;
        }
    }

    private ByteWindow streamWindow(final InputStream stream) throws IOException {
        final byte[] head = stream.readNBytes(GZIP_MAGIC_LENGTH_BYTES);
        final InputStream whole = new SequenceInputStream(new ByteArrayInputStream(head), stream);
        return isGzip(head)
            ? gzipWindow(whole, ByteWindow.UNKNOWN_LENGTH)
            : new StreamWindow(whole, StreamWindow.AS_STORED, bufferLengthBytes);
    }

    private ByteWindow gzipWindow(final InputStream packed, final long totalBytes) {
        final GzipInput unpacked = new GzipInput(packed, totalBytes);
        return new StreamWindow(unpacked, unpacked, bufferLengthBytes);
    }

    private static boolean isGzip(final byte[] head) {
        return head.length == GZIP_MAGIC_LENGTH_BYTES
            && (head[0] & 0xff) == GzipInput.MAGIC_FIRST && (head[1] & 0xff) == GzipInput.MAGIC_SECOND;
    }

    private static CaptureReader readerOf(final String name, final ByteWindow window) {
        try {
            return identify(name, window);
        } catch (final CaptureException ex) {
            window.close();
            throw ex;
        }
    }

    private static CaptureReader identify(final String name, final ByteWindow window) {
        final int index = window.require(0, Integer.BYTES);
        if (index == ByteWindow.NOT_THERE) {
            throw tooShort(name, window);
        }
        if (PcapFormat.byteOrder(window.buffer(), index) != null) {
            return new PcapReader(name, window);
        }
        if (PcapNgFormat.isSectionHeader(window.buffer(), index)) {
            return new PcapNgReader(name, window);
        }
        int lengthBytes = ForeignFormat.MAX_MAGIC_LENGTH_BYTES;
        while (window.require(0, lengthBytes) == ByteWindow.NOT_THERE) {
            lengthBytes--;
        }
        throw new CaptureException(Kind.NO_INPUT,
            name + ": " + ForeignFormat.refusal(window.buffer(), window.require(0, lengthBytes), lengthBytes));
    }

    private static CaptureException tooShort(final String name, final ByteWindow window) {
        if (window.failure() != null) {
            return new CaptureException(Kind.DAMAGED, name + ": " + window.failure());
        }
        return new CaptureException(Kind.NO_INPUT, window.endPosition() == 0
            ? name + ": is empty, not even a file header is there"
            : name + ": is too short for a capture: " + window.endPosition() + " octets");
    }
}
