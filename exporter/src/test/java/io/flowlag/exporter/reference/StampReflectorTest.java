package io.flowlag.exporter.reference;

import io.flowlag.common.time.NtpTimestamp;
import org.agrona.concurrent.CachedNanoClock;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;

import java.io.IOException;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.net.SocketAddress;
import java.nio.ByteBuffer;
import java.nio.channels.DatagramChannel;
import java.util.ArrayList;
import java.util.List;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertNull;

/** Over loopback, with a reflector that the test works. */
class StampReflectorTest {
    private static final long NOW_NS = 1_700_000_000_123_456_789L;
    private static final long PERIOD_NS = 50_000_000L;
    private static final int PTP = 1 << 14;

    private final CachedNanoClock clock = new CachedNanoClock();
    private final List<List<Long>> exchanges = new ArrayList<>();
    private DatagramChannel reflector;
    private StampReflector sender;
    private SocketAddress from;

    @BeforeEach
    void open() throws IOException {
        clock.update(NOW_NS);
        reflector = DatagramChannel.open().bind(new InetSocketAddress(InetAddress.getLoopbackAddress(), 0));
        reflector.configureBlocking(false);
        sender = new StampReflector((InetSocketAddress)reflector.getLocalAddress(), clock::nanoTime, clock);
    }

    @AfterEach
    void close() throws IOException {
        sender.close();
        reflector.close();
    }

    private int poll() {
        return sender.poll((sentNs, receivedNs, reflectedNs, returnedNs) ->
            exchanges.add(List.of(sentNs, receivedNs, reflectedNs, returnedNs)));
    }

    /** A packet of the session-sender; on loopback it is there at once. */
    private ByteBuffer take() throws IOException {
        final ByteBuffer packet = ByteBuffer.allocate(100);
        final SocketAddress sent = reflector.receive(packet);
        from = sent == null ? from : sent;
        return sent == null ? null : packet.flip();
    }

    private void reply(final ByteBuffer packet, final long received, final long reflected, final int errorEstimate)
        throws IOException {
        final ByteBuffer reply = ByteBuffer.allocate(44);
        reply.putInt(900).putLong(reflected).putShort((short)errorEstimate).putShort((short)0).putLong(received);
        reply.put(packet.slice(0, 14));
        reflector.send(reply.position(44).flip(), from);
    }

    @Test
    void shouldTakeTheFourTimesInBothFormats() throws IOException {
        poll();
        final ByteBuffer packet = take();
        assertEquals(44, packet.remaining());
        assertEquals(0, packet.getInt(0));
        assertEquals(NtpTimestamp.ofEpochNs(NOW_NS), packet.getLong(4));
        assertNull(take(), "one each period");
        final long thereNs = NOW_NS + 5_000_000;
        reply(packet, NtpTimestamp.ofEpochNs(thereNs), NtpTimestamp.ofEpochNs(thereNs + 1000), 1);
        clock.advance(300_000);
        assertEquals(1, poll());
        assertEquals(List.of(NOW_NS, thereNs, thereNs + 1000, NOW_NS + 300_000), exchanges.get(0));
        clock.advance(PERIOD_NS);
        poll();
        final ByteBuffer second = take();
        assertEquals(1, second.getInt(0));
        final long ptp = 1_700_000_037L << 32 | 999_999_999;
        reply(second, ptp, ptp, PTP | 1);
        assertEquals(1, poll());
        assertEquals(1_700_000_037_999_999_999L, exchanges.get(1).get(1));
    }

    @Test
    void shouldTakeAReplyOnceAndNoneThatBringsBackAnotherTimestamp() throws IOException {
        poll();
        final ByteBuffer packet = take();
        final long there = NtpTimestamp.ofEpochNs(NOW_NS);
        final ByteBuffer forged = ByteBuffer.allocate(44).put(packet.duplicate()).flip();
        forged.putLong(4, forged.getLong(4) + 1);
        reply(forged, there, there, 1);
        assertEquals(0, poll());
        reply(packet, there, there, 1);
        reply(packet, there, there, 1);
        reflector.send(ByteBuffer.allocate(43), from);
        assertEquals(1, poll());
    }

    @Test
    void shouldGoOnWithoutAReflector() throws IOException {
        final SocketAddress address = reflector.getLocalAddress();
        reflector.close();
        for (int i = 0; i < 5; i++) {
            assertEquals(0, poll());
            clock.advance(PERIOD_NS);
        }
        reflector = DatagramChannel.open().bind(address);
        reflector.configureBlocking(false);
        clock.advance(PERIOD_NS);
        poll();
        clock.advance(PERIOD_NS);
        poll();
        reply(take(), 0, 0, 1);
        assertEquals(1, poll());
    }
}
