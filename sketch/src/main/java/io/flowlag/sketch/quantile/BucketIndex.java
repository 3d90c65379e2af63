package io.flowlag.sketch.quantile;

/**
 * The bucket of a magnitude at level 0, by a table instead of a logarithm, with the same result. A cell of the table covers the
 * magnitudes of one power of two that share their next bits. It is narrower than a bucket, so at most one bucket begins in it.
 * The cell stores its first bucket and the magnitude at which the next begins. Any thread. Allocates when the class is loaded.
 */
final class BucketIndex {
    static final long FLOOR = 64;
    static final double GROWTH = 1.01 / 0.99;

    private static final double LOG_GROWTH = Math.log(GROWTH);
    private static final double LOG_FLOOR = Math.log(FLOOR);
    private static final int CELL_BITS = 6;
    private static final int CELLS = 1 << CELL_BITS;
    private static final int FLOOR_BITS = Long.SIZE - 1 - Long.numberOfLeadingZeros(FLOOR);
    /** Magnitudes of more bits (ten hours in ns) use the logarithm: there a bound is not found within a step or two. */
    private static final int MOST_BITS = 45;
    private static final long END = 1L << MOST_BITS;

    private static final short[] FIRST = new short[(MOST_BITS - FLOOR_BITS) * CELLS];
    private static final long[] NEXT_FROM = new long[FIRST.length];

    static {
        for (int cell = 0; cell < FIRST.length; cell++) {
            final int shift = cell / CELLS + FLOOR_BITS - CELL_BITS;
            final long from = (long)(CELLS + cell % CELLS) << shift;
            final long last = from + (1L << shift) - 1;
            final int first = byLogarithm(from);
            FIRST[cell] = (short)first;
            NEXT_FROM[cell] = byLogarithm(last) == first ? Long.MAX_VALUE : beginning(first + 1);
        }
    }

    private BucketIndex() {
    }

    /**
     * The bucket of a magnitude.
     *
     * @param magnitude at least {@link #FLOOR}, or {@link Long#MIN_VALUE} for 2^63.
     * @return its index, from 1 on.
     */
    static int of(final long magnitude) {
        if (magnitude >= END || magnitude < 0) {
            return byLogarithm(magnitude);
        }
        final int bits = Long.SIZE - 1 - Long.numberOfLeadingZeros(magnitude);
        final int cell = (bits - FLOOR_BITS << CELL_BITS) + (int)(magnitude >>> bits - CELL_BITS) - CELLS;
        return FIRST[cell] + (magnitude < NEXT_FROM[cell] ? 0 : 1);
    }

    /** The bucket by definition. */
    static int byLogarithm(final long magnitude) {
        return 1 + (int)((Math.log(Math.abs((double)magnitude)) - LOG_FLOOR) / LOG_GROWTH);
    }

    /** The smallest magnitude of a bucket: by the exponential function within a step or two. */
    private static long beginning(final int index) {
        long magnitude = Math.round(FLOOR * Math.exp(LOG_GROWTH * (index - 1)));
        while (byLogarithm(magnitude) < index) {
            magnitude++;
        }
        while (byLogarithm(magnitude - 1) >= index) {
            magnitude--;
        }
        return magnitude;
    }
}
