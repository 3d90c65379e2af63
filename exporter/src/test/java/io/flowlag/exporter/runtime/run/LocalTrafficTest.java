package io.flowlag.exporter.runtime.run;

import io.flowlag.exporter.config.ConfigLoader;
import io.flowlag.exporter.config.ExporterConfig;
import io.flowlag.exporter.decode.PacketDescriptor;
import io.flowlag.exporter.pipeline.OwnTraffic;
import org.agrona.concurrent.UnsafeBuffer;
import org.junit.jupiter.api.Test;

import java.net.InetAddress;
import java.net.UnknownHostException;
import java.util.List;

import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertTrue;

class LocalTrafficTest {
    private static final int FIRST = 0xc000_0201;
    private static final int SECOND = 0xc000_0202;
    private static final int COLLECTOR = 0xc633_6401;

    private final ExporterConfig config =
        new ConfigLoader().text("test", "exporting: {destinations: [\"udp://198.51.100.1:4739\"]}\n").conclude();
    private List<InetAddress> addresses = List.of(address(FIRST));
    private final LocalTraffic traffic = new LocalTraffic(() -> addresses);

    private static InetAddress address(final int octets) {
        try {
            return InetAddress.getByAddress(new byte[] {
                (byte)(octets >> 24), (byte)(octets >> 16), (byte)(octets >> 8), (byte)octets});
        } catch (final UnknownHostException ex) {
            throw new IllegalStateException(ex);
        }
    }

    private static boolean isOwn(final OwnTraffic own, final int source) {
        final UnsafeBuffer descriptor = new UnsafeBuffer(new byte[PacketDescriptor.LENGTH_BYTES]);
        PacketDescriptor.ipVersion(descriptor, 0, 4);
        PacketDescriptor.protocol(descriptor, 0, 17);
        PacketDescriptor.sourceLow(descriptor, 0, source & 0xffff_ffffL);
        PacketDescriptor.destinationLow(descriptor, 0, COLLECTOR & 0xffff_ffffL);
        PacketDescriptor.destinationPort(descriptor, 0, 4739);
        return own.matches(descriptor, 0);
    }

    @Test
    void shouldFollowTheAddressesOfThisHost() {
        assertTrue(isOwn(traffic.of(config), FIRST));
        assertFalse(traffic.isChanged());

        addresses = List.of(address(SECOND));

        assertTrue(traffic.isChanged());
        final OwnTraffic own = traffic.of(config);
        assertTrue(isOwn(own, SECOND));
        assertFalse(isOwn(own, FIRST));
        assertFalse(traffic.isChanged());
    }
}
