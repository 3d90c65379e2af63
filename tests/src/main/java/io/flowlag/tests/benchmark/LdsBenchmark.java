package io.flowlag.tests.benchmark;

import io.flowlag.sketch.estimate.FlowEstimate;
import io.flowlag.sketch.estimate.FlowEstimator;
import io.flowlag.sketch.image.PairingResult;
import io.flowlag.sketch.image.SketchGeometry;
import io.flowlag.sketch.lds.LossyDifferenceSketch;
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
 * Cost of an LDS of 4 rows and k = 5: an update, and an estimate. 100 000 flows; rows of 1000 cells stay in the cache, rows of 87
 * 500 do not. The gc profiler must show 0 octets an operation. Run by {@code bin/benchmark jmh Lds}.
 */
@State(Scope.Thread)
@BenchmarkMode(Mode.AverageTime)
@OutputTimeUnit(TimeUnit.NANOSECONDS)
@Fork(value = 3, jvmArgsAppend = {
    "--add-opens", "java.base/jdk.internal.misc=ALL-UNNAMED", "--add-opens", "java.base/sun.nio.ch=ALL-UNNAMED"})
@Warmup(iterations = 5, time = 1)
@Measurement(iterations = 5, time = 1)
public class LdsBenchmark {
    private static final int FULL = SketchGeometry.FULL_RATE_PPM;
    private static final int FLOWS = 1 << 17;
    private static final int PACKETS = 1 << 20;
    private static final long SEED = 1;

    @Param({"1000", "87500"})
    private int columns;

    @Param({"all", "banks"})
    private String rates;

    private final long[] flowHashes = new long[FLOWS];
    private final FlowEstimate estimate = new FlowEstimate();
    private LossyDifferenceSketch sketch;
    private FlowEstimator estimator;
    private int packet;

    /** Fills both points' sketches. */
    @Setup(Level.Trial)
    public void setUp() {
        final SketchGeometry geometry = "all".equals(rates) ? SketchGeometry.lds(4, columns, 5) :
            SketchGeometry.lds(4, columns, 5, FULL, FULL / 2, FULL / 10, FULL / 100);
        final SplittableRandom random = new SplittableRandom(SEED);
        for (int flow = 0; flow < FLOWS; flow++) {
            flowHashes[flow] = random.nextLong();
        }
        sketch = new LossyDifferenceSketch(geometry, SEED);
        final LossyDifferenceSketch sender = new LossyDifferenceSketch(geometry, SEED);
        for (int i = 0; i < PACKETS; i++) {
            final long digest = random.nextLong();
            final long flowHash = flowHashes[random.nextInt(FLOWS)];
            sender.update(flowHash, digest, i, 500, 1);
            sketch.update(flowHash, digest, i + random.nextInt(1_000), 500, 1);
        }
        estimator = new FlowEstimator(geometry, SEED);
        if (estimator.pair(sender.image(), sketch.image()) != PairingResult.PAIRED) {
            throw new IllegalStateException("not paired");
        }
    }

    @Benchmark
    public void update() {
        packet++;
        final long mixed = packet * 0x9e37_79b9_7f4a_7c15L;
        sketch.update(flowHashes[(int)(mixed >>> 47)], mixed, packet, 500, 1);
    }

    @Benchmark
    public FlowEstimate estimate() {
        packet++;
        final long mixed = packet * 0x9e37_79b9_7f4a_7c15L;
        estimator.estimate(flowHashes[(int)(mixed >>> 47)], 1, PACKETS / FLOWS, estimate);
        return estimate;
    }
}
