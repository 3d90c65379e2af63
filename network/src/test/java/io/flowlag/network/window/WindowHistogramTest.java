package io.flowlag.network.window;

import io.flowlag.sketch.quantile.LogHistogram;
import net.jqwik.api.ForAll;
import net.jqwik.api.Property;
import net.jqwik.api.constraints.IntRange;
import org.agrona.concurrent.UnsafeBuffer;
import org.junit.jupiter.api.Test;

import java.util.ArrayList;
import java.util.Arrays;
import java.util.Collections;
import java.util.List;
import java.util.Random;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertTrue;

/** Sums of histograms: parts make the whole in any order, whatever the levels of their octets. */
class WindowHistogramTest {
    private static final int LIMIT_BYTES = 512;

    @Property(tries = 50)
    void shouldMergePartsToTheWhole(@ForAll @IntRange(min = 1, max = 12) final int count, @ForAll final long seed) {
        final Random random = new Random(seed);
        final List<long[]> intervals = new ArrayList<>();
        for (int i = 0; i < count; i++) {
            final double decades = 1 + random.nextInt(8);
            intervals.add(random.doubles(1 + random.nextInt(300)).mapToLong((each) ->
                (long)Math.pow(10, decades * each) * (random.nextInt(8) == 0 ? -1 : 1)).toArray());
        }
        final WindowHistogram whole = new WindowHistogram();
        intervals.forEach((interval) -> add(whole, interval));
        Collections.shuffle(intervals, random);
        final List<WindowHistogram> parts = new ArrayList<>();
        for (int i = 0; i < 1 + random.nextInt(3); i++) {
            parts.add(new WindowHistogram());
        }
        intervals.forEach((interval) -> add(parts.get(random.nextInt(parts.size())), interval));
        final WindowHistogram merged = new WindowHistogram();
        parts.forEach(merged::add);
        final long[] all = intervals.stream().flatMapToLong(Arrays::stream).sorted().toArray();
        assertEquals(all.length, merged.count());
        assertEquals(whole.relativeError(), merged.relativeError());
        assertEquals(whole.above(1000), merged.above(1000));
        for (final double quantile : new double[] {0.01, 0.5, 0.9, 0.99}) {
            assertEquals(whole.quantileNs(quantile), merged.quantileNs(quantile));
            if (!Double.isNaN(merged.quantileNs(quantile))) {
                final double truth = all[(int)Math.ceil(quantile * all.length - 1e-9) - 1];
                assertEquals(truth, merged.quantileNs(quantile), Math.max(64, merged.relativeError() * Math.abs(truth) + 1));
            }
        }
    }

    private static void add(final WindowHistogram window, final long[] delaysNs) {
        final LogHistogram interval = new LogHistogram();
        Arrays.stream(delaysNs).forEach((delay) -> interval.add(delay, 1));
        final UnsafeBuffer octets = new UnsafeBuffer(new byte[LIMIT_BYTES]);
        assertTrue(window.add(octets, 0, interval.encode(octets, 0, LIMIT_BYTES)));
    }

    @Test
    void shouldHaveQuantilesOfEnoughDelaysOnly() {
        final WindowHistogram window = new WindowHistogram();
        final long[] delays = new long[100];
        Arrays.setAll(delays, (i) -> 1_000_000 * (i + 1));
        add(window, delays);
        assertEquals(50e6, window.quantileNs(0.5), 0.011 * 50e6);
        assertEquals(90e6, window.quantileNs(0.9), 0.011 * 90e6);
        assertTrue(Double.isNaN(window.quantileNs(0.95)));
        assertEquals(20, window.above(80_500_000), 1);
    }

    @Test
    void shouldRefuseWhatIsNoHistogram() {
        final WindowHistogram window = new WindowHistogram();
        assertFalse(window.add(new UnsafeBuffer(new byte[] {2, 0, 0, 0, 2}), 0, 5));
        assertEquals(0, window.count());
    }

    @Property(tries = 20)
    void shouldTellSumsOfIndependentDelays(@ForAll final long seed) {
        final Random random = new Random(seed);
        final WindowHistogram one = new WindowHistogram();
        final WindowHistogram other = new WindowHistogram();
        final long[] first = random.longs(2000, 1_000_000, 5_000_000).toArray();
        final long[] second = random.longs(500, 200_000, 9_000_000).toArray();
        add(one, first);
        add(other, second);
        final long limitNs = 4_000_000 + random.nextInt(6_000_000);
        final double above = Arrays.stream(first).mapToDouble((each) ->
            Arrays.stream(second).filter((more) -> each + more > limitNs).count() / 500.0).average().orElseThrow();

        assertEquals(above, WindowHistogram.shareAbove(List.of(one, other), limitNs), 0.02);
        assertEquals((double)one.above(limitNs) / one.count(), WindowHistogram.shareAbove(List.of(one), limitNs));
    }
}
