package io.flowlag.exporter.pipeline;

import com.sun.management.ThreadMXBean;
import io.flowlag.common.hash.SipHash;
import io.flowlag.exporter.capture.CaptureClock;
import io.flowlag.exporter.config.ConfigLoader;
import io.flowlag.exporter.config.ExporterConfig;
import io.flowlag.exporter.config.ExporterConfig.Role;
import io.flowlag.exporter.decode.DecodedReference;
import io.flowlag.exporter.decode.DigestSwitch;
import io.flowlag.exporter.decode.PacketDescriptor;
import io.flowlag.exporter.decode.SegmentHashes;
import io.flowlag.exporter.delay.ClockError;
import io.flowlag.exporter.delay.DelayStage;
import io.flowlag.exporter.delay.DelayWiring;
import io.flowlag.exporter.delay.FlowEnd;
import io.flowlag.exporter.delay.ReferenceMode;
import io.flowlag.exporter.delay.ReferenceTransmitter;
import io.flowlag.exporter.delay.SegmentStages;
import io.flowlag.exporter.flow.FlowCache;
import io.flowlag.exporter.flow.FlowCacheSettingsBuilder;
import io.flowlag.exporter.status.CounterId;
import io.flowlag.exporter.status.Counters;
import io.flowlag.rli.reference.ReferenceSession;
import io.flowlag.rli.reference.TimestampMethod;
import org.agrona.DirectBuffer;
import org.agrona.concurrent.UnsafeBuffer;
import org.junit.jupiter.api.Test;

import java.lang.management.ManagementFactory;
import java.util.List;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

/**
 * The metering thread with delay allocates nothing for packets and references, and nothing where flows end.
 * <p>
 * An allocation of this code would happen in each round, so one round without any is the proof. Not every round is free of
 * them: when the optimizing compiler is requested for a method, HotSpot resolves the string constants of its class, once, on
 * the thread that runs it. On a busy machine that happens late; interpreted code never does it.
 */
class DelayAllocationTest {
    private static final long START_NS = 1_700_000_000_000_000_000L;
    private static final long DELAY_NS = 2_000_000;
    private static final long GAP_NS = 10_000;
    private static final int FLOWS = 64;
    private static final int REFERENCE_DISTANCE = 50;
    private static final int WARM_UP = 200_000;
    private static final int MEASURED = 200_000;
    private static final int ROUNDS = 20;

    private final UnsafeBuffer batch = new UnsafeBuffer(new byte[2 * PacketDescriptor.LENGTH_BYTES]);
    private final Counters counters = new Counters();
    private final SettableClock clock = new SettableClock();
    private int packetNumber;
    private int referenceNumber;
    private DelayStage stage;

    private static ExporterConfig config() {
        return new ConfigLoader().text("test",
            "segment: {interval: 1h}\nmetering: {max-flows: 1024, active-timeout: 100ms, idle-timeout: 50ms}\n" +
            "rli: {policy: every-n, every-n: 50, ceiling: 100m}\njoint: {enabled: on}\n").conclude();
    }

    private MeteringAgent agent(final DelayWiring wiring, final CaptureClock liveClock) {
        return agent(config(), wiring, liveClock);
    }

    private MeteringAgent agent(final ExporterConfig config, final DelayWiring wiring, final CaptureClock liveClock) {
        final FlowEnd flowEnd = new FlowEnd((buffer, offset, lengthBytes) -> { });
        final FlowCache cache = new FlowCache(
            new FlowCacheSettingsBuilder().maxFlows(1024).activeTimeoutNs(100_000_000).idleTimeoutNs(50_000_000)
                .tcpEndTimeoutNs(0).stateLengthBytes(DelayStage.stateLengthBytes(wiring)).build(),
            flowEnd, counters);
        stage = new DelayStage(config, wiring, flowEnd, cache, liveClock, counters);
        return new DelayMeteringAgent(cache, StageRing.unused(), () -> false, liveClock, stage, wiring, false, counters);
    }

    private void describe(final int offset, final int point, final long timestampNs) {
        batch.setMemory(offset, PacketDescriptor.LENGTH_BYTES, (byte)0);
        PacketDescriptor.timestampNs(batch, offset, timestampNs);
        PacketDescriptor.ipVersion(batch, offset, 4);
        PacketDescriptor.protocol(batch, offset, 17);
        PacketDescriptor.sourceLow(batch, offset, packetNumber % FLOWS);
        PacketDescriptor.destinationLow(batch, offset, 1);
        PacketDescriptor.segmentCount(batch, offset, 1);
        PacketDescriptor.ipLengthBytes(batch, offset, 500);
        PacketDescriptor.wireLengthBytes(batch, offset, 514);
        PacketDescriptor.observationPoint(batch, offset, point);
        PacketDescriptor.flags(batch, offset, PacketDescriptor.FLAG_DIGEST);
        PacketDescriptor.digest(batch, offset, packetNumber * 0x9E37_79B9_7F4A_7C15L);
    }

    /** A packet passes both points; sometimes a reference does. */
    private void pass(final MeteringAgent agent, final boolean hasReferences) {
        final long sentNs = START_NS + ++packetNumber * GAP_NS;
        if (hasReferences && packetNumber % REFERENCE_DISTANCE == 0) {
            describe(0, 0, sentNs);
            DecodedReference.encode(batch, 0, 0, referenceNumber, sentNs);
            describe(PacketDescriptor.LENGTH_BYTES, 1, sentNs + DELAY_NS);
            DecodedReference.encode(batch, PacketDescriptor.LENGTH_BYTES, 0, referenceNumber++, sentNs);
            agent.onDescriptors(batch, 0, 2);
        }
        describe(0, 0, sentNs);
        describe(PacketDescriptor.LENGTH_BYTES, 1, sentNs + DELAY_NS);
        agent.onDescriptors(batch, 0, 2);
    }

    private static void assertNothingAllocated(final Runnable work) {
        final ThreadMXBean thread = (ThreadMXBean)ManagementFactory.getThreadMXBean();
        for (int i = 0; i < WARM_UP; i++) {
            work.run();
        }
        long leastBytes = Long.MAX_VALUE;
        for (int round = 0; round < ROUNDS && leastBytes > 0; round++) {
            final long before = thread.getCurrentThreadAllocatedBytes();
            for (int i = 0; i < MEASURED; i++) {
                work.run();
            }
            leastBytes = Math.min(leastBytes, thread.getCurrentThreadAllocatedBytes() - before);
        }
        assertEquals(0, leastBytes);
    }

    @Test
    void shouldAllocateNothingWithReferencesInBothCaptures() {
        final MeteringAgent agent = agent(new DelayWiring(
            Role.BOTH, new DelayWiring.References(ReferenceMode.CAPTURED, List.of(ReferenceSession.unauthenticated(1))),
            ClockError.NONE, true, true, true, false), CaptureClock.FILES);
        assertNothingAllocated(() -> pass(agent, true));
    }

    /** A reference goes to both shards, and comes back when both have captured past it. */
    @Test
    void shouldAllocateNothingInAShard() {
        final DelayWiring wiring = new DelayWiring(
            Role.RECEIVER, new DelayWiring.References(ReferenceMode.SENT, List.of(ReferenceSession.unauthenticated(1))),
            ClockError.NONE, true, false, false, false);
        final long[] nowNs = {START_NS};
        final FlowEnd flowEnd = new FlowEnd((buffer, offset, lengthBytes) -> { });
        final FlowCache cache = new FlowCache(
            new FlowCacheSettingsBuilder().maxFlows(1024).stateLengthBytes(DelayStage.stateLengthBytes(wiring)).build(),
            flowEnd, counters);
        stage = new DelayStage(config(), wiring, flowEnd, cache, () -> nowNs[0], counters);
        final List<SharedReferences> references = SharedReferences.of(List.of(() -> false, () -> false));
        final MeteringAgent agent = new ShardMeteringAgent(
            cache, () -> false, () -> nowNs[0], stage, wiring, true, references.get(0), counters);
        assertNothingAllocated(() -> {
            nowNs[0] = START_NS + ++packetNumber * GAP_NS;
            describe(0, 0, nowNs[0]);
            describe(PacketDescriptor.LENGTH_BYTES, 0, nowNs[0]);
            if (packetNumber % REFERENCE_DISTANCE == 0) {
                DecodedReference.encode(batch, 0, 0, referenceNumber++, nowNs[0] - DELAY_NS);
            }
            agent.onDescriptors(batch, 0, 2);
            agent.onCaptured(nowNs[0]);
            references.get(1).onCaptured(nowNs[0]);
            agent.doWork();
        });
        assertTrue(stage.statistics().counters().get("rli_estimated") > WARM_UP, stage.statistics()::toString);
    }

    /** Every packet arrives in one segment, and half of them enter another, for which they have another digest. */
    @Test
    void shouldAllocateNothingWithSeveralSegments() {
        final ExporterConfig config = new ConfigLoader().text("test",
            "metering: {max-flows: 1024, active-timeout: 100ms, idle-timeout: 50ms}\nsegments:\n" +
            "- {role: receiver, id: 1, interval: 1h, source: [0.0.0.0/26]}\n" +
            "- {role: sender, id: 2, interval: 1h, source: [0.0.0.0/27], rli: {target: h, session: 2}}\n").conclude();
        final List<DelayWiring> wirings = List.of(
            new DelayWiring(Role.RECEIVER, new DelayWiring.References(
                ReferenceMode.SENT, List.of(ReferenceSession.unauthenticated(1))), ClockError.NONE, true, false, false, false),
            new DelayWiring(Role.SENDER, DelayWiring.References.NONE, ClockError.NONE, false, false, false, false));
        final SegmentStages stages = new SegmentStages(config.segments(), (buffer, offset, lengthBytes) -> { });
        final FlowCache cache = new FlowCache(
            new FlowCacheSettingsBuilder().maxFlows(1024).activeTimeoutNs(100_000_000).idleTimeoutNs(50_000_000)
                .tcpEndTimeoutNs(0).stateLengthBytes(SegmentStages.stateLengthBytes(wirings)).build(), stages, counters);
        final DigestSwitch key = new DigestSwitch();
        key.change(new SipHash(1, 2), Long.MIN_VALUE);
        final MeteringAgent agent = new SegmentMeteringAgent(
            cache, StageRing.unused(), () -> false, CaptureClock.FILES, new SegmentMeteringAgent.Segments(
                stages.open(config.segments(), wirings, cache, CaptureClock.FILES, counters), wirings, stages,
                new SegmentHashes(List.of(key, key))), counters);
        assertNothingAllocated(() -> {
            final long arrivedNs = START_NS + ++packetNumber * GAP_NS;
            describe(0, 0, arrivedNs);
            if (packetNumber % FLOWS < FLOWS / 2) {
                PacketDescriptor.flags(batch, 0, PacketDescriptor.FLAG_DIGEST | PacketDescriptor.FLAG_SENDER_DIGEST);
            }
            describe(PacketDescriptor.LENGTH_BYTES, 0, arrivedNs);
            if (packetNumber % REFERENCE_DISTANCE == 0) {
                DecodedReference.encode(batch, PacketDescriptor.LENGTH_BYTES, 0, referenceNumber++, arrivedNs - DELAY_NS);
            }
            agent.onDescriptors(batch, 0, 2);
        });
        assertEquals(referenceNumber, counters.get(CounterId.REFERENCE_PACKETS));
        assertEquals(2L * packetNumber - referenceNumber, counters.get(CounterId.METERED));
    }

    @Test
    void shouldAllocateNothingWithSampledFlows() {
        final ExporterConfig config = new ConfigLoader().text("test",
            "segment: {role: both, ingress: a, egress: b, exact: off, interval: 1h}\nmetering: {max-flows: 1024}\n" +
            "rli: {policy: passive, passive-share: 0.02}\n" +
            "quantiles: {bandwidth: 1m, memory: 1m}\n").conclude();
        final MeteringAgent agent = agent(config, new DelayWiring(
            Role.BOTH, new DelayWiring.References(ReferenceMode.PASSIVE, List.of()), ClockError.NONE, true, false, false, false),
            CaptureClock.FILES);
        assertNothingAllocated(() -> pass(agent, false));
        assertTrue(stage.statistics().counters().get("quantile_samples") > 0.03 * packetNumber, "whole flows are sampled");
    }

    @Test
    void shouldAllocateNothingWithMarkedPackets() {
        final MeteringAgent agent = agent(new DelayWiring(
            Role.BOTH, DelayWiring.References.MARKED, ClockError.NONE, true, true, false, false), CaptureClock.FILES);
        assertNothingAllocated(() -> pass(agent, false));
    }

    @Test
    void shouldAllocateNothingWithMarkedPacketsAndSketches() {
        final MeteringAgent agent = agent(new DelayWiring(
            Role.BOTH, DelayWiring.References.MARKED, ClockError.NONE, true, true, true, true), CaptureClock.FILES);
        assertNothingAllocated(() -> pass(agent, false));
    }

    @Test
    void shouldAllocateNothingWhenSendingReferences() {
        final KeptReferences kept = new KeptReferences();
        final MeteringAgent agent = agent(new DelayWiring(
            Role.SENDER,
            new DelayWiring.References(ReferenceMode.SENT, List.of(ReferenceSession.authenticated(1, new byte[32])), kept),
            ClockError.fixed(5), false, false, false, false), clock);
        assertNothingAllocated(() -> {
            clock.nowNs = START_NS + ++packetNumber * GAP_NS;
            agent.doWork();
            describe(0, 0, clock.nowNs);
            agent.onDescriptors(batch, 0, 1);
        });
        assertEquals(packetNumber / REFERENCE_DISTANCE, kept.sentCount, 2);
    }

    /** A clock that stands where it is set. */
    private static final class SettableClock implements CaptureClock {
        private long nowNs;

        @Override
        public long nanoTime() {
            return nowNs;
        }
    }

    /** Counts references, and reports each one's send time in the next turn. */
    private final class KeptReferences implements ReferenceTransmitter {
        private int sentCount;
        private boolean isTold = true;

        @Override
        public boolean send(final int streamIndex, final DirectBuffer buffer, final int offset, final int lengthBytes) {
            sentCount++;
            isTold = false;
            return true;
        }

        @Override
        public int poll(final SendTimeHandler handler, final int limit) {
            if (isTold) {
                return 0;
            }
            isTold = true;
            handler.onSendTime(0, sentCount - 1, clock.nowNs, TimestampMethod.SOFTWARE_LOCAL);
            return 1;
        }

        @Override
        public void close() {
        }
    }
}
