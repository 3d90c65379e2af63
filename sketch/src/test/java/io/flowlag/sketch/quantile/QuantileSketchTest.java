package io.flowlag.sketch.quantile;

import io.flowlag.sketch.support.Allocation;
import net.jqwik.api.Arbitraries;
import net.jqwik.api.Arbitrary;
import net.jqwik.api.EdgeCasesMode;
import net.jqwik.api.ForAll;
import net.jqwik.api.Property;
import net.jqwik.api.Provide;
import org.agrona.concurrent.UnsafeBuffer;
import org.junit.jupiter.api.Test;

import java.util.ArrayList;
import java.util.Collections;
import java.util.List;
import java.util.Random;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertTrue;

class QuantileSketchTest {
    private static final double[] QUANTILES = {0.01, 0.25, 0.5, 0.9, 0.95, 0.99, 0.999, 1};
    private static final int OFFSET = 16;

    private static UnsafeBuffer empty() {
        return new UnsafeBuffer(new byte[OFFSET + QuantileSketch.LENGTH_BYTES]);
    }

    private static UnsafeBuffer sketch(final List<Long> values) {
        final UnsafeBuffer buffer = empty();
        values.forEach((value) -> QuantileSketch.record(buffer, OFFSET, value));
        return buffer;
    }

    /** Delays of a queue, of both signs, of few or many magnitudes. */
    @Provide
    Arbitrary<List<Long>> values() {
        final Arbitrary<Long> delays = Arbitraries.oneOf(
            Arbitraries.longs().between(0, 1_000),
            Arbitraries.longs().between(1_000_000, 20_000_000),
            Arbitraries.longs().between(-1_000_000, 1_000_000),
            Arbitraries.of(0L, 63L, 64L, 65L, -64L, 1L << 40, Long.MAX_VALUE, Long.MIN_VALUE));
        return Arbitraries.oneOf(
            delays.list().ofMinSize(1).ofMaxSize(400),
            Arbitraries.longs().between(100_000, 1_000_000).list().ofMinSize(1).ofMaxSize(400));
    }

    @Property(tries = 300, edgeCases = EdgeCasesMode.NONE)
    void shouldKeepToItsRelativeError(@ForAll("values") final List<Long> values) {
        final UnsafeBuffer sketch = sketch(values);
        final List<Long> sorted = new ArrayList<>(values);
        Collections.sort(sorted);
        final double error = QuantileSketch.relativeError(sketch, OFFSET);
        assertEquals(values.size(), QuantileSketch.count(sketch, OFFSET));
        assertEquals(error, QuantileSketch.relativeError(sorted.get(0), sorted.get(sorted.size() - 1)));
        for (final double quantile : QUANTILES) {
            final long exact = sorted.get((int)Math.max(0, Math.ceil(quantile * sorted.size() - 1e-9) - 1));
            final double estimate = QuantileSketch.quantile(sketch, OFFSET, quantile);
            assertEquals(
                (double)exact, estimate, Math.abs((double)exact) * (error + 1e-9) + QuantileSketch.FLOOR + 1,
                quantile + " of " + sorted);
        }
    }

    @Property(tries = 200, edgeCases = EdgeCasesMode.NONE)
    void shouldNotDependOnTheOrder(@ForAll("values") final List<Long> values, @ForAll final Random random) {
        final UnsafeBuffer sketch = sketch(values);
        final List<Long> shuffled = new ArrayList<>(values);
        Collections.shuffle(shuffled, random);
        assertEquals(sketch, sketch(shuffled));
    }

    @Property(tries = 200, edgeCases = EdgeCasesMode.NONE)
    void shouldMergeToWhatAllValuesGive(@ForAll("values") final List<Long> first, @ForAll("values") final List<Long> second) {
        final List<Long> all = new ArrayList<>(first);
        all.addAll(second);
        final UnsafeBuffer merged = sketch(first);
        QuantileSketch.merge(merged, OFFSET, sketch(second), OFFSET);
        assertEquals(sketch(all), merged);
        QuantileSketch.merge(merged, OFFSET, empty(), OFFSET);
        assertEquals(sketch(all), merged);
    }

    @Test
    void shouldBeWithinAPercentWhereValuesAreOfOneMagnitude() {
        final List<Long> values = new ArrayList<>();
        for (int i = 0; i < 10_000; i++) {
            values.add(1_000_000L + 1_000L * i);
        }
        final UnsafeBuffer sketch = sketch(values);
        assertEquals(0.01, QuantileSketch.relativeError(sketch, OFFSET), 1e-9);
        assertEquals(10_990_000, QuantileSketch.quantile(sketch, OFFSET, 0.999), 110_000);
        assertTrue(QuantileSketch.hasQuantile(sketch, OFFSET, 0.999));
    }

    @Test
    void shouldSayFromHowManyValuesOnAQuantileMeansSomething() {
        final UnsafeBuffer sketch = empty();
        for (int i = 1; i <= 1_000; i++) {
            QuantileSketch.record(sketch, OFFSET, i);
            assertEquals(i >= 20, QuantileSketch.hasQuantile(sketch, OFFSET, 0.5));
            assertEquals(i >= 100, QuantileSketch.hasQuantile(sketch, OFFSET, 0.9));
            assertEquals(i >= 200, QuantileSketch.hasQuantile(sketch, OFFSET, 0.95));
            assertEquals(i >= 1_000, QuantileSketch.hasQuantile(sketch, OFFSET, 0.99));
        }
        assertFalse(QuantileSketch.hasQuantile(sketch, OFFSET, 0.999));
        QuantileSketch.clear(sketch, OFFSET);
        assertEquals(empty(), sketch);
    }

    @Test
    void shouldAllocateNothing() {
        final UnsafeBuffer sketch = empty();
        final UnsafeBuffer other = empty();
        final Random random = new Random(3);
        final long[] values = random.longs(1_000, -1_000_000, 100_000_000).toArray();
        Allocation.assertNone(() -> {
            for (final long value : values) {
                QuantileSketch.record(sketch, OFFSET, value);
            }
            QuantileSketch.merge(other, OFFSET, sketch, OFFSET);
            QuantileSketch.quantile(other, OFFSET, 0.99);
        });
    }
}
