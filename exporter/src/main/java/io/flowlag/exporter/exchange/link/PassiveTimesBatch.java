package io.flowlag.exporter.exchange.link;

import io.flowlag.exporter.exchange.wire.PassiveTimesMessage;
import org.agrona.concurrent.UnsafeBuffer;

/**
 * Batches the send times of regular packets into one message, sent when it is full or its first entry has waited long enough: a
 * message's header is longer than many entries. One thread; allocates at construction.
 */
final class PassiveTimesBatch {
    /** Packets wait for their send times, and have room to wait longer than this. */
    static final long MOST_WAIT_NS = 20_000_000;

    private final UnsafeBuffer message = new UnsafeBuffer(new byte[PassiveTimesMessage.MAX_BYTES]);
    private int count;
    private int method;
    private long baseNs;
    private long lastNs;
    private long sinceNs;

    boolean isEmpty() {
        return count == 0;
    }

    /** {@return whether another entry fits} */
    boolean takes(final long sentNs, final int newMethod) {
        return count == 0 ||
            count < PassiveTimesMessage.MAX_COUNT && newMethod == method && PassiveTimesMessage.isNear(sentNs - lastNs);
    }

    /** Adds one that fits. */
    void add(final long digest, final long sentNs, final int newMethod, final long nowNs) {
        if (count == 0) {
            method = newMethod;
            baseNs = sentNs;
            lastNs = sentNs;
            sinceNs = nowNs;
        }
        PassiveTimesMessage.encodeEntry(message, count++, digest, sentNs - lastNs);
        lastNs = sentNs;
    }

    /** {@return whether the message is due} */
    boolean isDue(final long nowNs) {
        return count > 0 && nowNs - sinceNs >= MOST_WAIT_NS;
    }

    /** {@return whether the message was sent; otherwise its entries stay} */
    boolean send(final ExchangeConnection connection, final long firstIndex) {
        return connection.send(message, PassiveTimesMessage.encode(message, firstIndex, count, method, baseNs));
    }

    /** {@return how many entries there were; the batch is empty now} */
    int clear() {
        final int cleared = count;
        count = 0;
        return cleared;
    }
}
