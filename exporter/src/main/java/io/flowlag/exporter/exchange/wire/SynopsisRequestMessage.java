package io.flowlag.exporter.exchange.wire;

import io.flowlag.exporter.delay.interval.repair.SynopsisRequest;
import io.flowlag.sketch.reconcile.PacketCache;
import org.agrona.DirectBuffer;
import org.agrona.MutableDirectBuffer;

import static io.flowlag.exporter.exchange.wire.ExchangeHeader.BYTE_ORDER;

/**
 * SYNOPSIS_REQUEST: what the receiver asks about a class's packets of an interval, or a piece of it where it names many packets.
 * <pre>
 *   0  intervalNumber   8   signed
 *   8  flowThreshold    8   0-2^32: the flows of this rank and above are not asked for
 *  16  requestId        4   the answer has it too
 *  20  settingsNumber   4   that the interval is of
 *  24  kind             1   0 estimator, 1 aggregator, 2 packets, 3 keys of flows
 *  25  banks            1   of the aggregator, 1-8; else 0
 *  26  classIndex       2   0-63, or -1: packets of all classes
 *  28  cells            4   of each bank, 1 or more; else 0
 *  32  totalCount       4   packets or flows that are asked for in all pieces; 0 unless kind is 2 or 3
 *  36  firstIndex       4   of the first packet or flow of this piece
 *  40  identifiers      8   each, of flows their hashes; 0-{@value #MAX_COUNT}
 * </pre>
 */
public final class SynopsisRequestMessage extends MessageFlyweight<SynopsisRequestMessage> {
    /** Packets or flows of one message. */
    public static final int MAX_COUNT = ExchangeHeader.MAX_PAYLOAD_BYTES / Long.BYTES;
    private static final int MAX_BANKS = 8;
    private static final int MAX_TOTAL = 1 << 24;
    private static final int NUMBER_OFFSET = 0;
    private static final int THRESHOLD_OFFSET = NUMBER_OFFSET + 8;
    private static final int REQUEST_OFFSET = THRESHOLD_OFFSET + 8;
    private static final int SETTINGS_OFFSET = REQUEST_OFFSET + 4;
    private static final int KIND_OFFSET = SETTINGS_OFFSET + 4;
    private static final int BANKS_OFFSET = KIND_OFFSET + 1;
    private static final int CLASS_OFFSET = BANKS_OFFSET + 1;
    private static final int CELLS_OFFSET = CLASS_OFFSET + 2;
    private static final int TOTAL_OFFSET = CELLS_OFFSET + 4;
    private static final int FIRST_OFFSET = TOTAL_OFFSET + 4;
    private static final int IDENTIFIERS_OFFSET = FIRST_OFFSET + 4;

    /** Encodes a piece, from the first index on. */
    public static int encode(
        final MutableDirectBuffer buffer, final int offset, final int requestId, final int settingsNumber,
        final SynopsisRequest request, final int firstIndex) {
        final int body = offset + ExchangeHeader.LENGTH_BYTES;
        final int count = Math.min(MAX_COUNT, request.count() - firstIndex);
        buffer.putLong(body + NUMBER_OFFSET, request.intervalNumber(), BYTE_ORDER);
        buffer.putLong(body + THRESHOLD_OFFSET, request.flowThreshold(), BYTE_ORDER);
        buffer.putInt(body + REQUEST_OFFSET, requestId, BYTE_ORDER);
        buffer.putInt(body + SETTINGS_OFFSET, settingsNumber, BYTE_ORDER);
        buffer.putByte(body + KIND_OFFSET, (byte)request.kind().ordinal());
        buffer.putByte(body + BANKS_OFFSET, (byte)request.banks());
        buffer.putShort(body + CLASS_OFFSET, (short)request.classIndex(), BYTE_ORDER);
        buffer.putInt(body + CELLS_OFFSET, request.cells(), BYTE_ORDER);
        buffer.putInt(body + TOTAL_OFFSET, request.count(), BYTE_ORDER);
        buffer.putInt(body + FIRST_OFFSET, firstIndex, BYTE_ORDER);
        for (int i = 0; i < count; i++) {
            buffer.putLong(body + IDENTIFIERS_OFFSET + i * Long.BYTES, request.identifier(firstIndex + i), BYTE_ORDER);
        }
        return ExchangeHeader.encode(buffer, offset, MessageType.SYNOPSIS_REQUEST, IDENTIFIERS_OFFSET + count * Long.BYTES);
    }

    static ExchangeResult verify(final DirectBuffer buffer, final int body, final int bodyBytes) {
        if (bodyBytes < IDENTIFIERS_OFFSET || (bodyBytes - IDENTIFIERS_OFFSET) % Long.BYTES != 0) {
            return ExchangeResult.LENGTH;
        }
        final int count = (bodyBytes - IDENTIFIERS_OFFSET) / Long.BYTES;
        final int total = buffer.getInt(body + TOTAL_OFFSET, BYTE_ORDER);
        final int first = buffer.getInt(body + FIRST_OFFSET, BYTE_ORDER);
        if (total < 0 || total > MAX_TOTAL || first < 0 || first > total || count != Math.min(MAX_COUNT, total - first)) {
            return ExchangeResult.COUNT;
        }
        final int kind = buffer.getByte(body + KIND_OFFSET);
        final boolean isAggregator = SynopsisRequest.Kind.AGGREGATOR.ordinal() == kind;
        final boolean isPackets = kind >= SynopsisRequest.Kind.PACKETS.ordinal();
        if (kind < 0 || kind > SynopsisRequest.Kind.FLOWS.ordinal() || isPackets != total > 0 || total > 0 && count == 0) {
            return ExchangeResult.VALUE;
        }
        final int banks = buffer.getByte(body + BANKS_OFFSET);
        final int cells = buffer.getInt(body + CELLS_OFFSET, BYTE_ORDER);
        if (isAggregator ? banks < 1 || banks > MAX_BANKS || cells < 1 : banks != 0 || cells != 0) {
            return ExchangeResult.GEOMETRY;
        }
        final long threshold = buffer.getLong(body + THRESHOLD_OFFSET, BYTE_ORDER);
        final int classIndex = buffer.getShort(body + CLASS_OFFSET, BYTE_ORDER);
        return threshold < 0 || threshold > 1L << Integer.SIZE || classIndex < PacketCache.ANY_CLASS ||
            classIndex > PacketCache.MAX_CLASS_INDEX ?
            ExchangeResult.VALUE : ExchangeResult.ACCEPTED;
    }

    public int requestId() {
        return integer(REQUEST_OFFSET);
    }

    public int settingsNumber() {
        return integer(SETTINGS_OFFSET);
    }

    public int totalCount() {
        return integer(TOTAL_OFFSET);
    }

    public int firstIndex() {
        return integer(FIRST_OFFSET);
    }

    /** Reads the piece into a request; later pieces continue it. False if it does not fit. */
    public boolean read(final SynopsisRequest request) {
        final long number = longInteger(NUMBER_OFFSET);
        final long threshold = longInteger(THRESHOLD_OFFSET);
        final int classIndex = (short)unsignedShort(CLASS_OFFSET);
        if (firstIndex() == 0) {
            switch (SynopsisRequest.Kind.values()[octet(KIND_OFFSET)]) {
                case ESTIMATOR -> request.estimator(number, classIndex, threshold);
                case AGGREGATOR -> request.aggregator(number, classIndex, threshold, octet(BANKS_OFFSET), integer(CELLS_OFFSET));
                case PACKETS -> request.packets(number, classIndex, threshold);
                default -> request.flows(number, threshold);
            }
        } else if (octet(KIND_OFFSET) != request.kind().ordinal() || number != request.intervalNumber() ||
            firstIndex() != request.count()) {
            return false;
        }
        for (int at = IDENTIFIERS_OFFSET; at < body().capacity(); at += Long.BYTES) {
            if (!request.add(longInteger(at))) {
                return false;
            }
        }
        return true;
    }
}
