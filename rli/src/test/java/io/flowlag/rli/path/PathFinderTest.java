package io.flowlag.rli.path;

import net.jqwik.api.ForAll;
import net.jqwik.api.Property;
import net.jqwik.api.constraints.IntRange;
import org.junit.jupiter.api.Test;

import java.util.ArrayList;
import java.util.Collections;
import java.util.List;
import java.util.Random;
import java.util.function.IntUnaryOperator;
import java.util.stream.IntStream;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertTrue;

class PathFinderTest {
    private static final long GAP_NS = 100_000;
    private static final int FIRST_PORT = 40_000;

    /** Queueing delay by a random walk that is reflected at 0: its own path each. */
    private static final class Queue {
        private final Random random;
        private final double swingNs;
        private double delayNs;

        private Queue(final long seed, final double swingNs) {
            random = new Random(seed);
            this.swingNs = swingNs;
        }

        private double next() {
            delayNs = Math.abs(0.999 * delayNs + swingNs * random.nextGaussian());
            return 50_000 + delayNs;
        }
    }

    private final PathFinder finder = new PathFinder();
    private long nowNs = 1;
    private int references;
    private final List<Integer> order = new ArrayList<>(IntStream.range(0, PathFinder.LANES).boxed().toList());

    private void run(final int count, final Queue[] queues, final IntUnaryOperator pathOfLane, final double noiseNs) {
        final Random noise = new Random(count);
        final double[] delaysNs = new double[queues.length];
        for (int i = 0; i < count; i++) {
            nowNs += 1 + noise.nextInt((int)(2 * GAP_NS));
            for (int path = 0; path < queues.length; path++) {
                delaysNs[path] = queues[path].next();
            }
            if (references % PathFinder.LANES == 0) {
                Collections.shuffle(order, noise);
            }
            final int number = order.get(references % PathFinder.LANES);
            final int lane = finder.lane(FIRST_PORT + number);
            // Heavy tails, as those of a busy host's stamps.
            final double late = noiseNs * Math.exp(2 * noise.nextGaussian());
            finder.onReference(lane, references++ / PathFinder.LANES, nowNs, delaysNs[pathOfLane.applyAsInt(number)] + late);
        }
    }

    private static Queue[] queues(final int count, final long seed, final double swingNs) {
        final Queue[] queues = new Queue[count];
        for (int i = 0; i < count; i++) {
            queues[i] = new Queue(seed * 1000 + i, swingNs);
        }
        return queues;
    }

    private boolean isDividedAs(final IntUnaryOperator pathOfLane) {
        for (int one = 0; one < PathFinder.LANES; one++) {
            for (int two = 0; two < PathFinder.LANES; two++) {
                final boolean isTogether = pathOfLane.applyAsInt(one) == pathOfLane.applyAsInt(two);
                if (isTogether != (finder.path(finder.lane(FIRST_PORT + one)) == finder.path(finder.lane(FIRST_PORT + two)))) {
                    return false;
                }
            }
        }
        return true;
    }

    @Property(tries = 40)
    void shouldNeverDivideOnePath(
        @ForAll final long seed, @ForAll @IntRange(min = 0, max = 20_000) final int swingNs,
        @ForAll @IntRange(min = 0, max = 20_000) final int noiseNs) {
        final PathFinderTest test = new PathFinderTest();
        test.run(8_000, queues(1, seed, swingNs), lane -> 0, noiseNs);
        assertEquals(1, test.finder.pathCount());
        assertTrue(test.finder.isFound());
        assertEquals(1, test.finder.share(0));
    }

    @Property(tries = 40)
    void shouldFindPathsWithQueuesOfTheirOwn(
        @ForAll final long seed, @ForAll @IntRange(min = 2, max = 8) final int paths) {
        final PathFinderTest test = new PathFinderTest();
        final IntUnaryOperator pathOfLane = lane -> (lane + lane / 8) % paths;
        test.run(6_000, queues(paths, seed, 5_000), pathOfLane, 500);
        assertEquals(paths, test.finder.pathCount());
        assertTrue(test.isDividedAs(pathOfLane) && test.finder.isFound());
    }

    @Test
    void shouldSaySoUntilPathsAreFound() {
        run(PathFinder.LANES * 20, queues(4, 1, 5_000), lane -> lane % 4, 500);
        assertFalse(finder.isFound());
        run(PathFinder.LANES * 130, queues(4, 1, 5_000), lane -> lane % 4, 500);
        assertTrue(finder.isFound() && isDividedAs(lane -> lane % 4));
        assertEquals(0.25, finder.share(3));
    }

    @Test
    void shouldNotTellEqualDelaysApart() {
        final Queue[] equal = {new Queue(5, 5_000), new Queue(5, 5_000)};
        run(8_000, equal, lane -> lane % 2, 500);
        assertEquals(1, finder.pathCount());
    }

    /** Stamps of an idle kernel differ by port, by tens of nanoseconds at any time. */
    @Test
    void shouldKeepPathsWhileQueuesAreEmpty() {
        run(6_000, queues(4, 7, 5_000), lane -> lane % 4, 500);
        final int version = finder.version();
        final Random random = new Random(7);
        for (int i = 0; i < 60_000; i++) {
            nowNs += GAP_NS;
            final int number = references % PathFinder.LANES;
            finder.onReference(finder.lane(FIRST_PORT + number), references++ / PathFinder.LANES, nowNs,
                2_000 + 50 * number + random.nextInt(200));
        }
        assertTrue(finder.version() == version && isDividedAs(lane -> lane % 4));
    }

    @Test
    void shouldFollowAChangeOfRoutes() {
        final Queue[] queues = queues(4, 3, 5_000);
        run(6_000, queues, lane -> lane % 4, 500);
        final int version = finder.version();
        run(60_000, queues, lane -> lane % 2, 500);
        assertTrue(finder.pathCount() == 2 && finder.version() > version);
        assertTrue(isDividedAs(lane -> lane % 2));
        run(160_000, queues, lane -> lane / 6, 500);
        assertTrue(finder.pathCount() == 3 && isDividedAs(lane -> lane / 6));
    }

    /** A queue of a path may hold the references of many blocks. */
    @Test
    void shouldFindAPathThatIsManyBlocksLate() {
        final int late = 100;
        for (int block = 0; block < 400; block++) {
            Collections.shuffle(order, new Random(block));
            for (final int number : order) {
                final boolean isLate = number < 8;
                if (!isLate || block >= late) {
                    nowNs += GAP_NS;
                    finder.onReference(finder.lane(number), block - (isLate ? late : 0), nowNs, isLate ? 1e9 : 1e6);
                }
            }
        }
        assertEquals(2, finder.pathCount());
        assertTrue(finder.path(finder.lane(0)) == finder.path(finder.lane(7)) && finder.isFound());
    }

    @Test
    void shouldForgetAPathThatIsSilent() {
        run(6_000, queues(4, 1, 5_000), lane -> lane % 4, 500);
        for (int i = 0; i < 200 * PathFinder.LANES; i++) {
            nowNs += GAP_NS;
            final int number = references % PathFinder.LANES;
            if (number % 4 != 0) {
                finder.onReference(finder.lane(FIRST_PORT + number), references / PathFinder.LANES, nowNs, 2_000);
            }
            references++;
        }
        assertEquals(12, finder.laneCount());
        assertEquals(3, finder.pathCount());
    }

    @Test
    void shouldReplaceLanesThatAreGone() {
        for (int i = 0; i < PathFinder.LANES; i++) {
            finder.onReference(finder.lane(i), 0, i, 0);
        }
        assertEquals(PathFinder.NONE, finder.lane(100));
        for (int i = 0; i < 200; i++) {
            finder.onReference(finder.lane(3), i, 100 + i, 0);
        }
        assertEquals(0, finder.lane(100));
        assertEquals(PathFinder.LANES, finder.laneCount());
        finder.forget();
        assertEquals(0, finder.laneCount());
        assertTrue(finder.isFound() && finder.pathCount() == 1);
    }
}
