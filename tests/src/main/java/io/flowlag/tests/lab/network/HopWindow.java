package io.flowlag.tests.lab.network;

import io.flowlag.network.locate.HopGroups;
import io.flowlag.network.locate.MeasuredSegment;

import java.util.ArrayList;
import java.util.Arrays;
import java.util.HashSet;
import java.util.List;
import java.util.Set;

/** The excess of segments in a window, with the truth of hops and clocks. */
public final class HopWindow {
    private static final double[] NONE = {};

    /** Of each hop: the mean wait of its packets, ns; NaN without. */
    final double[] waitsNs;
    /** Of each clock. */
    final double[] offsetsNs;
    final List<MeasuredSegment> segments = new ArrayList<>();
    double[] excessNs = NONE;
    double[] sigmaNs = NONE;
    HopGroups groups;
    /** The median wait. */
    double usualNs;

    HopWindow(final double[] waitsNs, final double[] offsetsNs) {
        this.waitsNs = waitsNs;
        this.offsetsNs = offsetsNs;
    }

    /** {@return how many clocks there are} */
    public int clocks() {
        return offsetsNs.length;
    }

    void add(final MeasuredSegment segment, final double excess, final double sigma) {
        segments.add(segment);
        excessNs = Arrays.copyOf(excessNs, segments.size());
        sigmaNs = Arrays.copyOf(sigmaNs, segments.size());
        excessNs[segments.size() - 1] = excess;
        sigmaNs[segments.size() - 1] = sigma;
    }

    /** All segments have been added. */
    void group(final int hopCount) {
        groups = new HopGroups(hopCount, segments);
        final double[] sorted = Arrays.stream(waitsNs).filter((wait) -> !Double.isNaN(wait)).sorted().toArray();
        usualNs = sorted[sorted.length / 2];
    }

    /** {@return the hops that some segment has and whose wait is above the usual one by more than that} */
    public Set<Integer> slower(final double byNs) {
        final Set<Integer> slow = new HashSet<>();
        for (int hop = 0; hop < waitsNs.length; hop++) {
            if (waitsNs[hop] - usualNs > byNs && groups.of(hop) != HopGroups.BLIND) {
                slow.add(hop);
            }
        }
        return slow;
    }

    /** {@return what the excess of a segment should be by the waits of its hops} */
    double trueNs(final int segment) {
        final MeasuredSegment measured = segments.get(segment);
        double sum = 0;
        for (int i = 0; i < measured.hops().length; i++) {
            sum += Double.isNaN(waitsNs[measured.hops()[i]]) ? 0 : measured.shares()[i] * waitsNs[measured.hops()[i]];
        }
        return sum;
    }
}
