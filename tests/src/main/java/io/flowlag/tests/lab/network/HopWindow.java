package io.flowlag.tests.lab.network;

import io.flowlag.network.locate.HopGroups;
import io.flowlag.network.locate.HopLocator;
import io.flowlag.network.locate.Localisation;
import io.flowlag.network.locate.MeasuredSegment;
import io.flowlag.network.locate.UsualExcess;

import java.util.ArrayList;
import java.util.Arrays;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
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
    /** Of the packets of a segment; NaN if that is not known. */
    double[] deviationNs = NONE;
    /** What the excess should be by the waits of hops, less its usual value if that is known. */
    double[] truthsNs = NONE;
    HopGroups groups;
    /** Excess of each segment. */
    UsualExcess.Value[] usual = {};
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
        add(segment, excess, sigma, Double.NaN);
    }

    void add(final MeasuredSegment segment, final double excess, final double sigma, final double deviation) {
        segments.add(segment);
        excessNs = Arrays.copyOf(excessNs, segments.size());
        sigmaNs = Arrays.copyOf(sigmaNs, segments.size());
        truthsNs = Arrays.copyOf(truthsNs, segments.size());
        truthsNs[segments.size() - 1] = trueNs(segment);
        usual = Arrays.copyOf(usual, segments.size());
        usual[segments.size() - 1] = UsualExcess.Value.COMMON;
        excessNs[segments.size() - 1] = excess;
        sigmaNs[segments.size() - 1] = sigma;
        deviationNs = Arrays.copyOf(deviationNs, segments.size());
        deviationNs[segments.size() - 1] = deviation;
    }

    /** All segments have been added. */
    void group(final int hopCount) {
        groups = new HopGroups(hopCount, segments);
        final double[] sorted = Arrays.stream(waitsNs).filter((wait) -> !Double.isNaN(wait)).sorted().toArray();
        usualNs = sorted[sorted.length / 2];
    }

    /** {@return what a locator finds by the clocks' bounds given} */
    Localisation locate(final double[] clockBoundsNs) {
        return locate(excessNs, clockBoundsNs);
    }

    private Localisation locate(final double[] delaysNs, final double[] clockBoundsNs) {
        final HopLocator locator = new HopLocator(segments, groups, clockBoundsNs, HopLocator.Settings.USUAL);
        return locator.locate(delaysNs, sigmaNs, usual, locator.evenPrior());
    }

    /** {@return what it finds if it knows the excess of all other slow hops} */
    Localisation locateAlone(final int hop, final Set<Integer> slow, final double[] clockBoundsNs) {
        final double[] delaysNs = excessNs.clone();
        for (final int other : slow) {
            final int group = groups.of(other);
            for (int i = 0; other != hop && i < groups.segments(group).length; i++) {
                delaysNs[groups.segments(group)[i]] -= groups.shares(group)[i] * (waitsNs[other] - usualNs);
            }
        }
        return locate(delaysNs, clockBoundsNs);
    }

    /** Takes what is known of the usual excess of segments, and learns from the window. */
    void learn(final Map<MeasuredSegment, Learned> learned, final double[] clockBoundsNs) {
        final Learned[] own = segments.stream().map((segment) -> learned.computeIfAbsent(segment, Learned::new))
            .toArray(Learned[]::new);
        final double[] truths = truthsNs.clone();
        for (int i = 0; i < own.length; i++) {
            sigmaNs[i] = own[i].measured.sigmaNs(sigmaNs[i], excessNs[i], deviationNs[i]);
            usual[i] = own[i].measured.value(0);
            truthsNs[i] -= own[i].truth.value(0).excessNs();
        }
        final double[] left = locate(clockBoundsNs).unexplainedNs();
        for (int i = 0; i < own.length; i++) {
            own[i].measured.onWindow(left[i]);
            own[i].truth.onWindow(Double.isNaN(left[i]) ? Double.NaN : truths[i]);
        }
    }

    /** A segment's usual excess as measured, and by the waits of its hops. */
    static final class Learned {
        private final UsualExcess measured;
        private final UsualExcess truth;

        Learned(final MeasuredSegment segment) {
            measured = new UsualExcess(segment);
            truth = new UsualExcess(segment);
        }
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

    private double trueNs(final MeasuredSegment measured) {
        double sum = 0;
        for (int i = 0; i < measured.hops().length; i++) {
            sum += Double.isNaN(waitsNs[measured.hops()[i]]) ? 0 : measured.shares()[i] * waitsNs[measured.hops()[i]];
        }
        return sum;
    }
}
