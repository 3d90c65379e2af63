package io.flowlag.exporter.delay;

import io.flowlag.exporter.config.ConfigLoader;
import io.flowlag.exporter.config.ExporterConfig;
import io.flowlag.exporter.config.ExporterConfig.Role;
import io.flowlag.exporter.decode.PacketDescriptor;
import io.flowlag.exporter.delay.exact.MatchCounter;
import io.flowlag.exporter.delay.exact.MatchCounters;
import io.flowlag.exporter.flow.FlowCache;
import io.flowlag.exporter.flow.FlowCacheSettingsBuilder;
import io.flowlag.exporter.flow.FlowEntry;
import io.flowlag.exporter.status.Counters;
import io.flowlag.rli.counters.DelayCounters;
import org.agrona.concurrent.UnsafeBuffer;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

import java.util.ArrayList;
import java.util.Comparator;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.PriorityQueue;
import java.util.Random;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertTrue;

/** The delay stage live, while more packets are under way than it has memory for, and afterwards. */
class StandInTest {
    private static final int OFFSET = FlowEntry.BASE_LENGTH_BYTES;
    private static final long MS = 1_000_000L;
    private static final long SECOND_NS = 1_000 * MS;
    private static final long LIFE_NS = 36_000 * SECOND_NS;
    private static final long START_NS = 1_700_000_000L * SECOND_NS;
    private static final int FLOWS = 512;
    private static final double LOSS = 0.02;

    private final ExporterConfig config = new ConfigLoader().text("test",
        "segment: {role: both, ingress: a, egress: b, destination: [0.0.0.0/0], exact-packets: 1k}").conclude();
    private final DelayWiring wiring = new DelayWiring(
        Role.BOTH, DelayWiring.References.NONE, ClockError.NONE, false, true, true, false);
    private final Counters counters = new Counters();
    private final UnsafeBuffer descriptor = new UnsafeBuffer(new byte[PacketDescriptor.LENGTH_BYTES]);
    private final Map<Integer, UnsafeBuffer> records = new HashMap<>();
    private final FlowEnd flowEnd = new FlowEnd((buffer, offset, length) -> {
        final UnsafeBuffer record = new UnsafeBuffer(new byte[OFFSET + FlowDelay.EXACT_LENGTH_BYTES]);
        record.putBytes(0, buffer, offset, record.capacity());
        records.put((int)FlowEntry.sourceLow(record, 0), record);
    });
    private final FlowCache cache = new FlowCache(
        new FlowCacheSettingsBuilder().maxFlows(4 * FLOWS).activeTimeoutNs(LIFE_NS).idleTimeoutNs(LIFE_NS).tcpEndTimeoutNs(0)
            .stateLengthBytes(DelayStage.stateLengthBytes(wiring)).build(), flowEnd, counters);
    private final DelayStage stage = new DelayStage(config, wiring, flowEnd, cache, () -> START_NS, counters);
    private final MatchCounters matched = stage.matchCounters();
    private final PriorityQueue<Arrival> underWay = new PriorityQueue<>(Comparator.comparingLong(Arrival::timeNs));
    private final Map<Integer, long[]> truth = new HashMap<>();
    private long nowNs = START_NS;
    private long digest;

    private record Arrival(int flow, long digest, long sentNs, long timeNs) {
    }

    @AfterEach
    void closeMeter() {
        stage.close();
    }

    /** A queue that fills and empties within a second without reordering packets. */
    private static long delayNs(final long timeNs) {
        return 20 * MS + (long)(15 * MS * Math.sin(2 * Math.PI * (timeNs % SECOND_NS) / SECOND_NS));
    }

    private void arrive(final long untilNs) {
        while (!underWay.isEmpty() && underWay.peek().timeNs <= untilNs) {
            final Arrival arrival = underWay.poll();
            MatchedFlowTest.describe(descriptor, arrival.flow, arrival.digest, arrival.timeNs);
            stage.onReceived(descriptor, 0, cache.update(descriptor, 0));
            final long[] sums = truth.computeIfAbsent(arrival.flow, (flow) -> new long[3]);
            sums[0]++;
            sums[1] += arrival.timeNs - arrival.sentNs;
        }
    }

    /** Seconds of traffic of flows, of which some is lost. */
    private void run(final int seconds, final int packetsPerSecond, final int firstFlow, final Random random) {
        for (int second = 0; second < seconds; second++) {
            for (int i = 0; i < packetsPerSecond; i++) {
                final long sentNs = nowNs + i * SECOND_NS / packetsPerSecond;
                final int flow = firstFlow + random.nextInt(FLOWS);
                arrive(sentNs);
                MatchedFlowTest.describe(descriptor, flow, ++digest, sentNs);
                stage.onSent(descriptor, 0, sentNs);
                if (random.nextDouble() < LOSS) {
                    truth.computeIfAbsent(flow, (any) -> new long[3])[2]++;
                } else {
                    underWay.add(new Arrival(flow, digest, sentNs, sentNs + delayNs(sentNs)));
                }
                if (i % 100 == 0) {
                    stage.onTime(sentNs, sentNs);
                }
            }
            nowNs += SECOND_NS;
            stage.onTime(nowNs, nowNs);
        }
    }

    /** The packets under way arrive, and all flows end. */
    private List<UnsafeBuffer> end() {
        arrive(Long.MAX_VALUE);
        nowNs += 10 * SECOND_NS;
        for (int i = 0; i < 100; i++) {
            stage.onTime(nowNs, nowNs);
        }
        while (cache.flush(16)) {
            Thread.onSpinWait();
        }
        final List<UnsafeBuffer> all = new ArrayList<>(records.values());
        records.clear();
        return all;
    }

    private double truthNs(final UnsafeBuffer record) {
        final long[] sums = truth.get((int)FlowEntry.sourceLow(record, 0));
        return (double)sums[1] / sums[0];
    }

    private long lost(final UnsafeBuffer record) {
        return truth.get((int)FlowEntry.sourceLow(record, 0))[2];
    }

    private void assertExact(final UnsafeBuffer record) {
        assertEquals(FlowDelay.ESTIMATOR_MATCHED, FlowDelay.estimator(record, OFFSET));
        assertTrue(FlowDelay.isMatchedWhole(record, OFFSET));
        assertEquals(truthNs(record), FlowDelay.meanNs(record, OFFSET), 1);
        assertTrue(FlowDelay.has(record, OFFSET, FlowDelay.FLAG_LOSS));
        assertEquals(lost(record), FlowDelay.lostPackets(record, OFFSET));
    }

    @ParameterizedTest
    @ValueSource(longs = {1, 2, 3, 4})
    void shouldEstimateFlowsBetweenThoseThatAreMatchedUntilAllAreAgain(final long seed) {
        final Random random = new Random(seed);
        run(1, 1, 0, random);
        long overflowed = 0;
        do {
            overflowed = overflowed();
            run(5, 3_000, 0, random);
        } while (overflowed() > overflowed);
        assertMixed(end(), seed);
        final long oneIn = matched.matchedOneIn();
        assertTrue(overflowed > 0 && oneIn >= 2 && oneIn <= 16, "one in " + oneIn + " after " + overflowed);

        run(20, 1_500, 1_000, random);
        assertEquals(oneIn, matched.matchedOneIn(), "it fits now, seed " + seed);
        assertEquals(overflowed, overflowed());
        final List<UnsafeBuffer> settled = end();
        assertEquals(FLOWS, settled.size());
        int exact = 0;
        int held = 0;
        for (final UnsafeBuffer record : settled) {
            if (FlowDelay.estimator(record, OFFSET) == FlowDelay.ESTIMATOR_MATCHED) {
                assertExact(record);
                exact++;
            } else {
                assertEquals(FlowDelay.ESTIMATOR_INTERPOLATED, FlowDelay.estimator(record, OFFSET), "a mean, seed " + seed);
                assertFalse(FlowDelay.has(record, OFFSET, FlowDelay.FLAG_LOSS), "which nobody counted");
                assertEquals(truthNs(record), FlowDelay.meanNs(record, OFFSET), 0.02 * truthNs(record), "seed " + seed);
                held += Math.abs(truthNs(record) - FlowDelay.meanNs(record, OFFSET)) <=
                    FlowDelay.errorBoundNs(record, OFFSET) + 1 ? 1 : 0;
            }
        }
        assertTrue(exact > 0 && exact < FLOWS, exact + " exact, one in " + oneIn);
        assertTrue(held >= 0.85 * (FLOWS - exact), held + " of " + (FLOWS - exact) + " bounds hold, seed " + seed);

        run(7 * 600, 2, 2_000, random);
        assertEquals(1, matched.matchedOneIn(), "after ten quiet minutes each");
        end();
        run(20, 20, 3_000, random);
        final List<UnsafeBuffer> again = end();
        assertTrue(again.size() > 100);
        again.forEach(this::assertExact);
        assertEquals(0, matched.unexplainedSent());
        assertEquals(0, matched.unexplainedReceived());
    }

    /** Flows were matched while there was room, then interpolated: their mean covers both. */
    private void assertMixed(final List<UnsafeBuffer> mixed, final long seed) {
        int held = 0;
        int whole = 0;
        for (final UnsafeBuffer record : mixed) {
            whole += FlowDelay.meanPackets(record, OFFSET) > 0.4 * FlowEntry.packetCount(record, 0) ? 1 : 0;
            held += Math.abs(truthNs(record) - FlowDelay.meanNs(record, OFFSET)) <=
                FlowDelay.errorBoundNs(record, OFFSET) + 1 ? 1 : 0;
        }
        assertTrue(whole > 0.7 * mixed.size(), whole + " of " + mixed.size() + ", seed " + seed);
        assertTrue(held > 0.85 * mixed.size(), held + " of " + mixed.size() + " bounds hold, seed " + seed);
    }

    private long overflowed() {
        return matched.get(MatchCounter.SENT_OVERFLOW) + matched.get(MatchCounter.RECEIVED_OVERFLOW);
    }

    @Test
    void shouldEstimateNothingWhileEachFlowIsMatched() {
        final Random random = new Random(5);
        run(1, 1, 0, random);
        run(5, 100, 1_000, random);
        for (final UnsafeBuffer record : end()) {
            assertEquals(0, DelayCounters.count(record, OFFSET));
        }
    }
}
