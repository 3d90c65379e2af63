package io.flowlag.exporter.decode;

import io.flowlag.common.hash.SipHash;
import io.flowlag.exporter.status.CounterId;
import org.junit.jupiter.api.Test;

import static io.flowlag.exporter.decode.Frames.*;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

class FragmentTest {
    private static final int MORE = 0x2000;
    private static final int ID = 77;
    private static final long TIMEOUT_NS = 1_000_000_000L;
    private static final String WITH_PORTS = "4,192.0.2.1,198.51.100.2,17,1000,2000";
    private static final String WITHOUT_PORTS = "4,192.0.2.1,198.51.100.2,17,0,0";

    private final Decoding decoding = new Decoding(new PacketDecoder.Context().fragmentTimeoutNs(TIMEOUT_NS));

    private static byte[] first(final int identification) {
        return ipv4(identification, MORE, 17, udp(1000, 2000, payload(16)));
    }

    private static byte[] later(final int identification, final int offsetBytes) {
        return ipv4(identification, offsetBytes / 8, 17, payload(16));
    }

    @Test
    void shouldGiveTheFirstFragmentsPortsToLaterOnes() {
        assertEquals(WITH_PORTS, decoding.ip(first(ID)));
        assertTrue(decoding.hasFlag(PacketDescriptor.FLAG_FRAGMENT));
        assertFalse(decoding.hasFlag(PacketDescriptor.FLAG_LATER_FRAGMENT));
        assertEquals(WITH_PORTS, decoding.ip(ipv4(ID, MORE | 3, 17, payload(16))));
        assertEquals(WITH_PORTS, decoding.ip(later(ID, 40)));
        assertTrue(decoding.hasFlag(PacketDescriptor.FLAG_FRAGMENT));
        assertTrue(decoding.hasFlag(PacketDescriptor.FLAG_LATER_FRAGMENT));
        assertEquals(2, decoding.count(CounterId.FRAGMENT_PORTS_FOUND));
        assertEquals(0, decoding.count(CounterId.TRANSPORT_TRUNCATED));
    }

    @Test
    void shouldLeaveThePortsOfLaterFragments0WithoutATable() {
        final Decoding without = new Decoding(new PacketDecoder.Context().fragmentPorts(false));
        assertEquals(WITH_PORTS, without.ip(first(ID)));
        assertEquals(WITHOUT_PORTS, without.ip(later(ID, 24)));
        assertTrue(without.hasFlag(PacketDescriptor.FLAG_LATER_FRAGMENT));
        assertEquals(0, without.count(CounterId.FRAGMENT_PORTS_UNKNOWN));
    }

    @Test
    void shouldKnowPacketsByTheirFullKey() {
        decoding.ip(first(ID));
        assertEquals(WITHOUT_PORTS, decoding.ip(later(ID + 1, 24)));
        assertEquals("4,192.0.2.9,198.51.100.2,17,0,0", decoding.ip(with(later(ID, 24), 15, 9)));
        assertEquals("4,192.0.2.1,198.51.100.9,17,0,0", decoding.ip(with(later(ID, 24), 19, 9)));
        assertEquals("4,192.0.2.1,198.51.100.2,6,0,0", decoding.ip(with(later(ID, 24), 9, 6)));
        assertEquals(4, decoding.count(CounterId.FRAGMENT_PORTS_UNKNOWN));
        assertEquals(WITH_PORTS, decoding.ip(later(ID, 24)));
    }

    @Test
    void shouldGiveTheTypeOfIcmpToLaterFragments() {
        decoding.ip(ipv4(ID, MORE, 1, icmp(8, 0, payload(16))));
        decoding.ip(ipv4(ID, 3, 1, payload(16)));
        assertEquals(8 * 256, PacketDescriptor.icmpTypeCode(decoding.descriptor, 0));
        assertEquals(1, decoding.count(CounterId.FRAGMENT_PORTS_FOUND));
    }

    @Test
    void shouldNotLookUpProtocolsWithoutPorts() {
        decoding.ip(ipv4(ID, MORE, 50, payload(16)));
        decoding.ip(ipv4(ID, 2, 50, payload(16)));
        assertEquals(0, decoding.count(CounterId.FRAGMENT_PORTS_FOUND) + decoding.count(CounterId.FRAGMENT_PORTS_UNKNOWN));
    }

    @Test
    void shouldGivePortsToFragmentsOfIpv6() {
        final String flow = "6,2001:db8::1,2001:db8:1::2,17,1000,2000";
        assertEquals(flow, decoding.ip(ipv6(44, ipv6Fragment(17, 1, 0x12345678, udp(1000, 2000, payload(16))))));
        assertTrue(decoding.hasFlag(PacketDescriptor.FLAG_FRAGMENT));
        assertEquals(flow, decoding.ip(ipv6(44, ipv6Fragment(17, 24, 0x12345678, payload(16)))));
        assertTrue(decoding.hasFlag(PacketDescriptor.FLAG_LATER_FRAGMENT));
        assertEquals("6,2001:db8::1,2001:db8:1::2,17,0,0",
            decoding.ip(ipv6(44, ipv6Fragment(17, 24, 0x92345678, payload(16)))));
    }

    /** RFC 8200, section 4.5: only the first fragment names the protocol behind fragmented extension headers. */
    @Test
    void shouldGiveLaterFragmentsOfIpv6TheProtocolBehindExtensionHeaders() {
        final String flow = "6,2001:db8::1,2001:db8:1::2,17,1000,2000";
        final byte[] options = extension(17, udp(1000, 2000, payload(16)));
        assertEquals("6,2001:db8::1,2001:db8:1::2,60,0,0", decoding.ip(ipv6(44, ipv6Fragment(60, 32, ID, payload(16)))));
        assertEquals(1, decoding.count(CounterId.FRAGMENT_PORTS_UNKNOWN));
        assertEquals(flow, decoding.ip(ipv6(44, ipv6Fragment(60, 1, ID, options))));
        assertEquals(flow, decoding.ip(ipv6(44, ipv6Fragment(60, 32, ID, payload(16)))));
        assertEquals(1, decoding.count(CounterId.FRAGMENT_PORTS_FOUND));
    }

    @Test
    void shouldDescribeFragmentsOfIpv6AlikeWhereverTheFirstOneWasSeenWhenTwoPointsCompare() {
        final SipHash key = new SipHash(1, 2);
        final Decoding other = new Decoding(new PacketDecoder.Context().digest(key));
        final Decoding both = new Decoding(new PacketDecoder.Context().digest(key));
        both.ip(ipv6(44, ipv6Fragment(60, 1, ID, extension(17, udp(1000, 2000, payload(16))))));
        both.ip(ipv6(44, ipv6Fragment(60, 32, ID, payload(16))));
        other.ip(ipv6(44, ipv6Fragment(60, 32, ID, payload(16))));
        assertEquals(0, both.count(CounterId.FRAGMENT_PORTS_FOUND) + both.count(CounterId.FRAGMENT_PORTS_UNKNOWN));
        assertEquals(DecodedFlows.key(other.descriptor), DecodedFlows.key(both.descriptor));
        assertEquals(PacketDescriptor.digest(other.descriptor, 0), PacketDescriptor.digest(both.descriptor, 0));
        assertEquals(PacketDescriptor.segmentFlowHash(other.descriptor, 0), PacketDescriptor.segmentFlowHash(both.descriptor, 0));
    }

    @Test
    void shouldForgetAfterTheTimeoutInPacketTime() {
        decoding.ip(first(ID));
        decoding.timestampNs += TIMEOUT_NS;
        assertEquals(WITH_PORTS, decoding.ip(later(ID, 24)));
        decoding.timestampNs += 1;
        assertEquals(WITHOUT_PORTS, decoding.ip(later(ID, 24)));
        decoding.timestampNs -= 10 * TIMEOUT_NS;
        assertEquals(WITH_PORTS, decoding.ip(later(ID, 24)), "time that runs backwards does not age");
    }

    @Test
    void shouldRememberTheNewestPacketOfAnIdentification() {
        decoding.ip(first(ID));
        decoding.ip(ipv4(ID, MORE, 17, udp(3000, 4000, payload(16))));
        assertEquals("4,192.0.2.1,198.51.100.2,17,3000,4000", decoding.ip(later(ID, 24)));
    }

    @Test
    void shouldNotRememberPortsThatAreCutOff() {
        decoding.ip(ipv4(ID, MORE, 17, new byte[0]));
        decoding.ip(later(ID, 8));
        assertEquals(1, decoding.count(CounterId.FRAGMENT_PORTS_UNKNOWN));
    }

    @Test
    void shouldForgetTheOldestOfASetWhenFull() {
        final Decoding small = new Decoding(new PacketDecoder.Context().fragmentTableEntries(4));
        for (int i = 0; i < 5; i++) {
            small.ip(first(i));
            small.timestampNs++;
        }
        assertEquals(WITHOUT_PORTS, small.ip(later(0, 24)));
        for (int i = 1; i < 5; i++) {
            assertEquals(WITH_PORTS, small.ip(later(i, 24)));
        }
    }

    @Test
    void shouldForgetWhatTheClockHadSaidBeforeItWasSetBack() {
        final Decoding small = new Decoding(new PacketDecoder.Context().fragmentTableEntries(4));
        small.timestampNs += 3600 * TIMEOUT_NS;
        for (int i = 0; i < 4; i++) {
            small.ip(first(i));
        }
        small.timestampNs -= 3600 * TIMEOUT_NS;
        for (int i = 4; i < 8; i++) {
            small.ip(first(i));
            small.timestampNs++;
        }
        for (int i = 4; i < 8; i++) {
            assertEquals(WITH_PORTS, small.ip(later(i, 24)));
        }
    }

    @Test
    void shouldHoldAboutAsManyPacketsAsItHasEntries() {
        final int packets = PacketDecoder.Context.DEFAULT_FRAGMENT_TABLE_ENTRIES / 2;
        final Decoding decoder = new Decoding();
        for (int i = 0; i < packets; i++) {
            decoder.ip(first(i));
        }
        for (int i = 0; i < packets; i++) {
            decoder.ip(later(i, 24));
        }
        // Sets of four, loaded with two on average: with a random key, 5 % would need more than four.
        assertTrue(decoder.count(CounterId.FRAGMENT_PORTS_FOUND) > packets * 9 / 10);
    }

    @Test
    void shouldRefuseSettingsOutOfRange() {
        final PacketDecoder.Context context = new PacketDecoder.Context();
        final String message = assertThrows(
            IllegalArgumentException.class, context.fragmentTableEntries(3)::conclude).getMessage();
        assertEquals("fragmentTableEntries=3 is not in 4..1048576", message);
        assertThrows(IllegalArgumentException.class, context.fragmentTableEntries(5).fragmentTimeoutNs(0)::conclude);
        assertThrows(
            IllegalArgumentException.class, context.fragmentTimeoutNs(1).digestPayloadBytes(33)::conclude);
        assertThrows(
            IllegalArgumentException.class, context.digestPayloadBytes(32).observationPoint(256)::conclude);
    }
}
