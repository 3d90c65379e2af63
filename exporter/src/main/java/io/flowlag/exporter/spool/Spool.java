package io.flowlag.exporter.spool;

import io.flowlag.exporter.console.OutputFiles;
import io.flowlag.exporter.status.SpoolStatistics;
import io.flowlag.ipfix.template.Template;
import org.agrona.BufferUtil;
import org.agrona.CloseHelper;
import org.agrona.DirectBuffer;
import org.agrona.collections.Int2ObjectHashMap;
import org.agrona.collections.IntHashSet;
import org.agrona.concurrent.UnsafeBuffer;

import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.ByteBuffer;
import java.nio.channels.FileChannel;
import java.nio.channels.FileLock;
import java.nio.file.Path;
import java.nio.file.StandardOpenOption;
import java.util.ArrayDeque;
import java.util.List;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;

import static java.nio.ByteOrder.LITTLE_ENDIAN;
import static org.agrona.BitUtil.CACHE_LINE_LENGTH;

/**
 * Flow records of one destination on disk, first in, first out, bounded in octets: when it is full the oldest file of records is
 * given up. Files are appended to, never changed; {@link SpoolLayout} has their octets. A record is looked at through its
 * checksum before it is used. What cannot be written or read is counted and never ends the process.
 * <p>
 * Reading runs ahead of {@link #release releasing}: what was read and not released is read again after {@link #rewind} and after
 * a crash. Used by the exporting thread; {@link #statistics()}, {@link #lastError()} and {@link #notices()} by any. Writes of 256
 * KiB at most, once a second or when there is so much; a disk that is slow makes that thread wait. Allocates at construction and,
 * while records are put in or read, a little per record.
 */
public final class Spool implements AutoCloseable {
    /** The least bound. */
    public static final long MIN_BOUND_BYTES = 1 << 20;

    private static final int WRITE_BUFFER_BYTES = 256 << 10;
    private static final int READ_BUFFER_BYTES = SpoolLayout.MAX_PAYLOAD_BYTES + SpoolLayout.FRAME_HEADER_LENGTH_BYTES;
    private static final int CHUNK_BYTES = 32 << 10;
    private static final int SEGMENTS_IN_BOUND = 16;
    private static final long MAX_SEGMENT_BYTES = 16L << 20;
    private static final long FLUSH_MS = 1_000;
    private static final long RETRY_MS = 1_000;
    private static final long NEVER = Long.MIN_VALUE;
    private static final Set<Path> HELD_DIRECTORIES = ConcurrentHashMap.newKeySet();

    private final Path directory;
    private final long boundBytes;
    private final long segmentBytes;
    private final SpoolTemplates templates;
    private final SpoolLosses losses;
    private final SpoolBook book = new SpoolBook();
    private final ArrayDeque<SpoolSegment> segments = new ArrayDeque<>();

    private final ByteBuffer writeOctets = BufferUtil.allocateDirectAligned(WRITE_BUFFER_BYTES, CACHE_LINE_LENGTH);
    private final UnsafeBuffer writeBuffer = new UnsafeBuffer(writeOctets);
    private final Int2ObjectHashMap<SpoolTemplate> shapes = new Int2ObjectHashMap<>();
    private final IntHashSet writtenTemplates = new IntHashSet();
    private int bufferedBytes;
    private long bufferedRecords;
    private long bufferedPackets;
    private long bufferedOctets;
    private long flushDueMs = NEVER;
    private long retryMs = NEVER;
    private long nowMs;
    private long filesBytes;

    private final ByteBuffer readOctets = BufferUtil.allocateDirectAligned(READ_BUFFER_BYTES, CACHE_LINE_LENGTH);
    private final UnsafeBuffer readBuffer = new UnsafeBuffer(readOctets);
    private final Int2ObjectHashMap<SpoolTemplate> readTemplates = new Int2ObjectHashMap<>();
    private final Int2ObjectHashMap<Template> sendable = new Int2ObjectHashMap<>();
    private SpoolSegment reading;
    private long readOffset;
    private long loadedOffset;
    private int loadedBytes;
    private long skipToOffset;
    private boolean hasRecord;
    private int recordFrame;
    private SpoolTemplate recordTemplate;

    private Path heldDirectory;
    private FileChannel lockChannel;
    private FileLock lock;
    private SpoolPosition position;
    private long positionRetryMs = NEVER;
    private long nextNumber = 1;
    private long releasedOffset;
    private long unreleasedRead;
    private volatile List<String> notices = List.of();
    private volatile String lastError = "";
    private boolean isClosed;

    /**
     * A spool; what a former process left in it is taken up. If a destination of this process still uses the directory, as during
     * a reload, the files are opened as soon as that has let go, and records wait in memory meanwhile.
     *
     * @param directory  of the spool alone; made if there is none.
     * @param boundBytes of its files, {@link #MIN_BOUND_BYTES} or more.
     * @param templates  of the session.
     * @param losses     is told of records that were given up.
     * @throws IOException if the directory cannot be made or another process uses it; the message names it.
     */
    public Spool(final Path directory, final long boundBytes, final SpoolTemplates templates, final SpoolLosses losses)
        throws IOException {
        this.directory = directory;
        this.boundBytes = Math.max(MIN_BOUND_BYTES, boundBytes);
        this.segmentBytes = Math.min(MAX_SEGMENT_BYTES, this.boundBytes / SEGMENTS_IN_BOUND);
        this.templates = templates;
        this.losses = losses;
        book.bound(this.boundBytes);
        SpoolDirectory.make(directory);
        open();
    }

    /** {@return octets of memory that a spool takes} */
    public static long memoryBytes() {
        return WRITE_BUFFER_BYTES + READ_BUFFER_BYTES;
    }

    /** {@return what the spool has done; safe from any thread} */
    public SpoolStatistics statistics() {
        return book.statistics();
    }

    /** {@return records put in, and how many of them are on disk or given up; safe from any thread} */
    public long recordsIn() {
        return book.recordsIn();
    }

    /** {@return how many of the records put in need not be feared for: they are on disk, or given up; safe from any thread} */
    public long recordsSettled() {
        return book.recordsSettled();
    }

    /** {@return why the spool could not be written or read when that was last tried, or an empty string; safe from any thread} */
    public String lastError() {
        return lastError;
    }

    /** {@return what was found at the start that is worth a line} */
    public List<String> notices() {
        return notices;
    }

    /** {@return records in it, those that have been read and not released included} */
    public long recordsHeld() {
        return book.held();
    }

    /**
     * Takes a record; if that cannot be, it is counted as lost.
     *
     * @param template    of the record, of fixed length.
     * @param buffer      holds it.
     * @param offset      of its first octet.
     * @param lengthBytes of the record.
     * @param timeMs      the time now, UNIX epoch.
     */
    public void append(
        final Template template, final DirectBuffer buffer, final int offset, final int lengthBytes, final long timeMs) {
        nowMs = timeMs;
        book.onRecordIn();
        final SpoolTemplate shape = shape(template);
        final int frameBytes = SpoolLayout.FRAME_HEADER_LENGTH_BYTES + SpoolLayout.RECORD_OFFSET + lengthBytes;
        final int templateBytes = SpoolLayout.FRAME_HEADER_LENGTH_BYTES + SpoolTemplate.payloadBytes(template);
        if (isBroken() || frameBytes > READ_BUFFER_BYTES || shape.recordLengthBytes() != lengthBytes ||
            !makeRoom(frameBytes + templateBytes)) {
            book.onLostAtEntry();
            losses.onLost(1, shape.packets(buffer, offset), shape.octets(buffer, offset));
            return;
        }
        final SpoolSegment tail = tail();
        if (writtenTemplates.add(template.templateId())) {
            SpoolTemplate.put(writeBuffer, bufferedBytes + SpoolLayout.FRAME_HEADER_LENGTH_BYTES, template);
            endFrame(tail, SpoolLayout.TEMPLATE_KIND, SpoolTemplate.payloadBytes(template));
        }
        final int payload = bufferedBytes + SpoolLayout.FRAME_HEADER_LENGTH_BYTES;
        writeBuffer.putInt(payload, template.templateId(), LITTLE_ENDIAN);
        writeBuffer.putBytes(payload + SpoolLayout.RECORD_OFFSET, buffer, offset, lengthBytes);
        endFrame(tail, SpoolLayout.RECORD_KIND, SpoolLayout.RECORD_OFFSET + lengthBytes);
        final long packets = shape.packets(buffer, offset);
        final long octets = shape.octets(buffer, offset);
        tail.records++;
        tail.packets += packets;
        tail.octets += octets;
        bufferedRecords++;
        bufferedPackets += packets;
        bufferedOctets += octets;
        book.onHeld(1);
        if (flushDueMs == NEVER) {
            flushDueMs = timeMs + FLUSH_MS;
        }
    }

    /**
     * Finds the oldest record that has not been read; it stays the same until {@link #consume()}.
     *
     * @return whether there is one.
     */
    public boolean next() {
        while (!hasRecord && position != null && !isBroken()) {
            if (reading == null && !beginReading()) {
                return false;
            }
            if (readOffset < reading.lengthBytes) {
                readFrame();
            } else if (reading.isSealed) {
                if (!readOn()) {
                    return false;
                }
            } else if (bufferedBytes == 0 || !flush()) {
                return false;
            }
        }
        return hasRecord;
    }

    /** {@return the template of the record found, or null if the session cannot send such a record} */
    public Template template() {
        final int key = readBuffer.getInt(recordFrame + SpoolLayout.FRAME_HEADER_LENGTH_BYTES, LITTLE_ENDIAN);
        final Template known = sendable.get(key);
        if (known != null) {
            return known;
        }
        final Template template = templates.template(
            recordTemplate.elementIds(), recordTemplate.lengthsBytes(), recordTemplate.enterpriseNumbers());
        if (template == null || template.recordLengthBytes() != recordTemplate.recordLengthBytes()) {
            return null;
        }
        sendable.put(key, template);
        return template;
    }

    /** {@return holds the record found} */
    public DirectBuffer buffer() {
        return readBuffer;
    }

    /** {@return where the record found begins in {@link #buffer()}} */
    public int recordOffset() {
        return recordFrame + SpoolLayout.FRAME_HEADER_LENGTH_BYTES + SpoolLayout.RECORD_OFFSET;
    }

    /** {@return octets of the record found} */
    public int recordLengthBytes() {
        return recordTemplate.recordLengthBytes();
    }

    /** {@return packets that the record found stands for} */
    public long recordPackets() {
        return recordTemplate.packets(readBuffer, recordOffset());
    }

    /** {@return octets that the record found stands for} */
    public long recordOctets() {
        return recordTemplate.octets(readBuffer, recordOffset());
    }

    /** {@return the file that the record found is in} */
    public long recordSegment() {
        return reading.number;
    }

    /** {@return where the record found ends in its file} */
    public long recordEndOffset() {
        return readOffset;
    }

    /** The record found has been taken. */
    public void consume() {
        hasRecord = false;
        reading.readRecords++;
        unreleasedRead++;
    }

    /**
     * The oldest record that was read and not released has left the process, or is lost; it need not be read again.
     *
     * @param segment   it is in.
     * @param endOffset of it.
     * @param packets   that it stands for.
     * @param octets    that it stands for.
     */
    public void release(final long segment, final long endOffset, final long packets, final long octets) {
        while (segments.peekFirst().number < segment) {
            deleteFirst();
        }
        final SpoolSegment first = segments.peekFirst();
        first.releasedRecords++;
        first.packets -= packets;
        first.octets -= octets;
        releasedOffset = endOffset;
        unreleasedRead--;
        book.onReleased();
    }

    /** What was read and not released is read again. */
    public void rewind() {
        for (final SpoolSegment segment : segments) {
            segment.readRecords = segment.releasedRecords;
        }
        if (reading != null) {
            reading.close();
        }
        unreleasedRead = 0;
        hasRecord = false;
        reading = null;
    }

    /**
     * The duty cycle: writes what has waited long enough, and how far the spool has been read.
     *
     * @param timeMs the time now, UNIX epoch.
     * @return how much was done.
     */
    public int doWork(final long timeMs) {
        nowMs = timeMs;
        if (!isBroken() && !isClosed) {
            openIfNotOpen();
        }
        int workCount = 0;
        if (bufferedBytes > 0 && (timeMs >= flushDueMs || flushDueMs - timeMs > FLUSH_MS)) {
            workCount += flush() ? 1 : 0;
        }
        final SpoolSegment last = segments.peekLast();
        if (last != null && last.recordsLeft() == 0 && bufferedBytes == 0) {
            seal(last);
        }
        removeReadSegments();
        writePosition();
        return workCount;
    }

    /**
     * Writes what waits in memory.
     *
     * @return whether anything was written.
     */
    public boolean flush() {
        flushDueMs = NEVER;
        if (bufferedBytes == 0 || position == null) {
            return false;
        }
        final SpoolSegment tail = segments.peekLast();
        try {
            if (tail.lengthBytes == 0) {
                writeHeader(tail);
            }
            write(tail, writeOctets, bufferedBytes, tail.lengthBytes);
        } catch (final IOException ex) {
            fail("cannot write " + directory, ex);
            giveUpBuffer(tail);
            return false;
        }
        tail.lengthBytes += bufferedBytes;
        filesBytes += bufferedBytes;
        book.files(filesBytes);
        book.onWritten(bufferedRecords);
        clearBuffer();
        retryMs = NEVER;
        lastError = "";
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
        if (bufferedRecords > 0) {
            giveUpBuffer(segments.peekLast());
        }
        removeReadSegments();
        retryMs = NEVER;
        positionRetryMs = NEVER;
        writePosition();
        CloseHelper.quietCloseAll(segments);
        CloseHelper.quietCloseAll(position, lock, lockChannel);
        position = null;
        if (heldDirectory != null) {
            HELD_DIRECTORIES.remove(heldDirectory);
        }
    }

    private void openIfNotOpen() {
        if (position != null) {
            return;
        }
        try {
            open();
        } catch (final IOException ex) {
            fail("cannot use " + directory, ex);
        }
    }

    /**
     * Takes the directory, unless a spool of this process has it. That is asked before the lock file is opened: who closes a file
     * lets go every lock that its process has on it.
     */
    private void open() throws IOException {
        final Path realDirectory = directory.toRealPath();
        if (!HELD_DIRECTORIES.add(realDirectory)) {
            return;
        }
        FileChannel newLockChannel = null;
        FileLock newLock = null;
        SpoolPosition newPosition = null;
        boolean isOpen = false;
        try {
            newLockChannel = FileChannel.open(
                directory.resolve("lock"), StandardOpenOption.CREATE, StandardOpenOption.WRITE);
            newLock = newLockChannel.tryLock();
            if (newLock == null) {
                throw new IOException(directory + ": another process uses this spool");
            }
            newPosition = new SpoolPosition(directory.resolve("position"));
            takeUp(new SpoolDirectory(directory, newPosition, readBuffer, readOctets));
            isOpen = true;
        } catch (final UncheckedIOException ex) {
            throw ex.getCause();
        } finally {
            if (!isOpen) {
                CloseHelper.quietCloseAll(newPosition, newLock, newLockChannel);
                HELD_DIRECTORIES.remove(realDirectory);
            }
        }
        heldDirectory = realDirectory;
        lockChannel = newLockChannel;
        lock = newLock;
        position = newPosition;
        while (filesBytes > boundBytes && dropOldest()) {
            continue;
        }
    }

    private void takeUp(final SpoolDirectory found) {
        final SpoolSegment unwritten = segments.pollLast();
        segments.addAll(found.segments());
        nextNumber = found.nextNumber();
        notices = found.notices();
        book.onTakenUp(found.records(), found.perhapsTwice(), found.refusedOctets());
        releasedOffset = found.firstOffset();
        for (final SpoolSegment segment : segments) {
            filesBytes += segment.lengthBytes;
        }
        book.files(filesBytes);
        if (unwritten != null) {
            final SpoolSegment renumbered = new SpoolSegment(directory, nextNumber++);
            renumbered.records = unwritten.records;
            renumbered.packets = unwritten.packets;
            renumbered.octets = unwritten.octets;
            SpoolDirectory.renumber(writeBuffer, bufferedBytes, renumbered.number);
            segments.addLast(renumbered);
        }
    }

    private boolean isBroken() {
        return isAhead(retryMs);
    }

    /** A clock that was set back does not make the wait longer. */
    private boolean isAhead(final long timeMs) {
        return timeMs != NEVER && nowMs < timeMs && timeMs - nowMs <= RETRY_MS;
    }

    private void fail(final String what, final IOException ex) {
        retryMs = nowMs + RETRY_MS;
        tell(what, ex);
    }

    private void tell(final String what, final IOException ex) {
        book.onError();
        lastError = what + ": " + OutputFiles.reason(ex);
    }

    /** Room in the buffer and within the bound; the oldest file gives way if nothing of it is under way. */
    private boolean makeRoom(final int neededBytes) {
        final SpoolSegment last = segments.peekLast();
        if (last != null && !last.isSealed && last.lengthBytes + bufferedBytes >= segmentBytes && position != null) {
            flush();
            seal(last);
        }
        if (bufferedBytes + neededBytes > WRITE_BUFFER_BYTES && !flush()) {
            return false;
        }
        while (filesBytes + SpoolLayout.HEADER_LENGTH_BYTES + bufferedBytes + neededBytes > boundBytes) {
            if (!dropOldest()) {
                return false;
            }
        }
        return true;
    }

    private boolean dropOldest() {
        final SpoolSegment first = segments.peekFirst();
        if (first == null || !first.isSealed || unreleasedRead > 0) {
            return false;
        }
        final long left = first.recordsLeft();
        book.onLost(left);
        losses.onLost(left, first.packets, first.octets);
        deleteFirst();
        return true;
    }

    private void deleteFirst() {
        final SpoolSegment first = segments.pollFirst();
        if (reading == first) {
            reading = null;
            hasRecord = false;
        }
        filesBytes -= first.lengthBytes;
        book.files(filesBytes);
        releasedOffset = SpoolLayout.HEADER_LENGTH_BYTES;
        try {
            first.delete();
        } catch (final IOException ex) {
            fail("cannot delete " + first.path, ex);
        }
    }

    private void removeReadSegments() {
        SpoolSegment first = segments.peekFirst();
        while (first != null && first.isSealed && first.recordsLeft() == 0) {
            deleteFirst();
            first = segments.peekFirst();
        }
    }

    private SpoolSegment tail() {
        SpoolSegment tail = segments.peekLast();
        if (tail == null || tail.isSealed) {
            tail = new SpoolSegment(directory, nextNumber++);
            segments.addLast(tail);
            writtenTemplates.clear();
        }
        return tail;
    }

    private SpoolTemplate shape(final Template template) {
        SpoolTemplate shape = shapes.get(template.templateId());
        if (shape == null) {
            final UnsafeBuffer payload = new UnsafeBuffer(new byte[SpoolTemplate.payloadBytes(template)]);
            SpoolTemplate.put(payload, 0, template);
            shape = SpoolTemplate.read(payload, 0, payload.capacity());
            if (shape == null) {
                throw new IllegalArgumentException(template + " cannot be spooled");
            }
            shapes.put(template.templateId(), shape);
        }
        return shape;
    }

    private void endFrame(final SpoolSegment tail, final int kind, final int payloadBytes) {
        SpoolLayout.putFrameHeader(writeBuffer, bufferedBytes, tail.number, kind, payloadBytes);
        bufferedBytes += SpoolLayout.FRAME_HEADER_LENGTH_BYTES + payloadBytes;
    }

    private void writeHeader(final SpoolSegment segment) throws IOException {
        final ByteBuffer octets = ByteBuffer.allocateDirect(SpoolLayout.HEADER_LENGTH_BYTES);
        SpoolLayout.putHeader(new UnsafeBuffer(octets), segment.number);
        write(segment, octets, SpoolLayout.HEADER_LENGTH_BYTES, 0);
        segment.lengthBytes = SpoolLayout.HEADER_LENGTH_BYTES;
        filesBytes += SpoolLayout.HEADER_LENGTH_BYTES;
    }

    private static void write(final SpoolSegment segment, final ByteBuffer octets, final int lengthBytes, final long offset)
        throws IOException {
        octets.limit(lengthBytes).position(0);
        try {
            while (octets.hasRemaining()) {
                segment.channel().write(octets, offset + octets.position());
            }
        } finally {
            octets.clear();
        }
    }

    /** What could not be written is lost; the file ends where it was whole, and another one is begun later. */
    private void giveUpBuffer(final SpoolSegment tail) {
        tail.records -= bufferedRecords;
        tail.packets -= bufferedPackets;
        tail.octets -= bufferedOctets;
        tail.isSealed = true;
        book.onBufferLost(bufferedRecords);
        losses.onLost(bufferedRecords, bufferedPackets, bufferedOctets);
        clearBuffer();
        if (tail.lengthBytes <= SpoolLayout.HEADER_LENGTH_BYTES) {
            removeEmptyTail();
        } else {
            try {
                tail.cut();
            } catch (final IOException ex) {
                lastError = tail.path + " ends in a frame that is cut: " + OutputFiles.reason(ex); // passed over when it is read
            }
            tail.close();
        }
    }

    /** A disk that stays full does not get a file more with each attempt. */
    private void removeEmptyTail() {
        final SpoolSegment tail = segments.pollLast();
        if (reading == tail) {
            reading = segments.peekLast();
            if (reading != null) {
                begin(0);
                readOffset = reading.lengthBytes; // all of it was read
                loadedOffset = readOffset;
            }
        }
        filesBytes -= tail.lengthBytes;
        book.files(filesBytes);
        if (position == null) {
            return; // never made; a file of that name is another spool's
        }
        try {
            tail.delete();
        } catch (final IOException ex) {
            tell("cannot delete " + tail.path, ex);
        }
    }

    /** Nothing is written to it any more; one that is read is opened again. */
    private void seal(final SpoolSegment segment) {
        segment.isSealed = true;
        if (segment != reading) {
            segment.close();
        }
    }

    private void clearBuffer() {
        bufferedBytes = 0;
        bufferedRecords = 0;
        bufferedPackets = 0;
        bufferedOctets = 0;
    }

    private boolean beginReading() {
        reading = segments.peekFirst();
        return reading != null && begin(releasedOffset);
    }

    private boolean begin(final long fromOffset) {
        readOffset = SpoolLayout.HEADER_LENGTH_BYTES;
        skipToOffset = fromOffset;
        loadedBytes = 0;
        readTemplates.clear();
        sendable.clear();
        return true;
    }

    private boolean readOn() {
        for (final SpoolSegment segment : segments) {
            if (segment.number > reading.number) {
                reading.close();
                reading = segment;
                return begin(0);
            }
        }
        return false;
    }

    private void readFrame() {
        if (!load(SpoolLayout.FRAME_HEADER_LENGTH_BYTES)) {
            return;
        }
        final int payloadBytes = SpoolLayout.payloadBytes(readBuffer, (int)(readOffset - loadedOffset));
        if (payloadBytes < 0 || payloadBytes > SpoolLayout.MAX_PAYLOAD_BYTES) {
            giveUpRest();
            return;
        }
        final int frameBytes = SpoolLayout.FRAME_HEADER_LENGTH_BYTES + payloadBytes;
        if (!load(frameBytes)) {
            return;
        }
        final int frame = (int)(readOffset - loadedOffset);
        final int payload = frame + SpoolLayout.FRAME_HEADER_LENGTH_BYTES;
        if (payloadBytes < Integer.BYTES || !SpoolLayout.isSound(readBuffer, frame, reading.number)) {
            giveUpRest();
            return;
        }
        final int key = readBuffer.getInt(payload, LITTLE_ENDIAN);
        if (SpoolLayout.kind(readBuffer, frame) == SpoolLayout.TEMPLATE_KIND) {
            final SpoolTemplate found = SpoolTemplate.read(readBuffer, payload, payloadBytes);
            if (found == null) {
                giveUpRest();
            } else {
                readTemplates.put(key, found);
                readOffset += frameBytes;
            }
            return;
        }
        final SpoolTemplate template = readTemplates.get(key);
        if (template == null || payloadBytes != SpoolLayout.RECORD_OFFSET + template.recordLengthBytes()) {
            giveUpRest();
            return;
        }
        readOffset += frameBytes;
        if (readOffset > skipToOffset) {
            recordFrame = frame;
            recordTemplate = template;
            hasRecord = true;
        }
    }

    /** Has so many octets from the read offset on in memory; how far records may be sent now is written down before they are. */
    private boolean load(final int neededBytes) {
        if (readOffset >= loadedOffset && readOffset + neededBytes <= loadedOffset + loadedBytes) {
            return true;
        }
        final long left = reading.lengthBytes - readOffset;
        if (neededBytes > left) {
            giveUpRest();
            return false;
        }
        final int wantedBytes = (int)Math.min(left, Math.max(CHUNK_BYTES, neededBytes));
        loadedOffset = readOffset;
        loadedBytes = 0;
        try {
            readOctets.clear().limit(wantedBytes);
            while (readOctets.hasRemaining()) {
                if (reading.channel().read(readOctets, loadedOffset + readOctets.position()) < 0) {
                    giveUpRest();
                    return false;
                }
            }
        } catch (final IOException ex) {
            fail("cannot read " + reading.path, ex);
            reading.close(); // opened again, and read from the same place
            return false;
        } finally {
            readOctets.clear();
        }
        loadedBytes = wantedBytes;
        if (retryMs != NEVER) {
            retryMs = NEVER;
            lastError = "";
        }
        writePosition();
        return true;
    }

    /** The rest of the file cannot be trusted; the other files can. */
    private void giveUpRest() {
        final long damagedOctets = reading.lengthBytes - readOffset;
        if (bufferedBytes > 0 && reading == segments.peekLast()) {
            giveUpBuffer(reading);
        }
        reading.isSealed = true;
        final long lost = reading.records - reading.readRecords;
        reading.records -= lost;
        readOffset = reading.lengthBytes;
        book.onDamaged(damagedOctets, lost);
        losses.onLost(lost, 0, 0);
        lastError = reading.path + " is damaged: the rest of it is given up";
    }

    /** What cannot be written here is tried again later and stops nothing else: at worst, records come twice after a crash. */
    private void writePosition() {
        if (position == null || isBroken() || isAhead(positionRetryMs)) {
            return;
        }
        final SpoolSegment first = segments.peekFirst();
        final long releasedSegment = first == null ? nextNumber : first.number;
        final long released = first == null ? SpoolLayout.HEADER_LENGTH_BYTES : releasedOffset;
        final boolean isReading = reading != null;
        try {
            position.write(releasedSegment, released,
                isReading ? reading.number : releasedSegment, isReading ? loadedOffset + loadedBytes : released);
            if (positionRetryMs != NEVER) {
                positionRetryMs = NEVER;
                lastError = "";
            }
        } catch (final IOException ex) {
            positionRetryMs = nowMs + RETRY_MS;
            tell("cannot write " + directory, ex);
        }
    }
}
