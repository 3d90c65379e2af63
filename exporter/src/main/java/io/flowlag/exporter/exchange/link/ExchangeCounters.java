package io.flowlag.exporter.exchange.link;

import io.flowlag.common.counter.CounterSet;
import io.flowlag.exporter.exchange.wire.ExchangeResult;

import java.util.List;
import java.util.function.ObjLongConsumer;

/**
 * Values of the {@link ExchangeCounter}s of one end, and refusals by reason. Each counter has one writing thread; any thread
 * reads. Allocates at construction.
 */
public final class ExchangeCounters {
    private static final List<ExchangeCounter> OF_SENDER = List.of(
        ExchangeCounter.SESSIONS, ExchangeCounter.SESSIONS_ENDED, ExchangeCounter.SENDERS_DOUBLED, ExchangeCounter.SETTINGS_HELD,
        ExchangeCounter.INTERVALS_COMPLETE, ExchangeCounter.INTERVALS_DAMAGED, ExchangeCounter.INTERVALS_DUPLICATE,
        ExchangeCounter.INTERVALS_LATE, ExchangeCounter.INTERVALS_AHEAD, ExchangeCounter.INTERVALS_REFUSED,
        ExchangeCounter.INTERVALS_MISSING, ExchangeCounter.INTERVALS_CUT, ExchangeCounter.SEND_TIMES_RECEIVED,
        ExchangeCounter.SEND_TIMES_MISSING);

    private final CounterSet<ExchangeCounter> values = new CounterSet<>(ExchangeCounter.class);
    private final CounterSet<ExchangeResult> refusals = new CounterSet<>(ExchangeResult.class);

    /** Counts one. The thread of the exchange's end is the only writer. */
    public void increment(final ExchangeCounter counter) {
        values.increment(counter);
    }

    void add(final ExchangeCounter counter, final long count) {
        values.add(counter, count);
    }

    void refused(final ExchangeResult reason) {
        refusals.increment(reason);
    }

    public long get(final ExchangeCounter counter) {
        return values.get(counter);
    }

    long refusals(final ExchangeResult reason) {
        return refusals.get(reason);
    }

    /** Shows every counter by its label, and what was refused by reason. */
    void show(final ObjLongConsumer<String> consumer) {
        for (final ExchangeCounter each : ExchangeCounter.values()) {
            consumer.accept(each.label(), get(each));
        }
        for (final ExchangeResult reason : ExchangeResult.values()) {
            if (reason != ExchangeResult.ACCEPTED) {
                consumer.accept("refused_" + reason.label(), refusals(reason));
            }
        }
    }

    /** Shows what is counted for each sender. */
    void showSender(final ObjLongConsumer<String> consumer) {
        OF_SENDER.forEach((each) -> consumer.accept(each.label(), get(each)));
    }
}
