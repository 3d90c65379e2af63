package io.flowlag.exporter.exchange.link;

import com.sun.management.ThreadMXBean;
import io.flowlag.exporter.exchange.link.ExchangeFixture.Heard;
import io.flowlag.exporter.exchange.link.ExchangeFixture.Received;
import io.flowlag.exporter.exchange.wire.SharedKey;
import io.flowlag.ipfix.transport.Endpoint;
import org.agrona.concurrent.AgentRunner;
import org.agrona.concurrent.SleepingMillisIdleStrategy;
import org.agrona.concurrent.SystemNanoClock;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

import java.io.IOException;
import java.lang.management.ManagementFactory;
import java.net.InetSocketAddress;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.atomic.AtomicReference;
import java.util.function.BooleanSupplier;

import static io.flowlag.exporter.exchange.link.ExchangeFixture.SECOND_NS;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertNull;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

/** The ends on threads of their own, as a process runs them. */
class ExchangeThreadsTest {
    private static final int INTERVALS = 20;
    private static final int SEND_TIMES = 10_000;
    private static final int PORT = 8621;
    private static final long PATIENCE_NS = 120_000_000_000L;

    private static void await(final String what, final BooleanSupplier holds) {
        final long startNs = System.nanoTime();
        while (!holds.getAsBoolean()) {
            assertTrue(System.nanoTime() - startNs < PATIENCE_NS, "not in time: " + what);
            Thread.yield();
        }
    }

    @Test
    void shouldShipFromAnotherThread() throws IOException {
        final Received received = new Received();
        final Heard heard = new Heard();
        final AtomicReference<Throwable> error = new AtomicReference<>();
        final MemoryNetwork network = new MemoryNetwork(SystemNanoClock.INSTANCE);
        final ExchangeListener listener = new ListenerSetup(
            network, new InetSocketAddress("127.0.0.1", PORT), received, SystemNanoClock.INSTANCE, SECOND_NS)
            .key(SharedKey.of(new byte[16])).listener();
        final ExchangeConnector connector = new ConnectorSetup(
            network, new Endpoint("127.0.0.1", PORT), heard, SystemNanoClock.INSTANCE, SECOND_NS)
            .key(SharedKey.of(new byte[16])).waiting(INTERVALS, 1 << 30, PATIENCE_NS).connector();
        try (AgentRunner listening = new AgentRunner(new SleepingMillisIdleStrategy(1), error::set, null, listener);
            AgentRunner connecting = new AgentRunner(new SleepingMillisIdleStrategy(1), error::set, null, connector)) {
            AgentRunner.startOnThread(listening);
            AgentRunner.startOnThread(connecting);
            await("settings", () -> connector.schedule().at(1, SECOND_NS) != null);
            for (int number = 1; number <= INTERVALS; number++) {
                final EncodedInterval interval = ExchangeFixture.interval(connector, number);
                await("room", () -> connector.offer(interval));
                assertTrue(listener.expect(0, number, ExchangeFixture.SECOND_NS));
            }
            int taken = 0;
            while (taken < SEND_TIMES) {
                taken += connector.offerPassiveSendTime(taken, taken, 2) ? 1 : 0;
            }
            await("answers", () -> connector.counters().get(ExchangeCounter.INTERVALS_ANSWERED) == INTERVALS);
            await("send times", () -> listener.counters().get(ExchangeCounter.SEND_TIMES_RECEIVED) == SEND_TIMES);
        }
        assertNull(error.get());
        assertEquals(INTERVALS, received.intervals.size());
        final List<Long> keys = new ArrayList<>();
        for (long key = 0; key < SEND_TIMES; key++) {
            keys.add(key);
        }
        assertEquals(keys, received.sendTimeKeys);
        assertEquals(0, listener.counters().get(ExchangeCounter.SEND_TIMES_MISSING));
        assertEquals(0, listener.counters().get(ExchangeCounter.INTERVALS_MISSING));
    }

    @Test
    void shouldAllocateNothingPerSendTime() {
        final ThreadMXBean threads = (ThreadMXBean)ManagementFactory.getThreadMXBean();
        final ExchangeConnector connector =
            new ConnectorSetup(TcpChannel.NETWORK, new Endpoint("127.0.0.1", 1), new Heard(), SystemNanoClock.INSTANCE, SECOND_NS)
                .connector();
        offer(connector);
        final long beforeBytes = threads.getCurrentThreadAllocatedBytes();
        offer(connector);
        assertEquals(0, threads.getCurrentThreadAllocatedBytes() - beforeBytes);
        assertTrue(connector.counters().get(ExchangeCounter.SEND_TIMES_TURNED_AWAY) > 0);
        connector.close();
    }

    private static void offer(final ExchangeConnector connector) {
        for (int i = 0; i < 100_000; i++) {
            connector.offerSendTime(1, i, i, 2);
            connector.offerPassiveSendTime(i, i, 2);
        }
    }

    @Test
    void shouldReadKeysAndNameFilesThatHoldNone(@TempDir final Path directory) throws IOException {
        final Path file = directory.resolve("key");
        Files.writeString(file, "00112233445566778899aabbccddeeff\n");
        final SharedKey key = SharedKey.load(file).get(0);
        assertEquals(16, key.octets().length);
        assertFalse(key.toString().contains("0011"));
        Files.writeString(file, "0011");
        assertTrue(assertThrows(IOException.class, () -> SharedKey.load(file)).getMessage().contains("holds no key"));
        Files.writeString(file, "no hex");
        assertTrue(assertThrows(IOException.class, () -> SharedKey.load(file)).getMessage().contains("holds no key"));
    }
}
