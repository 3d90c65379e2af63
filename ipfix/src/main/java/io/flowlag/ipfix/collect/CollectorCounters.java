package io.flowlag.ipfix.collect;

import java.util.concurrent.atomic.AtomicLongArray;

/**
 * The values of all {@link CollectorCounter}s. The thread of the Collecting Process writes; any thread may read. Allocates at
 * construction.
 */
public final class CollectorCounters {
    private final AtomicLongArray values = new AtomicLongArray(CollectorCounter.count());

    /** All counters at 0. */
    public CollectorCounters() {
    }

    void increment(final CollectorCounter counter) {
        add(counter, 1L);
    }

    void add(final CollectorCounter counter, final long amount) {
        values.setRelease(counter.ordinal(), values.getPlain(counter.ordinal()) + amount);
    }

    /**
     * Reads a counter.
     *
     * @param counter which.
     * @return its value.
     */
    public long get(final CollectorCounter counter) {
        return values.getAcquire(counter.ordinal());
    }

    /** {@return messages refused, for whatever reason} */
    public long refused() {
        long sum = 0;
        for (int i = 0; i < CollectorCounter.count(); i++) {
            if (CollectorCounter.of(i).isRefusal()) {
                sum += get(CollectorCounter.of(i));
            }
        }
        return sum;
    }

    /** {@return records that the sequence numbers tell of and that never came: lost less those that came late} */
    public long missing() {
        return get(CollectorCounter.RECORDS_LOST) - get(CollectorCounter.RECORDS_LATE);
    }
}
