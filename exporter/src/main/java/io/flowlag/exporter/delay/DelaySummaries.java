package io.flowlag.exporter.delay;

import io.flowlag.exporter.config.ExporterConfig;
import io.flowlag.exporter.status.ClockEstimate;
import io.flowlag.exporter.status.DelayHistogram;
import io.flowlag.exporter.status.DelaySummary;
import io.flowlag.exporter.status.IntervalDelays;
import io.flowlag.exporter.status.SegmentName;
import io.flowlag.rli.receiver.HeldOutErrors;
import io.flowlag.rli.receiver.ReceiverCounter;
import io.flowlag.rli.receiver.RliReceiver;

import java.util.Arrays;
import java.util.List;
import java.util.function.Consumer;
import java.util.function.IntFunction;

/**
 * The delay summaries of each class: one for each measurement interval, by packet timestamps, and one of all so far. Without
 * streams no interval begins. The metering thread writes; any thread may read the last ones. Allocates at construction and at
 * the end of an interval.
 */
final class DelaySummaries {
    /** Matched delays of a class are added in batches of this size. */
    private static final int MATCHED_LIMIT = 64;

    private final RliReceiver receiver;
    private final IntFunction<ClockEstimate> clocks;
    private final boolean isMatched;
    private TrafficClasses classes;
    private long intervalNs;
    private long recordNs;
    /** By stream, of the interval. */
    private final StreamDelays[] delays;
    /** Of earlier intervals. */
    private final long[] earlierPackets;
    private final long[] earlierLostReferences;
    /** Matched delays to be added, and their number, by stream. */
    private final long[][] newMatched;
    private final int[] newMatchedCount;
    private boolean isStarted;
    private long firstNs = Long.MAX_VALUE;
    private long startNs;
    private long newestNs;
    private PublishedSummaries published;
    private Consumer<EndedPeriod> publisher;

    /**
     * Nothing yet.
     *
     * @param receiver       whose statistics are summed up; this class rotates them.
     * @param clocks         the estimates of the senders' clocks.
     * @param isMatched      whether {@link #onMatched} receives packets.
     * @param senderCount    of the streams, which are numbered by sender, then class; 0 if nothing is measured.
     * @param recordNs       see {@link #recordNs(long)}.
     * @param maximumDelayNs that a packet is matched with.
     */
    DelaySummaries(
        final RliReceiver receiver, final IntFunction<ClockEstimate> clocks, final boolean isMatched,
        final TrafficClasses classes, final int senderCount, final long intervalNs, final long recordNs,
        final long maximumDelayNs) {
        this.clocks = clocks;
        this.receiver = receiver;
        this.isMatched = isMatched;
        this.classes = classes;
        this.intervalNs = intervalNs;
        recordNs(recordNs);
        final int count = senderCount * classes.count();
        delays = new StreamDelays[count];
        Arrays.setAll(delays, (i) -> new StreamDelays(isMatched, false));
        earlierPackets = new long[count];
        earlierLostReferences = new long[count];
        newMatched = new long[isMatched ? count : 0][MATCHED_LIMIT];
        newMatchedCount = new int[count];
        published = new PublishedSummaries(count, isMatched, receiver.streamCount() > 0, maximumDelayNs);
        publisher = published::add;
    }

    /** Publishes together with other shards, this one by its number; before the first packet. */
    void join(final ShardSummaries shards, final int shard) {
        published = shards;
        publisher = (ended) -> shards.add(shard, ended);
    }

    /** {@return streams, each with its own delays} */
    int streamCount() {
        return delays.length;
    }

    /** {@return octets of the distributions and of the remembered intervals, by formula} */
    static long memoryBytes(final int streamCount, final boolean isInterpolated, final boolean isMatched) {
        return (isMatched ? streamCount * (StreamDelays.histogramBytes() + MATCHED_LIMIT * Long.BYTES) : 0) +
            PublishedSummaries.memoryBytes(streamCount, isInterpolated, isMatched);
    }

    /** {@return how long a record may wait for its flow's end} */
    static long recordNs(final ExporterConfig config) {
        return config.metering().activeTimeoutNs() + config.metering().idleTimeoutNs();
    }

    /** {@return whether delays are summed up} */
    private boolean isOn() {
        return delays.length > 0;
    }

    /** Time has passed, by packet timestamps; ends the interval if it is over. */
    boolean onTime(final long nowNs) {
        if (!isOn()) {
            return false;
        }
        if (!isStarted) {
            isStarted = true;
            firstNs = Math.min(firstNs, nowNs);
            startNs = nowNs - Math.floorMod(nowNs, intervalNs);
        }
        final boolean isOver = isOver(nowNs);
        if (isOver) {
            end(startNs + intervalNs, false);
            startNs = nowNs - Math.floorMod(nowNs, intervalNs);
        }
        newestNs = Math.max(newestNs, nowNs);
        return isOver;
    }

    /** {@return whether {@link #onTime} would begin or end an interval} */
    boolean isDue(final long nowNs) {
        return isOn() && (!isStarted || isOver(nowNs));
    }

    private boolean isOver(final long nowNs) {
        return nowNs - startNs >= intervalNs;
    }

    /** The clock was set back: ends the interval early; the next one begins with the next packet. */
    void onTimeSetBack() {
        if (isStarted) {
            end(newestNs, false);
            isStarted = false;
            newestNs = Long.MIN_VALUE;
        }
    }

    /** Names the segments, in the place of senders, before the first packet. */
    void segments(final List<SegmentName> names) {
        published.segments(names);
    }

    /** Sets the length of intervals, from the present one on. */
    void intervalNs(final long lengthNs) {
        intervalNs = lengthNs;
        recordNs(recordNs);
    }

    /** Sets how long a record may wait for its flow's end; the errors behind its bound cover that time. */
    void recordNs(final long lengthNs) {
        recordNs = lengthNs;
        receiver.heldOutPeriods((int)Math.min(Integer.MAX_VALUE, 1 + (lengthNs - 1) / intervalNs));
    }

    /** Other classes hold, as many as before. */
    void classes(final TrafficClasses newClasses) {
        classes = newClasses;
    }

    /** A packet of a stream came to the receiver point, where all are matched. */
    void onReceived(final int stream) {
        delays[stream].packets++;
    }

    /** A packet of a stream matched. */
    void onMatched(final int stream, final long delayNs, final long receivedNs) {
        delays[stream].late += receivedNs < startNs ? 1 : 0;
        newMatched[stream][newMatchedCount[stream]++] = delayNs;
        if (newMatchedCount[stream] == MATCHED_LIMIT) {
            addNewMatched(stream);
        }
    }

    private void addNewMatched(final int stream) {
        delays[stream].matched.record(newMatched[stream], 0, newMatchedCount[stream]);
        newMatchedCount[stream] = 0;
    }

    /** Counts a packet that is longer than its link's MTU and is not measured. */
    void onOversize(final int stream) {
        if (isOn()) {
            delays[stream].oversizePackets++;
        }
    }

    /** The input has ended, and so has the interval. */
    void onEnd() {
        if (isStarted) {
            end(newestNs, true);
        }
    }

    /** {@return the last interval that ended, by class} */
    List<DelaySummary> interval() {
        final EndedIntervals intervals = intervals();
        return intervals.count() == 0 ? List.of() :
            intervals.get(intervals.count() - 1).stream().map(IntervalDelays::summary).toList();
    }

    /** {@return those that ended last} */
    EndedIntervals intervals() {
        return published.intervals();
    }

    /** {@return everything up to the end of that interval, by class} */
    List<DelaySummary> total() {
        return published.total();
    }

    /** {@return the same in fixed buckets} */
    List<DelayHistogram> histograms() {
        return published.histograms();
    }

    private void end(final long endNs, final boolean isLast) {
        for (int i = 0; i < delays.length; i++) {
            if (isMatched) {
                addNewMatched(i);
            }
            if (i < receiver.streamCount()) {
                readReceiver(i, delays[i]);
            }
            delays[i].clock = clocks.apply(i / classes.count());
        }
        publisher.accept(new EndedPeriod(firstNs, startNs, endNs, isLast, classes, delays));
        for (final StreamDelays each : delays) {
            each.packets = 0;
            each.late = 0;
            each.oversizePackets = 0;
            each.matched.reset();
        }
        receiver.rotate();
    }

    private void readReceiver(final int stream, final StreamDelays present) {
        final HeldOutErrors heldOut = receiver.statistics(stream).heldOut();
        present.estimates = receiver.statistics(stream).estimates();
        present.references = receiver.statistics(stream).references();
        present.packets = receiver.counter(stream, ReceiverCounter.PACKETS) - earlierPackets[stream];
        earlierPackets[stream] += present.packets;
        present.lostReferences = receiver.counter(stream, ReceiverCounter.REFERENCES_LOST) - earlierLostReferences[stream];
        earlierLostReferences[stream] += present.lostReferences;
        present.estimatesBoundNs = receiver.stream(stream).meanBoundNs(present.packets);
        present.heldOutCount = heldOut.count();
        present.heldOut95Ns = heldOut.hasBound() ? heldOut.quantile95Ns() : null;
    }
}
