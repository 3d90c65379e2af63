package io.flowlag.exporter.exchange.link;

import io.flowlag.exporter.exchange.link.ExchangeFixture.Heard;
import io.flowlag.exporter.exchange.link.ExchangeFixture.Received;
import io.flowlag.exporter.exchange.wire.ExchangeResult;
import io.flowlag.exporter.exchange.wire.ExchangeSettings;
import io.flowlag.exporter.exchange.wire.ExchangeSettings.AddressPrefix;
import io.flowlag.exporter.exchange.wire.ExchangeSettings.Content;
import io.flowlag.exporter.exchange.wire.ExchangeSettings.Injection;
import io.flowlag.exporter.exchange.wire.ExchangeSettings.Mode;
import io.flowlag.exporter.exchange.wire.ExchangeSettings.Selector;
import io.flowlag.exporter.exchange.wire.ExchangeSettings.SketchPart;
import io.flowlag.exporter.exchange.wire.IntervalVerdict;
import io.flowlag.exporter.exchange.wire.MessageType;
import io.flowlag.exporter.exchange.wire.PassiveTimesMessage;
import io.flowlag.exporter.exchange.wire.PointDrops;
import io.flowlag.exporter.exchange.wire.SharedKey;
import io.flowlag.ipfix.transport.Endpoint;
import io.flowlag.sketch.image.ImageHeader;
import io.flowlag.sketch.image.SketchGeometry;
import io.flowlag.sketch.lds.LossyDifferenceSketch;
import org.agrona.concurrent.EpochNanoClock;
import org.agrona.concurrent.SystemNanoClock;
import org.agrona.concurrent.UnsafeBuffer;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;

import java.io.IOException;
import java.net.InetSocketAddress;
import java.util.ArrayList;
import java.util.Collections;
import java.util.List;
import java.util.stream.LongStream;

import static io.flowlag.exporter.exchange.link.ExchangeFixture.SECOND_NS;
import static io.flowlag.exporter.exchange.link.ExchangeFixture.interval;
import static io.flowlag.exporter.exchange.link.ExchangeFixture.settings;
import static org.junit.jupiter.api.Assertions.assertArrayEquals;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertNull;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

/** Two ends joined in memory, on one thread and a settable clock. */
class ExchangeSessionTest {
    private static final long STEP_NS = 1_000_000;
    private static final SharedKey KEY = SharedKey.of(new byte[32]);

    private final ExchangeFixture ends = new ExchangeFixture();
    private final Received received = new Received();
    private final Heard heard = new Heard();

    @AfterEach
    void closeEnds() {
        ends.close();
    }

    private static List<Long> numbers(final long first, final long last) {
        return LongStream.rangeClosed(first, last).boxed().toList();
    }

    private static long endings(final ExchangeCounters counters) {
        long endings = 0;
        for (final ExchangeCounter counter : ExchangeCounter.values()) {
            endings += counter.name().startsWith("ENDED_") ? counters.get(counter) : 0;
        }
        return endings;
    }

    private static void assertAccounted(final ExchangeConnector connector) {
        final ExchangeCounters counters = connector.counters();
        assertEquals(counters.get(ExchangeCounter.INTERVALS_OFFERED), counters.get(ExchangeCounter.INTERVALS_ANSWERED) +
            counters.get(ExchangeCounter.INTERVALS_DROPPED) + counters.get(ExchangeCounter.INTERVALS_EXPIRED) +
            connector.waitingIntervals());
    }

    private void ship(final ExchangeConnector connector, final long first, final long last) {
        for (long number = first; number <= last; number++) {
            assertTrue(connector.offer(interval(connector, number)));
        }
    }

    @Test
    void shouldBringIntervalsFromOneEndToTheOther() throws IOException {
        final ExchangeListener listener = ends.listener(received);
        final ExchangeConnector connector = ends.connector(heard, ends.port(listener));
        ends.until("settings held", () -> received.held.equals(List.of(1)));
        assertEquals(listener.schedule().at(1, SECOND_NS), connector.schedule().at(1, SECOND_NS));
        for (long number = 1; number <= 5; number++) {
            connector.offer(interval(connector, number, number == 3 ? new PointDrops(0, 7, 0, 0) : PointDrops.NONE));
            listener.expect(0, number, SECOND_NS);
        }
        ends.until("answers", () -> heard.answered.size() == 5);
        assertEquals(numbers(1, 5), received.intervals);
        assertEquals(List.of(false, false, true, false, false), received.damaged);
        assertEquals(Collections.nCopies(5, IntervalVerdict.ACCEPTED), heard.verdicts);
        assertEquals(List.of(1L, 2L, 3L), received.digests.subList(0, 3));
        assertEquals(List.of(17L, 27L), received.witnessPackets.subList(0, 2));
        for (int i = 0; i < 5; i++) {
            final UnsafeBuffer original = new UnsafeBuffer(received.images.get(i));
            final byte[] sent = new byte[original.capacity()];
            ExchangeFixture.sketch(i + 1, ExchangeFixture.LDS, 1000).image().buffer().getBytes(0, sent);
            sent[ImageHeader.FLAGS_OFFSET] |= received.damaged.get(i) ? ImageHeader.FLAG_DAMAGED : 0;
            assertArrayEquals(sent, received.images.get(i));
        }
        assertEquals(4, listener.counters().get(ExchangeCounter.INTERVALS_COMPLETE));
        assertEquals(1, listener.counters().get(ExchangeCounter.INTERVALS_DAMAGED));
        assertEquals(List.of(), received.missing);
        assertAccounted(connector);
    }

    @Test
    void shouldBringFlowsWhenTheReceiverAsksForThem() throws IOException {
        final int count = 5000;
        final ExchangeSettings flows = new ExchangeSettings(1, 0, SECOND_NS, 0, new Content(Mode.FLOWS, 0, count),
            ExchangeFixture.SECRETS, ExchangeFixture.ALL_TRAFFIC, Injection.NONE,
            List.of(new SketchPart(ExchangeSettings.ANY, ExchangeFixture.LDS)));
        final ExchangeListener listener = ends.listener(received, 0, context -> context.settings(flows));
        final ExchangeConnector connector = ends.connector(heard, ends.port(listener));
        ends.until("settings held", () -> received.held.equals(List.of(1)));
        final long[] digests = LongStream.range(0, 20_000).toArray();
        connector.offer(new IntervalEncoder(SystemNanoClock.INSTANCE, connector.counters())
            .begin(1, connector.schedule().at(1, SECOND_NS), PointDrops.NONE)
            .list(MessageType.IN_FLIGHT, ExchangeFixture.digests(digests), digests.length)
            .list(MessageType.FLOW_SUMS, ExchangeFixture.flows(count), count).end());
        ends.untilWithTime("answer", STEP_NS, () -> heard.answered.size() == 1);
        assertEquals(numbers(1, count), received.flowPackets);
        assertEquals(numbers(0, 19_999), received.digests);
    }

    @Test
    void shouldTryTheOtherAddressesOfTheReceiverAndKeepToTheOneThatServes() throws IOException {
        final ExchangeListener listener = ends.listener(received);
        final int port = ends.port(listener);
        final ExchangeConnector connector = ends.connector(heard, port, context -> context.resolver(
            () -> List.of(new InetSocketAddress("127.0.0.9", port), new InetSocketAddress("127.0.0.1", port))));
        ends.untilWithTime("settings held", 10 * STEP_NS, () -> received.held.equals(List.of(1)));
        listener.close();
        final ExchangeListener next = ends.listener(received, port, context -> {
        });
        ends.untilWithTime("settings held again", 10 * STEP_NS, () -> received.held.equals(List.of(1, 1)));
        assertEquals(1, next.counters().get(ExchangeCounter.SESSIONS));
        assertEquals(1, connector.counters().get(ExchangeCounter.CONNECT_FAILURES));
    }

    @Test
    void shouldAuthenticateAndHideTheSecrets() throws IOException {
        final ExchangeListener listener = ends.listener(received, 0, context -> context.key(KEY));
        final ExchangeConnector connector =
            ends.connector(heard, ends.port(listener), context -> context.key(KEY));
        ends.until("settings held", () -> received.held.equals(List.of(1)));
        assertEquals(ExchangeFixture.SECRETS, connector.schedule().at(1, SECOND_NS).settings().secrets());
        ship(connector, 1, 3);
        connector.offerSendTime(2, -1, 55, 2);
        ends.until("answers", () -> heard.answered.size() == 3 && !received.sendTimeKeys.isEmpty());
        assertEquals(numbers(1, 3), received.intervals);
        assertEquals(List.of(2L << 32 | 0xffff_ffffL), received.sendTimeKeys);
    }

    /** A message takes more octets than many send times of passive references, so they wait for one another. */
    @Test
    void shouldShipSendTimesOfPassiveReferencesTogether() throws IOException {
        final ExchangeListener listener = ends.listener(received);
        final ExchangeConnector connector = ends.connector(heard, ends.port(listener));
        ends.until("settings held", () -> received.held.equals(List.of(1)));
        final List<Long> keys = new ArrayList<>();
        final List<Long> times = new ArrayList<>();
        // Each message that comes is a question for the time, which is answered.
        final long before = connector.counters().get(ExchangeCounter.MESSAGES_SENT) -
            connector.counters().get(ExchangeCounter.MESSAGES_RECEIVED);
        for (int i = 0; i < 3000; i++) {
            final long sentNs = 1_700_000_000_000_000_000L + 1000L * i - (i == 7 ? 20_000 : 0) + (i < 2900 ? 0 : 1L << 40);
            connector.offerPassiveSendTime(-i, sentNs, 2);
            keys.add(PassiveTimesMessage.shortDigest(-i));
            times.add(sentNs);
            connector.doWork();
        }
        ends.untilWithTime("send times", PassiveTimesBatch.MOST_WAIT_NS, () -> received.sendTimeKeys.size() == 3000);
        assertEquals(keys, received.sendTimeKeys);
        assertEquals(times, received.sendTimesNs);
        assertEquals(4, connector.counters().get(ExchangeCounter.MESSAGES_SENT) -
            connector.counters().get(ExchangeCounter.MESSAGES_RECEIVED) - before, "2 full ones, one before the gap");
        assertEquals(3000, connector.counters().get(ExchangeCounter.SEND_TIMES_SENT));
        assertEquals(0, listener.counters().get(ExchangeCounter.SEND_TIMES_MISSING));
        connector.offerPassiveSendTime(1, 2, 2);
        connector.doWork();
        listener.close();
        ends.until("dropped", () -> connector.counters().get(ExchangeCounter.SEND_TIMES_DROPPED) == 1);
    }

    @Test
    void shouldSpreadAnIntervalAndLetSendTimesWaitForNone() throws IOException {
        final ExchangeListener listener = ends.listener(received);
        final ExchangeConnector connector = ends.connector(heard, ends.port(listener));
        ends.until("settings held", () -> received.held.equals(List.of(1)));
        final long[] digests = LongStream.range(0, 100_000).toArray();
        final long offeredNs = ends.clock.nanoTime();
        connector.offer(new IntervalEncoder(SystemNanoClock.INSTANCE, connector.counters())
            .begin(1, connector.schedule().at(1, SECOND_NS), PointDrops.NONE)
            .sketch(ExchangeFixture.sketch(1, ExchangeFixture.LDS, 1000).image())
            .list(MessageType.IN_FLIGHT, ExchangeFixture.digests(digests), digests.length).end());
        final long octets = connector.counters().get(ExchangeCounter.OCTETS_SENT);
        connector.offerPassiveSendTime(1, 2, 2);
        ends.untilWithTime("send time", STEP_NS, () -> received.sendTimeKeys.size() == 1);
        assertEquals(List.of(), received.intervals);
        ends.untilWithTime("half of it", STEP_NS, () -> ends.clock.nanoTime() - offeredNs >= SECOND_NS / 4);
        final long halfOctets = connector.counters().get(ExchangeCounter.OCTETS_SENT) - octets;
        assertEquals(Long.BYTES * digests.length / 2.0, halfOctets, 0.1 * Long.BYTES * digests.length);
        ends.untilWithTime("answer", STEP_NS, () -> heard.answered.size() == 1);
        assertTrue(ends.clock.nanoTime() - offeredNs < SECOND_NS);
    }

    @Test
    void shouldSwitchSettingsAtTheIntervalOnBothEnds() throws IOException {
        final ExchangeListener listener = ends.listener(received);
        final ExchangeConnector connector = ends.connector(heard, ends.port(listener));
        ends.until("settings held", () -> received.held.equals(List.of(1)));
        assertTrue(listener.offerSettings(settings(2, 4)));
        ends.until("new settings held", () -> received.held.equals(List.of(1, 2)));
        ship(connector, 2, 6);
        ends.until("answers", () -> heard.answered.size() == 5);
        assertEquals(List.of(1, 1, 2, 2, 2), received.settingsNumbers);
        assertEquals(2, heard.settings.size());
    }

    @Test
    void shouldRefuseAnIntervalOfOtherSettingsAndNameBoth() throws IOException {
        final ExchangeListener listener = ends.listener(received);
        final ExchangeConnector connector = ends.connector(heard, ends.port(listener));
        ends.until("settings held", () -> received.held.equals(List.of(1)));
        final EncodedInterval old = interval(connector, 4);
        listener.offerSettings(settings(2, 4));
        ends.until("new settings held", () -> received.held.equals(List.of(1, 2)));
        connector.offer(old);
        ship(connector, 5, 5);
        ends.until("answers", () -> heard.answered.size() == 2);
        assertEquals(List.of(IntervalVerdict.REFUSED, IntervalVerdict.ACCEPTED), heard.verdicts);
        assertEquals(List.of("settings: settings of interval 4: sender 1, receiver 2"), heard.refusals);
        assertEquals(List.of(4L), received.missing);
        assertEquals(1, listener.counters().get(ExchangeCounter.INTERVALS_REFUSED));
        assertEquals(List.of(5L), received.intervals);
    }

    @Test
    void shouldRefuseASketchOfAnotherShapeOrSeedAndNameBoth() throws IOException {
        final ExchangeListener listener = ends.listener(received);
        final ExchangeConnector connector = ends.connector(heard, ends.port(listener));
        ends.until("settings held", () -> received.held.equals(List.of(1)));
        final HeldSettings held = connector.schedule().at(1, SECOND_NS);
        final IntervalEncoder encoder = new IntervalEncoder(SystemNanoClock.INSTANCE, connector.counters());
        connector.offer(encoder.begin(1, held, PointDrops.NONE)
            .sketch(ExchangeFixture.sketch(1, SketchGeometry.lds(2, 2000, 2), 10).image()).end());
        connector.offer(encoder.begin(2, held, PointDrops.NONE)
            .sketch(ExchangeFixture.sketch(2, SketchGeometry.lds(2, 1000, 1), 10).image()).end());
        connector.offer(encoder.begin(3, held, PointDrops.NONE)
            .sketch(ExchangeFixture.sketch(4, ExchangeFixture.LDS, 10).image()).end());
        connector.offer(encoder.begin(4, held, PointDrops.NONE).end());
        ship(connector, 5, 5);
        ends.until("answers", () -> heard.answered.size() == 5);
        assertEquals(List.of(5L), received.intervals);
        assertEquals(4, listener.counters().refusals(ExchangeResult.PAIRING));
        assertTrue(heard.refusals.get(0).contains("vldaLength=2") && heard.refusals.get(0).contains("vldaLength=1"));
        assertEquals("pairing: octets of sketch 0: sender 64128, receiver 128128", heard.refusals.get(1));
        assertEquals("pairing: interval of sketch 0: sender 4 of 1000000000 ns, receiver 3 of 1000000000 ns",
            heard.refusals.get(2));
        assertEquals("pairing: sketches: sender 0, receiver 1", heard.refusals.get(3));
    }

    @Test
    void shouldCountLateDuplicateMissingAndFarAheadIntervals() throws IOException {
        final ExchangeListener listener = ends.listener(received, 0, context -> context.ledger(8, SECOND_NS));
        final ExchangeConnector connector = ends.connector(heard, ends.port(listener));
        ends.until("settings held", () -> received.held.equals(List.of(1)));
        listener.expect(0, 1, SECOND_NS);
        listener.expect(0, 2, SECOND_NS);
        ship(connector, 2, 2);
        ends.until("interval 2", () -> heard.answered.size() == 1);
        ends.clock.advance(SECOND_NS);
        ends.until("interval 1 missing", () -> received.missing.equals(List.of(1L)));
        ship(connector, 1, 2);
        connector.offer(interval(connector, 900));
        ends.until("answers", () -> heard.answered.size() == 4);
        assertEquals(List.of(IntervalVerdict.ACCEPTED, IntervalVerdict.LATE, IntervalVerdict.DUPLICATE, IntervalVerdict.AHEAD),
            heard.verdicts);
        assertEquals(List.of(2L), received.intervals);
        assertEquals(1, listener.counters().get(ExchangeCounter.INTERVALS_LATE));
        assertEquals(1, listener.counters().get(ExchangeCounter.INTERVALS_DUPLICATE));
        assertEquals(1, listener.counters().get(ExchangeCounter.INTERVALS_AHEAD));
        assertEquals(1, listener.counters().get(ExchangeCounter.INTERVALS_MISSING));
    }

    @Test
    void shouldHealAfterACutInTheMiddleOfAnInterval() throws IOException {
        final ExchangeListener listener = ends.listener(received);
        final ExchangeConnector connector = ends.connector(heard, ends.port(listener));
        ends.until("settings held", () -> received.held.equals(List.of(1)));
        ship(connector, 1, 2);
        ends.until("answers", () -> heard.answered.size() == 2);
        ends.memory.cutAfter(20_000);
        ship(connector, 3, 5);
        ends.until("cut", () -> ends.memory.isCut() && heard.ends.size() == 1 && received.ends.size() == 1);
        assertEquals(1, listener.counters().get(ExchangeCounter.INTERVALS_CUT));
        connector.offerSendTime(0, 1, 2, 2);
        ends.until("dropped send time", () -> connector.counters().get(ExchangeCounter.SEND_TIMES_DROPPED) == 1);
        ends.memory.heal();
        ends.untilWithTime("answers", STEP_NS, () -> heard.answered.size() == 5);
        assertEquals(numbers(1, 5), received.intervals);
        assertTrue(connector.counters().get(ExchangeCounter.INTERVALS_RESENT) >= 1);
        connector.offerSendTime(0, 2, 3, 2);
        ends.until("send time", () -> received.sendTimeKeys.equals(List.of(2L)));
        assertEquals(1, listener.counters().get(ExchangeCounter.SEND_TIMES_MISSING));
        assertAccounted(connector);
    }

    @Test
    void shouldBoundWhatWaitsForAnAnswer() throws IOException {
        final ExchangeListener listener = ends.listener(received);
        final ExchangeConnector connector =
            ends.connector(heard, ends.port(listener), context -> context.waiting(3, 1 << 30, 5 * SECOND_NS));
        ends.until("settings held", () -> received.held.equals(List.of(1)));
        ends.memory.cut();
        ends.until("cut", () -> heard.ends.size() == 1);
        ship(connector, 1, 5);
        ends.until("too many", () -> connector.counters().get(ExchangeCounter.INTERVALS_DROPPED) == 2);
        assertEquals(3, connector.waitingIntervals());
        ends.clock.advance(3 * SECOND_NS);
        ship(connector, 6, 6);
        ends.until("one more", () -> connector.counters().get(ExchangeCounter.INTERVALS_DROPPED) == 3);
        ends.clock.advance(2 * SECOND_NS + 1);
        ends.until("too old", () -> connector.counters().get(ExchangeCounter.INTERVALS_EXPIRED) == 2);
        assertEquals(1, connector.waitingIntervals());
        ends.memory.heal();
        ends.untilWithTime("answer", STEP_NS, () -> heard.answered.size() == 1);
        assertEquals(List.of(6L), received.intervals);
        assertAccounted(connector);
    }

    @Test
    void shouldGoOnWhenTheSenderIsStartedAgain() throws IOException {
        final ExchangeListener listener = ends.listener(received);
        final int port = ends.port(listener);
        final ExchangeConnector first = ends.connector(heard, port);
        ends.until("settings held", () -> received.held.equals(List.of(1)));
        ship(first, 1, 1);
        ends.until("answer", () -> heard.answered.size() == 1);
        first.close();
        final Heard again = new Heard();
        final ExchangeConnector second = ends.connector(again, port);
        ends.until("settings held", () -> received.held.equals(List.of(1, 1)));
        ship(second, 1, 2);
        ends.until("answers", () -> again.answered.size() == 2);
        assertEquals(List.of(IntervalVerdict.DUPLICATE, IntervalVerdict.ACCEPTED), again.verdicts);
        assertEquals(numbers(1, 2), received.intervals);
    }

    /**
     * The live sender is not disturbed. The other one receives the reason for its refusal, and takes over when the first is gone.
     */
    @Test
    void shouldRefuseASecondSenderWithTheIdOfOneThatLives() throws IOException {
        final ExchangeCounters ofSender = received.ofSender;
        final ExchangeListener listener = ends.listener(received);
        final int port = ends.port(listener);
        final ExchangeConnector first = ends.connector(heard, port);
        ends.until("session", () -> received.held.equals(List.of(1)));
        final Heard other = new Heard();
        final ExchangeConnector second = ends.connector(other, port, context -> context.backoff(SECOND_NS, SECOND_NS));
        ends.untilWithTime("refused twice", SECOND_NS / 10,
            () -> listener.counters().get(ExchangeCounter.SENDERS_DOUBLED) >= 2 && other.refusals.size() >= 2);
        assertTrue(other.refusals.get(0).contains("is connected from another process"), other.refusals::toString);
        assertEquals(ofSender.get(ExchangeCounter.SENDERS_DOUBLED), listener.counters().get(ExchangeCounter.SENDERS_DOUBLED));
        ship(first, 1, 1);
        ends.until("answer", () -> heard.answered.size() == 1);
        assertEquals(1, received.sessions);
        assertEquals(0, listener.counters().get(ExchangeCounter.ENDED_REPLACED));
        first.close();
        ends.untilWithTime("taken over", SECOND_NS / 10, () -> received.held.equals(List.of(1, 1)));
        ship(second, 1, 2);
        ends.until("answers", () -> other.answered.size() == 2);
    }

    @Test
    void shouldTakeTheNewConnectionOfASenderWhoseOldOneHangs() throws IOException {
        final ExchangeListener listener = ends.listener(received);
        final int port = ends.port(listener);
        final boolean[] hangs = new boolean[1];
        final ExchangeConnector first =
            new ConnectorSetup(ends.memory, new Endpoint("127.0.0.1", port), heard, ends.clock, 0).connector();
        ends.owned.add(first);
        ends.duty(() -> {
            if (!hangs[0]) {
                first.doWork();
            }
        });
        ends.until("session", () -> received.sessions == 1);
        hangs[0] = true;
        final Heard again = new Heard();
        final ExchangeConnector second = ends.connector(again, port, context -> context.backoff(SECOND_NS, SECOND_NS));
        ends.untilWithTime("replaced", SECOND_NS / 10,
            () -> listener.counters().get(ExchangeCounter.ENDED_REPLACED) == 1 && again.sessions == 1);
        ship(second, 1, 1);
        ends.until("answer", () -> again.answered.size() == 1);
        assertEquals(List.of("the same sender connected again"), received.ends);
    }

    @Test
    void shouldGoOnWhenTheReceiverIsStartedAgain() throws IOException {
        final ExchangeListener listener = ends.listener(received);
        final int port = ends.port(listener);
        final ExchangeConnector connector = ends.connector(heard, port);
        ends.until("settings held", () -> received.held.equals(List.of(1)));
        ship(connector, 1, 1);
        ends.until("answer", () -> heard.answered.size() == 1);
        final EncodedInterval old = interval(connector, 2);
        listener.close();
        ends.until("noticed", () -> heard.ends.size() == 1);
        connector.offer(old);
        final Received after = new Received();
        final ExchangeListener second =
            ends.listener(after, port, context -> context.settings(settings(1, 3)));
        ends.untilWithTime("session", STEP_NS, () -> after.held.equals(List.of(1)));
        assertEquals(second.instance(), connector.schedule().latest().receiverInstance());
        assertNull(connector.schedule().at(2, SECOND_NS));
        ship(connector, 3, 3);
        ends.until("answers", () -> heard.answered.size() == 3);
        assertEquals(List.of(IntervalVerdict.ACCEPTED, IntervalVerdict.REFUSED, IntervalVerdict.ACCEPTED), heard.verdicts);
        assertEquals(List.of(3L), after.intervals);
        assertTrue(heard.refusals.get(0).contains("receiver none"), heard.refusals.get(0));
    }

    @Test
    void shouldKeepTwoSendersApart() throws IOException {
        final ExchangeListener listener = ends.listener(received);
        final int port = ends.port(listener);
        final Heard other = new Heard();
        final ExchangeConnector one = ends.connector(heard, port, context -> context.pointId(1));
        final ExchangeConnector two = ends.connector(other, port, context -> context.pointId(2));
        ends.until("settings held", () -> received.held.equals(List.of(1, 1)));
        ship(one, 1, 3);
        ship(two, 2, 3);
        ends.until("answers", () -> heard.answered.size() == 3 && other.answered.size() == 2);
        assertEquals(numbers(1, 3), numbersOf(1));
        assertEquals(numbers(2, 3), numbersOf(2));
        for (long number = 1; number <= 3; number++) {
            listener.expect(1, number, SECOND_NS);
            listener.expect(2, number, SECOND_NS);
        }
        ends.untilWithTime("sender 2's first is missing", 100 * STEP_NS, () -> !received.missing.isEmpty());
        assertEquals(List.of(1L), received.missing);
    }

    private List<Long> numbersOf(final long sender) {
        return LongStream.range(0, received.intervals.size()).filter(i -> received.senders.get((int)i) == sender)
            .mapToObj(i -> received.intervals.get((int)i)).toList();
    }

    private List<Long> timesOf(final EpochNanoClock clock, final int messages) throws IOException {
        final ExchangeListener listener = ends.listener(received);
        final ExchangeConnector connector = ends.connector(heard, ends.port(listener), context -> context.epochClock(clock));
        ends.untilWithTime("questions", 10_000_000L,
            () -> connector.counters().get(ExchangeCounter.MESSAGES_RECEIVED) >= messages);
        ends.turn();
        return received.senderTimesNs;
    }

    @Test
    void shouldTellTheSendersTime() throws IOException {
        final long[] timeNs = {77};
        assertEquals(List.of(77L, 78L, 79L, 80L), timesOf(() -> timeNs[0]++, 4).subList(0, 4));
    }

    @Test
    void shouldTellNoTimeOfASenderWhosePacketsHaveThatOfACard() throws IOException {
        assertEquals(List.of(), timesOf(null, 3));
    }

    @Test
    void shouldEndASilentSessionAndKeepAQuietOne() throws IOException {
        final ExchangeListener listener = ends.listener(received);
        final ExchangeConnector connector = ends.connector(heard, ends.port(listener));
        ends.until("settings held", () -> received.held.equals(List.of(1)));
        for (int i = 0; i < 20; i++) {
            final long pings = connector.counters().get(ExchangeCounter.MESSAGES_RECEIVED);
            ends.clock.advance(11 * SECOND_NS);
            ends.until("ping", () -> connector.counters().get(ExchangeCounter.MESSAGES_RECEIVED) > pings);
        }
        assertEquals(0, endings(listener.counters()));
        ends.turn();
        ends.clock.advance(31 * SECOND_NS);
        ends.turn();
        assertEquals(1, listener.counters().get(ExchangeCounter.ENDED_SILENT));
        assertEquals(List.of("no message for too long"), received.ends);
        ends.untilWithTime("session again", STEP_NS, () -> received.sessions == 2);
    }

    @Test
    void shouldBackOffLongerAndLonger() {
        ends.connector(heard, 1, context -> context.backoff(SECOND_NS, 4 * SECOND_NS));
        ends.untilWithTime("attempts", SECOND_NS / 10, () -> heard.ends.size() == 5);
        final long elapsedNs = ends.clock.nanoTime();
        assertTrue(elapsedNs >= (1 + 2 + 4 + 4) * SECOND_NS, "elapsedNs=" + elapsedNs);
        assertTrue(heard.ends.get(0).contains("no connection to"), heard.ends.get(0));
    }

    @Test
    void shouldNotHandOutKeysInPlain() {
        final IllegalArgumentException refused = assertThrows(IllegalArgumentException.class, () ->
            ends.listener(received, 0, context -> context.address(new InetSocketAddress("0.0.0.0", 0))));
        assertTrue(refused.getMessage().contains("not a loopback address"), refused.getMessage());
        final ExchangeConnector connector =
            new ConnectorSetup(ends.memory, new Endpoint("192.0.2.1", 8621), heard, ends.clock, SECOND_NS).connector();
        ends.owned.add(connector);
        connector.doWork();
        assertTrue(heard.ends.get(0).contains("not a loopback address"), heard.ends.get(0));
    }

    /** Intervals of 1 s until 20 s, then of 2 s: the ledger of each length goes on by itself. */
    @Test
    void shouldTakeIntervalsOfBothLengthsAroundAChange() throws IOException {
        final ExchangeListener listener = ends.listener(received);
        final ExchangeConnector connector = ends.connector(heard, ends.port(listener));
        ends.until("settings held", () -> received.held.equals(List.of(1)));
        assertTrue(listener.offerSettings(ExchangeFixture.withInterval(settings(2, 10), 2 * SECOND_NS)));
        ends.until("settings held", () -> received.held.equals(List.of(1, 2)));
        final HeldSettings old = connector.schedule().at(19, SECOND_NS);
        final HeldSettings newer = connector.schedule().at(10, 2 * SECOND_NS);
        assertEquals(List.of(1, 2), List.of(old.settings().number(), newer.settings().number()));
        listener.expect(0, 19, SECOND_NS);
        listener.expect(0, 10, 2 * SECOND_NS);
        connector.offer(emptyInterval(connector, old, 19, SECOND_NS));
        connector.offer(emptyInterval(connector, newer, 10, 2 * SECOND_NS));
        connector.offer(emptyInterval(connector, newer, 11, 2 * SECOND_NS));
        connector.offer(emptyInterval(connector, old, 18, SECOND_NS));
        ends.until("answers", () -> heard.answered.size() == 4);
        assertEquals(Collections.nCopies(4, IntervalVerdict.ACCEPTED), heard.verdicts);
        assertEquals(List.of(1, 2, 2, 1), received.settingsNumbers);
        connector.offer(emptyInterval(connector, old, 20, SECOND_NS));
        connector.offer(emptyInterval(connector, newer, 9, 2 * SECOND_NS));
        ends.until("answers", () -> heard.answered.size() == 6);
        assertEquals(Collections.nCopies(2, IntervalVerdict.REFUSED), heard.verdicts.subList(4, 6));
        assertTrue(heard.refusals.get(0).contains("settings of interval 20: sender 1, receiver 2"), heard.refusals::toString);
        assertTrue(heard.refusals.get(1).contains("settings of interval 9: sender 2, receiver 1"), heard.refusals::toString);
        assertAccounted(connector);
    }

    private static EncodedInterval emptyInterval(
        final ExchangeConnector connector, final HeldSettings held, final long number, final long lengthNs) {
        final LossyDifferenceSketch sketch = new LossyDifferenceSketch(ExchangeFixture.LDS, ExchangeFixture.SEED);
        sketch.begin(number, lengthNs);
        return new IntervalEncoder(SystemNanoClock.INSTANCE, connector.counters())
            .begin(number, held, PointDrops.NONE).sketch(sketch.image()).end();
    }

    @Test
    void shouldRefuseASenderThatItWasNotToldOfAndGiveEachItsOwnPackets() throws IOException {
        final Selector own = new Selector(List.of(new AddressPrefix(4, 24, 0, 0x0a00_0000L)), List.of(), -1);
        received.variant = (common, point) -> point == 5 ? common.withSelector(own) : common;
        final ExchangeListener listener = ends.listener(received, 0, context -> context.senders(List.of(4L, 5L)));
        final Heard first = new Heard();
        final Heard second = new Heard();
        final ExchangeConnector four =
            ends.connector(first, ends.port(listener), context -> context.pointId(4));
        final ExchangeConnector five =
            ends.connector(second, ends.port(listener), context -> context.pointId(5));
        ends.connector(heard, ends.port(listener), context -> context.pointId(6));
        ends.until("settings held", () -> received.held.size() == 2);
        ends.until("refused", () -> listener.counters().get(ExchangeCounter.SENDERS_UNKNOWN) == 1 && !heard.refusals.isEmpty());
        assertEquals(List.of("pairing: point: sender 6, receiver knows 4, 5"), heard.refusals);
        assertTrue(received.turnedAway.get(0).contains("ended_refused point: sender 6"), received.turnedAway::toString);
        assertEquals(ExchangeFixture.ALL_TRAFFIC, first.settings.get(0).settings().traffic());
        assertEquals(own, second.settings.get(0).settings().traffic().selector());
        for (long number = 1; number <= 3; number++) {
            four.offer(interval(four, number));
            five.offer(interval(five, number));
        }
        ends.until("answers", () -> first.answered.size() == 3 && second.answered.size() == 3);
        assertEquals(6, listener.counters().get(ExchangeCounter.INTERVALS_COMPLETE), "each has a ledger of its own");
        assertEquals(0, heard.sessions);
    }
}
