package io.flowlag.sketch.image;

import org.agrona.DirectBuffer;

import java.nio.ByteOrder;

/**
 * What the images of sketches and synopses have in common, little-endian.
 * <pre>
 *   0  preambleLength     1   in words of 8 octets
 *   1  version            1   1
 *   2  family             1
 *   3  flags              1   bit 0: the point that filled it lost packets of its own
 *   4  cellLength         2
 *   6  reserved           2   0
 *   8  rows               4   banks of a synopsis
 *  12  columns            4   cells of a bank
 *  24  intervalNumber     8   signed
 *  32  intervalNs         8   length of the interval
 *  56  reserved           8   0
 * </pre>
 * Stateless, any thread; allocates never.
 */
public final class ImageHeader {
    public static final int VERSION = 1;
    public static final int FLAGS_OFFSET = 3;
    /** Flag: the point that filled the image lost packets itself, so its losses are not the path's. */
    public static final int FLAG_DAMAGED = 0x01;
    /** Boundary to which an image's memory is aligned, in octets. */
    public static final int ALIGNMENT = 64;
    /** Longest image in octets. */
    public static final int MAX_IMAGE_LENGTH = Integer.MAX_VALUE - ALIGNMENT;
    /** Of every field. */
    public static final ByteOrder BYTE_ORDER = ByteOrder.LITTLE_ENDIAN;
    /** Offset of the rows, or banks. */
    public static final int ROWS_OFFSET = 8;
    /** Offset of the columns, or cells of a bank. */
    public static final int COLUMNS_OFFSET = 12;
    /** Offset of the interval's length. */
    public static final int INTERVAL_NS_OFFSET = 32;

    static final int PREAMBLE_LENGTH_OFFSET = 0;
    static final int VERSION_OFFSET = 1;
    static final int FAMILY_OFFSET = 2;
    static final int CELL_LENGTH_OFFSET = 4;
    static final int RESERVED_SHORT_OFFSET = 6;
    static final int INTERVAL_NUMBER_OFFSET = 24;
    static final int RESERVED_LONG_OFFSET = 56;

    private ImageHeader() {
    }

    /** {@return the code of the family that an image states} */
    public static int family(final DirectBuffer buffer, final int offset) {
        return octet(buffer, offset + FAMILY_OFFSET);
    }

    /** {@return whether a buffer holds so many octets, and they hold a preamble} */
    public static boolean fits(final DirectBuffer buffer, final int offset, final int length, final int preambleLength) {
        return length >= preambleLength && offset >= 0 && (long)offset + length <= buffer.capacity();
    }

    /**
     * Verifies the common fields, except geometry and interval.
     *
     * @param preambleLength in octets.
     * @param cellLength     of the family in octets; 0 if there is no such family.
     * @return {@link ImageResult#ACCEPTED}, or the first reason against.
     */
    public static ImageResult verify(
        final DirectBuffer buffer, final int offset, final int preambleLength, final int cellLength) {
        if (octet(buffer, offset + PREAMBLE_LENGTH_OFFSET) != preambleLength / Long.BYTES) {
            return ImageResult.PREAMBLE_LENGTH;
        }
        if (octet(buffer, offset + VERSION_OFFSET) != VERSION) {
            return ImageResult.VERSION;
        }
        if (cellLength == 0) {
            return ImageResult.FAMILY;
        }
        if ((octet(buffer, offset + FLAGS_OFFSET) & ~FLAG_DAMAGED) != 0) {
            return ImageResult.FLAGS;
        }
        if (buffer.getShort(offset + CELL_LENGTH_OFFSET, BYTE_ORDER) != cellLength) {
            return ImageResult.CELL_LENGTH;
        }
        return buffer.getShort(offset + RESERVED_SHORT_OFFSET, BYTE_ORDER) != 0 ||
            buffer.getLong(offset + RESERVED_LONG_OFFSET, BYTE_ORDER) != 0 ? ImageResult.RESERVED : ImageResult.ACCEPTED;
    }

    private static int octet(final DirectBuffer buffer, final int offset) {
        return buffer.getByte(offset) & 0xff;
    }
}
