package io.flowlag.exporter.delay;

import io.flowlag.exporter.config.ExporterConfig;
import io.flowlag.exporter.status.ClockEstimate;
import io.flowlag.exporter.status.DelayDistribution;
import io.flowlag.exporter.status.DelayHistogram;
import io.flowlag.exporter.status.DelaySummary;
import io.flowlag.exporter.status.IntervalDelays;
import io.flowlag.exporter.status.SegmentName;
import io.flowlag.rli.receiver.HeldOutErrors;
import io.flowlag.rli.receiver.ReceiverCounter;
import io.flowlag.rli.receiver.RliReceiver;
import io.flowlag.rli.receiver.SignedHistogram;
import io.flowlag.sketch.quantile.LogHistogram;
import org.agrona.concurrent.UnsafeBuffer;

import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.function.IntFunction;

/**
 * The delay summaries of each class: one for each measurement interval, by packet timestamps, and one of all so far. Without
 * streams no interval begins. The metering thread writes; any thread may read the last ones. Allocates at construction and at
 * the end of an interval.
 */
final class DelaySummaries {
    private static final long HIGHEST_NS = 60_000_000_000L;
    private static final int SIGNIFICANT_DIGITS = 3;
    /** More intervals than can end between two polls of the destinations while captures are read: a packet ends one at most. */
    private static final int REMEMBERED_INTERVALS = 4096;
    /** From this number of delays on, their range is taken as the range of the others. */
    private static final long ENOUGH_DELAYS = 1_000;
    /** Of many segments, fewer. */
    private static final int REMEMBERED_SUMMARIES = 8 * REMEMBERED_INTERVALS;
    /** Matched delays of a class are added in batches of this size. */
    private static final int MATCHED_LIMIT = 64;
    /** A summary, its two distributions and their quantiles, as objects, and its histogram. */
    private static final long SUMMARY_BYTES = 704 + IntervalDelays.HISTOGRAM_LIMIT_BYTES;
    /** Delays that are not measured. */
    private static final SignedHistogram NONE = new SignedHistogram(2, 1);

    private final RliReceiver receiver;
    private final IntFunction<ClockEstimate> clocks;
    private final boolean isMatched;
    private final long maximumDelayNs;
    private TrafficClasses classes;
    private long intervalNs;
    private long recordNs;
    /** By stream, of the interval and since the start. */
    private final Delays[] delays;
    private final Delays[] totals;
    /** Matched delays to be added, and their number, by stream. */
    private final long[][] newMatched;
    private final int[] newMatchedCount;
    private final LogHistogram histogram = new LogHistogram();
    private final UnsafeBuffer octets = new UnsafeBuffer(new byte[IntervalDelays.HISTOGRAM_LIMIT_BYTES]);

    /** By sender, where each is a segment; else empty. */
    private List<SegmentName> segments = List.of();
    private boolean isStarted;
    private long firstNs = Long.MAX_VALUE;
    private long startNs;
    private long newestNs;
    private final EndedIntervals intervals;
    private volatile List<DelaySummary> total = List.of();
    private volatile List<DelayHistogram> histograms = List.of();

    /** The delays of a stream. */
    private static final class Delays {
        private SignedHistogram matched = NONE;
        private SignedHistogram estimates = NONE;
        private SignedHistogram references = NONE;
        private long packets;
        /** Matched packets that came before the interval. */
        private long late;
        private long lostReferences;
        private long oversizePackets;

        private void add(final Delays other) {
            matched.add(other.matched);
            estimates.add(other.estimates);
            references.add(other.references);
            packets += other.packets;
            lostReferences += other.lostReferences;
            oversizePackets += other.oversizePackets;
        }
    }

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
        this.maximumDelayNs = maximumDelayNs;
        this.classes = classes;
        this.intervalNs = intervalNs;
        recordNs(recordNs);
        final int count = senderCount * classes.count();
        intervals = new EndedIntervals(count == 0 ? 1 : rememberedIntervals(count));
        delays = new Delays[count];
        totals = new Delays[count];
        newMatched = new long[isMatched ? count : 0][MATCHED_LIMIT];
        newMatchedCount = new int[count];
        for (int i = 0; i < count; i++) {
            delays[i] = new Delays();
            totals[i] = new Delays();
            if (isMatched) {
                delays[i].matched = histogram();
                totals[i].matched = histogram();
            }
            if (receiver.streamCount() > 0) {
                totals[i].estimates = histogram();
                totals[i].references = histogram();
            }
        }
    }

    private static int rememberedIntervals(final int streamCount) {
        return Math.min(REMEMBERED_INTERVALS, Math.max(64, REMEMBERED_SUMMARIES / streamCount));
    }

    private static SignedHistogram histogram() {
        return new SignedHistogram(HIGHEST_NS, SIGNIFICANT_DIGITS);
    }

    /** {@return octets of the distributions and of the remembered intervals, by formula} */
    static long memoryBytes(final int streamCount, final boolean isInterpolated, final boolean isMatched) {
        return streamCount * (((isInterpolated ? 2 : 0) + (isMatched ? 2 : 0)) * SignedHistogram
            .memoryBytes(HIGHEST_NS, SIGNIFICANT_DIGITS) + (isMatched ? MATCHED_LIMIT * Long.BYTES : 0) +
            rememberedIntervals(streamCount) * SUMMARY_BYTES) + LogHistogram.MEMORY_BYTES;
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
            end(startNs + intervalNs);
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
            end(newestNs);
            isStarted = false;
            newestNs = Long.MIN_VALUE;
        }
    }

    /** Names the segments, in the place of senders, before the first packet. */
    void segments(final List<SegmentName> names) {
        segments = names;
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
            end(newestNs);
        }
    }

    /** {@return the last interval that ended, by class} */
    List<DelaySummary> interval() {
        return intervals.count() == 0 ? List.of() :
            intervals.get(intervals.count() - 1).stream().map(IntervalDelays::summary).toList();
    }

    /** {@return those that ended last} */
    EndedIntervals intervals() {
        return intervals;
    }

    /** {@return everything up to the end of that interval, by class} */
    List<DelaySummary> total() {
        return total;
    }

    /** {@return the same in fixed buckets} */
    List<DelayHistogram> histograms() {
        return histograms;
    }

    private void end(final long endNs) {
        final List<IntervalDelays> newInterval = new ArrayList<>();
        final List<DelaySummary> newTotal = new ArrayList<>();
        final List<DelayHistogram> newHistograms = new ArrayList<>();
        for (int i = 0; i < delays.length; i++) {
            final Delays present = delays[i];
            if (isMatched) {
                addNewMatched(i);
            }
            if (isInterpolated(i)) {
                present.estimates = receiver.statistics(i).estimates();
                present.references = receiver.statistics(i).references();
                present.packets = receiver.counter(i, ReceiverCounter.PACKETS) - totals[i].packets;
                present.lostReferences = receiver.counter(i, ReceiverCounter.REFERENCES_LOST) - totals[i].lostReferences;
            }
            final DelaySummary summary = summary(i, present, startNs, endNs);
            totals[i].add(present);
            final long estimatesNs = isInterpolated(i) ? receiver.stream(i).meanBoundNs(present.packets) : -1;
            newInterval.add(new IntervalDelays(
                summary, present.packets, clocks.apply(i / classes.count()),
                histogram(summary.isMatched() ? present.matched : present.estimates),
                matchedBoundNs(present, totals[i].matched), estimatesNs, referencesBoundNs(present, estimatesNs)));
            newTotal.add(summary(i, totals[i], firstNs, endNs));
            newHistograms.add(new DelayHistogram(
                i / classes.count(), segment(i), i % classes.count(), classes.dscp(i % classes.count()),
                buckets(isMatched ? totals[i].matched : totals[i].estimates), buckets(totals[i].references)));
            present.packets = 0;
            present.late = 0;
            present.oversizePackets = 0;
            present.matched.reset();
        }
        receiver.rotate();
        total = newTotal;
        histograms = newHistograms;
        intervals.add(newInterval);
    }

    /**
     * Packets that did not match, and those that came before the interval, have delays within the range of all so far, which
     * includes 0 and the maximum while few are known.
     */
    private long matchedBoundNs(final Delays of, final SignedHistogram all) {
        final long samples = of.matched.count();
        if (samples == 0 || of.packets == 0) {
            return -1;
        }
        final long unknown = of.late + Math.max(0, of.packets + of.late - samples);
        final boolean isRangeKnown = all.count() >= ENOUGH_DELAYS;
        final long meanNs = of.matched.meanNs();
        final long leastNs = isRangeKnown ? all.minimumNs() : Math.min(0, all.minimumNs());
        final long largestNs = isRangeKnown ? all.maximumNs() : Math.max(maximumDelayNs, all.maximumNs());
        return (long)Math.ceil(
            Math.min(1, unknown / (double)of.packets) * Math.max(meanNs - leastNs, largestNs - meanNs));
    }

    /**
     * References do not sample the packets alike: they are shorter, fewer where a queue grows, and as frequent where nothing
     * passes. So the error of their mean does not follow from their number, but from the estimates, which weigh them by packets.
     */
    private static long referencesBoundNs(final Delays of, final long estimatesNs) {
        return estimatesNs < 0 || of.references.count() == 0 ? -1 :
            estimatesNs + Math.abs(of.references.meanNs() - of.estimates.meanNs());
    }

    private boolean isInterpolated(final int stream) {
        return stream < receiver.streamCount();
    }

    private DelaySummary summary(final int stream, final Delays of, final long fromNs, final long toNs) {
        final boolean isInterpolated = isInterpolated(stream);
        final int classIndex = stream % classes.count();
        return new DelaySummary(
            stream / classes.count(), segment(stream), classIndex, classes.dscp(classIndex), fromNs, toNs,
            distribution(of.matched), distribution(of.estimates), distribution(of.references), of.lostReferences,
            of.oversizePackets,
            isInterpolated ? heldOut(stream).count() : 0,
            isInterpolated && heldOut(stream).hasBound() ? heldOut(stream).quantile95Ns() : null);
    }

    private SegmentName segment(final int stream) {
        return segments.isEmpty() ? null : segments.get(stream / classes.count());
    }

    private HeldOutErrors heldOut(final int stream) {
        return receiver.statistics(stream).heldOut();
    }

    private static DelayHistogram.Buckets buckets(final SignedHistogram histogram) {
        final long[] boundariesNs = DelayHistogram.boundariesNs();
        final long[] counts = new long[boundariesNs.length];
        final boolean isEmpty = histogram.count() == 0;
        if (!isEmpty) {
            histogram.countsAtMost(boundariesNs, counts);
        }
        return new DelayHistogram.Buckets(
            Arrays.stream(counts).boxed().toList(), histogram.count(), isEmpty ? 0 : histogram.sumNs());
    }

    private byte[] histogram(final SignedHistogram delays) {
        histogram.clear();
        delays.forEach(histogram::add);
        final byte[] image = new byte[delays.count() == 0 ? 0 : histogram.encode(octets, 0, octets.capacity())];
        octets.getBytes(0, image);
        return image;
    }

    private static DelayDistribution distribution(final SignedHistogram histogram) {
        if (histogram.count() == 0) {
            return DelayDistribution.EMPTY;
        }
        return new DelayDistribution(
            histogram.count(), histogram.negativeCount(), histogram.meanNs(),
            histogram.count() > 1 ? Math.round(histogram.standardDeviationNs()) : null,
            histogram.minimumNs(), histogram.maximumNs(), quantileNs(histogram, 0.5), quantileNs(histogram, 0.9),
            quantileNs(histogram, 0.95), quantileNs(histogram, 0.99), quantileNs(histogram, 0.999),
            histogram.hasDelayVariation() ? histogram.delayVariationNs() : null);
    }

    private static Long quantileNs(final SignedHistogram histogram, final double quantile) {
        return histogram.hasQuantile(quantile) ? histogram.quantileNs(quantile) : null;
    }
}
