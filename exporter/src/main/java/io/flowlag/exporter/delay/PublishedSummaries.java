package io.flowlag.exporter.delay;

import io.flowlag.exporter.status.DelayDistribution;
import io.flowlag.exporter.status.DelayHistogram;
import io.flowlag.exporter.status.DelaySummary;
import io.flowlag.exporter.status.IntervalDelays;
import io.flowlag.exporter.status.SegmentName;
import io.flowlag.rli.receiver.SignedHistogram;
import io.flowlag.sketch.quantile.LogHistogram;
import org.agrona.concurrent.UnsafeBuffer;

import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;

/**
 * The summaries of intervals that have ended, and of all so far. One thread adds intervals; any thread may read. Allocates at
 * construction and with each interval.
 */
class PublishedSummaries {
    /** More intervals than can end between two polls of the destinations while captures are read: a packet ends one at most. */
    private static final int REMEMBERED_INTERVALS = 4096;
    /** From this number of delays on, their range is taken as the range of the others. */
    private static final long ENOUGH_DELAYS = 1_000;
    /** Of many segments, fewer. */
    private static final int REMEMBERED_SUMMARIES = 8 * REMEMBERED_INTERVALS;
    /** A summary, its two distributions and their quantiles, as objects, and its histogram. */
    private static final long SUMMARY_BYTES = 704 + IntervalDelays.HISTOGRAM_LIMIT_BYTES;

    private final boolean isMatched;
    private final long maximumDelayNs;
    /** By stream, since the start. */
    private final StreamDelays[] totals;
    private final LogHistogram histogram = new LogHistogram();
    private final UnsafeBuffer octets = new UnsafeBuffer(new byte[IntervalDelays.HISTOGRAM_LIMIT_BYTES]);
    /** By sender, where each is a segment; else empty. */
    private List<SegmentName> segments = List.of();
    private final EndedIntervals intervals;
    private volatile List<DelaySummary> total = List.of();
    private volatile List<DelayHistogram> histograms = List.of();

    /** Nothing yet; parameters as of {@link DelaySummaries}, for so many streams. */
    PublishedSummaries(
        final int streamCount, final boolean isMatched, final boolean isInterpolated, final long maximumDelayNs) {
        this.isMatched = isMatched;
        this.maximumDelayNs = maximumDelayNs;
        intervals = new EndedIntervals(streamCount == 0 ? 1 : rememberedIntervals(streamCount));
        totals = new StreamDelays[streamCount];
        Arrays.setAll(totals, (i) -> new StreamDelays(isMatched, isInterpolated));
    }

    private static int rememberedIntervals(final int streamCount) {
        return Math.min(REMEMBERED_INTERVALS, Math.max(64, REMEMBERED_SUMMARIES / streamCount));
    }

    /** {@return octets of the remembered intervals and of all delays so far, by formula} */
    static long memoryBytes(final int streamCount, final boolean isInterpolated, final boolean isMatched) {
        return streamCount * (((isInterpolated ? 2 : 0) + (isMatched ? 1 : 0)) * StreamDelays.histogramBytes() +
            rememberedIntervals(streamCount) * SUMMARY_BYTES) + LogHistogram.MEMORY_BYTES;
    }

    /** Names the segments, in the place of senders, before the first packet. */
    final void segments(final List<SegmentName> names) {
        segments = names;
    }

    /** Takes in what has come, before a thread reads. */
    void refresh() {
        // an interval that was added is published
    }

    /** {@return those that ended last} */
    final EndedIntervals intervals() {
        refresh();
        return intervals;
    }

    /** {@return everything up to the end of the last interval, by class} */
    final List<DelaySummary> total() {
        refresh();
        return total;
    }

    /** {@return the same in fixed buckets} */
    final List<DelayHistogram> histograms() {
        refresh();
        return histograms;
    }

    /** An interval has ended; its delays are free again afterwards. */
    void add(final EndedPeriod ended) {
        final List<IntervalDelays> newInterval = new ArrayList<>();
        final List<DelaySummary> newTotal = new ArrayList<>();
        final List<DelayHistogram> newHistograms = new ArrayList<>();
        final int classCount = ended.classes().count();
        for (int i = 0; i < totals.length; i++) {
            final StreamDelays present = ended.delays()[i];
            final DelaySummary summary = summary(i, present, ended, ended.startNs());
            totals[i].add(present);
            newInterval.add(new IntervalDelays(
                summary, present.packets, present.clock,
                histogram(summary.isMatched() ? present.matched : present.estimates),
                matchedBoundNs(present, totals[i].matched), present.estimatesBoundNs, referencesBoundNs(present)));
            newTotal.add(summary(i, totals[i], ended, ended.firstNs()));
            newHistograms.add(new DelayHistogram(
                i / classCount, segment(i, classCount), i % classCount, ended.classes().dscp(i % classCount),
                buckets(isMatched ? totals[i].matched : totals[i].estimates), buckets(totals[i].references)));
        }
        total = newTotal;
        histograms = newHistograms;
        intervals.add(newInterval);
    }

    /**
     * Packets that did not match, and those that came before the interval, have delays within the range of all so far, which
     * includes 0 and the maximum while few are known.
     */
    private long matchedBoundNs(final StreamDelays of, final SignedHistogram all) {
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
    private static long referencesBoundNs(final StreamDelays of) {
        return of.estimatesBoundNs < 0 || of.references.count() == 0 ? -1 :
            of.estimatesBoundNs + Math.abs(of.references.meanNs() - of.estimates.meanNs());
    }

    private DelaySummary summary(final int stream, final StreamDelays of, final EndedPeriod ended, final long fromNs) {
        final int classCount = ended.classes().count();
        final int classIndex = stream % classCount;
        return new DelaySummary(
            stream / classCount, segment(stream, classCount), classIndex, ended.classes().dscp(classIndex), fromNs,
            ended.endNs(), distribution(of.matched), distribution(of.estimates), distribution(of.references),
            of.lostReferences, of.oversizePackets, of.heldOutCount, of.heldOut95Ns);
    }

    private SegmentName segment(final int stream, final int classCount) {
        return segments.isEmpty() ? null : segments.get(stream / classCount);
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
