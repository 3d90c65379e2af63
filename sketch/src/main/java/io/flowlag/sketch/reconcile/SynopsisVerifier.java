package io.flowlag.sketch.reconcile;

import org.agrona.DirectBuffer;

import static io.flowlag.sketch.reconcile.SynopsisDescriptor.BYTE_ORDER;

/**
 * Verifies octets from elsewhere before any flyweight is wrapped around them. It never throws, whatever the octets are.
 * Stateless, any thread; allocates never.
 */
public final class SynopsisVerifier {
    private SynopsisVerifier() {
    }

    /**
     * Verifies an image.
     *
     * @param buffer holds the octets.
     * @param offset of the image.
     * @param length of the image.
     * @return {@link SynopsisResult#ACCEPTED}, or the first reason against.
     */
    public static SynopsisResult verify(final DirectBuffer buffer, final int offset, final int length) {
        if (length < SynopsisDescriptor.PREAMBLE_LENGTH || offset < 0 || (long)offset + length > buffer.capacity()) {
            return SynopsisResult.TOO_SHORT;
        }
        final SynopsisResult form = verifyForm(buffer, offset);
        return SynopsisResult.ACCEPTED == form ? verifyGeometry(buffer, offset, length) : form;
    }

    private static SynopsisResult verifyForm(final DirectBuffer buffer, final int offset) {
        if (SynopsisDescriptor.PREAMBLE_WORDS != octet(buffer, offset + SynopsisDescriptor.PREAMBLE_LENGTH_OFFSET)) {
            return SynopsisResult.PREAMBLE_LENGTH;
        }
        if (SynopsisDescriptor.VERSION != octet(buffer, offset + SynopsisDescriptor.VERSION_OFFSET)) {
            return SynopsisResult.VERSION;
        }
        final SynopsisFamily family = family(buffer, offset);
        if (null == family) {
            return SynopsisResult.FAMILY;
        }
        if (0 != (octet(buffer, offset + SynopsisDescriptor.FLAGS_OFFSET) & ~SynopsisDescriptor.KNOWN_FLAGS)) {
            return SynopsisResult.FLAGS;
        }
        if (family.cellLength() != buffer.getShort(offset + SynopsisDescriptor.CELL_LENGTH_OFFSET, BYTE_ORDER)) {
            return SynopsisResult.CELL_LENGTH;
        }
        if (0 != buffer.getShort(offset + SynopsisDescriptor.RESERVED_SHORT_OFFSET, BYTE_ORDER) ||
            0 != buffer.getInt(offset + SynopsisDescriptor.RESERVED_INT_OFFSET, BYTE_ORDER) ||
            0 != buffer.getLong(offset + SynopsisDescriptor.RESERVED_LONG_OFFSET, BYTE_ORDER)) {
            return SynopsisResult.RESERVED;
        }
        return SynopsisResult.ACCEPTED;
    }

    private static SynopsisResult verifyGeometry(final DirectBuffer buffer, final int offset, final int length) {
        final SynopsisFamily family = family(buffer, offset);
        final int banks = buffer.getInt(offset + SynopsisDescriptor.BANKS_OFFSET, BYTE_ORDER);
        final int cells = buffer.getInt(offset + SynopsisDescriptor.CELLS_OFFSET, BYTE_ORDER);
        if (banks < 1 || banks > family.maxBanks()) {
            return SynopsisResult.BANKS;
        }
        if (cells < 1) {
            return SynopsisResult.CELLS;
        }
        if (buffer.getLong(offset + SynopsisDescriptor.INTERVAL_NS_OFFSET, BYTE_ORDER) < 1) {
            return SynopsisResult.INTERVAL_LENGTH;
        }
        final long threshold = buffer.getLong(offset + SynopsisDescriptor.FLOW_THRESHOLD_OFFSET, BYTE_ORDER);
        if (threshold < 0 || threshold > FlowSample.ALL) {
            return SynopsisResult.FLOW_THRESHOLD;
        }
        return SynopsisDescriptor.imageLength(family, banks, cells) == length ?
            SynopsisResult.ACCEPTED : SynopsisResult.IMAGE_LENGTH;
    }

    private static SynopsisFamily family(final DirectBuffer buffer, final int offset) {
        return SynopsisFamily.of(octet(buffer, offset + SynopsisDescriptor.FAMILY_OFFSET));
    }

    private static int octet(final DirectBuffer buffer, final int offset) {
        return buffer.getByte(offset) & 0xff;
    }
}
