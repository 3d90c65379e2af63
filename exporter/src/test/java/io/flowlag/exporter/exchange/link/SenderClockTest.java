package io.flowlag.exporter.exchange.link;

import io.flowlag.exporter.status.ClockEstimate;
import org.junit.jupiter.api.Test;

import java.util.ArrayList;
import java.util.Collections;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.SplittableRandom;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertTrue;

/** Estimates by exchanges of times between ends that poll each millisecond, against true offsets and drifts. */
class SenderClockTest {
    private static final long BEGIN_NS = 1_700_000_000_000_000_000L;
    private static final long SECOND_NS = 1_000_000_000L;
    private static final long PERIOD_NS = 50_000_000L;
    private static final long POLL_NS = 1_060_000L;
    private static final int PACKETS = 5;
    private static final double CONFIDENCE = 0.95;
    private static final long BEYOND_ASYMMETRY_NS = 5_000;
    private static final int RUNS = Integer.getInteger("flowlag.clocks.runs", 40);

    private final Map<Boolean, Long> held = new HashMap<>();
    private final List<Long> errorsNs = new ArrayList<>();
    private final List<Long> boundsNs = new ArrayList<>();
    private final List<Long> beyondNs = new ArrayList<>();

    /** Two hosts and the ways between them. */
    private static final class Hosts {
        private final SplittableRandom random;
        private final double drift;
        private long forthNs;
        private final long backNs;
        private long offsetNs;
        private long nowNs = BEGIN_NS;
        private boolean hasPackets;

        private Hosts(final long seed) {
            random = new SplittableRandom(seed);
            offsetNs = random.nextLong(-10_000_000, 10_000_001);
            drift = random.nextDouble(-50e-6, 50e-6);
            forthNs = 20_000L << random.nextInt(8);
            backNs = forthNs + random.nextLong(forthNs / 4);
        }

        private long offsetNs(final long timeNs) {
            return offsetNs + Math.round(drift * (timeNs - BEGIN_NS));
        }

        private long onTheWayNs(final long leastNs) {
            return leastNs - Math.round(leastNs * Math.log(1 - random.nextDouble()) / 8) + random.nextLong(POLL_NS);
        }

        /** A packet is on one of the ways for as long as that takes, and what queues and the kernel add. */
        private long packetNs(final long leastNs) {
            return leastNs - Math.round((2_000 + leastNs / 8.0) * Math.log(1 - random.nextDouble()));
        }

        /** Packets of both ways that pass before the next exchange. */
        private void packets(final SenderClock clock) {
            for (int i = 0; i < PACKETS; i++) {
                final long sentNs = nowNs + i * PERIOD_NS / PACKETS;
                final long forthNs = packetNs(this.forthNs);
                final long backNs = packetNs(this.backNs);
                clock.onDelay(sentNs - offsetNs(sentNs), sentNs + forthNs);
                clock.onWayBack(sentNs, sentNs + backNs - offsetNs(sentNs + backNs));
            }
        }

        /** Exchanges in a second, and its end. */
        private void second(final SenderClock clock) {
            for (int i = 0; i < SECOND_NS / PERIOD_NS; i++) {
                if (hasPackets) {
                    packets(clock);
                    clock.onTime(nowNs);
                }
                final long arrivedNs = nowNs + onTheWayNs(backNs);
                final long returnedNs = arrivedNs + onTheWayNs(forthNs);
                clock.onExchange(nowNs, arrivedNs - offsetNs(arrivedNs), arrivedNs - offsetNs(arrivedNs) + 300, returnedNs + 300);
                nowNs += PERIOD_NS;
            }
            clock.onTime(nowNs);
        }
    }

    private void judge(final Hosts hosts, final ClockEstimate estimate) {
        if (estimate.isKnown()) {
            final long errorNs = Math.abs(estimate.offsetNs() - hosts.offsetNs(estimate.timeNs()));
            held.merge(errorNs <= estimate.boundNs(), 1L, Long::sum);
            errorsNs.add(errorNs);
            boundsNs.add(estimate.boundNs());
            beyondNs.add(estimate.boundNs() - (hosts.forthNs + hosts.backNs) / 2);
        }
    }

    private static long median(final List<Long> values) {
        Collections.sort(values);
        return values.get(values.size() / 2);
    }

    @Test
    void shouldHoldItsBoundWhateverOffsetDriftAndQueues() {
        long beyond = 0;
        for (int run = 0; run < RUNS; run++) {
            final Hosts hosts = new Hosts(run);
            final SenderClock clock = new SenderClock(1, false, "");
            for (int i = 0; i < 40; i++) {
                hosts.second(clock);
                judge(hosts, clock.estimate());
            }
            final ClockEstimate last = clock.estimate();
            assertTrue(last.isKnown(), "run " + run);
            assertEquals(hosts.drift, last.drift(), 8e-6, "run " + run);
            final long errorNs = Math.abs(last.offsetNs() - hosts.offsetNs(last.timeNs()));
            beyond += errorNs > (hosts.forthNs + hosts.backNs) / 2 + BEYOND_ASYMMETRY_NS ? 1 : 0;
        }
        final long all = held.values().stream().mapToLong(Long::longValue).sum();
        System.out.printf("clocks: %d intervals, bound holds in %d; median error %d ns, bound %d ns, of that %d ns beyond half " +
            "the least round trip%n", all, held.get(true), median(errorsNs), median(boundsNs), median(beyondNs));
        assertTrue(all > 30L * RUNS, "intervals with an estimate: " + all);
        assertTrue(held.get(true) >= CONFIDENCE * all, held::toString);
        assertEquals(0, beyond, "runs with an error beyond the asymmetry");
        assertTrue(median(beyondNs) < 200_000, "the bound is idle: " + median(beyondNs));
    }

    /** Packets of both ways narrow the bound to little more than half of the least round trip on the network. */
    @Test
    void shouldNarrowItsBoundByPacketsOfBothWays() {
        final List<Long> idleNs = new ArrayList<>();
        final List<Long> offNs = new ArrayList<>();
        for (int run = 0; run < RUNS; run++) {
            final Hosts hosts = new Hosts(run);
            final SenderClock clock = new SenderClock(1, false, "");
            for (int i = 0; i < 30; i++) {
                hosts.hasPackets = i >= 10 && i != 20;
                hosts.second(clock);
                judge(hosts, clock.estimate());
            }
            final ClockEstimate last = clock.estimate();
            final long asymmetryNs = (hosts.forthNs + hosts.backNs) / 2;
            idleNs.add(last.boundNs() - asymmetryNs - asymmetryNs / 10);
            offNs.add(Math.abs(last.offsetNs() - hosts.offsetNs(last.timeNs())) - (hosts.backNs - hosts.forthNs) / 2);
        }
        System.out.printf("clocks by packets: bound holds in %s, median bound beyond 1.1 times half the least round trip %d ns%n",
            held, median(idleNs));
        assertEquals(0L, held.getOrDefault(false, 0L));
        assertTrue(median(idleNs) < 10_000, idleNs::toString);
        assertTrue(median(offNs) < BEYOND_ASYMMETRY_NS, "beyond half the difference of the ways: " + offNs);
    }

    /** Steps and new paths of a third of what exchanges show. */
    @Test
    void shouldTellSmallStepsFromNewPathsByPacketsOfBothWays() {
        final Map<String, Long> told = new HashMap<>();
        for (int run = 0; run < 16; run++) {
            final Hosts hosts = new Hosts(8 * run);
            final SenderClock clock = new SenderClock(1, false, "");
            hosts.hasPackets = true;
            for (int i = 0; i < 40; i++) {
                if (i == 20) {
                    hosts.offsetNs += run % 2 == 0 ? 50_000 : 0;
                    hosts.forthNs += run % 2 == 0 ? 0 : 50_000;
                }
                hosts.second(clock);
                judge(hosts, clock.estimate());
            }
            final String kind = run % 2 == 0 ? "step: " : "path: ";
            clock.counters((name, count) -> told.merge(kind + name, count, Long::sum));
        }
        assertEquals(8L, told.get("step: clock_steps"), told::toString);
        assertEquals(8L, told.get("path: clock_path_changes"), told::toString);
        assertEquals(0L, told.get("step: clock_path_changes") + told.get("path: clock_steps") +
            told.get("step: clock_unclear_changes") + told.get("path: clock_unclear_changes"), told::toString);
        assertTrue(held.getOrDefault(false, 0L) <= 8, "but for the interval of the step: " + held);
    }

    @Test
    void shouldBeginAnewAfterAStepOfTheSendersClock() {
        for (int run = 0; run < 8; run++) {
            final Hosts hosts = new Hosts(100 + run);
            final SenderClock clock = new SenderClock(1, true, "");
            for (int i = 0; i < 20; i++) {
                hosts.second(clock);
            }
            final ClockEstimate before = clock.estimate();
            hosts.offsetNs += run % 2 == 0 ? 7_000_000 : -3_000_000_000L;
            hosts.second(clock);
            assertFalse(clock.estimate().isKnown(), "a step is possible");
            assertEquals(before.offsetNs(), clock.estimate().offsetNs(), 100_000, "the last one is kept meanwhile");
            for (int i = 0; i < 12; i++) {
                hosts.second(clock);
                judge(hosts, clock.estimate());
            }
            assertTrue(clock.estimate().isKnown());
            assertTrue(clock.estimate().sinceNs() > before.timeNs());
            final Map<String, Long> counters = new HashMap<>();
            clock.counters(counters::put);
            assertEquals(1, counters.get("clock_steps") + counters.get("clock_unclear_changes"), counters::toString);
        }
        assertEquals(0, held.getOrDefault(false, 0L), held::toString);
    }

    @Test
    void shouldCorrectTimesOfADriftingClock() {
        final ClockEstimate estimate = new ClockEstimate(true, true, 3_000_000, 50_000, 50e-6, BEGIN_NS, 0);
        for (final long agoNs : new long[] {0, SECOND_NS, -2 * SECOND_NS}) {
            final long timeNs = BEGIN_NS - agoNs;
            final long offsetNs = 3_000_000 - Math.round(50e-6 * agoNs);
            assertEquals(timeNs, estimate.correctedNs(timeNs - offsetNs), 1);
        }
        assertEquals(7, ClockEstimate.NONE.correctedNs(7));
    }

    /** What the record says of clocks: the smaller of what is stated and what is seen, unless they contradict each other. */
    @Test
    void shouldStateWhatIsLeftBetweenTheClocks() {
        final ClockEstimate seen = new ClockEstimate(true, false, -300_000, 100_000, 0, 0, 0);
        assertEquals(250_000, seen.errorNs(250_000));
        assertEquals(400_000, seen.errorNs(16_000_000));
        assertEquals(400_000, seen.errorNs(1_000), "contradicted");
        assertEquals(400_000, seen.errorNs(-1), "nothing is stated");
        assertEquals(100_000, new ClockEstimate(true, true, -300_000, 100_000, 0, 0, 0).errorNs(1_000));
        assertEquals(-1, new ClockEstimate(false, true, -300_000, 100_000, 0, 0, 0).errorNs(1_000), "perhaps it stepped");
        assertEquals(1_000, ClockEstimate.NONE.errorNs(1_000));
    }

    @Test
    void shouldNameAtomicTime() {
        assertTrue(SenderClock.advice(37_000_020_000L, 50_000).contains("37 s ahead: one of the two is on TAI"));
        assertTrue(SenderClock.advice(-36_999_000_000L, 50_000).contains("37 s behind"));
        assertTrue(SenderClock.advice(5 * SECOND_NS, 50_000).contains("more than a second apart"));
        assertEquals("", SenderClock.advice(10_000_000, 50_000));
    }
}
