package io.flowlag.sketch.reconcile;

import io.flowlag.sketch.image.ImageHeader;
import io.flowlag.sketch.image.ImageResult;
import org.agrona.DirectBuffer;

import static io.flowlag.sketch.image.ImageHeader.BYTE_ORDER;

/**
 * Verifies received octets before a flyweight is wrapped around them. Never throws, whatever the octets are. Stateless, any
 * thread; never allocates.
 */
public final class SynopsisVerifier {
    private static final int IPV4 = 4;
    private static final int IPV6 = 6;

    private SynopsisVerifier() {
    }

    /**
     * Verifies an image.
     *
     * @param buffer holds the octets.
     * @return {@link ImageResult#ACCEPTED}, or the first reason against.
     */
    public static ImageResult verify(final DirectBuffer buffer, final int offset, final int length) {
        if (!ImageHeader.fits(buffer, offset, length, SynopsisDescriptor.PREAMBLE_LENGTH)) {
            return ImageResult.TOO_SHORT;
        }
        final SynopsisFamily family = SynopsisFamily.of(ImageHeader.family(buffer, offset));
        final ImageResult header = ImageHeader.verify(
            buffer, offset, SynopsisDescriptor.PREAMBLE_LENGTH, family == null ? 0 : family.cellLength());
        if (header != ImageResult.ACCEPTED) {
            return header;
        }
        return buffer.getInt(offset + SynopsisDescriptor.RESERVED_INT_OFFSET, BYTE_ORDER) != 0 ?
            ImageResult.RESERVED : verifyGeometry(family, buffer, offset, length);
    }

    private static ImageResult verifyGeometry(
        final SynopsisFamily family, final DirectBuffer buffer, final int offset, final int length) {
        final int banks = buffer.getInt(offset + ImageHeader.ROWS_OFFSET, BYTE_ORDER);
        final int cells = buffer.getInt(offset + ImageHeader.COLUMNS_OFFSET, BYTE_ORDER);
        if (banks < 1 || banks > family.maxBanks()) {
            return ImageResult.BANKS;
        }
        if (cells < 1) {
            return ImageResult.CELLS;
        }
        if (buffer.getLong(offset + ImageHeader.INTERVAL_NS_OFFSET, BYTE_ORDER) < 1) {
            return ImageResult.INTERVAL_LENGTH;
        }
        final long threshold = buffer.getLong(offset + SynopsisDescriptor.FLOW_THRESHOLD_OFFSET, BYTE_ORDER);
        if (threshold < 0 || threshold > FlowSample.ALL) {
            return ImageResult.FLOW_THRESHOLD;
        }
        if (SynopsisDescriptor.imageLength(family, banks, cells) != length) {
            return ImageResult.IMAGE_LENGTH;
        }
        return family == SynopsisFamily.FLOW_KEYS ? verifyKeys(buffer, offset, cells) : ImageResult.ACCEPTED;
    }

    /** Verifies keys, which go into records; cells of other families may hold anything. */
    private static ImageResult verifyKeys(final DirectBuffer buffer, final int offset, final int cells) {
        for (int cell = 0; cell < cells; cell++) {
            final int at = offset + SynopsisDescriptor.PREAMBLE_LENGTH + cell * SynopsisFamily.FLOW_KEYS.cellLength();
            final int ipVersion = octet(buffer, at + SynopsisDescriptor.KEY_IP_VERSION_OFFSET);
            final long high = buffer.getLong(at + SynopsisDescriptor.KEY_SOURCE_OFFSET, BYTE_ORDER) |
                buffer.getLong(at + SynopsisDescriptor.KEY_DESTINATION_OFFSET, BYTE_ORDER);
            final int classIndex = buffer.getShort(at + SynopsisDescriptor.KEY_CLASS_INDEX_OFFSET, BYTE_ORDER) & 0xffff;
            if (ipVersion != IPV4 && ipVersion != IPV6 || ipVersion == IPV4 && !isIpv4(buffer, at, high) ||
                classIndex > SynopsisDescriptor.MAX_CLASS_INDEX ||
                buffer.getLong(at + SynopsisDescriptor.KEY_PACKETS_OFFSET, BYTE_ORDER) < 1) {
                return ImageResult.FLOW_KEY;
            }
        }
        return ImageResult.ACCEPTED;
    }

    private static boolean isIpv4(final DirectBuffer buffer, final int at, final long high) {
        final long low = buffer.getLong(at + SynopsisDescriptor.KEY_SOURCE_OFFSET + Long.BYTES, BYTE_ORDER) |
            buffer.getLong(at + SynopsisDescriptor.KEY_DESTINATION_OFFSET + Long.BYTES, BYTE_ORDER);
        return high == 0 && low >>> Integer.SIZE == 0;
    }

    private static int octet(final DirectBuffer buffer, final int offset) {
        return buffer.getByte(offset) & 0xff;
    }
}
