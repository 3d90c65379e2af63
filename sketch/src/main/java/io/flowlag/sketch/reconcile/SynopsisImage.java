package io.flowlag.sketch.reconcile;

import io.flowlag.sketch.image.ImageHeader;
import io.flowlag.sketch.image.ImageView;
import org.agrona.DirectBuffer;

import static io.flowlag.sketch.image.ImageHeader.BYTE_ORDER;

/**
 * Reads a synopsis' image in place: one of this process, or octets from the other measurement point that {@link SynopsisVerifier}
 * has accepted. It does not own the memory that it is wrapped around. One thread at a time; allocates at construction only.
 */
public final class SynopsisImage extends ImageView {
    private SynopsisFamily family;
    private int cells;
    private int cellLength;

    /** Wraps an image that {@link SynopsisVerifier} accepts. */
    public SynopsisImage wrap(final DirectBuffer source, final int offset, final int length) {
        buffer.wrap(source, offset, length);
        family = SynopsisFamily.of(ImageHeader.family(buffer, 0));
        cells = buffer.getInt(ImageHeader.COLUMNS_OFFSET, BYTE_ORDER);
        cellLength = family.cellLength();
        return this;
    }

    public SynopsisFamily family() {
        return family;
    }

    /** k. */
    public int banks() {
        return buffer.getInt(ImageHeader.ROWS_OFFSET, BYTE_ORDER);
    }

    /** m. Returns count of cells of a bank. */
    public int cells() {
        return cells;
    }

    public int totalCells() {
        return SynopsisDescriptor.totalCells(family, banks(), cells);
    }

    public int seedFingerprint() {
        return buffer.getInt(SynopsisDescriptor.SEED_FINGERPRINT_OFFSET, BYTE_ORDER);
    }

    /** Which flows are in it. Returns the threshold of {@link FlowSample}. */
    public long flowThreshold() {
        return buffer.getLong(SynopsisDescriptor.FLOW_THRESHOLD_OFFSET, BYTE_ORDER);
    }

    /** Packets that were counted in. Returns count, modulo 2^64. */
    public long packets() {
        return buffer.getLong(SynopsisDescriptor.PACKETS_OFFSET, BYTE_ORDER);
    }

    /** Builds the geometry that the image states. */
    public SynopsisGeometry geometry() {
        return new SynopsisGeometry(family, banks(), cells);
    }

    /** Identifiers of a cell, of families that have them. Returns XOR of the packets' identifiers. */
    public long identifier(final int cell) {
        return buffer.getLong(offset(cell) + SynopsisDescriptor.CELL_IDENTIFIER_OFFSET, BYTE_ORDER);
    }

    /** Timestamps of a cell of an RDA. Returns ns since the interval's start, summed modulo 2^64. */
    public long timestampSumNs(final int cell) {
        return buffer.getLong(offset(cell) + SynopsisDescriptor.CELL_TIMESTAMP_SUM_OFFSET, BYTE_ORDER);
    }

    /**
     * Moves the packets of an RDA, or missing packets, in time, as {@link io.flowlag.sketch.image.CellEditor#retime}; other
     * families have no times.
     */
    public void retime(final long offsetNs, final double rate) {
        final boolean isRda = family == SynopsisFamily.RDA;
        for (int cell = 0; (isRda || family == SynopsisFamily.MISSING_PACKETS) && cell < totalCells(); cell++) {
            final long sumNs = timestampSumNs(cell);
            final long count = isRda ? (int)count(cell) : missingCopies(cell);
            buffer.putLong(offset(cell) + SynopsisDescriptor.CELL_TIMESTAMP_SUM_OFFSET,
                sumNs + count * offsetNs + Math.round(rate * sumNs), BYTE_ORDER);
        }
    }

    /** Packets of a cell of an RDA. Returns count, modulo 2^32, unsigned. */
    public long count(final int cell) {
        return buffer.getInt(offset(cell) + SynopsisDescriptor.CELL_COUNT_OFFSET, BYTE_ORDER) & 0xffff_ffffL;
    }

    /** Check of a cell of an RDA. Returns sum of the low halves of the bank's hashes, modulo 2^32. */
    public int check(final int cell) {
        return buffer.getInt(offset(cell) + SynopsisDescriptor.CELL_CHECK_OFFSET, BYTE_ORDER);
    }

    /** A cell of a family of single values. */
    public long value(final int cell) {
        return buffer.getLong(offset(cell) + SynopsisDescriptor.VALUE_OFFSET, BYTE_ORDER);
    }

    /** The flow of a missing packet. Returns segment flow hash, of the first copy. */
    public long missingFlowHash(final int cell) {
        return buffer.getLong(offset(cell) + SynopsisDescriptor.MISSING_FLOW_HASH_OFFSET, BYTE_ORDER);
    }

    /** Octets of a missing packet. Returns octets of all copies. */
    public long missingBytes(final int cell) {
        return buffer.getInt(offset(cell) + SynopsisDescriptor.MISSING_BYTES_OFFSET, BYTE_ORDER) & 0xffff_ffffL;
    }

    /** How often a missing packet was seen. */
    public int missingCopies(final int cell) {
        return buffer.getShort(offset(cell) + SynopsisDescriptor.MISSING_COPIES_OFFSET, BYTE_ORDER) &
            SynopsisDescriptor.MISSING_COPIES_MASK;
    }

    /** Traffic class of a missing packet at the point that has it. Returns of the first copy, 0 to 63. */
    public int missingClassIndex(final int cell) {
        return (buffer.getShort(offset(cell) + SynopsisDescriptor.MISSING_COPIES_OFFSET, BYTE_ORDER) & 0xffff) >>>
            SynopsisDescriptor.MISSING_CLASS_SHIFT;
    }

    /** Weight of a missing packet's flow. Returns 0 to 32767. */
    public int missingWeight(final int cell) {
        return buffer.getShort(offset(cell) + SynopsisDescriptor.MISSING_WEIGHT_OFFSET, BYTE_ORDER) &
            SynopsisDescriptor.MAX_WEIGHT;
    }

    /** Whether the copies of a missing packet are of different flows. */
    public boolean missingCollided(final int cell) {
        return buffer.getShort(offset(cell) + SynopsisDescriptor.MISSING_WEIGHT_OFFSET, BYTE_ORDER) < 0;
    }

    /** The flow whose key a cell has. */
    public long keyFlowHash(final int cell) {
        return buffer.getLong(offset(cell) + SynopsisDescriptor.KEY_FLOW_HASH_OFFSET, BYTE_ORDER);
    }

    /** Packets of a flow in the interval. Returns count, modulo 2^64. */
    public long keyPackets(final int cell) {
        return buffer.getLong(offset(cell) + SynopsisDescriptor.KEY_PACKETS_OFFSET, BYTE_ORDER);
    }

    /** Source address of a flow. Returns its first 8 octets; 0 for IPv4. */
    public long keySourceHigh(final int cell) {
        return buffer.getLong(offset(cell) + SynopsisDescriptor.KEY_SOURCE_OFFSET, BYTE_ORDER);
    }

    /** Source address of a flow. Returns its last 8 octets; for IPv4 the address. */
    public long keySourceLow(final int cell) {
        return buffer.getLong(offset(cell) + SynopsisDescriptor.KEY_SOURCE_OFFSET + Long.BYTES, BYTE_ORDER);
    }

    /** Destination address of a flow. Returns its first 8 octets; 0 for IPv4. */
    public long keyDestinationHigh(final int cell) {
        return buffer.getLong(offset(cell) + SynopsisDescriptor.KEY_DESTINATION_OFFSET, BYTE_ORDER);
    }

    /** Destination address of a flow. Returns its last 8 octets; for IPv4 the address. */
    public long keyDestinationLow(final int cell) {
        return buffer.getLong(offset(cell) + SynopsisDescriptor.KEY_DESTINATION_OFFSET + Long.BYTES, BYTE_ORDER);
    }

    /** Source port of a flow. Returns 0 for fragments. */
    public int keySourcePort(final int cell) {
        return buffer.getShort(offset(cell) + SynopsisDescriptor.KEY_SOURCE_PORT_OFFSET, BYTE_ORDER) & 0xffff;
    }

    /** Destination port of a flow. Returns 0 for fragments. */
    public int keyDestinationPort(final int cell) {
        return buffer.getShort(offset(cell) + SynopsisDescriptor.KEY_DESTINATION_PORT_OFFSET, BYTE_ORDER) & 0xffff;
    }

    /** Transport protocol of a flow. */
    public int keyProtocol(final int cell) {
        return buffer.getByte(offset(cell) + SynopsisDescriptor.KEY_PROTOCOL_OFFSET) & 0xff;
    }

    /** IP version of a flow. Returns 4 or 6; {@link SynopsisVerifier} lets no other pass. */
    public int keyIpVersion(final int cell) {
        return buffer.getByte(offset(cell) + SynopsisDescriptor.KEY_IP_VERSION_OFFSET) & 0xff;
    }

    /** Traffic class of a flow. Returns of its first packet, 0 to 63. */
    public int keyClassIndex(final int cell) {
        return buffer.getShort(offset(cell) + SynopsisDescriptor.KEY_CLASS_INDEX_OFFSET, BYTE_ORDER) & 0xffff;
    }

    /** {@return where a cell lies in the image, in octets} */
    public int offset(final int cell) {
        return SynopsisDescriptor.PREAMBLE_LENGTH + cell * cellLength;
    }
}
