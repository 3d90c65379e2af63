package io.flowlag.ipfix.message;

import io.flowlag.common.time.NtpTimestamp;
import io.flowlag.ipfix.support.Records;
import io.flowlag.ipfix.template.Template;
import io.flowlag.ipfix.template.TemplateCatalog;
import net.jqwik.api.ForAll;
import net.jqwik.api.Property;
import net.jqwik.api.constraints.IntRange;
import net.jqwik.api.constraints.LongRange;
import org.agrona.ExpandableArrayBuffer;
import org.junit.jupiter.api.Test;

import java.math.BigInteger;
import java.nio.charset.StandardCharsets;
import java.util.Arrays;
import java.util.HexFormat;
import java.util.List;

import static org.junit.jupiter.api.Assertions.assertArrayEquals;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

class MessageLayoutTest {
    private static final int OFFSET = 3;

    private final ExpandableArrayBuffer buffer = new ExpandableArrayBuffer(256);
    private final TemplateCatalog catalog = new TemplateCatalog(Records.registry());

    private void assertOctets(final String hex) {
        final byte[] expected = HexFormat.of().parseHex(hex.replace(" ", ""));
        final byte[] actual = new byte[expected.length];
        buffer.getBytes(OFFSET, actual);
        assertArrayEquals(expected, actual, HexFormat.of().formatHex(actual));
    }

    @Test
    void shouldWriteMessageHeader() {
        MessageHeader.put(buffer, OFFSET, 0xFFFE, 0xF2345678L, 0x9ABCDEF0L, 0x89ABCDEF);
        assertOctets("000a fffe f2345678 9abcdef0 89abcdef");
        assertEquals(10, MessageHeader.version(buffer, OFFSET));
        assertEquals(0xFFFE, MessageHeader.messageLengthBytes(buffer, OFFSET));
        assertEquals(0xF2345678L, MessageHeader.exportTimeSeconds(buffer, OFFSET));
        assertEquals(0x9ABCDEF0L, MessageHeader.sequenceNumber(buffer, OFFSET));
        assertEquals(0x89ABCDEF, MessageHeader.observationDomainId(buffer, OFFSET));
        assertEquals(16, MessageHeader.LENGTH_BYTES);
    }

    @Test
    void shouldWriteSetHeader() {
        SetHeader.put(buffer, OFFSET, 0xFEDC, 0x8004);
        assertOctets("fedc 8004");
        assertEquals(0xFEDC, SetHeader.setId(buffer, OFFSET));
        assertEquals(0x8004, SetHeader.setLengthBytes(buffer, OFFSET));
    }

    @Test
    void shouldWriteTemplateRecordWithEnterpriseAndVariableFields() {
        final Template template = catalog.template("sourceIPv4Address", "testDelayMeanNanoseconds", "interfaceName");
        assertEquals(20, TemplateRecordEncoder.put(buffer, OFFSET, template));
        assertEquals(20, TemplateRecordEncoder.lengthBytes(template));
        assertOctets("0100 0003 0008 0004 8005 0008 00007ed9 0052 ffff");
    }

    @Test
    void shouldWriteOptionsTemplateRecordWithScopeCount() {
        final Template template = catalog.optionsTemplate(1, "templateId", "flowKeyIndicator");
        assertEquals(14, TemplateRecordEncoder.put(buffer, OFFSET, template));
        assertOctets("0100 0002 0001 0091 0002 00ad 0008");
    }

    @Test
    void shouldWriteVariableLengthsInBothForms() {
        assertEquals(1, VariableLength.put(buffer, OFFSET, 254));
        assertOctets("fe");
        assertEquals(3, VariableLength.put(buffer, OFFSET, 255));
        assertOctets("ff 00ff");
        assertEquals(3, VariableLength.put(buffer, OFFSET, 65535));
        assertOctets("ff ffff");
        assertEquals(3, VariableLength.putLongForm(buffer, OFFSET, 5));
        assertOctets("ff 0005");
        assertEquals(255, VariableLength.encodedLengthBytes(254));
        assertEquals(258, VariableLength.encodedLengthBytes(255));
        assertThrows(IllegalArgumentException.class, () -> VariableLength.put(buffer, OFFSET, 65536));
    }

    @Test
    void shouldWriteValues() {
        Values.putBoolean(buffer, OFFSET, true);
        Values.putBoolean(buffer, OFFSET + 1, false);
        Values.putMacAddress(buffer, OFFSET + 2, 0x0123456789ABL);
        Values.putIpv4Address(buffer, OFFSET + 8, 0xC0A80001);
        Values.putIpv6Address(buffer, OFFSET + 12, 0x20010DB800000000L, 1);
        Values.putFloat(buffer, OFFSET + 28, 1.5, 8);
        Values.putFloat(buffer, OFFSET + 36, -2.0, 4);
        Values.putDateTimeSeconds(buffer, OFFSET + 40, 1_700_000_000_999L);
        Values.putDateTimeMilliseconds(buffer, OFFSET + 44, 1_700_000_000_999L);
        assertOctets("01 02 0123456789ab c0a80001 20010db8000000000000000000000001 3ff8000000000000 c0000000 " +
            "6553f100 0000018bcfe56be7");
    }

    @Test
    void shouldWriteNtpTimes() {
        assertEquals(0x83AA7E80_00000000L, NtpTimestamp.ofEpochNs(0));
        assertEquals(0x83AA7E80_80000000L, NtpTimestamp.ofEpochNs(500_000_000));
        assertEquals(0x83AA7E80_80000000L, NtpTimestamp.ofEpochNsAtMicroseconds(500_000_999));
        assertEquals(0x83AA7E7F_80000000L, NtpTimestamp.ofEpochNs(-500_000_000));
        Values.putDateTimeNanoseconds(buffer, OFFSET, 1);
        Values.putDateTimeMicroseconds(buffer, OFFSET + 8, 1_000);
        assertOctets("83aa7e80 00000005 83aa7e80 00001800");
    }

    @Test
    void shouldPassTheEndOfTheNtpEra() {
        final long eraEndSeconds = 2_085_978_496L;
        assertEquals(0xFFFFFFFFL, NtpTimestamp.ofEpochNs((eraEndSeconds - 1) * 1_000_000_000L) >>> 32);
        assertEquals(0L, NtpTimestamp.ofEpochNs(eraEndSeconds * 1_000_000_000L) >>> 32);
        assertEquals(eraEndSeconds * 1_000_000_000L + 7, NtpTimestamp.toEpochNs(
            NtpTimestamp.ofEpochNs(eraEndSeconds * 1_000_000_000L + 7)));
    }

    @Property
    void shouldGiveBackEveryNanosecondHoweverReadersRound(
        @ForAll @LongRange(min = 0, max = 4_294_967_295_999_999_999L) final long epochNs) {
        final long ntp = NtpTimestamp.ofEpochNs(epochNs);
        assertEquals(epochNs, NtpTimestamp.toEpochNs(ntp));
        final BigInteger scaled = BigInteger.valueOf(ntp & 0xFFFF_FFFFL).multiply(BigInteger.valueOf(1_000_000_000));
        final long nearest = scaled.add(BigInteger.ONE.shiftLeft(31)).shiftRight(32).longValueExact();
        assertEquals(epochNs % 1_000_000_000L, nearest);
    }

    @Property
    void shouldGiveBackEveryMicrosecondWithLowBitsZero(
        @ForAll @LongRange(min = 0, max = 4_294_967_295_999_999_999L) final long epochNs) {
        final long ntp = NtpTimestamp.ofEpochNsAtMicroseconds(epochNs);
        assertEquals(0, ntp & 0x7FF);
        assertEquals(epochNs / 1_000, NtpTimestamp.toEpochNs(ntp) / 1_000);
    }

    @Property
    void shouldWriteIntegersOfAnyLengthBigEndian(
        @ForAll final long value, @ForAll @IntRange(min = 1, max = 8) final int length) {
        Values.putInteger(buffer, OFFSET, value, length);
        final byte[] octets = new byte[length];
        buffer.getBytes(OFFSET, octets);
        final BigInteger modulus = BigInteger.ONE.shiftLeft(8 * length);
        assertEquals(BigInteger.valueOf(value).mod(modulus), new BigInteger(1, octets));
        assertEquals(new BigInteger(1, octets).equals(new BigInteger(Long.toUnsignedString(value))),
            Values.fitsUnsigned(value, length));
        assertEquals(new BigInteger(octets).equals(BigInteger.valueOf(value)), Values.fitsSigned(value, length));
    }

    @Property
    void shouldWriteWellFormedUtf8(@ForAll final String text) {
        final byte[] octets = new byte[Utf8.lengthBytes(text)];
        assertEquals(octets.length, Utf8.put(buffer, OFFSET, text));
        buffer.getBytes(OFFSET, octets);
        final StringBuilder wellFormed = new StringBuilder();
        text.codePoints().forEach(c -> wellFormed.appendCodePoint(Character.getType(c) == Character.SURROGATE ? 0xFFFD : c));
        assertArrayEquals(wellFormed.toString().getBytes(StandardCharsets.UTF_8), octets);
    }

    @Test
    void shouldEncodeRecordsFieldByField() {
        final Template template = catalog.template(0, List.of(
            catalog.field("octetDeltaCount", 4), catalog.field("testDelayMeanNanoseconds"), catalog.field("interfaceName"),
            catalog.field("flowStartSeconds"), catalog.field("flowStartMilliseconds"),
            catalog.field("flowStartNanoseconds"), catalog.field("testDelaySquareSum", 4)));
        final RecordEncoder encoder = new RecordEncoder().wrap(buffer, OFFSET, template);
        encoder.unsigned(0xFFFFFFFFL).signed(-1).string("eth0").timeNs(1_500_000_000L).timeNs(1_500_000_000L)
            .timeNs(1_500_000_000L);
        assertFalse(encoder.isComplete());
        encoder.floating(0.5);
        assertTrue(encoder.isComplete());
        assertEquals(41, encoder.encodedLengthBytes());
        assertOctets("ffffffff ffffffffffffffff 04 65746830 00000001 00000000000005dc 83aa7e8180000000 3f000000");
        assertThrows(IllegalStateException.class, () -> encoder.unsigned(1));
    }

    @Test
    void shouldRefuseValuesThatDoNotSuitTheField() {
        final Template template = catalog.template(0, List.of(catalog.field("octetDeltaCount", 4)));
        final RecordEncoder encoder = new RecordEncoder();
        assertThrows(IllegalArgumentException.class, () -> encoder.wrap(buffer, 0, template).unsigned(0x1_0000_0000L));
        assertThrows(IllegalArgumentException.class, () -> encoder.wrap(buffer, 0, template).signed(1));
        assertThrows(IllegalArgumentException.class, () -> encoder.wrap(buffer, 0, template).ipv4Address(1));
        assertThrows(IllegalArgumentException.class, () -> encoder.wrap(buffer, 0, template).timeNs(1));
        assertThrows(IllegalArgumentException.class, () -> encoder.wrap(buffer, 0, template).string("1"));
        final Template fixed = catalog.template(0, List.of(catalog.field("interfaceName", 4)));
        assertThrows(IllegalArgumentException.class, () -> encoder.wrap(buffer, 0, fixed).string("eth10"));
        assertEquals(4, encoder.wrap(buffer, 0, fixed).string("eth1").encodedLengthBytes());
    }

    @Test
    void shouldEncodeTheRemainingTypes() {
        final Template template = catalog.template("sourceMacAddress", "sourceIPv6Address", "dataRecordsReliability",
            "flowStartMicroseconds");
        final RecordEncoder encoder = new RecordEncoder().wrap(buffer, OFFSET, template);
        encoder.macAddress(0x010203040506L).ipv6Address(1, 2).bool(false).timeNs(1_000);
        assertOctets("010203040506 0000000000000001 0000000000000002 02 83aa7e8000001800");
        final byte[] octets = new byte[300];
        Arrays.fill(octets, (byte)7);
        final Template array = catalog.template("opaqueOctets");
        assertEquals(303, encoder.wrap(buffer, OFFSET, array).octets(octets).encodedLengthBytes());
        assertOctets("ff 012c 0707");
    }
}
