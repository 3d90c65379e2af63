package io.flowlag.exporter.exchange.link;

import io.flowlag.common.counter.CounterSet;
import io.flowlag.exporter.delay.interval.SenderAnswers;
import io.flowlag.exporter.delay.interval.records.SenderAnswer;
import io.flowlag.exporter.exchange.link.SenderArrivals.Lost;
import io.flowlag.exporter.exchange.wire.ExchangeSettings;
import org.agrona.concurrent.OneToOneConcurrentArrayQueue;

import java.util.function.LongConsumer;
import java.util.function.Supplier;

/**
 * Intervals of a sender under one settings, in transit from the exchange's thread, which calls {@link #swap}, to the metering
 * thread, which calls the rest. Bounded. Allocates at construction.
 */
public final class SenderInbox implements SenderAnswers {
    /** One interval being compared, one in transit, and one that came early. */
    private static final int SPARE_INTERVALS = 3;

    private final int settingsNumber;
    private final RemotePeer peer;
    private final LongConsumer expect;
    private final CounterSet<Lost> lost;
    private final OneToOneConcurrentArrayQueue<ReceivedInterval> arrived;
    private final OneToOneConcurrentArrayQueue<ReceivedInterval> free;
    private final ReceivedInterval[] early;
    private int earlyCount;
    private long askedInterval = Long.MIN_VALUE;

    /**
     * An empty inbox for intervals of settings.
     *
     * @param waitNs   how long the metering thread waits for an interval.
     * @param rooms    makes room for an interval.
     * @param peer     answers requests about packets; null for no requests.
     * @param expect   receives the number of each interval that the metering thread waits for.
     * @param lost     counts what came too late.
     */
    public SenderInbox(
        final ExchangeSettings settings, final long waitNs, final Supplier<ReceivedInterval> rooms, final RemotePeer peer,
        final LongConsumer expect, final CounterSet<Lost> lost) {
        this.peer = peer;
        settingsNumber = settings.number();
        this.expect = expect;
        this.lost = lost;
        final int intervals = capacityFor(waitNs, settings.intervalNs());
        arrived = new OneToOneConcurrentArrayQueue<>(intervals);
        free = new OneToOneConcurrentArrayQueue<>(intervals);
        early = new ReceivedInterval[intervals];
        for (int i = 0; i < intervals; i++) {
            free.offer(rooms.get());
        }
    }

    /** {@return intervals that fit} */
    public int capacity() {
        return early.length;
    }

    /** {@return intervals that fit into an inbox of settings} */
    static int capacityFor(final long waitNs, final long intervalNs) {
        return (int)(waitNs / intervalNs) + SPARE_INTERVALS;
    }

    int settingsNumber() {
        return settingsNumber;
    }

    /** Takes an interval. Returns an empty one for it; the same, which is dropped then, if there is no room. */
    public ReceivedInterval swap(final ReceivedInterval interval) {
        final ReceivedInterval empty = free.poll();
        if (empty == null) {
            return interval;
        }
        arrived.offer(interval);
        return empty;
    }

    @Override
    public SenderAnswer take(final long intervalNumber) {
        if (intervalNumber > askedInterval) {
            askedInterval = intervalNumber;
            expect.accept(intervalNumber);
        }
        unpack();
        SenderAnswer found = null;
        int kept = 0;
        for (int i = 0; i < earlyCount; i++) {
            final ReceivedInterval each = early[i];
            if (each.intervalNumber() == intervalNumber && found == null) {
                found = each;
            } else if (each.intervalNumber() <= intervalNumber) {
                lost.increment(Lost.INTERVALS_UNASKED);
                free.offer(each);
            } else {
                early[kept++] = each;
            }
        }
        earlyCount = kept;
        return found;
    }

    private void unpack() {
        ReceivedInterval next = arrived.poll();
        while (next != null) {
            early[earlyCount++] = next;
            next = arrived.poll();
        }
    }

    @Override
    public void restart() {
        unpack();
        lost.add(Lost.INTERVALS_UNASKED, earlyCount);
        while (earlyCount > 0) {
            free.offer(early[--earlyCount]);
        }
        askedInterval = Long.MIN_VALUE;
    }

    @Override
    public RemotePeer peer() {
        return peer;
    }

    @Override
    public boolean isExpected(final long intervalNumber) {
        return true;
    }

    @Override
    public void giveBack(final SenderAnswer answer) {
        free.offer((ReceivedInterval)answer);
    }
}
