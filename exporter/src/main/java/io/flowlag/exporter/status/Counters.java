package io.flowlag.exporter.status;

import org.agrona.BufferUtil;
import org.agrona.concurrent.UnsafeBuffer;

import java.util.Arrays;
import java.util.LinkedHashMap;
import java.util.Map;

import static org.agrona.BitUtil.CACHE_LINE_LENGTH;

/**
 * The values of all {@link CounterId}s, one cache line each. Every counter has one writer: the thread of its stage. If several
 * threads work a stage, each writes a {@link #share} of its own, and the counter is their sum. Any thread may read; values may be
 * slightly old. Allocates at construction, and with each share.
 */
public final class Counters {
    private final UnsafeBuffer values =
        new UnsafeBuffer(BufferUtil.allocateDirectAligned(CounterId.count() * CACHE_LINE_LENGTH, CACHE_LINE_LENGTH));

    private volatile Counters[] shares = {};

    /**
     * Creates a share for one of several threads of a stage, added to these counters. To be called before the threads start.
     * Returns a share, at 0.
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

    /** Adds 0 or more to a counter. Only the counter's writer may call it. */
    public void add(final CounterId id, final long amount) {
        final int offset = id.ordinal() * CACHE_LINE_LENGTH;
        values.putLongRelease(offset, values.getLong(offset) + amount);
    }

    /** Sets a counter that mirrors a total kept elsewhere, such as the kernel's. Only the counter's writer may call it. */
    public void set(final CounterId id, final long total) {
        values.putLongRelease(id.ordinal() * CACHE_LINE_LENGTH, total);
    }

    /** Reads what was counted here, without the shares; safe from any thread. */
    public long ownCount(final CounterId id) {
        return values.getLongAcquire(id.ordinal() * CACHE_LINE_LENGTH);
    }

    /** Reads a counter, all shares included; safe from any thread. */
    public long get(final CounterId id) {
        long sum = ownCount(id);
        for (final Counters share : shares) {
            sum += share.get(id);
        }
        return sum;
    }

    /** {@return the value of each counter by its label, in their order} */
    public Map<String, Long> byLabel() {
        final Map<String, Long> all = new LinkedHashMap<>();
        for (int i = 0; i < CounterId.count(); i++) {
            all.put(CounterId.of(i).label(), get(CounterId.of(i)));
        }
        return all;
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
