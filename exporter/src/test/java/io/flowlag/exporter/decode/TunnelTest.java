package io.flowlag.exporter.decode;

import io.flowlag.exporter.capture.LinkType;
import io.flowlag.exporter.status.CounterId;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.MethodSource;

import java.util.stream.Stream;

import static io.flowlag.exporter.decode.Frames.*;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertTrue;

class TunnelTest {
    private static final byte[] IPV4 = header(
        "45000020 00014000 4011abcd 0a000001 0a000002", udp(1000, 2000, payload(4)));
    private static final byte[] IPV6 = header(
        "60000000 000c 11 40 fd000000000000000000000000000001 fd000000000000000000000000000002",
        udp(1000, 2000, payload(4)));
    private static final byte[] ARP = header("0001 0800 06 04 0001", new byte[20]);
    private static final String INNER_4 = "4,10.0.0.1,10.0.0.2,17,1000,2000";
    private static final String INNER_6 = "6,fd00::1,fd00::2,17,1000,2000";
    private static final String OUTER = "4,192.0.2.1,198.51.100.2,";
    private static final String OUTER_6 = "6,2001:db8::1,2001:db8:1::2,";

    private final Decoding decoding = new Decoding(new PacketDecoder.Context().innerTunnels(true));

    private static byte[] vxlan(final byte[] frame) {
        return udp(50000, 4789, header("08000000 00001200", frame));
    }

    private static byte[] geneve(final int type, final byte[] inner) {
        return udp(50000, 6081, header("0200 %04x 00001200 0102 0301 11223344", inner, type));
    }

    private static byte[] gtp(final String header, final byte[] inner) {
        return udp(2152, 2152, header(header, inner));
    }

    static Stream<byte[]> tunnelsOfIpv4() {
        return Stream.of(
            ipv4(4, IPV4),
            ipv6(4, IPV4),
            ipv6(60, extension(4, IPV4)),
            ipv4(47, header("0000 0800", IPV4)),
            ipv4(47, header("2000 0800 00000007", IPV4)),
            ipv4(47, header("b000 0800 abcd0000 00000007 00000001", IPV4)),
            ipv4(47, header("3081 880b 00000007 00000001 00000002 ff03 0021", IPV4)),
            ipv4(47, header("0000 6558", ethernet(0x8100, vlan(3, 0x0800, IPV4)))),
            ipv4(47, header("0000 8847", mpls(17, true, IPV4))),
            ipv4(47, header("0000 88be", ethernet(0x0800, IPV4))),
            ipv4(47, header("1000 88be 00000001 1001000000000000", ethernet(0x0800, IPV4))),
            ipv4(47, header("1000 22eb 00000001 200100000000000000000000", ethernet(0x0800, IPV4))),
            ipv4(47, header("1000 22eb 00000001 200100000000000000000001 0000000000000000", ethernet(0x0800, IPV4))),
            ipv4(17, vxlan(ethernet(0x0800, IPV4))),
            ipv4(17, vxlan(ethernet(0x8100, vlan(5, 0x0800, IPV4)))),
            ipv6(17, vxlan(ethernet(0x0800, IPV4))),
            ipv4(17, geneve(0x6558, ethernet(0x0800, IPV4))),
            ipv4(17, geneve(0x0800, IPV4)),
            ipv4(17, gtp("30ff 0020 00000001", IPV4)),
            ipv4(17, gtp("32ff 0024 00000001 0001 00 00", IPV4)),
            ipv4(17, gtp("34ff 002c 00000001 0001 00 85 01 1000 85 01 1000 00", IPV4)),
            ipv4(47, header("0000 86dd", ipv6(17, vxlan(ethernet(0x0800, IPV4))))));
    }

    static Stream<byte[]> tunnelsOfIpv6() {
        return Stream.of(
            ipv4(41, IPV6),
            ipv6(41, IPV6),
            ipv4(47, header("0000 86dd", IPV6)),
            ipv4(17, vxlan(ethernet(0x86DD, IPV6))),
            ipv4(17, geneve(0x86DD, IPV6)),
            ipv4(17, gtp("30ff 0034 00000001", IPV6)));
    }

    @ParameterizedTest
    @MethodSource("tunnelsOfIpv4")
    void shouldFindTheInnermostIpv4Packet(final byte[] packet) {
        assertEquals(INNER_4, decoding.ip(packet));
        assertEquals(IPV4.length, PacketDescriptor.ipLengthBytes(decoding.descriptor, 0));
        assertTrue(decoding.hasFlag(PacketDescriptor.FLAG_INNER));
        assertFalse(decoding.hasFlag(PacketDescriptor.FLAG_VLAN), "tags inside of a tunnel are not the frame's");
        assertEquals(0, decoding.count(CounterId.TUNNEL_BROKEN));
    }

    @ParameterizedTest
    @MethodSource("tunnelsOfIpv6")
    void shouldFindTheInnermostIpv6Packet(final byte[] packet) {
        assertEquals(INNER_6, decoding.ip(packet));
        assertEquals(IPV6.length, PacketDescriptor.ipLengthBytes(decoding.descriptor, 0));
        assertTrue(decoding.hasFlag(PacketDescriptor.FLAG_INNER));
    }

    @ParameterizedTest
    @MethodSource("tunnelsOfIpv4")
    void shouldKeepToTheOuterPacketUnlessTold(final byte[] packet) {
        final Decoding outer = new Decoding();
        assertTrue(outer.ip(packet).contains(packet[0] >> 4 == 4 ? "192.0.2.1" : "2001:db8::1"));
        assertFalse(outer.hasFlag(PacketDescriptor.FLAG_INNER));
    }

    @ParameterizedTest
    @MethodSource("tunnelsOfIpv4")
    void shouldKeepTheLastWholePacketWhereverTheTunnelIsCut(final byte[] packet) {
        for (int i = packet[0] >> 4 == 4 ? 28 : 56; i < packet.length; i++) {
            decoding.decode(LinkType.RAW, cut(packet, i), packet.length);
        }
        for (int i = packet.length - IPV4.length + 20; i < packet.length; i++) {
            assertTrue(decoding.decode(LinkType.RAW, cut(packet, i), packet.length).startsWith("4,10.0.0.1,10.0.0.2"));
        }
    }

    static Stream<byte[]> brokenTunnels() {
        return Stream.of(
            ipv4(4, with(IPV4, 0, 0x43)),
            ipv4(4, IPV6),
            ipv4(4, new byte[0]),
            ipv4(47, hex("0000")),
            ipv4(47, header("4000 0800 00000000", IPV4)),
            ipv4(47, header("0002 0800", IPV4)),
            ipv4(47, hex("2000 0800 0000")),
            ipv4(47, header("0000 0800", IPV6)),
            ipv4(47, hex("1000 88be 00000001 1001")),
            ipv4(47, hex("1000 22eb 00000001 1001")),
            ipv4(17, udp(1, 4789, hex("08000000"))),
            ipv4(17, udp(1, 4789, header("00000000 00001200", ethernet(0x0800, IPV4)))),
            ipv4(17, udp(1, 4789, header("08000000 00001200", hex("020202")))),
            ipv4(17, udp(1, 6081, hex("0000"))),
            ipv4(17, udp(1, 6081, header("4000 0800 00000000", IPV4))),
            ipv4(17, udp(1, 6081, hex("3f00 0800 00000000"))),
            ipv4(17, gtp("30ff 0020", new byte[0])),
            ipv4(17, gtp("10ff 0020 00000001", IPV4)),
            ipv4(17, gtp("34ff 0020 00000001 0000", new byte[0])),
            ipv4(17, gtp("34ff 0020 00000001 0000 00 85", new byte[0])),
            ipv4(17, gtp("34ff 0020 00000001 0000 00 85 00", IPV4)));
    }

    @ParameterizedTest
    @MethodSource("brokenTunnels")
    void shouldKeepAndCountTheOuterPacketOfABrokenTunnel(final byte[] packet) {
        assertTrue(decoding.ip(packet).startsWith(OUTER));
        assertFalse(decoding.hasFlag(PacketDescriptor.FLAG_INNER));
        assertEquals(packet.length, PacketDescriptor.ipLengthBytes(decoding.descriptor, 0));
        assertEquals(1, decoding.count(CounterId.TUNNEL_BROKEN));
    }

    static Stream<byte[]> tunnelsOfOtherThings() {
        return Stream.of(
            ipv4(47, header("0000 0806", ARP)),
            ipv4(47, hex("2081 880b 0000 0007 00000009")),
            ipv4(17, vxlan(ethernet(0x0806, ARP))),
            ipv4(17, geneve(0x0806, ARP)),
            ipv4(17, gtp("3201 0004 00000000 0001 00 00", new byte[0])),
            ipv4(17, udp(4789, 5000, payload(40))),
            ipv4(1, icmp(3, 3, IPV4)));
    }

    @ParameterizedTest
    @MethodSource("tunnelsOfOtherThings")
    void shouldMeterTheOuterPacketWhereNoIpIsInside(final byte[] packet) {
        assertTrue(decoding.ip(packet).startsWith(OUTER));
        assertFalse(decoding.hasFlag(PacketDescriptor.FLAG_INNER));
        assertEquals(0, decoding.count(CounterId.TUNNEL_BROKEN));
    }

    @Test
    void shouldNotEnterFragments() {
        assertEquals(OUTER + "4,0,0", decoding.ip(ipv4(1, 0x2000, 4, IPV4)));
        assertEquals(OUTER_6 + "4,0,0", decoding.ip(ipv6(44, ipv6Fragment(4, 1, 1, IPV4))));
        assertEquals(0, decoding.count(CounterId.TUNNEL_BROKEN));
    }

    @Test
    void shouldGivePortsToFragmentsInsideOfATunnel() {
        final byte[] first = ipv4(5, 0x2000, 17, udp(1000, 2000, payload(16)));
        final byte[] later = ipv4(5, 3, 17, payload(16));
        assertEquals(OUTER + "17,1000,2000", decoding.ip(ipv6(4, first)));
        assertEquals(OUTER + "17,1000,2000", decoding.ip(ipv6(4, later)));
        assertTrue(decoding.hasFlag(PacketDescriptor.FLAG_INNER | PacketDescriptor.FLAG_LATER_FRAGMENT));
    }

    @Test
    void shouldStopAtTheDeepestNesting() {
        byte[] packet = IPV4;
        for (int i = 0; i < PacketDecoder.MAX_TUNNELS; i++) {
            packet = ipv4(4, packet);
        }
        assertEquals(INNER_4, decoding.ip(packet));
        assertEquals(0, decoding.count(CounterId.TUNNEL_BROKEN));
        assertEquals(OUTER + "4,0,0", decoding.ip(ipv4(4, packet)));
        assertEquals(1, decoding.count(CounterId.TUNNEL_BROKEN));
    }

    @Test
    void shouldNotTakePaddingForATunnel() {
        assertEquals(OUTER + "4,0,0", decoding.ip(join(ipv4(4, new byte[0]), IPV4)));
        assertEquals(1, decoding.count(CounterId.TUNNEL_BROKEN));
    }
}
