package io.flowlag.exporter.delay.exact;

import io.flowlag.exporter.decode.PacketDescriptor;
import io.flowlag.rli.counters.DelayCounters;
import org.agrona.DirectBuffer;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;

import java.util.ArrayList;
import java.util.List;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

class ExactMatcherTest {
    private static final long MAXIMUM_DELAY_NS = 1_000;
    private static final long START_NS = 1_700_000_000_000_000_000L;
    private static final int ALL = Integer.MAX_VALUE;

    private final Packets packets = new Packets();
    private final SegmentFlows flows = new SegmentFlows(16, SegmentFlows.NEVER_NS);
    private final List<String> events = new ArrayList<>();
    private ExactMatcher matcher = matcher(new ExactMatcherSettingsBuilder());

    private ExactMatcher matcher(final ExactMatcherSettingsBuilder settings) {
        return matcher(settings.maximumDelayNs(MAXIMUM_DELAY_NS).maxPackets(64), flows);
    }

    private ExactMatcher matcher(final ExactMatcherSettingsBuilder settings, final SegmentFlows itsFlows) {
        return new ExactMatcher(settings.build(), itsFlows, new MatchHandler() {
            @Override
            public void onMatched(
                final int flow, final long senderTag, final long receiverTag, final long sentNs, final long receivedNs) {
                events.add("matched " + receiverTag + " " + (receivedNs - sentNs));
            }

            @Override
            public void onLost(final int flow, final long sentNs) {
                events.add("lost " + (sentNs - START_NS));
            }

            @Override
            public void onUnexpected(final long receiverTag, final long receivedNs) {
                events.add("unexpected " + receiverTag);
            }

            @Override
            public void onDuplicate(final long receiverTag, final long receivedNs) {
                events.add("duplicate " + receiverTag);
            }
        });
    }

    private MatchResult send(final long digest, final long timeNs) {
        return matcher.onSent(packets.packet(1, digest, START_NS + timeNs), 0);
    }

    private MatchResult receive(final long digest, final long timeNs, final long tag) {
        return matcher.onReceived(packets.packet(1, digest, START_NS + timeNs), 0, tag);
    }

    private void time(final long nowNs) {
        matcher.onTime(START_NS + nowNs, ALL);
    }

    private long count(final MatchCounter counter) {
        return matcher.counters().get(counter);
    }

    @AfterEach
    void everyPacketShouldBeAccountedFor() {
        assertEquals(0, matcher.counters().unexplainedSent());
        assertEquals(0, matcher.counters().unexplainedReceived());
    }

    @Test
    void shouldMatchAPacketSeenAtBothPoints() {
        assertEquals(MatchResult.WAITING, send(7, 0));
        assertEquals(MatchResult.MATCHED, receive(7, 123, 42));

        assertEquals(123, matcher.delayNs());
        assertEquals(List.of("matched 42 123"), events);
    }

    @Test
    void shouldMatchAtTheMaximumDelayAndNotBeyond() {
        send(1, 0);
        send(2, 0);
        time(MAXIMUM_DELAY_NS);
        assertEquals(MatchResult.MATCHED, receive(1, MAXIMUM_DELAY_NS, 0));
        assertEquals(MatchResult.WAITING, receive(2, MAXIMUM_DELAY_NS + 1, 9));

        assertEquals(List.of("matched 0 1000", "lost 0"), events);
        time(2 * MAXIMUM_DELAY_NS + 2);
        assertEquals("unexpected 9", events.get(2));
    }

    @Test
    void shouldLosePacketsThatDoNotArriveInTime() {
        send(1, 0);
        time(MAXIMUM_DELAY_NS);
        assertEquals(List.of(), events);
        time(MAXIMUM_DELAY_NS + 1);

        assertEquals(List.of("lost 0"), events);
        assertEquals(1, count(MatchCounter.LOST));
        assertEquals(0, count(MatchCounter.SENT_WAITING));
    }

    @Test
    void shouldMatchAPacketThatArrivesBeforeItIsSent() {
        assertEquals(MatchResult.WAITING, receive(1, 0, 5));
        assertEquals(MatchResult.MATCHED, send(1, 300));

        assertEquals(-300, matcher.delayNs());
        assertEquals(1, count(MatchCounter.NEGATIVE));
        assertEquals(List.of("matched 5 -300"), events);
    }

    @Test
    void shouldMatchInWhateverOrderThePointsAreRead() {
        assertEquals(MatchResult.WAITING, receive(1, 50, 5));
        assertEquals(MatchResult.MATCHED, send(1, 20));

        assertEquals(30, matcher.delayNs());
        assertEquals(0, count(MatchCounter.NEGATIVE));
    }

    @Test
    void shouldNotMatchPacketsThatArriveTooEarly() {
        matcher = matcher(new ExactMatcherSettingsBuilder().maximumLeadNs(10));
        receive(1, 0, 5);
        assertEquals(MatchResult.WAITING, send(1, 11));
        time(5_000);

        assertEquals(List.of("unexpected 5", "lost 11"), events);
    }

    @Test
    void shouldCountFurtherCopiesAsDuplicates() {
        send(1, 0);
        receive(1, 10, 1);
        assertEquals(MatchResult.WAITING, receive(1, 20, 2));
        receive(1, MAXIMUM_DELAY_NS, 3);
        time(3 * MAXIMUM_DELAY_NS);

        assertEquals(List.of("matched 1 10", "duplicate 2", "duplicate 3"), events);
        assertEquals(2, flows.duplicates(0));
        assertEquals(3, flows.received(0));
    }

    @Test
    void shouldCountCopiesThatCameBeforeTheirSendingAsDuplicates() {
        receive(1, 0, 1);
        receive(1, 5, 2);
        send(1, 50);
        time(3 * MAXIMUM_DELAY_NS);

        assertEquals(List.of("matched 1 -50", "duplicate 2"), events);
    }

    @Test
    void shouldMatchTwinsInOrderOfArrival() {
        send(1, 0);
        send(1, 100);
        send(1, 200);
        receive(1, 150, 1);
        receive(1, 260, 2);
        receive(1, 340, 3);

        assertEquals(List.of("matched 1 150", "matched 2 160", "matched 3 140"), events);
        assertEquals(2, count(MatchCounter.TWINS));
    }

    @Test
    void shouldMatchTwinsThatArriveBeforeTheyAreSent() {
        receive(1, 0, 1);
        receive(1, 100, 2);
        send(1, 500);
        receive(1, 200, 3);
        send(1, 600);
        send(1, 700);

        assertEquals(List.of("matched 1 -500", "matched 2 -500", "matched 3 -500"), events);
        assertEquals(2, count(MatchCounter.TWINS));
    }

    @Test
    void shouldNotTakeACopyForATwinSentLaterWithOneClock() {
        matcher = matcher(new ExactMatcherSettingsBuilder().maximumLeadNs(0));
        send(1, 0);
        receive(1, 10, 1);
        receive(1, 20, 2);
        send(1, 100);
        receive(1, 110, 3);
        time(5_000);

        assertEquals(List.of("matched 1 10", "duplicate 2", "matched 3 10"), events);
    }

    @Test
    void shouldKeepPacketsWithoutDigestOut() {
        final var packet = packets.packet(1, 0, START_NS);
        PacketDescriptor.flags(packet, 0, 0);
        assertEquals(MatchResult.WITHOUT_DIGEST, matcher.onSent(packet, 0));
        assertEquals(MatchResult.WITHOUT_DIGEST, matcher.onReceived(packet, 0));
        PacketDescriptor.flags(packet, 0, PacketDescriptor.FLAG_DIGEST_SHORT);
        assertEquals(MatchResult.WITHOUT_DIGEST, matcher.onSent(packet, 0));
        assertEquals(MatchResult.WITHOUT_DIGEST, matcher.onReceived(packet, 0));

        assertEquals(1, count(MatchCounter.SENT_WITHOUT_DIGEST));
        assertEquals(1, count(MatchCounter.RECEIVED_WITHOUT_DIGEST));
        assertEquals(1, count(MatchCounter.SENT_DIGEST_SHORT));
        assertEquals(1, count(MatchCounter.RECEIVED_DIGEST_SHORT));
        assertEquals(0, count(MatchCounter.FLOWS));
    }

    @Test
    void shouldNotCallWhatItHadNoRoomForLostOrUnexpected() {
        matcher = matcher(new ExactMatcherSettingsBuilder().maximumDelayNs(MAXIMUM_DELAY_NS).maxPackets(1), flows);
        send(1, 0);
        assertEquals(MatchResult.OVERFLOW, send(2, 1));
        assertEquals(MatchResult.OVERFLOW, receive(2, 50, 1));
        assertEquals(MatchResult.OVERFLOW, receive(3, 60, 2));
        time(MAXIMUM_DELAY_NS + 1);
        assertEquals(1, count(MatchCounter.SENT_UNDECIDED), "its arrival may have been one of those without room");
        assertEquals(MatchResult.WAITING, receive(4, MAXIMUM_DELAY_NS, 3));
        time(3 * MAXIMUM_DELAY_NS);

        assertEquals(1, count(MatchCounter.RECEIVED_UNDECIDED), "its sending may have been the one without room");
        assertEquals(List.of(), events);
        assertEquals(2 + 2 + 1, flows.undecided(0));
    }

    @Test
    void shouldForgetMatchedPacketsEarlyForLackOfRoom() {
        matcher = matcher(new ExactMatcherSettingsBuilder().maximumDelayNs(MAXIMUM_DELAY_NS).maxPackets(2), flows);
        for (int i = 0; i < 10; i++) {
            assertEquals(MatchResult.WAITING, send(i, i * 10));
            assertEquals(MatchResult.MATCHED, receive(i, i * 10 + 1, 0));
        }
        receive(0, 200, 77);
        time(5 * MAXIMUM_DELAY_NS);

        assertEquals(9, count(MatchCounter.FORGOTTEN));
        assertEquals(1, count(MatchCounter.RECEIVED_UNDECIDED), "a copy, and we cannot know");
        assertEquals(10, events.size());
    }

    @Test
    void shouldNotReportAsLostWhatWeMayHaveMissedOurselves() {
        send(1, 0);
        matcher.onReceiverGap(START_NS + 500);
        send(2, 500 + MAXIMUM_DELAY_NS + 1);
        receive(3, 2_000, 3);
        matcher.onSenderGap(START_NS + 2_000);
        time(10_000);

        assertEquals(1, count(MatchCounter.SENT_UNDECIDED));
        assertEquals(1, count(MatchCounter.RECEIVED_UNDECIDED));
        assertEquals(List.of("lost 1501"), events);
    }

    @Test
    void shouldLeaveUndecidedAtTheEndWhatHadNotItsTime() {
        send(1, 0);
        send(2, 600);
        receive(3, 900, 1);
        assertFalse(matcher.finish(START_NS + 1_500, ALL));

        assertEquals(List.of("lost 0", "unexpected 1"), events);
        assertEquals(1, count(MatchCounter.SENT_UNDECIDED));
        assertEquals(0, count(MatchCounter.SENT_WAITING) + count(MatchCounter.RECEIVED_WAITING));
        assertEquals(0, flows.waitingCount(0));
    }

    @Test
    void shouldDecideOfAllAtTheEndWhenItIsKnownThatAllHadTheirTime() {
        send(1, 0);
        send(2, 600);
        assertTrue(matcher.finish(Long.MAX_VALUE, 1));
        assertFalse(matcher.finish(Long.MAX_VALUE, 1));

        assertEquals(List.of("lost 0", "lost 600"), events);
    }

    @Test
    void shouldBoundTheWorkOfACall() {
        for (int i = 0; i < 10; i++) {
            send(i, i);
        }
        assertEquals(4, matcher.onTime(START_NS + 5_000, 4));
        assertEquals(4, count(MatchCounter.LOST));
        assertEquals(6, matcher.onTime(START_NS + 5_000, 100));
    }

    @Test
    void shouldWaitAGraceLongerWhereTimeIsToldByAClock() {
        matcher = matcher(new ExactMatcherSettingsBuilder().graceNs(500));
        send(1, 0);
        time(1_500);
        assertEquals(MatchResult.MATCHED, receive(1, 900, 1));
        send(2, 2_000);
        time(3_501);

        assertEquals(List.of("matched 1 900", "lost 2000"), events);
    }

    @Test
    void shouldNotWaitForPacketsFromBeforeAClockWasSetBack() {
        final long hourNs = 3_600_000_000_000L;
        send(1, hourNs);
        send(2, 0);
        time(MAXIMUM_DELAY_NS + 1);

        assertEquals(List.of("lost " + hourNs, "lost 0"), events);
    }

    @Test
    void shouldDecideOfNothingAcrossAClockThatWasSetBack() {
        final long backNs = -1_000_000_000L;
        send(1, 0);
        receive(2, 10, 7);
        matcher.onSenderGap(START_NS + 20);
        matcher.onReceiverGap(START_NS + 20);
        matcher.onTimeSetBack(START_NS + backNs);
        receive(1, backNs + 50, 8);
        send(3, backNs + 2 * MAXIMUM_DELAY_NS);
        receive(4, backNs + 2 * MAXIMUM_DELAY_NS, 9);
        time(backNs + 4 * MAXIMUM_DELAY_NS);

        assertEquals(1, count(MatchCounter.SENT_UNDECIDED));
        assertEquals(2, count(MatchCounter.RECEIVED_UNDECIDED), "one waited, one was sent before");
        assertEquals(List.of("lost " + (backNs + 2 * MAXIMUM_DELAY_NS), "unexpected 9"), events, "own losses are of before");
    }

    @Test
    void shouldNotMatchTimesWhoseDifferenceHasNoNumber() {
        matcher.onSent(packets.packet(1, 1, Long.MIN_VALUE), 0);
        assertEquals(MatchResult.WAITING, matcher.onReceived(packets.packet(1, 1, Long.MAX_VALUE), 0));
        matcher.onTime(Long.MAX_VALUE, ALL);

        assertEquals(1, count(MatchCounter.LOST));
        assertEquals(0, count(MatchCounter.MATCHED));
    }

    @Test
    void shouldWaitLongerWhenPacketsComeLater() {
        matcher = matcher(new ExactMatcherSettingsBuilder().graceNs(5_000).growingUpToNs(10_000));
        send(1, 0);
        send(2, 0);
        assertEquals(MatchResult.MATCHED, receive(1, 3_000, 1), "later than the maximum delay, and within the grace");
        assertEquals(6_000, matcher.counters().waitNs());
        assertEquals(MatchResult.MATCHED, receive(2, 6_000, 2));
        send(3, 20_000);
        time(20_000 + 6_000 + 5_000);
        assertEquals(MatchResult.MATCHED, receive(3, 27_000, 3));
        assertEquals(10_000, matcher.counters().waitNs(), "not longer than is allowed");
        send(4, 40_000);
        time(40_000 + 15_001);

        assertEquals(List.of("matched 1 3000", "matched 2 6000", "matched 3 7000", "lost 40000"), events);
    }

    @Test
    void shouldWaitLongerWhenLostPacketsTurnUp() {
        matcher = matcher(new ExactMatcherSettingsBuilder().growingUpToNs(10_000));
        for (int i = 0; i < 4; i++) {
            send(i, i);
            time(i + MAXIMUM_DELAY_NS + 1);
            receive(i, i + 3_000, i);
            time(i + 10_000L);
        }
        assertEquals(4, count(MatchCounter.DISTANT));
        assertEquals(6_000, matcher.counters().waitNs());
        send(9, 20_000);
        time(23_500);
        assertEquals(MatchResult.MATCHED, receive(9, 23_000, 9));
    }

    @Test
    void shouldTakeNoLostPacketForItsTwinThatCameInTime() {
        matcher = matcher(new ExactMatcherSettingsBuilder().graceNs(5_000).growingUpToNs(10_000));
        send(1, 0);
        send(1, 2_000);
        receive(1, 2_100, 1);

        assertEquals(List.of("lost 0", "matched 1 100"), events);
        assertEquals(MAXIMUM_DELAY_NS, matcher.counters().waitNs());
    }

    @Test
    void shouldNotWaitLongerThanThereIsMemoryFor() {
        matcher = matcher(new ExactMatcherSettingsBuilder().graceNs(5_000).growingUpToNs(1_000_000));
        for (int i = 0; i < 40; i++) {
            send(i, 0);
        }
        assertEquals(MatchResult.WAITING, receive(0, 3_000, 1), "40 of 64 now would be 73");
        assertEquals(MAXIMUM_DELAY_NS, matcher.counters().waitNs());
        assertEquals(6_000, matcher.counters().refusedWaitNs());
        time(20_000);
        assertEquals(40, count(MatchCounter.LOST));
        assertEquals(1, count(MatchCounter.UNEXPECTED));
    }

    @Test
    void shouldNotCallLostWhatTheReceiverPointNeverSawUnlessItIsSaidToPass() {
        final SegmentFlows unselected = new SegmentFlows(16, SegmentFlows.NEVER_NS, false);
        matcher = matcher(new ExactMatcherSettingsBuilder().maximumDelayNs(MAXIMUM_DELAY_NS), unselected);
        send(1, 0);
        send(2, 0);
        time(MAXIMUM_DELAY_NS + 1);
        assertEquals(0, count(MatchCounter.LOST));
        assertEquals(2, count(MatchCounter.NOT_OF_SEGMENT));
        assertEquals(List.of(), events);

        send(3, 5_000);
        receive(3, 5_100, 7);
        assertEquals(2, count(MatchCounter.LOST), "the flow passes, so its first packets were lost");
        assertEquals(0, count(MatchCounter.NOT_OF_SEGMENT));
        assertEquals(2, unselected.takeLost(0));
        send(4, 6_000);
        time(8_000);
        assertEquals(3, count(MatchCounter.LOST));
        assertEquals(List.of("matched 7 100", "lost 6000"), events);
    }

    @Test
    void shouldSayByHowMuchALostTwinMayMoveTheMean() {
        send(1, 0);
        send(1, 300);
        send(2, 500);
        receive(1, 400, 1);
        receive(2, 600, 2);
        time(5_000);

        assertEquals(List.of("matched 1 400", "matched 2 100", "lost 300"), events);
        assertEquals(1, count(MatchCounter.AMBIGUOUS));
        assertEquals(300, flows.takeAmbiguousNs(0), "its delay may have been 100 as well");
        assertEquals(0, flows.takeAmbiguousNs(0));
    }

    @Test
    void shouldMatchAFlowWhollyOrNotAtAll() {
        final SegmentFlows many = new SegmentFlows(1_000, SegmentFlows.NEVER_NS);
        matcher = new ExactMatcher(
            new ExactMatcherSettingsBuilder().maximumDelayNs(MAXIMUM_DELAY_NS).maxPackets(4_000).build(),
            many, MatchHandler.NONE);
        matcher.onSent(packets.packet(1, 1, START_NS), 0);
        matcher.matchOneIn(4, START_NS + 10);
        assertEquals(4, matcher.counters().matchedOneIn());
        final int flowCount = 400;
        int sampled = 0;
        for (int flow = 0; flow < flowCount; flow++) {
            final long nowNs = START_NS + 20_000 + flow;
            final boolean isSent =
                matcher.onSent(packets.packet(flow, flow * 2L, nowNs), 0) == MatchResult.WAITING;
            assertEquals(isSent ? MatchResult.MATCHED : MatchResult.NOT_SAMPLED,
                matcher.onReceived(packets.packet(flow, flow * 2L, nowNs + 1), 0));
            assertEquals(isSent ? MatchResult.WAITING : MatchResult.NOT_SAMPLED,
                matcher.onSent(packets.packet(flow, flow * 2L + 1, nowNs + 2), 0));
            sampled += isSent ? 1 : 0;
        }
        assertTrue(sampled > flowCount / 8 && sampled < flowCount / 2, sampled + " of " + flowCount);
        time(50_000);
        assertEquals(sampled, count(MatchCounter.LOST));
        assertEquals(1, count(MatchCounter.SENT_UNDECIDED), "it was under way when its flow was given up");
    }

    @Test
    void shouldSeeThatPacketsAreThereAtAnotherTime() {
        final long taiNs = 37_000_000_000L;
        for (int i = 0; i < 10; i++) {
            send(i, i);
        }
        for (int i = 0; i < 10; i++) {
            time(taiNs + i);
            receive(i, taiNs + i, 0);
        }
        time(2 * taiNs);

        assertEquals(10, count(MatchCounter.LOST));
        assertEquals(10, count(MatchCounter.UNEXPECTED));
        assertEquals(10, count(MatchCounter.DISTANT));
        assertEquals(taiNs, matcher.counters().distanceNs());
    }

    @Test
    void shouldBookPacketsInTheirFlows() {
        send(1, 0);
        receive(1, 40, 0);
        send(2, 10);
        receive(2, 70, 0);
        send(3, 20);
        matcher.onReceived(packets.packet(2, 99, START_NS), 0);
        time(10_000);

        final int flow = flows.find(packets.packet(1, 0, 0), 0);
        final int other = flows.find(packets.packet(2, 0, 0), 0);
        final DirectBuffer delays = flows.delayBuffer();
        final int delay = flows.delayOffset(flow);
        assertEquals(3, flows.sent(flow));
        assertEquals(2, flows.received(flow));
        assertEquals(1, flows.lost(flow));
        assertEquals(2, DelayCounters.count(delays, delay));
        assertEquals(50, DelayCounters.meanNs(delays, delay));
        assertEquals(40, DelayCounters.minimumNs(delays, delay));
        assertEquals(60, DelayCounters.maximumNs(delays, delay));
        assertEquals(1, flows.unexpected(other));
        assertEquals(0, DelayCounters.count(delays, flows.delayOffset(other)));
    }

    @Test
    void shouldRefuseImpossibleContexts() {
        final List<ExactMatcherSettingsBuilder> builders = List.of(
            new ExactMatcherSettingsBuilder().maxPackets(0),
            new ExactMatcherSettingsBuilder().maxPackets(ExactMatcherSettings.MAX_PACKETS + 1),
            new ExactMatcherSettingsBuilder().maximumDelayNs(0),
            new ExactMatcherSettingsBuilder().maximumDelayNs(10).maximumLeadNs(11),
            new ExactMatcherSettingsBuilder().graceNs(-1));
        for (final ExactMatcherSettingsBuilder builder : builders) {
            assertThrows(IllegalArgumentException.class, builder::build);
        }
    }
}
