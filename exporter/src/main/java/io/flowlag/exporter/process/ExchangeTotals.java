package io.flowlag.exporter.process;

import io.flowlag.exporter.exchange.ExchangeCounter;
import io.flowlag.exporter.exchange.ExchangeCounters;

import java.util.function.ObjLongConsumer;

/** The counters of an end of the exchange, by label. Stateless. */
final class ExchangeTotals {
    private ExchangeTotals() {
    }

    /**
     * Shows every counter, and what was refused by reason.
     *
     * @param counters of one end.
     * @param consumer takes label and value.
     */
    static void show(final ExchangeCounters counters, final ObjLongConsumer<String> consumer) {
        for (final ExchangeCounter each : ExchangeCounter.values()) {
            consumer.accept(each.label(), counters.get(each));
        }
        counters.refusals((reason, count) -> consumer.accept("refused_" + reason, count));
    }
}
