package io.flowlag.rli.counters;

import net.jqwik.api.ForAll;
import net.jqwik.api.Property;
import net.jqwik.api.constraints.LongRange;
import net.jqwik.api.constraints.Size;
import org.agrona.concurrent.UnsafeBuffer;
import org.junit.jupiter.api.Test;

import java.math.BigDecimal;
import java.math.BigInteger;
import java.math.MathContext;
import java.math.RoundingMode;
import java.util.List;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

class DelayCountersTest {
    private static final int OFFSET = 64;

    private final UnsafeBuffer buffer = new UnsafeBuffer(new byte[OFFSET + DelayCounters.LENGTH_BYTES]);

    @Property(tries = 500)
    void shouldAgreeWithExactArithmetic(
        @ForAll @Size(min = 1, max = 200)
        final List<@LongRange(min = -4_000_000_000_000L, max = 4_000_000_000_000L) Long> delays) {
        DelayCounters.clear(buffer, OFFSET);
        BigInteger sum = BigInteger.ZERO;
        BigInteger squares = BigInteger.ZERO;
        for (final long delayNs : delays) {
            DelayCounters.record(buffer, OFFSET, delayNs);
            sum = sum.add(BigInteger.valueOf(delayNs));
            squares = squares.add(BigInteger.valueOf(delayNs).pow(2));
        }

        final BigDecimal count = BigDecimal.valueOf(delays.size());
        assertEquals(delays.size(), DelayCounters.count(buffer, OFFSET));
        assertEquals(sum.longValueExact(), DelayCounters.sumNs(buffer, OFFSET));
        assertEquals(squares.doubleValue(), DelayCounters.squareSumNs2(buffer, OFFSET), Math.ulp(squares.doubleValue()));
        assertEquals(delays.stream().min(Long::compare).orElseThrow(), DelayCounters.minimumNs(buffer, OFFSET));
        assertEquals(delays.stream().max(Long::compare).orElseThrow(), DelayCounters.maximumNs(buffer, OFFSET));
        final BigDecimal mean = new BigDecimal(sum).divide(count, 20, RoundingMode.HALF_EVEN);
        assertEquals(
            mean.add(BigDecimal.valueOf(0.5)).setScale(0, RoundingMode.FLOOR).longValueExact(),
            DelayCounters.meanNs(buffer, OFFSET));
        if (delays.size() > 1) {
            final double exact = new BigDecimal(squares)
                .subtract(new BigDecimal(sum.pow(2)).divide(count, MathContext.DECIMAL128))
                .divide(count.subtract(BigDecimal.ONE), MathContext.DECIMAL128)
                .max(BigDecimal.ZERO)
                .sqrt(MathContext.DECIMAL128).doubleValue();
            assertEquals(exact, DelayCounters.standardDeviationNs(buffer, OFFSET), Math.max(1e-9, exact * 1e-12));
        }
    }

    @Property(tries = 200)
    void shouldShiftAsIfEachSampleWereShifted(
        @ForAll @Size(min = 1, max = 50)
        final List<@LongRange(min = -4_000_000_000_000L, max = 4_000_000_000_000L) Long> delays,
        @ForAll @LongRange(min = -4_000_000_000L, max = 4_000_000_000L) final long byNs) {
        final UnsafeBuffer shifted = new UnsafeBuffer(new byte[OFFSET + DelayCounters.LENGTH_BYTES]);
        DelayCounters.clear(buffer, OFFSET);
        for (final long delayNs : delays) {
            DelayCounters.record(buffer, OFFSET, delayNs);
            DelayCounters.record(shifted, OFFSET, delayNs + byNs);
        }
        DelayCounters.shift(buffer, OFFSET, byNs);
        assertEquals(0, buffer.compareTo(shifted));
    }

    @Test
    void shouldHaveNoDeviationOfOneSample() {
        DelayCounters.clear(buffer, OFFSET);
        DelayCounters.record(buffer, OFFSET, 5);
        assertTrue(Double.isNaN(DelayCounters.standardDeviationNs(buffer, OFFSET)));

        DelayCounters.record(buffer, OFFSET, 5);
        assertEquals(0, DelayCounters.standardDeviationNs(buffer, OFFSET));
    }

    @Test
    void shouldNotLoseASmallSpreadBelowALargeOffset() {
        DelayCounters.clear(buffer, OFFSET);
        final long clockOffsetNs = 37_000_000_000L;
        for (int i = 0; i < 1_000_000; i++) {
            DelayCounters.record(buffer, OFFSET, clockOffsetNs + (i & 1));
        }

        assertEquals(0.5, DelayCounters.standardDeviationNs(buffer, OFFSET), 1e-6);
    }

    @Property(tries = 200)
    void shouldAddAsIfEverySampleHadBeenRecordedInOne(
        @ForAll final List<Long> firstNs, @ForAll final List<Long> secondNs) {
        final UnsafeBuffer buffer = new UnsafeBuffer(new byte[3 * DelayCounters.LENGTH_BYTES]);
        final int second = DelayCounters.LENGTH_BYTES;
        final int all = 2 * DelayCounters.LENGTH_BYTES;
        firstNs.forEach((each) -> DelayCounters.record(buffer, 0, each));
        secondNs.forEach((each) -> DelayCounters.record(buffer, second, each));
        firstNs.forEach((each) -> DelayCounters.record(buffer, all, each));
        secondNs.forEach((each) -> DelayCounters.record(buffer, all, each));

        DelayCounters.add(buffer, 0, buffer, second);
        for (int i = 0; i < DelayCounters.LENGTH_BYTES; i += Long.BYTES) {
            assertEquals(buffer.getLong(all + i), buffer.getLong(i), "octet " + i);
        }
    }

    @Property(tries = 200)
    void shouldRecordSeveralAsOneAfterTheOther(@ForAll final List<Long> firstNs, @ForAll final List<Long> thenNs) {
        final UnsafeBuffer buffer = new UnsafeBuffer(new byte[2 * DelayCounters.LENGTH_BYTES]);
        final int single = DelayCounters.LENGTH_BYTES;
        final long[] delaysNs = new long[thenNs.size() + 2];
        for (int i = 0; i < thenNs.size(); i++) {
            delaysNs[i + 1] = thenNs.get(i);
        }
        for (final long delayNs : firstNs) {
            DelayCounters.record(buffer, 0, delayNs);
            DelayCounters.record(buffer, single, delayNs);
        }
        thenNs.forEach((each) -> DelayCounters.record(buffer, single, each));

        DelayCounters.record(buffer, 0, delaysNs, 1, delaysNs.length - 1);
        for (int i = 0; i < DelayCounters.LENGTH_BYTES; i += Long.BYTES) {
            assertEquals(buffer.getLong(single + i), buffer.getLong(i), "octet " + i);
        }
    }
}
