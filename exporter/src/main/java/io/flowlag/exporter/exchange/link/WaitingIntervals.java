package io.flowlag.exporter.exchange.link;

import io.flowlag.exporter.exchange.wire.ExchangeHeader;
import org.agrona.MutableDirectBuffer;

import java.util.ArrayList;
import java.util.List;

/**
 * A sender's intervals that the receiver has not answered, oldest first, and how far the present connection has got with them.
 * Bounded in count, octets and time: what is too much goes, the oldest first, and is counted. One thread; allocates per interval.
 */
final class WaitingIntervals {
    /** So much of an interval goes at once: no burst on a link that has room for more than that a second. */
    private static final int AT_ONCE_BYTES = 32 * 1024;

    private final int maxIntervals;
    private final long maxBytes;
    private final long maxWaitNs;
    private final ExchangeCounters counters;
    private final List<Waiting> waiting = new ArrayList<>();
    private long waitingBytes;
    private int current;
    private int position;

    private static final class Waiting {
        private final EncodedInterval interval;
        private final long offeredNs;
        private boolean wasSent;

        private Waiting(final EncodedInterval interval, final long offeredNs) {
            this.interval = interval;
            this.offeredNs = offeredNs;
        }
    }

    WaitingIntervals(final int maxIntervals, final long maxBytes, final long maxWaitNs, final ExchangeCounters counters) {
        this.maxIntervals = maxIntervals;
        this.maxBytes = maxBytes;
        this.maxWaitNs = maxWaitNs;
        this.counters = counters;
    }

    int count() {
        return waiting.size();
    }

    void add(final EncodedInterval interval, final long nowNs) {
        waiting.add(new Waiting(interval, nowNs));
        waitingBytes += interval.lengthBytes();
        while (waiting.size() > maxIntervals || waitingBytes > maxBytes) {
            remove(0);
            counters.increment(ExchangeCounter.INTERVALS_DROPPED);
        }
    }

    /** Gives up what has waited too long. */
    void expire(final long nowNs) {
        while (!waiting.isEmpty() && nowNs - waiting.get(0).offeredNs > maxWaitNs) {
            remove(0);
            counters.increment(ExchangeCounter.INTERVALS_EXPIRED);
        }
    }

    /** The receiver has answered; false if the interval does not wait. */
    boolean answered(final long number) {
        for (int i = 0; i < waiting.size(); i++) {
            if (waiting.get(i).interval.number() == number) {
                remove(i);
                counters.increment(ExchangeCounter.INTERVALS_ANSWERED);
                return true;
            }
        }
        return false;
    }

    private void remove(final int index) {
        waitingBytes -= waiting.remove(index).interval.lengthBytes();
        if (index < current) {
            current--;
        } else if (index == current) {
            position = 0;
        }
    }

    /** A new connection: everything is to be sent, from the first message of the oldest on. */
    void restart() {
        current = 0;
        position = 0;
    }

    /** Sends as many messages as there is room for; what is large of an interval, evenly over some time after it was offered. */
    int send(final ExchangeConnection connection, final MutableDirectBuffer scratch, final long nowNs, final long spreadNs) {
        int sent = 0;
        while (current < waiting.size()) {
            final Waiting next = waiting.get(current);
            final long waitedNs = nowNs - next.offeredNs;
            final double dueBytes = Math.max(AT_ONCE_BYTES, (double)waitedNs / spreadNs * next.interval.lengthBytes());
            if (waitedNs < spreadNs && position > dueBytes) {
                break;
            }
            final int lengthBytes = ExchangeHeader.lengthBytes(next.interval.messages(), position);
            scratch.putBytes(0, next.interval.messages(), position, lengthBytes);
            if (!connection.send(scratch, lengthBytes)) {
                break;
            }
            sent++;
            if (0 == position) {
                if (next.wasSent) {
                    counters.increment(ExchangeCounter.INTERVALS_RESENT);
                }
                next.wasSent = true;
            }
            position += lengthBytes;
            if (position == next.interval.lengthBytes()) {
                current++;
                position = 0;
            }
        }
        return sent;
    }
}
