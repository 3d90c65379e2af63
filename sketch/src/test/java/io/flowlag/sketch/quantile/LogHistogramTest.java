package io.flowlag.sketch.quantile;

import net.jqwik.api.Arbitraries;
import net.jqwik.api.Arbitrary;
import net.jqwik.api.EdgeCasesMode;
import net.jqwik.api.ForAll;
import net.jqwik.api.Property;
import net.jqwik.api.Provide;
import net.jqwik.api.constraints.IntRange;
import net.jqwik.api.constraints.Size;
import org.agrona.concurrent.UnsafeBuffer;
import org.junit.jupiter.api.Test;

import java.util.ArrayList;
import java.util.Arrays;
import java.util.Collections;
import java.util.HexFormat;
import java.util.List;
import java.util.Random;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertTrue;

class LogHistogramTest {
    private static final int OFFSET = 3;

    /** Delays of a queue, of both signs, of few or many magnitudes. */
    @Provide
    Arbitrary<List<Long>> values() {
        return Arbitraries.oneOf(
            Arbitraries.longs().between(0, 1_000),
            Arbitraries.longs().between(1_000_000, 20_000_000),
            Arbitraries.longs().between(-1_000_000, 1_000_000),
            Arbitraries.longs(),
            Arbitraries.of(0L, 63L, 64L, 65L, -64L, 1L << 40, Long.MAX_VALUE, Long.MIN_VALUE))
            .list().ofMinSize(1).ofMaxSize(300);
    }

    private static LogHistogram histogram(final List<Long> values) {
        final LogHistogram histogram = new LogHistogram();
        values.forEach((value) -> histogram.add(value, 1));
        return histogram;
    }

    private static String encoded(final LogHistogram histogram, final int limitBytes) {
        final UnsafeBuffer buffer = new UnsafeBuffer(new byte[OFFSET + limitBytes]);
        final int lengthBytes = histogram.encode(buffer, OFFSET, limitBytes);
        assertTrue(lengthBytes <= limitBytes);
        return HexFormat.of().formatHex(buffer.byteArray(), OFFSET, OFFSET + lengthBytes);
    }

    private static LogHistogram decoded(final String octets) {
        final LogHistogram histogram = new LogHistogram();
        assertTrue(decode(histogram, octets), octets);
        return histogram;
    }

    private static boolean decode(final LogHistogram histogram, final String octets) {
        final UnsafeBuffer buffer = new UnsafeBuffer(HexFormat.of().parseHex("00".repeat(OFFSET) + octets));
        return histogram.decode(buffer, OFFSET, buffer.capacity() - OFFSET);
    }

    /** Merging is exact: the octets of parts, added, are those of the whole, whatever the limit coarsened before. */
    @Property(tries = 300, edgeCases = EdgeCasesMode.NONE)
    void shouldMergeToTheOctetsOfAllValues(
        @ForAll("values") final List<Long> values, @ForAll @IntRange(min = 64, max = 700) final int limitBytes,
        @ForAll @IntRange(min = 1, max = 5) final int parts, @ForAll final Random random) {
        final List<LogHistogram> divided = new ArrayList<>();
        for (int i = 0; i < parts; i++) {
            divided.add(new LogHistogram());
        }
        values.forEach((value) -> divided.get(random.nextInt(parts)).add(value, 1));
        final LogHistogram merged = new LogHistogram();
        for (final LogHistogram part : divided) {
            merged.add(decoded(encoded(part, limitBytes)));
        }

        assertEquals(values.size(), merged.count());
        assertEquals(encoded(histogram(values), limitBytes), encoded(merged, limitBytes));
    }

    @Property(tries = 300, edgeCases = EdgeCasesMode.NONE)
    void shouldKeepQuantilesOfMergedPartsWithinTheRelativeError(
        @ForAll("values") final List<Long> first, @ForAll("values") final List<Long> second,
        @ForAll @IntRange(min = 64, max = 700) final int limitBytes) {
        final LogHistogram merged = decoded(encoded(histogram(first), limitBytes));
        merged.add(decoded(encoded(histogram(second), limitBytes)));
        final List<Long> sorted = new ArrayList<>(first);
        sorted.addAll(second);
        Collections.sort(sorted);
        for (final double quantile : new double[] {0.01, 0.25, 0.5, 0.9, 0.99, 1}) {
            final long exact = sorted.get((int)Math.max(0, Math.ceil(quantile * sorted.size() - 1e-9) - 1));
            assertEquals(
                (double)exact, merged.quantile(quantile),
                Math.abs((double)exact) * (merged.relativeError() + 1e-9) + QuantileSketch.FLOOR + 1, quantile + " of " + sorted);
        }
    }

    /** No bar is empty for want of a bucket: each value is in the one whose edges hold it, and edges meet. */
    @Property(tries = 300, edgeCases = EdgeCasesMode.NONE)
    void shouldDrawEachValueBetweenTheEdgesOfItsBar(
        @ForAll("values") final List<Long> values, @ForAll @IntRange(min = 1, max = 60) final int most) {
        final LogHistogram histogram = histogram(values);
        final List<long[]> bars = new ArrayList<>();
        histogram.forEachBar(most, (from, to, count) -> bars.add(new long[] {from, to, count}));
        assertTrue(bars.size() <= most, "bars " + bars.size());
        assertEquals(values.size(), bars.stream().mapToLong((each) -> each[2]).sum());
        for (int i = 0; i < bars.size(); i++) {
            final long[] bar = bars.get(i);
            assertTrue(i == 0 || bars.get(i - 1)[1] == bar[0], "edges meet");
            final double roundingNs = 1 + 1e-9 * Math.max(Math.abs((double)bar[0]), Math.abs((double)bar[1]));
            final long inside =
                values.stream().filter((each) -> each > bar[0] + roundingNs && each < bar[1] - roundingNs).count();
            final long near =
                values.stream().filter((each) -> each >= bar[0] - roundingNs && each <= bar[1] + roundingNs).count();
            assertTrue(inside <= bar[2] && bar[2] <= near, inside + " <= " + bar[2] + " <= " + near);
        }
    }

    /** As {@link QuantileSketch} at the same level. */
    @Property(tries = 100, edgeCases = EdgeCasesMode.NONE)
    void shouldHaveTheBucketsOfQuantileSketches(@ForAll("values") final List<Long> values) {
        final UnsafeBuffer sketch = new UnsafeBuffer(new byte[QuantileSketch.LENGTH_BYTES]);
        values.forEach((value) -> QuantileSketch.record(sketch, 0, value));
        final LogHistogram histogram = histogram(values);
        int limitBytes = 700;
        while (histogram.relativeError() < QuantileSketch.relativeError(sketch, 0) - 1e-9 && limitBytes > 64) {
            limitBytes = encoded(histogram, limitBytes).length() / 2 - 1;
        }
        if (Math.abs(histogram.relativeError() - QuantileSketch.relativeError(sketch, 0)) < 1e-9) {
            for (final double quantile : new double[] {0.01, 0.5, 0.9, 1}) {
                assertEquals(QuantileSketch.quantile(sketch, 0, quantile), histogram.quantile(quantile));
            }
        }
    }

    @Property(tries = 1000, edgeCases = EdgeCasesMode.NONE)
    void shouldRefuseOrReadAnyOctets(@ForAll @Size(max = 40) final byte[] octets, @ForAll final boolean isLikely) {
        final byte[] image = octets.clone();
        if (isLikely && image.length >= 4) {
            image[0] = 1;
            image[1] &= 7;
            image[2] = 0;
        }
        final LogHistogram histogram = new LogHistogram();
        if (decode(histogram, HexFormat.of().formatHex(image))) {
            final long[] total = new long[1];
            histogram.forEach((value, count) -> total[0] += count);
            assertEquals(histogram.count(), total[0]);
            assertTrue(histogram.count() >= 0);
        } else {
            assertEquals(0, histogram.count());
            assertEquals(0, histogram.level());
        }
    }

    /** Of the records page: three values of bucket 483, 200 of bucket 484, one of bucket 487. */
    @Test
    void shouldHaveTheDocumentedOctets() {
        final LogHistogram histogram = new LogHistogram();
        histogram.add(1_000_000, 3);
        histogram.add(1_010_000, 200);
        histogram.add(1_070_000, 1);

        assertEquals("010001e3069003" + "0301", encoded(histogram, 64));
        final List<Long> buckets = new ArrayList<>();
        decoded("010001e30690030301").forEach((value, count) -> buckets.addAll(List.of(value, count)));
        assertEquals(List.of(3L, 200L, 1L), List.of(buckets.get(1), buckets.get(3), buckets.get(5)));
        assertEquals(1_000_000, buckets.get(0), 10_000);
        assertEquals(1_070_000, buckets.get(4), 10_700);
        assertEquals("01000000", encoded(new LogHistogram(), 64));
    }

    @Test
    void shouldRefuseWhatNoHistogramHas() {
        for (final String octets : Arrays.asList("", "010000", "02000000", "010c0000", "01ff0000", "0100000000", "0100000005",
            "010000010300", "01000001", "010007b90203", "01000001" + "82", "01000001" + "ff".repeat(9) + "01",
            "0100000102" + "fe" + "ff".repeat(7) + "7f", "010007b80202")) {
            final LogHistogram histogram = new LogHistogram();
            final boolean isValid = decode(histogram, octets);
            assertEquals("01000001".equals(octets), isValid, octets);
            assertEquals(0, histogram.count());
        }
        assertFalse(decode(new LogHistogram(), "010b00010202"));
        assertTrue(decode(new LogHistogram(), "010b00000202"));
    }

    @Test
    void shouldKeepOnePercentOfDelaysOfTwoMagnitudesInFiveHundredOctets() {
        final Random random = new Random(5);
        final LogHistogram histogram = new LogHistogram();
        for (int i = 0; i < 100_000; i++) {
            histogram.add(Math.round(100_000 * Math.pow(100, random.nextDouble())), 1);
        }

        assertTrue(encoded(histogram, 512).length() / 2 > 400);
        assertEquals(0.01, histogram.relativeError(), 1e-9);
        assertEquals(1_000_000, histogram.quantile(0.5), 30_000);
    }
}
