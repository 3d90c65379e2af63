package io.flowlag.tests.lab.method;

import io.flowlag.exporter.lab.LabRandom;

/**
 * A store of every packet's delay with MAPLE's 12.8 bits a packet. Every packet carries its timestamp; the receiver keeps to
 * which class of delays it belongs in one Bloom filter, as an offset from its positions, and is asked by packets' digests.
 * MAPLE's text could not be had: not after it are classes (four an octave, 1 µs to 67 ms), offsets, and that a packet which seems
 * to be of several classes does not count.
 */
public final class StoredDelays extends Simple.Named {
    private static final double BITS_PER_PACKET = 12.8;
    private static final int HASHES = 9;
    private static final int CLASSES_PER_OCTAVE = 4;
    private static final int FIRST_OCTAVE = 10;
    private static final int TIMESTAMP_BYTES = 8;

    /** The method. */
    public StoredDelays() {
        super("stored delays, " + BITS_PER_PACKET + " bits a packet");
    }

    @Override
    public Cost estimate(final PathTrace trace, final double[] meansNs) {
        final int bits = (int) (BITS_PER_PACKET * trace.packets());
        final long[] filter = new long[bits / Long.SIZE + 3];
        final FlowDelaySums classes = new FlowDelaySums(Long.SIZE);
        for (int packet = 0; packet < trace.packets(); packet++) {
            if (!trace.isLost(packet)) {
                final int delayClass = delayClass(trace.delayNsOf(packet));
                classes.add(delayClass, trace.delayNsOf(packet));
                for (int hash = 0; hash < HASHES; hash++) {
                    final int position = position(trace.digestOf(packet), hash, bits) + delayClass;
                    filter[position / Long.SIZE] |= 1L << position;
                }
            }
        }
        final double[] classNs = new double[Long.SIZE];
        classes.means(classNs, Double.NaN);
        final FlowDelaySums sums = new FlowDelaySums(trace.flows());
        for (int packet = 0; packet < trace.packets(); packet++) {
            long possible = trace.isLost(packet) ? 0 : -1;
            for (int hash = 0; hash < HASHES && possible != 0; hash++) {
                final int position = position(trace.digestOf(packet), hash, bits);
                possible &= filter[position / Long.SIZE] >>> position |
                    filter[position / Long.SIZE + 1] << 1 << (Long.SIZE - 1 - position % Long.SIZE);
            }
            if (Long.bitCount(possible) == 1) {
                sums.add(trace.flowOf(packet), classNs[Long.numberOfTrailingZeros(possible)]);
            }
        }
        sums.means(meansNs, Double.NaN);
        return new Cost((long) Long.BYTES * (filter.length + 2 * Long.SIZE), TIMESTAMP_BYTES * (long) trace.packets());
    }

    private static int delayClass(final long delayNs) {
        final double octaves = StrictMath.log(Math.max(1, delayNs)) / StrictMath.log(2) - FIRST_OCTAVE;
        return (int) Math.max(0, Math.min(Long.SIZE - 1, CLASSES_PER_OCTAVE * octaves));
    }

    private static int position(final long digest, final int hash, final int bits) {
        return (int) Long.remainderUnsigned(LabRandom.mix(digest + LabRandom.mix(hash)), bits);
    }
}
