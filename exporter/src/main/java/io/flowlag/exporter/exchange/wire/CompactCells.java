package io.flowlag.exporter.exchange.wire;

import org.agrona.DirectBuffer;
import org.agrona.MutableDirectBuffer;

import static io.flowlag.exporter.exchange.wire.ExchangeHeader.BYTE_ORDER;

/**
 * Cells of a sketch in fewer octets, without loss. For each cell one octet says how long its fields are, then the fields follow,
 * little-endian, without their leading zero octets.
 * <pre>
 *   0          an empty cell; one octet follows: how many empty cells come after it, 0-255
 *   otherwise  bits 0-3  octets of timestampSumNs, 0-8
 *              bits 4-6  octets of count, less 1: 1-8
 *              bit 7     1
 *              then timestampSumNs, count, digest (always 8), bytes: one octet says its length, 0-8, then itself
 * </pre>
 * A cell whose count is 0 and that is not empty has a count of one octet. Only the shortest form is legal, so that equal cells
 * are equal octets. Stateless, any thread; allocates never.
 */
final class CompactCells {
    static final int CELL_BYTES = 32;
    /** The most octets that a cell can take. */
    static final int MAX_CELL_BYTES = 1 + 8 + 8 + 8 + 1 + 8;
    private static final int MAX_RUN = 256;
    private static final int FULL_CELL = 0x80;
    private static final int MALFORMED = -1;

    private CompactCells() {
    }

    /** Encodes cells. Returns octets written. */
    static int encode(
        final DirectBuffer cells, final int cellsOffset, final int cellCount, final MutableDirectBuffer target,
        final int offset) {
        int position = offset;
        int cell = 0;
        while (cell < cellCount) {
            int run = 0;
            while (cell + run < cellCount && run < MAX_RUN && isEmpty(cells, cellsOffset + (cell + run) * CELL_BYTES)) {
                run++;
            }
            if (run > 0) {
                target.putByte(position, (byte)0);
                target.putByte(position + 1, (byte)(run - 1));
                position += 2;
                cell += run;
            } else {
                position += encodeCell(cells, cellsOffset + cell * CELL_BYTES, target, position);
                cell++;
            }
        }
        return position - offset;
    }

    private static int encodeCell(
        final DirectBuffer cells, final int cell, final MutableDirectBuffer target, final int offset) {
        final long timestampSumNs = cells.getLong(cell, BYTE_ORDER);
        final long count = cells.getLong(cell + 8, BYTE_ORDER);
        final long bytes = cells.getLong(cell + 24, BYTE_ORDER);
        final int timestampBytes = lengthBytes(timestampSumNs);
        final int countBytes = Math.max(1, lengthBytes(count));
        final int bytesBytes = lengthBytes(bytes);
        target.putByte(offset, (byte)(FULL_CELL | countBytes - 1 << 4 | timestampBytes));
        int position = put(target, offset + 1, timestampSumNs, timestampBytes);
        position = put(target, position, count, countBytes);
        target.putLong(position, cells.getLong(cell + 16, BYTE_ORDER), BYTE_ORDER);
        target.putByte(position + 8, (byte)bytesBytes);
        return put(target, position + 9, bytes, bytesBytes) - offset;
    }

    /** Checks that octets decode to cells, exactly. Returns true if they do. */
    static boolean verify(final DirectBuffer source, final int offset, final int lengthBytes, final int cellCount) {
        return decode(source, offset, lengthBytes, null, 0, cellCount) == lengthBytes;
    }

    /** Decodes what {@link #verify} has accepted; with null for the target it only looks. Returns octets read. */
    static int decode(
        final DirectBuffer source, final int offset, final int lengthBytes, final MutableDirectBuffer cells,
        final int cellsOffset, final int cellCount) {
        final int end = offset + lengthBytes;
        int position = offset;
        int cell = 0;
        boolean isAfterRun = false;
        while (cell < cellCount) {
            if (position + 2 > end) {
                return MALFORMED;
            }
            if (source.getByte(position) == 0) {
                final int run = 1 + (source.getByte(position + 1) & 0xff);
                if (run > cellCount - cell || isAfterRun) {
                    return MALFORMED;
                }
                if (cells != null) {
                    cells.setMemory(cellsOffset + cell * CELL_BYTES, run * CELL_BYTES, (byte)0);
                }
                isAfterRun = run < MAX_RUN;
                cell += run;
                position += 2;
            } else {
                final int next = decodeCell(source, position, end, cells, cellsOffset + cell * CELL_BYTES);
                if (next == MALFORMED) {
                    return MALFORMED;
                }
                isAfterRun = false;
                cell++;
                position = next;
            }
        }
        return position - offset;
    }

    private static int decodeCell(
        final DirectBuffer source, final int offset, final int end, final MutableDirectBuffer cells, final int cell) {
        final int control = source.getByte(offset) & 0xff;
        final int timestampBytes = control & 0xf;
        final int countBytes = 1 + (control >> 4 & 0x7);
        final int digestOffset = offset + 1 + timestampBytes + countBytes;
        if ((control & FULL_CELL) == 0 || timestampBytes > 8 || digestOffset + 9 > end) {
            return MALFORMED;
        }
        final int bytesBytes = source.getByte(digestOffset + 8) & 0xff;
        final int next = digestOffset + 9 + bytesBytes;
        if (bytesBytes > 8 || next > end) {
            return MALFORMED;
        }
        final long timestampSumNs = get(source, offset + 1, timestampBytes);
        final long count = get(source, offset + 1 + timestampBytes, countBytes);
        final long digest = source.getLong(digestOffset, BYTE_ORDER);
        final long bytes = get(source, digestOffset + 9, bytesBytes);
        if (lengthBytes(timestampSumNs) != timestampBytes || Math.max(1, lengthBytes(count)) != countBytes ||
            lengthBytes(bytes) != bytesBytes || (timestampSumNs | count | digest | bytes) == 0) {
            return MALFORMED;
        }
        if (cells != null) {
            cells.putLong(cell, timestampSumNs, BYTE_ORDER);
            cells.putLong(cell + 8, count, BYTE_ORDER);
            cells.putLong(cell + 16, digest, BYTE_ORDER);
            cells.putLong(cell + 24, bytes, BYTE_ORDER);
        }
        return next;
    }

    private static boolean isEmpty(final DirectBuffer cells, final int cell) {
        return (cells.getLong(cell) | cells.getLong(cell + 8) | cells.getLong(cell + 16) | cells.getLong(cell + 24)) == 0;
    }

    private static int lengthBytes(final long value) {
        return 8 - Long.numberOfLeadingZeros(value) / 8;
    }

    private static int put(final MutableDirectBuffer target, final int offset, final long value, final int lengthBytes) {
        for (int i = 0; i < lengthBytes; i++) {
            target.putByte(offset + i, (byte)(value >>> 8 * i));
        }
        return offset + lengthBytes;
    }

    /** Eight octets at once where there are as many, whatever they are behind the value. */
    private static long get(final DirectBuffer source, final int offset, final int lengthBytes) {
        if (lengthBytes == 0) {
            return 0;
        }
        if (offset <= source.capacity() - Long.BYTES) {
            return source.getLong(offset, BYTE_ORDER) & -1L >>> Long.SIZE - lengthBytes * Byte.SIZE;
        }
        long value = 0;
        for (int i = 0; i < lengthBytes; i++) {
            value |= (source.getByte(offset + i) & 0xffL) << 8 * i;
        }
        return value;
    }
}
