package io.flowlag.exporter.exchange.link;

import io.flowlag.exporter.delay.interval.repair.SynopsisRequest;
import io.flowlag.exporter.exchange.link.ExchangeFixture.Received;
import io.flowlag.exporter.exchange.wire.ExchangeHeader;
import io.flowlag.exporter.exchange.wire.ExchangeResult;
import io.flowlag.exporter.exchange.wire.ExchangeSettings;
import io.flowlag.exporter.exchange.wire.ExchangeSettings.Content;
import io.flowlag.exporter.exchange.wire.ExchangeSettings.Injection;
import io.flowlag.exporter.exchange.wire.ExchangeSettings.Mode;
import io.flowlag.exporter.exchange.wire.ExchangeSettings.SketchPart;
import io.flowlag.exporter.exchange.wire.ExchangeVerifier;
import io.flowlag.exporter.exchange.wire.HelloMessage;
import io.flowlag.exporter.exchange.wire.IntervalAckMessage;
import io.flowlag.exporter.exchange.wire.IntervalVerdict;
import io.flowlag.exporter.exchange.wire.MessageAuthenticator;
import io.flowlag.exporter.exchange.wire.MessageSeal;
import io.flowlag.exporter.exchange.wire.MessageType;
import io.flowlag.exporter.exchange.wire.PingMessage;
import io.flowlag.exporter.exchange.wire.PointDrops;
import io.flowlag.exporter.exchange.wire.SendTimesMessage;
import io.flowlag.exporter.exchange.wire.SettingsMessage;
import io.flowlag.exporter.exchange.wire.SharedKey;
import org.agrona.concurrent.SystemNanoClock;
import org.agrona.concurrent.UnsafeBuffer;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;

import java.io.IOException;
import java.net.InetSocketAddress;
import java.nio.ByteBuffer;
import java.util.List;
import java.util.function.ToIntFunction;

import static io.flowlag.exporter.exchange.link.ExchangeFixture.SECOND_NS;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertTrue;

/** A sender of version 4 at a receiver of today. */
class OlderSenderTest {
    private static final long NUMBER = 3;
    private static final SharedKey KEY = SharedKey.of(new byte[32]);
    private static final int PORT = 8621;
    private static final String LOOPBACK = "127.0.0.1";
    /** Both ends have it, and what passes between them may be read on the way. */
    private static final String ELSEWHERE = "192.0.2.1";

    private final ExchangeFixture ends = new ExchangeFixture();
    private final Received received = new Received();
    private final ByteBuffer inbound = ByteBuffer.allocate(1 << 17);
    private ExchangeListener listener;
    private Injection injection = Injection.NONE;
    private PeerChannel channel;
    private MessageSeal seal;
    private MessageSeal receiverSeal;

    @AfterEach
    void close() {
        ends.close();
    }

    private void listen(final String address, final Mode mode, final boolean isKeyed) throws IOException {
        final ExchangeSettings settings = new ExchangeSettings(1, 0, SECOND_NS, 200_000_000, new Content(mode, 10_000, 5),
            ExchangeFixture.SECRETS, ExchangeFixture.ALL_TRAFFIC, injection,
            List.of(new SketchPart(ExchangeSettings.ANY, ExchangeFixture.LDS)));
        listener = ends.listener(received, 0, context -> context.address(new InetSocketAddress(address, PORT))
            .settings(settings).key(isKeyed ? KEY : null));
        channel = ends.memory.connect(ends.address(listener));
        ends.owned.add(channel);
    }

    private UnsafeBuffer next() {
        final UnsafeBuffer octets = new UnsafeBuffer(inbound);
        ends.until("a message", () -> {
            try {
                channel.read(inbound);
            } catch (final IOException ex) {
                throw new AssertionError(ex);
            }
            return inbound.position() >= ExchangeHeader.LENGTH_BYTES &&
                inbound.position() >= ExchangeHeader.lengthBytes(octets, 0);
        });
        final byte[] message = new byte[ExchangeHeader.lengthBytes(octets, 0)];
        inbound.flip().get(message);
        inbound.compact();
        final UnsafeBuffer copy = new UnsafeBuffer(message);
        assertEquals(4, ExchangeHeader.version(copy, 0));
        assertEquals(ExchangeResult.ACCEPTED, ExchangeVerifier.verify(copy, 0, message.length));
        return copy;
    }

    private void say(final ToIntFunction<UnsafeBuffer> encoder) throws IOException {
        final UnsafeBuffer buffer = new UnsafeBuffer(new byte[ExchangeHeader.MAX_MESSAGE_BYTES]);
        int lengthBytes = encoder.applyAsInt(buffer);
        ExchangeHeader.version(buffer, 0, 4);
        if (seal != null) {
            lengthBytes = ExchangeHeader.addTrailer(buffer, 0, lengthBytes);
            seal.seal(buffer, 0, lengthBytes);
        }
        channel.write(ByteBuffer.wrap(buffer.byteArray(), 0, lengthBytes));
    }

    private void greet(final boolean isKeyed) throws IOException {
        final UnsafeBuffer receiverHello = next();
        final int bytes = HelloMessage.MAX_BYTES - ExchangeHeader.TRAILER_BYTES;
        if (isKeyed) {
            final UnsafeBuffer hello = new UnsafeBuffer(new byte[HelloMessage.MAX_BYTES]);
            HelloMessage.encode(hello, HelloMessage.SENDER, true, 1, 6, new byte[16]);
            ExchangeHeader.version(hello, 0, 4);
            ExchangeHeader.addTrailer(hello, 0, bytes);
            final byte[] bare = new byte[bytes];
            hello.getBytes(0, bare);
            seal = MessageAuthenticator.of(KEY, false, receiverHello.byteArray(), bare);
            receiverSeal = MessageAuthenticator.of(KEY, true, receiverHello.byteArray(), bare);
        }
        say(b -> HelloMessage.encode(b, HelloMessage.SENDER, isKeyed, 1, 6, new byte[16]));
    }

    private ExchangeSettings settings() {
        final UnsafeBuffer message = next();
        if (seal != null) {
            assertTrue(seal.open(message, 0, message.capacity()));
            receiverSeal.hideSecrets(message, 0);
        }
        return new SettingsMessage().wrap(message, 0).settings();
    }

    /** An interval of cells: its messages have the layout of version 4. */
    private void ship() throws IOException {
        final EncodedInterval interval = new IntervalEncoder(SystemNanoClock.INSTANCE, new ExchangeCounters())
            .begin(NUMBER, listener.schedule().at(NUMBER, SECOND_NS), PointDrops.NONE)
            .sketch(ExchangeFixture.sketch(NUMBER, ExchangeFixture.LDS, 1000).image())
            .list(MessageType.IN_FLIGHT, ExchangeFixture.digests(1, 2), 2).end();
        int lengthBytes;
        for (int offset = 0; offset < interval.lengthBytes(); offset += lengthBytes) {
            lengthBytes = ExchangeHeader.lengthBytes(interval.messages(), offset);
            final int from = offset;
            final int messageBytes = lengthBytes;
            say(b -> {
                b.putBytes(0, interval.messages(), from, messageBytes);
                return messageBytes;
            });
        }
        ends.until("the interval", () -> received.intervals.equals(List.of(NUMBER)));
    }

    @Test
    void shouldServeItAsBeforeWhereNobodyCanListenIn() throws IOException {
        listen(LOOPBACK, Mode.AUTO, false);
        greet(false);
        final ExchangeSettings settings = settings();
        assertEquals(Mode.AUTO, settings.mode());
        assertEquals(10_000, settings.content().witnessPpm());
        ship();
        assertEquals(List.of(1L, 2L), received.digests);
        final IntervalAckMessage ack = new IntervalAckMessage().wrap(next(), 0);
        assertEquals(IntervalVerdict.ACCEPTED, ack.verdict());
        assertTrue(listener.ask(1, 7, 1, keys()));
    }

    /** Its send times take three times the octets, and it knows no ceiling: it is asked for the packets that it was asked for. */
    @Test
    void shouldAskItForNoMorePassiveReferencesThanBefore() throws IOException {
        injection = Injection.passive(100_000, 2_000_000);
        listen(LOOPBACK, Mode.AUTO, false);
        greet(false);
        assertEquals(Injection.passive(10_000, 0), settings().injection());
        say(b -> {
            SendTimesMessage.encodeEntry(b, 0, SendTimesMessage.PASSIVE, -5, 124, 1);
            return SendTimesMessage.encode(b, 0, 1);
        });
        ends.until("a send time", () -> received.sendTimeKeys.equals(List.of(-5L)));
    }

    @Test
    void shouldAskItForTheShareThatIsGiven() throws IOException {
        injection = Injection.passive(300_000, 0);
        listen(LOOPBACK, Mode.AUTO, false);
        greet(false);
        assertEquals(injection, settings().injection());
    }

    private static SynopsisRequest keys() {
        final SynopsisRequest request = new SynopsisRequest(1).flows(NUMBER, 99);
        request.add(5);
        return request;
    }

    /** Its messages are authentic and can be read by anybody: it is asked for nothing that has an address in it. */
    @Test
    void shouldAskItForSketchesAloneOverANetworkWithAKey() throws IOException {
        listen(ELSEWHERE, Mode.AUTO, true);
        greet(true);
        final ExchangeSettings settings = settings();
        assertEquals(Mode.CELLS, settings.mode());
        assertEquals(0, settings.content().witnessPpm());
        assertEquals(ExchangeFixture.SECRETS, settings.secrets());
        ship();
        assertFalse(listener.ask(1, 7, 1, keys()));
        assertEquals(0, listener.counters().get(ExchangeCounter.INTERVALS_REFUSED));
    }

    @Test
    void shouldRefuseItWhereSumsOfFlowsAreAllThatIsWanted() throws IOException {
        listen(ELSEWHERE, Mode.FLOWS, true);
        greet(true);
        ends.until("refused", () -> !received.turnedAway.isEmpty());
        assertTrue(received.turnedAway.get(0).contains("does not encrypt keys of flows"), received.turnedAway::toString);
        assertEquals(0, received.sessions);
    }

    /** Its answer is the token alone. */
    @Test
    void shouldAskItForItsTimeOnceAndNoMore() throws IOException {
        listen(LOOPBACK, Mode.AUTO, false);
        greet(false);
        settings();
        ends.clock.advance(SECOND_NS / 10);
        final PingMessage question = new PingMessage().wrap(next(), 0);
        assertTrue(question.isForTime());
        assertFalse(question.isAnswer());
        final long token = question.token();
        say(b -> PingMessage.encode(b, 0, token, true));
        ship();
        final long sent = listener.counters().get(ExchangeCounter.MESSAGES_SENT);
        ends.clock.advance(SECOND_NS / 10);
        ends.turn();
        ends.turn();
        assertEquals(sent, listener.counters().get(ExchangeCounter.MESSAGES_SENT));
    }

    /** An end keeps to the version that it announced. */
    @Test
    void shouldRefuseAMessageOfAnotherVersion() throws IOException {
        listen(LOOPBACK, Mode.AUTO, false);
        greet(false);
        settings();
        final UnsafeBuffer ping = new UnsafeBuffer(new byte[100]);
        channel.write(ByteBuffer.wrap(ping.byteArray(), 0, PingMessage.encode(ping, 0, 1, false)));
        ends.until("refused", () -> listener.counters().refusals(ExchangeResult.VERSION) == 1);
        assertTrue(received.ends.get(0).contains("version: sender 5, receiver 4"), received.ends::toString);
    }
}
