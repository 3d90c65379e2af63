package io.flowlag.rli.counters;

import org.agrona.concurrent.UnsafeBuffer;
import org.junit.jupiter.api.Test;

import java.util.Random;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

class SpanCountersTest {
    private static final float SCALE_NS = 300;
    private static final long MANY = 3_000_000_000L;
    private static final double ROUNDING = 1e-4;

    private final UnsafeBuffer flow = new UnsafeBuffer(new byte[SpanCounters.LENGTH_BYTES]);
    private long count;

    private void record(final long spanNumber, final int samples, final float scaleNs) {
        for (int i = 0; i < samples; i++) {
            SpanCounters.record(flow, 0, spanNumber, scaleNs, count++);
        }
    }

    private double meanScaleNs() {
        return SpanCounters.meanScaleNs(flow, 0, count);
    }

    private void assertMeanScale(final double wantedNs) {
        assertEquals(wantedNs, meanScaleNs(), ROUNDING * wantedNs);
    }

    @Test
    void shouldNarrowWithSpansWithEquallyManySamples() {
        for (int span = 0; span < 50; span++) {
            record(span, 7, SCALE_NS);
            assertMeanScale(SCALE_NS / Math.sqrt(span + 1));
        }
    }

    @Test
    void shouldTakeABurstAsLittleMoreThanOneError() {
        record(5, 1000, SCALE_NS);
        assertMeanScale(SCALE_NS);
        for (int span = 100; span < 110; span++) {
            record(span, 1, SCALE_NS);
        }
        assertMeanScale(SCALE_NS * Math.sqrt(1000 * 1000 + 10) / 1010);
    }

    @Test
    void shouldAddScalesOfASpanAndVariancesOfSpans() {
        final Random random = new Random(4);
        double varianceNs2 = 0;
        for (int span = 0; span < 200; span++) {
            final int samples = 1 + random.nextInt(4);
            final float scaleNs = 1 + random.nextInt(100_000);
            record(3L * span, samples, scaleNs);
            varianceNs2 += (double)samples * samples * scaleNs * scaleNs;
        }
        assertMeanScale(Math.sqrt(varianceNs2) / count);
    }

    @Test
    void shouldTakeSamplesOfUnknownScaleAsOfOneSpan() {
        count = 1000;
        assertTrue(Double.isNaN(meanScaleNs()));
        record(0, 1, 0);
        assertTrue(Double.isNaN(meanScaleNs()));
        record(1, 1, SCALE_NS);
        assertMeanScale(SCALE_NS * Math.sqrt(1001.0 * 1001 + 1) / 1002);
    }

    /** A checkpoint of an earlier version has the number of samples where the variance is now. */
    @Test
    void shouldTakeWhatAnEarlierVersionWroteAsUnknown() {
        flow.putInt(0, 77_777);
        flow.putInt(4, 12_345);
        count = 20_000;
        assertTrue(Double.isNaN(meanScaleNs()));
    }

    @Test
    void shouldNeitherWrapNorForgetWithManySamples() {
        count = MANY;
        record(Long.MAX_VALUE, 2, SCALE_NS);
        assertMeanScale(SCALE_NS);
        record(0, 1, SCALE_NS);
        assertMeanScale(SCALE_NS);
        record(0, 70_000, SCALE_NS);
        assertMeanScale(SCALE_NS);
    }
}
