package io.flowlag.exporter.status;

import java.util.List;

/** What the delay stage tells of itself while it works. Safe from any thread. */
public interface DelayView {
    /** {@return how many measurement intervals have ended; they are numbered from 0} */
    long intervalCount();

    /**
     * What was measured in an interval.
     *
     * @param number of the interval, below {@link #intervalCount}.
     * @return a summary of each class; null if so many have ended since that this one is forgotten.
     */
    List<DelaySummary> interval(long number);

    /**
     * {@return delays since the start in fixed buckets, as of the last interval, by sender and class; empty without estimates}
     */
    List<DelayHistogram> histograms();

    /** {@return what the segment is now; allocates} */
    SegmentDescription segment();

    /**
     * {@return what the sketches say of the last interval, by sender: the same objects until the next one; empty without}
     */
    List<SketchStatistics> sketches();

    /** {@return everything that it tells; allocates} */
    DelayStatistics statistics();
}
