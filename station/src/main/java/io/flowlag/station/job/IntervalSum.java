package io.flowlag.station.job;

import com.google.protobuf.ByteString;
import io.flowlag.network.window.IntervalDelay;
import io.flowlag.network.window.MeanSource;
import io.flowlag.network.window.WindowDelay;
import io.flowlag.network.window.WindowHistogram;
import io.flowlag.station.job.state.MergedIntervals;
import io.flowlag.station.job.state.SegmentInterval;
import io.flowlag.station.job.state.WindowIntervals;
import org.agrona.concurrent.UnsafeBuffer;

import java.util.Arrays;

/** Sums the intervals of a window, also those that are merged already. One thread. */
final class IntervalSum {
    /** Starts that are kept of merged intervals; a window with more takes none that comes later. */
    private static final int MOST_STARTS = 256;
    private static final int HISTOGRAM_BYTES = 1024;

    private final byte[] octets = new byte[HISTOGRAM_BYTES];
    private final UnsafeBuffer buffer = new UnsafeBuffer(octets);
    private final WindowHistogram histogram = new WindowHistogram();
    private WindowDelay delay;
    private WindowIntervals.Builder window;
    private boolean lacksClock;
    private boolean hasLost;
    private long lost;

    /** Whether a window has an interval already, or can no longer tell. */
    static boolean isMerged(final WindowIntervals.Builder window, final SegmentInterval interval) {
        final MergedIntervals merged = window.getMerged();
        return merged.getStartsNsCount() < merged.getIntervals() || merged.getStartsNsList().contains(interval.getStartNs());
    }

    /** Sums those of a window. */
    void sum(final WindowIntervals.Builder summed) {
        window = summed;
        final MergedIntervals merged = window.getMerged();
        delay = merged.getIntervals() == 0 ? new WindowDelay() :
            new WindowDelay(merged.getDelayList().stream().mapToDouble(Double::doubleValue).toArray());
        histogram.clear();
        add(merged.getHistogram());
        lacksClock = merged.getLacksClock();
        hasLost = merged.hasLost();
        lost = merged.getLost();
        for (final SegmentInterval each : window.getIntervalsList()) {
            if (each.getPackets() > 0) {
                add(each);
            }
        }
    }

    private void add(final SegmentInterval each) {
        delay.add(new IntervalDelay(MeanSource.values()[each.getSource()], each.getPackets(), Math.min(each.getSamples(),
            each.getPackets()), each.getMeanNs(), each.hasDeviationNs() ? each.getDeviationNs() : Double.NaN,
            each.hasBoundNs() ? each.getBoundNs() : Double.NaN, each.getClockBoundNs(),
            each.hasMinimumNs() ? each.getMinimumNs() : Double.NaN, each.hasMaximumNs() ? each.getMaximumNs() : Double.NaN));
        lacksClock |= !each.hasClockBoundNs();
        hasLost |= each.hasLost();
        lost += each.getLost();
        add(each.getHistogram());
    }

    private void add(final ByteString held) {
        if (!held.isEmpty()) {
            final byte[] each = held.toByteArray();
            histogram.add(new UnsafeBuffer(each), 0, each.length);
        }
    }

    /** {@return their delays} */
    WindowDelay delay() {
        return delay;
    }

    /** {@return whether each has a bound of the clocks} */
    boolean hasClock() {
        return !lacksClock;
    }

    /** {@return whether any says how many packets were lost} */
    boolean hasLost() {
        return hasLost;
    }

    /** {@return lost packets} */
    long lost() {
        return lost;
    }

    /** {@return as element 26 has it; empty if none has one} */
    ByteString histogram() {
        return histogram.count() == 0 ? ByteString.EMPTY :
            ByteString.copyFrom(octets, 0, histogram.encode(buffer, 0, octets.length));
    }

    /** {@return how many there are, those without packets too} */
    int intervals() {
        return window.getMerged().getIntervals() + window.getIntervalsCount();
    }

    /** {@return one of them; its default if there is none} */
    SegmentInterval first() {
        return window.getIntervalsCount() > 0 ? window.getIntervals(0) : window.getMerged().getFirst();
    }

    /** {@return how many more of their length a window has, or -1 if they fill no whole window} */
    long missing(final long windowNs) {
        final long lengthNs = first().getEndNs() - first().getStartNs();
        return intervals() == 0 || windowNs % lengthNs != 0 ? -1 : Math.max(0, windowNs / lengthNs - intervals());
    }

    /** Puts the sum in the place of the intervals. */
    void merge() {
        if (window.getIntervalsCount() > 0) {
            final SegmentInterval first = first();
            final MergedIntervals.Builder merged = window.getMergedBuilder().clearDelay().setHistogram(histogram())
                .setLacksClock(lacksClock).setFirst(SegmentInterval.newBuilder().setStartNs(first.getStartNs())
                    .setEndNs(first.getEndNs()))
                .setIntervals(intervals());
            if (first.hasDscp()) {
                merged.getFirstBuilder().setDscp(first.getDscp());
            }
            if (hasLost) {
                merged.setLost(lost);
            }
            Arrays.stream(delay.state()).forEach(merged::addDelay);
            for (final SegmentInterval each : window.getIntervalsList()) {
                if (merged.getStartsNsCount() < MOST_STARTS) {
                    merged.addStartsNs(each.getStartNs());
                }
            }
            window.clearIntervals();
        }
    }
}
