package io.flowlag.exporter.capture.afpacket;

/**
 * The memory that an eBPF program and the process share: a ring of records for each processor, one behind the other. Fields are
 * in the byte order of the machine. Positions count octets and only grow; a record lies at its position modulo the size of the
 * ring, a power of two, and is never split: one that begins in the ring may end behind it, and the next begins at 0.
 * <pre>
 *   ring                                          record, at multiples of 8
 *     0  head: position behind the records  8       0  time, ns, CLOCK_MONOTONIC   8
 *     8  base: none before it is unread     8       8  captured length             4
 *    16  records written                    8      12  length                      4
 *    24  packets lost for want of room      8      16  VLAN TCI                    2
 *    32  packets lost of processors         8      18  VLAN TPID, network order    2
 *        without a ring; of the first ring         20  whether there is a tag      1
 *   128  tail: position of the reader       8      21  packet type                 1
 *   256  records                                   22  padding                     2
 *                                                  24  octets
 * </pre>
 * The program writes all but the tail. The head is published last; a program that finds all read
 * begins at 0 again, so that a reader that keeps up uses little of the ring, which stays in the processor's cache. Stateless.
 */
final class ProcessorLayout {
    static final int HEAD_OFFSET = 0;
    static final int BASE_OFFSET = 8;
    static final int WRITTEN_OFFSET = 16;
    static final int LOST_OFFSET = 24;
    static final int OTHERS_LOST_OFFSET = 32;
    static final int TAIL_OFFSET = 128;
    static final int RECORDS_OFFSET = 256;

    static final int TIME_OFFSET = 0;
    static final int CAPTURED_LENGTH_OFFSET = 8;
    static final int LENGTH_OFFSET = 12;
    static final int VLAN_TCI_OFFSET = 16;
    static final int VLAN_TPID_OFFSET = 18;
    static final int VLAN_PRESENT_OFFSET = 20;
    static final int PACKET_TYPE_OFFSET = 21;
    static final int OCTETS_OFFSET = 24;

    /** The smallest ring. */
    private static final int MIN_BYTES = 4096;
    /** A record takes this share of the memory at most: a longer packet is cut. */
    private static final int LEAST_RECORDS = 4;

    private ProcessorLayout() {
    }

    /** How many octets of a packet fit, of those wanted, if a processor has so much memory. */
    static int mostBytes(final int memoryBytes, final int snapLengthBytes) {
        return Math.min(snapLengthBytes, memoryBytes / LEAST_RECORDS);
    }

    /** {@return the size of a ring, a power of two; 0 if it is too small} */
    static int ringBytes(final int memoryBytes, final int mostBytes) {
        final int bytes = Integer.highestOneBit(Math.max(0, memoryBytes - RECORDS_OFFSET - OCTETS_OFFSET - mostBytes));
        return bytes < MIN_BYTES ? 0 : bytes;
    }

    /** {@return octets from one processor's ring to the next one's} */
    static int strideBytes(final int ringBytes, final int mostBytes) {
        return RECORDS_OFFSET + ringBytes + recordBytes(mostBytes);
    }

    static int recordBytes(final int capturedBytes) {
        return OCTETS_OFFSET + capturedBytes + 7 & -8;
    }

    /** {@return the position behind a record} */
    static long next(final long position, final int ringBytes, final int capturedBytes) {
        final int recordBytes = recordBytes(capturedBytes);
        return (position & ringBytes - 1) + recordBytes < ringBytes ?
            position + recordBytes : (position | ringBytes - 1) + 1;
    }
}
