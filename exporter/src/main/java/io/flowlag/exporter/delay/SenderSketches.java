package io.flowlag.exporter.delay;

import io.flowlag.exporter.config.ExporterConfig;
import io.flowlag.exporter.delay.interval.records.SketchCounter;
import io.flowlag.exporter.flow.FlowCache;
import io.flowlag.exporter.flow.FlowEntry;
import io.flowlag.exporter.status.SketchStatistics;
import org.agrona.DirectBuffer;
import org.agrona.MutableDirectBuffer;

import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.Objects;
import java.util.function.ToLongFunction;

/**
 * The sketches of every sender of a receiver; of none where packets are not sketched. Each sender has its own intervals, records
 * and counters, so senders do not affect one another. The source address assigns a packet to a sender. The metering thread owns
 * it; counters and statistics may be read by any. Allocates at construction and at the end of an interval.
 */
final class SenderSketches {
    private final IntervalStage[] senders;
    private final SenderSelector selector;
    /** Whether this is no further shard of others, whose solvers it shares. */
    private final boolean isFirst;

    /**
     * Nothing sketched yet; the delays of flows take the sketch estimates of each sender.
     *
     * @param earlier those of the shards before this one.
     */
    SenderSketches(
        final ExporterConfig config,
        final DelayWiring wiring,
        final boolean isLive,
        final FlowCache cache,
        final CurrentSegment segment,
        final FlowDelays delays,
        final List<SenderSketches> earlier) {
        selector = segment.senders();
        isFirst = earlier.isEmpty();
        senders = new IntervalStage[wiring.isSketched() ? selector.count() : 0];
        for (int i = 0; i < senders.length; i++) {
            senders[i] = !isFirst ?
                new IntervalStage(earlier.get(0).senders[i], config, cache, delays.records(i)) : new IntervalStage(
                i, config, isLive, wiring.receiverLink(), cache, segment.classes(), delays.records(i), delays.unseenFlows(i));
            if (isFirst && wiring.captures().isWhole()) {
                // No packet is under way when the captures begin or end.
                senders[i].capturesAreWhole();
            }
        }
    }

    /** Joins the shards of a process, the first one first; before the first packet. */
    static void join(final List<SenderSketches> shards) {
        for (int i = 0; i < shards.get(0).senders.length; i++) {
            final int senderIndex = i;
            shards.get(0).senders[i].join(
                shards.stream().map((each) -> each.senders[senderIndex]).toArray(IntervalStage[]::new));
        }
    }

    /** {@link IntervalStage#meet}, of every sender. */
    long meet(final long throughNs) {
        long nextNs = Long.MAX_VALUE;
        for (final IntervalStage each : senders) {
            nextNs = Math.min(nextNs, each.meet(throughNs));
        }
        return nextNs;
    }

    /** {@return octets of all points, by formula} */
    static long memoryBytes(final ExporterConfig config, final ReceiverLink link, final boolean isLive) {
        return config.rli().senderCount() * IntervalStage.memoryBytes(config, link, isLive);
    }

    /** {@return whether packets are sketched} */
    boolean isOn() {
        return senders.length > 0;
    }

    /** {@return the sketches by sender; none if packets are not sketched} */
    IntervalStage[] all() {
        return senders;
    }

    IntervalStage of(final int senderIndex) {
        return senders[senderIndex];
    }

    /** Prefetches what the next packets need, where all packets are of one sender. */
    long touch(final DirectBuffer descriptors, final int offset, final int count) {
        return senders.length == 1 ? senders[0].touch(descriptors, offset, count) : 0;
    }

    /** {@return of the sender that a flow has passed} */
    IntervalStage ofEntry(final DirectBuffer entry, final int offset) {
        return senders.length == 1 ? senders[0] : senders[selector.ofEntry(entry, offset)];
    }

    /** A packet of the segment passed the sender point of this process. */
    void onSent(final DirectBuffer descriptor, final int offset) {
        if (senders.length > 0) {
            senders[0].onSent(descriptor, offset);
        }
    }

    /**
     * A packet of the segment passed the receiver point.
     *
     * @return the ticket for an estimate of its delay, see {@link IntervalStage#ticket}; 0 without sketches.
     */
    long onReceived(final int senderIndex, final DirectBuffer descriptor, final int offset, final int slot) {
        if (senders.length == 0) {
            return 0;
        }
        senders[senderIndex].onReceived(descriptor, offset, slot);
        return senders[senderIndex].ticket();
    }

    /** A packet of the segment at the receiver point cannot be compared, see {@link IntervalStage#doubtLoss}. */
    void doubtLoss(final int senderIndex, final DirectBuffer descriptor, final int offset, final int slot) {
        if (senders.length > 0) {
            senders[senderIndex].doubtLoss(descriptor, offset, slot);
        }
    }

    void onTimeSetBack() {
        for (final IntervalStage each : senders) {
            each.onTimeSetBack();
        }
    }

    /** Checks whether every sender's sketches can be changed, and throws if not; changes nothing. Any thread. */
    void check(final ExporterConfig config) {
        for (final IntervalStage each : senders) {
            each.check(config);
        }
    }

    /** Prepares changed sketches for all. Any thread, one at a time. */
    void change(final SketchChange change) {
        for (final IntervalStage each : senders) {
            each.change(change);
        }
    }

    /** {@return whether the last change is incomplete; any thread} */
    boolean isChanging() {
        boolean isChanging = false;
        for (final IntervalStage each : senders) {
            isChanging |= each.isChanging();
        }
        return isChanging;
    }

    void onTime(final long capturedNs) {
        for (final IntervalStage each : senders) {
            each.onTime(capturedNs);
        }
    }

    /** This process dropped packets of any sender, up to a time. */
    void onOwnLoss(final long throughNs) {
        for (final IntervalStage each : senders) {
            each.onOwnLoss(throughNs);
        }
    }

    /** This process's drops of all packets from before a time are known. */
    void lossKnown(final long throughNs) {
        for (final IntervalStage each : senders) {
            each.lossKnown(throughNs);
        }
    }

    void onEnd() {
        for (final IntervalStage each : senders) {
            each.onEnd();
        }
    }

    /** A flow ends: true if its record waits, and was copied. */
    boolean waits(final MutableDirectBuffer entry, final int offset) {
        return ofEntry(entry, offset - FlowEntry.BASE_LENGTH_BYTES).waits(entry, offset);
    }

    /** A flow has ended and its record does not wait: writes the sketch estimates. */
    void finish(final MutableDirectBuffer entry, final int offset, final MeanChoice choice) {
        ofEntry(entry, offset - FlowEntry.BASE_LENGTH_BYTES).finish(entry, offset, choice);
    }

    void close() {
        for (int i = 0; isFirst && i < senders.length; i++) {
            senders[i].close();
        }
    }

    /** {@return as of each sender's last interval} */
    List<SketchStatistics> statistics() {
        final List<SketchStatistics> all = new ArrayList<>();
        for (final IntervalStage each : senders) {
            all.add(each.statistics());
        }
        return all;
    }

    /** {@return the delay of packets that came too early or too late, of the first sender with such; 0 without} */
    long clocksApartNs() {
        long tookNs = 0;
        for (int i = 0; i < senders.length && tookNs == 0; i++) {
            tookNs = senders[i].clocksApartNs();
        }
        return tookNs;
    }

    /** {@return a counter, of all senders together} */
    long get(final SketchCounter counter) {
        return sum((each) -> each.counters().get(counter));
    }

    /** {@return a number, of all senders together} */
    long sum(final ToLongFunction<IntervalStage> number) {
        long sum = 0;
        for (final IntervalStage each : senders) {
            sum += number.applyAsLong(each);
        }
        return sum;
    }

    /** {@return the traffic of each sender's last compared interval; any thread} */
    List<IntervalLoad> loads() {
        return Arrays.stream(senders).map(IntervalStage::load).filter(Objects::nonNull).toList();
    }

    /** {@return a counter of written records, summed over all senders} */
    long written(final SketchWriter.Count count) {
        return sum((each) -> each.writer().counts().get(count));
    }

    /** {@return the errors of each estimator against matching, which exists with one sender, in this process} */
    EstimateErrors errors() {
        return senders[0].writer().errors();
    }
}
