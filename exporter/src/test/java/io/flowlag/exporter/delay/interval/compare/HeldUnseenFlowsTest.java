package io.flowlag.exporter.delay.interval.compare;

import io.flowlag.common.counter.CounterSet;
import io.flowlag.exporter.decode.FlowKeyLayout;
import io.flowlag.exporter.delay.interval.records.FlowSums;
import io.flowlag.exporter.delay.interval.records.SketchCounter;
import net.jqwik.api.Example;
import net.jqwik.api.ForAll;
import net.jqwik.api.Property;
import org.agrona.concurrent.UnsafeBuffer;

import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.SplittableRandom;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertTrue;

/** Flows that the receiver point has not seen count as losses as soon as it sees one of their packets, and not before. */
class HeldUnseenFlowsTest {
    private static final long SECOND_NS = 1_000_000_000L;
    private static final int FLOWS = 20;

    private final CounterSet<SketchCounter> counters = new CounterSet<>(SketchCounter.class);
    private final IntervalAnswer summary = new IntervalAnswer(1);
    private final List<String> told = new ArrayList<>();
    private final Map<Long, Long> lost = new HashMap<>();
    private final UnseenFlows unseen = new UnseenFlows((sent, row, startNs, endNs) -> {
        told.add(sent.flowHash(row) + ": " + sent.packets(row) + " port " + sent.sourcePort(row) + " from " +
            startNs / SECOND_NS + " to " + endNs / SECOND_NS);
        lost.merge(sent.flowHash(row), sent.packets(row), Long::sum);
    }, counters, UnseenFlows.CAPACITY, UnseenFlows.HELD_NS);

    private static UnsafeBuffer key(final int sourcePort) {
        final UnsafeBuffer key = new UnsafeBuffer(new byte[FlowKeyLayout.KEY_LENGTH_BYTES]);
        FlowKeyLayout.sourceLow(key, 0, 0x0A00_0001);
        FlowKeyLayout.destinationLow(key, 0, 0x0A00_0002);
        FlowKeyLayout.sourcePort(key, 0, sourcePort);
        FlowKeyLayout.destinationPort(key, 0, 443);
        FlowKeyLayout.protocol(key, 0, 17);
        FlowKeyLayout.ipVersion(key, 0, 4);
        return key;
    }

    private void send(final long flow, final long packets, final long second) {
        final FlowSums sent = FlowSums.ofAll(1);
        final int row = sent.put(flow, packets, 1, 2, 3);
        sent.key(row, key((int)flow), 0);
        unseen.onUnseenFlow(sent, row, second * SECOND_NS, (second + 1) * SECOND_NS);
    }

    @Example
    void shouldTellOfAFlowWhenItComes() {
        send(7, 2, 10);
        send(8, 5, 10);
        send(7, 3, 11);
        assertEquals(List.of(), told);
        assertEquals(10, counters.get(SketchCounter.NOT_OF_SEGMENT));
        unseen.onSeen(7, summary);
        unseen.onSeen(7, summary);
        assertEquals(List.of("7: 5 port 7 from 10 to 12"), told);
        assertEquals(5, counters.get(SketchCounter.NOT_OF_SEGMENT));
        assertEquals(5, summary.flowLostPackets);
        assertTrue(unseen.isAnyHeld());
        send(7, 1, 20);
        unseen.onSeen(7, summary);
        assertEquals("7: 1 port 7 from 20 to 21", told.get(1));
        unseen.onSeen(8, summary);
        assertFalse(unseen.isAnyHeld());
        assertEquals(0, counters.get(SketchCounter.NOT_OF_SEGMENT));
    }

    @Example
    void shouldForgetWhatNeverComesAndKeepWithinItsMemory() {
        for (int flow = 1; flow <= UnseenFlows.CAPACITY + 9; flow++) {
            send(flow, 1, 0);
        }
        unseen.onSeen(UnseenFlows.CAPACITY + 9, summary);
        assertEquals(List.of(), told, "there was no room");
        send(1, 1, 100);
        send(2, 1, 200);
        unseen.onSeen(3, summary);
        assertEquals(List.of(), told, "too long ago");
        assertEquals(UnseenFlows.CAPACITY + 11, counters.get(SketchCounter.NOT_OF_SEGMENT));
    }

    /** Every packet counts as lost once, or belongs to a flow that never arrived, in any order. */
    @Property(tries = 100)
    void shouldCountEveryPacketOnce(@ForAll final long seed) {
        final SplittableRandom random = new SplittableRandom(seed);
        told.clear();
        lost.clear();
        final long before = counters.get(SketchCounter.NOT_OF_SEGMENT);
        final Map<Long, Long> open = new HashMap<>();
        final Map<Long, Long> expected = new HashMap<>();
        for (int second = 0; second < 30; second++) {
            for (int i = 0; i < 10; i++) {
                final long flow = 1 + random.nextInt(FLOWS);
                if (random.nextInt(3) > 0) {
                    final long packets = 1 + random.nextInt(9);
                    send(flow, packets, second);
                    open.merge(flow, packets, Long::sum);
                } else {
                    unseen.onSeen(flow, summary);
                    final Long packets = open.remove(flow);
                    if (packets != null) {
                        expected.merge(flow, packets, Long::sum);
                    }
                }
            }
        }
        assertEquals(expected, lost);
        assertEquals(open.values().stream().mapToLong(Long::longValue).sum(),
            counters.get(SketchCounter.NOT_OF_SEGMENT) - before);
        for (long flow = 1; flow <= FLOWS; flow++) {
            unseen.onSeen(flow, summary);
        }
    }
}
