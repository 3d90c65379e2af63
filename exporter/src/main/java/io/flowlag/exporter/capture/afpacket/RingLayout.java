package io.flowlag.exporter.capture.afpacket;

import io.flowlag.common.time.Nanoseconds;
import io.flowlag.exporter.capture.CapturedPacket;
import org.agrona.MutableDirectBuffer;
import org.agrona.concurrent.UnsafeBuffer;

import java.nio.ByteOrder;

/**
 * The kernel's structures in the ring: {@code struct tpacket_block_desc}, {@code struct tpacket3_hdr} and the {@code struct
 * sockaddr_ll} behind it, of Linux's {@code if_packet.h}; fields in the byte order of the machine.
 * <pre>
 *   block                              frame                                 address, 48 octets behind the frame
 *     0  version               4         0  offset of the next frame  4         0  family              2
 *     4  offset of private     4         4  seconds                   4         2  protocol            2  network order
 *     8  status                4         8  nanoseconds               4         4  interface           4
 *    12  frame count           4        12  captured length           4         8  hardware type       2
 *    16  offset of 1st frame   4        16  length                    4        10  packet type         1
 *    20  length                4        20  status                    4        11  address length      1
 *    24  sequence number       8        24  offset of link header     2        12  address             8
 *    32  timestamps           16        26  offset of network header  2
 *                                       28  hash                      4
 *                                       32  VLAN TCI                  4
 *                                       36  VLAN TPID                 2
 *                                       38  padding                  10
 * </pre>
 * The status of a block names its owner; reading it acquires and writing it releases all other fields. Stateless.
 */
final class RingLayout {
    /** Of a block: the process may read it, and must return it. */
    static final int STATUS_USER = 1;
    /** Of a block: the kernel may write it. */
    static final int STATUS_KERNEL = 0;
    /** Of a frame: the VLAN TCI is valid. */
    static final int STATUS_VLAN_VALID = 1 << 4;
    /** Of a frame: the VLAN TPID is valid. */
    static final int STATUS_VLAN_TPID_VALID = 1 << 6;
    /** Of a frame: the timestamp is the card's. */
    static final int STATUS_STAMPED_BY_CARD = 1 << 31;

    /** Length of the Linux cooked header that replaces a link header. */
    static final int COOKED_HEADER_LENGTH_BYTES = 16;

    private static final int BLOCK_STATUS_OFFSET = 8;
    private static final int BLOCK_FRAME_COUNT_OFFSET = BLOCK_STATUS_OFFSET + 4;
    private static final int BLOCK_FIRST_FRAME_OFFSET = BLOCK_FRAME_COUNT_OFFSET + 4;

    private static final int FRAME_NEXT_OFFSET = 0;
    private static final int FRAME_SECONDS_OFFSET = FRAME_NEXT_OFFSET + 4;
    private static final int FRAME_NANOSECONDS_OFFSET = FRAME_SECONDS_OFFSET + 4;
    private static final int FRAME_CAPTURED_LENGTH_OFFSET = FRAME_NANOSECONDS_OFFSET + 4;
    private static final int FRAME_LENGTH_OFFSET = FRAME_CAPTURED_LENGTH_OFFSET + 4;
    private static final int FRAME_STATUS_OFFSET = FRAME_LENGTH_OFFSET + 4;
    private static final int FRAME_LINK_HEADER_OFFSET = FRAME_STATUS_OFFSET + 4;
    private static final int FRAME_VLAN_TCI_OFFSET = FRAME_LINK_HEADER_OFFSET + 8;
    private static final int FRAME_VLAN_TPID_OFFSET = FRAME_VLAN_TCI_OFFSET + 4;
    private static final int FRAME_HEADER_LENGTH_BYTES = FRAME_VLAN_TPID_OFFSET + 12;

    private static final int ADDRESS_PROTOCOL_OFFSET = FRAME_HEADER_LENGTH_BYTES + 2;
    private static final int ADDRESS_HARDWARE_TYPE_OFFSET = ADDRESS_PROTOCOL_OFFSET + 6;
    private static final int ADDRESS_PACKET_TYPE_OFFSET = ADDRESS_HARDWARE_TYPE_OFFSET + 2;
    private static final int ADDRESS_LENGTH_OFFSET = ADDRESS_PACKET_TYPE_OFFSET + 1;
    private static final int ADDRESS_OCTETS_OFFSET = ADDRESS_LENGTH_OFFSET + 1;

    private static final int COOKED_HARDWARE_TYPE_OFFSET = 2;
    private static final int COOKED_ADDRESS_LENGTH_OFFSET = COOKED_HARDWARE_TYPE_OFFSET + 2;
    private static final int COOKED_ADDRESS_OFFSET = COOKED_ADDRESS_LENGTH_OFFSET + 2;
    private static final int COOKED_PROTOCOL_OFFSET = COOKED_ADDRESS_OFFSET + 8;

    private static final ByteOrder ORDER = ByteOrder.nativeOrder();
    private static final int TPID_8021Q = 0x8100;

    private RingLayout() {
    }

    static int packetType(final UnsafeBuffer ring, final int frame) {
        return ring.getByte(frame + ADDRESS_PACKET_TYPE_OFFSET);
    }

    static int blockStatusAcquire(final UnsafeBuffer ring, final int block) {
        return ring.getIntAcquire(block + BLOCK_STATUS_OFFSET);
    }

    static void releaseBlock(final UnsafeBuffer ring, final int block) {
        ring.putIntRelease(block + BLOCK_STATUS_OFFSET, STATUS_KERNEL);
    }

    /** The number of frames in a block. While the kernel fills the block, this count visibly grows. */
    static int blockFrameCount(final UnsafeBuffer ring, final int block) {
        return ring.getIntVolatile(block + BLOCK_FRAME_COUNT_OFFSET);
    }

    static int blockFirstFrame(final UnsafeBuffer ring, final int block) {
        return block + ring.getInt(block + BLOCK_FIRST_FRAME_OFFSET, ORDER);
    }

    static int nextFrame(final UnsafeBuffer ring, final int frame) {
        return frame + ring.getInt(frame + FRAME_NEXT_OFFSET, ORDER);
    }

    static long timestampNs(final UnsafeBuffer ring, final int frame) {
        return (ring.getInt(frame + FRAME_SECONDS_OFFSET, ORDER) & 0xffff_ffffL) * Nanoseconds.PER_SECOND +
            ring.getInt(frame + FRAME_NANOSECONDS_OFFSET, ORDER);
    }

    static int capturedLengthBytes(final UnsafeBuffer ring, final int frame) {
        return ring.getInt(frame + FRAME_CAPTURED_LENGTH_OFFSET, ORDER);
    }

    static int lengthBytes(final UnsafeBuffer ring, final int frame) {
        return ring.getInt(frame + FRAME_LENGTH_OFFSET, ORDER);
    }

    static int status(final UnsafeBuffer ring, final int frame) {
        return ring.getInt(frame + FRAME_STATUS_OFFSET, ORDER);
    }

    static boolean isStampedByCard(final int status) {
        return (status & STATUS_STAMPED_BY_CARD) != 0;
    }

    static int firstOctet(final UnsafeBuffer ring, final int frame) {
        return frame + (ring.getShort(frame + FRAME_LINK_HEADER_OFFSET, ORDER) & 0xffff);
    }

    static int vlanTag(final UnsafeBuffer ring, final int frame, final int status) {
        if ((status & STATUS_VLAN_VALID) == 0) {
            return CapturedPacket.NO_VLAN_TAG;
        }
        final int tpid = (status & STATUS_VLAN_TPID_VALID) != 0 ?
            ring.getShort(frame + FRAME_VLAN_TPID_OFFSET, ORDER) & 0xffff : TPID_8021Q;
        return tpid << 16 | ring.getInt(frame + FRAME_VLAN_TCI_OFFSET, ORDER) & 0xffff;
    }

    /**
     * Writes a Linux cooked header (version 1, all fields in network order) before the octets of a frame that has no link
     * header. The kernel leaves 28 octets of room there.
     */
    static void putCookedHeader(final MutableDirectBuffer ring, final int frame, final int header) {
        ring.putShort(header, ring.getByte(frame + ADDRESS_PACKET_TYPE_OFFSET), ByteOrder.BIG_ENDIAN);
        ring.putShort(header + COOKED_HARDWARE_TYPE_OFFSET,
            ring.getShort(frame + ADDRESS_HARDWARE_TYPE_OFFSET, ORDER), ByteOrder.BIG_ENDIAN);
        ring.putShort(header + COOKED_ADDRESS_LENGTH_OFFSET,
            ring.getByte(frame + ADDRESS_LENGTH_OFFSET), ByteOrder.BIG_ENDIAN);
        ring.putLong(header + COOKED_ADDRESS_OFFSET, ring.getLong(frame + ADDRESS_OCTETS_OFFSET, ORDER), ORDER);
        ring.putShort(header + COOKED_PROTOCOL_OFFSET,
            ring.getShort(frame + ADDRESS_PROTOCOL_OFFSET, ByteOrder.BIG_ENDIAN), ByteOrder.BIG_ENDIAN);
    }
}
