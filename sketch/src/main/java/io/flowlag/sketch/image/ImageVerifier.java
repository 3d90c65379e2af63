package io.flowlag.sketch.image;

import org.agrona.DirectBuffer;

import static io.flowlag.sketch.image.ImageHeader.BYTE_ORDER;

/**
 * Verifies received bytes before a flyweight is wrapped around them. Never throws, whatever the bytes are. Stateless, any thread;
 * never allocates.
 */
public final class ImageVerifier {
    private ImageVerifier() {
    }

    /**
     * Verifies an image.
     *
     * @param buffer holds the bytes.
     * @param length of the image, within the buffer.
     * @return {@link ImageResult#ACCEPTED}, or the first reason against.
     */
    public static ImageResult verify(final DirectBuffer buffer, final int offset, final int length) {
        if (!ImageHeader.fits(buffer, offset, length, ImageDescriptor.PREAMBLE_LENGTH)) {
            return ImageResult.TOO_SHORT;
        }
        final SketchFamily family = SketchFamily.of(ImageHeader.family(buffer, offset));
        final ImageResult header = ImageHeader.verify(
            buffer, offset, ImageDescriptor.PREAMBLE_LENGTH, family == null ? 0 : ImageDescriptor.CELL_LENGTH);
        if (header != ImageResult.ACCEPTED) {
            return header;
        }
        return buffer.getLong(offset + ImageHeader.INTERVAL_NS_OFFSET, BYTE_ORDER) < 1 ?
            ImageResult.INTERVAL_LENGTH : verifyGeometry(family, buffer, offset, length);
    }

    private static ImageResult verifyGeometry(
        final SketchFamily family, final DirectBuffer buffer, final int offset, final int length) {
        final int rows = buffer.getInt(offset + ImageHeader.ROWS_OFFSET, BYTE_ORDER);
        final int columns = buffer.getInt(offset + ImageHeader.COLUMNS_OFFSET, BYTE_ORDER);
        final int vldaLength = buffer.getInt(offset + ImageDescriptor.VLDA_LENGTH_OFFSET, BYTE_ORDER);
        if (rows < 1 || rows > SketchGeometry.MAX_ROWS) {
            return ImageResult.ROWS;
        }
        if (columns < 1 || family == SketchFamily.LDA && columns % 2 != 0) {
            return ImageResult.COLUMNS;
        }
        if (vldaLength < 1 || vldaLength > (family == SketchFamily.LDS ? columns : 1)) {
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
            final boolean legal = row >= rows ? rate == 0 : switch (family) {
                case LDA -> rate > previous && rate <= SketchGeometry.MAX_LEADING_ZEROS;
                case SDS -> rate == SketchGeometry.FULL_RATE_PPM;
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
