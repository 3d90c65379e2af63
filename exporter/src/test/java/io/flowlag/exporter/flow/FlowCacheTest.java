package io.flowlag.exporter.flow;

import io.flowlag.exporter.capture.PacketSource;
import io.flowlag.exporter.decode.PacketDescriptor;
import io.flowlag.exporter.status.CounterId;
import io.flowlag.exporter.status.Counters;
import net.jqwik.api.Arbitraries;
import net.jqwik.api.Arbitrary;
import net.jqwik.api.Combinators;
import net.jqwik.api.EdgeCasesMode;
import net.jqwik.api.ForAll;
import net.jqwik.api.Property;
import net.jqwik.api.Provide;
import net.jqwik.api.constraints.IntRange;
import org.agrona.concurrent.UnsafeBuffer;
import org.junit.jupiter.api.Test;

import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;

import static org.junit.jupiter.api.Assertions.assertArrayEquals;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertNotEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

class FlowCacheTest {
    private static final long SECOND_NS = 1_000_000_000L;
    private static final long START_NS = 1_700_000_000L * SECOND_NS;
    private static final long CUT_NS = 7 * SECOND_NS;
    private static final int TCP = 6;
    private static final int UDP = 17;
    private static final int FIN = 1;
    private static final int SYN = 2;
    private static final int RST = 4;
    private static final int ACK = 16;

    private final UnsafeBuffer descriptor = new UnsafeBuffer(new byte[PacketDescriptor.LENGTH_BYTES]);
    private final List<Row> rows = new ArrayList<>();
    private final Counters counters = new Counters();

    /** A finished flow as the tests compare it. */
    private record Row(
        long source, int sourcePort, long packets, long octets, long startNs, long endNs, int endReason, int flags, int ttlMin,
        int ttlMax, int lengthMin, int lengthMax) {
    }

    /** One step of the model: a packet of one of a few flows some time after the step before. */
    private record Step(int flow, long gapNs, int lengthBytes, int tcpFlags) {
    }

    private FlowCache cache(final FlowCacheSettingsBuilder settings) {
        return new FlowCache(settings.build(), (buffer, offset, length) -> rows.add(new Row(
            FlowEntry.sourceLow(buffer, offset),
            FlowEntry.sourcePort(buffer, offset),
            FlowEntry.packetCount(buffer, offset),
            FlowEntry.octetCount(buffer, offset),
            FlowEntry.startNs(buffer, offset),
            FlowEntry.endNs(buffer, offset),
            FlowEntry.endReason(buffer, offset),
            FlowEntry.tcpControlBits(buffer, offset),
            FlowEntry.minimumTtl(buffer, offset),
            FlowEntry.maximumTtl(buffer, offset),
            FlowEntry.minimumLengthBytes(buffer, offset),
            FlowEntry.maximumLengthBytes(buffer, offset))), counters);
    }

    private static FlowCacheSettingsBuilder small() {
        return new FlowCacheSettingsBuilder().maxFlows(64);
    }

    private UnsafeBuffer packet(final int flow, final long timestampNs, final int lengthBytes, final int tcpFlags) {
        descriptor.setMemory(0, descriptor.capacity(), (byte)0);
        PacketDescriptor.timestampNs(descriptor, 0, timestampNs);
        PacketDescriptor.sourceLow(descriptor, 0, 0x0A000000L + flow);
        PacketDescriptor.destinationLow(descriptor, 0, 0x0A010000L);
        PacketDescriptor.sourcePort(descriptor, 0, 1000 + flow);
        PacketDescriptor.destinationPort(descriptor, 0, 443);
        PacketDescriptor.protocol(descriptor, 0, tcpFlags == 0 ? UDP : TCP);
        PacketDescriptor.ipVersion(descriptor, 0, 4);
        PacketDescriptor.ttl(descriptor, 0, 60 + flow % 4);
        PacketDescriptor.tcpControlBits(descriptor, 0, tcpFlags);
        PacketDescriptor.ipLengthBytes(descriptor, 0, lengthBytes);
        PacketDescriptor.segmentCount(descriptor, 0, 1);
        return descriptor;
    }

    private static void flushAll(final FlowCache cache) {
        boolean hasMore = true;
        while (hasMore) {
            hasMore = cache.flush(16);
        }
    }

    @Test
    void shouldCountPacketsOctetsFlagsTimesAndExtremesOfAFlow() {
        final FlowCache cache = cache(small());
        cache.update(packet(1, START_NS, 60, SYN), 0);
        cache.update(packet(1, START_NS + 5, 1500, ACK), 0);
        cache.update(packet(1, START_NS - 7, 40, ACK), 0);
        flushAll(cache);

        assertEquals(
            List.of(new Row(0x0A000001L, 1001, 3, 1600, START_NS - 7, START_NS + 5, 4, SYN | ACK, 61, 61, 40, 1500)), rows);
        assertEquals(0, cache.size());
    }

    @Test
    void shouldEndSilentFlowsByTheWheelAtMostOneTickLate() {
        final FlowCache cache = cache(small().idleTimeoutNs(15 * SECOND_NS));
        cache.update(packet(1, START_NS, 60, 0), 0);
        cache.expire(START_NS + 15 * SECOND_NS - 1, 100);
        assertTrue(rows.isEmpty());

        cache.expire(START_NS + 15 * SECOND_NS + FlowCache.WORST_LATENESS_NS, 100);
        assertEquals(1, rows.size());
        assertEquals(EndReason.IDLE_TIMEOUT.code(), rows.get(0).endReason);
    }

    @Test
    void shouldCutLongFlowsAtTheActiveTimeoutWithoutHelpOfTheWheel() {
        final FlowCache cache = cache(small().activeTimeoutNs(60 * SECOND_NS).idleTimeoutNs(300 * SECOND_NS));
        for (int second = 0; second <= 125; second++) {
            cache.update(packet(1, START_NS + second * SECOND_NS, 100, 0), 0);
        }
        flushAll(cache);

        assertEquals(3, rows.size());
        assertEquals(60, rows.get(0).packets);
        assertEquals(60, rows.get(1).packets);
        assertEquals(6, rows.get(2).packets);
        assertEquals(EndReason.ACTIVE_TIMEOUT.code(), rows.get(1).endReason);
    }

    @Test
    void shouldKeepStragglersAfterFinAndBeginAnewAtSyn() {
        final FlowCache cache = cache(small().tcpEndTimeoutNs(SECOND_NS));
        cache.update(packet(1, START_NS, 60, SYN), 0);
        cache.update(packet(1, START_NS + 10, 60, FIN | ACK), 0);
        cache.update(packet(1, START_NS + 20, 52, ACK), 0);
        cache.update(packet(1, START_NS + 30, 60, SYN), 0);
        flushAll(cache);

        assertEquals(2, rows.size());
        assertEquals(3, rows.get(0).packets);
        assertEquals(EndReason.END_OF_FLOW.code(), rows.get(0).endReason);
        assertEquals(1, rows.get(1).packets);
    }

    @Test
    void shouldEndAtOnceAfterResetWhenConfiguredSo() {
        final FlowCache cache = cache(small().tcpEndTimeoutNs(0));
        cache.update(packet(1, START_NS, 60, RST), 0);
        assertEquals(EndReason.END_OF_FLOW.code(), rows.get(0).endReason);
        assertEquals(0, cache.size());
    }

    /** They see a packet after the cache. */
    @Test
    void shouldNotEndAFlowBeforeOtherStagesHaveSeenItsPacket() {
        final FlowCache cache = cache(small().tcpEndTimeoutNs(0).stateLengthBytes(64));
        final int slot = cache.update(packet(1, START_NS, 60, RST), 0);
        assertTrue(cache.isLive(slot));
        cache.update(packet(1, START_NS, 60, ACK), 0);
        assertEquals(EndReason.END_OF_FLOW.code(), rows.get(0).endReason);
        cache.update(packet(2, START_NS, 60, FIN), 0);
        cache.expire(START_NS + FlowCache.WORST_LATENESS_NS, 100);
        assertEquals(2, rows.size());
        assertEquals(1, cache.size());
    }

    @Test
    void shouldEndTcpFlowsByTheWheelAfterTheShortWait() {
        final FlowCache cache = cache(small().tcpEndTimeoutNs(SECOND_NS).idleTimeoutNs(300 * SECOND_NS));
        cache.update(packet(1, START_NS, 60, FIN), 0);
        cache.expire(START_NS + SECOND_NS + FlowCache.WORST_LATENESS_NS, 100);
        assertEquals(EndReason.END_OF_FLOW.code(), rows.get(0).endReason);
    }

    @Test
    void shouldKeepEstablishedFlowsWhenFlooded() {
        final FlowCache cache = cache(small());
        long nowNs = START_NS;
        for (int i = 0; i < 5_000; i++) {
            nowNs += 1_000_000;
            if (i % 20 == 0) {
                cache.update(packet(1, nowNs, 1000, 0), 0);
            }
            cache.update(packet(100 + i, nowNs, 60, SYN), 0);
        }
        flushAll(cache);

        assertEquals(1, rows.stream().filter((row) -> row.sourcePort == 1001).count());
        assertTrue(counters.get(CounterId.FLOWS_ENDED_LACK_OF_RESOURCES) > 4_000);
        assertEquals(5_250, rows.stream().mapToLong(Row::packets).sum());
        assertEquals(rows.size(), counters.get(CounterId.RECORDS_MADE));
    }

    @Test
    void shouldTellKeysApartByConfiguredFieldsOnly() {
        final FlowCache plain = cache(small());
        final FlowCache fine = cache(small().dscpInKey(true).vlanInKey(true).interfaceInKey(true));
        for (final FlowCache cache : List.of(plain, fine)) {
            cache.update(packet(1, START_NS, 60, 0), 0);
            packet(1, START_NS, 60, 0);
            PacketDescriptor.ipClassOfService(descriptor, 0, 0xB8);
            cache.update(descriptor, 0);
            PacketDescriptor.ipClassOfService(descriptor, 0, 0xB9);
            cache.update(descriptor, 0);
            packet(1, START_NS, 60, 0);
            PacketDescriptor.flags(descriptor, 0, PacketDescriptor.FLAG_VLAN);
            cache.update(descriptor, 0);
            PacketDescriptor.vlanId(descriptor, 0, 7);
            cache.update(descriptor, 0);
            packet(1, START_NS, 60, 0);
            PacketDescriptor.interfaceId(descriptor, 0, 3);
            cache.update(descriptor, 0);
            PacketDescriptor.flags(descriptor, 0, PacketDescriptor.FLAG_LEAVING);
            cache.update(descriptor, 0);
        }

        assertEquals(1, plain.size());
        assertEquals(6, fine.size());
    }

    @Test
    void shouldCutRecordsOfLivingFlowsAtABoundary() {
        final FlowCache cache = cache(
            small().activeTimeoutNs(60 * SECOND_NS).idleTimeoutNs(300 * SECOND_NS).boundaryNs(25 * SECOND_NS));
        final long phaseNs = Math.floorMod(-START_NS, 25 * SECOND_NS);
        for (int second = 0; second <= 125; second++) {
            cache.update(packet(1, START_NS + phaseNs + 10 * SECOND_NS + second * SECOND_NS, 100, 0), 0);
        }
        flushAll(cache);

        assertEquals(2, rows.size(), "cut 75 seconds after a boundary, and not 150");
        assertEquals(65, rows.get(0).packets);
        assertEquals(61, rows.get(1).packets);
        assertEquals(EndReason.ACTIVE_TIMEOUT.code(), rows.get(0).endReason);
    }

    /** A point that sees a flow later, or not its first packets, has the same records from the next cut on. */
    @Property(tries = 200, edgeCases = EdgeCasesMode.NONE)
    void shouldCutAFlowAtTheSamePacketsAtEveryPoint(
        @ForAll("gaps") final List<Long> gaps, @ForAll @IntRange(max = 30) final int missed) {
        final FlowCacheSettingsBuilder settings =
            small().cutNs(10 * SECOND_NS).activeTimeoutNs(60 * SECOND_NS).idleTimeoutNs(60 * SECOND_NS);
        final List<List<Row>> points = new ArrayList<>();
        for (int first = 0; first <= missed; first += Math.max(1, missed)) {
            rows.clear();
            final FlowCache cache = cache(settings);
            long nowNs = START_NS;
            for (int i = 0; i < gaps.size(); i++) {
                nowNs += gaps.get(i);
                if (i >= first) {
                    cache.expire(nowNs, 16);
                    cache.update(packet(1, nowNs, 100, 0), 0);
                }
            }
            flushAll(cache);
            assertEquals(rows.size(), rows.stream().map((row) -> window(row.startNs)).distinct().count());
            rows.forEach((row) -> assertEquals(window(row.startNs), window(row.endNs)));
            points.add(List.copyOf(rows));
        }
        final List<Row> whole = points.get(0);
        final List<Row> late = points.get(points.size() - 1);
        for (int i = 1; i < late.size(); i++) {
            assertEquals(late.get(late.size() - i), whole.get(whole.size() - i));
        }
    }

    @Provide
    Arbitrary<List<Long>> gaps() {
        return Arbitraries.longs().between(0, 3 * SECOND_NS).list().ofMinSize(1).ofMaxSize(60);
    }

    private static long window(final long timeNs) {
        return Math.floorDiv(timeNs, 10 * SECOND_NS);
    }

    @Test
    void shouldCutSilentFlowsByTheWheelAndCountLatePacketsWithTheirOwnWindow() {
        final FlowCache cache = cache(small().cutNs(10 * SECOND_NS).idleTimeoutNs(60 * SECOND_NS));
        final long cutNs = START_NS + 10 * SECOND_NS;
        cache.update(packet(1, cutNs - 2, 100, 0), 0);
        cache.expire(cutNs - 1, 100);
        assertEquals(0, rows.size());
        cache.expire(cutNs + FlowCache.WORST_LATENESS_NS, 100);
        assertEquals(EndReason.ACTIVE_TIMEOUT.code(), rows.get(0).endReason);

        cache.update(packet(1, cutNs - 1, 100, 0), 0);
        cache.update(packet(1, cutNs, 100, 0), 0);
        assertEquals(2, rows.size(), "a late packet alone");
        cache.update(packet(1, cutNs - 1, 100, 0), 0);
        cache.update(packet(1, cutNs + 1, 100, 0), 0);
        assertEquals(2, rows.size(), "a late packet behind a later one ends nothing");
        cache.timeouts(new FlowCacheSettings.Timeouts(60 * SECOND_NS, 60 * SECOND_NS, SECOND_NS, 4 * SECOND_NS));
        cache.update(packet(1, cutNs + 4 * SECOND_NS, 100, 0), 0);
        assertEquals(List.of(1L, 1L, 3L), rows.stream().map(Row::packets).toList());
    }

    @Test
    void shouldGuardSlotsByGenerationAndClearTheStateOfOthers() {
        final FlowCache cache = cache(small().maxFlows(1).stateLengthBytes(64));
        final int slot = cache.update(packet(1, START_NS, 60, 0), 0);
        final int generation = cache.generation(slot);
        cache.entries().putLong(cache.stateOffset(slot), 42);

        assertEquals(slot, cache.update(packet(1, START_NS, 60, 0), 0));
        assertEquals(generation, cache.generation(slot));
        assertEquals(42, cache.entries().getLong(cache.stateOffset(slot)));

        assertTrue(cache.isCurrent(slot, generation));
        while (cache.flush(1)) {
            assertTrue(cache.size() <= 1);
        }
        assertFalse(cache.isCurrent(slot, generation), "the flow has ended, and nobody has its slot");

        assertEquals(slot, cache.update(packet(2, START_NS, 60, 0), 0));
        assertNotEquals(generation, cache.generation(slot));
        assertFalse(cache.isCurrent(slot, generation));
        assertEquals(0, cache.entries().getLong(cache.stateOffset(slot)));
    }

    @Test
    void shouldEndFlowsWhenTheClockIsSetFarBack() {
        final FlowCache cache = cache(small());
        cache.expire(START_NS, 100);
        cache.update(packet(1, START_NS, 60, 0), 0);
        long nowNs = START_NS - 3600 * SECOND_NS;
        for (int i = 0; i < 400 && rows.isEmpty(); i++) {
            cache.expire(nowNs, 1000);
            nowNs += SECOND_NS;
        }

        assertEquals(1, rows.size());
    }

    @Test
    void shouldLookAtEveryFlowAtOnceWhenTheClockIsSetBack() {
        final FlowCache cache = cache(small());
        cache.expire(START_NS + 3600 * SECOND_NS, 100);
        cache.update(packet(1, START_NS, 60, 0), 0);
        cache.expire(START_NS + 14 * SECOND_NS, 100);
        assertEquals(0, rows.size());
        cache.expire(START_NS + 15 * SECOND_NS + FlowCache.WORST_LATENESS_NS, 100);
        assertEquals(1, rows.size());
    }

    @Test
    void shouldFollowNewTimeouts() {
        final FlowCache cache = cache(small().idleTimeoutNs(3600 * SECOND_NS).activeTimeoutNs(7200 * SECOND_NS));
        cache.update(packet(1, START_NS, 60, 0), 0);
        cache.timeouts(new FlowCacheSettings.Timeouts(60 * SECOND_NS, SECOND_NS, SECOND_NS, 0));
        cache.expire(START_NS + SECOND_NS + FlowCache.WORST_LATENESS_NS, 100);
        assertEquals(1, rows.size());
    }

    @Test
    void shouldBoundTheWorkOfOneExpiry() {
        final FlowCache cache = cache(small());
        for (int i = 0; i < 60; i++) {
            cache.update(packet(i, START_NS, 60, 0), 0);
        }
        final long laterNs = START_NS + 100 * SECOND_NS;
        assertEquals(25, cache.expire(laterNs, 25));
        assertEquals(25, rows.size());
        assertEquals(25, cache.expire(laterNs, 25));
        assertEquals(10, cache.expire(laterNs, 25));
        assertEquals(0, cache.expire(laterNs, 25));
    }

    @Test
    void shouldSurviveTimestampsAtTheEndsOfTheRange() {
        final FlowCache cache = cache(small());
        for (final long timestampNs : new long[]{0, Long.MAX_VALUE, 1, Long.MIN_VALUE, START_NS}) {
            cache.expire(timestampNs, 100);
            cache.update(packet(1, timestampNs, 60, 0), 0);
        }
        flushAll(cache);
        assertEquals(5, rows.stream().mapToLong(Row::packets).sum());
    }

    @Test
    void shouldKeepTimeoutsAtTheBoundsOfTimestamps() {
        for (final long timestampNs : new long[]{PacketSource.MAX_TIMESTAMP_NS, PacketSource.MIN_TIMESTAMP_NS}) {
            rows.clear();
            final FlowCache cache = cache(small());
            for (int i = 0; i < 3; i++) {
                cache.expire(timestampNs, 100);
                cache.update(packet(1, timestampNs, 60, 0), 0);
            }
            assertEquals(0, rows.size());
            cache.update(packet(1, -timestampNs, 60, 0), 0);
            flushAll(cache);
            assertEquals(4, rows.stream().mapToLong(Row::packets).sum());
        }
    }

    @Test
    void shouldChangeNothingByATouch() {
        final FlowCache cache = cache(small());
        final int packets = FlowCache.TOUCH_LIMIT;
        final UnsafeBuffer batch = new UnsafeBuffer(new byte[packets * PacketDescriptor.LENGTH_BYTES]);
        for (int i = 0; i < packets; i++) {
            batch.putBytes(
                i * PacketDescriptor.LENGTH_BYTES, packet(i, START_NS, 60, 0), 0, PacketDescriptor.LENGTH_BYTES);
        }
        cache.touch(batch, 0, packets);
        assertEquals(0, cache.size());
        cache.update(batch, 0);
        final byte[] before = new byte[FlowEntry.BASE_LENGTH_BYTES];
        final byte[] after = new byte[FlowEntry.BASE_LENGTH_BYTES];
        cache.entries().getBytes(0, before);
        cache.touch(batch, 0, packets);
        cache.entries().getBytes(0, after);
        assertArrayEquals(before, after);
        assertEquals(1, cache.size());
    }

    @Test
    void shouldCountOnlySlotsThatHoldAFlowAsLive() {
        final FlowCache cache = cache(small());
        for (int slot = 0; slot < cache.capacity(); slot++) {
            assertFalse(cache.isLive(slot));
        }
        cache.update(packet(1, START_NS, 60, 0), 0);
        final int slot = cache.update(packet(2, START_NS, 60, 0), 0);
        flushAll(cache);
        assertFalse(cache.isLive(slot));
        assertEquals(2, rows.size());
        assertEquals(slot, cache.update(packet(3, START_NS, 60, 0), 0), "a slot that was used before comes first");
        assertTrue(cache.isLive(slot));
    }

    @Provide
    Arbitrary<List<Step>> steps() {
        return Combinators.combine(
            Arbitraries.integers().between(0, 31),
            Arbitraries.frequencyOf(
                net.jqwik.api.Tuple.of(20, Arbitraries.longs().between(0, 50_000_000L)),
                net.jqwik.api.Tuple.of(2, Arbitraries.longs().between(0, 20 * SECOND_NS)),
                net.jqwik.api.Tuple.of(1, Arbitraries.longs().between(0, 1000 * SECOND_NS))),
            Arbitraries.integers().between(20, 1500),
            Arbitraries.of(0, 0, 0, SYN, ACK, ACK, FIN | ACK, RST)).as(Step::new).list().ofMaxSize(400);
    }

    @Property(tries = 300, edgeCases = EdgeCasesMode.NONE)
    void shouldEqualAPlainMapOfFlows(@ForAll("steps") final List<Step> steps, @ForAll final boolean isCut) {
        rows.clear();
        final Counters fresh = new Counters();
        final List<Row> expected = new ArrayList<>();
        final Map<Integer, Model> live = new HashMap<>();
        final FlowCache cache = new FlowCache(
            small().hashSeed(1).cutNs(isCut ? CUT_NS : 0).build(),
            (buffer, offset, length) -> rows.add(new Row(
                FlowEntry.sourceLow(buffer, offset), FlowEntry.sourcePort(buffer, offset),
                FlowEntry.packetCount(buffer, offset), FlowEntry.octetCount(buffer, offset),
                FlowEntry.startNs(buffer, offset), FlowEntry.endNs(buffer, offset), 0,
                FlowEntry.tcpControlBits(buffer, offset), 0, 0, 0, 0)),
            fresh);
        final UnsafeBuffer batch = new UnsafeBuffer(new byte[FlowCache.TOUCH_LIMIT * PacketDescriptor.LENGTH_BYTES]);
        long batchNs = START_NS;
        long nowNs = START_NS;
        int inBatch = 0;
        int batchCount = 0;
        for (int i = 0; i < steps.size(); i++) {
            if (inBatch == batchCount) {
                inBatch = 0;
                batchCount = Math.min(1 + steps.get(i).lengthBytes % FlowCache.TOUCH_LIMIT, steps.size() - i);
                for (int j = 0; j < batchCount; j++) {
                    final Step next = steps.get(i + j);
                    batchNs += next.gapNs;
                    batch.putBytes(j * PacketDescriptor.LENGTH_BYTES,
                        packet(next.flow, batchNs, next.lengthBytes, next.tcpFlags), 0, PacketDescriptor.LENGTH_BYTES);
                }
                cache.touch(batch, 0, batchCount);
            }
            final Step step = steps.get(i);
            nowNs += step.gapNs;
            cache.expire(nowNs, 16);
            cache.updateTouched(batch, inBatch * PacketDescriptor.LENGTH_BYTES, inBatch);
            inBatch++;
            final int key = step.flow * 2 + (step.tcpFlags == 0 ? 0 : 1);
            final Model model = live.get(key);
            if (model == null || model.isOver(nowNs, step.tcpFlags, isCut)) {
                if (model != null) {
                    expected.add(model.row(step.flow));
                }
                live.put(key, new Model(nowNs));
            }
            live.get(key).add(nowNs, step);
        }
        live.forEach((key, model) -> expected.add(model.row(key / 2)));
        flushAll(cache);

        assertEquals(sorted(expected), sorted(rows));
        assertEquals(steps.size(), rows.stream().mapToLong(Row::packets).sum());
        assertEquals(rows.size(), fresh.get(CounterId.FLOWS_CREATED));
        assertFalse(cache.flush(1000));
    }

    private static List<String> sorted(final List<Row> rows) {
        return rows.stream().map(Row::toString).sorted().toList();
    }

    /** One flow of the reference model. */
    private static final class Model {
        private final long startNs;
        private long endNs;
        private long packets;
        private long octets;
        private int flags;

        Model(final long startNs) {
            this.startNs = startNs;
            endNs = startNs;
        }

        boolean isOver(final long nowNs, final int tcpFlags, final boolean isCut) {
            final boolean isEnded = (flags & (FIN | RST)) != 0;
            return isEnded && ((tcpFlags & SYN) != 0 || nowNs - endNs >= SECOND_NS) ||
                nowNs - endNs >= 15 * SECOND_NS ||
                (isCut ? Math.floorDiv(nowNs, CUT_NS) > Math.floorDiv(endNs, CUT_NS) : nowNs - startNs >= 60 * SECOND_NS);
        }

        void add(final long nowNs, final Step step) {
            endNs = nowNs;
            packets++;
            octets += step.lengthBytes;
            flags |= step.tcpFlags;
        }

        Row row(final int flow) {
            return new Row(0x0A000000L + flow, 1000 + flow, packets, octets, startNs, endNs, 0, flags, 0, 0, 0, 0);
        }
    }
}
