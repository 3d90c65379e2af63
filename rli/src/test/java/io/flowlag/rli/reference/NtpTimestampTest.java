package io.flowlag.rli.reference;

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
        assertEquals(unixNs, NtpTimestamp.toUnixNs(NtpTimestamp.fromUnixNs(unixNs), unixNs + distanceNs));
    }

    @Test
    void shouldCrossTheEndOfTheEraIn2036() {
        final long lastNs = END_OF_ERA_0_SECONDS * NS_PER_SECOND - 1;

        assertEquals(0xFFFF_FFFFL, NtpTimestamp.fromUnixNs(lastNs) >>> 32);
        assertEquals(0L, NtpTimestamp.fromUnixNs(lastNs + 1));
        assertEquals(lastNs + 1, NtpTimestamp.toUnixNs(0L, lastNs));
        assertEquals(lastNs, NtpTimestamp.toUnixNs(NtpTimestamp.fromUnixNs(lastNs), lastNs + 1));
    }

    @Test
    void shouldBeginIn1900() {
        assertEquals(2_208_988_800L << 32 | 1L << 31, NtpTimestamp.fromUnixNs(500_000_000L));
    }
}
