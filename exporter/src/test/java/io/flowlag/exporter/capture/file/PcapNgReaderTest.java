package io.flowlag.exporter.capture.file;

import io.flowlag.exporter.capture.PacketSource;
import org.junit.jupiter.api.Test;

import java.nio.ByteOrder;
import java.util.List;

import static io.flowlag.exporter.capture.file.CaptureBytes.packet;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertNull;
import static org.junit.jupiter.api.Assertions.assertTrue;

class PcapNgReaderTest {
    private static final int CUSTOM_BLOCK = 0x0bad;
    private static final int LOCAL_BLOCK = 0x8000_0001;

    private final CaptureBytes capture = new CaptureBytes(ByteOrder.LITTLE_ENDIAN);

    private void assertPackets(final String... packets) {
        final Captures.Outcome outcome = Captures.ofStream(capture.bytes());
        assertNull(outcome.damage());
        assertEquals(List.of(packets), outcome.packets());
    }

    private void assertDamaged(final int packetCount, final long atOctet, final String reason) {
        final Captures.Outcome outcome = Captures.ofStream(capture.bytes());
        assertEquals(packetCount, outcome.packets().size());
        assertEquals("standard input: damaged at octet " + atOctet + ": " + reason, outcome.damage());
    }

    @Test
    void shouldReadSectionsOfDifferentByteOrder() {
        capture.section().interfaceOf(1, 0).enhancedPacket(0, 5, packet(4, 1), 40);
        capture.useOrder(ByteOrder.BIG_ENDIAN).section().interfaceOf(101, 0).enhancedPacket(0, 6, packet(5, 2), 50);
        assertPackets("5000 link1 if0 4/40 1", "6000 link101 if0 5/50 2");
    }

    @Test
    void shouldGiveEachPacketItsInterfacesLinkTypeAndTimeUnit() {
        capture.section().interfaceOf(1, 0);
        capture.interfaceOf(101, 0, capture.part().option(2, (byte) 'e').option(9, (byte) 9).option(0).bytes());
        capture.interfaceOf(113, 0, capture.part().option(9, (byte) (0x80 | 10)).bytes());
        capture.interfaceOf(276, 0, capture.part().option(9, (byte) 0)
            .option(14, capture.part().int64(1_000_000_000L).bytes()).option(0).bytes());
        capture.enhancedPacket(3, 7, packet(1, 3), 1).enhancedPacket(2, 1536, packet(1, 2), 1)
            .enhancedPacket(1, 0x1_0000_0001L, packet(1, 1), 1).enhancedPacket(0, 1, packet(1, 0), 1);
        assertPackets(
            "1000000007000000000 link276 if3 1/1 3",
            "1500000000 link113 if2 1/1 2",
            "4294967297 link101 if1 1/1 1",
            "1000 link1 if0 1/1 0");
    }

    @Test
    void shouldReadObsoletePacketBlocks() {
        capture.section().interfaceOf(1, 0).interfaceOf(101, 0).obsoletePacket(1, 9, packet(7, 4), 70);
        assertPackets("9000 link101 if1 7/70 4");
    }

    @Test
    void shouldGiveASimplePacketTheTimeBeforeItAndCutItAtTheSnapshotLength() {
        capture.section().interfaceOf(1, 8).simplePacket(packet(8, 1), 99).enhancedPacket(0, 5, packet(1, 2), 1)
            .simplePacket(packet(5, 3), 5);
        assertPackets("0 link1 if0 8/99 1", "5000 link1 if0 1/1 2", "5000 link1 if0 5/5 3");
    }

    @Test
    void shouldSkipBlocksThatHoldNoPackets() {
        capture.section().block(CUSTOM_BLOCK, packet(100, 1)).interfaceOf(1, 0).block(LOCAL_BLOCK, packet(0, 0))
            .enhancedPacket(0, 5, packet(1, 1), 1).block(4, packet(3, 9)).block(5, packet(64, 9)).block(0, packet(1, 1));
        assertPackets("5000 link1 if0 1/1 1");
    }

    @Test
    void shouldClampAndCountTimesBeyondTheBounds() {
        capture.section().interfaceOf(1, 0).enhancedPacket(0, -1, packet(1, 1), 1).enhancedPacket(0, 1, packet(1, 1), 1);
        capture.interfaceOf(1, 0, capture.part().option(14, capture.part().int64(Long.MIN_VALUE).bytes()).bytes())
            .enhancedPacket(1, 1, packet(1, 1), 1);
        assertPackets(PacketSource.MAX_TIMESTAMP_NS + " link1 if0 1/1 1", "1000 link1 if0 1/1 1",
            PacketSource.MIN_TIMESTAMP_NS + " link1 if1 1/1 1");
        assertEquals(2, Captures.ofStream(capture.bytes()).clampedCount());
    }

    @Test
    void shouldBelieveAWrongLengthAtTheEndOfABlockIfAnotherBlockFollows() {
        capture.section().interfaceOf(1, 0);
        capture.int32(6).int32(36).int32(0).int32(0).int32(5).int32(4).int32(4).raw(packet(4, 1)).int32(99);
        capture.enhancedPacket(0, 6, packet(1, 2), 1);
        capture.int32(5).int32(12).int32(0);
        assertPackets("5000 link1 if0 4/4 1", "6000 link1 if0 1/1 2");
    }

    @Test
    void shouldEndAtABlockWithAWrongLengthAtItsEndIfNoBlockFollows() {
        capture.section().interfaceOf(1, 0).enhancedPacket(0, 6, packet(1, 2), 1);
        final int atOctet = capture.bytes().length;
        capture.int32(6).int32(36).int32(0).int32(0).int32(5).int32(4).int32(4).raw(packet(4, 1)).int32(99).int64(-1);
        assertDamaged(1, atOctet, "a block whose length at its end is not that at its head, with no block behind");
    }

    @Test
    void shouldEndAtABlockOfImpossibleLength() {
        capture.section();
        final int atOctet = capture.bytes().length;
        capture.int32(CUSTOM_BLOCK).int32(8).int32(8);
        assertDamaged(0, atOctet, "a block of the impossible length 8");
        final CaptureBytes odd = new CaptureBytes(ByteOrder.BIG_ENDIAN).section().int32(CUSTOM_BLOCK).int32(13).int64(0);
        assertTrue(Captures.ofStream(odd.bytes()).damage().endsWith("a block of the impossible length 13"));
    }

    @Test
    void shouldEndAtAPacketOfAnInterfaceThatItsSectionDoesNotDescribe() {
        capture.section().interfaceOf(1, 0).section();
        assertDamagedBy("a packet of interface 0, which is not described", capture.part().enhancedPacket(0, 1, packet(1, 1), 1));
        assertDamagedBy("a simple packet before any interface is described", capture.part().simplePacket(packet(1, 1), 1));
        assertDamagedBy("a packet of interface 4294967295, which is not described",
            capture.part().enhancedPacket(-1, 1, packet(1, 1), 1));
    }

    @Test
    void shouldEndAtAPacketThatItsBlockCannotHold() {
        capture.section().interfaceOf(1, 0);
        assertDamagedBy("a packet of 5 captured octets in a block of 36", capture.part().block(6,
            capture.part().int32(0).int32(0).int32(0).int32(5).int32(5).raw(packet(4, 0)).bytes()));
        assertDamagedBy("a packet of 4294967295 captured octets, more than 262144", capture.part().block(6,
            capture.part().int32(0).int32(0).int32(0).int32(-1).int32(5).raw(packet(4, 0)).bytes()));
        assertDamagedBy("a packet of 9 captured octets in a block of 24", capture.part().simplePacket(packet(8, 0), 9));
        assertDamagedBy("a block of the impossible length 28", capture.part().block(6, packet(16, 0)));
        assertDamagedBy("a block of 16777228 octets, more than 16777216", capture.part().block(6, packet(1 << 24, 0)));
    }

    @Test
    void shouldEndAtAnInterfaceWithImpossibleOptions() {
        capture.section();
        assertDamagedBy("option 9 of an interface has the impossible length 2",
            capture.part().interfaceOf(1, 0, capture.part().option(9, (byte) 6, (byte) 6).bytes()));
        assertDamagedBy("option 14 of an interface has the impossible length 4",
            capture.part().interfaceOf(1, 0, capture.part().option(14, new byte[4]).bytes()));
        assertDamagedBy("option 2 of an interface has the impossible length 65535",
            capture.part().interfaceOf(1, 0, capture.part().int16(2).int16(-1).int32(0).bytes()));
        assertDamagedBy("option 9 of an interface has the impossible length 0",
            capture.part().interfaceOf(1, 0, capture.part().int16(9).int16(0).bytes()));
    }

    @Test
    void shouldEndAtASectionThatCannotBeUnderstood() {
        capture.section();
        assertDamagedBy("a section header without byte-order magic", capture.part().block(0x0a0d0d0a, packet(16, 1)));
        assertDamagedBy("a section of unknown version 2", capture.part()
            .block(0x0a0d0d0a, capture.part().int32(0x1a2b3c4d).int16(2).int16(0).int64(-1).bytes()));
    }

    private void assertDamagedBy(final String reason, final CaptureBytes addition) {
        final byte[] before = capture.bytes();
        final Captures.Outcome outcome = Captures.ofStream(CaptureBytes.joined(before, addition.bytes()));
        assertEquals("standard input: damaged at octet " + before.length + ": " + reason, outcome.damage());
    }
}
