package io.flowlag.network.locate;

import io.flowlag.network.route.RandomTopology;
import io.flowlag.network.route.Segment;
import io.flowlag.network.route.ShortestRoutes;
import io.flowlag.network.topology.Topology;
import net.jqwik.api.ForAll;
import net.jqwik.api.Property;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

import java.util.ArrayList;
import java.util.Arrays;
import java.util.Collections;
import java.util.List;
import java.util.Random;
import java.util.stream.IntStream;

import static org.junit.jupiter.api.Assertions.assertArrayEquals;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertTrue;

/** Groups, the inverse of the covariance, and slow hops of small networks, and a large one. */
class HopLocatorTest {
    private static final double MS = 1e6;

    /** A line of four hops, of which 2 and 3 have one segment, the segment of all, and five quiet hops elsewhere. */
    private static final List<MeasuredSegment> LINE = List.of(segment(0, 1, 0), segment(1, 2, 1), segment(2, 3, 2, 3),
        segment(0, 3, 0, 1, 2, 3), segment(0, 0, 5), segment(0, 0, 6), segment(0, 0, 7), segment(0, 0, 8), segment(0, 0, 9));
    private static final HopGroups LINE_GROUPS = new HopGroups(10, LINE);

    private static MeasuredSegment segment(final int sender, final int receiver, final int... hops) {
        final double[] shares = new double[hops.length];
        Arrays.fill(shares, 1);
        return new MeasuredSegment(hops, shares, sender, receiver);
    }

    @Test
    void shouldGroupHopsThatNoSegmentTellsApart() {
        assertEquals(8, LINE_GROUPS.count());
        assertArrayEquals(new int[] {2, 3}, LINE_GROUPS.hops(2));
        assertArrayEquals(new int[] {2, 3}, LINE_GROUPS.segments(2));
        assertEquals(LINE_GROUPS.of(2), LINE_GROUPS.of(3));
        assertEquals(HopGroups.BLIND, LINE_GROUPS.of(4));
    }

    @Property(tries = 50)
    void shouldGroupHopsOfTheSameSegments(@ForAll final long seed) {
        final Random random = new Random(seed);
        final Topology topology = RandomTopology.of(3 + random.nextInt(8), random);
        final List<MeasuredSegment> segments = new ArrayList<>();
        for (int source = 0; source < topology.nodes(); source++) {
            for (final Segment route : new ShortestRoutes(topology).segmentsFrom(source, new boolean[topology.nodes()])) {
                if (random.nextInt(4) == 0) {
                    segments.add(MeasuredSegment.of(List.of(route), 0, 0));
                }
            }
        }
        final HopGroups groups = new HopGroups(topology.hops(), segments);
        for (int one = 0; one < topology.hops(); one++) {
            for (int other = 0; other < topology.hops(); other++) {
                final List<Integer> ofOne = with(segments, one);
                final boolean isSame = ofOne.equals(with(segments, other));
                assertEquals(isSame, groups.of(one) == groups.of(other));
                assertEquals(ofOne.isEmpty(), groups.of(one) == HopGroups.BLIND);
            }
        }
    }

    private static List<Integer> with(final List<MeasuredSegment> segments, final int hop) {
        final List<Integer> found = new ArrayList<>();
        for (int i = 0; i < segments.size(); i++) {
            if (Arrays.stream(segments.get(i).hops()).anyMatch((each) -> each == hop)) {
                found.add(i);
            }
        }
        return found;
    }

    @Test
    void shouldShareRoutesOfEqualCost() {
        final MeasuredSegment two = MeasuredSegment.of(
            List.of(new Segment(new int[] {7, 1}), new Segment(new int[] {7, 2})), 0, 1);
        assertArrayEquals(new int[] {1, 2, 7}, two.hops());
        assertArrayEquals(new double[] {0.5, 0.5, 1}, two.shares());
        assertEquals(2, two.length());
    }

    /** W (D + C K Cᵀ) r = r. */
    @Property(tries = 100)
    void shouldInvertTheCovariance(@ForAll final long seed) {
        final Random random = new Random(seed);
        final double[] clockSigma = random.doubles(1 + random.nextInt(6)).map((each) -> each < 0.2 ? 0 : each * MS).toArray();
        final List<MeasuredSegment> segments = new ArrayList<>();
        final int count = 1 + random.nextInt(8);
        for (int i = 0; i < count; i++) {
            segments.add(segment(random.nextInt(clockSigma.length), random.nextInt(clockSigma.length), 0));
        }
        final double[] variances = random.doubles(count).map((each) -> 1e8 + 1e10 * each).toArray();
        final double[] r = random.doubles(count).map((each) -> each - 0.5).toArray();
        final double[] moved = new double[clockSigma.length];
        for (int i = 0; i < count; i++) {
            moved[segments.get(i).receiverClock()] += r[i];
            moved[segments.get(i).senderClock()] -= r[i];
        }
        final double[] product = new double[count];
        for (int i = 0; i < count; i++) {
            final int to = segments.get(i).receiverClock();
            final int from = segments.get(i).senderClock();
            product[i] = variances[i] * r[i] + clockSigma[to] * clockSigma[to] * moved[to] -
                clockSigma[from] * clockSigma[from] * moved[from];
        }
        final Precision precision = new Precision(segments, variances, clockSigma);
        final double[] result = new double[count];
        precision.apply(product, result);
        assertArrayEquals(r, result, 1e-8);
        final int[] column = {0, count - 1};
        final double[] a = new double[count];
        a[0] = 1;
        a[count - 1] = 1;
        precision.apply(a, result);
        if (count > 1) {
            assertEquals(result[0] + result[count - 1], precision.square(column, new double[] {1, 1}), 1e-8 * (result[0] + 1e-8));
        }
    }

    @Test
    void shouldNameTheSlowHop() {
        final Localisation result = locate(new double[] {0.05 * MS, 2.05 * MS, 0.1 * MS, 2.2 * MS}, new double[4]);
        assertEquals(1, result.verdicts().size());
        final HopVerdict verdict = result.verdicts().get(0);
        assertEquals(List.of(1), verdict.suspects().stream().map(HopVerdict.Suspect::hop).toList());
        assertTrue(verdict.effectLowNs() < 2 * MS && verdict.effectHighNs() > 2 * MS, verdict::toString);
        assertTrue(verdict.effectHighNs() - verdict.effectLowNs() < MS, verdict::toString);
        assertTrue(result.isFit() && verdict.isOneRoute());
    }

    @Test
    void shouldNameBothHopsOfAGroup() {
        final double[] excess = {0.05 * MS, 0.05 * MS, 2.1 * MS, 2.2 * MS};
        final HopVerdict verdict = locate(excess, new double[4]).verdicts().get(0);
        assertEquals(List.of(2, 3), verdict.suspects().stream().map(HopVerdict.Suspect::hop).toList());
        verdict.suspects().forEach((suspect) -> assertEquals(0.5, suspect.probability(), 0.05));
    }

    @Test
    void shouldSayNothingOfAQuietNetwork() {
        final Localisation result = locate(new double[] {0.05 * MS, 0.04 * MS, 0.1 * MS, 0.2 * MS}, new double[4]);
        assertEquals(List.of(), result.verdicts());
        assertTrue(result.isFit());
    }

    /** Clock 1 is 3 ms ahead: the segment that ends on it is long, and the one that begins on it short. */
    @Test
    void shouldBlameTheClock() {
        final double[] excess = {3.05 * MS, -2.95 * MS, 0.1 * MS, 0.2 * MS};
        final double[] bounds = {1 * MS, 5 * MS, 1 * MS, 1 * MS};
        final Localisation result = locate(excess, bounds);
        assertEquals(List.of(), result.verdicts());
        assertEquals(3 * MS, result.clocks().offsetsNs()[1], 3 * result.clocks().deviationsNs()[1]);
        assertTrue(result.isClockOff(1));
        assertFalse(result.isClockOff(0) || result.isClockOff(2) || result.isClockOff(3));
        assertFalse(locate(excess, new double[4]).isFit(), "clocks that are exact explain nothing");
    }

    /** Segments between clock 0 and each other one, so many of them to it; the last window of each, known to be usual before. */
    private static Localisation star(final int in, final double boundNs, final double... excessNs) {
        final List<MeasuredSegment> segments = new ArrayList<>();
        for (int i = 0; i < excessNs.length; i++) {
            segments.add(segment(i < in ? i + 1 : 0, i < in ? 0 : i + 1, i));
        }
        final UsualExcess.Value[] usual = new UsualExcess.Value[excessNs.length];
        Arrays.fill(usual, new UsualExcess.Value(UsualExcess.Knowledge.KNOWN, 0));
        final double[] sigma = new double[excessNs.length];
        Arrays.fill(sigma, 2e4);
        final double[] bounds = new double[excessNs.length + 1];
        Arrays.fill(bounds, boundNs);
        final HopLocator locator = new HopLocator(
            segments, new HopGroups(excessNs.length, segments), bounds, HopLocator.Settings.USUAL);
        return locator.locate(excessNs, sigma, usual, locator.evenPrior());
    }

    private static List<Integer> clocksOff(final Localisation result) {
        return IntStream.range(0, result.clocks().offsetsNs().length).filter(result::isClockOff).boxed().toList();
    }

    /** All into a clock that steps take longer by the same, all out of it are shorter, or the other way round. */
    @ParameterizedTest
    @CsvSource({"3, 0", "6, 0", "0, 3", "1, 1", "2, 1", "1, 3", "3, 3"})
    void shouldBlameTheClockHoweverFarItStepped(final int in, final int out) {
        for (final double stepNs : new double[] {-2 * MS, 2 * MS, -5 * MS, 5 * MS, 50 * MS, 1000 * MS}) {
            for (final double boundNs : new double[] {0.1 * MS, 1 * MS}) {
                final Localisation result =
                    star(in, boundNs, IntStream.range(0, in + out).mapToDouble((i) -> i < in ? stepNs : -stepNs).toArray());
                assertEquals(List.of(), result.verdicts());
                assertEquals(List.of(0), clocksOff(result), () -> stepNs + " " + boundNs);
                assertEquals(stepNs, result.clocks().offsetsNs()[0], 3 * result.clocks().deviationsNs()[0]);
            }
        }
    }

    /** What is slow or quick at one segment of a clock alone is no step, nor what two of the segments say each for itself. */
    @Test
    void shouldBlameNoClockForHops() {
        for (final double slowNs : new double[] {2 * MS, 5 * MS, 50 * MS}) {
            final Localisation one = star(3, 0.1 * MS, slowNs, 0, 0, 0, 0);
            assertEquals(List.of(0), one.verdicts().stream().map((each) -> each.suspects().get(0).hop()).toList());
            assertEquals(slowNs, one.verdicts().get(0).effectNs(), 0.2 * MS);
            final Localisation two = star(3, 0.1 * MS, slowNs, slowNs / 2, 0, 0, 0);
            assertEquals(List.of(0, 1), two.verdicts().stream().map((each) -> each.suspects().get(0).hop()).toList());
            for (final Localisation each : List.of(one, two, star(3, 0.1 * MS, -slowNs, 0, 0, 0, 0),
                star(1, 0.1 * MS, slowNs), star(1, 0.1 * MS, -slowNs))) {
                assertEquals(List.of(), clocksOff(each));
            }
        }
    }

    /** Between two clocks alone nothing tells which one stepped: both are named, with bounds that either may not have. */
    @Test
    void shouldNameBothClocksWhereOneStepped() {
        final List<MeasuredSegment> segments = List.of(segment(0, 1, 0), segment(1, 0, 1));
        final UsualExcess.Value known = new UsualExcess.Value(UsualExcess.Knowledge.KNOWN, 0);
        final HopLocator locator = new HopLocator(
            segments, new HopGroups(2, segments), new double[] {MS, MS}, HopLocator.Settings.USUAL);
        final Localisation result = locator.locate(new double[] {5 * MS, -5 * MS}, new double[] {2e4, 2e4},
            new UsualExcess.Value[] {known, known}, locator.evenPrior());
        assertEquals(List.of(), result.verdicts());
        assertEquals(List.of(0, 1), clocksOff(result));
        assertEquals(-2.5 * MS, result.clocks().offsetsNs()[0], 0.1 * MS);
        assertEquals(2.5 * MS, result.clocks().offsetsNs()[1], 0.1 * MS);
        assertTrue(result.clocks().deviationsNs()[0] > 2 * MS && result.clocks().deviationsNs()[1] > 2 * MS);
    }

    /** A segment is shorter than its parts: routes or bounds are wrong. */
    @Test
    void shouldTellThatNothingFits() {
        final Localisation result = locate(new double[] {5 * MS, 5 * MS, 5 * MS, 0.1 * MS}, new double[4]);
        assertFalse(result.isFit());
        assertFalse(result.residuals().isEmpty());
    }

    /** A mean six deviations off is an error, one of a hundred is none: routes or bounds are wrong. */
    @Test
    void shouldTakeALargeErrorForOne() {
        final double[] excess = new double[LINE.size()];
        final double[] sigma = new double[LINE.size()];
        final UsualExcess.Value[] usual = new UsualExcess.Value[LINE.size()];
        Arrays.fill(sigma, 1e5);
        Arrays.fill(usual, new UsualExcess.Value(UsualExcess.Knowledge.KNOWN, 0));
        final HopLocator locator = new HopLocator(LINE, LINE_GROUPS, new double[4], HopLocator.Settings.USUAL);
        for (final double deviations : new double[] {6, 100}) {
            excess[4] = -deviations * sigma[4];
            final Localisation result = locator.locate(excess, sigma, usual, locator.evenPrior());
            assertEquals(List.of(), result.verdicts());
            assertEquals(deviations == 6, result.isFit());
        }
    }

    /**
     * Hops 1 and 5 are slow from the first window on: of hop 1 two segments tell so, while the only one of hop 5 may have longer
     * routes than its floor's. When hop 6 becomes slow later, its only segment tells so.
     */
    @Test
    void shouldLearnTheUsualExcess() {
        final UsualExcess[] usual = LINE.stream().map(UsualExcess::new).toArray(UsualExcess[]::new);
        final Random random = new Random(5);
        for (int window = 0; window < 20; window++) {
            final double[] truth = {0.05 * MS, 3 * MS, 0.1 * MS, 3.2 * MS, 3 * MS, (window < 10 ? 0 : 3) * MS, 0, 0, 0};
            final double[] excess = Arrays.stream(truth).map((each) -> each + 2e4 * random.nextGaussian()).toArray();
            final double[] sigma = Arrays.stream(usual).mapToDouble((each) -> each.sigmaNs(2e4, 0, Double.NaN)).toArray();
            final UsualExcess.Value[] values =
                Arrays.stream(usual).map((each) -> each.value(0)).toArray(UsualExcess.Value[]::new);
            final HopLocator locator = new HopLocator(LINE, LINE_GROUPS, new double[4], HopLocator.Settings.USUAL);
            final Localisation result = locator.locate(excess, sigma, values, locator.evenPrior());
            assertEquals(window < 10 ? List.of(1) : List.of(1, 6), result.verdicts().stream()
                .map((verdict) -> verdict.suspects().get(0).hop()).sorted().toList(), "window " + window);
            for (int i = 0; i < usual.length; i++) {
                usual[i].onWindow(result.unexplainedNs()[i]);
            }
        }
    }

    /** Its routes differ by 4 ms, which no topology tells: it says nothing until that is learned. */
    @Test
    void shouldSayNothingOfSeveralRoutesUntilTheirLengthIsLearned() {
        final UsualExcess usual = new UsualExcess(new MeasuredSegment(new int[] {1, 2}, new double[] {0.5, 0.5}, 0, 1));
        for (int window = 0; window < 3; window++) {
            assertEquals(UsualExcess.Knowledge.NEW, usual.value(0).knowledge());
            assertEquals(Double.POSITIVE_INFINITY, usual.sigmaNs(2e4, 2 * MS, MS));
            usual.onWindow(2 * MS + window * 1e4);
            usual.onWindow(Double.NaN);
        }
        assertEquals(UsualExcess.Knowledge.KNOWN, usual.value(0).knowledge());
        assertEquals(2.01 * MS, usual.value(0).excessNs(), 1);
        assertTrue(usual.sigmaNs(1e3, 0, 0) > 1e4 && usual.sigmaNs(1e3, 0, 0) < 5e4 && usual.sigmaNs(1e6, 0, 0) < 1.3e6);
    }

    /**
     * One flow of thirty leaves out hop 1, which is 1.2 ms long: the floor of both segments that have it is that flow's, and they
     * agree from the first window on. A queue of the same mean is found then.
     */
    @ParameterizedTest
    @CsvSource({"true", "false"})
    void shouldNotTakeTheFloorOfFewForThatOfAQueue(final boolean isQueue) {
        final UsualExcess[] usual = LINE.stream().map(UsualExcess::new).toArray(UsualExcess[]::new);
        for (int window = 0; window < 10; window++) {
            final double[] excess = new double[LINE.size()];
            for (final int segment : LINE_GROUPS.segments(LINE_GROUPS.of(1))) {
                excess[segment] = 1.2 * MS * 29 / 30;
            }
            final double[] sigma = new double[usual.length];
            Arrays.setAll(sigma, (i) -> usual[i].sigmaNs(2e4, excess[i], isQueue ? excess[i] : 1.2 * MS * Math.sqrt(29) / 30));
            final UsualExcess.Value[] values =
                Arrays.stream(usual).map((each) -> each.value(0)).toArray(UsualExcess.Value[]::new);
            final HopLocator locator = new HopLocator(LINE, LINE_GROUPS, new double[4], HopLocator.Settings.USUAL);
            final Localisation result = locator.locate(excess, sigma, values, locator.evenPrior());
            assertEquals(isQueue ? 1 : 0, result.verdicts().size(), "window " + window);
            for (int i = 0; i < usual.length; i++) {
                usual[i].onWindow(result.unexplainedNs()[i]);
            }
        }
    }

    @Test
    void shouldKnowTheUsualExcessFromItsState() {
        final MeasuredSegment segment = new MeasuredSegment(new int[] {1, 2}, new double[] {0.5, 0.5}, 0, 1);
        final Random random = new Random(7);
        final UsualExcess usual = new UsualExcess(segment);
        UsualExcess restored = new UsualExcess(segment, usual.state());
        for (int window = 0; window < 100; window++) {
            assertEquals(usual.value(0), restored.value(0));
            assertEquals(usual.sigmaNs(1e4, 0, 0), restored.sigmaNs(1e4, 0, 0));
            final double excessNs = random.nextInt(5) == 0 ? Double.NaN : 1e5 * random.nextGaussian();
            usual.onWindow(excessNs);
            restored.onWindow(excessNs);
            assertArrayEquals(usual.state().last(), restored.state().last());
            restored = new UsualExcess(segment, restored.state());
        }
    }

    private static Localisation locate(final double[] excess, final double[] bounds) {
        final HopLocator locator = new HopLocator(LINE, LINE_GROUPS, bounds, HopLocator.Settings.USUAL);
        final double[] all = Arrays.copyOf(excess, LINE.size());
        Arrays.fill(all, excess.length, all.length, 0.05 * MS);
        final double[] sigma = new double[all.length];
        Arrays.fill(sigma, 2e4);
        return locator.locate(all, sigma, locator.evenPrior());
    }

    @Test
    void shouldFitALargeNetwork() {
        final Random random = new Random(3);
        final List<MeasuredSegment> segments = new ArrayList<>();
        final List<Integer> hops = new ArrayList<>();
        for (int i = 0; i < 1000; i++) {
            if (hops.size() < 6) {
                for (int hop = 0; hop < 3000; hop++) {
                    hops.add(hop);
                }
                Collections.shuffle(hops, random);
            }
            final int[] chosen = hops.subList(0, 6).stream().mapToInt(Integer::intValue).sorted().toArray();
            hops.subList(0, 6).clear();
            segments.add(segment(random.nextInt(300), random.nextInt(300), chosen));
        }
        final HopGroups groups = new HopGroups(3000, segments);
        final double[] sigma = new double[1000];
        Arrays.fill(sigma, 3e4);
        final double[] clockBounds = new double[300];
        Arrays.fill(clockBounds, 1e5);
        final double[] delays = random.doubles(3000).map((each) -> -5e4 * Math.log(1 - each)).toArray();
        for (int i = 0; i < 5; i++) {
            delays[random.nextInt(3000)] += 3 * MS;
        }
        final double[] excess = segments.stream().mapToDouble((each) ->
            Arrays.stream(each.hops()).mapToDouble((hop) -> delays[hop]).sum() + 3e4 * random.nextGaussian()).toArray();
        final HopLocator locator = new HopLocator(segments, groups, clockBounds, HopLocator.Settings.USUAL);
        assertTrue(locator.locate(excess, sigma, locator.evenPrior()).isFit());
    }
}
