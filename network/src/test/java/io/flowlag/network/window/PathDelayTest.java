package io.flowlag.network.window;

import net.jqwik.api.ForAll;
import net.jqwik.api.Property;
import net.jqwik.api.constraints.IntRange;
import org.junit.jupiter.api.Test;

import java.util.ArrayList;
import java.util.Arrays;
import java.util.Collections;
import java.util.List;
import java.util.Random;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

/** Sums along a path, gaps in it, and clocks that cancel. */
class PathDelayTest {
    private static final double[] CLOCKS = {100, 200, 400, 800};

    @Property
    void shouldAddSegmentsInAnyOrder(@ForAll @IntRange(min = 1, max = 20) final int count, @ForAll final long seed) {
        final Random random = new Random(seed);
        final List<PathDelay.Part> parts = new ArrayList<>();
        double mean = 0;
        double bound = 0;
        for (int i = 0; i < count; i++) {
            parts.add(new PathDelay.Part(i, i + 1, random.nextInt(1000), random.nextInt(10), 3, 0, 0));
            mean += parts.get(i).meanNs();
            bound += parts.get(i).boundNs();
        }
        Collections.shuffle(parts, random);
        final PathDelay path = PathDelay.of(parts, CLOCKS);
        assertEquals(mean, path.meanNs());
        assertEquals(bound, path.boundNs());
        assertEquals(0, path.clockBoundNs());
        assertEquals(3 * Math.sqrt(count), path.leastDeviationNs(), 1e-9);
        assertEquals(3 * count, path.mostDeviationNs());
        assertEquals(count, path.stretches().size());
        assertTrue(path.stretches().stream().allMatch(PathDelay.Stretch::isMeasured));
    }

    @Test
    void shouldFillAGapFromASegmentThatCoversIt() {
        final PathDelay path = PathDelay.of(
            List.of(part(0, 2, 10, 1, 0, 1), part(3, 5, 20, 2, 2, 3), part(0, 5, 37, 4, 0, 3)), CLOCKS);
        assertEquals(List.of(new PathDelay.Stretch(0, 2, true, 10, 1), new PathDelay.Stretch(2, 3, false, 7, 7),
            new PathDelay.Stretch(3, 5, true, 20, 2)), path.stretches());
        assertEquals(37, path.meanNs());
        assertEquals(4, path.boundNs(), "the parts cancel in the sum");
        assertEquals(900, path.clockBoundNs());
    }

    @Test
    void shouldLeaveAGapUnknown() {
        final PathDelay twoGaps = PathDelay.of(List.of(part(0, 1, 10, 1, 0, 1), part(2, 3, 20, 2, 1, 2), part(4, 5, 5, 1, 2, 3),
            part(0, 5, 60, 4, 0, 3)), CLOCKS);
        assertEquals(5, twoGaps.stretches().size());
        assertTrue(Double.isNaN(twoGaps.stretches().get(1).meanNs()));
        assertTrue(Double.isNaN(twoGaps.meanNs()));
        assertTrue(Double.isNaN(twoGaps.boundNs()));
        assertTrue(Double.isNaN(PathDelay.of(List.of(part(0, 1, 1, 1, 0, 1), part(2, 3, 1, 1, 1, 2)), CLOCKS).meanNs()));
    }

    @Test
    void shouldCountOnlyTheClocksOfBothEndsOfARun() {
        assertEquals(500, PathDelay.of(List.of(part(0, 1, 1, 0, 0, 1), part(1, 2, 1, 0, 1, 2)), CLOCKS).clockBoundNs());
        assertEquals(1500, PathDelay.of(List.of(part(0, 1, 1, 0, 0, 1), part(1, 2, 1, 0, 2, 3)), CLOCKS).clockBoundNs());
        assertEquals(0, PathDelay.of(List.of(part(0, 1, 1, 0, 0, 1), part(1, 2, 1, 0, 1, 0)), CLOCKS).clockBoundNs());
    }

    /** The truth of each position is known; what covers a gap fills it with its truth, and bounds add up. */
    @Property
    void shouldFindTheTruthWhereverItKnowsIt(@ForAll final long seed) {
        final Random random = new Random(seed);
        final int length = 2 + random.nextInt(8);
        final double[] truth = random.doubles(length, 0, 100).toArray();
        final List<PathDelay.Part> parts = new ArrayList<>();
        for (int i = 0; i < 1 + random.nextInt(6); i++) {
            final int begin = random.nextInt(length);
            final int end = begin + 1 + random.nextInt(length - begin);
            parts.add(part(begin, end, Arrays.stream(truth, begin, end).sum(), 1, 0, 0));
        }
        final PathDelay path = PathDelay.of(parts, CLOCKS);
        int at = path.stretches().get(0).begin();
        final int first = at;
        for (final PathDelay.Stretch stretch : path.stretches()) {
            assertEquals(at, stretch.begin());
            at = stretch.end();
            if (!Double.isNaN(stretch.meanNs())) {
                assertEquals(Arrays.stream(truth, stretch.begin(), at).sum(), stretch.meanNs(), 1e-9);
            }
        }
        if (!Double.isNaN(path.meanNs())) {
            assertEquals(Arrays.stream(truth, first, at).sum(), path.meanNs(), 1e-9);
        }
    }

    private static PathDelay.Part part(final int begin, final int end, final double mean, final double bound, final int from,
        final int to) {
        return new PathDelay.Part(begin, end, mean, bound, 0, from, to);
    }
}
