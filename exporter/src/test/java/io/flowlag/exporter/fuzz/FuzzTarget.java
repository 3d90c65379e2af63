package io.flowlag.exporter.fuzz;

import java.util.List;
import java.util.SplittableRandom;

/**
 * Something that reads octets of others. It throws for whatever must not happen (an {@link AssertionError} for a law that does
 * not hold); what the product says of a bad input is an answer. One thread.
 */
public interface FuzzTarget {
    /** {@return good inputs, to be changed} */
    List<byte[]> seeds();

    /**
     * Makes an input better than chance would, such as by the right length in its header; by default nothing.
     *
     * @param octets      of the input, with room behind it.
     * @param lengthBytes of it.
     * @param random      decides whether at all.
     * @return its length then.
     */
    default int mend(final byte[] octets, final int lengthBytes, final SplittableRandom random) {
        return lengthBytes;
    }

    /**
     * Takes one input.
     *
     * @param octets with nothing behind the input that counts.
     * @param length of the input, octets.
     * @return a number for what became of it: inputs with a new one are changed further.
     */
    long take(byte[] octets, int length);

    /** Asserts what must hold over all inputs so far: that counters add up. */
    default void check() {
    }

    /** {@return the longest input, octets} */
    int maxInputBytes();

    /** {@return octets that one input may allocate at most, on the thread} */
    long allocationBoundBytes();

    /** {@return words worth trying, beside random octets} */
    default List<byte[]> dictionary() {
        return List.of();
    }
}
