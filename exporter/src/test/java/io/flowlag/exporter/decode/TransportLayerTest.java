package io.flowlag.exporter.decode;

import io.flowlag.exporter.capture.LinkType;
import io.flowlag.exporter.status.CounterId;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

import static io.flowlag.exporter.decode.Frames.*;
import static org.junit.jupiter.api.Assertions.assertEquals;

class TransportLayerTest {
    private static final String ADDRESSES = "4,192.0.2.1,198.51.100.2,";

    private final Decoding decoding = new Decoding();

    private int tcpControlBits() {
        return PacketDescriptor.tcpControlBits(decoding.descriptor, 0);
    }

    private int icmpTypeCode() {
        return PacketDescriptor.icmpTypeCode(decoding.descriptor, 0);
    }

    @Test
    void shouldReadPortsAndControlBits() {
        assertEquals(ADDRESSES + "6,65535,80", decoding.ip(ipv4(6, tcp(65535, 80, 0x1FF, payload(3)))));
        assertEquals(0x1FF, tcpControlBits());
        assertEquals(ADDRESSES + "17,53,40000", decoding.ip(ipv4(17, udp(53, 40000, payload(3)))));
        assertEquals(0, tcpControlBits());
        assertEquals(ADDRESSES + "132,2905,2906", decoding.ip(ipv4(132, sctp(2905, 2906, payload(3)))));
        assertEquals(0, decoding.count(CounterId.TRANSPORT_TRUNCATED));
    }

    @Test
    void shouldReadTypeAndCode() {
        assertEquals(ADDRESSES + "1,0,0", decoding.ip(ipv4(1, icmp(3, 4, payload(3)))));
        assertEquals(3 * 256 + 4, icmpTypeCode());
        assertEquals("6,2001:db8::1,2001:db8:1::2,58,0,0", decoding.ip(ipv6(58, icmp(135, 0, payload(3)))));
        assertEquals(135 * 256, icmpTypeCode());
    }

    @ParameterizedTest
    @ValueSource(ints = {0, 2, 33, 41, 47, 50, 51, 59, 89, 103, 112, 136, 255})
    void shouldReadNoPortsOfOtherProtocols(final int protocol) {
        assertEquals(ADDRESSES + protocol + ",0,0", decoding.ip(ipv4(protocol, payload(40))));
        assertEquals(0, icmpTypeCode());
        assertEquals(0, tcpControlBits());
        assertEquals(0, decoding.count(CounterId.TRANSPORT_TRUNCATED));
    }

    @Test
    void shouldReadWhatTheCaptureLeftOfTheHeader() {
        final byte[] packet = ipv4(6, tcp(1000, 2000, 0x12, payload(3)));
        assertEquals(ADDRESSES + "6,1000,2000", decoding.decode(LinkType.RAW, cut(packet, 34), packet.length));
        assertEquals(0x12, tcpControlBits());
        assertEquals(0, decoding.count(CounterId.TRANSPORT_TRUNCATED));
        assertEquals(ADDRESSES + "6,1000,2000", decoding.decode(LinkType.RAW, cut(packet, 33), packet.length));
        assertEquals(0, tcpControlBits());
        assertEquals(1, decoding.count(CounterId.TRANSPORT_TRUNCATED));
        assertEquals(ADDRESSES + "6,0,0", decoding.decode(LinkType.RAW, cut(packet, 23), packet.length));
        assertEquals(2, decoding.count(CounterId.TRANSPORT_TRUNCATED));
        decoding.decode(LinkType.RAW, cut(ipv4(1, icmp(8, 0, payload(3))), 21), 31);
        assertEquals(3, decoding.count(CounterId.TRANSPORT_TRUNCATED));
    }

    @Test
    void shouldNotReadBeyondTheLengthThatTheIpHeaderTells() {
        assertEquals(ADDRESSES + "17,0,0", decoding.ip(with(ipv4(17, udp(1000, 2000, payload(4))), 3, 23)));
        assertEquals(1, decoding.count(CounterId.TRANSPORT_TRUNCATED));
    }
}
