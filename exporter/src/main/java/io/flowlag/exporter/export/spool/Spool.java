package io.flowlag.exporter.export.spool;

import io.flowlag.common.file.Disk;
import io.flowlag.exporter.status.SpoolStatistics;
import io.flowlag.exporter.terminal.OutputFiles;
import io.flowlag.ipfix.template.Template;
import org.agrona.CloseHelper;
import org.agrona.DirectBuffer;

import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.file.Path;
import java.util.List;

/**
 * Flow records of one destination on disk, first in, first out, bounded in octets: when it is full, the oldest file of records is
 * discarded. Files are appended to, never changed; {@link SpoolLayout} describes them. A record's checksum is verified before
 * use. Failed reads and writes are counted and never end the process.
 * <p>
 * Reading runs ahead of {@link #release releasing}: records read but not released are read again after {@link #rewind} and after
 * a crash. Used by the exporting thread; {@link #statistics()}, {@link #lastError()} and {@link #notices()} by any. Writes are at
 * most 256 KiB, once a second or when that much is buffered. A slow disk blocks that thread. Allocates at construction and, while
 * records are written or read, a little per record.
 */
public final class Spool implements AutoCloseable {
    public static final long MIN_BOUND_BYTES = 1 << 20;

    private final Path directory;
    private final Disk disk;
    private final SpoolLosses losses;
    private final SpoolBook book = new SpoolBook();
    private final SpoolTrouble trouble = new SpoolTrouble(book);
    private final SpoolFiles files;
    private final SpoolWriter writer = new SpoolWriter();
    private final SpoolReader reader;
    private SpoolHold hold;
    private volatile List<String> notices = List.of();
    private volatile IOException forceFault;
    private boolean isClosed;

    /**
     * Opens a spool and recovers what a former process left in it. If another destination of this process still uses the
     * directory, as during a reload, the files are opened once it has released them. Records wait in memory meanwhile.
     *
     * @param directory  of the spool alone; created if absent.
     * @param boundBytes of its files, {@link #MIN_BOUND_BYTES} or more.
     * @param losses     receives the records that were discarded.
     * @throws IOException if the directory cannot be created or another process uses it; the message names it.
     */
    public Spool(final Path directory, final long boundBytes, final SpoolTemplates templates, final SpoolLosses losses)
        throws IOException {
        this(directory, boundBytes, templates, losses, Disk.SYSTEM);
    }

    /** As {@link #Spool(Path, long, SpoolTemplates, SpoolLosses)}, with a given disk. */
    public Spool(
        final Path directory, final long boundBytes, final SpoolTemplates templates, final SpoolLosses losses, final Disk disk)
        throws IOException {
        this.directory = directory;
        this.disk = disk;
        this.losses = losses;
        files = new SpoolFiles(directory, Math.max(MIN_BOUND_BYTES, boundBytes), book, disk);
        reader = new SpoolReader(templates);
        SpoolDirectory.make(directory, disk);
        open();
    }

    public static long memoryBytes() {
        return SpoolWriter.BUFFER_BYTES + SpoolReader.BUFFER_BYTES;
    }

    /** {@return what the spool has done; safe from any thread} */
    public SpoolStatistics statistics() {
        return book.statistics();
    }

    /** {@return records written, and how many of them are on disk or discarded; safe from any thread} */
    public long recordsIn() {
        return book.recordsIn();
    }

    /** {@return how many of the records written are settled: on disk or discarded; safe from any thread} */
    public long recordsSettled() {
        return book.recordsSettled();
    }

    /**
     * Forces to the disk what was written: each record settled before. Safe from any thread, and blocks it.
     *
     * @return false if the disk does not take it, or did not take a file that still has unsent records.
     */
    public boolean force() {
        try {
            return files.force();
        } catch (final IOException ex) {
            forceFault = ex;
            return false;
        }
    }

    /** {@return the reason of the last failed write or read, empty after a success; safe from any thread} */
    public String lastError() {
        return trouble.lastError();
    }

    /** {@return notices from the start, each worth a log line} */
    public List<String> notices() {
        return notices;
    }

    /** {@return records in it, including those read but not released} */
    public long recordsHeld() {
        return book.held();
    }

    /**
     * Takes a record; a record that cannot be taken is counted as lost.
     *
     * @param template of the record, of fixed length.
     * @param offset   of its first octet.
     * @param timeMs   the time now, UNIX epoch.
     */
    public void append(
        final Template template, final DirectBuffer buffer, final int offset, final int lengthBytes, final long timeMs) {
        trouble.now(timeMs);
        book.onRecordIn();
        final SpoolTemplate shape = writer.shape(template);
        final int frameBytes = SpoolWriter.frameBytes(lengthBytes);
        if (trouble.isPaused() || frameBytes > SpoolReader.BUFFER_BYTES || shape.recordLengthBytes() != lengthBytes ||
            !makeRoom(frameBytes + SpoolWriter.frameBytes(template))) {
            book.onLostAtEntry();
            losses.onLost(1, shape.packets(buffer, offset), shape.octets(buffer, offset));
            return;
        }
        writer.put(tail(), template, buffer, offset, lengthBytes, timeMs);
        book.onHeld(1);
    }

    /** Finds the oldest unread record; it stays the same until {@link #consume()}. Returns whether there is one. */
    public boolean next() {
        while (!reader.hasRecord() && hold != null && !trouble.isPaused()) {
            if (reader.segment() == null) {
                if (files.first() == null) {
                    return false;
                }
                reader.begin(files.first(), files.releasedOffset());
            }
            if (!reader.isAtEnd()) {
                readFrame();
            } else if (reader.segment().isSealed) {
                if (!readOn()) {
                    return false;
                }
            } else if (!flush()) {
                return false;
            }
        }
        return reader.hasRecord();
    }

    /** {@return the template of the current record, or null if the session cannot send it} */
    public Template template() {
        return reader.template();
    }

    /** {@return the buffer of the current record} */
    public DirectBuffer buffer() {
        return reader.buffer();
    }

    /** {@return offset of the current record in {@link #buffer()}} */
    public int recordOffset() {
        return reader.recordOffset();
    }

    public int recordLengthBytes() {
        return reader.recordLengthBytes();
    }

    /** {@return packets counted by the current record} */
    public long recordPackets() {
        return reader.recordPackets();
    }

    /** {@return octets counted by the current record} */
    public long recordOctets() {
        return reader.recordOctets();
    }

    /** {@return the file of the current record} */
    public long recordSegment() {
        return reader.segment().number;
    }

    /** {@return end of the current record in its file} */
    public long recordEndOffset() {
        return reader.offset();
    }

    /** Marks the current record as read. */
    public void consume() {
        reader.consume();
    }

    /** Releases the oldest record that was read: it was sent or lost, and is not read again. */
    public void release(final long segment, final long endOffset, final long packets, final long octets) {
        while (files.first().number < segment) {
            deleteFirst();
        }
        final SpoolSegment first = files.first();
        first.releasedRecords++;
        first.packets -= packets;
        first.octets -= octets;
        files.releasedOffset(endOffset);
        reader.onReleased();
        book.onReleased();
    }

    /** Reads unreleased records again. */
    public void rewind() {
        files.rewind();
        reader.rewind();
    }

    /** The duty cycle: writes records that have waited long enough, and the read position. Returns how much was done. */
    public int doWork(final long timeMs) {
        trouble.now(timeMs);
        if (!trouble.isPaused() && !isClosed) {
            openIfNotOpen();
        }
        tellForceFault();
        int workCount = 0;
        if (writer.isDue(timeMs)) {
            workCount += flush() ? 1 : 0;
        }
        final SpoolSegment last = files.last();
        if (last != null && last.recordsLeft() == 0 && writer.isEmpty()) {
            seal(last);
        }
        removeReadFiles();
        writePosition();
        return workCount;
    }

    /** Writes buffered records. Returns whether anything was written. */
    public boolean flush() {
        writer.onTried();
        if (writer.isEmpty() || hold == null) {
            return false;
        }
        final SpoolSegment tail = files.last();
        try {
            files.begin(tail);
            writer.write(tail);
        } catch (final IOException ex) {
            trouble.pause("cannot write " + directory, ex);
            giveUpBuffer(tail);
            return false;
        }
        files.onWritten(tail, writer.lengthBytes());
        book.onWritten(writer.records());
        writer.clear();
        trouble.onWritten();
        return true;
    }

    @Override
    public void close() {
        if (isClosed) {
            return;
        }
        isClosed = true;
        openIfNotOpen();
        flush();
        if (!writer.isEmpty()) {
            giveUpBuffer(files.last());
        }
        removeReadFiles();
        trouble.pauseNoMore();
        writePosition();
        force();
        tellForceFault();
        endPosition();
        CloseHelper.quietCloseAll(files, hold);
        hold = null;
    }

    private void endPosition() {
        if (hold == null) {
            return;
        }
        try {
            hold.position().end(disk);
        } catch (final IOException ex) {
            trouble.tell("cannot write " + directory, ex);
        }
    }

    private void tellForceFault() {
        final IOException fault = forceFault;
        if (fault != null) {
            forceFault = null;
            trouble.tell("cannot force " + directory + " to the disk", fault);
        }
    }

    private void openIfNotOpen() {
        if (hold != null) {
            return;
        }
        try {
            open();
        } catch (final IOException ex) {
            trouble.pause("cannot use " + directory, ex);
        }
    }

    private void open() throws IOException {
        final SpoolHold taken = SpoolHold.take(directory);
        if (taken == null) {
            return;
        }
        try {
            takeUp(new SpoolDirectory(directory, taken.position(), reader.buffer(), reader.octets()));
            hold = taken;
        } catch (final UncheckedIOException ex) {
            throw ex.getCause();
        } finally {
            if (hold == null) {
                taken.close();
            }
        }
        while (files.isAboveBound() && (dropAside() || dropOldest())) {
            continue;
        }
    }

    private void takeUp(final SpoolDirectory found) {
        notices = found.notices();
        book.onTakenUp(found.records(), found.perhapsTwice(), found.refusedOctets());
        final SpoolSegment renumbered = files.takeUp(found);
        if (renumbered != null) {
            writer.renumber(renumbered.number);
        }
    }

    /** Makes room in the buffer and within the bound; discards the oldest file if none of its records are in transit. */
    private boolean makeRoom(final int neededBytes) {
        final SpoolSegment last = files.last();
        if (last != null && !last.isSealed && (last.isDoubtful || files.isLong(last, writer.lengthBytes())) && hold != null) {
            flush();
            seal(last);
        }
        if (!writer.hasRoom(neededBytes) && !flush()) {
            return false;
        }
        while (!files.hasRoom(writer.lengthBytes() + neededBytes)) {
            if (!dropAside() && !dropOldest()) {
                return false;
            }
        }
        return true;
    }

    private SpoolSegment tail() {
        final SpoolSegment last = files.last();
        if (last != null && !last.isSealed) {
            return last;
        }
        writer.beginSegment();
        return files.add();
    }

    /** Ends writing to the segment; a segment that is read is opened again. */
    private void seal(final SpoolSegment segment) {
        segment.isSealed = true;
        if (segment != reader.segment()) {
            segment.close();
        }
    }

    /** Files that were set aside go before records do. */
    private boolean dropAside() {
        try {
            final Path dropped = files.deleteAside();
            if (dropped != null) {
                trouble.say(dropped + " was set aside; it is deleted, since the spool needs its room");
            }
            return dropped != null;
        } catch (final IOException ex) {
            trouble.tell("cannot delete a file of " + directory + " that was set aside", ex);
            return true;
        }
    }

    private boolean dropOldest() {
        final SpoolSegment first = files.first();
        if (first == null || !first.isSealed || reader.unreleased() > 0) {
            return false;
        }
        final long left = first.recordsLeft();
        book.onLost(left);
        losses.onLost(left, first.packets, first.octets);
        deleteFirst();
        return true;
    }

    private void removeReadFiles() {
        SpoolSegment first = files.first();
        while (first != null && first.isSealed && first.recordsLeft() == 0) {
            deleteFirst();
            first = files.first();
        }
    }

    private void deleteFirst() {
        final SpoolSegment first = files.first();
        if (reader.segment() == first) {
            reader.leave();
        }
        try {
            files.deleteFirst();
        } catch (final IOException ex) {
            trouble.pause("cannot delete " + first.path, ex);
        }
    }

    /** After a failed write the records are lost. The file is cut back to its last whole frame, and a new one follows later. */
    private void giveUpBuffer(final SpoolSegment tail) {
        tail.records -= writer.records();
        tail.packets -= writer.packets();
        tail.octets -= writer.octets();
        tail.isSealed = true;
        book.onBufferLost(writer.records());
        losses.onLost(writer.records(), writer.packets(), writer.octets());
        writer.clear();
        if (tail.lengthBytes <= SpoolLayout.HEADER_LENGTH_BYTES) {
            removeEmptyTail(tail);
        } else {
            try {
                tail.cut();
            } catch (final IOException ex) {
                trouble.say(tail.path + " ends in a frame that is cut: " + OutputFiles.reason(ex)); // skipped when it is read
            }
            tail.close();
        }
    }

    /** A full disk must not get another file with each attempt. */
    private void removeEmptyTail(final SpoolSegment tail) {
        files.removeLast();
        if (reader.segment() == tail) {
            if (files.last() == null) {
                reader.leave();
            } else {
                reader.beginAtEnd(files.last());
            }
        }
        if (hold == null) {
            return; // was not created; a file of that name is another spool's
        }
        try {
            tail.delete();
        } catch (final IOException ex) {
            trouble.tell("cannot delete " + tail.path, ex);
        }
    }

    private boolean readOn() {
        final SpoolSegment next = files.after(reader.segment());
        if (next == null) {
            return false;
        }
        reader.segment().close();
        reader.begin(next, 0);
        return true;
    }

    /** Stores how far records may be sent before they are sent. */
    private void readFrame() {
        final boolean isSound;
        try {
            isSound = reader.readFrame();
        } catch (final IOException ex) {
            trouble.pause("cannot read " + reader.segment().path, ex);
            reader.segment().close(); // opened again, and read from the same place
            return;
        }
        if (reader.takeLoaded()) {
            trouble.onRead();
            writePosition();
        }
        if (!isSound) {
            giveUpRest();
        }
    }

    /** Skips the rest of a damaged file; the other files are still used. */
    private void giveUpRest() {
        final SpoolSegment damaged = reader.segment();
        final long damagedOctets = damaged.lengthBytes - reader.offset();
        if (!writer.isEmpty() && damaged == files.last()) {
            giveUpBuffer(damaged);
        }
        damaged.isSealed = true;
        final long lost = damaged.records - damaged.readRecords;
        damaged.records -= lost;
        reader.skipRest();
        book.onDamaged(damagedOctets, lost);
        losses.onLost(lost, 0, 0);
        trouble.say(damaged.path + " is damaged: the rest of it is given up");
    }

    /** A failed write is retried later and stops nothing else. At worst, records are sent twice after a crash. */
    private void writePosition() {
        if (hold == null || trouble.isPaused() || trouble.isPositionPaused()) {
            return;
        }
        final SpoolSegment first = files.first();
        final long releasedSegment = first == null ? files.nextNumber() : first.number;
        final long released = first == null ? SpoolLayout.HEADER_LENGTH_BYTES : files.releasedOffset();
        final SpoolSegment reading = reader.segment();
        try {
            hold.position().write(releasedSegment, released,
                reading == null ? releasedSegment : reading.number, reading == null ? released : reader.handedOffset());
            trouble.onPositionWritten();
        } catch (final IOException ex) {
            trouble.pausePosition("cannot write " + directory, ex);
        }
    }
}
