package io.flowlag.exporter.export.spool;

import io.flowlag.common.file.Disk;
import io.flowlag.exporter.status.SpoolStatistics;
import io.flowlag.ipfix.template.Template;
import org.agrona.BufferUtil;
import org.agrona.DirectBuffer;
import org.agrona.collections.Int2ObjectHashMap;
import org.agrona.concurrent.ControlledMessageHandler;
import org.agrona.concurrent.UnsafeBuffer;
import org.agrona.concurrent.ringbuffer.OneToOneRingBuffer;
import org.agrona.concurrent.ringbuffer.RingBufferDescriptor;

import java.io.IOException;
import java.nio.file.Path;
import java.util.Arrays;
import java.util.List;
import java.util.concurrent.Executor;
import java.util.concurrent.locks.LockSupport;
import java.util.function.BooleanSupplier;

import static org.agrona.BitUtil.CACHE_LINE_LENGTH;

/**
 * Flow records of one destination on disk, first in, first out, bounded in octets: when it is full, the oldest file of records is
 * discarded. Files are appended to, never changed; {@link SpoolLayout} describes them. A record's checksum is verified before
 * use. Failed reads and writes are counted and never end the process.
 * <p>
 * Reading runs ahead of {@link #release releasing}: records read but not released are read again after {@link #rewind} and after
 * a crash. Used by the exporting thread; {@link #statistics()}, {@link #lastError()} and {@link #notices()} by any. Writes are at
 * most 256 KiB, once a second or when that much is buffered. Allocates at construction and, while records are written or read, a
 * little per record.
 * <p>
 * Another thread works on the files, one job at a time, so that a disk that hangs blocks that thread alone. All state belongs to
 * the job meanwhile: records go aside, to a second buffer; nothing is read. When that buffer is full too, as after a burst or a
 * broken connection, the exporting thread waits for the job, but for no more than about half a second a job and two seconds a
 * duty cycle; further records are lost. In the next call the exporting thread takes note of what became of the job.
 */
public final class Spool implements AutoCloseable {
    /** Runs the jobs of a spool in order, as a rule on another thread. */
    public interface Jobs extends Executor {
        /** Waits a moment for a job to end. */
        default void await() {
            LockSupport.parkNanos(AWAIT_NS);
        }
    }

    public static final long MIN_BOUND_BYTES = 1 << 20;

    private static final int ASIDE_BYTES = SpoolWriter.BUFFER_BYTES + RingBufferDescriptor.TRAILER_LENGTH;
    private static final long STALL_SECONDS = 2;
    private static final long AWAIT_NS = 1_000_000L;
    private static final int MOST_WAITS_FOR_JOB = 500;
    private static final int MOST_WAITS = 2_000;
    private static final long MS_PER_SECOND = 1_000L;
    private static final long NEVER = Long.MIN_VALUE;

    private final Path directory;
    private final SpoolLosses losses;
    private final Jobs jobs;
    private final SpoolBook book = new SpoolBook();
    private final SpoolTrouble trouble = new SpoolTrouble(book);
    private final SpoolFiles files;
    private final SpoolWriter writer = new SpoolWriter();
    private final SpoolReader reader;
    private final SpoolWorker worker;
    private final OneToOneRingBuffer aside =
        new OneToOneRingBuffer(new UnsafeBuffer(BufferUtil.allocateDirectAligned(ASIDE_BYTES, CACHE_LINE_LENGTH)));
    private final Int2ObjectHashMap<Template> asideTemplates = new Int2ObjectHashMap<>();
    private final ControlledMessageHandler asideTaker = this::takeAside;
    private final Runnable work = this::work;
    /** Records, packets and octets that the job may write. */
    private final long[] underWay = new long[3];
    private BooleanSupplier job;
    private boolean hasSucceeded;
    private RuntimeException failure;
    private volatile boolean isBusy;
    private boolean isUnnoted;
    private boolean isRoomSought;
    private int waitsForJob;
    private int waits;
    private long recordsBeforeAside;
    private long nowMs;
    private long busySinceMs = NEVER;
    private volatile long stalledSeconds;
    private boolean isEnding;
    private boolean isClosed;
    private volatile boolean isGivenUp;

    /**
     * Opens a spool and recovers what a former process left in it. If another destination of this process still uses the
     * directory, as during a reload, the files are opened once it has released them. Records wait in memory meanwhile.
     *
     * @param directory  of the spool alone; created if absent.
     * @param boundBytes of its files, {@link #MIN_BOUND_BYTES} or more.
     * @param losses     receives the records that were discarded.
     * @param jobs       works on the files.
     * @throws IOException if the directory cannot be created or another process uses it; the message names it.
     */
    public Spool(
        final Path directory, final long boundBytes, final SpoolTemplates templates, final SpoolLosses losses, final Disk disk,
        final Jobs jobs) throws IOException {
        this.jobs = jobs;
        this.directory = directory;
        this.losses = losses;
        files = new SpoolFiles(directory, Math.max(MIN_BOUND_BYTES, boundBytes), book, disk);
        reader = new SpoolReader(templates);
        worker = new SpoolWorker(directory, disk, files, writer, reader, trouble, book);
        SpoolDirectory.make(directory, disk);
        worker.open();
        note();
    }

    public static long memoryBytes() {
        return SpoolWriter.BUFFER_BYTES + ASIDE_BYTES + SpoolReader.BUFFER_BYTES;
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
        return worker.force();
    }

    /** {@return the reason of the last failed write or read, empty after a success; safe from any thread} */
    public String lastError() {
        final long seconds = stalledSeconds;
        return seconds == 0 ? trouble.lastError() : directory + ": the disk does not answer for " + seconds + " s or more";
    }

    /** {@return notices from the start, each worth a log line} */
    public List<String> notices() {
        return worker.notices();
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
        nowMs = timeMs;
        boolean isTaken = tryTake(template, buffer, offset, lengthBytes);
        while (!isTaken && tryAwait()) {
            isTaken = tryTake(template, buffer, offset, lengthBytes);
        }
        if (!isTaken) {
            lose(template, buffer, offset);
        }
        book.onRecordIn(); // not before it is in a buffer or lost: what counts as in may be settled
        noteSettled();
    }

    private boolean tryTake(final Template template, final DirectBuffer buffer, final int offset, final int lengthBytes) {
        return tryReady() && take(template, buffer, offset, lengthBytes) || tryPutAside(template, buffer, offset, lengthBytes);
    }

    /** Waits a moment for the job, unless it has had its time. */
    private boolean tryAwait() {
        if (isGivenUp || waitsForJob == MOST_WAITS_FOR_JOB || waits == MOST_WAITS) {
            return false;
        }
        waitsForJob++;
        waits++;
        jobs.await();
        return true;
    }

    /** Adds a record to the buffer, or loses it. Returns false if it must wait for the job that makes room. */
    private boolean take(final Template template, final DirectBuffer buffer, final int offset, final int lengthBytes) {
        trouble.now(nowMs);
        final int frameBytes = SpoolWriter.frameBytes(lengthBytes);
        final int needed = frameBytes + SpoolWriter.frameBytes(template);
        final boolean isPossible = !trouble.isPaused() && frameBytes <= SpoolReader.BUFFER_BYTES &&
            writer.shape(template).recordLengthBytes() == lengthBytes;
        boolean hasRoom = isPossible && worker.hasRoom(needed);
        if (isPossible && !hasRoom) {
            if (!isRoomSought) {
                isRoomSought = true;
                if (!run(() -> worker.makeRoom(needed))) {
                    return false;
                }
            }
            hasRoom = hasSucceeded && worker.hasRoom(needed);
        }
        isRoomSought = false;
        if (hasRoom) {
            writer.put(tail(), template, buffer, offset, lengthBytes, nowMs);
        } else {
            lose(template, buffer, offset);
        }
        return true;
    }

    private ControlledMessageHandler.Action takeAside(
        final int key, final DirectBuffer buffer, final int offset, final int lengthBytes) {
        return take(asideTemplates.get(key), buffer, offset, lengthBytes) ?
            ControlledMessageHandler.Action.CONTINUE : ControlledMessageHandler.Action.ABORT;
    }

    private boolean tryPutAside(final Template template, final DirectBuffer buffer, final int offset, final int lengthBytes) {
        if (aside.size() == 0) {
            recordsBeforeAside = book.recordsIn();
        }
        asideTemplates.put(template.templateId(), template);
        return lengthBytes <= aside.maxMsgLength() && aside.write(template.templateId(), buffer, offset, lengthBytes);
    }

    private void lose(final Template template, final DirectBuffer buffer, final int offset) {
        final SpoolTemplate shape = writer.shape(template);
        book.onLost(1);
        losses.onLost(1, shape.packets(buffer, offset), shape.octets(buffer, offset));
    }

    /**
     * Takes in the records that went aside, if no job works on the files. Returns whether none does; only then may records be
     * released, and reading go back.
     */
    public boolean tryReady() {
        while (isDone() && aside.size() > 0) {
            aside.controlledRead(asideTaker);
            noteSettled();
        }
        return isDone() && aside.size() == 0;
    }

    /** Whether no job is under way; takes note of what the last one did, and throws what it threw. */
    private boolean isDone() {
        if (isBusy || isGivenUp) {
            return false;
        }
        if (isUnnoted) {
            isUnnoted = false;
            note();
            final RuntimeException thrown = failure;
            failure = null;
            if (thrown != null) {
                throw thrown;
            }
        }
        return true;
    }

    private void note() {
        stalledSeconds = 0;
        if (worker.found != null) {
            book.onTakenUp(worker.found.records(), worker.found.perhapsTwice(), worker.found.refusedOctets());
            worker.found = null;
        }
        tellLost(worker.lost);
        noteSettled();
    }

    private void tellLost(final long[] counts) {
        if (counts[0] > 0) {
            book.onLost(counts[0]);
            losses.onLost(counts[0], counts[1], counts[2]);
        }
        Arrays.fill(counts, 0);
    }

    /** Records are settled in their order: what is lost on its way in, when those before it are. */
    private void noteSettled() {
        if (isDone() && writer.isEmpty()) {
            book.settled(aside.size() == 0 ? book.recordsIn() : recordsBeforeAside);
        }
    }

    /** Begins a job. Returns whether it is done already. */
    private boolean run(final BooleanSupplier next) {
        job = next;
        isUnnoted = true;
        busySinceMs = NEVER;
        waitsForJob = 0;
        underWay[0] = writer.records();
        underWay[1] = writer.packets();
        underWay[2] = writer.octets();
        isBusy = true;
        jobs.execute(work);
        return isDone();
    }

    private void work() {
        try {
            hasSucceeded = false;
            if (!isGivenUp || isEnding) {
                hasSucceeded = job.getAsBoolean();
            }
        } catch (final RuntimeException ex) {
            failure = ex;
        } finally {
            isBusy = false;
        }
    }

    /** Tells a disk that does not answer, at each power of two of seconds. */
    private void noteStall(final long timeMs) {
        busySinceMs = busySinceMs == NEVER ? timeMs : busySinceMs;
        final long seconds = (timeMs - busySinceMs) / MS_PER_SECOND;
        if (seconds >= STALL_SECONDS) {
            if (stalledSeconds == 0) {
                book.onError();
            }
            stalledSeconds = Long.highestOneBit(seconds);
        }
    }

    /** Finds the oldest unread record; it stays the same until {@link #consume()}. Returns whether there is one by now. */
    public boolean next() {
        if (!tryReady()) {
            return false;
        }
        while (!reader.hasRecord() && worker.isReadable() && reader.readLoaded()) {
            continue;
        }
        return reader.hasRecord() ||
            worker.isReadable() && worker.isAnyUnread() && run(worker::find) && reader.hasRecord();
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
        worker.releasedSegment = segment;
        final SpoolSegment released = files.from(segment);
        released.releasedRecords++;
        released.packets -= packets;
        released.octets -= octets;
        released.releasedOffset = endOffset;
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
        nowMs = timeMs;
        waits = 0;
        if (!tryReady()) {
            noteStall(timeMs);
            return 0;
        }
        trouble.now(timeMs);
        final boolean isWriteDue = writer.isDue(timeMs);
        return !isClosed && worker.isAnyDue(isWriteDue) && run(() -> worker.work(isWriteDue)) && hasSucceeded ? 1 : 0;
    }

    /** Writes buffered records. Returns whether anything was written by now. */
    public boolean flush() {
        return tryReady() && !writer.isEmpty() && run(worker::writeBuffer) && hasSucceeded;
    }

    /** Begins the end, or goes on with it: writes what is buffered. Returns whether the files are closed. */
    public boolean end(final long timeMs) {
        if (!isClosed && tryReady()) {
            final boolean hasEnded = isEnding;
            isEnding = true;
            isClosed = hasEnded || run(this::endFiles);
        } else if (!isClosed) {
            noteStall(timeMs);
        }
        return isClosed;
    }

    /** Ends it, and waits for half a second at most; what the disk has not taken by then is lost. */
    @Override
    public void close() {
        for (int i = 0; !end(nowMs) && stalledSeconds == 0 && i < MOST_WAITS_FOR_JOB; i++) {
            jobs.await();
        }
        if (!isClosed) {
            giveUp();
        }
    }

    private void giveUp() {
        isClosed = true;
        isGivenUp = true;
        stalledSeconds = Math.max(1, stalledSeconds);
        tellLost(underWay);
        while (aside.size() > 0) {
            aside.read((key, buffer, offset, lengthBytes) -> lose(asideTemplates.get(key), buffer, offset));
        }
        book.settled(book.recordsIn());
        if (!isEnding) {
            jobs.execute(this::endFiles);
        }
    }

    private boolean endFiles() {
        worker.end(isGivenUp);
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
}
