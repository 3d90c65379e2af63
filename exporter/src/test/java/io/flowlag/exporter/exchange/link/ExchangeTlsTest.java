package io.flowlag.exporter.exchange.link;

import io.flowlag.exporter.exchange.link.ExchangeFixture.Heard;
import io.flowlag.exporter.exchange.link.ExchangeFixture.Received;
import io.flowlag.exporter.status.Heartbeat;
import io.flowlag.ipfix.transport.TlsCredentials;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

import javax.net.ssl.SSLContext;
import javax.net.ssl.SSLException;
import javax.net.ssl.X509TrustManager;
import java.lang.reflect.Constructor;
import java.net.InetSocketAddress;
import java.nio.ByteBuffer;
import java.nio.file.Path;
import java.util.ArrayDeque;
import java.util.List;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertNull;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

/** TLS with certificates of both ends, over a network in memory. */
class ExchangeTlsTest {
    @TempDir
    private static Path directory;
    private static TestCredentials credentials;

    private final ExchangeFixture ends = new ExchangeFixture();
    private final Received received = new Received();
    private final Heard heard = new Heard();

    @BeforeAll
    static void makeCertificates() throws Exception {
        credentials = new TestCredentials(directory);
        credentials.make("receiver", "IP:127.0.0.1,DNS:receiver.example");
        credentials.make("sender", "DNS:sender.example");
        credentials.make("stranger", "IP:127.0.0.1,DNS:sender.example");
    }

    @AfterEach
    void closeEnds() {
        ends.close();
    }

    private ExchangeListener listener(final List<String> allowed) throws Exception {
        return ends.listener(received, 0, context -> {
            try {
                context.tls(credentials.credentials("receiver", "sender"), allowed);
            } catch (final Exception ex) {
                throw new AssertionError(ex);
            }
        });
    }

    private ExchangeConnector connector(
        final Heard who, final int port, final String own, final String trusted, final String name) throws Exception {
        final TlsCredentials tls = credentials.credentials(own, trusted);
        return ends.connector(who, port, context -> context.tls(tls, name, List.of()));
    }

    @Test
    void shouldExchangeWhenBothTrustEachOther() throws Exception {
        final ExchangeListener listener = listener(List.of("sender.example"));
        final ExchangeConnector connector =
            connector(heard, ends.port(listener), "sender", "receiver", "receiver.example");
        ends.until("settings held", () -> received.held.equals(List.of(1)));
        for (long number = 1; number <= 3; number++) {
            connector.offer(ExchangeFixture.interval(connector, number));
        }
        ends.until("answers", () -> heard.answered.size() == 3);
        assertEquals(List.of(1L, 2L, 3L), received.intervals);
        connector.close();
        ends.until("good-bye", () -> received.ends.size() == 1);
        assertEquals(1, listener.counters().get(ExchangeCounter.ENDED_BY_PEER));
    }

    @Test
    void shouldRefuseACertificateThatNobodyVouchesFor() throws Exception {
        final ExchangeListener listener = listener(List.of());
        final Heard stranger = new Heard();
        final ExchangeConnector bad =
            connector(stranger, ends.port(listener), "stranger", "receiver", "127.0.0.1");
        ends.until("refused", () -> listener.counters().get(ExchangeCounter.ENDED_TLS) == 1 && !stranger.ends.isEmpty());
        assertNull(bad.schedule().latest());
        assertEquals(0, received.sessions);
        connector(heard, ends.port(listener), "sender", "receiver", "127.0.0.1");
        ends.until("the good one's settings", () -> received.held.equals(List.of(1)));
    }

    @Test
    void shouldRefuseASenderThatIsNotOnTheList() throws Exception {
        final ExchangeListener listener = listener(List.of("other.example"));
        connector(heard, ends.port(listener), "sender", "receiver", "127.0.0.1");
        ends.until("refused", () -> listener.counters().get(ExchangeCounter.ENDED_TLS) == 1);
        assertEquals(0, received.sessions);
    }

    @Test
    void shouldNotTalkToAReceiverOfAnotherNameOrAuthority() throws Exception {
        final ExchangeListener listener = listener(List.of());
        final int port = ends.port(listener);
        final ExchangeConnector other = connector(heard, port, "sender", "receiver", "elsewhere.example");
        ends.until("refused by name", () -> other.counters().get(ExchangeCounter.ENDED_TLS) == 1);
        final ExchangeConnector untrusting = connector(new Heard(), port, "sender", "stranger", "127.0.0.1");
        ends.until("refused by authority", () -> untrusting.counters().get(ExchangeCounter.ENDED_TLS) == 1);
        assertEquals(0, received.sessions);
    }

    @Test
    void shouldSayWhoWasTurnedAwayAndWhy() throws Exception {
        final ExchangeListener listener = listener(List.of("nobody.example"));
        connector(heard, ends.port(listener), "stranger", "receiver", "127.0.0.1");
        ends.until("refused by authority", () -> received.turnedAway.size() == 1);
        final String first = received.turnedAway.get(0);
        assertTrue(first.matches("/127\\.0\\.0\\.1:\\d+ ended_tls .*certif.*"), first);
        connector(heard, ends.port(listener), "sender", "receiver", "127.0.0.1");
        ends.until("refused by name", () -> received.turnedAway.stream().anyMatch((each) -> each.contains("sender.example")));
        assertEquals(0, received.sessions);
    }

    /** A sender that closes while the receiver's task still judges its certificate is refused for the certificate. */
    @Test
    void shouldJudgeACertificateWhoseSenderHasClosed() throws Exception {
        final ArrayDeque<Runnable> tasks = new ArrayDeque<>();
        final InetSocketAddress address = new InetSocketAddress("127.0.0.1", 1);
        try (Network.Port port = ends.memory.listen(address);
            PeerChannel sender = ends.memory.connect(address);
            PeerChannel accepted = port.accept()) {
            final TlsChannel client = new TlsChannel(sender,
                credentials.credentials("stranger", "receiver").clientEngine("127.0.0.1", 1), List.of(), Runnable::run);
            final TlsChannel receiver = new TlsChannel(accepted,
                credentials.credentials("receiver", "sender").serverEngine(), List.of(), tasks::add);
            while (!client.isReady()) {
                receiver.isReady();
                if (!tasks.isEmpty()) {
                    tasks.remove().run();
                }
            }
            client.close();
            while (tasks.isEmpty()) {
                assertFalse(receiver.isReady());
            }
            assertFalse(receiver.isReady());
            assertFalse(receiver.isReady());
            final SSLException refused = assertThrows(SSLException.class, () -> {
                while (!receiver.isReady()) {
                    if (!tasks.isEmpty()) {
                        tasks.remove().run();
                    }
                }
            });
            assertTrue(refused.getMessage().contains("certif"), refused::getMessage);
        }
    }

    /** The key manager of the receiver answers no ClientHello. */
    @Test
    void shouldTellAHandshakeThatHangs() throws Exception {
        final CountDownLatch mayEnd = new CountDownLatch(1);
        final Constructor<TlsCredentials> constructor =
            TlsCredentials.class.getDeclaredConstructor(SSLContext.class, X509TrustManager.class, List.class);
        constructor.setAccessible(true);
        final TlsCredentials stalled = constructor.newInstance(StalledKeys.context(mayEnd), null, List.of());
        try {
            final ExchangeListener listener = ends.listener(received, 0, context -> context.tls(stalled, List.of()));
            connector(heard, ends.port(listener), "sender", "receiver", "127.0.0.1");
            ends.until("a handshake", () -> handshake() != null);
            assertFalse(handshake().isStalled(1));
            assertFalse(handshake().isStalled(TimeUnit.MINUTES.toNanos(10)));
            assertTrue(handshake().isStalled(TimeUnit.MINUTES.toNanos(10) + 1));
            mayEnd.countDown();
            ends.until("refused", () -> listener.counters().get(ExchangeCounter.ENDED_TLS) == 1);
            ends.until("no handshake", () -> handshake() == null);
        } finally {
            mayEnd.countDown();
        }
    }

    private static Heartbeat handshake() {
        return Heartbeat.living().stream().filter((each) -> "exchange-handshake".equals(each.roleName())).findAny().orElse(null);
    }

    @Test
    void shouldRefusePlainTalkOnATlsPort() throws Exception {
        final ExchangeListener listener = listener(List.of());
        final Heard plain = new Heard();
        ends.connector(plain, ends.port(listener));
        try (PeerChannel noise = ends.memory.connect(ends.address(listener))) {
            noise.write(ByteBuffer.wrap(new byte[1000]));
            ends.until("refused", () -> listener.counters().get(ExchangeCounter.ENDED_TLS) == 1);
            connector(heard, ends.port(listener), "sender", "receiver", "127.0.0.1");
            ends.until("the good one's settings", () -> received.held.equals(List.of(1)));
        }
        assertEquals(0, plain.sessions);
    }
}
