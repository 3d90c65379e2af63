package io.flowlag.exporter.exchange.wire;

import org.agrona.DirectBuffer;
import org.agrona.MutableDirectBuffer;

import static io.flowlag.exporter.exchange.wire.ExchangeHeader.BYTE_ORDER;

/**
 * INTERVAL_BEGIN: what the interval that follows consists of.
 * <pre>
 *   0  intervalNumber    8   signed
 *   8  intervalNs        8   at least 1
 *  16  receiverInstance  8   whose settings the sender held in the interval
 *  24  settingsNumber    4
 *  28  sketchCount       4   0-{@link ExchangeSettings#MAX_SKETCHES}
 *  32  inFlightCount     4   digests that IN_FLIGHT messages bring, not negative
 *  36  flowCount         4   of FLOW_SUMS, not negative
 *  40  witnessCount      4   of WITNESS, not negative
 *  44  errorEstimate     2   of the sender's clock, as a STAMP packet has it (RFC 4656 section 4.1.2); 0 if it says nothing
 *  46  flags             2   bit 0: packets of the interval may be among those that the sender's point lost; the others 0
 * </pre>
 */
public final class IntervalBeginMessage extends MessageFlyweight<IntervalBeginMessage> {
    private static final int BODY = ExchangeHeader.LENGTH_BYTES;
    private static final int NUMBER_OFFSET = 0;
    private static final int INTERVAL_NS_OFFSET = NUMBER_OFFSET + 8;
    private static final int INSTANCE_OFFSET = INTERVAL_NS_OFFSET + 8;
    private static final int SETTINGS_OFFSET = INSTANCE_OFFSET + 8;
    private static final int SKETCHES_OFFSET = SETTINGS_OFFSET + 4;
    private static final int IN_FLIGHT_OFFSET = SKETCHES_OFFSET + 4;
    private static final int FLOWS_OFFSET = IN_FLIGHT_OFFSET + 4;
    private static final int WITNESSES_OFFSET = FLOWS_OFFSET + 4;
    private static final int ERROR_ESTIMATE_OFFSET = WITNESSES_OFFSET + 4;
    private static final int FLAGS_OFFSET = ERROR_ESTIMATE_OFFSET + 2;
    private static final int BODY_BYTES = FLAGS_OFFSET + 2;
    private static final int FLAG_DAMAGED = 1;

    /** Writes a message at the buffer's begin; the setters change its counts, which are 0, and the rest. */
    public static int encode(
        final MutableDirectBuffer buffer, final long intervalNumber, final ExchangeSettings settings,
        final long receiverInstance) {
        buffer.setMemory(BODY, BODY_BYTES, (byte)0);
        buffer.putLong(BODY + NUMBER_OFFSET, intervalNumber, BYTE_ORDER);
        buffer.putLong(BODY + INTERVAL_NS_OFFSET, settings.intervalNs(), BYTE_ORDER);
        buffer.putLong(BODY + INSTANCE_OFFSET, receiverInstance, BYTE_ORDER);
        buffer.putInt(BODY + SETTINGS_OFFSET, settings.number(), BYTE_ORDER);
        return ExchangeHeader.encode(buffer, 0, MessageType.INTERVAL_BEGIN, BODY_BYTES);
    }

    /**
     * Sets how much of the interval follows.
     *
     * @param type of the messages that bring it: CELLS for sketches, else one of the lists.
     */
    public static void count(final MutableDirectBuffer buffer, final MessageType type, final int count) {
        buffer.putInt(BODY + switch (type) {
            case CELLS -> SKETCHES_OFFSET;
            case IN_FLIGHT -> IN_FLIGHT_OFFSET;
            case FLOW_SUMS -> FLOWS_OFFSET;
            default -> WITNESSES_OFFSET;
        }, count, BYTE_ORDER);
    }

    public static void errorEstimate(final MutableDirectBuffer buffer, final int errorEstimate) {
        buffer.putShort(BODY + ERROR_ESTIMATE_OFFSET, (short)errorEstimate, BYTE_ORDER);
    }

    public static void damaged(final MutableDirectBuffer buffer) {
        buffer.putShort(BODY + FLAGS_OFFSET, (short)FLAG_DAMAGED, BYTE_ORDER);
    }

    static ExchangeResult verify(final DirectBuffer buffer, final int body, final int bodyBytes) {
        if (bodyBytes != BODY_BYTES) {
            return ExchangeResult.LENGTH;
        }
        if ((buffer.getShort(body + FLAGS_OFFSET, BYTE_ORDER) & ~FLAG_DAMAGED) != 0) {
            return ExchangeResult.RESERVED;
        }
        if (buffer.getLong(body + INTERVAL_NS_OFFSET, BYTE_ORDER) < 1) {
            return ExchangeResult.VALUE;
        }
        final int sketchCount = buffer.getInt(body + SKETCHES_OFFSET, BYTE_ORDER);
        final int negative = buffer.getInt(body + IN_FLIGHT_OFFSET, BYTE_ORDER) |
            buffer.getInt(body + FLOWS_OFFSET, BYTE_ORDER) | buffer.getInt(body + WITNESSES_OFFSET, BYTE_ORDER);
        return sketchCount < 0 || sketchCount > ExchangeSettings.MAX_SKETCHES || negative < 0 ?
            ExchangeResult.COUNT : ExchangeResult.ACCEPTED;
    }

    public long intervalNumber() {
        return longInteger(NUMBER_OFFSET);
    }

    public long intervalNs() {
        return longInteger(INTERVAL_NS_OFFSET);
    }

    public long receiverInstance() {
        return longInteger(INSTANCE_OFFSET);
    }

    public int settingsNumber() {
        return integer(SETTINGS_OFFSET);
    }

    public int sketchCount() {
        return integer(SKETCHES_OFFSET);
    }

    public int inFlightCount() {
        return integer(IN_FLIGHT_OFFSET);
    }

    public int flowCount() {
        return integer(FLOWS_OFFSET);
    }

    public int witnessCount() {
        return integer(WITNESSES_OFFSET);
    }

    public int errorEstimate() {
        return integer(ERROR_ESTIMATE_OFFSET) & 0xffff;
    }

    public boolean isDamaged() {
        return (integer(ERROR_ESTIMATE_OFFSET) >>> 16 & FLAG_DAMAGED) != 0;
    }
}
