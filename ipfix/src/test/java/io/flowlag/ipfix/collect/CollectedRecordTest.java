package io.flowlag.ipfix.collect;

import io.flowlag.common.time.NtpTimestamp;
import net.jqwik.api.ForAll;
import net.jqwik.api.Property;
import net.jqwik.api.constraints.LongRange;
import org.junit.jupiter.api.Test;

import java.time.Instant;
import java.util.ArrayList;
import java.util.List;
import java.util.function.Function;

import static io.flowlag.ipfix.collect.Octets.message;
import static io.flowlag.ipfix.collect.Octets.octets;
import static io.flowlag.ipfix.collect.Octets.set;
import static io.flowlag.ipfix.collect.Octets.template;
import static org.junit.jupiter.api.Assertions.assertEquals;

/** What the typed getters make of octets (RFC 7011 section 6). */
class CollectedRecordTest {
    private static final long NTP_ERA_END_UNIX_SECONDS = 2_085_978_496L;

    /** The one field of one record, of the given element. */
    private static Object read(
        final int elementId,
        final Octets value,
        final long exportTimeSeconds,
        final Function<CollectedRecord, Object> getter) {
        final Collection collection = new Collection();
        final List<Object> found = new ArrayList<>();
        collection.inspection = record -> found.add(getter.apply(record));
        collection.send(collection.open(SessionKind.TCP), message((int)exportTimeSeconds, 0, 1,
            set(2, template(256, elementId, value.toBytes().length)), set(256, value)));
        return found.get(0);
    }

    private static Object read(
        final int elementId, final Octets value, final Function<CollectedRecord, Object> getter) {
        return read(elementId, value, 1_700_000_000L, getter);
    }

    private static void assertReads(final Object expected, final Object actual) {
        if (expected instanceof Double || !(expected instanceof Number)) {
            assertEquals(expected, actual);
        } else {
            assertEquals(((Number)expected).longValue(), ((Number)actual).longValue());
        }
    }

    @Test
    void shouldReadUnsignedIntegersOfEveryLength() {
        for (int lengthBytes = 1; lengthBytes <= 8; lengthBytes++) {
            final Octets value = octets().u8(0x80);
            for (int i = 1; i < lengthBytes; i++) {
                value.u8(i);
            }
            long expected = 0x80;
            for (int i = 1; i < lengthBytes; i++) {
                expected = expected * 256 + i;
            }
            assertReads(expected, read(1, value, record -> record.unsigned(0)));
            assertReads(true, read(1, value, record -> record.isTyped(0)));
        }
    }

    @Test
    void shouldKeepTheSignOfReducedIntegers() {
        // 434 mibObjectValueInteger is a signed32.
        assertReads(-2L, read(434, octets().u8(0xfe), record -> record.signed(0)));
        assertReads(-2L, read(434, octets().u16(0xfffe), record -> record.signed(0)));
        assertReads(-2L, read(434, octets().u8(0xff).u16(0xfffe), record -> record.signed(0)));
        assertReads(Integer.MIN_VALUE, read(434, octets().u32(0x8000_0000L), record -> record.signed(0)));
        assertReads(126L, read(434, octets().u8(126), record -> record.signed(0)));
    }

    @Test
    void shouldReadFloatsInFullAndReduced() {
        // 320 absoluteError is a float64.
        assertReads(-1.25, read(320, octets().u64(Double.doubleToLongBits(-1.25)), record -> record.floating(0)));
        assertReads(0.5, read(320, octets().u32(Float.floatToIntBits(0.5f)), record -> record.floating(0)));
        assertReads(true, read(320, octets().u16(1), record -> Double.isNaN(record.floating(0))));
        assertReads(false, read(320, octets().u16(1), record -> record.isTyped(0)));
    }

    @Test
    void shouldReadTruthAddressesAndText() {
        // 276 dataRecordsReliability is a boolean, 56 sourceMacAddress, 27 sourceIPv6Address, 82 interfaceName.
        assertReads(true, read(276, octets().u8(1), record -> record.bool(0)));
        assertReads(false, read(276, octets().u8(2), record -> record.bool(0)));
        assertReads(0x0102030405ffL, read(56, octets().hex("0102030405ff"), record -> record.macAddress(0)));
        assertReads(0xc0000201, read(8, octets().hex("c0000201"), record -> record.ipv4Address(0)));
        final Octets ipv6 = octets().hex("20010db8000000000000000000000001");
        assertReads(0x20010db800000000L, read(27, ipv6, record -> record.ipv6High(0)));
        assertReads(1L, read(27, ipv6, record -> record.ipv6Low(0)));
        assertReads("eth0", read(82, octets().text("eth0").u32(0), record -> record.string(0)));
        assertReads("\uFFFD", read(82, octets().u8(0xff), record -> record.string(0)));
    }

    @Test
    void shouldNotTrustTypesWithImpossibleLengths() {
        assertReads(false, read(8, octets().hex("c00002"), record -> record.isTyped(0)));
        assertReads(false, read(152, octets().u32(1), record -> record.isTyped(0)));
        assertReads(false, read(4, octets().u16(6), record -> record.isTyped(0)));
    }

    @Test
    void shouldReadTimesOfAllKinds() {
        final long seconds = Instant.parse("2026-11-21T08:00:00Z").getEpochSecond();
        final long ntp = (seconds + 2_208_988_800L) << 32;
        assertReads(seconds * 1_000_000_000L, read(150, octets().u32(seconds), record -> record.timestampNs(0)));
        assertReads(seconds * 1_000_000_000L + 7_000_000L,
            read(152, octets().u64(seconds * 1000 + 7), record -> record.timestampNs(0)));
        assertReads(seconds * 1_000_000_000L + 500_000_000L,
            read(154, octets().u64(ntp | 0x8000_0000L), record -> record.timestampNs(0)));
        assertReads(seconds * 1_000_000_000L + 500_000_000L,
            read(156, octets().u64(ntp | 0x8000_0000L), record -> record.timestampNs(0)));
        assertReads(Long.MAX_VALUE, read(152, octets().u64(-1), record -> record.timestampNs(0)));
        assertReads(0, read(1, octets().u64(5), record -> record.timestampNs(0)));
    }

    @Test
    void shouldIgnoreTheLowBitsOfMicroseconds() {
        final long ntp = 2_208_988_800L << 32;
        assertReads(1_000L, read(154, octets().u64(ntp | 5 << 11 - 1 | 4096), 0, record -> record.timestampNs(0)));
        assertReads(0L, read(154, octets().u64(ntp | 0x7ff), 0, record -> record.timestampNs(0)));
    }

    @Test
    void shouldReadTimesOnBothSidesOfTheEndOfTheNtpEra() {
        final long[] offsetsSeconds = {-1, 0, 1};
        for (final long offset : offsetsSeconds) {
            final long seconds = NTP_ERA_END_UNIX_SECONDS + offset;
            final long ntp = (seconds + 2_208_988_800L & 0xffff_ffffL) << 32;
            for (final long exportOffset : offsetsSeconds) {
                assertReads(seconds * 1_000_000_000L, read(156, octets().u64(ntp),
                    NTP_ERA_END_UNIX_SECONDS + exportOffset, record -> record.timestampNs(0)));
            }
        }
    }

    @Property(tries = 300)
    void shouldReadBackEveryNanosecond(@ForAll @LongRange(min = 0, max = 4_000_000_000_000_000_000L) final long epochNs) {
        final Octets value = octets().u64(NtpTimestamp.ofEpochNs(epochNs));
        assertReads(epochNs, read(156, value, epochNs / 1_000_000_000L, record -> record.timestampNs(0)));
        final Octets micros = octets().u64(NtpTimestamp.ofEpochNsAtMicroseconds(epochNs));
        assertReads(epochNs / 1000 * 1000,
            read(154, micros, epochNs / 1_000_000_000L, record -> record.timestampNs(0)));
    }
}
