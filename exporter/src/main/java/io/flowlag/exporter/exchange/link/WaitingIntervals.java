package io.flowlag.exporter.exchange.link;

import io.flowlag.exporter.exchange.wire.ExchangeHeader;
import org.agrona.MutableDirectBuffer;

import java.util.ArrayList;
import java.util.List;

/**
 * A sender's unanswered intervals, oldest first, and how far the present connection has sent them. Bounded in count, octets and
 * time: above a limit the oldest is dropped and counted. One thread; allocates per interval.
 */
final class WaitingIntervals {
    /** Octets of an interval sent at once: no burst on a link with more bandwidth than that per second. */
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

    /** Drops intervals that have waited too long. */
    void expire(final long nowNs) {
        while (!waiting.isEmpty() && nowNs - waiting.get(0).offeredNs > maxWaitNs) {
            remove(0);
            counters.increment(ExchangeCounter.INTERVALS_EXPIRED);
        }
    }

    /** Handles the receiver's answer; false if the interval does not wait. */
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

    /** A new connection: sends everything again, from the first message of the oldest interval. */
    void restart() {
        current = 0;
        position = 0;
    }

    /** Sends as many messages as there is room for; a large interval is spread over some time after it was offered. */
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
            if (position == 0) {
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
