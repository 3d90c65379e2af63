package io.flowlag.exporter.exchange.link;

import io.flowlag.exporter.exchange.link.ExchangeFixture.Heard;
import io.flowlag.exporter.exchange.link.ExchangeFixture.Received;
import io.flowlag.exporter.exchange.wire.ExchangeResult;
import io.flowlag.exporter.exchange.wire.IntervalVerdict;
import io.flowlag.exporter.exchange.wire.SharedKey;
import io.flowlag.ipfix.transport.TlsCredentials;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.HexFormat;
import java.util.List;
import java.util.concurrent.atomic.AtomicReference;
import java.util.stream.LongStream;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

/** Keys and certificates that change while two ends, joined in memory, exchange intervals. */
class KeyRotationTest {
    private static final long STEP_NS = 1_000_000;
    private static final SharedKey OLD = SharedKey.of(new byte[16]);
    private static final SharedKey NEXT = SharedKey.of(HexFormat.of().parseHex("01".repeat(32)));

    @TempDir
    private static Path directory;
    private final ExchangeFixture ends = new ExchangeFixture();
    private final Received received = new Received();
    private final Heard heard = new Heard();
    private final AtomicReference<PeerSecurity> receiverKeys = new AtomicReference<>();
    private final AtomicReference<PeerSecurity> senderKeys = new AtomicReference<>();
    private ExchangeListener listener;
    private ExchangeConnector connector;
    private long shipped;

    @AfterEach
    void closeEnds() {
        ends.close();
    }

    private static PeerSecurity keys(final SharedKey... keys) {
        return new PeerSecurity(null, null, List.of(), List.of(keys));
    }

    private void begin(final PeerSecurity receiver, final PeerSecurity sender) throws IOException {
        receiverKeys.set(receiver);
        senderKeys.set(sender);
        listener = ends.listener(received, 0, (setup) -> setup.security(receiverKeys::get));
        connector = ends.connector(heard, ends.port(listener), (setup) -> setup.security(senderKeys::get));
        ends.until("a session", () -> heard.sessions == 1);
    }

    /** An interval is answered, and every one before it has been accepted once. */
    private void exchange() {
        connector.offer(ExchangeFixture.interval(connector, ++shipped));
        listener.expect(0, shipped, ExchangeFixture.SECOND_NS);
        ends.untilWithTime("answer to " + shipped, STEP_NS, () -> heard.answered.size() == shipped);
        assertEquals(LongStream.rangeClosed(1, shipped).boxed().toList(), received.intervals);
        assertEquals(shipped, heard.verdicts.stream().filter((each) -> each == IntervalVerdict.ACCEPTED).count());
        assertEquals(List.of(), received.missing);
    }

    private void change(final AtomicReference<PeerSecurity> end, final PeerSecurity newer) {
        end.set(newer);
        exchange();
    }

    private void connectAgain() {
        final int before = heard.sessions;
        ends.memory.connection(ends.memory.connectionCount() - 1).reset();
        ends.untilWithTime("a session again", STEP_NS, () -> heard.sessions > before);
        exchange();
    }

    @Test
    void shouldRotateTheSharedKeyWithoutLosingAnInterval() throws IOException {
        begin(keys(OLD), keys(OLD));
        exchange();
        change(receiverKeys, keys(OLD, NEXT));
        change(senderKeys, keys(OLD, NEXT));
        change(senderKeys, keys(NEXT, OLD));
        assertEquals(1, heard.sessions, "a next key ends no session");
        connectAgain();
        change(receiverKeys, keys(NEXT, OLD));
        change(receiverKeys, keys(NEXT));
        change(senderKeys, keys(NEXT));
        assertEquals(2, heard.sessions, "nor does an old key by which no session was made");
        assertEquals(0, listener.counters().refusals(ExchangeResult.AUTHENTICATION));
    }

    @Test
    void shouldEndTheSessionOfAKeyThatWasRemovedAndLoseNoInterval() throws IOException {
        begin(keys(OLD, NEXT), keys(OLD, NEXT));
        exchange();
        change(senderKeys, keys(NEXT, OLD));
        connector.offer(ExchangeFixture.interval(connector, ++shipped));
        receiverKeys.set(keys(NEXT));
        exchange();
        assertEquals(2, heard.sessions);
        assertEquals(List.of("authentication: the shared key of this session is no longer valid"), heard.refusals);
        change(senderKeys, keys(NEXT));
        assertEquals(2, heard.sessions);
    }

    @Test
    void shouldEndASessionAtTheSenderWhoseKeyWasRemovedThere() throws IOException {
        begin(keys(OLD, NEXT), keys(OLD));
        exchange();
        connector.offerSendTime(1, 2, 3, 2);
        change(senderKeys, keys(NEXT));
        assertEquals(2, heard.sessions);
        assertEquals(List.of("the shared key of this session is no longer valid"), received.ends);
        assertEquals(List.of(1L << 32 | 2), received.sendTimeKeys, "what waits is sent first");
    }

    @Test
    void shouldRefuseAPeerWithTheRemovedKey() throws IOException {
        begin(keys(OLD), keys(OLD));
        exchange();
        receiverKeys.set(keys(NEXT));
        ends.untilWithTime("refused at its next attempt", STEP_NS,
            () -> heard.refusals.contains("authentication: the shared keys differ"));
        assertEquals(1, heard.sessions);
        change(senderKeys, keys(NEXT));
        assertEquals(2, heard.sessions);
    }

    /** A peer that is about to begin a session does so with the new keys. */
    @Test
    void shouldJudgeConnectionsThatAreNoSessionsYet() throws IOException {
        begin(keys(OLD), keys(OLD));
        try (PeerChannel waiting = ends.memory.connect(ends.address(listener))) {
            ends.until("a second connection", () -> listener.counters().get(ExchangeCounter.CONNECTIONS) == 2);
            change(receiverKeys, keys(OLD, NEXT));
            assertEquals(1, received.turnedAway.size());
            assertTrue(received.turnedAway.get(0).endsWith("keys or certificates changed; connect again"));
            assertTrue(waiting.isOpen());
        }
        assertEquals(1, heard.sessions);
    }

    @Test
    void shouldRenewCertificatesWhileSessionsGoOnAndEndThoseNoLongerTrusted() throws Exception {
        final TestCredentials credentials = new TestCredentials(directory);
        credentials.make("receiver", "IP:127.0.0.1");
        credentials.make("sender", "DNS:sender.example");
        credentials.make("renewed", "DNS:sender.example");
        Files.writeString(directory.resolve("both.pem"), Files.readString(directory.resolve("sender.pem")) +
            Files.readString(directory.resolve("renewed.pem")));
        final TlsCredentials first = credentials.credentials("receiver", "sender");
        assertEquals(first, credentials.credentials("receiver", "sender"), "the same files are no change");
        begin(tls(first), tls(credentials.credentials("sender", "receiver")));
        exchange();

        change(receiverKeys, tls(credentials.credentials("receiver", "both")));
        change(senderKeys, tls(credentials.credentials("renewed", "receiver")));
        assertEquals(1, heard.sessions);
        receiverKeys.set(tls(credentials.credentials("receiver", "renewed")));
        connectAnew();
        assertEquals(List.of("authentication: the certificate of this session is no longer trusted"), heard.refusals);

        senderKeys.set(tls(credentials.credentials("renewed", "sender")));
        ends.until("ended at the sender", () -> received.ends.size() == 2);
        ends.clock.advance(10 * ExchangeFixture.SECOND_NS);
        ends.until("refused at the sender", () -> connector.counters().get(ExchangeCounter.ENDED_TLS) == 1);
        senderKeys.set(tls(credentials.credentials("renewed", "receiver")));
        ends.clock.advance(10 * ExchangeFixture.SECOND_NS);
        ends.until("a session again", () -> heard.sessions == 3);
        exchange();
    }

    /** A handshake of TLS takes time that is not of the test's clock. */
    private void connectAnew() {
        final int before = heard.sessions;
        ends.until("ended", () -> heard.ends.size() == before);
        ends.clock.advance(10 * ExchangeFixture.SECOND_NS);
        ends.until("a session again", () -> heard.sessions > before);
        exchange();
    }

    private static PeerSecurity tls(final TlsCredentials credentials) {
        return new PeerSecurity(credentials, null, List.of(), List.of());
    }

    @Test
    void shouldReadACurrentAndANextKey() throws IOException {
        final Path file = directory.resolve("keys");
        Files.writeString(file, "00".repeat(16) + "\n\n  " + "01".repeat(32) + " \n");
        assertEquals(List.of(OLD, NEXT), SharedKey.load(file));
        assertEquals(OLD.hashCode(), SharedKey.load(file).get(0).hashCode());
        for (final String wrong : List.of("", "\n", "00".repeat(16) + "\n12", ("00".repeat(16) + "\n").repeat(3))) {
            Files.writeString(file, wrong);
            assertTrue(assertThrows(IOException.class, () -> SharedKey.load(file)).getMessage().contains("holds no key"));
        }
    }
}
