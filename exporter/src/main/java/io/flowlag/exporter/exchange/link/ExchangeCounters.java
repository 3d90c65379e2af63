package io.flowlag.exporter.exchange.link;

import io.flowlag.exporter.exchange.wire.ExchangeResult;

import java.util.concurrent.atomic.AtomicLongArray;
import java.util.function.ObjLongConsumer;

/**
 * Values of the {@link ExchangeCounter}s of one end, and refusals by reason. Each counter has one writing thread; any thread
 * reads. Allocates at construction.
 */
public final class ExchangeCounters {
    private final AtomicLongArray values = new AtomicLongArray(ExchangeCounter.values().length);
    private final AtomicLongArray refusals = new AtomicLongArray(ExchangeResult.values().length);

    /** Counts one. The thread of the exchange's end is the only writer. */
    public void increment(final ExchangeCounter counter) {
        add(counter, 1);
    }

    void add(final ExchangeCounter counter, final long count) {
        values.lazySet(counter.ordinal(), values.get(counter.ordinal()) + count);
    }

    void refused(final ExchangeResult reason) {
        refusals.lazySet(reason.ordinal(), refusals.get(reason.ordinal()) + 1);
    }

    /** A counter's value. Returns since the start. */
    public long get(final ExchangeCounter counter) {
        return values.get(counter.ordinal());
    }

    long refusals(final ExchangeResult reason) {
        return refusals.get(reason.ordinal());
    }

    /**
     * Shows every reason for which something was refused.
     *
     * @param consumer takes the reason's label and the count, 0 included.
     */
    public void refusals(final ObjLongConsumer<String> consumer) {
        for (final ExchangeResult reason : ExchangeResult.values()) {
            if (reason != ExchangeResult.ACCEPTED) {
                consumer.accept(reason.label(), refusals(reason));
            }
        }
    }
}
