package io.flowlag.exporter.pipeline;

import io.flowlag.exporter.decode.PacketDescriptor;
import org.agrona.concurrent.UnsafeBuffer;
import org.junit.jupiter.api.Test;

import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.net.UnknownHostException;
import java.nio.ByteBuffer;
import java.util.List;

import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertTrue;

/** Own packets have an address of this host, and address, protocol and port of a destination. */
class OwnTrafficTest {
    private static final long NET = 0x2001_0db8_0000_0001L;
    private static final long OTHER_NET = 0x2001_0db8_0000_0002L;
    private static final long HOST = 0x0200_00ff_fe00_0001L;
    private static final long COLLECTOR = 0x99;
    private static final int UDP_PORT = 4739;
    private static final int TCP_PORT = 8621;
    private static final int SERVED_PORT = 8622;
    private static final int TCP = 6;
    private static final int UDP = 17;

    private final UnsafeBuffer descriptor = new UnsafeBuffer(new byte[PacketDescriptor.LENGTH_BYTES]);
    private final OwnTraffic own = OwnTraffic.of(List.of(new InetSocketAddress(address(NET, COLLECTOR), TCP_PORT)),
        List.of(new InetSocketAddress(address(NET, COLLECTOR), UDP_PORT)), List.of(address(NET, HOST)), SERVED_PORT);

    private static InetAddress address(final long high, final long low) {
        try {
            return InetAddress.getByAddress(ByteBuffer.allocate(16).putLong(high).putLong(low).array());
        } catch (final UnknownHostException ex) {
            throw new IllegalStateException(ex);
        }
    }

    private boolean isOwn(final long high, final long low, final int protocol, final int port) {
        PacketDescriptor.protocol(descriptor, 0, protocol);
        PacketDescriptor.sourceHigh(descriptor, 0, high);
        PacketDescriptor.sourceLow(descriptor, 0, low);
        PacketDescriptor.sourcePort(descriptor, 0, 40_000);
        PacketDescriptor.destinationHigh(descriptor, 0, NET);
        PacketDescriptor.destinationLow(descriptor, 0, COLLECTOR);
        PacketDescriptor.destinationPort(descriptor, 0, port);
        return own.matches(descriptor, 0);
    }

    @Test
    void shouldNotTakeAnAddressWithTheSameMixForALocalOne() {
        final long factor = 0x9e37_79b9_7f4a_7c15L;
        final long chosen = NET * factor ^ HOST ^ OTHER_NET * factor;
        assertTrue(isOwn(NET, HOST, UDP, UDP_PORT));
        assertFalse(isOwn(OTHER_NET, chosen, UDP, UDP_PORT));
        assertFalse(isOwn(OTHER_NET, HOST, UDP, UDP_PORT));
        assertFalse(isOwn(NET, HOST + 1, UDP, UDP_PORT));
    }

    @Test
    void shouldCompareTheProtocol() {
        assertTrue(isOwn(NET, HOST, TCP, TCP_PORT));
        assertFalse(isOwn(NET, HOST, UDP, TCP_PORT));
        assertFalse(isOwn(NET, HOST, TCP, UDP_PORT));
        assertFalse(isOwn(NET, HOST, 132, UDP_PORT));
        assertFalse(OwnTraffic.NONE.matches(descriptor, 0));
    }

    @Test
    void shouldKnowBothDirectionsOfAServedPort() {
        assertFalse(isOwn(NET, HOST, TCP, SERVED_PORT), "the port of another host");
        PacketDescriptor.sourcePort(descriptor, 0, SERVED_PORT);
        assertTrue(own.matches(descriptor, 0));
        PacketDescriptor.protocol(descriptor, 0, UDP);
        assertFalse(own.matches(descriptor, 0));
        PacketDescriptor.protocol(descriptor, 0, TCP);
        PacketDescriptor.sourcePort(descriptor, 0, 40_000);
        PacketDescriptor.destinationPort(descriptor, 0, SERVED_PORT);
        PacketDescriptor.destinationLow(descriptor, 0, HOST);
        assertTrue(own.matches(descriptor, 0));
    }
}
