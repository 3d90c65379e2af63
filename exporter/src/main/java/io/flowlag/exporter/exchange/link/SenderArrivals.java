package io.flowlag.exporter.exchange.link;

import io.flowlag.common.counter.CounterSet;
import io.flowlag.exporter.delay.ReceiverLink;
import io.flowlag.exporter.delay.ReceiverLink.SendTimeHandler;
import io.flowlag.exporter.exchange.wire.SendTimesMessage;
import org.agrona.BitUtil;
import org.agrona.DirectBuffer;
import org.agrona.concurrent.MessageHandler;

import java.util.ArrayList;
import java.util.List;
import java.util.Locale;
import java.util.function.ObjLongConsumer;

/**
 * Data of one sender in transit from the exchange's thread, which calls {@code on...}, to the metering thread, which calls {@link
 * #takeSendTimes} and the inboxes. Bounded per sender, so that no sender takes the room of another. Allocates at construction and
 * when settings change.
 */
public final class SenderArrivals {
    private static final int LEAST_SEND_TIME_BYTES = 1 << 20;
    private static final int MOST_SEND_TIME_BYTES = 1 << 26;
    private static final int SEND_TIME_SECONDS = 2;
    private static final int SEND_TIMES_LIMIT = 1024;
    /** The current settings and the previous ones. */
    private static final int INBOXES = 2;

    private final long pointId;
    private final int senderIndex;
    private final ExchangeCounters counters = new ExchangeCounters();
    private final CounterSet<Lost> lost = new CounterSet<>(Lost.class);
    private final SenderClock clock;
    private final SendTimeQueue sendTimes;
    private SendTimeHandler sendTimeHandler;
    private final MessageHandler sendTimeReader;
    private volatile List<SenderInbox> inboxes = List.of();
    private volatile int errorEstimate;
    private boolean hasInterval;
    private Long toldNs;

    /** What is lost on the way to the metering thread, which counts what is unasked or unverified; the exchange's the rest. */
    public enum Lost {
        INTERVALS_FOREIGN,
        INTERVALS_CROWDED,
        INTERVALS_UNASKED,
        SYNOPSES_UNVERIFIED,
        SEND_TIMES_CROWDED
    }

    /**
     * No data yet.
     *
     * @param senderIndex of the sender, in the order of the configuration.
     * @param sendTimeBps bandwidth for send times.
     * @param clock       of the sender, against this host's.
     */
    SenderArrivals(final long pointId, final int senderIndex, final long sendTimeBps, final SenderClock clock) {
        this.clock = clock;
        sendTimes = new SendTimeQueue(sendTimeBytes(sendTimeBps));
        this.pointId = pointId;
        this.senderIndex = senderIndex;
        sendTimeReader = SendTimeQueue.handler((kind, key, sentNs, method) ->
            sendTimeHandler.onSendTime(senderIndex, kind == SendTimesMessage.PASSIVE, key, sentNs));
    }

    /** {@return buffer for send times, octets: for two seconds in which the metering thread may be busy} */
    static int sendTimeBytes(final long sendTimeBps) {
        final long bytes = SEND_TIME_SECONDS * sendTimeBps / ReceiverLink.SEND_TIME_BITS * SendTimeQueue.ENTRY_BYTES;
        return BitUtil.findNextPositivePowerOfTwo(
            (int)Math.max(LEAST_SEND_TIME_BYTES, Math.min(MOST_SEND_TIME_BYTES, bytes)));
    }

    long pointId() {
        return pointId;
    }

    int senderIndex() {
        return senderIndex;
    }

    ExchangeCounters counters() {
        return counters;
    }

    SenderClock clock() {
        return clock;
    }

    CounterSet<Lost> lost() {
        return lost;
    }

    /** Sends the metering thread's requests to the sender. */
    int ask(final ExchangeListener listener) {
        int workCount = 0;
        for (final SenderInbox inbox : inboxes) {
            final RemotePeer.Asked asked = inbox.peer() == null ? null : inbox.peer().poll();
            if (asked != null) {
                workCount++;
                if (!listener.ask(pointId, asked.requestId(), inbox.settingsNumber(), asked.request())) {
                    inbox.peer().onAnswer(asked.requestId(), null);
                }
            }
        }
        return workCount;
    }

    /** {@return room for the answer to a request; null if no request is pending} */
    SynopsisAssembler synopses(final int requestId) {
        SynopsisAssembler found = null;
        for (final SenderInbox inbox : inboxes) {
            found = found != null || inbox.peer() == null ? found : inbox.peer().assembler(requestId);
        }
        return found;
    }

    void onSynopsis(final int requestId, final DirectBuffer image) {
        for (final SenderInbox inbox : inboxes) {
            if (inbox.peer() != null) {
                inbox.peer().onAnswer(requestId, image);
            }
        }
    }

    /** An interval comes. Returns whether it is the first of a session that is to be told: of many short ones few are. */
    boolean takeFirstOfSession(final long nowNs) {
        final boolean isTold = !hasInterval && (toldNs == null || nowNs - toldNs >= ExchangeReceiver.TELL_INTERVAL_NS);
        toldNs = isTold ? Long.valueOf(nowNs) : toldNs;
        hasInterval = true;
        return isTold;
    }

    /** The session is over; pending requests get no answer. */
    void onSessionEnd() {
        hasInterval = false;
        for (final SenderInbox inbox : inboxes) {
            if (inbox.peer() != null) {
                inbox.peer().onSessionEnd();
            }
        }
    }

    /** Accepts intervals of the new settings too, and no longer those of the settings before the last. Any thread. */
    void add(final SenderInbox inbox) {
        final List<SenderInbox> before = inboxes;
        final List<SenderInbox> after = new ArrayList<>(before.subList(Math.max(0, before.size() - INBOXES + 1), before.size()));
        after.add(inbox);
        inboxes = List.copyOf(after);
    }

    /** {@return the source of intervals of the first settings, or of the latest} */
    SenderInbox latest() {
        return inboxes.get(inboxes.size() - 1);
    }

    /** {@return the last error estimate of the sender's clock} */
    int errorEstimate() {
        return errorEstimate;
    }

    /** Returns an interval to be filled next; the same if it finds no inbox or no room. */
    ReceivedInterval onInterval(final ReceivedInterval interval) {
        errorEstimate = interval.errorEstimate();
        clock.correct(interval);
        for (final SenderInbox inbox : inboxes) {
            if (inbox.settingsNumber() == interval.settings().number()) {
                final ReceivedInterval next = inbox.swap(interval);
                lost.add(Lost.INTERVALS_CROWDED, next == interval ? 1 : 0);
                return next;
            }
        }
        lost.increment(Lost.INTERVALS_FOREIGN);
        return interval;
    }

    void onSendTime(final boolean isPassive, final long key, final long sentNs, final int methodCode) {
        final int kind = isPassive ? SendTimesMessage.PASSIVE : SendTimesMessage.INJECTED;
        if (!sendTimes.offer(kind, key, sentNs, methodCode)) {
            lost.increment(Lost.SEND_TIMES_CROWDED);
        }
    }

    int takeSendTimes(final SendTimeHandler handler) {
        sendTimeHandler = handler;
        return sendTimes.poll(sendTimeReader, SEND_TIMES_LIMIT);
    }

    /** Reports the counters of this path. Any thread. */
    void showWay(final ObjLongConsumer<String> consumer) {
        for (final Lost each : Lost.values()) {
            consumer.accept(each.name().toLowerCase(Locale.ROOT), lost.get(each));
        }
        clock.counters(consumer);
    }
}
