package io.flowlag.exporter.exchange.wire;

import io.flowlag.sketch.image.ImageDescriptor;
import org.agrona.DirectBuffer;
import org.agrona.MutableDirectBuffer;

import static io.flowlag.exporter.exchange.wire.ExchangeHeader.BYTE_ORDER;

/**
 * CELLS: a piece of a sketch's image (docs/sketch.md). The first piece of a sketch is its preamble.
 * <pre>
 *   0  intervalNumber   8   signed
 *   8  sketchIndex      2   0-{@link ExchangeSettings#MAX_SKETCHES} - 1
 *  10  encoding         1   0 plain: the image's octets; 1 compact: {@link CompactCells}, whole cells
 *  11  reserved         1   0
 *  12  imageOffset      4   of the piece within the image
 *  16  decodedBytes     4   1-{@value ExchangeHeader#MAX_PAYLOAD_BYTES}, of the piece within the image
 *  20  imageBytes       4   length of the whole image
 *  24  payload
 * </pre>
 */
public final class CellsMessage extends MessageFlyweight<CellsMessage> {
    static final int PLAIN = 0;
    static final int COMPACT = 1;
    /** Offset of the cells in an image. */
    static final int PREAMBLE_BYTES = ImageDescriptor.PREAMBLE_LENGTH;
    private static final int NUMBER_OFFSET = 0;
    private static final int SKETCH_OFFSET = NUMBER_OFFSET + 8;
    private static final int ENCODING_OFFSET = SKETCH_OFFSET + 2;
    private static final int RESERVED_OFFSET = ENCODING_OFFSET + 1;
    private static final int IMAGE_OFFSET_OFFSET = RESERVED_OFFSET + 1;
    private static final int DECODED_BYTES_OFFSET = IMAGE_OFFSET_OFFSET + 4;
    private static final int IMAGE_BYTES_OFFSET = DECODED_BYTES_OFFSET + 4;
    private static final int PAYLOAD_OFFSET = IMAGE_BYTES_OFFSET + 4;

    /** {@return octets of the piece of an image that begins at an offset: the preamble, or as many cells as a message takes} */
    public static int pieceBytes(final int imageBytes, final int imageOffset) {
        return imageOffset < PREAMBLE_BYTES ? PREAMBLE_BYTES :
            Math.min(ExchangeHeader.MAX_PAYLOAD_BYTES, imageBytes - imageOffset);
    }

    /** Encodes the piece of an image that begins at an offset: compactly, or plain if that is not longer. */
    public static int encode(
        final MutableDirectBuffer buffer, final int offset, final long intervalNumber, final int sketchIndex,
        final DirectBuffer image, final int imageOffset) {
        final int body = offset + ExchangeHeader.LENGTH_BYTES;
        final int decodedBytes = pieceBytes(image.capacity(), imageOffset);
        int encoding = PLAIN;
        int payloadBytes = decodedBytes;
        if (imageOffset >= PREAMBLE_BYTES) {
            final int cellCount = decodedBytes / CompactCells.CELL_BYTES;
            payloadBytes = CompactCells.encode(image, imageOffset, cellCount, buffer, body + PAYLOAD_OFFSET);
            encoding = payloadBytes < decodedBytes ? COMPACT : PLAIN;
        }
        if (encoding == PLAIN) {
            payloadBytes = decodedBytes;
            buffer.putBytes(body + PAYLOAD_OFFSET, image, imageOffset, decodedBytes);
        }
        buffer.putLong(body + NUMBER_OFFSET, intervalNumber, BYTE_ORDER);
        buffer.putShort(body + SKETCH_OFFSET, (short)sketchIndex, BYTE_ORDER);
        buffer.putByte(body + ENCODING_OFFSET, (byte)encoding);
        buffer.putByte(body + RESERVED_OFFSET, (byte)0);
        buffer.putInt(body + IMAGE_OFFSET_OFFSET, imageOffset, BYTE_ORDER);
        buffer.putInt(body + DECODED_BYTES_OFFSET, decodedBytes, BYTE_ORDER);
        buffer.putInt(body + IMAGE_BYTES_OFFSET, image.capacity(), BYTE_ORDER);
        return ExchangeHeader.encode(buffer, offset, MessageType.CELLS, PAYLOAD_OFFSET + payloadBytes);
    }

    static ExchangeResult verify(final DirectBuffer buffer, final int body, final int bodyBytes) {
        if (bodyBytes <= PAYLOAD_OFFSET) {
            return ExchangeResult.LENGTH;
        }
        final int sketchIndex = buffer.getShort(body + SKETCH_OFFSET, BYTE_ORDER) & 0xffff;
        final int imageOffset = buffer.getInt(body + IMAGE_OFFSET_OFFSET, BYTE_ORDER);
        final int decodedBytes = buffer.getInt(body + DECODED_BYTES_OFFSET, BYTE_ORDER);
        final int imageBytes = buffer.getInt(body + IMAGE_BYTES_OFFSET, BYTE_ORDER);
        if (sketchIndex >= ExchangeSettings.MAX_SKETCHES) {
            return ExchangeResult.COUNT;
        }
        if (!isZero(buffer, body + RESERVED_OFFSET, 1)) {
            return ExchangeResult.RESERVED;
        }
        if (imageOffset < 0 || decodedBytes < 1 || decodedBytes > ExchangeHeader.MAX_PAYLOAD_BYTES ||
            imageBytes < PREAMBLE_BYTES || decodedBytes > (long)imageBytes - imageOffset) {
            return ExchangeResult.GEOMETRY;
        }
        final int payloadBytes = bodyBytes - PAYLOAD_OFFSET;
        return switch (buffer.getByte(body + ENCODING_OFFSET)) {
            case PLAIN -> payloadBytes == decodedBytes ? ExchangeResult.ACCEPTED : ExchangeResult.LENGTH;
            case COMPACT -> isCompact(buffer, body + PAYLOAD_OFFSET, payloadBytes, imageOffset, decodedBytes) ?
                ExchangeResult.ACCEPTED : ExchangeResult.ENCODING;
            default -> ExchangeResult.ENCODING;
        };
    }

    private static boolean isCompact(
        final DirectBuffer buffer, final int payload, final int payloadBytes, final int imageOffset,
        final int decodedBytes) {
        final boolean isAligned = imageOffset >= PREAMBLE_BYTES &&
            (imageOffset - PREAMBLE_BYTES) % CompactCells.CELL_BYTES == 0 && decodedBytes % CompactCells.CELL_BYTES == 0;
        return isAligned && CompactCells.verify(buffer, payload, payloadBytes, decodedBytes / CompactCells.CELL_BYTES);
    }

    public long intervalNumber() {
        return longInteger(NUMBER_OFFSET);
    }

    public int sketchIndex() {
        return unsignedShort(SKETCH_OFFSET);
    }

    int encoding() {
        return octet(ENCODING_OFFSET);
    }

    public int imageOffset() {
        return integer(IMAGE_OFFSET_OFFSET);
    }

    public int decodedBytes() {
        return integer(DECODED_BYTES_OFFSET);
    }

    public int imageBytes() {
        return integer(IMAGE_BYTES_OFFSET);
    }

    /** Copies the piece to its place. */
    public void decode(final MutableDirectBuffer image) {
        if (encoding() == COMPACT) {
            CompactCells.decode(body(), PAYLOAD_OFFSET, body().capacity() - PAYLOAD_OFFSET,
                image, imageOffset(), decodedBytes() / CompactCells.CELL_BYTES);
        } else {
            image.putBytes(imageOffset(), body(), PAYLOAD_OFFSET, decodedBytes());
        }
    }
}
