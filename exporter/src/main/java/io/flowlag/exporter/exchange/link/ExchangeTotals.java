package io.flowlag.exporter.exchange.link;

import java.util.List;
import java.util.function.ObjLongConsumer;

/** The counters of an end of the exchange, by label. Stateless. */
final class ExchangeTotals {
    private static final List<ExchangeCounter> OF_SENDER = List.of(
        ExchangeCounter.SESSIONS, ExchangeCounter.SENDERS_DOUBLED, ExchangeCounter.SETTINGS_HELD,
        ExchangeCounter.INTERVALS_COMPLETE, ExchangeCounter.INTERVALS_DAMAGED, ExchangeCounter.INTERVALS_DUPLICATE,
        ExchangeCounter.INTERVALS_LATE, ExchangeCounter.INTERVALS_AHEAD, ExchangeCounter.INTERVALS_REFUSED,
        ExchangeCounter.INTERVALS_MISSING, ExchangeCounter.INTERVALS_CUT, ExchangeCounter.SEND_TIMES_RECEIVED,
        ExchangeCounter.SEND_TIMES_MISSING);

    private ExchangeTotals() {
    }

    /** Shows what is counted for each sender. */
    static void showSender(final ExchangeCounters counters, final ObjLongConsumer<String> consumer) {
        for (final ExchangeCounter each : OF_SENDER) {
            consumer.accept(each.label(), counters.get(each));
        }
    }

    /** Shows every counter, and what was refused by reason. */
    static void show(final ExchangeCounters counters, final ObjLongConsumer<String> consumer) {
        for (final ExchangeCounter each : ExchangeCounter.values()) {
            consumer.accept(each.label(), counters.get(each));
        }
        counters.refusals((reason, count) -> consumer.accept("refused_" + reason, count));
    }
}
