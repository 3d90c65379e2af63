package io.flowlag.rli.receiver;

import net.jqwik.api.ForAll;
import net.jqwik.api.Property;
import net.jqwik.api.constraints.LongRange;
import net.jqwik.api.constraints.Size;
import org.HdrHistogram.Histogram;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

import java.util.List;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertTrue;

class SignedHistogramTest {
    private static final long HIGHEST_NS = 60_000_000_000L;
    private static final double[] QUANTILES = {0, 0.5, 0.9, 0.95, 0.99, 0.999};

    private final SignedHistogram histogram = new SignedHistogram(HIGHEST_NS, 3);

    @Property(tries = 500)
    void shouldAgreeWithASortedListToThreeDigits(
        @ForAll @Size(min = 1, max = 300)
        final List<@LongRange(min = -50_000_000_000L, max = 50_000_000_000L) Long> delays) {
        histogram.reset();
        delays.forEach(histogram::record);
        final List<Long> sorted = delays.stream().sorted().toList();

        for (final double quantile : QUANTILES) {
            final int rank = Math.max(1, (int)Math.ceil(quantile * sorted.size() - 1e-6));
            final long exactNs = sorted.get(rank - 1);
            assertEquals(exactNs, histogram.quantileNs(quantile), Math.abs(exactNs) / 1000.0 + 1, () -> "quantile " + quantile);
        }
        assertEquals(sorted.get(0), histogram.minimumNs());
        assertEquals(sorted.get(sorted.size() - 1), histogram.maximumNs());
        assertEquals(delays.stream().filter(delayNs -> delayNs < 0).count(), histogram.negativeCount());
    }

    @Test
    void shouldGiveAQuantileOnlyWithTenDelaysBeyond() {
        for (int i = 1; i < 10_000; i++) {
            histogram.record(i);
            assertEquals(i >= 20, histogram.hasQuantile(0.5), "count " + i);
            assertEquals(i >= 100, histogram.hasQuantile(0.9), "count " + i);
            assertEquals(i >= 200, histogram.hasQuantile(0.95), "count " + i);
            assertEquals(i >= 1000, histogram.hasQuantile(0.99), "count " + i);
            assertFalse(histogram.hasDelayVariation(), "count " + i);
        }
        histogram.record(10_000);
        assertTrue(histogram.hasDelayVariation());
        assertEquals(9989, histogram.delayVariationNs(), 10);
    }

    @Test
    void shouldTakeDelaysThatItCannotTrackExactly() {
        histogram.record(Long.MAX_VALUE / 4);
        histogram.record(-HIGHEST_NS - 1);
        histogram.record(HIGHEST_NS);
        histogram.record(-HIGHEST_NS);

        assertEquals(4, histogram.count());
        assertEquals(-HIGHEST_NS - 1, histogram.minimumNs());
        assertEquals(-HIGHEST_NS, histogram.quantileNs(0.5), HIGHEST_NS / 500.0);
    }

    @Test
    void shouldGiveNoQuantileAmongDelaysThatItCannotTrack() {
        for (int i = 0; i < 100; i++) {
            histogram.record(i < 40 ? -HIGHEST_NS - 1 : i < 89 ? i : HIGHEST_NS + 1);
        }

        assertFalse(histogram.hasQuantile(0.4));
        assertTrue(histogram.hasQuantile(0.41));
        assertTrue(histogram.hasQuantile(0.89));
        assertFalse(histogram.hasQuantile(0.9));
        final SignedHistogram sum = new SignedHistogram(HIGHEST_NS, 3);
        sum.add(histogram);
        assertFalse(sum.hasQuantile(0.9));
        histogram.reset();
        for (int i = 0; i < 100; i++) {
            histogram.record(i);
        }
        assertTrue(histogram.hasQuantile(0.9));
    }

    @Test
    void shouldKnowNothingWhenEmpty() {
        histogram.record(5);
        histogram.reset();

        assertEquals(0, histogram.count());
        assertFalse(histogram.hasQuantile(0));
        assertEquals(0, histogram.negativeCount());
    }

    @ParameterizedTest
    @CsvSource({"2, 1", "1000, 2", "2048, 3", "2047, 3", "60000000000, 3", "60000000000, 2", "60000000000, 5"})
    void shouldKnowItsMemory(final long highestNs, final int significantDigits) {
        assertEquals(
            new Histogram(1, highestNs, significantDigits).getEstimatedFootprintInBytes(),
            SignedHistogram.histogramBytes(highestNs, significantDigits));
    }
}
