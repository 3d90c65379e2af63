package io.flowlag.exporter.export;

import io.flowlag.common.file.Disk;
import io.flowlag.exporter.export.spool.Spool;
import io.flowlag.exporter.export.spool.SpoolTemplates;
import io.flowlag.exporter.status.SpoolStatistics;
import io.flowlag.ipfix.element.ElementRegistry;
import io.flowlag.ipfix.element.InformationElement;
import io.flowlag.ipfix.session.ExportingSession;
import io.flowlag.ipfix.session.UnsentRecords;
import io.flowlag.ipfix.template.FieldSpecifier;
import io.flowlag.ipfix.template.Template;
import io.flowlag.ipfix.template.TemplateCatalog;
import org.agrona.BufferUtil;
import org.agrona.DirectBuffer;
import org.agrona.concurrent.UnsafeBuffer;

import java.io.IOException;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;

import static org.agrona.BitUtil.CACHE_LINE_LENGTH;

/**
 * Keeps the records of a destination with a {@link Spool} while its collector is unreachable. While the connection accepts them,
 * records go straight to the session. Otherwise they go into the spool, as do records that a broken connection had not sent.
 * Spooled records are sent in their own order, interleaved with live records, at a bounded rate in records per second.
 * <p>
 * A spooled record is released when its message has left the process. Both kinds pass through the session in one queue, so a
 * count of records tells which of them have left. The exporting thread owns it; {@link #statistics()} and the counts are for any
 * thread. Allocates at construction, and a little per spooled record.
 */
final class Backlog implements UnsentRecords {
    private static final int UNDER_WAY_LIMIT = 16_384;
    private static final int DRAIN_LIMIT = 256;
    private static final int SCRATCH_BYTES = 65_536;
    private static final long MILLISECONDS_PER_SECOND = 1_000L;
    private static final long BURSTS_PER_SECOND = 10L;
    private static final long NEVER = Long.MIN_VALUE;

    private final Spool spool;
    private final long recordsPerSecond;
    private final UnsafeBuffer scratch =
        new UnsafeBuffer(BufferUtil.allocateDirectAligned(SCRATCH_BYTES, CACHE_LINE_LENGTH));
    private final long[] commitCounts = new long[UNDER_WAY_LIMIT];
    private final long[] segments = new long[UNDER_WAY_LIMIT];
    private final long[] endOffsets = new long[UNDER_WAY_LIMIT];
    private final long[] packets = new long[UNDER_WAY_LIMIT];
    private final long[] octets = new long[UNDER_WAY_LIMIT];
    private final boolean[] isUnsendable = new boolean[UNDER_WAY_LIMIT];
    private final long[] lostBefore = new long[3];
    private long head;
    private long tail;
    /** End of those that had left when records were given back; unsent ones follow. */
    private long keptTail;
    private long unsentHead;
    private boolean isRewindDue;

    private ExportingSession session;
    private volatile long committedCount;
    private volatile long offeredCount;
    private volatile long drainingCount;
    private long nextUnsentCount;
    private boolean isGivingBack;
    private long givenBackTimes;
    /** Records of the session that had left before the others were given back, and those in the spool with them. */
    private volatile long leftBefore;
    private volatile long givenBackIn;
    private long creditMilliRecords;
    private long creditMs = NEVER;
    private long nowMs;

    /** Opens the spool and recovers the records of a former process; an {@link IOException} names the spool. */
    Backlog(
        final Path directory,
        final Disk disk,
        final long boundBytes,
        final int recordsPerSecond,
        final ElementRegistry registry,
        final TemplateCatalog catalog,
        final Spool.Jobs jobs) throws IOException {
        this.recordsPerSecond = recordsPerSecond;
        spool = new Spool(directory, boundBytes, templates(registry, catalog), this::onLost, disk, jobs);
    }

    /** {@return octets of memory that a backlog takes besides the session's buffers} */
    static long memoryBytes() {
        return Spool.memoryBytes() + SCRATCH_BYTES + (5L * Long.BYTES + 1) * UNDER_WAY_LIMIT;
    }

    private static SpoolTemplates templates(final ElementRegistry registry, final TemplateCatalog catalog) {
        return (elementIds, lengthsBytes, enterpriseNumbers) -> {
            final List<FieldSpecifier> fields = new ArrayList<>();
            for (int i = 0; i < elementIds.length; i++) {
                final InformationElement element = registry.find(enterpriseNumbers[i], elementIds[i]);
                final FieldSpecifier field = element == null ? null : new FieldSpecifier(element, lengthsBytes[i]);
                if (field == null || !field.isLengthAllowed()) {
                    return null;
                }
                fields.add(field);
            }
            return fields.size() > TemplateCatalog.MAX_FIELDS ? null : catalog.template(0, fields);
        };
    }

    /** Joins the session of this backlog; losses recorded before are counted in it. */
    void join(final ExportingSession newSession) {
        session = newSession;
        if (lostBefore[0] > 0) {
            session.onLost(lostBefore[0], lostBefore[1], lostBefore[2]);
        }
    }

    private void onLost(final long records, final long lostPackets, final long lostOctets) {
        if (session == null) {
            lostBefore[0] += records;
            lostBefore[1] += lostPackets;
            lostBefore[2] += lostOctets;
        } else if (records > 0) {
            session.onLost(records, lostPackets, lostOctets);
        }
    }

    /** {@return records that were offered} */
    long offeredCount() {
        return offeredCount;
    }

    /** {@return records given to the session} */
    long committedCount() {
        return committedCount;
    }

    /** {@return records in the session that are also in the spool} */
    long drainingCount() {
        return drainingCount;
    }

    Spool spool() {
        return spool;
    }

    SpoolStatistics statistics() {
        return spool.statistics();
    }

    /** Offers a finished flow to the session or to the spool. */
    void offer(
        final FlowRecordEncoder encoder, final DirectBuffer entry, final int offset, final int lengthBytes, final long timeMs) {
        nowMs = timeMs;
        offeredCount++;
        if (!session.isReady() && session.transport().isConnected()) {
            session.doWork(timeMs); // starts the session, so that the first records need not wait on disk
        }
        final int claimed =
            session.isReady() ? encoder.encode(session, entry, offset, lengthBytes, timeMs) : ExportingSession.BLOCKED;
        if (claimed >= 0) {
            committedCount++;
        } else if (claimed == ExportingSession.BLOCKED) {
            final Template template = encoder.encode(scratch, 0, entry, offset, lengthBytes);
            spool.append(template, scratch, 0, template.recordLengthBytes(), timeMs);
        }
    }

    /** Releases sent records, writes what is due, and sends some spooled records. */
    int doWork(final long timeMs) {
        nowMs = timeMs;
        settle();
        return drain() + spool.doWork(timeMs);
    }

    /** Begins the end, or goes on with it; the session is closed. Returns whether the spool is; if it is late, it is. */
    boolean close(final long timeMs, final boolean isLate) {
        final boolean isReady = spool.tryReady();
        settle();
        if (isLate) {
            spool.close();
        } else if (!isReady) {
            spool.doWork(timeMs);
        }
        return isLate || isReady && spool.end(timeMs);
    }

    @Override
    public void onUnsent(final Template template, final DirectBuffer buffer, final int offset, final int lengthBytes) {
        beginGivingBack();
        nextUnsentCount++;
        while (unsentHead < tail && commitCounts[index(unsentHead)] < nextUnsentCount) {
            unsentHead++; // was not sent, and precedes this one
        }
        if (unsentHead < tail && commitCounts[index(unsentHead)] == nextUnsentCount && !isUnsendable[index(unsentHead)]) {
            unsentHead++; // still in the spool
        } else {
            spool.append(template, buffer, offset, lengthBytes, nowMs);
        }
    }

    @Override
    public void onUnsentEnd() {
        beginGivingBack();
        isGivingBack = false;
        givenBackTimes++;
        givenBackIn = spool.recordsIn();
        while (tail > keptTail) {
            drainingCount -= isUnsendable[index(--tail)] ? 0 : 1;
        }
        spool.flush();
    }

    private void beginGivingBack() {
        if (!isGivingBack) {
            isGivingBack = true;
            nextUnsentCount = leftCount();
            leftBefore = isGivenBackSettled() ? nextUnsentCount : leftBefore;
            settle();
            keptTail = head;
            while (keptTail < tail && commitCounts[index(keptTail)] <= nextUnsentCount) {
                keptTail++; // has left, and is released when the spool is free
            }
            unsentHead = keptTail;
            isRewindDue = true;
            rewind();
        }
    }

    private void rewind() {
        if (isRewindDue && head == keptTail && spool.tryReady()) {
            isRewindDue = false;
            spool.rewind();
        }
    }

    /** Counts the records that were given to the session and have left it, if only into the memory of the spool. */
    private long leftCount() {
        return committedCount - session.statistics().recordsWaiting();
    }

    private boolean isGivenBackSettled() {
        return spool.recordsSettled() >= givenBackIn;
    }

    /** {@return how many of the records given to the session have left the process, are on disk or are lost; any thread} */
    long directLeft() {
        final long left = leftCount();
        return isGivenBackSettled() ? left : leftBefore;
    }

    private void settle() {
        final long left = leftCount();
        while (head < tail && commitCounts[index(head)] <= left && spool.tryReady()) {
            final int index = index(head++);
            spool.release(segments[index], endOffsets[index], packets[index], octets[index]);
            if (isUnsendable[index]) {
                session.onLost(1, packets[index], octets[index]);
            } else {
                drainingCount--;
            }
        }
        rewind();
    }

    private int drain() {
        fillCredit();
        int count = 0;
        while (!isRewindDue && count < DRAIN_LIMIT && creditMilliRecords >= MILLISECONDS_PER_SECOND &&
            tail - head < UNDER_WAY_LIMIT && session.isReady() && spool.next() && drainOne()) {
            creditMilliRecords -= MILLISECONDS_PER_SECOND;
            count++;
        }
        return count;
    }

    private boolean drainOne() {
        final Template template = spool.template();
        final int lengthBytes = spool.recordLengthBytes();
        if (template == null || lengthBytes > session.maxRecordBytes()) {
            onTaken(true);
            return true;
        }
        final long times = givenBackTimes;
        final int claimed =
            session.claim(template, lengthBytes, nowMs, spool.recordPackets(), spool.recordOctets());
        if (claimed < 0) {
            return false;
        }
        if (times != givenBackTimes) {
            session.abort(); // the connection was replaced: reading starts again
            return false;
        }
        session.buffer().putBytes(claimed, spool.buffer(), spool.recordOffset(), lengthBytes);
        session.commit();
        committedCount++;
        drainingCount++;
        onTaken(false);
        return true;
    }

    private void onTaken(final boolean isLost) {
        final int index = index(tail++);
        commitCounts[index] = committedCount;
        segments[index] = spool.recordSegment();
        endOffsets[index] = spool.recordEndOffset();
        packets[index] = spool.recordPackets();
        octets[index] = spool.recordOctets();
        isUnsendable[index] = isLost;
        spool.consume();
    }

    /** A clock that was set back restarts the rate limit. */
    private void fillCredit() {
        final long burst = Math.max(MILLISECONDS_PER_SECOND, recordsPerSecond * MILLISECONDS_PER_SECOND / BURSTS_PER_SECOND);
        if (creditMs == NEVER || nowMs < creditMs) {
            creditMs = nowMs;
        }
        final long elapsedMs = Math.min(nowMs - creditMs, MILLISECONDS_PER_SECOND);
        creditMilliRecords = Math.min(burst, creditMilliRecords + elapsedMs * recordsPerSecond);
        creditMs = nowMs;
    }

    private static int index(final long count) {
        return (int)count & UNDER_WAY_LIMIT - 1;
    }
}
