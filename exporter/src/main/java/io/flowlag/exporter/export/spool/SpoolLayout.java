package io.flowlag.exporter.export.spool;

import org.agrona.DirectBuffer;
import org.agrona.MutableDirectBuffer;

import java.nio.ByteBuffer;
import java.util.zip.CRC32C;

import static java.nio.ByteOrder.LITTLE_ENDIAN;

/**
 * The octets of a spool's files; little-endian. A segment is a header and frames:
 * <pre>
 *  header   0 magic (8) | 8 version (4) | 12 length of the header (4) | 16 number of the segment (8) |
 *           24 CRC-32C of 0..23 (4) | 28 0 (4)
 *  frame    0 length of the payload (4) | 4 kind (4) | 8 CRC-32C (4) | 12 payload
 *  kind 1   a template:  0 key (4) | 4 fields (4) | 8 for each field: element id (4), length (4), enterprise number (4)
 *  kind 2   a record:    0 key of its template (4) | 4 the record as in a Data Set
 * </pre>
 * A frame's checksum covers segment number, kind and payload, so a frame of another segment is invalid. Each segment has a
 * template before its first record. Stateless.
 */
final class SpoolLayout {
    static final int HEADER_LENGTH_BYTES = 32;
    static final int FRAME_HEADER_LENGTH_BYTES = 12;
    static final int TEMPLATE_KIND = 1;
    static final int RECORD_KIND = 2;
    static final int MAX_PAYLOAD_BYTES = 65_536;
    static final int RECORD_OFFSET = 4;
    static final int FIELDS_OFFSET = 8;
    static final int FIELD_LENGTH_BYTES = 12;

    private static final long MAGIC = 0x4C4F_4F50_5347_4C46L; // "FLGSPOOL"
    private static final int VERSION = 1;
    private static final int VERSION_OFFSET = 8;
    private static final int HEADER_LENGTH_OFFSET = 12;
    private static final int NUMBER_OFFSET = 16;
    private static final int HEADER_CHECKSUM_OFFSET = 24;
    private static final int KIND_OFFSET = 4;
    private static final int CHECKSUM_OFFSET = 8;

    private SpoolLayout() {
    }

    static void putHeader(final MutableDirectBuffer buffer, final long segmentNumber) {
        buffer.setMemory(0, HEADER_LENGTH_BYTES, (byte)0);
        buffer.putLong(0, MAGIC, LITTLE_ENDIAN);
        buffer.putInt(VERSION_OFFSET, VERSION, LITTLE_ENDIAN);
        buffer.putInt(HEADER_LENGTH_OFFSET, HEADER_LENGTH_BYTES, LITTLE_ENDIAN);
        buffer.putLong(NUMBER_OFFSET, segmentNumber, LITTLE_ENDIAN);
        buffer.putInt(HEADER_CHECKSUM_OFFSET, headerChecksum(buffer), LITTLE_ENDIAN);
    }

    static boolean isHeader(final DirectBuffer buffer, final int lengthBytes, final long segmentNumber) {
        return lengthBytes >= HEADER_LENGTH_BYTES && buffer.getLong(0, LITTLE_ENDIAN) == MAGIC &&
            buffer.getInt(VERSION_OFFSET, LITTLE_ENDIAN) == VERSION &&
            buffer.getInt(HEADER_LENGTH_OFFSET, LITTLE_ENDIAN) == HEADER_LENGTH_BYTES &&
            buffer.getLong(NUMBER_OFFSET, LITTLE_ENDIAN) == segmentNumber &&
            buffer.getInt(HEADER_CHECKSUM_OFFSET, LITTLE_ENDIAN) == headerChecksum(buffer);
    }

    private static int headerChecksum(final DirectBuffer buffer) {
        final CRC32C checksum = new CRC32C();
        update(checksum, buffer, 0, HEADER_CHECKSUM_OFFSET);
        return (int)checksum.getValue();
    }

    /** Writes the header of a frame in front of its payload. */
    static void putFrameHeader(
        final MutableDirectBuffer buffer, final int offset, final long segmentNumber, final int kind, final int payloadBytes) {
        buffer.putInt(offset, payloadBytes, LITTLE_ENDIAN);
        buffer.putInt(offset + KIND_OFFSET, kind, LITTLE_ENDIAN);
        buffer.putInt(offset + CHECKSUM_OFFSET, checksum(buffer, offset, segmentNumber, kind, payloadBytes), LITTLE_ENDIAN);
    }

    static int payloadBytes(final DirectBuffer buffer, final int offset) {
        return buffer.getInt(offset, LITTLE_ENDIAN);
    }

    static int kind(final DirectBuffer buffer, final int offset) {
        return buffer.getInt(offset + KIND_OFFSET, LITTLE_ENDIAN);
    }

    /** Whether a complete frame passes its checksum. */
    static boolean isSound(final DirectBuffer buffer, final int offset, final long segmentNumber) {
        return buffer.getInt(offset + CHECKSUM_OFFSET, LITTLE_ENDIAN) ==
            checksum(buffer, offset, segmentNumber, kind(buffer, offset), payloadBytes(buffer, offset));
    }

    private static int checksum(
        final DirectBuffer buffer, final int offset, final long segmentNumber, final int kind, final int payloadBytes) {
        final CRC32C checksum = new CRC32C();
        for (int shift = 0; shift < Long.SIZE; shift += Byte.SIZE) {
            checksum.update((int)(segmentNumber >>> shift));
        }
        checksum.update(kind);
        update(checksum, buffer, offset + FRAME_HEADER_LENGTH_BYTES, payloadBytes);
        return (int)checksum.getValue();
    }

    private static void update(final CRC32C checksum, final DirectBuffer buffer, final int offset, final int lengthBytes) {
        final ByteBuffer octets = buffer.byteBuffer().duplicate();
        octets.limit(offset + lengthBytes).position(offset);
        checksum.update(octets);
    }
}
