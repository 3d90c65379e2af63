package io.flowlag.exporter.status;

import org.agrona.BufferUtil;
import org.agrona.concurrent.UnsafeBuffer;

import java.util.Arrays;

import static org.agrona.BitUtil.CACHE_LINE_LENGTH;

/**
 * The values of all {@link CounterId}s, one cache line each. Every counter has one writer: the thread of the stage that
 * counts it; where several threads work the same stage, each is the writer of a {@link #share} of its own, and a counter is the
 * sum of them. Any thread may read; it sees a value that was true a moment ago. Allocates at construction, and with each share.
 */
public final class Counters {
    private final UnsafeBuffer values =
        new UnsafeBuffer(BufferUtil.allocateDirectAligned(CounterId.count() * CACHE_LINE_LENGTH, CACHE_LINE_LENGTH));

    private volatile Counters[] shares = {};

    /** All counters at 0. */
    public Counters() {
    }

    /**
     * Counters for one of several threads that work the same stage: what it counts there is counted here too. To be called before
     * the threads start. Returns a share, at 0.
     */
    public Counters share() {
        final Counters share = new Counters();
        final Counters[] longer = Arrays.copyOf(shares, shares.length + 1);
        longer[longer.length - 1] = share;
        shares = longer;
        return share;
    }

    /** Adds one. Only the counter's writer may call it. */
    public void increment(final CounterId id) {
        add(id, 1L);
    }

    /**
     * Adds to a counter. Only the counter's writer may call it.
     *
     * @param amount to add, 0 or more.
     */
    public void add(final CounterId id, final long amount) {
        final int offset = id.ordinal() * CACHE_LINE_LENGTH;
        values.putLongRelease(offset, values.getLong(offset) + amount);
    }

    /** Sets a counter that mirrors a total kept elsewhere, such as the kernel's. Only the counter's writer may call it. */
    public void set(final CounterId id, final long total) {
        values.putLongRelease(id.ordinal() * CACHE_LINE_LENGTH, total);
    }

    /** Reads a counter; safe from any thread. Returns its value, that of all shares included. */
    public long get(final CounterId id) {
        long sum = values.getLongAcquire(id.ordinal() * CACHE_LINE_LENGTH);
        for (final Counters share : shares) {
            sum += share.get(id);
        }
        return sum;
    }

    /** {@return the sum of all refusals of the decoder} */
    public long refused() {
        long sum = 0;
        for (int i = 0; i < CounterId.count(); i++) {
            if (CounterId.of(i).isRefusal()) {
                sum += get(CounterId.of(i));
            }
        }
        return sum;
    }
}
