package io.flowlag.exporter.delay;

import io.flowlag.exporter.decode.PacketDescriptor;
import io.flowlag.exporter.delay.exact.ExactMatcher;
import io.flowlag.exporter.delay.exact.ExactMatcherSettingsBuilder;
import io.flowlag.exporter.delay.exact.MatchCounter;
import io.flowlag.exporter.delay.exact.MatchHandler;
import io.flowlag.exporter.delay.exact.SegmentFlows;
import org.agrona.concurrent.UnsafeBuffer;
import org.junit.jupiter.api.Test;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertTrue;

class MatchedShareTest {
    private static final long SECOND_NS = 1_000_000_000L;
    private static final int MAX_PACKETS = 1_000;
    private static final int FLOWS = 64;

    private final ExactMatcher matcher = new ExactMatcher(
        new ExactMatcherSettingsBuilder().maxPackets(MAX_PACKETS).graceNs(SECOND_NS).build(),
        new SegmentFlows(1_000, SegmentFlows.NEVER_NS),
        MatchHandler.NONE);
    private final MatchedShare share = new MatchedShare(matcher, MAX_PACKETS);
    private final UnsafeBuffer packet = new UnsafeBuffer(new byte[PacketDescriptor.LENGTH_BYTES]);
    private long nowNs = 1_700_000_000L * SECOND_NS;
    private long digest;

    /** A second with so many packets, spread over the flows, which all match. */
    private boolean second(final int packets) {
        for (int i = 0; i < packets; i++) {
            PacketDescriptor.ipVersion(packet, 0, 4);
            PacketDescriptor.sourceLow(packet, 0, i % FLOWS);
            PacketDescriptor.flags(packet, 0, PacketDescriptor.FLAG_DIGEST);
            PacketDescriptor.digest(packet, 0, ++digest);
            PacketDescriptor.timestampNs(packet, 0, nowNs + i * SECOND_NS / packets);
            matcher.onSent(packet, 0);
            PacketDescriptor.timestampNs(packet, 0, nowNs + i * SECOND_NS / packets + 1_000);
            matcher.onReceived(packet, 0);
        }
        nowNs += SECOND_NS;
        matcher.onTime(nowNs, Integer.MAX_VALUE);
        return share.hasGrown(nowNs);
    }

    /** Without room, packets that match are forgotten early; those that do not match find none. */
    private void lossySecond(final int packets) {
        for (int i = 0; i < packets; i++) {
            PacketDescriptor.ipVersion(packet, 0, 4);
            PacketDescriptor.sourceLow(packet, 0, i % FLOWS);
            PacketDescriptor.flags(packet, 0, PacketDescriptor.FLAG_DIGEST);
            PacketDescriptor.digest(packet, 0, ++digest);
            PacketDescriptor.timestampNs(packet, 0, nowNs + i * SECOND_NS / packets);
            matcher.onSent(packet, 0);
        }
        nowNs += SECOND_NS;
        matcher.onTime(nowNs, Integer.MAX_VALUE);
        share.hasGrown(nowNs);
    }

    private long oneIn() {
        return matcher.counters().matchedOneIn();
    }

    @Test
    void shouldMatchEachFlowWhileThereIsRoom() {
        for (int i = 0; i < 20; i++) {
            assertFalse(second(MAX_PACKETS / 2));
        }
        assertEquals(1, oneIn());
        assertEquals(0, matcher.counters().get(MatchCounter.SENT_NOT_SAMPLED));
    }

    @Test
    void shouldMatchFewerFlowsUntilThePacketsUnderWayFitAndAllAgainAfterTenQuietMinutes() {
        for (int i = 0; i < 30; i++) {
            lossySecond(3 * MAX_PACKETS);
        }
        assertTrue(oneIn() >= 4 && oneIn() <= 64, "one in " + oneIn());
        final long settled = oneIn();
        final long overflowed = matcher.counters().get(MatchCounter.SENT_OVERFLOW);
        for (int i = 0; i < 20; i++) {
            lossySecond(3 * MAX_PACKETS);
        }
        assertEquals(settled, oneIn(), "it fits now");
        assertEquals(overflowed, matcher.counters().get(MatchCounter.SENT_OVERFLOW));
        assertEquals(0, matcher.counters().unexplainedSent());

        int grown = 0;
        for (int i = 0; i < 600 * 7; i++) {
            grown += second(10) ? 1 : 0;
        }
        assertEquals(1, oneIn());
        assertEquals(Long.numberOfTrailingZeros(settled), grown);
    }

    @Test
    void shouldMatchFewerFlowsWhenThisProcessDropsPacketsForSeconds() {
        for (int i = 0; i < 4; i++) {
            share.onOwnLoss(50);
            second(200);
        }
        assertEquals(1, oneIn(), "that may pass");
        second(200);
        for (int i = 0; i < 20; i++) {
            share.onOwnLoss(3);
            second(200);
        }
        assertEquals(1, oneIn(), "less than one in a hundred");
        for (int i = 0; i < 5; i++) {
            share.onOwnLoss(50);
            second(200);
        }
        assertEquals(2, oneIn());
    }

    @Test
    void shouldMatchFewerFlowsAfterTheClockWasSetBack() {
        for (int i = 0; i < 5; i++) {
            share.onOwnLoss(50);
            second(200);
        }
        assertEquals(2, oneIn());
        nowNs -= 86_400 * SECOND_NS;
        matcher.onTimeSetBack(nowNs);
        for (int i = 0; i < 6; i++) {
            share.onOwnLoss(50);
            second(200);
        }
        assertEquals(4, oneIn());
    }
}
