package io.flowlag.sketch.reconcile;

import io.flowlag.sketch.image.ImageHeader;

/**
 * Layout of a synopsis' image: {@link ImageHeader} with a preamble of 64 octets, the fields below, then the cells bank by bank.
 * The families are those of {@link SynopsisFamily}.
 * <pre>
 *  16  seedFingerprint    4
 *  20  reserved           4   0
 *  40  flowThreshold      8   0 to 2^32: the flows that are in it, see {@link FlowSample}
 *  48  packets            8   packets that were counted in; wraps
 *  64  cells
 *
 * cell of an RDA                                   cell of signed counts
 *   0  identifier         8   XOR                    0  value              8
 *   8  timestampSumNs     8   sum; wraps
 *  16  count              4   sum; wraps
 *  20  check              4   sum; wraps
 *
 * cell of missing packets
 *   0  identifier         8
 *   8  timestampSumNs     8   over all copies; wraps
 *  16  flowHash           8
 *  24  bytes              4   over all copies, unsigned
 *  28  copies             2   unsigned
 *  30  weight             2   bit 15: the copies are of different flows
 *
 * cell of flow keys
 *   0  flowHash           8
 *   8  source            16   high half, low half; of IPv4 the address is the low half, and the high half 0
 *  24  destination       16   likewise
 *  40  sourcePort         2   0 for fragments
 *  42  destinationPort    2   0 for fragments
 *  44  protocol           1
 *  45  ipVersion          1   4 or 6
 *  46  classIndex         2   of the first packet
 *  48  packets            8   in the interval
 * </pre>
 * The cells of sRDA, FineComb, MinHash and strata have the layouts of the laboratory, which alone fills and reads them.
 * Stateless, any thread; allocates never.
 */
public final class SynopsisDescriptor {
    /** Octets of the preamble. */
    public static final int PREAMBLE_LENGTH = 64;

    static final int SEED_FINGERPRINT_OFFSET = ImageHeader.COLUMNS_OFFSET + 4;
    static final int RESERVED_INT_OFFSET = SEED_FINGERPRINT_OFFSET + 4;
    static final int FLOW_THRESHOLD_OFFSET = ImageHeader.INTERVAL_NS_OFFSET + 8;
    static final int PACKETS_OFFSET = FLOW_THRESHOLD_OFFSET + 8;

    static final int CELL_IDENTIFIER_OFFSET = 0;
    static final int CELL_TIMESTAMP_SUM_OFFSET = CELL_IDENTIFIER_OFFSET + 8;
    static final int CELL_COUNT_OFFSET = CELL_TIMESTAMP_SUM_OFFSET + 8;
    static final int CELL_CHECK_OFFSET = CELL_COUNT_OFFSET + 4;
    static final int VALUE_OFFSET = 0;
    static final int MISSING_FLOW_HASH_OFFSET = CELL_TIMESTAMP_SUM_OFFSET + 8;
    static final int MISSING_BYTES_OFFSET = MISSING_FLOW_HASH_OFFSET + 8;
    static final int MISSING_COPIES_OFFSET = MISSING_BYTES_OFFSET + 4;
    static final int MISSING_WEIGHT_OFFSET = MISSING_COPIES_OFFSET + 2;
    /** Of the two octets of a missing packet's copies, as in the cache: bits 0-9 the copies, 10-15 the traffic class. */
    static final int MISSING_COPIES_MASK = 0x3ff;
    static final int MISSING_CLASS_SHIFT = 10;
    static final int MAX_CLASS_INDEX = 63;
    static final int MAX_WEIGHT = 32_767;

    static final int KEY_FLOW_HASH_OFFSET = 0;
    static final int KEY_SOURCE_OFFSET = KEY_FLOW_HASH_OFFSET + 8;
    static final int KEY_DESTINATION_OFFSET = KEY_SOURCE_OFFSET + 16;
    static final int KEY_SOURCE_PORT_OFFSET = KEY_DESTINATION_OFFSET + 16;
    static final int KEY_DESTINATION_PORT_OFFSET = KEY_SOURCE_PORT_OFFSET + 2;
    static final int KEY_PROTOCOL_OFFSET = KEY_DESTINATION_PORT_OFFSET + 2;
    static final int KEY_IP_VERSION_OFFSET = KEY_PROTOCOL_OFFSET + 1;
    static final int KEY_CLASS_INDEX_OFFSET = KEY_IP_VERSION_OFFSET + 1;
    static final int KEY_PACKETS_OFFSET = KEY_CLASS_INDEX_OFFSET + 2;

    private SynopsisDescriptor() {
    }

    static int totalCells(final SynopsisFamily family, final int banks, final int cells) {
        return family == SynopsisFamily.SRDA ? cells : banks * cells;
    }

    static long imageLength(final SynopsisFamily family, final int banks, final int cells) {
        final long rows = family == SynopsisFamily.SRDA ? 1 : banks;
        return PREAMBLE_LENGTH + rows * cells * family.cellLength();
    }
}
