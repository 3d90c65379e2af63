package io.flowlag.exporter.exchange.link;

import io.flowlag.exporter.delay.interval.SenderAnswers;
import io.flowlag.exporter.delay.interval.records.SenderAnswer;
import io.flowlag.exporter.exchange.wire.ExchangeSettings;
import org.agrona.concurrent.OneToOneConcurrentArrayQueue;

import java.util.concurrent.atomic.AtomicLong;
import java.util.function.LongConsumer;
import java.util.function.Supplier;

/**
 * Intervals of a sender under one settings, in transit from the exchange's thread, which calls {@link #offer}, to the metering
 * thread, which calls the rest. Bounded. Allocates at construction.
 */
public final class SenderInbox implements SenderAnswers {
    /** One interval being compared, one in transit, and one that came early. */
    private static final int SPARE_INTERVALS = 3;

    private final int settingsNumber;
    private final RemotePeer peer;
    private final LongConsumer expect;
    private final AtomicLong unaskedIntervals;
    private final OneToOneConcurrentArrayQueue<ReceivedInterval> arrived;
    private final OneToOneConcurrentArrayQueue<ReceivedInterval> free;
    private final ReceivedInterval[] early;
    private int earlyCount;
    private long askedInterval = Long.MIN_VALUE;

    /**
     * An empty inbox.
     *
     * @param settings         that hold for its intervals.
     * @param waitNs           how long the metering thread waits for an interval.
     * @param copies           makes room for an interval.
     * @param peer             answers requests about packets; null for no requests.
     * @param expect           receives the number of each interval that the metering thread waits for.
     * @param unaskedIntervals counts what came too late; this is its writer.
     */
    public SenderInbox(
        final ExchangeSettings settings, final long waitNs, final Supplier<ReceivedInterval> copies, final RemotePeer peer,
        final LongConsumer expect, final AtomicLong unaskedIntervals) {
        this.peer = peer;
        settingsNumber = settings.number();
        this.expect = expect;
        this.unaskedIntervals = unaskedIntervals;
        final int intervals = (int)(waitNs / settings.intervalNs()) + SPARE_INTERVALS;
        arrived = new OneToOneConcurrentArrayQueue<>(intervals);
        free = new OneToOneConcurrentArrayQueue<>(intervals);
        early = new ReceivedInterval[intervals];
        for (int i = 0; i < intervals; i++) {
            free.offer(copies.get());
        }
    }

    /** {@return intervals that fit} */
    public int capacity() {
        return early.length;
    }

    int settingsNumber() {
        return settingsNumber;
    }

    /** Adds an interval; false if there is no room. */
    public boolean offer(final SenderInterval interval) {
        final ReceivedInterval copy = free.poll();
        if (copy != null) {
            copy.copy(interval);
            arrived.offer(copy);
        }
        return copy != null;
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
                unaskedIntervals.lazySet(unaskedIntervals.get() + 1);
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
        unaskedIntervals.lazySet(unaskedIntervals.get() + earlyCount);
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
