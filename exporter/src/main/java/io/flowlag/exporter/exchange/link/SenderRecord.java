package io.flowlag.exporter.exchange.link;

import java.util.function.LongConsumer;
import java.util.function.Supplier;

/**
 * A listener's record of a sender, connected or not: its ledger outlives its connections. One thread; allocates at construction,
 * and when the length of intervals changes.
 */
final class SenderRecord {
    private final long pointId;
    private final Supplier<IntervalLedger> ledgers;
    private IntervalLedger ledger;
    private IntervalLedger olderLedger;
    private long intervalNs;
    private long olderIntervalNs;
    private final IntervalAssembler assembler;
    private final LongConsumer onMissing;
    private final ExchangeCounters counters;
    private ExchangeConnection connection;
    private long instance;
    private long nextSendTime;

    SenderRecord(
        final long pointId, final Supplier<IntervalLedger> ledgers, final IntervalAssembler assembler,
        final LongConsumer onMissing, final ExchangeCounters counters) {
        this.counters = counters;
        this.pointId = pointId;
        this.onMissing = onMissing;
        this.ledgers = ledgers;
        this.assembler = assembler;
    }

    long pointId() {
        return pointId;
    }

    /** {@return the run of the process that connected last} */
    long instance() {
        return instance;
    }

    /**
     * The ledger of intervals of one length; numbers of another length are unrelated. At a new length, the previous ledger is
     * kept too.
     */
    IntervalLedger ledger(final long lengthNs) {
        if (lengthNs == olderIntervalNs && olderLedger != null) {
            return olderLedger;
        }
        if (lengthNs != intervalNs || ledger == null) {
            olderLedger = ledger;
            olderIntervalNs = intervalNs;
            ledger = ledgers.get();
            intervalNs = lengthNs;
        }
        return ledger;
    }

    /** Ends the wait for overdue intervals; returns their number. */
    int poll(final long nowNs) {
        return (ledger == null ? 0 : ledger.poll(nowNs, onMissing)) +
            (olderLedger == null ? 0 : olderLedger.poll(nowNs, onMissing));
    }

    IntervalAssembler assembler() {
        return assembler;
    }

    ExchangeCounters counters() {
        return counters;
    }

    /** Whether another run of the process at that point is connected, and was heard since a time. */
    boolean isHeldByAnother(final long newInstance, final long sinceNs) {
        return connection != null && instance != newInstance && connection.heardNs() - sinceNs >= 0;
    }

    /** Its connection, null while there is none. */
    ExchangeConnection connection() {
        return connection;
    }

    void connected(final ExchangeConnection newConnection, final long newInstance) {
        connection = newConnection;
        if (instance != newInstance) {
            instance = newInstance;
            nextSendTime = 0;
        }
    }

    void disconnected() {
        connection = null;
    }

    /** Number of send times missing before this one. */
    long onSendTimes(final long firstIndex, final int count) {
        final long missing = Math.max(0, firstIndex - nextSendTime);
        nextSendTime = Math.max(nextSendTime, firstIndex + count);
        return missing;
    }
}
