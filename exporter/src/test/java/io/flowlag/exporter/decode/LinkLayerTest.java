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

class LinkLayerTest {
    private static final String FLOW_4 = "4,192.0.2.1,198.51.100.2,17,1000,2000";
    private static final String FLOW_6 = "6,2001:db8::1,2001:db8:1::2,17,1000,2000";
    private static final byte[] IPV4 = ipv4(17, udp(1000, 2000, payload(4)));
    private static final byte[] IPV6 = ipv6(17, udp(1000, 2000, payload(4)));

    private final Decoding decoding = new Decoding();

    private static byte[] tagged(final int depth) {
        byte[] frame = vlan(depth, 0x0800, IPV4);
        for (int i = depth - 1; i > 0; i--) {
            frame = vlan(i, 0x8100, frame);
        }
        return ethernet(0x8100, frame);
    }

    @Test
    void shouldFindIpBehindEthernet() {
        assertEquals(FLOW_4, decoding.ethernet(ethernet(0x0800, IPV4)));
        assertFalse(decoding.hasFlag(PacketDescriptor.FLAG_VLAN));
        assertEquals(FLOW_6, decoding.ethernet(ethernet(0x86DD, IPV6)));
    }

    @ParameterizedTest
    @ValueSource(ints = {0x8100, 0x88A8, 0x9100})
    void shouldTakeTheVlanOfTheOutermostTag(final int tagType) {
        assertEquals(FLOW_4, decoding.ethernet(ethernet(tagType, vlan(0xE123, 0x8100, vlan(7, 0x0800, IPV4)))));
        assertTrue(decoding.hasFlag(PacketDescriptor.FLAG_VLAN));
        assertEquals(0x123, PacketDescriptor.vlanId(decoding.descriptor, 0));
    }

    @Test
    void shouldTakeATagOfTheRingForTheOutermost() {
        decoding.vlanTag = 0x88A8_0000 | 0x6005;
        assertEquals(FLOW_4, decoding.ethernet(ethernet(0x8100, vlan(7, 0x0800, IPV4))));
        assertTrue(decoding.hasFlag(PacketDescriptor.FLAG_VLAN));
        assertEquals(5, PacketDescriptor.vlanId(decoding.descriptor, 0));
    }

    @Test
    void shouldFollowTagsToTheLimitAndNoFurther() {
        assertEquals(FLOW_4, decoding.ethernet(tagged(Cursor.MAX_LAYERS - 1)));
        assertEquals(1, PacketDescriptor.vlanId(decoding.descriptor, 0));
        assertEquals(
            CounterId.REFUSED_LINK_MALFORMED, decoding.result(LinkType.ETHERNET, tagged(Cursor.MAX_LAYERS)));
    }

    @Test
    void shouldFindIpBehindLlcAndSnap() {
        assertEquals(FLOW_4, decoding.ethernet(ethernet(100, join(hex("aaaa03 000000 0800"), IPV4))));
        assertEquals(FLOW_6, decoding.ethernet(ethernet(100, join(hex("aaaa03 0000f8 86dd"), IPV6))));
        assertEquals(FLOW_4, decoding.ethernet(ethernet(100, join(hex("060603"), IPV4))));
        assertEquals(FLOW_4, decoding.ethernet(ethernet(0x8100, vlan(9, 100, join(hex("060603"), IPV4)))));
        assertEquals(
            CounterId.REFUSED_NOT_IP, decoding.result(LinkType.ETHERNET, ethernet(100, hex("424203 0000000000"))));
        assertEquals(
            CounterId.REFUSED_NOT_IP, decoding.result(LinkType.ETHERNET, ethernet(100, hex("aaaa03 00000c 2000 01"))));
        assertEquals(
            CounterId.REFUSED_LINK_TRUNCATED, decoding.result(LinkType.ETHERNET, ethernet(100, hex("aaaa03 0000"))));
    }

    @Test
    void shouldFindIpBehindMplsLabels() {
        assertEquals(FLOW_4, decoding.ethernet(ethernet(0x8847, mpls(16, false, mpls(17, true, IPV4)))));
        assertEquals(FLOW_6, decoding.ethernet(ethernet(0x8848, mpls(17, true, IPV6))));
    }

    @Test
    void shouldFindIpInAnEthernetPseudowire() {
        final byte[] inner = ethernet(0x0800, IPV4);
        assertEquals(FLOW_4, decoding.ethernet(ethernet(0x8847, mpls(17, true, inner))));
        assertEquals(FLOW_4, decoding.ethernet(ethernet(0x8847, mpls(17, true, join(hex("00000001"), inner)))));
        final byte[] channel = ethernet(0x8847, mpls(13, true, hex("10000021 4500 0000 0000 0000 0000")));
        assertEquals(CounterId.REFUSED_NOT_IP, decoding.result(LinkType.ETHERNET, channel));
    }

    @Test
    void shouldBoundTheLabelStack() {
        byte[] stack = mpls(17, true, IPV4);
        for (int i = 1; i < Mpls.MAX_LABELS; i++) {
            stack = mpls(16, false, stack);
        }
        assertEquals(FLOW_4, decoding.ethernet(ethernet(0x8847, stack)));
        assertEquals(CounterId.REFUSED_LINK_MALFORMED,
            decoding.result(LinkType.ETHERNET, ethernet(0x8847, mpls(16, false, stack))));
    }

    @Test
    void shouldFindIpInAPppoeSession() {
        assertEquals(FLOW_4, decoding.ethernet(ethernet(0x8864, pppoe(0x0021, IPV4))));
        assertEquals(FLOW_6, decoding.ethernet(ethernet(0x8864, pppoe(0x0057, IPV6))));
        assertEquals(
            CounterId.REFUSED_NOT_IP, decoding.result(LinkType.ETHERNET, ethernet(0x8864, pppoe(0xC021, hex("0101")))));
        assertEquals(CounterId.REFUSED_LINK_MALFORMED,
            decoding.result(LinkType.ETHERNET, ethernet(0x8864, with(pppoe(0x0021, IPV4), 0, 0x21))));
    }

    @ParameterizedTest
    @ValueSource(ints = {LinkType.RAW, LinkType.RAW_BSD, LinkType.RAW_OPENBSD})
    void shouldTellTheVersionOfRawIp(final int linkType) {
        assertEquals(FLOW_4, decoding.decode(linkType, IPV4));
        assertEquals(FLOW_6, decoding.decode(linkType, IPV6));
    }

    @Test
    void shouldHoldPacketsToTheVersionOfTheirLinkType() {
        assertEquals(FLOW_4, decoding.decode(LinkType.IPV4, IPV4));
        assertEquals(FLOW_6, decoding.decode(LinkType.IPV6, IPV6));
        assertEquals(CounterId.REFUSED_IP_VERSION, decoding.result(LinkType.IPV4, IPV6));
        assertEquals(CounterId.REFUSED_IP_VERSION, decoding.result(LinkType.IPV6, IPV4));
        assertEquals(CounterId.REFUSED_IP_VERSION, decoding.result(LinkType.ETHERNET, ethernet(0x0800, IPV6)));
    }

    @ParameterizedTest
    @ValueSource(ints = {10, 23, 24, 26, 28, 30})
    void shouldKnowTheAddressFamiliesOfAllSystems(final int familyOfIpv6) {
        assertEquals(FLOW_6, decoding.decode(LinkType.NULL, header("%08x", IPV6, familyOfIpv6)));
        assertEquals(
            FLOW_6, decoding.decode(LinkType.NULL, header("%08x", IPV6, Integer.reverseBytes(familyOfIpv6))));
        assertEquals(FLOW_6, decoding.decode(LinkType.LOOP, header("%08x", IPV6, familyOfIpv6)));
        assertEquals(FLOW_4, decoding.decode(LinkType.NULL, header("02000000", IPV4)));
        assertEquals(FLOW_4, decoding.decode(LinkType.LOOP, header("00000002", IPV4)));
        assertEquals(CounterId.REFUSED_NOT_IP, decoding.result(LinkType.NULL, header("07000000", IPV4)));
        assertEquals(CounterId.REFUSED_LINK_TRUNCATED, decoding.result(LinkType.NULL, hex("020000")));
    }

    @Test
    void shouldFindIpBehindCookedHeaders() {
        final String address = "0006 020000000001 0000";
        assertEquals(FLOW_4, decoding.decode(LinkType.LINUX_SLL, header("0000 0001" + address + "0800", IPV4)));
        assertEquals(FLOW_4, decoding.decode(
            LinkType.LINUX_SLL, header("0000 0001" + address + "8100", vlan(6, 0x0800, IPV4))));
        assertEquals(FLOW_6, decoding.decode(
            LinkType.LINUX_SLL2, header("86dd 0000 00000003 0001 00 06 0200000000010000", IPV6)));
        assertEquals(FLOW_4, decoding.decode(
            LinkType.LINUX_SLL, header("0000 0001" + address + "0004", join(hex("060603"), IPV4))));
        assertEquals(CounterId.REFUSED_NOT_IP,
            decoding.result(LinkType.LINUX_SLL, header("0000 0338" + address + "0800", IPV4)));
        assertEquals(CounterId.REFUSED_LINK_TRUNCATED, decoding.result(LinkType.LINUX_SLL2, new byte[19]));
    }

    @Test
    void shouldFindIpBehindPppAndCiscoHdlc() {
        assertEquals(FLOW_4, decoding.decode(LinkType.PPP, header("0021", IPV4)));
        assertEquals(FLOW_6, decoding.decode(LinkType.PPP, header("ff03 0057", IPV6)));
        assertEquals(FLOW_4, decoding.decode(LinkType.PPP, header("ff03 21", IPV4)));
        assertEquals(FLOW_4, decoding.decode(LinkType.PPP, header("0281", mpls(17, true, IPV4))));
        assertEquals(FLOW_4, decoding.decode(LinkType.PPP_HDLC, header("ff03 0021", IPV4)));
        assertEquals(FLOW_4, decoding.decode(LinkType.PPP_HDLC, header("0f00 0800", IPV4)));
        assertEquals(FLOW_6, decoding.decode(LinkType.CISCO_HDLC, header("8f00 86dd", IPV6)));
        assertEquals(CounterId.REFUSED_NOT_IP, decoding.result(LinkType.PPP, hex("ff03 c021 01")));
        assertEquals(CounterId.REFUSED_LINK_TRUNCATED, decoding.result(LinkType.PPP, hex("ff03 00")));
        assertEquals(CounterId.REFUSED_LINK_TRUNCATED, decoding.result(LinkType.PPP, hex("ff03")));
    }

    @ParameterizedTest
    @ValueSource(ints = {-1, 105, 127, 147, 65535, Integer.MAX_VALUE, Integer.MIN_VALUE})
    void shouldRefuseOtherLinkTypes(final int linkType) {
        assertEquals(CounterId.REFUSED_LINK_TYPE, decoding.result(linkType, IPV4));
    }

    @Test
    void shouldRefuseFramesThatCarryNoIp() {
        assertEquals(CounterId.REFUSED_NOT_IP, decoding.result(LinkType.ETHERNET, ethernet(0x0806, new byte[28])));
        assertEquals(CounterId.REFUSED_NOT_IP, decoding.result(LinkType.ETHERNET, ethernet(1501, IPV4)));
    }

    @Test
    void shouldRefuseFramesCutInTheirLinkHeaders() {
        assertEquals(CounterId.REFUSED_LINK_TRUNCATED, decoding.result(LinkType.ETHERNET, new byte[0]));
        final byte[] frame = ethernet(0x8100, vlan(9, 0x8847, mpls(16, true, IPV4)));
        for (int i = 0; i < 14 + 4 + 4; i++) {
            assertEquals(CounterId.REFUSED_LINK_TRUNCATED, decoding.result(LinkType.ETHERNET, cut(frame, i), 99));
        }
    }
}
