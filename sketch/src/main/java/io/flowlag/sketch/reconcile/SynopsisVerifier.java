package io.flowlag.sketch.reconcile;

import org.agrona.DirectBuffer;

import static io.flowlag.sketch.reconcile.SynopsisDescriptor.BYTE_ORDER;

/**
 * Verifies octets from elsewhere before any flyweight is wrapped around them. It never throws, whatever the octets are.
 * Stateless, any thread; allocates never.
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
        if (SynopsisDescriptor.imageLength(family, banks, cells) != length) {
            return SynopsisResult.IMAGE_LENGTH;
        }
        return SynopsisFamily.FLOW_KEYS == family ? verifyKeys(buffer, offset, cells) : SynopsisResult.ACCEPTED;
    }

    /** Keys go into records, so each is looked at; cells of other families may hold anything. */
    private static SynopsisResult verifyKeys(final DirectBuffer buffer, final int offset, final int cells) {
        for (int cell = 0; cell < cells; cell++) {
            final int at = offset + SynopsisDescriptor.PREAMBLE_LENGTH + cell * SynopsisFamily.FLOW_KEYS.cellLength();
            final int ipVersion = octet(buffer, at + SynopsisDescriptor.KEY_IP_VERSION_OFFSET);
            final long high = buffer.getLong(at + SynopsisDescriptor.KEY_SOURCE_OFFSET, BYTE_ORDER) |
                buffer.getLong(at + SynopsisDescriptor.KEY_DESTINATION_OFFSET, BYTE_ORDER);
            final int classIndex = buffer.getShort(at + SynopsisDescriptor.KEY_CLASS_INDEX_OFFSET, BYTE_ORDER) & 0xffff;
            if (IPV4 != ipVersion && IPV6 != ipVersion || IPV4 == ipVersion && !isIpv4(buffer, at, high) ||
                classIndex > PacketCache.MAX_CLASS_INDEX ||
                buffer.getLong(at + SynopsisDescriptor.KEY_PACKETS_OFFSET, BYTE_ORDER) < 1) {
                return SynopsisResult.FLOW_KEY;
            }
        }
        return SynopsisResult.ACCEPTED;
    }

    private static boolean isIpv4(final DirectBuffer buffer, final int at, final long high) {
        final long low = buffer.getLong(at + SynopsisDescriptor.KEY_SOURCE_OFFSET + Long.BYTES, BYTE_ORDER) |
            buffer.getLong(at + SynopsisDescriptor.KEY_DESTINATION_OFFSET + Long.BYTES, BYTE_ORDER);
        return 0 == high && 0 == low >>> Integer.SIZE;
    }

    private static SynopsisFamily family(final DirectBuffer buffer, final int offset) {
        return SynopsisFamily.of(octet(buffer, offset + SynopsisDescriptor.FAMILY_OFFSET));
    }

    private static int octet(final DirectBuffer buffer, final int offset) {
        return buffer.getByte(offset) & 0xff;
    }
}
