package io.flowlag.exporter.capture.file;

import net.jqwik.api.ForAll;
import net.jqwik.api.Property;
import net.jqwik.api.constraints.IntRange;
import net.jqwik.api.constraints.LongRange;
import org.junit.jupiter.api.Test;

import java.math.BigInteger;

import static org.junit.jupiter.api.Assertions.assertEquals;

class TimestampUnitTest {
    private static final BigInteger NS_PER_S = BigInteger.valueOf(1_000_000_000);

    /** The definition, in numbers of any size. */
    private static long expectedNs(final int resolution, final long offsetSeconds, final long time) {
        final BigInteger base = BigInteger.valueOf((resolution & TimestampUnit.POWER_OF_TWO) == 0 ? 10 : 2);
        final BigInteger perSecond = base.pow(resolution & ~TimestampUnit.POWER_OF_TWO);
        final BigInteger ns = new BigInteger(Long.toUnsignedString(time)).multiply(NS_PER_S).divide(perSecond)
            .add(BigInteger.valueOf(offsetSeconds).multiply(NS_PER_S));
        return ns.max(BigInteger.valueOf(Long.MIN_VALUE)).min(BigInteger.valueOf(Long.MAX_VALUE)).longValueExact();
    }

    private static void assertExact(final int resolution, final long offsetSeconds, final long time) {
        assertEquals(expectedNs(resolution, offsetSeconds, time), new TimestampUnit(resolution, offsetSeconds).toNs(time));
    }

    @Property(tries = 3000)
    void shouldBeExactForAnyUnitAndTime(@ForAll @IntRange(max = 255) final int resolution, @ForAll final long time) {
        assertExact(resolution, 0, time);
    }

    @Property(tries = 3000)
    void shouldBeExactForAnyOffset(
        @ForAll @IntRange(max = 255) final int resolution, @ForAll final long offsetSeconds, @ForAll final long time) {
        assertExact(resolution, offsetSeconds, time);
    }

    @Property(tries = 3000)
    void shouldBeExactWhereTheSumIsNearTheBoundsOf64Bits(
        @ForAll @IntRange(max = 19) final int resolution,
        @ForAll @LongRange(min = -9_223_372_038L, max = 9_223_372_038L) final long offsetSeconds,
        @ForAll final long time) {
        assertExact(resolution, offsetSeconds, time);
        assertExact(resolution | TimestampUnit.POWER_OF_TWO, offsetSeconds, time);
    }

    @Property(tries = 1000)
    void shouldBeExactWhereTheOffsetTakesASecondsCountBackIntoRange(@ForAll @LongRange(max = 20) final long near) {
        assertExact(0, Long.MIN_VALUE, Long.MIN_VALUE + near);
        assertExact(0, -near, near);
        assertExact(9, -9_223_372_037L, near * 100_000_000);
    }

    @Test
    void shouldBeExactAtTheEdges() {
        assertExact(9, 0, Long.MAX_VALUE);
        assertExact(9, 0, Long.MIN_VALUE);
        assertExact(9, -9_223_372_037L, 145_224_192L);
        assertExact(9, -9_223_372_037L, 145_224_191L);
        assertExact(6, 0, Long.MAX_VALUE / 1000);
        assertExact(6, 0, Long.MAX_VALUE / 1000 + 1);
        assertExact(0, Long.MAX_VALUE, -1);
        assertExact(128, 0, 5);
        assertExact(128 + 63, 0, -1);
        assertExact(128 + 64, 0, -1);
        assertExact(255, 0, -1);
    }
}
