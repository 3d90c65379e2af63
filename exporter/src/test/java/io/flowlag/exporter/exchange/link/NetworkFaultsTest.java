package io.flowlag.exporter.exchange.link;

import io.flowlag.exporter.exchange.link.ExchangeFixture.Heard;
import io.flowlag.exporter.exchange.link.ExchangeFixture.Received;
import io.flowlag.exporter.exchange.wire.SharedKey;
import io.flowlag.ipfix.transport.Endpoint;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

import java.io.IOException;
import java.net.InetSocketAddress;
import java.util.ArrayList;
import java.util.List;
import java.util.Set;
import java.util.SplittableRandom;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.Semaphore;
import java.util.stream.LongStream;

import static io.flowlag.exporter.exchange.link.ExchangeFixture.SECOND_NS;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertTrue;

/** Two ends and a network with faults: each fault ends in the counter that names it, and the exchange goes on. */
class NetworkFaultsTest {
    private static final int INTERVALS = 4;
    private static final SharedKey KEY = SharedKey.of(new byte[32]);

    private final ExchangeFixture ends = new ExchangeFixture();
    private final Received received = new Received();
    private final Heard heard = new Heard();
    private long stepNs = 10_000_000;
    private ExchangeListener listener;
    private ExchangeConnector connector;

    @AfterEach
    void closeEnds() {
        ends.close();
    }

    private void connect() throws IOException {
        listener = ends.listener(received, 0, context -> context.key(KEY));
        connector = ends.connector(heard, ends.port(listener), context -> context.key(KEY));
        ends.untilWithTime("settings held", stepNs, () -> received.held.equals(List.of(1)));
    }

    private void ship() {
        final int before = heard.answered.size();
        for (int number = before + 1; number <= before + INTERVALS; number++) {
            assertTrue(connector.offer(ExchangeFixture.interval(connector, number)));
        }
        ends.untilWithTime("answers", stepNs, () -> heard.answered.size() == before + INTERVALS);
        assertEquals(LongStream.rangeClosed(1, before + INTERVALS).boxed().toList(), received.intervals);
    }

    private long ended(final ExchangeCounter how) {
        return listener.counters().get(how);
    }

    @ParameterizedTest
    @ValueSource(ints = {1, 7, 1460})
    void shouldPutMessagesTogetherFromPiecesOfAnySize(final int mostBytes) throws IOException {
        ends.memory.pieces((octets) -> Math.min(octets, mostBytes));
        stepNs = 10_000;
        connect();
        connector.offerSendTime(0, 1, 2, 2);
        ship();
        ends.untilWithTime("send time", stepNs, () -> received.sendTimeKeys.equals(List.of(1L)));
        assertEquals(1, received.sessions);
    }

    /** Reads and writes of nothing, of one octet and of many, in an order that a seed gives. */
    private List<Long> shipInPieces(final long seed) throws IOException {
        final SplittableRandom random = new SplittableRandom(seed);
        final List<Long> told = new ArrayList<>();
        ends.memory.pieces((octets) -> {
            final int passed = random.nextInt(Math.min(octets, 1 << random.nextInt(16)) + 1);
            told.add((long)passed << Integer.SIZE | octets);
            return passed;
        });
        connect();
        ship();
        told.add(ends.clock.nanoTime());
        return told;
    }

    @Test
    void shouldDoTheSameAgainWithTheSameSeed() throws IOException {
        final List<Long> once = shipInPieces(5);
        final NetworkFaultsTest again = new NetworkFaultsTest();
        assertEquals(once, again.shipInPieces(5));
        again.closeEnds();
        assertTrue(once.size() > 100);
    }

    @Test
    void shouldWaitForAFarEnd() throws IOException {
        ends.memory.delayNs(SECOND_NS / 4);
        connect();
        // To connect, HELLO, its answer, the settings at the same time as those, their answer: five ways at least.
        assertTrue(ends.clock.nanoTime() >= 5 * SECOND_NS / 4, "at " + ends.clock.nanoTime());
        ship();
        assertEquals(1, received.sessions);
    }

    @Test
    void shouldTryAgainWhenNobodyAnswers() throws IOException {
        ends.memory.silent(true);
        listener = ends.listener(received);
        connector = ends.connector(heard, ends.port(listener));
        ends.untilWithTime("no answer", stepNs, () -> heard.ends.size() == 2);
        assertTrue(heard.ends.get(0).endsWith("no connection in time"), heard.ends::toString);
        assertEquals(2, connector.counters().get(ExchangeCounter.CONNECT_FAILURES));
        ends.memory.silent(false);
        ends.untilWithTime("settings held", stepNs, () -> received.held.equals(List.of(1)));
        ship();
    }

    /** Its questions cannot be interrupted, as those of the system. */
    @Test
    void shouldLeaveOneThreadAloneWithANameServerThatHangs() throws IOException {
        final Semaphore answers = new Semaphore(0);
        final Set<Thread> asking = ConcurrentHashMap.newKeySet();
        listener = ends.listener(received);
        final int port = ends.port(listener);
        connector = new ConnectorSetup(ends.memory, new Endpoint("receiver.example", port), heard, ends.clock, 0)
            .resolver(() -> {
                asking.add(Thread.currentThread());
                answers.acquireUninterruptibly();
                return List.of(new InetSocketAddress("127.0.0.1", port));
            }).connector();
        ends.duty(connector::doWork);
        try {
            ends.until("asked", () -> !asking.isEmpty());
            ends.untilWithTime("ten attempts", SECOND_NS, () -> heard.ends.size() == 10);
            answers.release(1_000);
            ends.untilWithTime("settings held", stepNs, () -> received.held.equals(List.of(1)));
            assertEquals(1, asking.size());
            assertFalse(asking.contains(Thread.currentThread()));
        } finally {
            answers.release(1_000);
            connector.close();
        }
    }

    /** The sender hears the receiver and is not heard, then the other way around: each connection is half open at last. */
    @ParameterizedTest
    @ValueSource(booleans = {true, false})
    void shouldEndAConnectionOfWhichADirectionIsLost(final boolean isForth) throws IOException {
        connect();
        ship();
        final MemoryNetwork.Connection first = ends.memory.connection(0);
        (isForth ? first.forth : first.back).lose();
        final ExchangeCounters who = isForth ? listener.counters() : connector.counters();
        ends.untilWithTime("silent", stepNs, () -> who.get(ExchangeCounter.ENDED_SILENT) == 1);
        ends.untilWithTime("settings held again", stepNs, () -> received.held.equals(List.of(1, 1)));
        ship();
        assertEquals(2, ends.memory.connectionCount());
    }

    @Test
    void shouldEndAConnectionThatStandsStill() throws IOException {
        connect();
        ship();
        ends.memory.connection(0).forth.stall(true);
        connector.offerSendTime(0, 1, 2, 2);
        ends.untilWithTime("slow", stepNs, () -> connector.counters().get(ExchangeCounter.ENDED_SLOW) == 1);
        ends.untilWithTime("settings held again", stepNs, () -> received.held.equals(List.of(1, 1)));
        ship();
        assertEquals(1, ended(ExchangeCounter.ENDED_REPLACED) + ended(ExchangeCounter.ENDED_BY_PEER));
    }

    @Test
    void shouldGoOnAfterAReset() throws IOException {
        connect();
        ship();
        ends.memory.connection(0).reset();
        ends.turn();
        assertEquals(List.of("Connection reset"), received.ends);
        assertEquals(List.of("Connection reset"), heard.ends);
        assertEquals(1, ended(ExchangeCounter.ENDED_BROKEN));
        ends.untilWithTime("settings held again", stepNs, () -> received.held.equals(List.of(1, 1)));
        ship();
    }

    /** With less room on the way than an interval takes, its octets go as the receiver reads. */
    @Test
    void shouldSendAsTheOtherEndReads() throws IOException {
        ends.memory.capacityBytes(1000);
        connect();
        ship();
        assertEquals(1, received.sessions);
    }
}
