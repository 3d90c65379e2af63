package io.flowlag.exporter.exchange.link;

import io.flowlag.common.command.ExitCode;
import io.flowlag.common.command.ExitException;
import io.flowlag.exporter.config.ConfigLoader;
import io.flowlag.exporter.config.ExporterConfig;
import io.flowlag.exporter.delay.ClockError;
import io.flowlag.exporter.terminal.PortFailure;
import org.agrona.concurrent.CachedNanoClock;
import org.agrona.concurrent.SystemEpochNanoClock;
import org.junit.jupiter.api.Test;

import java.io.IOException;
import java.net.BindException;
import java.net.DatagramPacket;
import java.net.DatagramSocket;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.net.ServerSocket;
import java.nio.ByteBuffer;
import java.util.HashMap;
import java.util.List;
import java.util.Map;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;

/** What is said of a port that cannot be listened at. */
class ExchangeEndTest {
    private static ExporterConfig config(final int port) {
        return config(port, "");
    }

    private static ExporterConfig config(final int port, final String more) {
        return new ConfigLoader().text("f", more + "segment: {role: receiver}\nlds: {enabled: on, columns: 16}\n" +
            "reconcile: {packets: 1k}\nexchange: {listen: " + port + "}\n").conclude();
    }

    @Test
    void shouldNameTheWayOutWhereThePortIsTaken() throws IOException {
        try (ServerSocket held = new ServerSocket(0, 1, InetAddress.getByName("127.0.0.1"))) {
            final ExitException refusal = assertThrows(
                ExitException.class, () -> ExchangeEnd.open(
                    config(held.getLocalPort()), ClockError.NONE, new ProcessEnds(new SystemEpochNanoClock())));
            assertEquals("exchange.listen=127.0.0.1:" + held.getLocalPort() +
                ": Address already in use; stop what holds the port, or take another one", refusal.getMessage());
            assertEquals(ExitCode.CONFIGURATION, refusal.exitCode());
        }
    }

    @Test
    void shouldAskTheReflectorOfTheConfiguration() throws IOException {
        final CachedNanoClock clock = new CachedNanoClock();
        clock.update(1_700_000_000_000_000_000L);
        final Map<String, Long> counters = new HashMap<>();
        try (DatagramSocket reflector = new DatagramSocket(new InetSocketAddress(InetAddress.getLoopbackAddress(), 0));
            ExchangeReceiver receiver = new MemoryNetwork(clock).receiver(config(8621, "clock: {reflector: '127.0.0.1:" +
                reflector.getLocalPort() + "'}\n"), new PeerSecurity(null, null, List.of(), List.of()))) {
            receiver.doWork();
            final DatagramPacket packet = new DatagramPacket(new byte[100], 100);
            reflector.receive(packet);
            assertEquals(44, packet.getLength());
            final ByteBuffer reply = ByteBuffer.allocate(44).position(24).put(packet.getData(), 0, 14);
            reflector.send(new DatagramPacket(reply.array(), 44, packet.getSocketAddress()));
            receiver.doWork();
            receiver.counters(counters::put);
        }
        assertEquals(1, counters.get("clock_reflections"));
    }

    @Test
    void shouldTellWantOfPermissionFromAnAddressThatIsNotHere() {
        final ExitException refused = PortFailure.of("k=v", new BindException("Permission denied"));
        assertEquals(ExitCode.NO_PERMISSION, refused.exitCode());
        final ExitException foreign = PortFailure.of("k=v", new BindException("Cannot assign requested address"));
        assertEquals(ExitCode.CONFIGURATION, foreign.exitCode());
        assertEquals(
            "k=v: Cannot assign requested address; no interface of this host has that address", foreign.getMessage());
    }
}
