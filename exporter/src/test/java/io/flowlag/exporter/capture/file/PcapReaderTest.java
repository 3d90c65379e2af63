package io.flowlag.exporter.capture.file;

import io.flowlag.exporter.capture.LinkType;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;
import org.junit.jupiter.api.Test;

import java.nio.ByteOrder;
import java.util.List;

import static io.flowlag.exporter.capture.file.CaptureBytes.PCAP_MICROSECONDS;
import static io.flowlag.exporter.capture.file.CaptureBytes.PCAP_MODIFIED;
import static io.flowlag.exporter.capture.file.CaptureBytes.PCAP_NANOSECONDS;
import static io.flowlag.exporter.capture.file.CaptureBytes.packet;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertNull;

class PcapReaderTest {
    private static CaptureBytes capture(final boolean isBigEndian) {
        return new CaptureBytes(isBigEndian ? ByteOrder.BIG_ENDIAN : ByteOrder.LITTLE_ENDIAN);
    }

    private static void assertPackets(final CaptureBytes capture, final String... packets) {
        final Captures.Outcome outcome = Captures.ofStream(capture.bytes());
        assertNull(outcome.damage());
        assertEquals(List.of(packets), outcome.packets());
    }

    @ParameterizedTest
    @ValueSource(booleans = {false, true})
    void shouldReadMicrosecondsInBothByteOrders(final boolean isBigEndian) {
        assertPackets(
            capture(isBigEndian).pcapHeader(PCAP_MICROSECONDS, LinkType.ETHERNET)
                .record(1_700_000_000L, 999_999, packet(60, 7), 1500)
                .record(0xffff_ffffL, 1, packet(1, 8), 1),
            "1700000000999999000 link1 if0 60/1500 7",
            "4294967295000001000 link1 if0 1/1 8");
    }

    @ParameterizedTest
    @ValueSource(booleans = {false, true})
    void shouldReadNanosecondsInBothByteOrders(final boolean isBigEndian) {
        assertPackets(
            capture(isBigEndian).pcapHeader(PCAP_NANOSECONDS, LinkType.RAW).record(5, 999_999_999, packet(20, 69), 20),
            "5999999999 link101 if0 20/20 69");
    }

    @ParameterizedTest
    @ValueSource(booleans = {false, true})
    void shouldReadTheLongerRecordHeadersOfTheModifiedFormat(final boolean isBigEndian) {
        final CaptureBytes capture = capture(isBigEndian).pcapHeader(PCAP_MODIFIED, LinkType.ETHERNET);
        capture.int32(1).int32(2).int32(3).int32(4).int32(42).int16(0x800).raw((byte) 4, (byte) 0).raw(packet(3, 9));
        capture.int32(2).int32(2).int32(1).int32(1).int32(43).int16(0x800).raw((byte) 4, (byte) 0).raw(packet(1, 10));
        assertPackets(capture, "1000002000 link1 if42 3/4 9", "2000002000 link1 if43 1/1 10");
    }

    @Test
    void shouldTakeTheFrameCheckBitsForNoPartOfTheLinkType() {
        assertPackets(capture(false).pcapHeader(PCAP_MICROSECONDS, 0x2400_0000 | LinkType.LINUX_SLL2)
            .record(0, 0, packet(1, 1), 1), "0 link276 if0 1/1 1");
    }

    @Test
    void shouldRaiseAWireLengthBelowTheCapturedOne() {
        assertPackets(capture(false).pcapHeader(PCAP_MICROSECONDS, 1).record(0, 0, packet(9, 1), 0), "0 link1 if0 9/9 1");
    }

    @Test
    void shouldBoundAWireLengthBeyond31Bits() {
        assertPackets(capture(false).pcapHeader(PCAP_MICROSECONDS, 1).record(0, 0, packet(9, 1), 0xffff_fff0L),
            "0 link1 if0 9/2147483647 1");
    }

    @Test
    void shouldTakeACapturedLengthBeyondTheSnapshotLength() {
        assertPackets(capture(false).pcapHeader(PCAP_MICROSECONDS, 1).record(0, 0, packet(262_144, 1), 262_144),
            "0 link1 if0 262144/262144 1");
    }

    @Test
    void shouldTakeARecordWithoutOctets() {
        assertPackets(capture(false).pcapHeader(PCAP_MICROSECONDS, 1).record(3, 0, packet(0, 0), 0),
            "3000000000 link1 if0 0/0 -");
    }

    @Test
    void shouldSwapTheLengthsThatOldVersionsSwapped() {
        final CaptureBytes always = capture(false).pcapHeader(PCAP_MICROSECONDS, 2, 2, 1);
        assertPackets(always.int32(0).int32(0).int32(60).int32(2).raw(packet(2, 5)), "0 link1 if0 2/60 5");
        final CaptureBytes sometimes = capture(false).pcapHeader(PCAP_MICROSECONDS, 2, 3, 1);
        sometimes.int32(0).int32(0).int32(60).int32(2).raw(packet(2, 5));
        sometimes.int32(0).int32(0).int32(2).int32(60).raw(packet(2, 6));
        assertPackets(sometimes, "0 link1 if0 2/60 5", "0 link1 if0 2/60 6");
    }

    @Test
    void shouldKeepAFractionBeyondASecondAsItIs() {
        assertPackets(capture(false).pcapHeader(PCAP_MICROSECONDS, 1).record(10, 0xffff_ffffL, packet(1, 1), 1),
            "4304967295000 link1 if0 1/1 1");
    }
}
