package io.flowlag.tests.lab.comparator;

import org.junit.jupiter.api.Test;

import java.util.Arrays;
import java.util.SplittableRandom;
import java.util.stream.IntStream;

import static org.junit.jupiter.api.Assertions.assertArrayEquals;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertNull;
import static org.junit.jupiter.api.Assertions.assertTrue;

class OrderPreservingAggregatorTest {
    private static final int PACKETS = 20;
    private static final int SHIFT = 3;

    private final long[] sent = new SplittableRandom(1).longs(PACKETS).toArray();

    private int[] places(final int... order) {
        final OrderPreservingAggregator aggregator = new OrderPreservingAggregator();
        Arrays.stream(sent).forEach(aggregator::add);
        return aggregator.places(Arrays.stream(order).mapToLong(place -> sent[place]).toArray(), SHIFT);
    }

    @Test
    void shouldFindEveryLossOfOneOrTwoAndRefuseMore() {
        assertArrayEquals(IntStream.range(0, PACKETS).toArray(), places(IntStream.range(0, PACKETS).toArray()));
        for (int first = 0; first < PACKETS; first++) {
            for (int second = first; second < PACKETS; second++) {
                final int one = first;
                final int other = second;
                final int[] order = IntStream.range(0, PACKETS).filter(place -> place != one && place != other).toArray();
                assertArrayEquals(order, places(order), first + " " + second);
            }
        }
        assertNull(places(IntStream.range(3, PACKETS).toArray()));
    }

    @Test
    void shouldFindOnePacketThatMovedAndOneLostBesideItButNoMore() {
        for (int from = 0; from < PACKETS; from++) {
            for (int to = 0; to < PACKETS; to++) {
                final int[] order = IntStream.range(0, PACKETS).toArray();
                final int moved = order[from];
                System.arraycopy(order, from > to ? to : from + 1, order, from > to ? to + 1 : from, Math.abs(from - to));
                order[to] = moved;
                final int[] places = places(order);
                if (Math.abs(from - to) <= SHIFT) {
                    assertArrayEquals(order, places, from + " " + to);
                } else {
                    assertNull(places, from + " " + to);
                }
            }
        }
        final int[] swapped = IntStream.range(0, PACKETS).map(place -> place < 2 ? 1 - place : place).toArray();
        final int[] oneLost = IntStream.of(swapped).filter(place -> place != 10).toArray();
        assertArrayEquals(oneLost, places(oneLost));
        swapped[PACKETS - 1] = PACKETS - 2;
        swapped[PACKETS - 2] = PACKETS - 1;
        assertNull(places(swapped));
        assertNull(places(IntStream.of(oneLost).limit(PACKETS - 2).filter(place -> place != 5).toArray()));
        assertNull(places(IntStream.concat(IntStream.range(0, PACKETS), IntStream.of(0)).toArray()));
    }

    /** A steady rate costs nothing, all coefficients give all times, and the errors of the others cancel each other. */
    @Test
    void shouldRestoreTimes() {
        final SplittableRandom random = new SplittableRandom(2);
        final long epochNs = 1_700_000_000_000_000_001L;
        for (final int packets : new int[] {1, 2, 3, 100, 1_000}) {
            final long[] steady = new long[packets];
            final long[] times = new long[packets];
            Arrays.fill(times, epochNs);
            for (int i = 1; i < packets; i++) {
                steady[i] = 1_000L * i;
                times[i] = times[i - 1] + (long) (-1_000 * Math.log(1 - random.nextDouble()));
            }
            assertTrue(furthest(steady, packets < 100 ? 0.9999 : 0.25) <= 2);
            assertTrue(furthest(times, 0.9999) < 30);
            assertEquals(0, furthest(times, 1));
        }
        final long[] times = new long[1_000];
        for (int i = 1; i < times.length; i++) {
            times[i] = times[i - 1] + (long) (-1_000 * Math.log(1 - random.nextDouble()));
        }
        final long[] restored = WaveletTimes.restored(times, 0.1);
        double sum = 0;
        double squares = 0;
        for (int i = 0; i < times.length; i++) {
            sum += restored[i] - times[i];
            squares += Math.pow(restored[i] - times[i], 2);
        }
        final double deviation = Math.sqrt(squares / times.length);
        assertTrue(deviation > 100 && deviation < 3_000, "deviation " + deviation);
        assertTrue(Math.abs(sum / times.length) < 0.1 * deviation, sum / times.length + " of " + deviation);
        assertEquals(8 + 4 * 100 + 125, WaveletTimes.bytes(1_000, 0.1));
    }

    private static long furthest(final long[] times, final double share) {
        final long[] restored = WaveletTimes.restored(times, share);
        return IntStream.range(0, times.length).mapToLong(i -> Math.abs(restored[i] - times[i])).max().orElseThrow();
    }
}
