package io.flowlag.exporter.export.spool;

import org.agrona.CloseHelper;
import org.agrona.concurrent.UnsafeBuffer;

import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.file.Path;
import java.util.ArrayDeque;

/**
 * The files of a spool, oldest first, and the octets that they take of its bound. Used by the exporting thread. Allocates for
 * each file.
 */
final class SpoolFiles implements AutoCloseable {
    private static final int SEGMENTS_IN_BOUND = 16;
    private static final long MAX_SEGMENT_BYTES = 16L << 20;

    private final ArrayDeque<SpoolSegment> segments = new ArrayDeque<>();
    private final Path directory;
    private final long boundBytes;
    private final long segmentBytes;
    private final SpoolBook book;
    private long lengthBytes;
    private long nextNumber = 1;
    private long releasedOffset;

    /** Starts with no files; the book counts the octets. */
    SpoolFiles(final Path directory, final long boundBytes, final SpoolBook book) {
        this.directory = directory;
        this.boundBytes = boundBytes;
        this.segmentBytes = Math.min(MAX_SEGMENT_BYTES, boundBytes / SEGMENTS_IN_BOUND);
        this.book = book;
        book.bound(boundBytes);
    }

    /**
     * Takes up what was found in the directory. A file that was begun in memory meanwhile comes behind it.
     *
     * @param found what a former process left.
     * @return the file that was begun in memory, with its new number; null if there is none.
     */
    SpoolSegment takeUp(final SpoolDirectory found) {
        final SpoolSegment unwritten = segments.pollLast();
        segments.addAll(found.segments());
        nextNumber = found.nextNumber();
        releasedOffset = found.firstOffset();
        for (final SpoolSegment segment : segments) {
            lengthBytes += segment.lengthBytes;
        }
        book.files(lengthBytes);
        if (unwritten == null) {
            return null;
        }
        final SpoolSegment renumbered = add();
        renumbered.records = unwritten.records;
        renumbered.packets = unwritten.packets;
        renumbered.octets = unwritten.octets;
        return renumbered;
    }

    /** {@return the oldest, or null} */
    SpoolSegment first() {
        return segments.peekFirst();
    }

    /** {@return the newest, or null} */
    SpoolSegment last() {
        return segments.peekLast();
    }

    /** {@return the one behind another, or null} */
    SpoolSegment after(final SpoolSegment other) {
        for (final SpoolSegment segment : segments) {
            if (segment.number > other.number) {
                return segment;
            }
        }
        return null;
    }

    /** Begins another one; nothing is written of it yet. */
    SpoolSegment add() {
        final SpoolSegment segment = new SpoolSegment(directory, nextNumber++);
        segments.addLast(segment);
        return segment;
    }

    /** {@return the number that the next file will have} */
    long nextNumber() {
        return nextNumber;
    }

    /** {@return up to where the oldest file need not be read again} */
    long releasedOffset() {
        return releasedOffset;
    }

    void releasedOffset(final long offset) {
        releasedOffset = offset;
    }

    /** What was read and not released is to be read again. */
    void rewind() {
        for (final SpoolSegment segment : segments) {
            segment.readRecords = segment.releasedRecords;
        }
    }

    /** Whether a file with so many octets more is as long as one should be. */
    boolean isLong(final SpoolSegment segment, final int moreBytes) {
        return segment.lengthBytes + moreBytes >= segmentBytes;
    }

    /** Whether so many octets more are within the bound, in a new file if need be. */
    boolean hasRoom(final int moreBytes) {
        return lengthBytes + SpoolLayout.HEADER_LENGTH_BYTES + moreBytes <= boundBytes;
    }

    boolean isAboveBound() {
        return lengthBytes > boundBytes;
    }

    /** Writes the header of a file that has none. */
    void begin(final SpoolSegment segment) throws IOException {
        if (segment.lengthBytes == 0) {
            final ByteBuffer octets = ByteBuffer.allocateDirect(SpoolLayout.HEADER_LENGTH_BYTES);
            SpoolLayout.putHeader(new UnsafeBuffer(octets), segment.number);
            segment.write(octets, SpoolLayout.HEADER_LENGTH_BYTES);
            onWritten(segment, SpoolLayout.HEADER_LENGTH_BYTES);
        }
    }

    /** A file has grown by whole frames. */
    void onWritten(final SpoolSegment segment, final int moreBytes) {
        segment.lengthBytes += moreBytes;
        lengthBytes += moreBytes;
        book.files(lengthBytes);
    }

    /** Deletes the oldest. */
    void deleteFirst() throws IOException {
        final SpoolSegment first = segments.pollFirst();
        forget(first);
        releasedOffset = SpoolLayout.HEADER_LENGTH_BYTES;
        first.delete();
    }

    /** Takes the newest off the list; its file stays as it is. */
    void removeLast() {
        forget(segments.pollLast());
    }

    private void forget(final SpoolSegment segment) {
        lengthBytes -= segment.lengthBytes;
        book.files(lengthBytes);
    }

    @Override
    public void close() {
        CloseHelper.quietCloseAll(segments);
    }
}
