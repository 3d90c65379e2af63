package io.flowlag.sketch.image;

import org.agrona.DirectBuffer;

import static io.flowlag.sketch.image.ImageDescriptor.BYTE_ORDER;
import static io.flowlag.sketch.image.ImageDescriptor.octet;

/**
 * Verifies bytes from elsewhere before any flyweight is wrapped around them. It never throws, whatever the bytes are.
 * Stateless, any thread; allocates never.
 */
public final class ImageVerifier {
    private ImageVerifier() {
    }

    /**
     * Verifies an image.
     *
     * @param buffer holds the bytes.
     * @param offset of the image.
     * @param length of the image, within the buffer.
     * @return {@link ImageResult#ACCEPTED}, or the first reason against.
     */
    public static ImageResult verify(final DirectBuffer buffer, final int offset, final int length) {
        if (length < ImageDescriptor.PREAMBLE_LENGTH || offset < 0 || (long)offset + length > buffer.capacity()) {
            return ImageResult.TOO_SHORT;
        }
        final ImageResult form = verifyForm(buffer, offset);
        return ImageResult.ACCEPTED == form ? verifyGeometry(buffer, offset, length) : form;
    }

    private static ImageResult verifyForm(final DirectBuffer buffer, final int offset) {
        if (ImageDescriptor.PREAMBLE_WORDS != octet(buffer, offset + ImageDescriptor.PREAMBLE_LENGTH_OFFSET)) {
            return ImageResult.PREAMBLE_LENGTH;
        }
        if (ImageDescriptor.VERSION != octet(buffer, offset + ImageDescriptor.VERSION_OFFSET)) {
            return ImageResult.VERSION;
        }
        if (null == SketchFamily.of(octet(buffer, offset + ImageDescriptor.FAMILY_OFFSET))) {
            return ImageResult.FAMILY;
        }
        if (0 != (octet(buffer, offset + ImageDescriptor.FLAGS_OFFSET) & ~ImageDescriptor.KNOWN_FLAGS)) {
            return ImageResult.FLAGS;
        }
        if (ImageDescriptor.CELL_LENGTH != buffer.getShort(offset + ImageDescriptor.CELL_LENGTH_OFFSET, BYTE_ORDER)) {
            return ImageResult.CELL_LENGTH;
        }
        if (0 != buffer.getShort(offset + ImageDescriptor.RESERVED_SHORT_OFFSET, BYTE_ORDER) ||
            0 != buffer.getLong(offset + ImageDescriptor.RESERVED_LONG_OFFSET, BYTE_ORDER)) {
            return ImageResult.RESERVED;
        }
        return buffer.getLong(offset + ImageDescriptor.INTERVAL_NS_OFFSET, BYTE_ORDER) < 1 ?
            ImageResult.INTERVAL_LENGTH : ImageResult.ACCEPTED;
    }

    private static ImageResult verifyGeometry(final DirectBuffer buffer, final int offset, final int length) {
        final SketchFamily family = SketchFamily.of(octet(buffer, offset + ImageDescriptor.FAMILY_OFFSET));
        final int rows = buffer.getInt(offset + ImageDescriptor.ROWS_OFFSET, BYTE_ORDER);
        final int columns = buffer.getInt(offset + ImageDescriptor.COLUMNS_OFFSET, BYTE_ORDER);
        final int vldaLength = buffer.getInt(offset + ImageDescriptor.VLDA_LENGTH_OFFSET, BYTE_ORDER);
        if (rows < 1 || rows > SketchGeometry.MAX_ROWS) {
            return ImageResult.ROWS;
        }
        if (columns < 1 || SketchFamily.LDA == family && columns % 2 != 0) {
            return ImageResult.COLUMNS;
        }
        if (vldaLength < 1 || vldaLength > (SketchFamily.LDS == family ? columns : 1)) {
            return ImageResult.VLDA_LENGTH;
        }
        if (!ratesAreLegal(buffer, offset, family, rows)) {
            return ImageResult.RATES;
        }
        return ImageDescriptor.imageLength(rows, columns) == length ? ImageResult.ACCEPTED : ImageResult.IMAGE_LENGTH;
    }

    private static boolean ratesAreLegal(
        final DirectBuffer buffer, final int offset, final SketchFamily family, final int rows) {
        int previous = -1;
        for (int row = 0; row < SketchGeometry.MAX_ROWS; row++) {
            final int rate = buffer.getInt(offset + ImageDescriptor.rateOffset(row), BYTE_ORDER);
            final boolean legal = row >= rows ? 0 == rate : switch (family) {
                case LDA -> rate > previous && rate <= SketchGeometry.MAX_LEADING_ZEROS;
                case SDS -> SketchGeometry.FULL_RATE_PPM == rate;
                case LDS -> rate >= 1 && rate <= SketchGeometry.FULL_RATE_PPM;
            };
            if (!legal) {
                return false;
            }
            previous = rate;
        }
        return true;
    }
}
