package io.flowlag.rli.counters;

import org.agrona.concurrent.UnsafeBuffer;
import org.junit.jupiter.api.Test;

import static org.junit.jupiter.api.Assertions.assertEquals;

class SpanCountersTest {
    private static final int FAR_OFFSET = SpanCounters.NEAR_BYTES;
    private static final long MANY = 3_000_000_000L;

    private final UnsafeBuffer flow = new UnsafeBuffer(new byte[SpanCounters.NEAR_BYTES + SpanCounters.FAR_BYTES]);
    private long count;

    private void record(final long spanNumber, final int samples) {
        for (int i = 0; i < samples; i++) {
            SpanCounters.record(flow, 0, FAR_OFFSET, spanNumber, count++);
        }
    }

    private double independentErrors() {
        return SpanCounters.independentErrors(flow, 0, FAR_OFFSET, count);
    }

    @Test
    void shouldCountSpansWithEquallyManySamples() {
        for (int span = 0; span < 50; span++) {
            record(span, 7);
            assertEquals(span + 1, independentErrors(), 1e-9);
        }
    }

    @Test
    void shouldCountEachSampleWhereNoneShareASpan() {
        for (int span = 0; span < 50; span++) {
            record(3L * span, 1);
            assertEquals(count, independentErrors(), 1e-9);
        }
    }

    @Test
    void shouldCountABurstAsLittleMoreThanOneError() {
        record(5, 1000);
        assertEquals(1, independentErrors(), 1e-9);
        for (int span = 100; span < 110; span++) {
            record(span, 1);
        }
        assertEquals(1010.0 * 1010 / (1000 * 1000 + 10), independentErrors(), 1e-9);
    }

    @Test
    void shouldTakeSamplesOfUnknownSpansAsOfOne() {
        count = 1000;
        assertEquals(1, independentErrors());
        record(0, 1);
        assertEquals(1001.0 * 1001 / (1000 * 1000 + 1), independentErrors(), 1e-9);
    }

    @Test
    void shouldNeitherWrapNorForgetWithManySamples() {
        count = MANY;
        record(Long.MAX_VALUE, 2);
        assertEquals(1, independentErrors(), 1e-6);
        record(0, 1);
        assertEquals(1, independentErrors(), 1e-6);
    }
}
