package io.flowlag.sketch.image;

import java.util.Arrays;

/**
 * The shape of a sketch: family, rows, columns, vLDA length, and one rate per row. Two sketches are comparable only if their
 * geometries are equal. Immutable, any thread; allocates at construction.
 *
 * <p>An LDA is seen as a matrix too: a row is a bank, a column is one of its accumulator-counter pairs.
 */
public final class SketchGeometry implements SketchShape {
    /** Most rows (or banks) of a sketch. */
    public static final int MAX_ROWS = 16;
    /** Sampling rate of a row that takes every packet. */
    public static final int FULL_RATE_PPM = 1_000_000;
    /** Most leading zeros that a bank of an LDA may ask for. */
    public static final int MAX_LEADING_ZEROS = 31;
    /** Most cells, those of all rows together: an image is one buffer. */
    public static final int MAX_CELLS =
        (ImageHeader.MAX_IMAGE_LENGTH - ImageDescriptor.PREAMBLE_LENGTH) / ImageDescriptor.CELL_LENGTH;

    private final SketchFamily family;
    private final int rows;
    private final int columns;
    private final int vldaLength;
    private final int[] rates;

    private SketchGeometry(
        final SketchFamily family, final int rows, final int columns, final int vldaLength, final int[] rates) {
        require(rows >= 1 && rows <= MAX_ROWS, "rows=" + rows + " is not in 1.." + MAX_ROWS);
        require(columns >= 1, "columns=" + columns + " is less than 1");
        final long imageLength = ImageDescriptor.imageLength(rows, columns);
        require(
            imageLength <= ImageHeader.MAX_IMAGE_LENGTH,
            "rows=" + rows + " columns=" + columns + " make " + imageLength + " octets, more than one buffer holds");
        this.family = family;
        this.rows = rows;
        this.columns = columns;
        this.vldaLength = vldaLength;
        this.rates = rates;
    }

    /**
     * The geometry of an LDS.
     *
     * @param vldaLength       k, the cells of one row over which a flow's packets spread; at most C.
     * @param samplingRatesPpm one for each row, in packets per million, 1 to {@link #FULL_RATE_PPM}; none means all packets.
     */
    public static SketchGeometry lds(
        final int rows, final int columns, final int vldaLength, final int... samplingRatesPpm) {
        require(vldaLength >= 1 && vldaLength <= columns, "vldaLength=" + vldaLength + " is not in 1.." + columns);
        final int[] rates = samplingRatesPpm.length == 0 ? filled(rows, FULL_RATE_PPM) : samplingRatesPpm.clone();
        require(rates.length == rows, "samplingRatesPpm has " + rates.length + " entries for rows=" + rows);
        for (final int ratePpm : rates) {
            require(
                ratePpm >= 1 && ratePpm <= FULL_RATE_PPM,
                "samplingRatePpm=" + ratePpm + " is not in 1.." + FULL_RATE_PPM);
        }
        return new SketchGeometry(SketchFamily.LDS, rows, columns, vldaLength, rates);
    }

    public static SketchGeometry sds(final int rows, final int columns) {
        return new SketchGeometry(SketchFamily.SDS, rows, columns, 1, filled(rows, FULL_RATE_PPM));
    }

    /**
     * The geometry of an LDA.
     *
     * @param cells        m, the accumulator-counter pairs of a bank; even, since neighbours are collapsed.
     * @param leadingZeros one for each bank, rising: the zeros that a packet's hash must begin with, so a bank with z zeros
     *                     takes a
     *                     packet in 2^z, less what the banks after it take.
     */
    public static SketchGeometry lda(final int cells, final int... leadingZeros) {
        require(cells >= 2 && cells % 2 == 0, "cells=" + cells + " is not an even number of at least 2");
        int previous = -1;
        for (final int zeros : leadingZeros) {
            require(
                zeros > previous && zeros <= MAX_LEADING_ZEROS,
                "leadingZeros=" + Arrays.toString(leadingZeros) + " do not rise within 0.." + MAX_LEADING_ZEROS);
            previous = zeros;
        }
        return new SketchGeometry(SketchFamily.LDA, leadingZeros.length, cells, 1, leadingZeros.clone());
    }

    @Override
    public SketchFamily family() {
        return family;
    }

    @Override
    public int rows() {
        return rows;
    }

    @Override
    public int columns() {
        return columns;
    }

    @Override
    public int vldaLength() {
        return vldaLength;
    }

    @Override
    public int rate(final int row) {
        return rates[row];
    }

    /** The share of packets that a row samples. Returns in (0, 1]. */
    public double samplingRate(final int row) {
        if (family != SketchFamily.LDA) {
            return rates[row] / (double)FULL_RATE_PPM;
        }
        final double own = Math.scalb(1.0, -rates[row]);
        return row + 1 < rows ? own - Math.scalb(1.0, -rates[row + 1]) : own;
    }

    /** Length of an image of this geometry. Returns octets. */
    public int imageLength() {
        return (int)ImageDescriptor.imageLength(rows, columns);
    }

    /**
     * Off-heap memory that a sketch of this geometry takes: its image and the slack that aligns it to cache lines. Returns
     * octets.
     */
    public static long memoryBytes(final SketchGeometry geometry) {
        return geometry.imageLength() + (long)ImageHeader.ALIGNMENT;
    }

    @Override
    public boolean equals(final Object other) {
        return other instanceof final SketchGeometry that && family == that.family && rows == that.rows &&
            columns == that.columns && vldaLength == that.vldaLength && Arrays.equals(rates, that.rates);
    }

    @Override
    public int hashCode() {
        return 31 * (31 * (31 * rows + columns) + vldaLength) + Arrays.hashCode(rates);
    }

    @Override
    public String toString() {
        return family + "{rows=" + rows + ", columns=" + columns + ", vldaLength=" + vldaLength +
            (family == SketchFamily.LDA ? ", leadingZeros=" : ", samplingRatesPpm=") + Arrays.toString(rates) + '}';
    }

    private static int[] filled(final int rows, final int rate) {
        final int[] rates = new int[Math.max(0, Math.min(rows, MAX_ROWS))];
        Arrays.fill(rates, rate);
        return rates;
    }

    private static void require(final boolean holds, final String message) {
        if (!holds) {
            throw new IllegalArgumentException(message);
        }
    }
}
