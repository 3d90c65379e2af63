package io.flowlag.tests.benchmark;

import io.flowlag.exporter.delay.interval.IntervalPoint;
import io.flowlag.exporter.delay.interval.records.IntervalMode;
import io.flowlag.exporter.delay.interval.records.IntervalSettings;
import io.flowlag.exporter.delay.interval.records.SharedSampling;
import io.flowlag.exporter.delay.interval.records.SketchedPacket;
import io.flowlag.sketch.estimate.FlowEstimator;
import io.flowlag.sketch.image.SketchGeometry;
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
import org.openjdk.jmh.profile.GCProfiler;
import org.openjdk.jmh.runner.Runner;
import org.openjdk.jmh.runner.RunnerException;
import org.openjdk.jmh.runner.options.CommandLineOptionException;
import org.openjdk.jmh.runner.options.CommandLineOptions;
import org.openjdk.jmh.runner.options.OptionsBuilder;

import java.util.SplittableRandom;
import java.util.concurrent.TimeUnit;

/**
 * Cost of a packet at a measurement point, with everything that {@code run} keeps of it: an LDS of 4 rows and k = 5, the LDA of
 * its class, the sums of witness flows if wanted, and the choice of the interval; packets of 131 072 flows. Built and run as
 * {@link LdsBenchmark}. The gc profiler must show 0 octets an operation.
 */
@State(Scope.Thread)
@BenchmarkMode(Mode.AverageTime)
@OutputTimeUnit(TimeUnit.NANOSECONDS)
@Fork(value = 3, jvmArgsAppend = {
    "--add-opens", "java.base/jdk.internal.misc=ALL-UNNAMED", "--add-opens", "java.base/sun.nio.ch=ALL-UNNAMED"})
@Warmup(iterations = 5, time = 1)
@Measurement(iterations = 5, time = 1)
public class SketchUpdateBenchmark {
    private static final int FLOWS = 1 << 17;
    private static final long SEED = 1;
    private static final long INTERVAL_NS = 1_000_000_000L;
    private static final long START_NS = 1_700_000_000L * INTERVAL_NS;
    private static final long GOLDEN_RATIO = 0x9e37_79b9_7f4a_7c15L;
    /** An interval's packets go round in its first half, where none is in flight at its end. */
    private static final int PACKETS = 1 << 28;

    @Param({"1000", "87500"})
    private int columns;

    @Param({"0", "10000"})
    private int witnessPpm;

    private final SketchedPacket sketched = new SketchedPacket();
    private final long[] flowHashes = new long[FLOWS];
    private IntervalPoint point;
    private int packet;

    @Setup(Level.Trial)
    public void setUp() {
        final SplittableRandom random = new SplittableRandom(SEED);
        for (int flow = 0; flow < FLOWS; flow++) {
            flowHashes[flow] = random.nextLong();
        }
        point = new IntervalPoint(
            new IntervalSettings(
                new IntervalSettings.Cells(SketchGeometry.lds(4, columns, 5), IntervalSettings.Cells.aggregator(1024, 0), 1, 0,
                    FlowEstimator.DEFAULT_ALPHA),
                new IntervalSettings.Times(INTERVAL_NS, 200_000_000L, 0, 0, 0),
                new IntervalSettings.Room(64 * 1024, 32 * 1024, FLOWS, 0),
                new IntervalSettings.Sums(IntervalMode.CELLS, 1, witnessPpm, SharedSampling.WITNESS_PACKETS),
                null, null, true, false),
            false);
        point.advance(START_NS);
    }

    @Benchmark
    public boolean update() {
        final int number = packet++ & PACKETS - 1;
        final long digest = number * GOLDEN_RATIO;
        return point.onPacket(sketched.set(START_NS + number, flowHashes[(int)(digest >>> 47)], digest, 500, 0, 1));
    }

    /**
     * Runs this class, with allocation.
     *
     * @param arguments as of JMH.
     * @throws RunnerException            if a benchmark fails.
     * @throws CommandLineOptionException if an option is not known.
     */
    public static void main(final String[] arguments) throws RunnerException, CommandLineOptionException {
        new Runner(new OptionsBuilder().parent(new CommandLineOptions(arguments))
            .include(SketchUpdateBenchmark.class.getName()).addProfiler(GCProfiler.class).build()).run();
    }
}
