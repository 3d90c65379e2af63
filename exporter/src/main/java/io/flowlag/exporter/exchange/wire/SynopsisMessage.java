package io.flowlag.exporter.exchange.wire;

import org.agrona.DirectBuffer;
import org.agrona.MutableDirectBuffer;

import static io.flowlag.exporter.exchange.wire.ExchangeHeader.BYTE_ORDER;

/**
 * SYNOPSIS: a piece of the image (docs/reconciliation.md) that answers a SYNOPSIS_REQUEST, in order; or that there is none.
 * <pre>
 *   0  requestId        4   of the request
 *   4  imageOffset      4   of the piece within the image
 *   8  imageBytes       4   length of the whole image; 0 if what was asked cannot be had
 *  12  reserved         4   0
 *  16  payload              1-{@value ExchangeHeader#MAX_PAYLOAD_BYTES} octets; none if there is no image
 * </pre>
 */
public final class SynopsisMessage extends MessageFlyweight<SynopsisMessage> {
    private static final int REQUEST_OFFSET = 0;
    private static final int IMAGE_OFFSET_OFFSET = REQUEST_OFFSET + 4;
    private static final int IMAGE_BYTES_OFFSET = IMAGE_OFFSET_OFFSET + 4;
    private static final int RESERVED_OFFSET = IMAGE_BYTES_OFFSET + 4;
    private static final int PAYLOAD_OFFSET = RESERVED_OFFSET + 4;

    /** Encodes the piece from an offset on; the image is null if there is none. */
    public static int encode(
        final MutableDirectBuffer buffer, final int offset, final int requestId, final DirectBuffer image,
        final int imageOffset) {
        final int body = offset + ExchangeHeader.LENGTH_BYTES;
        final int imageBytes = image == null ? 0 : image.capacity();
        final int payloadBytes = pieceBytes(imageBytes, imageOffset);
        buffer.putInt(body + REQUEST_OFFSET, requestId, BYTE_ORDER);
        buffer.putInt(body + IMAGE_OFFSET_OFFSET, imageOffset, BYTE_ORDER);
        buffer.putInt(body + IMAGE_BYTES_OFFSET, imageBytes, BYTE_ORDER);
        buffer.putInt(body + RESERVED_OFFSET, 0, BYTE_ORDER);
        if (payloadBytes > 0) {
            buffer.putBytes(body + PAYLOAD_OFFSET, image, imageOffset, payloadBytes);
        }
        return ExchangeHeader.encode(buffer, offset, MessageType.SYNOPSIS, PAYLOAD_OFFSET + payloadBytes);
    }

    /** Octets of the piece of an image that begins at an offset. */
    public static int pieceBytes(final int imageBytes, final int imageOffset) {
        return Math.min(ExchangeHeader.MAX_PAYLOAD_BYTES, imageBytes - imageOffset);
    }

    static ExchangeResult verify(final DirectBuffer buffer, final int body, final int bodyBytes) {
        if (bodyBytes < PAYLOAD_OFFSET) {
            return ExchangeResult.LENGTH;
        }
        final int payloadBytes = bodyBytes - PAYLOAD_OFFSET;
        final int imageOffset = buffer.getInt(body + IMAGE_OFFSET_OFFSET, BYTE_ORDER);
        final int imageBytes = buffer.getInt(body + IMAGE_BYTES_OFFSET, BYTE_ORDER);
        if (!isZero(buffer, body + RESERVED_OFFSET, 4)) {
            return ExchangeResult.RESERVED;
        }
        if (imageOffset < 0 || imageBytes < 0 || imageBytes == 0 && imageOffset != 0 ||
            imageBytes > 0 && imageOffset >= imageBytes || payloadBytes != pieceBytes(imageBytes, imageOffset)) {
            return ExchangeResult.GEOMETRY;
        }
        return ExchangeResult.ACCEPTED;
    }

    public int requestId() {
        return integer(REQUEST_OFFSET);
    }

    public int imageOffset() {
        return integer(IMAGE_OFFSET_OFFSET);
    }

    public int imageBytes() {
        return integer(IMAGE_BYTES_OFFSET);
    }

    public int payloadBytes() {
        return body().capacity() - PAYLOAD_OFFSET;
    }

    /** Copies the piece to its place in the image. */
    public void copyTo(final MutableDirectBuffer image) {
        image.putBytes(imageOffset(), body(), PAYLOAD_OFFSET, payloadBytes());
    }
}
