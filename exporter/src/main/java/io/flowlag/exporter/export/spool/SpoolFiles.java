package io.flowlag.exporter.export.spool;

import io.flowlag.common.file.Disk;
import org.agrona.CloseHelper;
import org.agrona.concurrent.UnsafeBuffer;

import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayDeque;
import java.util.Iterator;
import java.util.Queue;
import java.util.concurrent.ConcurrentLinkedQueue;

/**
 * The files of a spool, oldest first, and their octets of its bound. Used by one thread at a time, but for {@link #force}.
 * Allocates for each file.
 */
final class SpoolFiles implements AutoCloseable {
    private static final int SEGMENTS_IN_BOUND = 16;
    private static final long MAX_SEGMENT_BYTES = 16L << 20;

    private final ArrayDeque<SpoolSegment> segments = new ArrayDeque<>();
    private final ArrayDeque<SpoolDirectory.Aside> aside = new ArrayDeque<>();
    private final Queue<SpoolSegment> unforced = new ConcurrentLinkedQueue<>();
    private final Path directory;
    private final Disk disk;
    private final long boundBytes;
    private final long segmentBytes;
    private final SpoolBook book;
    /** Of files that were forced since the directory was. */
    private boolean hasNewNames;
    private volatile int deletedCount;
    private int forcedDeletedCount;
    private long lengthBytes;
    private long nextNumber = 1;

    /** Starts with no files; the book counts the octets. */
    SpoolFiles(final Path directory, final long boundBytes, final SpoolBook book, final Disk disk) {
        this.directory = directory;
        this.disk = disk;
        this.boundBytes = boundBytes;
        this.segmentBytes = Math.min(MAX_SEGMENT_BYTES, boundBytes / SEGMENTS_IN_BOUND);
        this.book = book;
        book.bound(boundBytes);
    }

    /**
     * Adds the files found in the directory, before a file that was begun in memory meanwhile.
     *
     * @param found the files of a former process.
     * @return the file that was begun in memory, with its new number; null if there is none.
     */
    SpoolSegment takeUp(final SpoolDirectory found) {
        final SpoolSegment unwritten = segments.pollLast();
        segments.addAll(found.segments());
        nextNumber = found.nextNumber();
        if (!segments.isEmpty()) {
            first().releasedOffset = found.firstOffset();
        }
        for (final SpoolSegment segment : segments) {
            lengthBytes += segment.lengthBytes;
        }
        aside.addAll(found.aside());
        for (final SpoolDirectory.Aside each : aside) {
            lengthBytes += each.lengthBytes();
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

    /** {@return the oldest that has at least that number, or null} */
    SpoolSegment from(final long number) {
        for (final SpoolSegment segment : segments) {
            if (segment.number >= number) {
                return segment;
            }
        }
        return null;
    }

    /** Begins another file; nothing is written yet. */
    SpoolSegment add() {
        final SpoolSegment segment = new SpoolSegment(directory, nextNumber++);
        segments.addLast(segment);
        return segment;
    }

    long nextNumber() {
        return nextNumber;
    }

    /** Marks unreleased records as unread. */
    void rewind() {
        for (final SpoolSegment segment : segments) {
            segment.readRecords = segment.releasedRecords;
        }
    }

    /** Whether a file would exceed its regular length with that number of further octets. */
    boolean isLong(final SpoolSegment segment, final int moreBytes) {
        return segment.lengthBytes + moreBytes >= segmentBytes;
    }

    /** Whether that number of further octets fits the bound, in a new file if necessary. */
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
            unforced.add(segment);
        }
    }

    /**
     * Forces what was written, the names of new files, and that others are gone. A file that the disk did not take once
     * stays in doubt until it is deleted, since the system forgets what it could not write. One thread at a time, any.
     *
     * @return whether everything is on the disk.
     * @throws IOException if the disk does not take something now.
     */
    synchronized boolean force() throws IOException {
        boolean isWhole = true;
        for (final Iterator<SpoolSegment> each = unforced.iterator(); each.hasNext();) {
            final SpoolSegment segment = each.next();
            if (segment.isDoubtful && !segment.isDeleted()) {
                isWhole = false;
                continue;
            }
            hasNewNames |= !segment.isForced;
            if (segment.force(disk)) {
                each.remove();
            }
        }
        final int deleted = deletedCount;
        if (hasNewNames || deleted != forcedDeletedCount) {
            disk.forceDirectory(directory);
            hasNewNames = false;
            forcedDeletedCount = deleted;
        }
        return isWhole;
    }

    /** Counts the whole frames by which a file has grown. */
    void onWritten(final SpoolSegment segment, final int moreBytes) {
        segment.lengthBytes += moreBytes;
        lengthBytes += moreBytes;
        book.files(lengthBytes);
    }

    /** Deletes the oldest. */
    void deleteFirst() throws IOException {
        final SpoolSegment first = segments.pollFirst();
        forget(first);
        first.delete();
        deletedCount = deletedCount + 1;
    }

    /** Deletes the oldest file that was set aside; these count in the bound too. Returns it; null if there is none. */
    Path deleteAside() throws IOException {
        final SpoolDirectory.Aside oldest = aside.pollFirst();
        if (oldest == null) {
            return null;
        }
        lengthBytes -= oldest.lengthBytes();
        book.files(lengthBytes);
        Files.deleteIfExists(oldest.path());
        return oldest.path();
    }

    /** Removes the newest from the list; its file stays. */
    void removeLast() {
        forget(segments.pollLast());
    }

    private void forget(final SpoolSegment segment) {
        lengthBytes -= segment.lengthBytes;
        book.files(lengthBytes);
    }

    @Override
    public synchronized void close() {
        CloseHelper.quietCloseAll(segments);
        unforced.forEach(SpoolSegment::closeForced);
    }
}
