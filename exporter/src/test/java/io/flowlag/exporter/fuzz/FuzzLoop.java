package io.flowlag.exporter.fuzz;

import com.sun.management.ThreadMXBean;
import org.agrona.collections.LongHashSet;
import org.agrona.concurrent.UnsafeBuffer;

import java.lang.management.ManagementFactory;
import java.util.Arrays;

/**
 * Feeds mutants to a target and holds four laws: nothing is thrown, no input takes longer than allowed, none allocates more than
 * allowed, counters add up. What takes too long or allocates too much is tried again first, by the time that the processor gave
 * to the thread: the machine has other things to do, and the virtual machine loads and compiles classes. One thread.
 */
final class FuzzLoop {
    /** No law about time: for tests. */
    static final long ANY_TIME = Long.MAX_VALUE;

    private static final ThreadMXBean THREADS = (ThreadMXBean)ManagementFactory.getThreadMXBean();
    private static final int SECOND_TRIES = 5;
    private static final int INPUTS_BETWEEN_CHECKS = 4096;
    private static final int MOST_KEPT = 1 << 14;
    private static final int LONGEST_SEED_BYTES = 1 << 16;

    private final FuzzTarget target;
    private final Mutator mutator;
    private final long timeBoundNs;
    private final UnsafeBuffer latest;
    private final LongHashSet answers = new LongHashSet();
    private long startedNs;
    private volatile long inputs;
    private long octets;
    private long slowestNs;
    private long largestAllocationBytes;

    /**
     * A loop.
     *
     * @param target      to feed.
     * @param seed        of all chance.
     * @param timeBoundNs what an input may take, or {@link #ANY_TIME}.
     */
    FuzzLoop(final FuzzTarget target, final long seed, final long timeBoundNs) {
        this(target, seed, timeBoundNs, new UnsafeBuffer(new byte[latestBytes(target)]));
    }

    /**
     * A loop that writes each input elsewhere before the target takes it.
     *
     * @param latest of {@link #latestBytes}: has the input, see {@link #input}.
     */
    FuzzLoop(final FuzzTarget target, final long seed, final long timeBoundNs, final UnsafeBuffer latest) {
        this.target = target;
        this.latest = latest;
        this.timeBoundNs = timeBoundNs;
        this.mutator = new Mutator(target.seeds(), target.dictionary(), target.maxInputBytes(), seed);
    }

    /** {@return octets for the latest input of a target} */
    static int latestBytes(final FuzzTarget target) {
        return Integer.BYTES + Math.max(target.maxInputBytes(), LONGEST_SEED_BYTES);
    }

    /** {@return a copy of the latest input; from another thread, not sure to be whole} */
    static byte[] input(final UnsafeBuffer latest) {
        final byte[] input = new byte[Math.max(0, Math.min(latest.getInt(0), latest.capacity() - Integer.BYTES))];
        latest.getBytes(Integer.BYTES, input);
        return input;
    }

    /** Takes inputs that are not changed; seeds of the target for example. */
    void takeAsTheyAre(final Iterable<byte[]> whole) {
        for (final byte[] each : whole) {
            take(each, each.length);
        }
        target.check();
    }

    /** Takes a number of mutants. */
    void run(final long count) {
        for (long i = 0; i < count; i++) {
            final int length = target.mend(mutator.octets(), mutator.next(), mutator.random());
            final long answer = take(mutator.octets(), length);
            if (answers.size() < MOST_KEPT && answers.add(answer)) {
                mutator.keep(Arrays.copyOf(mutator.octets(), length));
            }
            if (i % INPUTS_BETWEEN_CHECKS == 0) {
                check(length);
            }
        }
        check(0);
    }

    private void check(final int length) {
        try {
            target.check();
        } catch (final AssertionError | RuntimeException ex) {
            throw new FuzzFault("after " + inputs + " inputs: " + ex, Arrays.copyOf(mutator.octets(), length), ex);
        }
    }

    private long take(final byte[] input, final int length) {
        final long answer = measured(input, length);
        inputs++;
        octets += length;
        return answer;
    }

    private long measured(final byte[] input, final int length) {
        final long beforeBytes = THREADS.getCurrentThreadAllocatedBytes();
        final long answer = timed(input, length);
        final long tookNs = System.nanoTime() - startedNs;
        final long allocatedBytes = THREADS.getCurrentThreadAllocatedBytes() - beforeBytes;
        if (tookNs > timeBoundNs || allocatedBytes > target.allocationBoundBytes()) {
            again(input, length);
        } else {
            slowestNs = Math.max(slowestNs, tookNs);
            largestAllocationBytes = Math.max(largestAllocationBytes, allocatedBytes);
        }
        return answer;
    }

    private long timed(final byte[] input, final int length) {
        latest.putInt(0, length);
        latest.putBytes(Integer.BYTES, input, 0, length);
        startedNs = System.nanoTime();
        try {
            return target.take(input, length);
        } catch (final Throwable ex) {
            throw new FuzzFault("input " + inputs + ": " + ex, Arrays.copyOf(input, length), ex);
        }
    }

    private void again(final byte[] input, final int length) {
        long leastNs = Long.MAX_VALUE;
        long leastBytes = Long.MAX_VALUE;
        for (int i = 0; i < SECOND_TRIES; i++) {
            final long beforeBytes = THREADS.getCurrentThreadAllocatedBytes();
            final long beforeCpuNs = THREADS.getCurrentThreadCpuTime();
            timed(input, length);
            leastNs = Math.min(leastNs, THREADS.getCurrentThreadCpuTime() - beforeCpuNs);
            leastBytes = Math.min(leastBytes, THREADS.getCurrentThreadAllocatedBytes() - beforeBytes);
        }
        if (leastNs > timeBoundNs) {
            throw new FuzzFault("input " + inputs + " takes " + leastNs + " ns", Arrays.copyOf(input, length), null);
        }
        if (leastBytes > target.allocationBoundBytes()) {
            throw new FuzzFault("input " + inputs + " allocates " + leastBytes + " octets", Arrays.copyOf(input, length), null);
        }
        slowestNs = Math.max(slowestNs, leastNs);
        largestAllocationBytes = Math.max(largestAllocationBytes, leastBytes);
    }

    /** For another thread: the input that is taken now; not sure to be whole. */
    byte[] current() {
        return input(latest);
    }

    /** Inputs taken so far; safe from another thread. */
    long inputs() {
        return inputs;
    }

    long octets() {
        return octets;
    }

    long slowestNs() {
        return slowestNs;
    }

    long largestAllocationBytes() {
        return largestAllocationBytes;
    }

    int answers() {
        return answers.size();
    }

    int corpusSize() {
        return mutator.corpusSize();
    }
}
