package io.flowlag.tests.lab.network;

import io.flowlag.network.locate.HopLocator;
import io.flowlag.network.locate.HopVerdict;
import io.flowlag.network.locate.Localisation;

import java.util.ArrayList;
import java.util.HashSet;
import java.util.List;
import java.util.Set;
import java.util.stream.Collectors;

/** Verdicts of many windows against the truth. One thread. */
public final class HopScore {
    /** Excess of a hop that counts as slow, and from which on it has to be found. */
    private static final double SLOW_NS = HopLocator.Settings.USUAL.slowNs();
    private static final double FOUND_NS = 1e6;
    private static final double NORMAL_95 = 1.96;

    private final boolean withTold;
    private int windows;
    private int fits;
    private int slow;
    private int found;
    private int verdicts;
    private int held;
    private int suspects;
    private int groupHops;
    /** Slow hops that would be named if all other slow ones were known, and those of them that were. */
    private int told;
    private int toldFound;
    /** Verdicts on one hop that is slow. */
    private final Intervals effects = new Intervals();
    /** Clocks of which segments tell something. */
    private final Intervals clocks = new Intervals();

    /** 95 % intervals: how many, how many hold the truth, and half widths over errors. */
    public static final class Intervals {
        private int count;
        private int held;
        private final List<Double> widths = new ArrayList<>();

        private void add(final double estimate, final double low, final double high, final double truth) {
            count++;
            held += low <= truth && truth <= high ? 1 : 0;
            widths.add((high - low) / 2 / Math.max(1, Math.abs(estimate - truth)));
        }

        public int count() {
            return count;
        }

        public double heldShare() {
            return (double)held / count;
        }

        /** {@return the median half width over the error} */
        public double width() {
            return widths.stream().sorted().skip(count / 2).findFirst().orElse(Double.NaN);
        }
    }

    /** No windows. */
    public HopScore() {
        this(false);
    }

    /** No windows; with what could be told of each slow hop, or not. */
    HopScore(final boolean withTold) {
        this.withTold = withTold;
    }

    /** Locates with the clocks' bounds given. */
    public void locate(final HopWindow window, final double[] clockBoundsNs) {
        final Localisation result = window.locate(clockBoundsNs);
        windows++;
        fits += result.isFit() ? 1 : 0;
        for (final HopVerdict verdict : result.verdicts()) {
            if (verdict.isOneRoute()) {
                final Set<Integer> hops = suspects(verdict);
                if (hops.size() == 1 && window.slower(SLOW_NS).containsAll(hops)) {
                    effects.add(verdict.effectNs(), verdict.effectLowNs(), verdict.effectHighNs(),
                        window.waitsNs[hops.iterator().next()] - result.usualNs());
                }
                add(hops, window);
            }
        }
        final Set<Integer> named = named(result);
        count(named, window);
        final Set<Integer> allSlow = window.slower(SLOW_NS);
        for (final int hop : withTold ? window.slower(FOUND_NS) : Set.<Integer>of()) {
            if (named(allSlow.size() == 1 ? result : window.locateAlone(hop, allSlow, clockBoundsNs)).contains(hop)) {
                told++;
                toldFound += named.contains(hop) ? 1 : 0;
            }
        }
        for (int clock = 0; clock < clockBoundsNs.length; clock++) {
            final double width = NORMAL_95 * result.clocks().deviationsNs()[clock];
            final double offset = result.clocks().offsetsNs()[clock];
            if (result.clocks().deviationsNs()[clock] < clockBoundsNs[clock] / 2) {
                clocks.add(offset, offset - width, offset + width, window.offsetsNs[clock]);
            }
        }
    }

    private static Set<Integer> suspects(final HopVerdict verdict) {
        return verdict.suspects().stream().map(HopVerdict.Suspect::hop).collect(Collectors.toCollection(HashSet::new));
    }

    private static Set<Integer> named(final Localisation result) {
        return result.verdicts().stream().filter(HopVerdict::isOneRoute).flatMap((verdict) -> suspects(verdict).stream())
            .collect(Collectors.toSet());
    }

    /** What another method names, each group for itself. */
    public void take(final Set<Integer> groups, final HopWindow window) {
        windows++;
        final Set<Integer> named = new HashSet<>();
        for (final int group : groups) {
            final Set<Integer> hops = new HashSet<>();
            for (final int hop : window.groups.hops(group)) {
                hops.add(hop);
            }
            add(hops, window);
            named.addAll(hops);
        }
        count(named, window);
    }

    private void add(final Set<Integer> hops, final HopWindow window) {
        verdicts++;
        suspects += hops.size();
        hops.retainAll(window.slower(SLOW_NS));
        held += hops.isEmpty() ? 0 : 1;
    }

    private void count(final Set<Integer> named, final HopWindow window) {
        for (final int hop : window.slower(FOUND_NS)) {
            slow++;
            found += named.contains(hop) ? 1 : 0;
            groupHops += window.groups.hops(window.groups.of(hop)).length;
        }
    }

    public Intervals effects() {
        return effects;
    }

    public Intervals clocks() {
        return clocks;
    }

    public int windows() {
        return windows;
    }

    public int verdicts() {
        return verdicts;
    }

    /** {@return slow hops that were to be found} */
    public int slow() {
        return slow;
    }

    /** {@return slow hops that were named} */
    public int found() {
        return found;
    }

    /** {@return the share of verdicts whose suspects have a slow hop} */
    public double heldShare() {
        return (double)held / verdicts;
    }

    public double foundShare() {
        return (double)found / slow;
    }

    /** {@return the share of slow hops that would be named if all other slow ones were known} */
    public double toldShare() {
        return withTold ? (double)told / slow : Double.NaN;
    }

    /** {@return the share of these that were named} */
    public double foundOfTold() {
        return (double)toldFound / told;
    }

    public double meanSuspects() {
        return (double)suspects / verdicts;
    }

    /** {@return the mean hops of the groups that have the slow hops} */
    public double meanGroup() {
        return (double)groupHops / slow;
    }

    /** {@return the share of windows in which the model fits} */
    public double fitShare() {
        return (double)fits / windows;
    }

    @Override
    public String toString() {
        return "%d windows, %d verdicts, held %.3f, found %.3f, suspects %.2f, groups %.2f, fits %.2f, told %.3f".formatted(
            windows, verdicts, heldShare(), foundShare(), meanSuspects(), meanGroup(), fitShare(), toldShare());
    }
}
