package io.flowlag.exporter.capture.file;

import org.agrona.DirectBuffer;

import java.nio.ByteOrder;

/**
 * Layout of a pcap file (draft-ietf-opsawg-pcap). Every field is in the writer's byte order, given by the magic number.
 * <pre>
 *   file header                            record header
 *   0  magic number                        0  seconds, unsigned
 *   4  major version  | minor version      4  µs or ns of the second
 *   8  zone, unused                        8  captured length
 *  12  accuracy, unused                   12  length on the wire
 *  16  snapshot length                    16  (modified format only) interface index, protocol, packet type
 *  20  FCS bits | link type (16)
 * </pre>
 * Stateless; never allocates.
 */
final class PcapFormat {
    static final int MAGIC_MICROSECONDS = 0xa1b2c3d4;
    static final int MAGIC_NANOSECONDS = 0xa1b23c4d;
    /** The record headers of Kuznetsov's patched libpcap have eight further octets. */
    static final int MAGIC_MODIFIED = 0xa1b2cd34;

    static final int MAGIC_OFFSET = 0;
    static final int MAJOR_VERSION_OFFSET = MAGIC_OFFSET + 4;
    static final int MINOR_VERSION_OFFSET = MAJOR_VERSION_OFFSET + 2;
    static final int ZONE_OFFSET = MINOR_VERSION_OFFSET + 2;
    static final int ACCURACY_OFFSET = ZONE_OFFSET + 4;
    static final int SNAPSHOT_LENGTH_OFFSET = ACCURACY_OFFSET + 4;
    static final int LINK_TYPE_OFFSET = SNAPSHOT_LENGTH_OFFSET + 4;
    static final int FILE_HEADER_LENGTH_BYTES = LINK_TYPE_OFFSET + 4;

    static final int SECONDS_OFFSET = 0;
    static final int FRACTION_OFFSET = SECONDS_OFFSET + 4;
    static final int CAPTURED_LENGTH_OFFSET = FRACTION_OFFSET + 4;
    static final int WIRE_LENGTH_OFFSET = CAPTURED_LENGTH_OFFSET + 4;
    static final int RECORD_HEADER_LENGTH_BYTES = WIRE_LENGTH_OFFSET + 4;
    static final int MODIFIED_INTERFACE_OFFSET = RECORD_HEADER_LENGTH_BYTES;
    static final int MODIFIED_RECORD_HEADER_LENGTH_BYTES = MODIFIED_INTERFACE_OFFSET + 8;

    static final int MAJOR_VERSION = 2;
    /** Written by one vendor's tcpdump, with the lengths of a record swapped. */
    static final int DGUX_MAJOR_VERSION = 543;
    /** Before this minor version the lengths of a record are swapped; in it they may be in either order. */
    static final int MIXED_LENGTHS_MINOR_VERSION = 3;

    /** Without the frame check sequence bits. */
    static final int LINK_TYPE_MASK = 0xffff;

    private PcapFormat() {
    }

    /** The byte order of a file, or null if the magic number is unknown. */
    static ByteOrder byteOrder(final DirectBuffer buffer, final int index) {
        if (isMagic(buffer.getInt(index + MAGIC_OFFSET, ByteOrder.LITTLE_ENDIAN))) {
            return ByteOrder.LITTLE_ENDIAN;
        }
        return isMagic(buffer.getInt(index + MAGIC_OFFSET, ByteOrder.BIG_ENDIAN)) ? ByteOrder.BIG_ENDIAN : null;
    }

    private static boolean isMagic(final int magic) {
        return magic == MAGIC_MICROSECONDS || magic == MAGIC_NANOSECONDS || magic == MAGIC_MODIFIED;
    }
}
