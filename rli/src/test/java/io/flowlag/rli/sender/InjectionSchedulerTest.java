package io.flowlag.rli.sender;

import io.flowlag.rli.Allocation;
import net.jqwik.api.ForAll;
import net.jqwik.api.Property;
import net.jqwik.api.constraints.IntRange;
import net.jqwik.api.constraints.Size;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

import java.util.List;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

class InjectionSchedulerTest {
    private static final int REFERENCE_BYTES = 110;
    private static final int PACKET_BYTES = 1250;
    private static final long CAPACITY_BPS = 100_000_000L;
    private static final long PACKET_NS = PACKET_BYTES * 8_000_000_000L / CAPACITY_BPS;
    private static final long MAXIMUM_GAP_NS = 100_000_000L;
    private static final long SECOND_NS = 1_000_000_000L;

    private static InjectionSettings settings(final InjectionPolicy... policies) {
        return InjectionSettings.of(CAPACITY_BPS, policies);
    }

    private static InjectionSettings smoothed(final double smoothing) {
        return new InjectionSettings(
            List.of(AdaptivePolicy.PAPER), CAPACITY_BPS, smoothing, MAXIMUM_GAP_NS, Long.MAX_VALUE, REFERENCE_BYTES);
    }

    private static InjectionSettings limited(final long ceilingBps, final InjectionPolicy... policies) {
        return new InjectionSettings(List.of(policies), CAPACITY_BPS, InjectionSettings.DEFAULT_SMOOTHING, MAXIMUM_GAP_NS,
            ceilingBps, REFERENCE_BYTES);
    }

    /** Sends packets at a load and injects what is due. */
    private static void run(
        final InjectionScheduler scheduler, final double utilization, final long fromNs, final long packets) {
        for (long i = 0; i < packets; i++) {
            final long nowNs = fromNs + Math.round(i * PACKET_NS / utilization);
            scheduler.onLinkTime(nowNs);
            if (scheduler.onPacket(0, nowNs, PACKET_BYTES)) {
                scheduler.onInjected(0, nowNs, REFERENCE_BYTES);
            }
        }
    }

    private static long references(final InjectionScheduler scheduler) {
        return scheduler.counter(SenderCounter.REFERENCES);
    }

    @Test
    void shouldInjectOneInN() {
        final InjectionScheduler scheduler = new InjectionScheduler(settings(new EveryNPolicy(50)));
        run(scheduler, 0.9, 0, 5001);

        assertEquals(101, references(scheduler));
        assertEquals(101L * REFERENCE_BYTES, scheduler.counter(SenderCounter.REFERENCE_BYTES));
        assertEquals(5001, scheduler.counter(0, SenderCounter.REGULAR_PACKETS));
        assertEquals(5001L * PACKET_BYTES, scheduler.counter(0, SenderCounter.REGULAR_BYTES));
        assertEquals(
            101.0 * REFERENCE_BYTES / (101.0 * REFERENCE_BYTES + 5001.0 * PACKET_BYTES), scheduler.referenceShare(), 1e-12);
    }

    @Test
    void shouldInjectOnceInAnInterval() {
        final InjectionScheduler scheduler = new InjectionScheduler(settings(new EveryIntervalPolicy(780_000)));
        long nowNs = 0;
        while (nowNs < SECOND_NS) {
            assertEquals(0, scheduler.dueClass(nowNs));
            scheduler.onInjected(0, nowNs, REFERENCE_BYTES);
            assertEquals(InjectionScheduler.NONE, scheduler.dueClass(nowNs + 779_999));
            nowNs = scheduler.nextDueNs(nowNs);
        }

        assertEquals(SECOND_NS / 780_000 + 1, references(scheduler));
        assertEquals(0, scheduler.counter(SenderCounter.BY_MAXIMUM_GAP));
    }

    @Test
    void shouldInjectAtWhicheverComesFirst() {
        final InjectionScheduler scheduler = new InjectionScheduler(settings(new CombinedPolicy(10, SECOND_NS / 100)));
        run(scheduler, 1.0, 0, 101);
        assertEquals(11, references(scheduler));

        final long afterNs = 100 * PACKET_NS + SECOND_NS / 100;
        assertEquals(afterNs, scheduler.nextDueNs(afterNs - 1));
        assertEquals(InjectionScheduler.NONE, scheduler.dueClass(afterNs - 1));
        assertEquals(0, scheduler.dueClass(afterNs));
    }

    @Test
    void shouldAdaptToTheUtilization() {
        final InjectionScheduler scheduler =
            new InjectionScheduler(smoothed(0.1));
        run(scheduler, 0.3, 0, 20_000);
        assertEquals(0.3, scheduler.utilization(0), 0.01);
        assertEquals(10, scheduler.packetGap(0));
        final long before = references(scheduler);
        assertEquals(2000, before, 2);

        final long laterNs = Math.round(20_000 * PACKET_NS / 0.3);
        run(scheduler, 0.95, laterNs, 60_000);
        assertEquals(0.95, scheduler.utilization(0), 0.01);
        assertEquals(300, scheduler.packetGap(0));
        assertTrue(references(scheduler) - before < 60_000 / 300 + 60, "references " + (references(scheduler) - before));
    }

    @Test
    void shouldAverageLikeAlgorithm1() {
        final InjectionScheduler scheduler =
            new InjectionScheduler(smoothed(0.25));
        scheduler.onLinkTime(0);
        scheduler.onInjected(0, 0, REFERENCE_BYTES);
        scheduler.onPacket(0, 1, PACKET_BYTES);
        scheduler.onOtherPacket(PACKET_BYTES);
        scheduler.onLinkQuiet(4 * PACKET_NS);
        scheduler.onInjected(0, 4 * PACKET_NS, REFERENCE_BYTES);
        assertEquals(0.5, scheduler.utilization(0), 1e-9);
        scheduler.onLinkTime(5 * PACKET_NS);
        scheduler.onPacket(0, 5 * PACKET_NS, PACKET_BYTES);
        scheduler.onInjected(0, 5 * PACKET_NS, REFERENCE_BYTES);
        assertEquals(0.25 * 1.0 + 0.75 * 0.5, scheduler.utilization(0), 1e-9);
    }

    /** As live capture does: the packets of a block come together, long after they were on the link. */
    @ParameterizedTest
    @ValueSource(ints = {4, 64, 1000})
    void shouldMeasureTheUtilizationByTheTimesOfPackets(final int blockPackets) {
        final InjectionScheduler scheduler = new InjectionScheduler(settings(AdaptivePolicy.PAPER));
        final double utilization = 0.7;
        for (long i = 0; i < 100_000; i++) {
            final long blockNs = Math.round((i / blockPackets + 1) * blockPackets * PACKET_NS / utilization);
            final long nowNs = blockNs + 1000 * (i % blockPackets / 32);
            scheduler.onLinkTime(Math.round(i * PACKET_NS / utilization));
            if (scheduler.onPacket(0, nowNs, PACKET_BYTES)) {
                scheduler.onInjected(0, nowNs, REFERENCE_BYTES);
            }
        }
        assertEquals(utilization, scheduler.utilization(0), 0.01);
    }

    /** A link a hundred times as fast is ahead of the bottleneck. */
    @Test
    void shouldTakeNoBurstForAFullLink() {
        final InjectionScheduler scheduler = new InjectionScheduler(settings(AdaptivePolicy.PAPER));
        final double utilization = 0.3;
        final int burstPackets = 95;
        for (long i = 0; i < 100_000; i++) {
            final long burstNs = Math.round(i / burstPackets * burstPackets * PACKET_NS / utilization);
            final long nowNs = burstNs + i % burstPackets * PACKET_NS / 100;
            scheduler.onLinkTime(nowNs);
            if (scheduler.onPacket(0, nowNs, PACKET_BYTES)) {
                scheduler.onInjected(0, nowNs, REFERENCE_BYTES);
            }
        }
        assertEquals(utilization, scheduler.utilization(0), 0.1);
    }

    @Test
    void shouldTellOfMoreThanTheLinkCanEverCarry() {
        final InjectionScheduler scheduler =
            new InjectionScheduler(smoothed(0.5));
        run(scheduler, 10, 0, 200_000);
        assertEquals(10, scheduler.utilization(0), 0.1);
    }

    @Test
    void shouldMeasureNoUtilizationAcrossAClockThatGoesBack() {
        final InjectionScheduler scheduler = new InjectionScheduler(settings(new EveryNPolicy(100)));
        run(scheduler, 0.5, SECOND_NS, 1000);
        assertEquals(0.5, scheduler.utilization(0), 0.01);
        run(scheduler, 0.5, SECOND_NS / 2, 103);
        assertEquals(0.5, scheduler.utilization(0), 0.01);
    }

    @Test
    void shouldKeepTheMaximumGapOnAnIdleLink() {
        final InjectionScheduler scheduler = new InjectionScheduler(settings(AdaptivePolicy.PAPER));
        for (long nowNs = 0; nowNs < SECOND_NS; nowNs = scheduler.nextDueNs(nowNs)) {
            assertEquals(0, scheduler.dueClass(nowNs));
            scheduler.onInjected(0, nowNs, REFERENCE_BYTES);
        }

        assertEquals(10, references(scheduler));
        assertEquals(9, scheduler.counter(SenderCounter.BY_MAXIMUM_GAP));
    }

    @Property(tries = 200)
    void shouldStayBelowTheCeiling(
        @ForAll @Size(min = 1, max = 2000) final List<@IntRange(min = 1, max = 2_000_000) Integer> gapsNs,
        @ForAll @IntRange(min = 26_400, max = 5_000_000) final int ceilingBps) {
        final InjectionScheduler scheduler = new InjectionScheduler(
            limited(ceilingBps, new EveryNPolicy(1), new EveryNPolicy(2), new EveryIntervalPolicy(1)));
        long nowNs = 0;
        for (final int gapNs : gapsNs) {
            nowNs += gapNs;
            for (int i = 0; i < 3; i++) {
                if (scheduler.onPacket(i, nowNs, 100)) {
                    scheduler.onInjected(i, nowNs, REFERENCE_BYTES);
                }
            }
        }

        final double allowedBytes = ceilingBps / 8e9 * nowNs +
            Math.max(2 * REFERENCE_BYTES, ceilingBps / 8e9 * MAXIMUM_GAP_NS) + 4 * REFERENCE_BYTES;
        assertTrue(scheduler.counter(SenderCounter.REFERENCE_BYTES) <= allowedBytes);
    }

    @Test
    void shouldKeepTheMaximumGapOfEachClassUnderTheTightestCeiling() {
        final int classes = 3;
        final InjectionScheduler scheduler = new InjectionScheduler(
            limited(classes * REFERENCE_BYTES * 8 * 10, new EveryNPolicy(1), new EveryNPolicy(1000), new EveryNPolicy(1000)));
        final long[] lastNs = new long[classes];
        for (long nowNs = 0; nowNs < 10 * SECOND_NS; nowNs += 1_000_000) {
            for (int i = 0; i < classes; i++) {
                if (scheduler.onPacket(i, nowNs, 100)) {
                    assertTrue(nowNs - lastNs[i] <= 2 * MAXIMUM_GAP_NS, "class " + i + " at " + nowNs);
                    lastNs[i] = nowNs;
                    scheduler.onInjected(i, nowNs, REFERENCE_BYTES);
                }
            }
        }
        for (int i = 0; i < classes; i++) {
            assertTrue(scheduler.counter(i, SenderCounter.REFERENCES) >= 50, "class " + i);
        }
        assertTrue(scheduler.counter(0, SenderCounter.HELD_BY_CEILING) > 0);
    }

    @Test
    void shouldTakeNewSettingsAndKeepItsCounts() {
        final InjectionScheduler scheduler = new InjectionScheduler(settings(new EveryNPolicy(300)));
        run(scheduler, 0.9, 0, 250);
        assertEquals(1, references(scheduler));
        scheduler.reconfigure(settings(new EveryNPolicy(10)));

        run(scheduler, 0.9, SECOND_NS / 100, 11);
        assertEquals(3, references(scheduler));
        assertEquals(261, scheduler.counter(SenderCounter.REGULAR_PACKETS));
        assertThrows(
            IllegalArgumentException.class,
            () -> scheduler.reconfigure(settings(new EveryNPolicy(1), new EveryNPolicy(1))));
    }

    @Test
    void shouldKnowTheLoadByAnotherCapacityAtOnce() {
        final InjectionSettings before = settings(new EveryNPolicy(10));
        final InjectionScheduler scheduler = new InjectionScheduler(before);
        run(scheduler, 0.8, 0, 2_000);
        final double utilization = scheduler.utilization(0);
        scheduler.reconfigure(InjectionSettings.of(2 * before.capacityBps(), new EveryNPolicy(10)));
        assertEquals(utilization / 2, scheduler.utilization(0), 1e-9);
        assertEquals(0.8, utilization, 0.1);
    }

    @Test
    void shouldSurviveAClockThatGoesBack() {
        final InjectionScheduler scheduler = new InjectionScheduler(settings(new EveryIntervalPolicy(1_000_000)));
        scheduler.onInjected(0, SECOND_NS, REFERENCE_BYTES);
        assertFalse(scheduler.onPacket(0, 0, PACKET_BYTES));
        assertTrue(scheduler.onPacket(0, 1_000_000, PACKET_BYTES));
        scheduler.onInjectionFailed(0, 1_000_000);
        assertFalse(scheduler.onPacket(0, 1_999_999, PACKET_BYTES));
        assertEquals(1, scheduler.counter(SenderCounter.FAILED));
    }

    @Test
    void shouldAllocateNothing() {
        final InjectionScheduler scheduler = new InjectionScheduler(
            limited(1_000_000, AdaptivePolicy.PAPER, new CombinedPolicy(7, 1_000_000)));
        final long[] nowNs = new long[1];
        Allocation.assertNone(100_000, 100_000, () -> {
            nowNs[0] += 10_000;
            final int classIndex = (int)(nowNs[0] / 10_000 & 1);
            if (scheduler.onPacket(classIndex, nowNs[0], PACKET_BYTES)) {
                scheduler.onInjected(classIndex, nowNs[0], REFERENCE_BYTES);
            }
            scheduler.nextDueNs(nowNs[0]);
            final int dueClass = scheduler.dueClass(nowNs[0]);
            if (dueClass != InjectionScheduler.NONE) {
                scheduler.onInjected(dueClass, nowNs[0], REFERENCE_BYTES);
            }
        });
        assertTrue(references(scheduler) > 1000);
    }
}
