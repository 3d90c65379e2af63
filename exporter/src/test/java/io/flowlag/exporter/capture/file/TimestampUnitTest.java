package io.flowlag.exporter.capture.file;

import net.jqwik.api.ForAll;
import net.jqwik.api.Property;
import net.jqwik.api.constraints.IntRange;
import net.jqwik.api.constraints.LongRange;
import org.junit.jupiter.api.Test;

import java.math.BigInteger;

import static io.flowlag.exporter.capture.PacketSource.MAX_TIMESTAMP_NS;
import static io.flowlag.exporter.capture.PacketSource.MIN_TIMESTAMP_NS;
import static org.junit.jupiter.api.Assertions.assertEquals;

class TimestampUnitTest {
    private static final BigInteger NS_PER_S = BigInteger.valueOf(1_000_000_000);

    /** The definition, in numbers of any size. */
    private static long expectedNs(final int resolution, final long offsetSeconds, final long time) {
        final BigInteger base = BigInteger.valueOf((resolution & TimestampUnit.POWER_OF_TWO) == 0 ? 10 : 2);
        final BigInteger perSecond = base.pow(resolution & ~TimestampUnit.POWER_OF_TWO);
        final BigInteger ns = new BigInteger(Long.toUnsignedString(time)).multiply(NS_PER_S).divide(perSecond)
            .add(BigInteger.valueOf(offsetSeconds).multiply(NS_PER_S));
        return ns.max(BigInteger.valueOf(MIN_TIMESTAMP_NS)).min(BigInteger.valueOf(MAX_TIMESTAMP_NS)).longValueExact();
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
    void shouldBeExactWhereTheSumIsNearTheBounds(
        @ForAll @IntRange(max = 19) final int resolution,
        @ForAll @LongRange(min = -4_611_686_020L, max = 4_611_686_020L) final long offsetSeconds,
        @ForAll final long time) {
        assertExact(resolution, offsetSeconds, time);
        assertExact(resolution | TimestampUnit.POWER_OF_TWO, offsetSeconds, time);
    }

    @Property(tries = 1000)
    void shouldBeExactWhereTheOffsetTakesASecondsCountBackIntoRange(@ForAll @LongRange(max = 20) final long near) {
        assertExact(0, Long.MIN_VALUE, Long.MIN_VALUE + near);
        assertExact(0, -near, near);
        assertExact(9, -4_611_686_019L, near * 100_000_000);
    }

    @Test
    void shouldBeExactAtTheEdges() {
        assertExact(9, 0, Long.MAX_VALUE);
        assertExact(9, 0, Long.MIN_VALUE);
        assertExact(9, 0, MAX_TIMESTAMP_NS);
        assertExact(9, 0, MAX_TIMESTAMP_NS + 1);
        assertExact(9, -4_611_686_019L, 572_612_097L);
        assertExact(9, -4_611_686_019L, 572_612_096L);
        assertExact(6, 0, MAX_TIMESTAMP_NS / 1000);
        assertExact(6, 0, MAX_TIMESTAMP_NS / 1000 + 1);
        assertExact(6, 0, Long.MAX_VALUE / 1000);
        assertExact(6, 0, Long.MAX_VALUE / 1000 + 1);
        assertExact(0, Long.MAX_VALUE, -1);
        assertExact(128, 0, 5);
        assertExact(128 + 63, 0, -1);
        assertExact(128 + 64, 0, -1);
        assertExact(255, 0, -1);
    }
}
