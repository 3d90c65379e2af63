package io.flowlag.exporter.reference;

import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.condition.EnabledOnOs;
import org.junit.jupiter.api.condition.OS;

import java.io.IOException;
import java.net.InetSocketAddress;
import java.net.ProtocolFamily;
import java.net.StandardProtocolFamily;
import java.nio.channels.DatagramChannel;

import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

@EnabledOnOs(OS.LINUX)
class ReferencePortTest {
    @Test
    void shouldRefuseAPortThatIsInUseForIpv4Alone() throws IOException {
        final ProtocolFamily family = StandardProtocolFamily.INET;
        try (DatagramChannel holder = DatagramChannel.open(family).bind(new InetSocketAddress("0.0.0.0", 0))) {
            final int port = ((InetSocketAddress)holder.getLocalAddress()).getPort();
            final InjectionException refusal = assertThrows(InjectionException.class, () -> ReferencePort.bind(port));
            assertTrue(refusal.isAddressInUse());
            assertTrue(refusal.getMessage().contains("port " + port + ": address already in use"), refusal::getMessage);
        }
    }
}
