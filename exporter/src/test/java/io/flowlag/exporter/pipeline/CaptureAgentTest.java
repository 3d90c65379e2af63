package io.flowlag.exporter.pipeline;

import com.sun.management.ThreadMXBean;
import io.flowlag.exporter.capture.CaptureClock;
import io.flowlag.exporter.capture.CapturedPacket;
import io.flowlag.exporter.capture.LinkType;
import io.flowlag.exporter.capture.PacketHandler;
import io.flowlag.exporter.capture.PacketSource;
import io.flowlag.exporter.config.Sampling;
import io.flowlag.exporter.decode.PacketDecoder;
import io.flowlag.exporter.decode.PacketDescriptor;
import io.flowlag.exporter.status.AccountingIdentity;
import io.flowlag.exporter.status.CounterId;
import io.flowlag.exporter.status.Counters;
import org.agrona.DirectBuffer;
import org.agrona.concurrent.MessageHandler;
import org.agrona.concurrent.UnsafeBuffer;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

import java.lang.management.ManagementFactory;
import java.nio.ByteOrder;
import java.security.SecureRandom;
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.HashSet;
import java.util.List;
import java.util.Queue;
import java.util.Set;
import java.util.stream.LongStream;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

/** The reported progress of capture, with live sources whose packets wait in a ring while the process is not scheduled. */
class CaptureAgentTest {
    private static final long MS = 1_000_000L;
    private static final long START_NS = 1_800_000_000_000_000_000L;
    /** More than are taken at once. */
    private static final int MANY = 1000;

    private final Counters counters = new Counters();
    private final Passed passed = new Passed();
    private final Waiting first = new Waiting();
    private final Waiting second = new Waiting();
    private long nowNs = START_NS;
    /** How far the clock was set. */
    private long setByNs;

    /** Packets that wait to be polled. */
    private static final class Waiting implements PacketSource {
        private final Queue<Long> timestampsNs = new ArrayDeque<>();
        private final UnsafeBuffer frame = new UnsafeBuffer(new byte[64]);
        private long captured;
        private long untoldDrops;
        private long kernelDrops;
        private long kernelStamped;
        private boolean isEnded;
        private boolean isDrained;

        private void add(final long timestampNs) {
            timestampsNs.add(timestampNs);
        }

        @Override
        public int poll(final PacketHandler handler, final int packetLimit) {
            int taken = 0;
            while (taken < packetLimit && !timestampsNs.isEmpty()) {
                captured++;
                handler.onPacket(new CapturedPacket(frame, LinkType.ETHERNET, 0).set(0, 64, 64, timestampsNs.remove()));
                taken++;
            }
            return taken == 0 && isEnded ? END_OF_SOURCE : taken;
        }

        @Override
        public boolean isDrained() {
            return isDrained;
        }

        @Override
        public String name() {
            return "waiting";
        }

        @Override
        public long capturedCount() {
            return captured;
        }

        @Override
        public long kernelDropCount() {
            return kernelDrops;
        }

        @Override
        public void updateKernelDropCount() {
            kernelDrops += untoldDrops;
            untoldDrops = 0;
        }

        @Override
        public long kernelStampedCount() {
            return kernelStamped;
        }

        @Override
        public void close() {
            timestampsNs.clear();
        }
    }

    /** The reports to the next stage, in order. */
    private static final class Passed implements DescriptorHandler {
        private final List<Long> capturedNs = new ArrayList<>();
        private int packets;
        private long newestNs;
        /** Packets of the new time come before the clock step is noticed. */
        private boolean isClockSet;
        private boolean isFailing;

        @Override
        public void onDescriptors(final DirectBuffer buffer, final int offset, final int count) {
            if (isFailing) {
                throw new ArithmeticException("of the test");
            }
            packets += count;
            for (int i = 0; i < count; i++) {
                newestNs = PacketDescriptor.timestampNs(buffer, offset + i * PacketDescriptor.LENGTH_BYTES);
                assertTrue(isClockSet || capturedNs.isEmpty() || newestNs >= last(), "too late");
            }
        }

        @Override
        public void onCaptured(final long throughNs) {
            capturedNs.add(throughNs);
        }

        private long last() {
            return capturedNs.get(capturedNs.size() - 1);
        }
    }

    private CaptureAgent agent(final boolean isMerged, final Waiting... sources) {
        for (final Waiting each : sources) {
            each.frame.putByte(12, (byte)8);
            each.frame.putByte(14, (byte)0x45);
            each.frame.putByte(17, (byte)40);
            each.frame.putByte(23, (byte)17);
        }
        return new CaptureAgent(
            List.of(sources), new PacketDecoder(new PacketDecoder.Context(), counters), passed,
            ReferenceRecognizer.NONE, isMerged, new CaptureClock() {
                @Override
                public long nanoTime() {
                    return nowNs;
                }

                @Override
                public long monotonicNs() {
                    return nowNs - setByNs;
                }
            }, counters);
    }

    @Test
    void shouldCountWhatTheCardDidNotStampOfAllSources() {
        final CaptureAgent agent = agent(false, first, second);
        first.kernelStamped = 3;
        second.kernelStamped = 4;
        agent.doWork();
        agent.doWork();
        assertEquals(7, counters.get(CounterId.KERNEL_STAMPED));
    }

    @Test
    void shouldTakeTheFirstOfSoManyPackets() {
        final CaptureAgent agent = agent(false, first);
        agent.sample(new Sampling(3, false, 1), 1, 0);
        for (int i = 0; i < 10; i++) {
            first.add(START_NS + i);
        }
        agent.doWork();
        agent.doWork();
        assertEquals(4, counters.get(CounterId.DECODED));
        assertEquals(6, counters.get(CounterId.NOT_SAMPLED));
    }

    @Test
    void shouldAllocateNothingToSample() {
        final ThreadMXBean thread = (ThreadMXBean)ManagementFactory.getThreadMXBean();
        final CaptureAgent agent = agent(false, first);
        agent.sample(new Sampling(3, true, 2), 1, 0);
        final CapturedPacket packet = new CapturedPacket(first.frame, LinkType.ETHERNET, 0).set(0, 64, 64, START_NS);
        long allocated = 0;
        for (int round = 0; round < 5; round++) {
            final long before = thread.getCurrentThreadAllocatedBytes();
            for (int i = 0; i < 50_000; i++) {
                first.frame.putInt(26, i, ByteOrder.BIG_ENDIAN);
                agent.onPacket(packet);
            }
            allocated = thread.getCurrentThreadAllocatedBytes() - before;
        }
        assertTrue(allocated < 10_000, "allocated " + allocated + " octets");
    }

    @Test
    void shouldTakeAllPacketsOfSomeConversations() {
        final CaptureAgent agent = agent(false, first, second);
        agent.sample(new Sampling(1, false, 2), 2, 0);
        final Set<Integer> taken = new HashSet<>();
        for (int host = 0; host < 64; host++) {
            for (final Waiting each : List.of(first, second)) {
                final boolean isForward = each == first;
                each.frame.putInt(26, isForward ? host : -1, ByteOrder.BIG_ENDIAN);
                each.frame.putInt(30, isForward ? -1 : host, ByteOrder.BIG_ENDIAN);
                each.frame.putShort(34, (short)(isForward ? 5000 : 53), ByteOrder.BIG_ENDIAN);
                each.frame.putShort(36, (short)(isForward ? 53 : 5000), ByteOrder.BIG_ENDIAN);
                each.add(START_NS);
                each.add(START_NS);
            }
            final long before = counters.get(CounterId.DECODED);
            agent.doWork();
            agent.doWork();
            final long count = counters.get(CounterId.DECODED) - before;
            assertTrue(count == 0 || count == 4, count + " packets of host " + host);
            if (count == 4) {
                taken.add(host);
            }
        }
        assertEquals(32, taken.size(), 20);
        assertEquals(256, counters.get(CounterId.DECODED) + counters.get(CounterId.NOT_SAMPLED));
        assertEquals(0, AccountingIdentity.unexplainedCaptured(counters));
    }

    /** Their number is within five deviations of the binomial one, and so is that of each place of a period: none has a beat. */
    @Test
    void shouldTakePacketsByChance() {
        final int period = 4;
        final long seed = new SecureRandom().nextLong();
        final CaptureAgent agent = agent(false, first);
        agent.sample(new Sampling(period, true, 1), seed, 0);
        final int count = 40_000;
        final long[] taken = new long[period];
        for (int i = 0; i < count; i++) {
            first.add(START_NS + i);
            final long before = counters.get(CounterId.NOT_SAMPLED);
            agent.doWork();
            taken[i % period] += before + 1 - counters.get(CounterId.NOT_SAMPLED);
        }
        final double mean = (double)count / period / period;
        for (final long each : taken) {
            assertEquals(mean, each, 5 * Math.sqrt(mean * (period - 1) / period), "seed " + seed);
        }
        assertEquals(LongStream.of(taken).sum(), counters.get(CounterId.DECODED), "seed " + seed);
        assertEquals(count, counters.get(CounterId.DECODED) + counters.get(CounterId.NOT_SAMPLED));
    }

    @Test
    void shouldMergeWithoutWaitingForASourceThatIsKnownToBeIdle() {
        final CaptureAgent agent = agent(true, first, second);
        second.add(START_NS);
        nowNs += MS;
        agent.doWork();
        first.isDrained = true;
        agent.doWork();
        assertEquals(0, passed.packets, "a packet of the other may be on its way to the ring");
        first.isDrained = false;
        nowNs += 2 * MS;
        agent.doWork();
        assertEquals(0, passed.packets, "packets may wait in the ring");
        first.isDrained = true;
        agent.doWork();
        assertEquals(1, passed.packets);
    }

    @Test
    void shouldGoByTheClockWhenNothingWaits() {
        final CaptureAgent agent = agent(false, first);
        first.add(START_NS - 5 * MS);
        agent.doWork();
        assertEquals(1, passed.packets);
        assertEquals(nowNs, passed.last());
        agent.doWork();
        assertEquals(1, passed.capturedNs.size(), "no news");
        nowNs += 10 * MS;
        agent.doWork();
        assertEquals(nowNs, passed.last());
    }

    @Test
    void shouldGoByThePacketsWhileTheyWait() {
        final CaptureAgent agent = agent(false, first);
        for (int i = 0; i < MANY; i++) {
            first.add(START_NS + i * MS);
        }
        nowNs = START_NS + 10 * MANY * MS;
        while (!first.timestampsNs.isEmpty()) {
            agent.doWork();
            assertEquals(first.timestampsNs.isEmpty() ? nowNs : passed.newestNs, passed.last());
        }
        assertEquals(MANY, passed.packets);
        assertEquals(MANY, counters.get(CounterId.DECODED));
    }

    /** A batch whose stage fails is lost; what follows must not be written behind it. */
    @Test
    void shouldGoOnAfterABatchOnWhichTheNextStageFails() {
        final CaptureAgent agent = agent(false, first);
        for (int i = 0; i < MANY; i++) {
            first.add(START_NS + i * MS);
        }
        passed.isFailing = true;
        assertThrows(ArithmeticException.class, agent::doWork);
        passed.isFailing = false;
        final int left = first.timestampsNs.size();
        while (!first.timestampsNs.isEmpty()) {
            agent.doWork();
        }
        assertEquals(left, passed.packets);
        assertEquals(MANY, counters.get(CounterId.CAPTURED));
        assertEquals(MANY, counters.get(CounterId.DECODED));
    }

    @Test
    void shouldCountTimeThatRunsBackwardsBefore1970AsAfterIt() {
        final CaptureAgent agent = agent(false, first);
        for (final long timestampNs : new long[]{-5 * MS, -4 * MS, -4 * MS, -3 * MS, -4 * MS}) {
            first.add(timestampNs);
        }
        agent.doWork();
        assertEquals(1, counters.get(CounterId.TIME_BACKWARDS));
    }

    @Test
    void shouldNotBeAheadOfTheSlowerOfTwoSources() {
        final CaptureAgent agent = agent(false, first, second);
        for (int i = 0; i < MANY; i++) {
            second.add(START_NS + i * MS);
        }
        nowNs = START_NS + 10 * MANY * MS;
        agent.doWork();
        assertTrue(passed.last() < START_NS + MANY * MS);
    }

    @Test
    void shouldNotBeAheadOfPacketsThatWaitForTheirOrder() {
        final CaptureAgent agent = agent(true, first, second);
        second.add(START_NS + MS);
        nowNs = START_NS + 20 * MS;
        agent.doWork();
        assertEquals(0, passed.packets, "the first may have something older");
        assertEquals(START_NS + MS, passed.last());
    }

    @Test
    void shouldNotWaitForASourceThatHasEnded() {
        final CaptureAgent agent = agent(false, first, second);
        first.isEnded = true;
        agent.doWork();
        nowNs += 10 * MS;
        agent.doWork();
        assertEquals(nowNs, passed.last());
    }

    @Test
    void shouldFollowAClockThatIsSetBack() {
        final CaptureAgent agent = agent(false, first);
        first.add(nowNs);
        agent.doWork();
        nowNs -= 3_600_000 * MS;
        agent.doWork();
        assertEquals(nowNs, passed.last());
        assertEquals(1, counters.get(CounterId.CLOCK_SET_BACK));
        first.add(nowNs);
        nowNs += 10 * MS;
        agent.doWork();
        assertEquals(nowNs, passed.last());
        assertEquals(1, counters.get(CounterId.CLOCK_SET_BACK), "once");
        assertEquals(0, counters.get(CounterId.TIME_BACKWARDS));
    }

    /** Forward, or back by less than a second: packets pass as before, and the delay stage learns of it by the counter. */
    @ParameterizedTest
    @ValueSource(longs = {-500, -11, -9, 9, 11, 5_000})
    void shouldCountStepsOfTheClock(final long stepMs) {
        final CaptureAgent agent = agent(false, first);
        agent.doWork();
        nowNs += 1000 * MS;
        agent.doWork();
        nowNs += stepMs * MS;
        setByNs += stepMs * MS;
        for (int i = 0; i < 100; i++) {
            nowNs += 10 * MS;
            agent.doWork();
        }
        assertEquals(Math.abs(stepMs) > 10 ? 1 : 0, counters.get(CounterId.CLOCK_STEPPED));
        assertEquals(0, counters.get(CounterId.CLOCK_SET_BACK));
    }

    /** A stage that restarts at the reported time must not receive an earlier packet. */
    @ParameterizedTest
    @ValueSource(booleans = {false, true})
    void shouldPassOnWhatCameBeforeTheClockWasSetBackFirst(final boolean isMerged) {
        final CaptureAgent agent = agent(isMerged, first, second);
        agent.doWork();
        final long beforeNs = passed.last();
        for (int i = 0; i < MANY; i++) {
            first.add(START_NS + i);
        }
        nowNs = START_NS - 3_600_000 * MS;
        passed.isClockSet = true;
        first.add(nowNs);
        second.add(nowNs);
        agent.doWork();
        while (first.timestampsNs.size() > 1) {
            assertEquals(beforeNs, passed.last(), "packets from before wait");
            agent.doWork();
        }
        for (int i = 0; i < 2; i++) {
            nowNs += 300 * MS;
            agent.doWork();
        }
        assertEquals(MANY + 2, passed.packets);
        assertEquals(nowNs, passed.last());
        assertEquals(1, counters.get(CounterId.CLOCK_SET_BACK));
    }

    @Test
    void shouldKeepTheOrderOfPacketsAndTimeInTheRing() {
        final StageRing ring = new StageRing(64 * 1024, false);
        final DescriptorRing writer = new DescriptorRing(ring, counters);
        final UnsafeBuffer descriptors = new UnsafeBuffer(new byte[PacketDescriptor.LENGTH_BYTES]);
        PacketDescriptor.timestampNs(descriptors, 0, START_NS);
        writer.onDescriptors(descriptors, 0, 1);
        writer.onCaptured(START_NS + MS);
        PacketDescriptor.timestampNs(descriptors, 0, START_NS + 2 * MS);
        writer.onDescriptors(descriptors, 0, 1);
        final MessageHandler reader = DescriptorRing.reader(passed);
        ring.read(reader, 2);
        assertEquals(List.of(START_NS + MS), passed.capturedNs);
        assertEquals(START_NS, passed.newestNs);
        ring.read(reader, 1);
        assertEquals(2, passed.packets);
        assertEquals(0, counters.get(CounterId.DROPPED_AT_PACKET_RING));
    }

    /** A stage that infers loss from the reported time attributes uncounted drops to the network. */
    @Test
    void shouldHaveCountedTheDropsOfTheTimeThatItTells() {
        final List<Long> drops = new ArrayList<>();
        final CaptureAgent agent = new CaptureAgent(
            List.of(first, second), new PacketDecoder(new PacketDecoder.Context(), counters), new DescriptorHandler() {
                @Override
                public void onDescriptors(final DirectBuffer buffer, final int offset, final int count) {
                    throw new IllegalStateException("nothing came");
                }

                @Override
                public void onCaptured(final long throughNs) {
                    drops.add(counters.get(CounterId.LOST_IN_KERNEL));
                }
            }, ReferenceRecognizer.NONE, false, () -> nowNs, counters);
        first.untoldDrops = 3;
        agent.doWork();
        second.untoldDrops = 4;
        nowNs += 10 * MS;
        agent.doWork();
        assertEquals(List.of(3L, 7L), drops);
    }
}
