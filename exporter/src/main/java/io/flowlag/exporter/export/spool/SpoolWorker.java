package io.flowlag.exporter.export.spool;

import io.flowlag.common.file.Disk;
import io.flowlag.exporter.terminal.OutputFiles;
import org.agrona.CloseHelper;

import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.file.Path;
import java.util.List;

/**
 * What a spool does with its files, each of which may block. Used by one thread at a time, but for {@link #force}. Losses gather
 * in {@link #lost} until the exporting thread counts them.
 */
final class SpoolWorker {
    /** Records, packets and octets that are lost and not counted yet. */
    final long[] lost = new long[3];
    /** What was opened and is not counted yet; null for nothing. */
    SpoolDirectory found;
    /** Of the newest record that was released. */
    long releasedSegment;

    private final Path directory;
    private final Disk disk;
    private final SpoolFiles files;
    private final SpoolWriter writer;
    private final SpoolReader reader;
    private final SpoolTrouble trouble;
    private final SpoolBook book;
    private SpoolHold hold;
    private volatile List<String> notices = List.of();
    private volatile IOException forceFault;

    /** Opens nothing yet. */
    SpoolWorker(
        final Path directory, final Disk disk, final SpoolFiles files, final SpoolWriter writer, final SpoolReader reader,
        final SpoolTrouble trouble, final SpoolBook book) {
        this.directory = directory;
        this.disk = disk;
        this.files = files;
        this.writer = writer;
        this.reader = reader;
        this.trouble = trouble;
        this.book = book;
    }

    List<String> notices() {
        return notices;
    }

    /** As {@link Spool#force}. */
    boolean force() {
        try {
            return files.force();
        } catch (final IOException ex) {
            forceFault = ex;
            return false;
        }
    }

    boolean isReadable() {
        return hold != null && !trouble.isPaused();
    }

    /** Whether there are records to read, perhaps in the buffer. */
    boolean isAnyUnread() {
        final SpoolSegment segment = reader.segment();
        if (segment == null || !reader.isAtEnd()) {
            return files.first() != null;
        }
        return segment.isSealed ? files.from(segment.number + 1) != null : !writer.isEmpty();
    }

    /** Finds the oldest unread record. Returns whether there is one. */
    boolean find() {
        removeReadFiles();
        while (!reader.hasRecord() && isReadable()) {
            if (reader.segment() == null) {
                if (files.first() == null) {
                    return false;
                }
                reader.begin(files.first(), files.first().releasedOffset);
            }
            if (!reader.isAtEnd()) {
                readFrame();
            } else if (reader.segment().isSealed) {
                if (!readOn()) {
                    return false;
                }
            } else if (!writeBuffer()) {
                return false;
            }
        }
        return reader.hasRecord();
    }

    /** Whether {@link #work} has anything to do. */
    boolean isAnyDue(final boolean isWriteDue) {
        final SpoolSegment first = files.first();
        return hold == null ? !trouble.isPaused() && !trouble.isPositionPaused() :
            isWriteDue || forceFault != null || first != null && isRead(first) || isLastRead() || isPositionDue();
    }

    /**
     * Opens what is not open; writes records that have waited long enough, and the read position; deletes what was read.
     * Returns whether records were written.
     */
    boolean work(final boolean isWriteDue) {
        if (!trouble.isPaused()) {
            openIfNotOpen();
        }
        tellForceFault();
        final boolean hasWritten = isWriteDue && writeBuffer();
        if (isLastRead()) {
            seal(files.last());
        }
        removeReadFiles();
        writePosition();
        return hasWritten;
    }

    private boolean isLastRead() {
        final SpoolSegment last = files.last();
        return last != null && !last.isSealed && last.recordsLeft() == 0 && writer.isEmpty();
    }

    /** Writes buffered records. Returns whether anything was written. */
    boolean writeBuffer() {
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
        writer.clear();
        trouble.onWritten();
        return true;
    }

    /** Ends it; what is buffered is lost if it is late. */
    void end(final boolean isLate) {
        try {
            if (!isLate) {
                openIfNotOpen();
                writeBuffer();
            }
            if (!writer.isEmpty()) {
                giveUpBuffer(files.last());
            }
            removeReadFiles();
            trouble.pauseNoMore();
            writePosition();
            force();
            tellForceFault();
            endPosition();
        } finally {
            CloseHelper.quietCloseAll(files, hold);
            hold = null;
        }
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

    /** Recovers what a former process left, unless another spool of this one still uses the directory. */
    void open() throws IOException {
        final SpoolHold taken = SpoolHold.take(directory);
        if (taken == null) {
            trouble.pausePosition(); // another spool has it for now
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

    private void takeUp(final SpoolDirectory taken) {
        notices = taken.notices();
        found = taken;
        final SpoolSegment renumbered = files.takeUp(taken);
        if (renumbered != null) {
            writer.renumber(renumbered.number);
        }
    }

    boolean hasRoom(final int bytes) {
        return !isLastFull() && writer.hasRoom(bytes) && files.hasRoom(writer.lengthBytes() + bytes);
    }

    private boolean isLastFull() {
        final SpoolSegment last = files.last();
        return last != null && !last.isSealed && (last.isDoubtful || files.isLong(last, writer.lengthBytes())) && hold != null;
    }

    /** Makes room in the buffer and within the bound; discards the oldest file if none of its records are in transit. */
    boolean makeRoom(final int bytes) {
        removeReadFiles();
        if (isLastFull()) {
            final SpoolSegment last = files.last();
            writeBuffer();
            seal(last);
        }
        if (!writer.hasRoom(bytes) && !writeBuffer()) {
            return false;
        }
        while (!files.hasRoom(writer.lengthBytes() + bytes)) {
            if (!dropAside() && !dropOldest()) {
                return false;
            }
        }
        return true;
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
        addLost(first.recordsLeft(), first.packets, first.octets);
        deleteFirst();
        return true;
    }

    /** The exporting thread counts them when the job is done. */
    private void addLost(final long records, final long packets, final long octets) {
        lost[0] += records;
        lost[1] += packets;
        lost[2] += octets;
    }

    private boolean isRead(final SpoolSegment segment) {
        return segment.number < releasedSegment || segment.isSealed && segment.recordsLeft() == 0;
    }

    private void removeReadFiles() {
        SpoolSegment first = files.first();
        while (first != null && isRead(first)) {
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
        addLost(writer.records(), writer.packets(), writer.octets());
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
        final SpoolSegment next = files.from(reader.segment().number + 1);
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
        addLost(damaged.records - damaged.readRecords, 0, 0);
        damaged.records = damaged.readRecords;
        reader.skipRest();
        book.onDamaged(damagedOctets);
        trouble.say(damaged.path + " is damaged: the rest of it is given up");
    }

    private boolean isPositionDue() {
        return isPositionWritable() &&
            !hold.position().isAt(releasedNumber(), releasedOffset(), handedNumber(), handedOffset());
    }

    private boolean isPositionWritable() {
        return isReadable() && !trouble.isPositionPaused();
    }

    private long releasedNumber() {
        return files.first() == null ? files.nextNumber() : files.first().number;
    }

    private long releasedOffset() {
        return files.first() == null ? SpoolLayout.HEADER_LENGTH_BYTES : files.first().releasedOffset;
    }

    private long handedNumber() {
        return reader.segment() == null ? releasedNumber() : reader.segment().number;
    }

    private long handedOffset() {
        return reader.segment() == null ? releasedOffset() : reader.handedOffset();
    }

    /** A failed write is retried later and stops nothing else. At worst, records are sent twice after a crash. */
    private void writePosition() {
        if (!isPositionWritable()) {
            return;
        }
        try {
            hold.position().write(releasedNumber(), releasedOffset(), handedNumber(), handedOffset());
            trouble.onPositionWritten();
        } catch (final IOException ex) {
            trouble.pausePosition("cannot write " + directory, ex);
        }
    }
}
