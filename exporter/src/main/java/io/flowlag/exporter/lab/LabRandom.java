package io.flowlag.exporter.lab;

/**
 * A small random generator (SplitMix64) whose sequence depends on its seed alone, not on the JVM or the machine: transcendental
 * functions are those of {@link StrictMath}. Not for secrets. One thread uses an instance; allocates nothing of its own (from
 * Java 21 on the JDK makes an array in each {@code StrictMath.cos} and {@code pow}).
 */
public final class LabRandom {
    private static final long GOLDEN_GAMMA = 0x9E3779B97F4A7C15L;
    private static final double UNIT = 0x1.0p-53;

    private long state;

    public LabRandom(final long seed) {
        state = seed;
    }

    /** The mixing step alone: a bijection of 64 bits in which every input bit moves about half of the output bits. */
    public static long mix(final long value) {
        final long first = (value ^ (value >>> 30)) * 0xBF58476D1CE4E5B9L;
        final long second = (first ^ (first >>> 27)) * 0x94D049BB133111EBL;
        return second ^ (second >>> 31);
    }

    /** {@return the next 64 bits} */
    public long nextLong() {
        state += GOLDEN_GAMMA;
        return mix(state);
    }

    /** A number from 0 below a bound; its deviation from uniform is at most {@code bound / 2^32}. */
    public int nextInt(final int bound) {
        return (int) (((nextLong() >>> 32) * bound) >>> 32);
    }

    /** {@return uniform in (0, 1), both ends excluded} */
    public double nextDouble() {
        return ((nextLong() >>> 11) + 0.5) * UNIT;
    }

    /** {@return exponential with mean 1} */
    public double nextExponential() {
        return -StrictMath.log(nextDouble());
    }

    /** {@return normal with mean 0 and standard deviation 1 (Box and Muller)} */
    public double nextGaussian() {
        return StrictMath.sqrt(2 * nextExponential()) * StrictMath.cos(2 * StrictMath.PI * nextDouble());
    }
}
