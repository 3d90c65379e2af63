package io.flowlag.exporter.status;

import java.util.List;

/**
 * Delays of one sender and class since the start, in fixed buckets. Immutable.
 *
 * @param senderIndex of the references, or of the segment, in the order of the configuration.
 * @param segment     of several; null where there is one.
 * @param dscp        of the class; negative for a single class.
 * @param estimates   of regular packets: matched if every packet is, else interpolated.
 */
public record DelayHistogram(
    int senderIndex, SegmentName segment, int classIndex, int dscp, Buckets estimates, Buckets references) {
    private static final long US = 1_000;
    private static final long MS = 1_000_000;
    private static final long[] BOUNDARIES_NS = {
        0, 10 * US, 25 * US, 50 * US, 100 * US, 250 * US, 500 * US, MS, 2_500 * US, 5 * MS, 10 * MS, 25 * MS, 50 * MS, 100 * MS,
        250 * MS, 500 * MS, 1_000 * MS, 2_500 * MS, 5_000 * MS, 10_000 * MS};

    /** Counts of delays up to each boundary, ascending, negative ones included; the signed sum of all delays. */
    public record Buckets(List<Long> countsAtMost, long count, long sumNs) {
    }

    /** {@return the boundaries of the buckets, ascending, from 0} */
    public static long[] boundariesNs() {
        return BOUNDARIES_NS.clone();
    }
}
