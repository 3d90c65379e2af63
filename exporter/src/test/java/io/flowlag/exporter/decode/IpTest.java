package io.flowlag.exporter.decode;

import io.flowlag.exporter.capture.LinkType;
import io.flowlag.exporter.status.CounterId;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

import static io.flowlag.exporter.decode.Frames.*;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertTrue;

class IpTest {
    private static final String FLOW_4 = "4,192.0.2.1,198.51.100.2,17,1000,2000";
    private static final String FLOW_6 = "6,2001:db8::1,2001:db8:1::2,17,1000,2000";
    private static final byte[] UDP = udp(1000, 2000, payload(4));

    private final Decoding decoding = new Decoding();

    private int ipLengthBytes() {
        return PacketDescriptor.ipLengthBytes(decoding.descriptor, 0);
    }

    @Test
    void shouldDescribeAnIpv4Packet() {
        decoding.ethernet(join(ethernet(0x0800, ipv4(17, UDP)), new byte[14]));
        assertEquals(Decoding.TIMESTAMP_NS, PacketDescriptor.timestampNs(decoding.descriptor, 0));
        assertEquals(Decoding.INTERFACE_ID, PacketDescriptor.interfaceId(decoding.descriptor, 0));
        assertEquals(4, PacketDescriptor.ipVersion(decoding.descriptor, 0));
        assertEquals(0, PacketDescriptor.sourceHigh(decoding.descriptor, 0));
        assertEquals(0xC0000201L, PacketDescriptor.sourceLow(decoding.descriptor, 0));
        assertEquals(0xC6336402L, PacketDescriptor.destinationLow(decoding.descriptor, 0));
        assertEquals(0xB8, PacketDescriptor.ipClassOfService(decoding.descriptor, 0));
        assertEquals(0x3F, PacketDescriptor.ttl(decoding.descriptor, 0));
        assertEquals(32, ipLengthBytes());
        assertEquals(60, PacketDescriptor.wireLengthBytes(decoding.descriptor, 0));
        assertEquals(1, PacketDescriptor.segmentCount(decoding.descriptor, 0));
        assertEquals(0, PacketDescriptor.flags(decoding.descriptor, 0));
    }

    @Test
    void shouldDescribeAnIpv6Packet() {
        decoding.ip(ipv6(17, UDP));
        assertEquals(6, PacketDescriptor.ipVersion(decoding.descriptor, 0));
        assertEquals(0x20010DB800000000L, PacketDescriptor.sourceHigh(decoding.descriptor, 0));
        assertEquals(1, PacketDescriptor.sourceLow(decoding.descriptor, 0));
        assertEquals(0x20010DB800010000L, PacketDescriptor.destinationHigh(decoding.descriptor, 0));
        assertEquals(2, PacketDescriptor.destinationLow(decoding.descriptor, 0));
        assertEquals(0xB8, PacketDescriptor.ipClassOfService(decoding.descriptor, 0));
        assertEquals(0x3E, PacketDescriptor.ttl(decoding.descriptor, 0));
        assertEquals(52, ipLengthBytes());
    }

    @Test
    void shouldLeaveNothingOfTheLastPacketInADescriptor() {
        decoding.vlanTag = 0x8100_0005;
        decoding.ethernet(ethernet(0x86DD, ipv6(44, ipv6Fragment(6, 1, 9, tcp(1, 2, 0x12, payload(4))))));
        decoding.vlanTag = -1;
        decoding.ip(ipv4(47, hex("0000 9999")));
        assertEquals(0, PacketDescriptor.flags(decoding.descriptor, 0));
        assertEquals(0, PacketDescriptor.vlanId(decoding.descriptor, 0));
        assertEquals(0, PacketDescriptor.tcpControlBits(decoding.descriptor, 0));
        assertEquals("4,192.0.2.1,198.51.100.2,47,0,0", DecodedFlows.key(decoding.descriptor));
    }

    @Test
    void shouldSkipIpv4Options() {
        final byte[] packet = header("46000024 12344000 3f11abcd" + SOURCE_IPV4 + DESTINATION_IPV4 + "94040000", UDP);
        assertEquals(FLOW_4, decoding.ip(packet));
        assertEquals(36, ipLengthBytes());
    }

    @Test
    void shouldMeterAPacketWhoseOptionsTheCaptureCut() {
        final byte[] packet = header("46000024 12344000 3f11abcd" + SOURCE_IPV4 + DESTINATION_IPV4 + "94040000", UDP);
        assertEquals("4,192.0.2.1,198.51.100.2,17,0,0", decoding.decode(LinkType.RAW, cut(packet, 22), packet.length));
        assertEquals(1, decoding.count(CounterId.TRANSPORT_TRUNCATED));
    }

    @Test
    void shouldRefuseBrokenIpv4Headers() {
        final byte[] packet = ipv4(17, UDP);
        for (int i = 1; i < 20; i++) {
            assertEquals(CounterId.REFUSED_IP_TRUNCATED, decoding.ipResult(cut(packet, i)));
        }
        assertEquals(CounterId.REFUSED_IP_TRUNCATED, decoding.ipResult(new byte[0]));
        assertEquals(CounterId.REFUSED_IP_VERSION, decoding.ipResult(with(packet, 0, 0x55)));
        assertEquals(CounterId.REFUSED_IP_HEADER_LENGTH, decoding.ipResult(with(packet, 0, 0x44)));
        assertEquals(CounterId.REFUSED_IP_TOTAL_LENGTH, decoding.ipResult(with(packet, 3, 19)));
        assertEquals(CounterId.REFUSED_IP_TOTAL_LENGTH, decoding.ipResult(with(packet, 0, 0x49)));
    }

    @Test
    void shouldBelieveALengthThatTheWireDidNotCarry() {
        assertEquals(FLOW_4, decoding.ip(with(ipv4(17, UDP), 2, 0x12)));
        assertEquals(0x1220, ipLengthBytes());
    }

    @Test
    void shouldTakeTheLengthOfOffloadedPacketsFromTheWire() {
        assertEquals(FLOW_4, decoding.decode(LinkType.ETHERNET, with(ethernet(0x0800, ipv4(17, UDP)), 17, 0), 40_014));
        assertEquals(40_000, ipLengthBytes());
    }

    @Test
    void shouldSkipIpv6ExtensionHeaders() {
        final byte[] authentication = header("%02x 02 0000 00000001 00000002 12345678", UDP, 17);
        final byte[] packet = ipv6(0, extension(43, extension(44, ipv6Fragment(60, 0, 5, extension(51, authentication)))));
        assertEquals(FLOW_6, decoding.ip(packet));
        assertFalse(decoding.hasFlag(PacketDescriptor.FLAG_FRAGMENT));
        assertEquals(packet.length, ipLengthBytes());
    }

    @ParameterizedTest
    @ValueSource(ints = {0, 43, 60, 135, 139, 140})
    void shouldSkipEachExtensionHeader(final int extensionHeader) {
        assertEquals(FLOW_6, decoding.ip(ipv6(extensionHeader, extension(17, UDP))));
    }

    @Test
    void shouldBoundTheChainOfExtensionHeaders() {
        byte[] chain = extension(17, UDP);
        for (int i = 1; i < Ipv6.MAX_EXTENSION_HEADERS; i++) {
            chain = extension(60, chain);
        }
        assertEquals(FLOW_6, decoding.ip(ipv6(60, chain)));
        assertEquals(CounterId.REFUSED_IPV6_EXTENSION, decoding.ipResult(ipv6(60, extension(60, chain))));
    }

    @Test
    void shouldRefuseBrokenIpv6Headers() {
        final byte[] packet = ipv6(60, extension(17, UDP));
        for (int i = 1; i < 40; i++) {
            assertEquals(CounterId.REFUSED_IP_TRUNCATED, decoding.ipResult(cut(packet, i)));
        }
        assertEquals(CounterId.REFUSED_IPV6_EXTENSION, decoding.ipResult(with(packet, 41, 200)));
    }

    @Test
    void shouldTakeTheLastProtocolThatACutChainNames() {
        final byte[] packet = ipv6(0, extension(60, extension(17, UDP)));
        assertEquals("6,2001:db8::1,2001:db8:1::2,0,0,0", decoding.decode(LinkType.RAW, cut(packet, 47), packet.length));
        assertEquals("6,2001:db8::1,2001:db8:1::2,60,0,0", decoding.decode(LinkType.RAW, cut(packet, 55), packet.length));
        assertEquals("6,2001:db8::1,2001:db8:1::2,17,0,0", decoding.decode(LinkType.RAW, cut(packet, 56), packet.length));
        assertEquals(1, decoding.count(CounterId.TRANSPORT_TRUNCATED));
    }

    @Test
    void shouldCountAJumbogramAsItsHeaderTellsOrAsTheWireCarried() {
        final byte[] jumbogram = header("60000000 0000 00 40" + SOURCE_IPV6 + DESTINATION_IPV6 + "1100 c204 00011170", UDP);
        assertEquals(FLOW_6, decoding.decode(LinkType.RAW, jumbogram, 70_040));
        assertEquals(40, ipLengthBytes());

        final Decoding wholeLengths = new Decoding(new PacketDecoder.Context().jumboLengths(true));
        assertEquals(FLOW_6, wholeLengths.decode(LinkType.RAW, jumbogram, 70_040));
        assertEquals(70_040, PacketDescriptor.ipLengthBytes(wholeLengths.descriptor, 0));
        final byte[] withoutOption = header("60000000 0000 11 40" + SOURCE_IPV6 + DESTINATION_IPV6, UDP);
        assertEquals(FLOW_6, wholeLengths.decode(LinkType.RAW, withoutOption, 70_040));
        assertEquals(70_040, PacketDescriptor.ipLengthBytes(wholeLengths.descriptor, 0));
    }

    /**
     * As the kernel gives a joined packet of more than 65535 octets on a VLAN: without length, and with the tag out of the
     * frame.
     */
    @Test
    void shouldNotTakeATagOutsideOfTheFrameForOctetsOfThePacket() {
        final byte[] frame = ethernet(0x0800, with(ipv4(17, UDP), 3, 0));
        decoding.vlanTag = 0x8100 << 16 | 7;
        assertEquals(FLOW_4, decoding.decode(LinkType.ETHERNET, frame, 14 + 4 + 70_000));
        assertEquals(70_000, ipLengthBytes());
    }

    @Test
    void shouldNotTakePaddingForThePayloadOfAnEmptyPacket() {
        assertEquals("6,2001:db8::1,2001:db8:1::2,17,0,0", decoding.ip(join(ipv6(17, new byte[0]), UDP)));
        assertEquals(40, ipLengthBytes());
        assertTrue(decoding.count(CounterId.TRANSPORT_TRUNCATED) == 1);
    }
}
