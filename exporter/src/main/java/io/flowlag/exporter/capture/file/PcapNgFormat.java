package io.flowlag.exporter.capture.file;

import org.agrona.DirectBuffer;

import java.nio.ByteOrder;

/**
 * Layout of a pcapng file (draft-ietf-opsawg-pcapng): blocks, each in the byte order of its section.
 * <pre>
 *   every block            0  type | 4  total length | 8  body, padded to 32 bits | total length again
 *   section header         8  byte-order magic | 12  major, minor version | 16  section length | 24  options
 *   interface description  8  link type | 10  reserved | 12  snapshot length | 16  options
 *   enhanced packet        8  interface | 12  time, upper half | 16  lower half | 20  captured | 24  wire length | 28  octets
 *   simple packet          8  wire length | 12  octets
 *   packet (obsolete)      8  interface (16), drops (16) | 12.. as enhanced packet
 *   option                 0  code | 2  length | 4  value, padded to 32 bits
 * </pre>
 * Stateless; never allocates.
 */
final class PcapNgFormat {
    /** Reads the same in both byte orders. */
    static final int SECTION_HEADER = 0x0a0d0d0a;
    static final int INTERFACE_DESCRIPTION = 1;
    static final int OBSOLETE_PACKET = 2;
    static final int SIMPLE_PACKET = 3;
    static final int ENHANCED_PACKET = 6;
    static final int BYTE_ORDER_MAGIC = 0x1a2b3c4d;
    static final int MAJOR_VERSION = 1;
    /** The largest block type that the registry numbers upwards from 1; all others have a high bit set or are reserved. */
    static final int MAX_COMMON_TYPE = 0xff;

    static final int TYPE_OFFSET = 0;
    static final int TOTAL_LENGTH_OFFSET = TYPE_OFFSET + 4;
    static final int BODY_OFFSET = TOTAL_LENGTH_OFFSET + 4;
    static final int BLOCK_HEADER_LENGTH_BYTES = BODY_OFFSET;
    static final int TRAILER_LENGTH_BYTES = 4;
    static final int MIN_BLOCK_LENGTH_BYTES = BLOCK_HEADER_LENGTH_BYTES + TRAILER_LENGTH_BYTES;

    static final int BYTE_ORDER_OFFSET = BODY_OFFSET;
    static final int MAJOR_VERSION_OFFSET = BYTE_ORDER_OFFSET + 4;
    static final int MINOR_VERSION_OFFSET = MAJOR_VERSION_OFFSET + 2;
    static final int SECTION_LENGTH_OFFSET = MINOR_VERSION_OFFSET + 2;
    static final int SECTION_OPTIONS_OFFSET = SECTION_LENGTH_OFFSET + 8;
    static final int MIN_SECTION_LENGTH_BYTES = SECTION_OPTIONS_OFFSET + TRAILER_LENGTH_BYTES;

    static final int LINK_TYPE_OFFSET = BODY_OFFSET;
    static final int SNAPSHOT_LENGTH_OFFSET = LINK_TYPE_OFFSET + 4;
    static final int INTERFACE_OPTIONS_OFFSET = SNAPSHOT_LENGTH_OFFSET + 4;
    static final int MIN_INTERFACE_LENGTH_BYTES = INTERFACE_OPTIONS_OFFSET + TRAILER_LENGTH_BYTES;

    static final int INTERFACE_ID_OFFSET = BODY_OFFSET;
    static final int TIME_UPPER_OFFSET = INTERFACE_ID_OFFSET + 4;
    static final int TIME_LOWER_OFFSET = TIME_UPPER_OFFSET + 4;
    static final int CAPTURED_LENGTH_OFFSET = TIME_LOWER_OFFSET + 4;
    static final int WIRE_LENGTH_OFFSET = CAPTURED_LENGTH_OFFSET + 4;
    static final int PACKET_OFFSET = WIRE_LENGTH_OFFSET + 4;
    static final int MIN_PACKET_LENGTH_BYTES = PACKET_OFFSET + TRAILER_LENGTH_BYTES;

    static final int SIMPLE_WIRE_LENGTH_OFFSET = BODY_OFFSET;
    static final int SIMPLE_PACKET_OFFSET = SIMPLE_WIRE_LENGTH_OFFSET + 4;
    static final int MIN_SIMPLE_LENGTH_BYTES = SIMPLE_PACKET_OFFSET + TRAILER_LENGTH_BYTES;

    static final int OPTION_CODE_OFFSET = 0;
    static final int OPTION_LENGTH_OFFSET = OPTION_CODE_OFFSET + 2;
    static final int OPTION_VALUE_OFFSET = OPTION_LENGTH_OFFSET + 2;
    static final int OPTION_END = 0;
    static final int OPTION_TIME_RESOLUTION = 9;
    static final int OPTION_TIME_OFFSET = 14;
    static final int TIME_RESOLUTION_LENGTH_BYTES = 1;
    static final int TIME_OFFSET_LENGTH_BYTES = 8;

    private PcapNgFormat() {
    }

    /** {@return whether a block of this type begins here} */
    static boolean isSectionHeader(final DirectBuffer buffer, final int index) {
        return buffer.getInt(index + TYPE_OFFSET, ByteOrder.BIG_ENDIAN) == SECTION_HEADER;
    }

    /** The byte order of a section header block, or null if the byte-order magic is wrong. */
    static ByteOrder byteOrder(final DirectBuffer buffer, final int index) {
        if (buffer.getInt(index + BYTE_ORDER_OFFSET, ByteOrder.LITTLE_ENDIAN) == BYTE_ORDER_MAGIC) {
            return ByteOrder.LITTLE_ENDIAN;
        }
        return buffer.getInt(index + BYTE_ORDER_OFFSET, ByteOrder.BIG_ENDIAN) == BYTE_ORDER_MAGIC
            ? ByteOrder.BIG_ENDIAN : null;
    }
}
