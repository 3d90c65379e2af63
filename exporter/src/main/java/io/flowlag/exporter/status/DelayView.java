package io.flowlag.exporter.status;

import java.util.List;

/** The state of the running delay stage. Safe from any thread. */
public interface DelayView {
    /** {@return number of ended measurement intervals; they are numbered from 0} */
    long intervalCount();

    /** {@return the delays of each class in an interval below {@link #intervalCount}; null if it is too old} */
    List<IntervalDelays> interval(long number);

    /**
     * {@return delays since the start in fixed buckets, as of the last interval, by sender and class; empty without estimates}
     */
    List<DelayHistogram> histograms();

    /** {@return a description of the segment; allocates} */
    SegmentDescription segment();

    /** {@return statistics of sketches of the last interval, by sender: the same objects until the next one; empty without} */
    List<SketchStatistics> sketches();

    /** {@return all statistics; allocates} */
    DelayStatistics statistics();
}
