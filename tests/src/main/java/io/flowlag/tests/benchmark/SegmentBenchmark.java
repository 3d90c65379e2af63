package io.flowlag.tests.benchmark;

import io.flowlag.common.config.Prefix;
import io.flowlag.exporter.config.ExporterConfig.Selector;
import io.flowlag.exporter.decode.PacketDescriptor;
import io.flowlag.exporter.delay.SegmentLookup;
import org.agrona.concurrent.UnsafeBuffer;
import org.openjdk.jmh.annotations.Benchmark;
import org.openjdk.jmh.annotations.BenchmarkMode;
import org.openjdk.jmh.annotations.Fork;
import org.openjdk.jmh.annotations.Level;
import org.openjdk.jmh.annotations.Measurement;
import org.openjdk.jmh.annotations.Mode;
import org.openjdk.jmh.annotations.OperationsPerInvocation;
import org.openjdk.jmh.annotations.OutputTimeUnit;
import org.openjdk.jmh.annotations.Param;
import org.openjdk.jmh.annotations.Scope;
import org.openjdk.jmh.annotations.Setup;
import org.openjdk.jmh.annotations.State;
import org.openjdk.jmh.annotations.Warmup;

import java.nio.ByteBuffer;
import java.util.ArrayList;
import java.util.List;
import java.util.SplittableRandom;
import java.util.concurrent.TimeUnit;

/**
 * Lookup of the segments of a packet. Each segment has a pair of prefixes. Packets take segments at
 * random. With traffic {@code aimed} the prefixes have every length, and addresses differ from prefixes in their last bits, so
 * that searches take the most probes and no branch can be foreseen. An operation is a packet. Run by {@code bin/benchmark jmh
 * Segment}.
 */
@State(Scope.Thread)
@BenchmarkMode(Mode.AverageTime)
@OutputTimeUnit(TimeUnit.NANOSECONDS)
@Fork(value = 1, jvmArgsAppend = {
    "--add-opens=java.base/jdk.internal.misc=ALL-UNNAMED", "--add-opens=java.base/sun.nio.ch=ALL-UNNAMED"})
@Warmup(iterations = 3, time = 1)
@Measurement(iterations = 5, time = 1)
public class SegmentBenchmark {
    private static final int PACKETS = 1 << 16;
    private static final int IPV4_BITS = 32;
    private static final int IPV6_BITS = 128;
    /** Shorter prefixes of two segments would often be equal. */
    private static final int LEAST_BITS = 8;
    private static final int USUAL_IPV4_BITS = 24;
    private static final int USUAL_IPV6_BITS = 48;
    private static final long SEED = 1;

    @Param({"1", "16", "256"})
    private int segments;

    @Param({"4", "6"})
    private int ipVersion;

    @Param({"usual", "aimed"})
    private String traffic;

    private final UnsafeBuffer descriptors =
        new UnsafeBuffer(ByteBuffer.allocateDirect(PACKETS * PacketDescriptor.LENGTH_BYTES));
    private final SplittableRandom random = new SplittableRandom(SEED);
    private SegmentLookup lookup;

    /** Makes segments and packets. */
    @Setup(Level.Trial)
    public void setUp() {
        final List<SegmentLookup.Selection> selections = new ArrayList<>();
        for (int i = 0; i < segments; i++) {
            selections.add(new SegmentLookup.Selection(i, 0, SegmentLookup.NONE,
                new Selector(List.of(prefix(i)), List.of(prefix(i)), SegmentLookup.NONE)));
        }
        lookup = new SegmentLookup(1, selections);
        for (int i = 0, offset = 0; i < PACKETS; i++, offset += PacketDescriptor.LENGTH_BYTES) {
            final Selector selector = selections.get(random.nextInt(segments)).selector();
            final Prefix source = address(selector.sources().get(0));
            final Prefix destination = address(selector.destinations().get(0));
            PacketDescriptor.ipVersion(descriptors, offset, ipVersion);
            PacketDescriptor.sourceHigh(descriptors, offset, source.high());
            PacketDescriptor.sourceLow(descriptors, offset, source.low());
            PacketDescriptor.destinationHigh(descriptors, offset, destination.high());
            PacketDescriptor.destinationLow(descriptors, offset, destination.low());
        }
    }

    private Prefix prefix(final int index) {
        final boolean isIpv6 = ipVersion != 4;
        final int most = isIpv6 ? IPV6_BITS : IPV4_BITS;
        final int usual = isIpv6 ? USUAL_IPV6_BITS : USUAL_IPV4_BITS;
        return new Prefix(isIpv6, isIpv6 ? random.nextLong() : 0, isIpv6 ? random.nextLong() : random.nextLong() >>> IPV4_BITS,
            "usual".equals(traffic) ? usual : LEAST_BITS + index * (most - LEAST_BITS) / Math.max(1, segments - 1)).network();
    }

    /** An address in a prefix; of traffic that aims, half of them differ in the last bit of the prefix. */
    private Prefix address(final Prefix prefix) {
        final boolean isNear = "aimed".equals(traffic) && random.nextBoolean();
        final long high = prefix.high() ^ random.nextLong() & ~prefix.highMask();
        final long low = prefix.low() ^ random.nextLong() & ~prefix.lowMask() & (prefix.isIpv6() ? -1L : 0xFFFF_FFFFL);
        final long lastHigh = prefix.highMask() & -prefix.highMask();
        final long lastLow = prefix.lowMask() & -prefix.lowMask();
        final boolean isInHigh = prefix.isIpv6() && prefix.lengthBits() <= Long.SIZE;
        return new Prefix(prefix.isIpv6(), isNear && isInHigh ? high ^ lastHigh : high, isNear && !isInHigh ? low ^ lastLow : low,
            prefix.isIpv6() ? IPV6_BITS : IPV4_BITS);
    }

    /** The lookup. */
    @Benchmark
    @OperationsPerInvocation(PACKETS)
    public int look() {
        int sum = 0;
        for (int i = 0, offset = 0; i < PACKETS; i++, offset += PacketDescriptor.LENGTH_BYTES) {
            sum += lookup.of(0, descriptors, offset);
        }
        return sum;
    }
}
