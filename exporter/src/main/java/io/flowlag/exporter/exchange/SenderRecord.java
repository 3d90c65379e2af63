package io.flowlag.exporter.exchange;

import java.util.function.LongConsumer;

/**
 * What a listener remembers of a sender, connected or not: its ledger outlives its connections. One thread; allocates at
 * construction.
 */
final class SenderRecord {
    private final long pointId;
    private final IntervalLedger ledger;
    private final IntervalAssembler assembler;
    private final LongConsumer onMissing;
    private ExchangeConnection connection;
    private long instance;
    private long nextSendTime;

    SenderRecord(
        final long pointId, final IntervalLedger ledger, final IntervalAssembler assembler, final LongConsumer onMissing) {
        this.pointId = pointId;
        this.onMissing = onMissing;
        this.ledger = ledger;
        this.assembler = assembler;
    }

    long pointId() {
        return pointId;
    }

    IntervalLedger ledger() {
        return ledger;
    }

    IntervalAssembler assembler() {
        return assembler;
    }

    LongConsumer onMissing() {
        return onMissing;
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

    /** How many send times before this one are missing. */
    long onSendTimes(final long firstIndex, final int count) {
        final long missing = Math.max(0, firstIndex - nextSendTime);
        nextSendTime = Math.max(nextSendTime, firstIndex + count);
        return missing;
    }
}
