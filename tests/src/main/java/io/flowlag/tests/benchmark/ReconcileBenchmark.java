package io.flowlag.tests.benchmark;

import io.flowlag.sketch.reconcile.AggregateEstimate;
import io.flowlag.sketch.reconcile.CacheResult;
import io.flowlag.sketch.reconcile.DifferenceDecoder;
import io.flowlag.sketch.reconcile.FlowSample;
import io.flowlag.sketch.reconcile.PacketCache;
import io.flowlag.sketch.reconcile.PacketDifference;
import io.flowlag.sketch.reconcile.RdaReconciler;
import io.flowlag.sketch.reconcile.RdaSizing;
import io.flowlag.sketch.reconcile.ReconcilableDifferenceAggregator;
import io.flowlag.sketch.reconcile.SignedCounts;
import io.flowlag.sketch.reconcile.SynopsisGeometry;
import io.flowlag.sketch.reconcile.SynopsisPairing;
import org.openjdk.jmh.annotations.Benchmark;
import org.openjdk.jmh.annotations.BenchmarkMode;
import org.openjdk.jmh.annotations.Fork;
import org.openjdk.jmh.annotations.Level;
import org.openjdk.jmh.annotations.Measurement;
import org.openjdk.jmh.annotations.Mode;
import org.openjdk.jmh.annotations.OutputTimeUnit;
import org.openjdk.jmh.annotations.Param;
import org.openjdk.jmh.annotations.Scope;
import org.openjdk.jmh.annotations.Setup;
import org.openjdk.jmh.annotations.State;
import org.openjdk.jmh.annotations.Warmup;

import java.util.SplittableRandom;
import java.util.concurrent.TimeUnit;

/**
 * Cost of reconciliation: a packet in the cache (with empty slots, and overloaded), in an RDA, and in the estimator of the
 * difference; and decoding and repair after the interval, by the size of the difference. Run by {@code bin/benchmark jmh
 * Reconcile}.
 */
@BenchmarkMode(Mode.AverageTime)
@OutputTimeUnit(TimeUnit.NANOSECONDS)
@Fork(value = 3, jvmArgsAppend = {
    "--add-opens", "java.base/jdk.internal.misc=ALL-UNNAMED", "--add-opens", "java.base/sun.nio.ch=ALL-UNNAMED"})
@Warmup(iterations = 5, time = 1)
@Measurement(iterations = 5, time = 1)
public class ReconcileBenchmark {
    private static final long SEED = 1;
    private static final long GOLDEN_RATIO = 0x9e37_79b9_7f4a_7c15L;
    private static final double CONFIDENCE = 0.95;

    /** Packets on their way into an interval. */
    @State(Scope.Thread)
    public static class Packets {
        @Param({"1048576", "65536"})
        private int capacity;

        private PacketCache cache;
        private ReconcilableDifferenceAggregator aggregator;
        private SignedCounts counts;
        private long packet;

        @Setup(Level.Trial)
        public void setUp() {
            cache = new PacketCache(capacity, SEED);
            aggregator = new ReconcilableDifferenceAggregator(SynopsisGeometry.rda(RdaSizing.BANKS, capacity / 64), SEED);
            counts = new SignedCounts(1_024, SEED);
        }
    }

    /** The end of an interval. */
    @State(Scope.Thread)
    public static class Interval {
        @Param({"5000", "100000"})
        private int difference;

        @Param({"paper", "late"})
        private String size;

        private PacketCache sent;
        private PacketCache received;
        private ReconcilableDifferenceAggregator sender;
        private ReconcilableDifferenceAggregator receiver;
        private DifferenceDecoder decoder;
        private PacketDifference listed;
        private RdaReconciler reconciler;
        private AggregateEstimate estimate;

        /** Fills both points' synopses. */
        @Setup(Level.Trial)
        public void setUp() {
            final SynopsisGeometry geometry = "paper".equals(size) ?
                SynopsisGeometry.rda(2, 2 * difference) : RdaSizing.forEstimate(difference, 0, 0, 1 << 30);
            final int packets = 10 * difference;
            sent = new PacketCache(packets, SEED);
            received = new PacketCache(packets, SEED);
            final SplittableRandom random = new SplittableRandom(SEED);
            for (int packet = 0; packet < packets; packet++) {
                final long identifier = random.nextLong();
                if (packet >= difference || packet % 2 == 0) {
                    sent.add(identifier, packet & 1_023, packet, 500, 1, 0);
                }
                if (packet >= difference || packet % 2 != 0) {
                    received.add(identifier, packet & 1_023, packet + 1_000, 500, 1, 0);
                }
            }
            sender = new ReconcilableDifferenceAggregator(geometry, SEED);
            receiver = new ReconcilableDifferenceAggregator(geometry, SEED);
            sent.fill(sender, FlowSample.ALL, PacketCache.ANY_CLASS);
            received.fill(receiver, FlowSample.ALL, PacketCache.ANY_CLASS);
            decoder = new DifferenceDecoder(geometry.totalCells(), SEED);
            listed = decoder.newDifference();
            reconciler = new RdaReconciler(geometry.totalCells(), SEED, CONFIDENCE);
            estimate = new AggregateEstimate();
            if (reconciler.decode(sender.image(), receiver.image()) != SynopsisPairing.PAIRED) {
                throw new IllegalStateException("not paired");
            }
        }
    }

    @Benchmark
    public CacheResult cacheAddsUnderOverload(final Packets packets) {
        packets.packet++;
        final long mixed = packets.packet * GOLDEN_RATIO;
        return packets.cache.add(mixed, mixed >>> 48, packets.packet, 500, 1, 0);
    }

    @Benchmark
    public CacheResult cacheAddsCopies(final Packets packets) {
        packets.packet++;
        final long mixed = (packets.packet & packets.capacity / 2 - 1) * GOLDEN_RATIO;
        return packets.cache.add(mixed, mixed >>> 48, packets.packet, 500, 1, 0);
    }

    @Benchmark
    public void aggregatorUpdates(final Packets packets) {
        packets.packet++;
        packets.aggregator.update(packets.packet * GOLDEN_RATIO, packets.packet);
    }

    @Benchmark
    public void estimatorAdds(final Packets packets) {
        packets.packet++;
        packets.counts.add(packets.packet * GOLDEN_RATIO);
    }

    @Benchmark
    @OutputTimeUnit(TimeUnit.MICROSECONDS)
    public PacketDifference decode(final Interval interval) {
        interval.decoder.decode(interval.sender.image(), interval.receiver.image(), interval.listed);
        return interval.listed;
    }

    @Benchmark
    @OutputTimeUnit(TimeUnit.MICROSECONDS)
    public AggregateEstimate repair(final Interval interval) {
        interval.reconciler.repair(interval.sent, interval.received, interval.estimate);
        return interval.estimate;
    }

    @Benchmark
    @OutputTimeUnit(TimeUnit.MICROSECONDS)
    public ReconcilableDifferenceAggregator fill(final Interval interval) {
        interval.sender.clear();
        interval.sent.fill(interval.sender, FlowSample.ALL, PacketCache.ANY_CLASS);
        return interval.sender;
    }
}
