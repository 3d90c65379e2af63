package io.flowlag.rli.path;

import net.jqwik.api.ForAll;
import net.jqwik.api.Property;
import net.jqwik.api.constraints.IntRange;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;

import java.util.Random;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertTrue;

class FlowPathsTest {
    private static final int SLOTS = 8;
    private static final float[] SCALES_NS = {10, 10, 10, 10};

    private final FlowPaths flows = new FlowPaths(SLOTS);
    private final PathFinder finder = new PathFinder();
    private final PathEstimate estimate = new PathEstimate();
    private final Random random = new Random(7);
    private int references;

    @BeforeEach
    void findTwoPaths() {
        assertEquals(-1, new FlowPaths(0).enter(0, 1, 0, finder), "nothing is kept");
        lanes(2);
    }

    /** Makes the finder see so many paths, from level to level. */
    private void lanes(final int paths) {
        for (int i = 0; i < 200 * PathFinder.LANES; i++) {
            final int lane = finder.lane(i % PathFinder.LANES);
            finder.onReference(lane, references++ / PathFinder.LANES, i, 1000 * (lane % paths) + random.nextInt(100));
        }
        assertEquals(paths, finder.pathCount());
    }

    private PathEstimate resolve(final int slot, final int generation) {
        flows.resolve(flows.find(slot, generation, 0, finder), finder, new double[PathFinder.MOST_PATHS], estimate);
        return estimate;
    }

    private int sample(final int slot, final int generation, final double... delaysNs) {
        return flows.onSample(flows.enter(slot, generation, 0, finder), finder, delaysNs, (1 << finder.pathCount()) - 1);
    }

    private void know(final int slot, final int generation, final double delayNs, final double... delaysNs) {
        flows.onKnown(flows.enter(slot, generation, 0, finder), finder, delaysNs, SCALES_NS, delayNs);
    }

    @Test
    void shouldGiveAMixtureAndCoverEachPathWhileNothingIsKnown() {
        for (int i = 0; i < 10; i++) {
            assertEquals(PathFinder.NONE, sample(3, 1, 100, 500));
        }
        assertTrue(resolve(3, 1).hasMean());
        assertEquals(PathEstimate.State.UNKNOWN, estimate.state());
        assertEquals(10, estimate.samples());
        assertTrue(Math.abs(estimate.meanNs() - 100) <= estimate.spreadNs());
        assertTrue(Math.abs(estimate.meanNs() - 500) <= estimate.spreadNs());
    }

    @Test
    void shouldNotCountPacketsWhosePathMayBeSilent() {
        final int both = 3;
        final int first = 1;
        assertEquals(PathFinder.NONE, flows.onSample(flows.enter(3, 1, 0, finder), finder, new double[] {100, 500}, both));
        assertEquals(PathFinder.NONE, flows.onSample(flows.enter(3, 1, 0, finder), finder, new double[] {100, 100}, first));
        assertEquals(1, resolve(3, 1).samples());
        for (int i = 0; i < 4; i++) {
            know(3, 1, 105, 100, 500);
        }
        assertEquals(0, flows.onSample(flows.enter(3, 1, 0, finder), finder, new double[] {100, 100}, first));
        assertEquals(0, flows.onSample(flows.enter(3, 1, 0, finder), finder, new double[] {500, 500}, 1 << 1));
        assertEquals(2, resolve(3, 1).samples(), "the flow is known to be on the path that is heard");
    }

    @Test
    void shouldAddHowFarAPathMayBeOff() {
        sample(3, 1, 100, 500);
        flows.resolve(flows.find(3, 1, 0, finder), finder, new double[] {0, 50}, estimate);
        assertTrue(550 - estimate.meanNs() <= estimate.spreadNs());
        flows.resolve(flows.find(3, 1, 0, finder), finder, new double[] {0, Double.POSITIVE_INFINITY}, estimate);
        assertEquals(Double.POSITIVE_INFINITY, estimate.spreadNs());
        for (int i = 0; i < 4; i++) {
            know(3, 1, 105, 100, 500);
        }
        flows.resolve(flows.find(3, 1, 0, finder), finder, new double[] {7, Double.POSITIVE_INFINITY}, estimate);
        assertEquals(7, estimate.spreadNs());
    }

    @Test
    void shouldDecideAPathByAFewKnownDelaysForAllPackets() {
        sample(3, 1, 100, 500);
        for (int i = 0; i < 4; i++) {
            know(3, 1, 505, 100, 500);
        }
        assertEquals(1, sample(3, 1, 200, 600));
        assertEquals(PathEstimate.State.KNOWN, resolve(3, 1).state());
        assertEquals(550, estimate.meanNs());
        assertEquals(0, estimate.spreadNs());
        assertFalse(resolve(3, 2).hasMean(), "the slot has another flow");
    }

    @Test
    void shouldDecideAPathByAMeanThatIsKnownOfAllItsPackets() {
        sample(3, 1, 100, 500);
        sample(3, 1, 200, 600);
        flows.onMean(flows.find(3, 1, 0, finder), finder, 350, 20);
        assertEquals(PathEstimate.State.UNKNOWN, resolve(3, 1).state(), "it lies between the paths");
        flows.onMean(flows.find(3, 1, 0, finder), finder, 540, 400);
        assertEquals(PathEstimate.State.UNKNOWN, resolve(3, 1).state(), "its error is as large as their distance");
        flows.onMean(flows.find(3, 1, 0, finder), finder, 540, 20);
        assertEquals(PathEstimate.State.KNOWN, resolve(3, 1).state());
        assertEquals(550, estimate.meanNs());
    }

    @Test
    void shouldKeepWhatIsKnownOfAFlowWhoseSlotHasAnother() {
        sample(3, 1, 100, 500);
        flows.copy(flows.find(3, 1, 0, finder), SLOTS - 1, 9, 0);
        flows.copy(flows.find(3, 2, 0, finder), SLOTS - 2, 9, 0);
        flows.copy(flows.find(3, 1, 0, finder), SLOTS, 9, 0);
        sample(3, 2, 300, 700);
        flows.onMean(flows.find(SLOTS - 1, 9, 0, finder), finder, 490, 20);
        assertEquals(500, resolve(SLOTS - 1, 9).meanNs());
        assertEquals(PathEstimate.State.KNOWN, estimate.state());
        assertEquals(PathEstimate.State.UNKNOWN, resolve(3, 2).state());
        assertFalse(resolve(SLOTS - 2, 9).hasMean(), "an unknown flow");
    }

    @Test
    void shouldSayThatNoPathExplainsAFlow() {
        sample(3, 1, 100, 500);
        know(3, 1, 5000, 100, 500);
        assertEquals(PathEstimate.State.UNKNOWN, resolve(3, 1).state(), "one packet decides nothing");
        know(3, 1, 5000, 100, 500);
        assertEquals(PathEstimate.State.MISFIT, resolve(3, 1).state());
    }

    /** Each packet may be near some path by chance; a flow has one path. */
    @Test
    void shouldSayThatNoPathExplainsAFlowWhosePacketsAreNearDifferentPaths() {
        sample(3, 1, 100, 500);
        for (int i = 0; i < 8; i++) {
            know(3, 1, i % 2 == 0 ? 100 : 500, 100, 500);
        }
        assertEquals(PathEstimate.State.MISFIT, resolve(3, 1).state());
    }

    @Test
    void shouldTakeAFlowAlongWhenAPathDivides() {
        sample(3, 1, 100, 500);
        sample(3, 1, 100, 500);
        know(3, 1, 100, 100, 500);
        lanes(4);
        sample(3, 1, 100, 500, 100, 500);
        assertEquals(1, resolve(3, 1).samples(), "samples before the change are of two paths");
        assertTrue(Math.abs(estimate.meanNs() - 100) <= estimate.spreadNs());
        finder.forget();
        assertEquals(-1, flows.find(3, 1, 0, finder));
    }

    /** Of flows whose delays have errors of the scale, those that are assigned are on that path. */
    @Property(tries = 100)
    void shouldAssignFlowsToTheirPaths(@ForAll final long seed, @ForAll @IntRange(min = 1, max = 8) final int known) {
        final FlowPathsTest test = new FlowPathsTest();
        test.findTwoPaths();
        final Random errors = new Random(seed);
        final int path = errors.nextInt(2);
        for (int i = 0; i < known; i++) {
            test.sample(0, 1, 100, 300);
            test.know(0, 1, 100 + 200 * path + 12.5 * errors.nextGaussian(), 100, 300);
        }
        assertTrue(test.resolve(0, 1).state() != PathEstimate.State.KNOWN || test.estimate.meanNs() == 100 + 200 * path);
        assertTrue(known < 2 || test.estimate.state() == PathEstimate.State.KNOWN);
        assertTrue(Math.abs(test.estimate.meanNs() - 100 - 200 * path) <= test.estimate.spreadNs());
    }
}
