package io.flowlag.tests.lab.comparator;

import java.util.Arrays;

/**
 * Lossy compression of rising timestamps by a wavelet, the second layer of "Every Packet Counts" (section V-A). The paper leaves
 * the wavelet open; this is the linear one of two lifting steps (5/3), for which packets at equal distances cost nothing. The
 * largest coefficients are kept, 4 octets each, and a bit for each packet says which.
 */
public final class WaveletTimes {
    private static final int COEFFICIENT_BYTES = 4;
    private static final int FIRST_BYTES = 8;

    private WaveletTimes() {
    }

    /** {@return octets of the compressed times of a group; all of them are kept for a share of 1} */
    public static long bytes(final int packets, final double share) {
        return FIRST_BYTES + COEFFICIENT_BYTES * kept(packets, share) + (share < 1 ? packets / Byte.SIZE : 0);
    }

    private static long kept(final int packets, final double share) {
        return (long) Math.ceil(share * packets);
    }

    /**
     * Compresses and restores.
     *
     * @param timesNs within 2 s.
     * @param share   of the coefficients that are kept, 0 to 1.
     * @return the restored times, ns; equal to the given ones for a share of 1.
     */
    public static long[] restored(final long[] timesNs, final double share) {
        final double[] values = Arrays.stream(timesNs).mapToDouble(time -> time - timesNs[0]).toArray();
        if (share < 1) {
            for (int step = 1; step < values.length; step *= 2) {
                lift(values, step, step, -0.5);
                lift(values, 0, step, 0.25);
            }
            cut(values, kept(values.length, share));
            for (int step = Integer.highestOneBit(values.length - 1); step > 0; step /= 2) {
                lift(values, 0, step, -0.25);
                lift(values, step, step, 0.5);
            }
        }
        return Arrays.stream(values).mapToLong(value -> timesNs[0] + Math.round(value)).toArray();
    }

    /** Adds to every other value, from a first one on, its neighbours; a missing one is as the other. */
    private static void lift(final double[] values, final int first, final int step, final double factor) {
        for (int i = first; i < values.length; i += 2 * step) {
            final double left = i >= step ? values[i - step] : values[i + step];
            final double right = i + step < values.length ? values[i + step] : left;
            values[i] += factor * (left + right);
        }
    }

    /** Leaves the coefficients that matter most, by their share in the squared error, in whole ns. */
    private static void cut(final double[] values, final long kept) {
        final double[] sizes = new double[values.length];
        for (int i = 0; i < sizes.length; i++) {
            sizes[i] = i == 0 ? Double.POSITIVE_INFINITY : Math.abs(values[i]) * Math.sqrt(Integer.lowestOneBit(i));
        }
        final double[] sorted = sizes.clone();
        Arrays.sort(sorted);
        final double least = sorted[(int) Math.max(0, sorted.length - kept)];
        for (int i = 0; i < values.length; i++) {
            values[i] = sizes[i] >= least && sizes[i] > 0 ? Math.rint(values[i]) : 0;
        }
    }
}
