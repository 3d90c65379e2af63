package io.flowlag.exporter.runtime;

import ch.qos.logback.classic.Level;
import ch.qos.logback.classic.Logger;
import ch.qos.logback.classic.spi.ILoggingEvent;
import ch.qos.logback.core.read.ListAppender;
import io.flowlag.exporter.config.ConfigLoader;
import io.flowlag.exporter.config.ExporterConfig;
import io.flowlag.exporter.export.Destination;
import io.flowlag.exporter.export.DestinationFactory;
import io.flowlag.exporter.flow.FlowEntry;
import io.flowlag.exporter.status.Counters;
import org.agrona.concurrent.UnsafeBuffer;
import org.junit.jupiter.api.Test;
import org.slf4j.LoggerFactory;

import java.io.IOException;
import java.net.DatagramSocket;
import java.net.InetSocketAddress;
import java.util.List;
import java.util.Map;
import java.util.concurrent.TimeUnit;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

/** What is logged of a collector over UDP that is missing, and is back. */
class DestinationTroublesTest {
    private static final long START_MS = 1_700_000_000_000L;
    private static final long LINGER_MS = 2_000;
    private static final long DEADLINE_NS = TimeUnit.SECONDS.toNanos(60);

    private final DestinationTroubles troubles = new DestinationTroubles();
    private final UnsafeBuffer entry = new UnsafeBuffer(new byte[FlowEntry.BASE_LENGTH_BYTES]);
    private long nowMs = START_MS;

    private static DatagramSocket collector(final int port) throws IOException {
        final DatagramSocket socket = new DatagramSocket(null);
        socket.setReuseAddress(true);
        socket.bind(new InetSocketAddress("127.0.0.1", port));
        return socket;
    }

    /** A message with a record leaves, and what the network says of it is known. */
    private void send(final Destination destination) {
        FlowEntry.ipVersion(entry, 0, 4);
        FlowEntry.packetCount(entry, 0, 1);
        assertEquals(Destination.Outcome.DONE, destination.offer(entry, 0, FlowEntry.BASE_LENGTH_BYTES, nowMs));
        for (int i = 0; i < 2; i++) {
            nowMs += LINGER_MS;
            destination.doWork(nowMs);
            troubles.tell(destination);
        }
    }

    /** However late the network reports. */
    private void sendUntil(final boolean isMissing, final Destination destination) {
        final long endNs = System.nanoTime() + DEADLINE_NS;
        do {
            assertTrue(System.nanoTime() - endNs < 0, destination.statistics()::line);
            send(destination);
        } while (destination.isMissing() != isMissing);
    }

    @Test
    void shouldLogOnceThatACollectorIsMissingAndOnceThatItIsBack() throws IOException {
        final ListAppender<ILoggingEvent> log = new ListAppender<>();
        final Logger logger = (Logger)LoggerFactory.getLogger(DestinationTroubles.class);
        log.start();
        logger.setLevel(Level.INFO);
        logger.addAppender(log);
        try (DatagramSocket held = collector(0)) {
            held.connect(new InetSocketAddress("127.0.0.2", 9)); // it keeps the port, and refuses datagrams
            final String uri = "udp://127.0.0.1:" + held.getLocalPort();
            final ExporterConfig config =
                new ConfigLoader().text("test", "exporting: {destinations: [{uri: '" + uri + "', options: off}]}").conclude();
            final Destination destination = new DestinationFactory(false, new boolean[1], Map.of(), new Counters())
                .make(config, config.exporting().destinations().get(0));
            destination.doWork(nowMs);
            sendUntil(true, destination);
            final long errors = destination.statistics().errors();
            assertTrue(errors > 0, destination.statistics()::line);
            assertEquals(1, log.list.size(), log.list::toString);
            assertTrue(log.list.get(0).getFormattedMessage().startsWith(uri + ": "), log.list::toString);
            try (DatagramSocket back = collector(held.getLocalPort())) {
                assertTrue(back.isBound());
                sendUntil(false, destination);
                troubles.tell(destination);
            }
            assertEquals(List.of(uri + ": back, takes records again"),
                log.list.stream().skip(1).map(ILoggingEvent::getFormattedMessage).toList());
            sendUntil(true, destination);
            assertTrue(destination.statistics().errors() > errors, destination.statistics()::line);
            assertEquals(log.list.get(0).getFormattedMessage(), log.list.get(2).getFormattedMessage(), "it is told again");
            assertTrue(destination.close(nowMs, nowMs));
        } finally {
            logger.setLevel(null);
            logger.detachAppender(log);
        }
    }
}
