package io.flowlag.exporter.delay.exact;

import com.sun.management.ThreadMXBean;
import org.agrona.concurrent.UnsafeBuffer;
import org.junit.jupiter.api.Test;

import java.lang.management.ManagementFactory;
import java.util.stream.LongStream;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

class MatchAllocationTest {
    private static final int WARM_UP_PACKETS = 60_000;
    private static final int MEASURED_PACKETS = 20_000;
    private static final int REPETITIONS = 5;
    private static final int FLOWS = 64;
    private static final long GAP_NS = 1_000;
    private static final long DELAY_NS = 100_000;
    private static final ThreadMXBean THREADS = (ThreadMXBean)ManagementFactory.getThreadMXBean();

    private final Packets packets = new Packets();
    private final SegmentFlows flows = new SegmentFlows(FLOWS / 2, 20_000_000);
    private final MatchHandler handler = new MatchHandler() {
        @Override
        public void onMatched(
            final int flow, final long senderTag, final long receiverTag, final long sentNs, final long receivedNs) {
            matchedDelayNs += receivedNs - sentNs;
        }
    };
    private final ExactMatcher matcher = new ExactMatcher(
        new ExactMatcherSettingsBuilder().maxPackets(1_000).maximumDelayNs(DELAY_NS * 4).build(), flows, handler);
    private final ExactMatcher crowded = new ExactMatcher(
        new ExactMatcherSettingsBuilder().maxPackets(3).build(), new SegmentFlows(FLOWS, SegmentFlows.NEVER_NS), handler);
    private long matchedDelayNs;
    private long packetCount;

    /** Matches, losses, copies, twins, strangers and packets that come too early; and a matcher with too little room. */
    private void run(final int count) {
        for (int i = 0; i < count; i++) {
            final long number = packetCount++;
            final int flow = (int)(number >> 10) % FLOWS;
            final long sentNs = number * GAP_NS;
            if (number % 17 > 0) {
                final UnsafeBuffer packet = packets.packet(flow, number % 13 == 0 ? 13 : number, sentNs);
                matcher.onSent(packet, 0);
            }
            if (number % 11 > 0) {
                receive(flow, number % 13 == 0 ? 13 : number, sentNs + (number % 7 == 0 ? -DELAY_NS : DELAY_NS));
            }
            if (number % 5 == 0) {
                receive(flow, number, sentNs + DELAY_NS + 1);
            }
            crowded.onSent(packets.packet(flow, number, sentNs), 0);
            crowded.onReceived(packets.packet(flow, number % 100 == 0 ? -number : number, sentNs), 0, flow);
            crowded.onTime(sentNs, 4);
            matcher.onTime(sentNs + (number / 4_096 % 2 == 0 ? 0 : DELAY_NS), 4);
        }
    }

    private void receive(final int flow, final long digest, final long receivedNs) {
        matcher.onReceived(packets.packet(flow, digest, receivedNs), 0, flow);
    }

    private long bytesAllocatedIn(final int count) {
        final long beforeBytes = THREADS.getCurrentThreadAllocatedBytes();
        final long idleBytes = THREADS.getCurrentThreadAllocatedBytes() - beforeBytes;
        run(count);
        return THREADS.getCurrentThreadAllocatedBytes() - beforeBytes - 2 * idleBytes;
    }

    /** The JVM itself may once need a few octets to change compiled code. */
    @Test
    void shouldAllocateNothingPerPacket() {
        run(WARM_UP_PACKETS);
        final long leastBytes = LongStream.generate(() -> bytesAllocatedIn(MEASURED_PACKETS)).limit(REPETITIONS).min()
            .getAsLong();

        assertEquals(0, leastBytes, "bytes allocated");
        for (final MatchCounter counter : new MatchCounter[] {
            MatchCounter.MATCHED, MatchCounter.LOST, MatchCounter.DUPLICATES, MatchCounter.UNEXPECTED, MatchCounter.TWINS,
            MatchCounter.NEGATIVE, MatchCounter.FORGOTTEN, MatchCounter.SENT_OVERFLOW, MatchCounter.FLOWS_REMOVED}) {
            assertTrue(
                matcher.counters().get(counter) + crowded.counters().get(counter) > 0, counter + " did not happen");
        }
        assertEquals(0, matcher.counters().unexplainedSent());
        assertEquals(0, matcher.counters().unexplainedReceived());
        assertTrue(matchedDelayNs > 0);
    }
}
