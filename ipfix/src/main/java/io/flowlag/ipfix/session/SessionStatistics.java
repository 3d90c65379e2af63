package io.flowlag.ipfix.session;

import org.agrona.BufferUtil;
import org.agrona.concurrent.UnsafeBuffer;

import java.lang.invoke.VarHandle;

import static org.agrona.BitUtil.CACHE_LINE_LENGTH;

/**
 * The counters of one {@link ExportingSession}. The session's thread writes, any thread reads. {@link #snapshot} gives consistent
 * values: in each, accepted = exported + failed + waiting + returned.
 *
 * <p>Assumption: one writer, which brackets related changes by {@link #begin} and {@link #end}. Guarantees: a reader never stops
 * the writer; a snapshot contains no partial change. Allocates at construction.
 */
public final class SessionStatistics {
    private static final int VERSION_OFFSET = 0;
    private static final int VALUES_OFFSET = VERSION_OFFSET + CACHE_LINE_LENGTH;

    private final UnsafeBuffer buffer = new UnsafeBuffer(BufferUtil.allocateDirectAligned(
        VALUES_OFFSET + SessionCounter.count() * Long.BYTES + CACHE_LINE_LENGTH, CACHE_LINE_LENGTH));

    SessionStatistics() {
    }

    /** Reads one counter; safe from any thread. */
    public long get(final SessionCounter counter) {
        return buffer.getLongAcquire(offset(counter));
    }

    /**
     * Reads all counters at one moment; safe from any thread. Allocates nothing.
     *
     * @param values receives a value at each counter's ordinal; at least {@link SessionCounter#count()} long.
     */
    public void snapshot(final long[] values) {
        long version;
        do {
            version = buffer.getLongVolatile(VERSION_OFFSET);
            for (int i = 0; i < SessionCounter.count(); i++) {
                values[i] = buffer.getLong(VALUES_OFFSET + i * Long.BYTES);
            }
            VarHandle.loadLoadFence();
        } while ((version & 1) != 0 || version != buffer.getLongVolatile(VERSION_OFFSET));
    }

    /** {@return flow records handed to the session} */
    public long recordsAccepted() {
        return get(SessionCounter.RECORDS_ACCEPTED);
    }

    /** {@return flow records that left the process} */
    public long recordsExported() {
        return get(SessionCounter.RECORDS_EXPORTED);
    }

    /** {@return flow records that wait} */
    public long recordsWaiting() {
        return get(SessionCounter.RECORDS_WAITING);
    }

    /** {@return exported flow records that may not have arrived} */
    public long recordsUncertain() {
        return get(SessionCounter.RECORDS_UNCERTAIN);
    }

    /** {@return flow records lost in this process, for all reasons} */
    public long recordsFailed() {
        long sum = 0;
        for (int i = 0; i < SessionCounter.count(); i++) {
            if (SessionCounter.of(i).isFailure()) {
                sum += get(SessionCounter.of(i));
            }
        }
        return sum;
    }

    void begin() {
        buffer.putLongRelease(VERSION_OFFSET, buffer.getLong(VERSION_OFFSET) + 1);
        VarHandle.storeStoreFence();
    }

    void add(final SessionCounter counter, final long amount) {
        final int offset = offset(counter);
        buffer.putLongRelease(offset, buffer.getLong(offset) + amount);
    }

    void set(final SessionCounter counter, final long value) {
        buffer.putLongRelease(offset(counter), value);
    }

    void end() {
        buffer.putLongRelease(VERSION_OFFSET, buffer.getLong(VERSION_OFFSET) + 1);
    }

    private static int offset(final SessionCounter counter) {
        return VALUES_OFFSET + counter.ordinal() * Long.BYTES;
    }
}
