package io.flowlag.common.time;

import net.jqwik.api.ForAll;
import net.jqwik.api.Property;
import net.jqwik.api.constraints.LongRange;
import org.junit.jupiter.api.Test;

import static org.junit.jupiter.api.Assertions.assertEquals;

class NtpTimestampTest {
    private static final long NS_PER_SECOND = 1_000_000_000L;
    private static final long YEAR_NS = 31_557_600L * NS_PER_SECOND;
    private static final long END_OF_ERA_0_SECONDS = (1L << 32) - 2_208_988_800L;

    @Property
    void shouldKeepEachNanosecond(
        @ForAll @LongRange(min = -2_000_000_000_000_000_000L, max = 4_000_000_000_000_000_000L) final long unixNs,
        @ForAll @LongRange(min = -60 * YEAR_NS, max = 60 * YEAR_NS) final long distanceNs) {
        assertEquals(unixNs, NtpTimestamp.toEpochNs(NtpTimestamp.ofEpochNs(unixNs), unixNs + distanceNs));
    }

    @Test
    void shouldCrossTheEndOfTheEraIn2036() {
        final long lastNs = END_OF_ERA_0_SECONDS * NS_PER_SECOND - 1;

        assertEquals(0xFFFF_FFFFL, NtpTimestamp.ofEpochNs(lastNs) >>> 32);
        assertEquals(0L, NtpTimestamp.ofEpochNs(lastNs + 1));
        assertEquals(lastNs + 1, NtpTimestamp.toEpochNs(0L, lastNs));
        assertEquals(lastNs, NtpTimestamp.toEpochNs(NtpTimestamp.ofEpochNs(lastNs), lastNs + 1));
    }

    @Test
    void shouldBeginIn1900() {
        assertEquals(2_208_988_800L << 32 | 1L << 31, NtpTimestamp.ofEpochNs(500_000_000L));
    }
}
