package io.flowlag.tests.benchmark;

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
import java.util.SplittableRandom;
import java.util.concurrent.TimeUnit;

/**
 * Cost of a random access to memory, a lower bound for any flow table: a chain of cache lines in random order, each naming the
 * next, walked by 1 to 16 walkers at once. With one walker an operation is the latency; with more it shows how many accesses the
 * core overlaps.
 */
@State(Scope.Thread)
@BenchmarkMode(Mode.AverageTime)
@OutputTimeUnit(TimeUnit.NANOSECONDS)
@Fork(value = 1, jvmArgsAppend = {
    "-Xms1g", "-Xmx1g", "-XX:+UseSerialGC", "-XX:MaxDirectMemorySize=16g",
    "--add-opens=java.base/jdk.internal.misc=ALL-UNNAMED", "--add-opens=java.base/sun.nio.ch=ALL-UNNAMED"})
@Warmup(iterations = 3, time = 1)
@Measurement(iterations = 5, time = 1)
public class MemoryBenchmark {
    private static final int STEPS = 1 << 16;
    private static final int LINE_BYTES = 64;
    private static final int MEGABYTE = 1 << 20;

    @Param({"1", "16", "128", "1024"})
    private int megabytes;

    private UnsafeBuffer memory;
    private final int[] places = new int[16];

    /** Makes the chain. */
    @Setup(Level.Trial)
    public void setUp() {
        final int lines = megabytes * (MEGABYTE / LINE_BYTES);
        memory = new UnsafeBuffer(ByteBuffer.allocateDirect(megabytes * MEGABYTE));
        final int[] order = new int[lines];
        for (int i = 0; i < lines; i++) {
            order[i] = i;
        }
        final SplittableRandom random = new SplittableRandom(1);
        for (int i = lines - 1; i > 0; i--) {
            final int other = random.nextInt(i + 1);
            final int line = order[i];
            order[i] = order[other];
            order[other] = line;
        }
        for (int i = 0; i < lines; i++) {
            memory.putInt(order[i] * LINE_BYTES, order[(i + 1) % lines] * LINE_BYTES);
        }
        for (int i = 0; i < places.length; i++) {
            places[i] = order[lines / places.length * i] * LINE_BYTES;
        }
    }

    private int walk(final int walkers) {
        int sum = 0;
        for (int step = 0; step < STEPS; step += walkers) {
            for (int i = 0; i < walkers; i++) {
                places[i] = memory.getInt(places[i]);
                sum += places[i];
            }
        }
        return sum;
    }

    @Benchmark
    @OperationsPerInvocation(STEPS)
    public int latency() {
        return walk(1);
    }

    @Benchmark
    @OperationsPerInvocation(STEPS)
    public int fourAtOnce() {
        return walk(4);
    }

    @Benchmark
    @OperationsPerInvocation(STEPS)
    public int sixteenAtOnce() {
        return walk(16);
    }
}
