package io.flowlag.exporter.delay;

import io.flowlag.exporter.config.ConfigLoader;
import io.flowlag.exporter.config.ExporterConfig;
import io.flowlag.exporter.config.ExporterConfig.Role;
import io.flowlag.exporter.decode.PacketDescriptor;
import io.flowlag.exporter.flow.EndReason;
import io.flowlag.exporter.flow.FlowCache;
import io.flowlag.exporter.flow.FlowCacheSettings;
import io.flowlag.exporter.flow.FlowCacheSettingsBuilder;
import io.flowlag.exporter.flow.FlowEntry;
import io.flowlag.exporter.monitoring.FlowView;
import io.flowlag.exporter.monitoring.top.FlowPicks;
import io.flowlag.exporter.monitoring.top.FlowRanking;
import io.flowlag.exporter.monitoring.top.FlowWatch;
import io.flowlag.exporter.status.CounterId;
import io.flowlag.exporter.status.Counters;
import org.agrona.concurrent.UnsafeBuffer;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;

import java.util.Random;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertTrue;

/** The record of one flow whose packets are matched live. */
class MatchedFlowTest {
    private static final int OFFSET = FlowEntry.BASE_LENGTH_BYTES;
    private static final long MS = 1_000_000L;
    private static final long SECOND_NS = 1_000 * MS;
    private static final long LOST_HERE = 3;
    private static final long LIFE_NS = 3_600 * SECOND_NS;
    private static final long START_NS = 1_700_000_000L * SECOND_NS;
    /** Packets of the flow come after the undecided time at the start of matching. */
    private static final long FLOW_NS = START_NS + 10 * SECOND_NS;

    private final ExporterConfig config = new ConfigLoader().text("test",
        "segment: {role: both, ingress: a, egress: b, max-delay: 100ms}").conclude();
    private final DelayWiring wiring = new DelayWiring(
        Role.BOTH, DelayWiring.References.NONE, ClockError.NONE, false, true, true, false);
    private final Counters counters = new Counters();
    private long clockNs = START_NS;
    private long watchNs;
    private final UnsafeBuffer record = new UnsafeBuffer(new byte[OFFSET + FlowDelay.EXACT_LENGTH_BYTES]);
    private final UnsafeBuffer descriptor = new UnsafeBuffer(new byte[PacketDescriptor.LENGTH_BYTES]);
    private final FlowEnd flowEnd =
        new FlowEnd((buffer, offset, length) -> record.putBytes(0, buffer, offset, record.capacity()));
    private final FlowCache cache = new FlowCache(
        new FlowCacheSettingsBuilder().maxFlows(16).activeTimeoutNs(LIFE_NS).idleTimeoutNs(LIFE_NS).tcpEndTimeoutNs(0)
            .stateLengthBytes(DelayStage.stateLengthBytes(wiring)).build(), flowEnd, counters);
    private final DelayStage stage = new DelayStage(config, wiring, flowEnd, cache, () -> clockNs, counters);

    @AfterEach
    void closeMeter() {
        stage.close();
    }

    private void packet(final int flow, final long digest, final long timeNs) {
        describe(descriptor, flow, digest, timeNs);
    }

    /** Fills a descriptor with a UDP packet of 100 octets. */
    static void describe(final UnsafeBuffer descriptor, final int flow, final long digest, final long timeNs) {
        descriptor.setMemory(0, descriptor.capacity(), (byte)0);
        PacketDescriptor.timestampNs(descriptor, 0, timeNs);
        PacketDescriptor.sourceLow(descriptor, 0, flow);
        PacketDescriptor.protocol(descriptor, 0, 17);
        PacketDescriptor.ipVersion(descriptor, 0, 4);
        PacketDescriptor.ipLengthBytes(descriptor, 0, 100);
        PacketDescriptor.wireLengthBytes(descriptor, 0, 114);
        PacketDescriptor.segmentCount(descriptor, 0, 1);
        PacketDescriptor.flags(descriptor, 0, PacketDescriptor.FLAG_DIGEST);
        PacketDescriptor.digest(descriptor, 0, digest);
    }

    private void send(final int flow, final long digest, final long timeNs) {
        packet(flow, digest, timeNs);
        stage.onSent(descriptor, 0, timeNs);
    }

    private void receive(final int flow, final long digest, final long timeNs) {
        packet(flow, digest, timeNs);
        stage.onReceived(descriptor, 0, cache.update(descriptor, 0));
    }

    private void watch() {
        send(99, -1, START_NS);
        receive(99, -1, START_NS + MS);
    }

    private void time(final long timeNs) {
        stage.onTime(timeNs, timeNs);
    }

    private void end() {
        while (cache.flush(16)) {
            Thread.onSpinWait();
        }
    }

    /** It is unknown which of two equal packets was lost: the bound covers both. */
    @ParameterizedTest
    @ValueSource(longs = {1, 2, 3, 4, 5, 6, 7, 8})
    void shouldBoundTheMeanWhereALostTwinMayHaveGivenItsTime(final long seed) {
        final Random random = new Random(seed);
        watch();
        final int pairs = 1 + random.nextInt(5);
        final int others = random.nextInt(5);
        long sumNs = 0;
        for (int i = 0; i < pairs + others; i++) {
            final long sentNs = FLOW_NS + i * 200 * MS;
            final long delayNs = 20 * MS + random.nextInt(1_000_000);
            final boolean isPair = i < pairs;
            final long apartNs = isPair ? 5 * MS + random.nextInt(5_000_000) : 0;
            send(1, i, sentNs);
            if (isPair) {
                send(1, i, sentNs + apartNs);
            }
            final boolean isSecondLost = random.nextBoolean();
            sumNs += delayNs;
            receive(1, i, sentNs + delayNs + (isSecondLost ? 0 : apartNs));
        }
        time(FLOW_NS + 20 * SECOND_NS);
        end();

        assertEquals(FlowDelay.ESTIMATOR_MATCHED, FlowDelay.estimator(record, OFFSET));
        final double truthNs = (double)sumNs / (pairs + others);
        final long boundNs = FlowDelay.errorBoundNs(record, OFFSET);
        assertTrue(Math.abs(truthNs - FlowDelay.meanNs(record, OFFSET)) <= boundNs + 1, "seed " + seed + " bound " + boundNs);
        assertTrue(boundNs >= 5 * MS * pairs / (pairs + others), "seed " + seed + " bound " + boundNs);
        assertTrue(
            FlowDelay.meanPackets(record, OFFSET) < FlowEntry.packetCount(record, 0), "not of all packets, seed " + seed);
        assertFalse(FlowDelay.isMatchedWhole(record, OFFSET));
        assertEquals(pairs, FlowDelay.lostPackets(record, OFFSET), "seed " + seed);
    }

    @Test
    void shouldTakeAFlowOfTheCheckpointForIncompleteAndTellNoLoss() {
        watch();
        cache.takeUp(entryOf(1), 0, FlowDelay.LENGTH_BYTES, START_NS + SECOND_NS);
        for (int i = 0; i < 3; i++) {
            send(1, i, FLOW_NS + i * MS);
            receive(1, i, FLOW_NS + (5 + i) * MS);
        }
        send(1, 7, FLOW_NS + 50 * MS);
        time(FLOW_NS + 20 * SECOND_NS);
        end();

        assertEquals(8, FlowEntry.packetCount(record, 0), "five of before");
        assertEquals(FlowDelay.ESTIMATOR_MATCHED, FlowDelay.estimator(record, OFFSET));
        assertEquals(3, FlowDelay.meanPackets(record, OFFSET));
        assertFalse(FlowDelay.isMatchedWhole(record, OFFSET));
        assertTrue(FlowDelay.errorBoundNs(record, OFFSET) >= 5 * 95 * MS / 8, "of the others nothing is known");
        assertFalse(FlowDelay.has(record, OFFSET, FlowDelay.FLAG_LOSS), "nor how many were lost before");
    }

    /** An entry with five packets of a second before this process. */
    private UnsafeBuffer entryOf(final int flow) {
        final UnsafeBuffer entry = new UnsafeBuffer(new byte[OFFSET + FlowDelay.LENGTH_BYTES]);
        FlowEntry.sourceLow(entry, 0, flow);
        FlowEntry.protocol(entry, 0, 17);
        FlowEntry.ipVersion(entry, 0, 4);
        FlowEntry.packetCount(entry, 0, 5);
        FlowEntry.octetCount(entry, 0, 500);
        FlowEntry.startNs(entry, 0, START_NS - SECOND_NS);
        FlowEntry.endNs(entry, 0, START_NS - MS);
        return entry;
    }

    /** A packet that came after its wait was counted as lost, and is not. */
    @Test
    void shouldTellAnUpperBoundOfLossWherePacketsCameLaterThanTheyWereWaitedFor() {
        watch();
        send(1, 1, FLOW_NS);
        receive(1, 1, FLOW_NS + MS);
        send(1, 2, FLOW_NS + 2 * MS);
        time(FLOW_NS + 2 * SECOND_NS);
        receive(1, 2, FLOW_NS + 2 * SECOND_NS);
        time(FLOW_NS + 60 * SECOND_NS);
        end();

        assertEquals(2, FlowEntry.packetCount(record, 0));
        assertEquals(1, FlowDelay.meanPackets(record, OFFSET));
        assertEquals(1, FlowDelay.lostPackets(record, OFFSET));
        assertEquals(FlowDelay.LOSS_UPPER_BOUND, FlowDelay.lossKind(record, OFFSET));
        assertFalse(FlowDelay.has(record, OFFSET, FlowDelay.FLAG_ERROR_BOUND), "its delay is beyond all that matched");
    }

    /** The wait is as long as it gets, and a flow has packets that needed more than half of it: a later one may be on its way. */
    @ParameterizedTest
    @CsvSource({"1, 3000, 2", "1, 2450, 1", "2, 3000, 1"})
    void shouldTellAnUpperBoundOfLossWherePacketsMayBeLaterThanTheLongestWait(
        final int slowFlow, final long slowestMs, final int lossKind) {
        watch();
        long sentNs = FLOW_NS;
        for (final long delayMs : new long[]{600, 1_210, slowestMs}) {
            send(slowFlow, delayMs, sentNs);
            receive(slowFlow, delayMs, sentNs + delayMs * MS);
            sentNs += delayMs * MS + MS;
        }
        send(1, 1, sentNs);
        receive(1, 1, sentNs + MS);
        send(1, 2, sentNs + 2 * MS);
        time(sentNs + 60 * SECOND_NS);
        end();

        assertEquals(1, FlowEntry.sourceLow(record, 0));
        assertEquals(1, FlowDelay.lostPackets(record, OFFSET));
        assertEquals(lossKind, FlowDelay.lossKind(record, OFFSET));
    }

    /** Addresses are translated between the points: losses are unknown, not zero. */
    @Test
    void shouldTellNoLossWhereNoPacketMatches() {
        watch();
        for (int i = 0; i < 10; i++) {
            send(1, i, FLOW_NS + i * MS);
            receive(2, 100 + i, FLOW_NS + (1 + i) * MS);
        }
        time(FLOW_NS + 20 * SECOND_NS);
        end();

        assertEquals(10, FlowEntry.packetCount(record, 0));
        assertEquals(0, FlowDelay.estimator(record, OFFSET));
        assertFalse(FlowDelay.has(record, OFFSET, FlowDelay.FLAG_LOSS));
    }

    /** A proxy rewrites packets of a flow: the lost ones and the ones in their place are the same packets. */
    @Test
    void shouldTellNoLossWhereMostPacketsOfAFlowAreRewritten() {
        watch();
        for (int i = 0; i < 10; i++) {
            send(1, i, FLOW_NS + i * MS);
            receive(1, i < 4 ? i : 100 + i, FLOW_NS + (1 + i) * MS);
        }
        time(FLOW_NS + 20 * SECOND_NS);
        end();

        assertEquals(4, FlowDelay.meanPackets(record, OFFSET));
        assertFalse(FlowDelay.has(record, OFFSET, FlowDelay.FLAG_LOSS));
    }

    /** A packet that this process dropped as it was sent may have been lost, too. */
    @Test
    void shouldTellAnUpperBoundOfLossWhereThisProcessDroppedPackets() {
        watch();
        send(1, 1, FLOW_NS);
        receive(1, 1, FLOW_NS + MS);
        counters.add(CounterId.LOST_IN_KERNEL, LOST_HERE);
        clockNs = FLOW_NS + 2 * MS;
        stage.onCaptured(FLOW_NS + 2 * MS);
        send(1, 3, FLOW_NS + 3 * MS);
        receive(1, 3, FLOW_NS + 4 * MS);
        time(FLOW_NS + 20 * SECOND_NS);
        end();

        assertEquals(2, FlowEntry.packetCount(record, 0));
        assertEquals(LOST_HERE, FlowDelay.lostPackets(record, OFFSET));
        assertEquals(FlowDelay.LOSS_UPPER_BOUND, FlowDelay.lossKind(record, OFFSET));
    }

    /** The delays of a former process's packets cannot be inferred from this one's, however many. */
    @Test
    void shouldNotTakeThisLifesDelaysForThoseOfAFormerOne() {
        watch();
        cache.takeUp(entryOf(1), 0, FlowDelay.LENGTH_BYTES, START_NS + SECOND_NS);
        for (int i = 0; i < 2_000; i++) {
            send(1, i, FLOW_NS + i * MS);
            receive(1, i, FLOW_NS + i * MS + 1_000);
        }
        time(FLOW_NS + 20 * SECOND_NS);
        end();

        assertEquals(2_000, FlowDelay.meanPackets(record, OFFSET));
        assertTrue(FlowDelay.errorBoundNs(record, OFFSET) >= 5 * 99 * MS / 2_005, "five of any delay");
    }

    /** Two equal packets were sent and one came; the other one waits, then it is lost. */
    @Test
    void shouldNotCallALivingFlowExactWhereATwinMayBeLost() {
        watch();
        send(1, 1, FLOW_NS);
        receive(1, 1, FLOW_NS + MS + 1);
        assertTrue(isShownExact());
        send(1, 2, FLOW_NS + 2 * MS);
        send(1, 2, FLOW_NS + 5 * MS);
        receive(1, 2, FLOW_NS + 6 * MS);
        assertFalse(isShownExact(), "one of them waits");
        time(FLOW_NS + 20 * SECOND_NS);
        assertFalse(isShownExact(), "one of them was lost");
    }

    /** Whether flow 1 is shown as exact while it lives. */
    private boolean isShownExact() {
        final FlowWatch watch = new FlowWatch((buffer, offset, length) -> { }, 16, SECOND_NS, () -> watchNs);
        watch.watch(cache, (entry, offset) -> stage.flowDelays());
        FlowPicks picks = null;
        while (picks == null) {
            watchNs += SECOND_NS;
            watch.doWork();
            picks = watch.take();
        }
        final FlowRanking living = picks.living();
        for (int i = 0; i < living.size(); i++) {
            final int offset = living.offset(i);
            if (FlowEntry.sourceLow(living.flows(), offset) == 1) {
                final FlowView view = FlowView.of(living.flows(), offset);
                assertEquals(view.isExact() ? 2_000L : null, view.boundNs(), "as that of its record will be");
                return view.isExact();
            }
        }
        throw new AssertionError("the flow is not shown");
    }

    @Test
    void shouldTellLossExactlyWherePacketsWereLost() {
        watch();
        send(1, 1, FLOW_NS);
        receive(1, 1, FLOW_NS + MS);
        send(1, 2, FLOW_NS + 2 * MS);
        time(FLOW_NS + 60 * SECOND_NS);
        end();

        assertTrue(FlowDelay.isMatchedWhole(record, OFFSET));
        assertEquals(1, FlowDelay.lostPackets(record, OFFSET));
        assertEquals(FlowDelay.LOSS_EXACT, FlowDelay.lossKind(record, OFFSET));
    }

    /** A packet was lost just before its flow fell silent: the record waits for the decision. */
    @Test
    void shouldTellLossesOfAFlowThatFallsSilentBeforeTheyAreDecided() {
        cache.timeouts(new FlowCacheSettings.Timeouts(LIFE_NS, SECOND_NS, 0, 0));
        watch();
        send(1, 1, FLOW_NS);
        receive(1, 1, FLOW_NS + MS);
        send(1, 2, FLOW_NS + 900 * MS);
        for (long nowNs = FLOW_NS + 900 * MS; nowNs < FLOW_NS + 3 * SECOND_NS; nowNs += 10 * MS) {
            cache.expire(nowNs, 16);
            time(nowNs);
        }

        assertEquals(1, FlowEntry.packetCount(record, 0));
        assertEquals(EndReason.IDLE_TIMEOUT.code(), FlowEntry.endReason(record, 0));
        assertTrue(FlowDelay.has(record, OFFSET, FlowDelay.FLAG_LOSS), "known by then");
        assertEquals(1, FlowDelay.lostPackets(record, OFFSET));
        assertEquals(FlowDelay.LOSS_EXACT, FlowDelay.lossKind(record, OFFSET));
    }

    /** Both points have one clock, so a packet that was sent after the watch began cannot have arrived before. */
    @Test
    void shouldTellLossExactlyOfAFlowThatBeginsAtOnceAfterTheWatch() {
        watch();
        send(1, 1, START_NS + 2 * MS);
        receive(1, 1, START_NS + 3 * MS);
        send(1, 2, START_NS + 4 * MS);
        time(START_NS + 60 * SECOND_NS);
        end();

        assertEquals(1, FlowDelay.lostPackets(record, OFFSET));
        assertEquals(FlowDelay.LOSS_EXACT, FlowDelay.lossKind(record, OFFSET));
    }

    /** One socket opens before the other, and so sees packets that the other missed. */
    @Test
    void shouldTellNoExactLossOfPacketsFromBeforeBothPointsWereWatched() {
        for (int i = 0; i < 5; i++) {
            send(1, i, START_NS - 50 * MS + i * 5 * MS);
        }
        for (int i = 5; i < 10; i++) {
            send(1, i, START_NS + i * 5 * MS);
            receive(1, i, START_NS + (i * 5 + 2) * MS);
        }
        time(START_NS + 60 * SECOND_NS);
        end();

        assertEquals(5, FlowEntry.packetCount(record, 0));
        assertEquals(FlowDelay.LOSS_UPPER_BOUND, FlowDelay.lossKind(record, OFFSET));
    }

    /** Packets that were sent just before the end may still be on their way. */
    @Test
    void shouldTellAnUpperBoundOfLossWherePacketsAreUndecided() {
        watch();
        send(1, 1, FLOW_NS);
        receive(1, 1, FLOW_NS + MS);
        send(1, 2, FLOW_NS + 2 * MS);
        time(FLOW_NS + 20 * SECOND_NS);
        send(1, 3, FLOW_NS + 20 * SECOND_NS);
        send(1, 4, FLOW_NS + 20 * SECOND_NS);
        receive(1, 5, FLOW_NS + 20 * SECOND_NS + MS);
        stage.onEnd();
        end();

        assertEquals(FlowDelay.LOSS_UPPER_BOUND, FlowDelay.lossKind(record, OFFSET));
        assertTrue(FlowDelay.lostPackets(record, OFFSET) >= 3, "one lost, two undecided");
    }
}
