package io.flowlag.exporter.exchange.link;

import io.flowlag.exporter.exchange.wire.ExchangeHeader;
import io.flowlag.exporter.exchange.wire.PingMessage;
import io.flowlag.exporter.runtime.FreePorts;
import org.agrona.CloseHelper;
import org.agrona.concurrent.CachedNanoClock;
import org.agrona.concurrent.UnsafeBuffer;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

import java.io.IOException;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.nio.ByteBuffer;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.Executor;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertTrue;

/**
 * What an end wrote before it closed the connection arrives, even if its kernel holds unread octets of the other end, and the
 * other end read slowly.
 */
class LastWordsTest {
    private static final Executor HERE = Runnable::run;
    private static final long STEP_NS = 1_000_000;
    /** Far more turns than octets need; time does not matter. */
    private static final int TURNS = 1_000_000;

    @TempDir
    private static Path directory;
    private final List<AutoCloseable> owned = new ArrayList<>();
    private final ExchangeCounters counters = new ExchangeCounters();
    private final UnsafeBuffer message = new UnsafeBuffer(new byte[ExchangeHeader.MAX_MESSAGE_BYTES]);
    private final CachedNanoClock clock = new CachedNanoClock();
    private PeerChannel near;
    private PeerChannel far;

    @AfterEach
    void close() {
        CloseHelper.quietCloseAll(owned);
    }

    private void connect(final Network network) throws IOException {
        final InetSocketAddress address = new InetSocketAddress(InetAddress.getLoopbackAddress(), FreePorts.tcp());
        try (Network.Port port = network.listen(address)) {
            far = network.connect(address);
            owned.add(far);
            for (int i = 0; i < TURNS && near == null; i++) {
                near = port.accept();
            }
        }
        owned.add(near);
        assertTrue(near.isReady() && far.isReady());
    }

    @Test
    void shouldArriveInPlainTalk() throws Exception {
        connect(new MemoryNetwork(clock));
        shouldArrive(near, far);
    }

    /** The same with a kernel between the ends, so it is known what a kernel does. */
    @Test
    void shouldArriveOverTcp() throws Exception {
        connect(TcpChannel.NETWORK);
        shouldArrive(near, far);
    }

    @Test
    void shouldArriveInTls() throws Exception {
        final TestCredentials credentials = new TestCredentials(directory);
        credentials.make("near", "DNS:near.example");
        credentials.make("far", "DNS:far.example");
        connect(new MemoryNetwork(clock));
        final TlsChannel nearChannel =
            new TlsChannel(near, credentials.credentials("near", "far").serverEngine(), List.of(), HERE);
        final TlsChannel farChannel = new TlsChannel(
            far, credentials.credentials("far", "near").clientEngine("near.example", 1), List.of(), HERE);
        boolean isReady = false;
        for (int i = 0; i < TURNS && !isReady; i++) {
            isReady = nearChannel.isReady() & farChannel.isReady();
        }
        assertTrue(isReady, "handshake");
        shouldArrive(nearChannel, farChannel);
    }

    /** The near end fills the connection until the kernel takes no more, and ends it with octets of the far end unread. */
    private void shouldArrive(final PeerChannel nearChannel, final PeerChannel farChannel) throws Exception {
        final ExchangeConnection connection =
            new ExchangeConnection(nearChannel, true, ExchangeFixture.limits(0), counters, clock::nanoTime, 0);
        connection.beginSession(0);
        final ByteBuffer unread = ByteBuffer.allocate(10_000);
        while (unread.hasRemaining()) {
            assertTrue(farChannel.write(unread) >= 0);
        }
        int sent = 0;
        int turnsWithoutRoom = 0;
        // The near end is not polled with a handler that reads, so the far end's octets stay in the kernel.
        while (turnsWithoutRoom < 100) {
            if (connection.send(message, PingMessage.encode(message, 0, sent, true))) {
                sent++;
                turnsWithoutRoom = 0;
            } else {
                connection.flush(0);
                turnsWithoutRoom++;
            }
        }
        connection.end(ExchangeCounter.ENDED_REFUSED, "the end");

        final ByteBuffer taken = ByteBuffer.allocate(sent * pingBytes() + 1);
        long nowNs = 0;
        int readBytes = 0;
        boolean isClosed = connection.linger(nowNs);
        assertFalse(isClosed, "the far end has not taken it yet");
        for (int i = 0; i < TURNS && readBytes >= 0; i++) {
            readBytes = farChannel.read(taken);
            connection.linger(nowNs);
        }
        assertEquals(-1, readBytes, "it ends");
        assertEquals(sent * pingBytes(), taken.position(), "all that was said has come");
        farChannel.close();
        for (int i = 0; i < TURNS && !isClosed; i++) {
            nowNs += i % 1000 == 0 ? STEP_NS : 0;
            isClosed = connection.linger(nowNs);
        }
        assertTrue(isClosed);
        assertFalse(near.isOpen());
        assertEquals(1, counters.get(ExchangeCounter.ENDED_REFUSED));
    }

    private int pingBytes() {
        return PingMessage.encode(message, 0, 0, true);
    }

    @Test
    void shouldNotWaitForAnEndThatNeverCloses() throws Exception {
        connect(new MemoryNetwork(clock));
        final ExchangeConnection connection =
            new ExchangeConnection(near, true, ExchangeFixture.limits(0), counters, clock::nanoTime, 0);
        connection.end(ExchangeCounter.ENDED_REFUSED, "the end");
        assertFalse(connection.linger(0));
        assertFalse(connection.linger(1_000_000_000L));
        assertTrue(connection.linger(2_000_000_000L), "after two seconds");
        assertFalse(near.isOpen());
    }
}
