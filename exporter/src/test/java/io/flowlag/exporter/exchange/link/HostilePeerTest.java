package io.flowlag.exporter.exchange.link;

import com.sun.management.ThreadMXBean;
import io.flowlag.common.memory.OffHeapBuffer;
import io.flowlag.exporter.exchange.link.ExchangeFixture.Heard;
import io.flowlag.exporter.exchange.link.ExchangeFixture.Received;
import io.flowlag.exporter.exchange.wire.DropsMessage;
import io.flowlag.exporter.exchange.wire.ExchangeHeader;
import io.flowlag.exporter.exchange.wire.ExchangeResult;
import io.flowlag.exporter.exchange.wire.ExchangeVerifier;
import io.flowlag.exporter.exchange.wire.HelloMessage;
import io.flowlag.exporter.exchange.wire.IntervalBeginMessage;
import io.flowlag.exporter.exchange.wire.IntervalEndMessage;
import io.flowlag.exporter.exchange.wire.IntervalListMessage;
import io.flowlag.exporter.exchange.wire.MessageAuthenticator;
import io.flowlag.exporter.exchange.wire.MessageType;
import io.flowlag.exporter.exchange.wire.PingMessage;
import io.flowlag.exporter.exchange.wire.PointDrops;
import io.flowlag.exporter.exchange.wire.RefusedMessage;
import io.flowlag.exporter.exchange.wire.SharedKey;
import org.agrona.CloseHelper;
import org.agrona.concurrent.UnsafeBuffer;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;

import java.io.IOException;
import java.lang.management.ManagementFactory;
import java.nio.ByteBuffer;
import java.util.ArrayList;
import java.util.List;
import java.util.SplittableRandom;
import java.util.function.ToIntFunction;

import static io.flowlag.exporter.exchange.link.ExchangeFixture.SECOND_NS;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

/** Whatever a peer does, it is refused and counted, and the good session goes on. */
class HostilePeerTest {
    private static final int CONNECTIONS = 1000;
    private static final long STEP_NS = 1_000_000;
    /** First interval of the second settings. */
    private static final long LATER = 1000;
    /** Most digests that a listener of a test takes in an interval. */
    private static final int MOST_DIGESTS = 8 << 20;
    private static final int PIECE_DIGESTS = 4096;
    private static final int ROUNDS = 100;

    private final ExchangeFixture ends = new ExchangeFixture();
    private final Received received = new Received();
    private final Heard heard = new Heard();
    private ExchangeListener listener;
    private ExchangeConnector good;
    private long shipped;

    @BeforeEach
    void beginGoodSession() throws IOException {
        listener = ends.listener(received);
        good = ends.connector(heard, ends.port(listener), context -> context.pointId(1));
        ends.until("settings held", () -> received.held.equals(List.of(1)));
        assertGoodSessionGoesOn();
    }

    @AfterEach
    void closeEnds() {
        ends.close();
    }

    private void assertGoodSessionGoesOn() {
        shipped++;
        good.offer(ExchangeFixture.interval(good, shipped));
        ends.until("the good session's answer", () -> heard.answered.size() == shipped);
        assertTrue(received.intervals.contains(shipped));
        assertEquals(1, heard.sessions);
    }

    private long ended(final ExchangeCounter how) {
        return listener.counters().get(how);
    }

    private PeerChannel connect() {
        final PeerChannel channel = ends.memory.connect(ends.address(listener));
        ends.owned.add(channel);
        return channel;
    }

    private static ByteBuffer message(final ToIntFunction<UnsafeBuffer> encoder) {
        final UnsafeBuffer buffer = new UnsafeBuffer(new byte[ExchangeHeader.MAX_MESSAGE_BYTES]);
        final int lengthBytes = encoder.applyAsInt(buffer);
        return ByteBuffer.wrap(buffer.byteArray(), 0, lengthBytes);
    }

    private static ByteBuffer hello(final long pointId) {
        return message(buffer ->
            HelloMessage.encode(buffer, HelloMessage.SENDER, false, pointId, 1, new byte[HelloMessage.NONCE_BYTES]));
    }

    /** What the listener said last on a connection that it has ended. */
    private String lastWord(final PeerChannel channel) {
        final ByteBuffer said = ByteBuffer.allocate(ExchangeHeader.MAX_MESSAGE_BYTES);
        ends.until("the end", () -> {
            try {
                return channel.read(said) < 0;
            } catch (final IOException ex) {
                return true;
            }
        });
        final UnsafeBuffer octets = new UnsafeBuffer(said);
        int offset = 0;
        String text = "";
        while (offset < said.position()) {
            final int lengthBytes = ExchangeHeader.lengthBytes(octets, offset);
            assertEquals(ExchangeResult.ACCEPTED, ExchangeVerifier.verify(octets, offset, lengthBytes));
            if (ExchangeHeader.type(octets, offset) == MessageType.REFUSED) {
                text = new RefusedMessage().wrap(octets, offset).text();
            }
            offset += lengthBytes;
        }
        return text;
    }

    private void assertRefused(final ExchangeResult reason, final String text, final ByteBuffer... octets) throws IOException {
        final long refusals = listener.counters().refusals(reason);
        final PeerChannel channel = connect();
        for (final ByteBuffer some : octets) {
            while (some.hasRemaining()) {
                channel.write(some);
                ends.turn();
            }
        }
        ends.until("refused: " + reason, () -> listener.counters().refusals(reason) == refusals + 1);
        assertEquals(text, lastWord(channel));
        assertGoodSessionGoesOn();
    }

    @Test
    void shouldNameBothVersions() throws IOException {
        final ByteBuffer hello = hello(2);
        hello.put(ExchangeHeader.VERSION_OFFSET, (byte)9);
        assertRefused(ExchangeResult.VERSION, "version: sender 9, receiver " + ExchangeHeader.VERSION, hello);
    }

    @Test
    void shouldRefuseGiantLengths() throws IOException {
        final ByteBuffer giant = hello(2);
        giant.put(ExchangeHeader.LENGTH_OFFSET + 3, (byte)0x7f);
        assertRefused(ExchangeResult.LENGTH, "length: 2130706488, at most 72", giant);
        final ByteBuffer negative = hello(2);
        negative.put(ExchangeHeader.LENGTH_OFFSET + 3, (byte)0x80);
        assertRefused(ExchangeResult.LENGTH, "length: -2147483592, at most 72", negative);
        final ByteBuffer later = message(buffer -> {
            ExchangeHeader.encode(buffer, 0, MessageType.CELLS, 100_000_000);
            return 100;
        });
        assertRefused(ExchangeResult.LENGTH, "length: 100000016, at most 65536", hello(2), later);
    }

    @Test
    void shouldRefuseWhatIsNoMessage() throws IOException {
        assertRefused(ExchangeResult.MAGIC, "header: magic", ByteBuffer.wrap("GET / HTTP/1.1\r\nHost: x\r\n\r\n".getBytes()));
        assertRefused(ExchangeResult.UNEXPECTED, "message PING: unexpected",
            message(buffer -> PingMessage.encode(buffer, 0, 1, false)));
        assertRefused(ExchangeResult.UNEXPECTED, "message DROPS: unexpected",
            hello(2), message(buffer -> DropsMessage.encode(buffer, 0, 1, PointDrops.NONE)));
        assertRefused(ExchangeResult.UNEXPECTED, "message PING: unexpected", hello(2),
            message(buffer -> PingMessage.encodeDelay(buffer, 0, PingMessage.timeToken(1), 1, 2)));
        assertRefused(ExchangeResult.UNEXPECTED, "role: sender receiver, receiver receiver", message(buffer ->
            HelloMessage.encode(buffer, HelloMessage.RECEIVER, false, 2, 1, new byte[HelloMessage.NONCE_BYTES])));
    }

    @Test
    void shouldRefuseAnIntervalThatIsNotWhole() throws IOException {
        final HeldSettings held = listener.schedule().at(1, SECOND_NS);
        final ByteBuffer begin = message(buffer -> {
            final int lengthBytes = IntervalBeginMessage.encode(buffer, 1, held.settings(), held.receiverInstance());
            IntervalBeginMessage.count(buffer, MessageType.CELLS, 1);
            IntervalBeginMessage.count(buffer, MessageType.IN_FLIGHT, 1 << 20);
            return lengthBytes;
        });
        final ByteBuffer end = message(buffer -> IntervalEndMessage.encode(buffer, 0, 1, 0));
        assertRefused(ExchangeResult.INTERVAL, "message INTERVAL_END: interval", hello(2), begin, end);
    }

    private void write(final PeerChannel channel, final ByteBuffer octets) throws IOException {
        while (octets.hasRemaining()) {
            channel.write(octets);
            ends.turn();
        }
    }

    /** Begins an interval that drops the one before, and says that the longest list comes. */
    private void announce(final PeerChannel channel, final long number) throws IOException {
        final HeldSettings held = listener.schedule().at(number, SECOND_NS);
        write(channel, message(buffer -> {
            final int lengthBytes = IntervalBeginMessage.encode(buffer, number, held.settings(), held.receiverInstance());
            IntervalBeginMessage.count(buffer, MessageType.CELLS, 1);
            IntervalBeginMessage.count(buffer, MessageType.IN_FLIGHT, MOST_DIGESTS);
            return lengthBytes;
        }));
    }

    /** Sends pieces of the longest list. */
    private void list(final PeerChannel channel, final long number, final int pieces) throws IOException {
        final UnsafeBuffer list = new UnsafeBuffer(ByteBuffer.allocateDirect(pieces * PIECE_DIGESTS * Long.BYTES));
        final UnsafeBuffer piece = new UnsafeBuffer(new byte[ExchangeHeader.MAX_MESSAGE_BYTES]);
        for (int i = 0; i < pieces; i++) {
            final UnsafeBuffer digests = new UnsafeBuffer(list, 0, (i + 1) * PIECE_DIGESTS * Long.BYTES);
            final int lengthBytes = IntervalListMessage.encode(
                piece, 0, MessageType.IN_FLIGHT, number, digests, i * PIECE_DIGESTS);
            write(channel, ByteBuffer.wrap(piece.byteArray(), 0, lengthBytes));
        }
    }

    /** Heap that this thread, which is all ends', has taken, beside the octets that it sent. */
    private long heapBytes() {
        return ((ThreadMXBean)ManagementFactory.getThreadMXBean()).getCurrentThreadAllocatedBytes() -
            listener.counters().get(ExchangeCounter.OCTETS_RECEIVED);
    }

    /** The lists are the longest that are allowed, of settings in turn; the last one comes whole, but nothing else does. */
    @Test
    void shouldTakeNoMemoryForWhatAPeerAnnouncesAndSends() throws IOException {
        listener.offerSettings(ExchangeFixture.settings(2, LATER));
        ends.until("both settings", () -> received.held.equals(List.of(1, 2)));
        final PeerChannel liar = connect();
        write(liar, hello(2));
        announce(liar, 1);
        final long heapBytes = heapBytes();
        final long offHeapBytes = OffHeapBuffer.untouchedBytes();
        for (long i = 0; i < ROUNDS; i++) {
            announce(liar, LATER + i);
            announce(liar, 1 + i);
        }
        list(liar, ROUNDS, MOST_DIGESTS / PIECE_DIGESTS);
        final long grownBytes = heapBytes() - heapBytes;
        assertTrue(grownBytes < 16 << 20, grownBytes + " octets of the heap");
        assertTrue(OffHeapBuffer.untouchedBytes() <= offHeapBytes, "the room of an interval is what there was");
        write(liar, message(buffer -> IntervalEndMessage.encode(buffer, 0, ROUNDS, MOST_DIGESTS / PIECE_DIGESTS)));
        ends.until("refused", () -> listener.counters().refusals(ExchangeResult.INTERVAL) == 1);
        assertEquals("message INTERVAL_END: interval", lastWord(liar));
        assertGoodSessionGoesOn();
    }

    @Test
    void shouldRefuseAnotherKeyAndNone() throws IOException {
        final Received keyedReceived = new Received();
        final ExchangeListener keyed = ends.listener(keyedReceived, 0, context -> context.key(SharedKey.of(new byte[32])));
        final int port = ends.port(keyed);
        final byte[] other = new byte[32];
        other[0] = 1;
        final Heard wrong = new Heard();
        ends.connector(wrong, port, context -> context.key(SharedKey.of(other)).backoff(SECOND_NS, SECOND_NS));
        ends.until("wrong key refused", () -> !wrong.ends.isEmpty());
        assertEquals(List.of("authentication: the shared keys differ"), wrong.refusals);
        final Heard none = new Heard();
        ends.connector(none, port, context -> context.backoff(SECOND_NS, SECOND_NS));
        ends.until("no key refused", () -> !none.ends.isEmpty());
        assertEquals(List.of("authentication: shared key: sender no, receiver yes"), none.refusals);
        final Heard unwanted = new Heard();
        ends.connector(unwanted, ends.port(listener),
            context -> context.pointId(5).key(SharedKey.of(other)).backoff(SECOND_NS, SECOND_NS));
        ends.until("unwanted key refused", () -> !unwanted.ends.isEmpty());
        assertEquals(List.of("authentication: shared key: sender yes, receiver no"), unwanted.refusals);
        final Heard right = new Heard();
        final ExchangeConnector keyedSender =
            ends.connector(right, port, context -> context.key(SharedKey.of(new byte[32])));
        ends.until("the right key", () -> keyedReceived.held.equals(List.of(1)));
        keyedSender.offer(ExchangeFixture.interval(keyedSender, 1));
        ends.until("answer", () -> right.answered.size() == 1);
        assertEquals(0, wrong.sessions + none.sessions + unwanted.sessions);
        assertTrue(keyed.counters().refusals(ExchangeResult.AUTHENTICATION) >= 1);
        assertGoodSessionGoesOn();
    }

    @Test
    void shouldRefuseAChangedOrRepeatedMessageOfAKeyedSession() {
        final SharedKey key = SharedKey.of(new byte[32]);
        final byte[] hello = new byte[56];
        final MessageAuthenticator sender = MessageAuthenticator.of(key, false, hello, hello);
        final MessageAuthenticator receiver = MessageAuthenticator.of(key, true, hello, hello);
        final UnsafeBuffer ping = new UnsafeBuffer(new byte[100]);
        final int bareBytes = PingMessage.encode(ping, 0, 5, false);
        final int lengthBytes = ExchangeHeader.addTrailer(ping, 0, bareBytes);
        sender.seal(ping, 0, lengthBytes);
        for (int offset = 0; offset < lengthBytes; offset++) {
            ping.putByte(offset, (byte)(ping.getByte(offset) ^ 1));
            assertTrue(!receiver.open(ping, 0, lengthBytes), "offset " + offset);
            ping.putByte(offset, (byte)(ping.getByte(offset) ^ 1));
        }
        assertTrue(!sender.open(ping, 0, lengthBytes), "sent back");
        assertTrue(receiver.open(ping, 0, lengthBytes));
        assertTrue(!receiver.open(ping, 0, lengthBytes), "repeated");
    }

    @Test
    void shouldEndSlowAndCutMessages() throws IOException {
        final PeerChannel silent = connect();
        final PeerChannel slow = connect();
        final PeerChannel cut = connect();
        slow.write(hello(3));
        cut.write(hello(4));
        ends.until("sessions", () -> received.sessions == 3);
        slow.write(ByteBuffer.wrap(new byte[] {'F'}));
        cut.write(message(buffer -> PingMessage.encode(buffer, 0, 1, false)).limit(20));
        cut.close();
        ends.until("cut", () -> ended(ExchangeCounter.ENDED_BY_PEER) + ended(ExchangeCounter.ENDED_BROKEN) == 1);
        final byte[] magic = {'L', 'G', 'X', 1};
        for (final byte octet : magic) {
            ends.clock.advance(3 * SECOND_NS);
            slow.write(ByteBuffer.wrap(new byte[] {octet}));
            ends.turn();
        }
        ends.until("slow", () -> ended(ExchangeCounter.ENDED_SLOW) == 1);
        ends.until("silent", () -> ended(ExchangeCounter.ENDED_HANDSHAKE) == 1);
        assertTrue(silent.isOpen());
        assertGoodSessionGoesOn();
    }

    @Test
    void shouldEndASenderThatDoesNotRead() throws IOException {
        final PeerChannel deaf = connect();
        deaf.write(hello(2));
        ends.until("session", () -> received.sessions == 2);
        final ByteBuffer pings = ByteBuffer.allocate(32 * 2000);
        while (pings.hasRemaining()) {
            pings.put(message(buffer -> PingMessage.encode(buffer, 0, 1, false)));
        }
        ends.untilWithTime("slow", 10 * STEP_NS, () -> {
            try {
                if (!pings.hasRemaining()) {
                    pings.rewind();
                }
                deaf.write(pings);
            } catch (final IOException ex) {
                pings.rewind();
            }
            return ended(ExchangeCounter.ENDED_SLOW) == 1;
        });
        assertGoodSessionGoesOn();
    }

    @Test
    void shouldSurviveNoise() throws IOException {
        final SplittableRandom random = new SplittableRandom(1);
        for (int i = 0; i < 50; i++) {
            final byte[] noise = new byte[1 + random.nextInt(500)];
            random.nextBytes(noise);
            final PeerChannel channel = connect();
            channel.write(hello(100 + i % 3));
            final ByteBuffer begun = message(buffer -> PingMessage.encode(buffer, 0, 1, false));
            final int changed = random.nextInt(begun.limit());
            begun.put(changed, (byte)random.nextInt(256));
            channel.write(begun);
            channel.write(ByteBuffer.wrap(noise));
            ends.turn();
            channel.close();
        }
        ends.until("all ended", () -> ended(ExchangeCounter.CONNECTIONS) == 51 && endings() == 50);
        assertGoodSessionGoesOn();
    }

    private long endings() {
        long endings = 0;
        for (final ExchangeCounter counter : ExchangeCounter.values()) {
            endings += counter.name().startsWith("ENDED_") ? ended(counter) : 0;
        }
        return endings;
    }

    @Test
    void shouldSurviveAThousandConnections() throws IOException {
        final List<PeerChannel> crowd = new ArrayList<>();
        try {
            for (int i = 0; i < CONNECTIONS; i++) {
                crowd.add(ends.memory.connect(ends.address(listener)));
                if (i % 100 == 0) {
                    ends.turn();
                }
            }
            assertGoodSessionGoesOn();
            final Heard late = new Heard();
            ends.connector(late, ends.port(listener), context -> context.pointId(2));
            ends.untilWithTime("a good sender behind the crowd", 5 * STEP_NS, () -> late.sessions == 1);
            assertGoodSessionGoesOn();
            ends.clock.advance(11 * SECOND_NS);
            ends.turn();
            ends.turn();
            assertTrue(ended(ExchangeCounter.ENDED_EVICTED) > 0);
            assertTrue(ended(ExchangeCounter.ENDED_HANDSHAKE) > 0);
            assertEquals(2, received.sessions);
        } finally {
            CloseHelper.quietCloseAll(crowd);
        }
        ends.untilWithTime("all ended", 100 * STEP_NS, () ->
            ended(ExchangeCounter.CONNECTIONS) >= CONNECTIONS + 2 && ended(ExchangeCounter.CONNECTIONS) - endings() == 2);
        assertGoodSessionGoesOn();
    }

    /** They never stop, and each one keeps silent; a sender of another address finds a place all the same. */
    @Test
    void shouldLetOthersInWhileOneNetworkSendsConnectionsWithoutEnd() {
        final List<PeerChannel> crowd = new ArrayList<>();
        final Heard late = new Heard();
        try {
            crowd(crowd, CONNECTIONS);
            ends.connector(late, ends.port(listener), context -> context.pointId(2));
            ends.untilWithTime("a good sender behind the crowd", STEP_NS, () -> {
                crowd(crowd, 20);
                return late.sessions == 1;
            });
            assertTrue(ended(ExchangeCounter.ENDED_EVICTED) > CONNECTIONS / 2);
            assertGoodSessionGoesOn();
        } finally {
            CloseHelper.quietCloseAll(crowd);
        }
    }

    private void crowd(final List<PeerChannel> crowd, final int count) {
        ends.memory.from("192.0.2.1");
        for (int i = 0; i < count; i++) {
            crowd.add(ends.memory.connect(ends.address(listener)));
        }
        ends.memory.from(null);
    }

    @Test
    void shouldRememberABoundedNumberOfSenders() throws IOException {
        final List<PeerChannel> channels = new ArrayList<>();
        for (int i = 0; i < 20; i++) {
            final PeerChannel channel = connect();
            channel.write(hello(1000 + i));
            channels.add(channel);
        }
        ends.until("full", () -> listener.counters().refusals(ExchangeResult.FULL) == 5);
        assertEquals(16, received.sessions);
        CloseHelper.quietCloseAll(channels);
        ends.until("gone", () -> received.ends.size() == 15);
        final PeerChannel after = connect();
        after.write(hello(5000));
        ends.until("place again", () -> received.sessions == 17);
        assertGoodSessionGoesOn();
    }
}
