package io.flowlag.exporter.decode;

import org.agrona.DirectBuffer;
import org.agrona.MutableDirectBuffer;

/**
 * The layout of a verified reference packet between capture and metering: a {@link PacketDescriptor} of kind {@link
 * PacketDescriptor#KIND_REFERENCE} that holds the reference's fields in place of addresses and ports. All other fields of the
 * descriptor stay.
 * <pre>
 *   0  stampNs                   8   that it carries, UNIX epoch
 *   8  followUpSentNs            8   effective send time of an earlier reference, valid with hasFollowUp
 *  16  sequenceNumber            4
 *  20  followUpSequenceNumber    4   of the earlier reference, valid with hasFollowUp
 *  24  streamIndex               2   index of the session: one sender and one class
 *  26  hasFollowUp               1   1 or 0
 *  27  (unused)                  1
 *  28  errorEstimate             2   of the sender's clock, as STAMP has it
 *  30  segmentIndex              2   0 where a process has one segment
 *  32  as in PacketDescriptor   80   timestampNs is that of its arrival
 * </pre>
 * Fields are in the byte order of the machine. Stateless; safe from any thread.
 */
public final class DecodedReference {
    private static final int STAMP_NS_OFFSET = 0;
    private static final int FOLLOW_UP_SENT_NS_OFFSET = STAMP_NS_OFFSET + 8;
    private static final int SEQUENCE_NUMBER_OFFSET = FOLLOW_UP_SENT_NS_OFFSET + 8;
    private static final int FOLLOW_UP_SEQUENCE_NUMBER_OFFSET = SEQUENCE_NUMBER_OFFSET + 4;
    private static final int STREAM_INDEX_OFFSET = FOLLOW_UP_SEQUENCE_NUMBER_OFFSET + 4;
    private static final int HAS_FOLLOW_UP_OFFSET = STREAM_INDEX_OFFSET + 2;
    private static final int ERROR_ESTIMATE_OFFSET = HAS_FOLLOW_UP_OFFSET + 2;
    private static final int SEGMENT_INDEX_OFFSET = ERROR_ESTIMATE_OFFSET + 2;

    private DecodedReference() {
    }

    /** Turns a packet's descriptor into that of a reference without a follow-up, of a stream from 0 to 65535. */
    public static void encode(
        final MutableDirectBuffer buffer, final int offset, final int streamIndex, final int sequenceNumber,
        final long stampNs) {
        PacketDescriptor.kind(buffer, offset, PacketDescriptor.KIND_REFERENCE);
        buffer.putLong(offset + STAMP_NS_OFFSET, stampNs);
        buffer.putInt(offset + SEQUENCE_NUMBER_OFFSET, sequenceNumber);
        buffer.putShort(offset + STREAM_INDEX_OFFSET, (short)streamIndex);
        buffer.putByte(offset + HAS_FOLLOW_UP_OFFSET, (byte)0);
        buffer.putShort(offset + ERROR_ESTIMATE_OFFSET, (short)0);
        buffer.putShort(offset + SEGMENT_INDEX_OFFSET, (short)0);
    }

    /** Sets stream and segment, each from 0 to 65535, in place of a stream among those of several segments. */
    public static void segment(
        final MutableDirectBuffer buffer, final int offset, final int segmentIndex, final int streamIndex) {
        buffer.putShort(offset + SEGMENT_INDEX_OFFSET, (short)segmentIndex);
        buffer.putShort(offset + STREAM_INDEX_OFFSET, (short)streamIndex);
    }

    /** Reads the index of the segment whose stream it is. */
    public static int segmentIndex(final DirectBuffer buffer, final int offset) {
        return buffer.getShort(offset + SEGMENT_INDEX_OFFSET) & 0xFFFF;
    }

    /** Adds the sender's clock error: 16 bits, see {@link io.flowlag.rli.reference.ErrorEstimate}. */
    public static void errorEstimate(final MutableDirectBuffer buffer, final int offset, final int errorEstimate) {
        buffer.putShort(offset + ERROR_ESTIMATE_OFFSET, (short)errorEstimate);
    }

    /**
     * Reads the sender's clock error. Returns 16 bits, see {@link io.flowlag.rli.reference.ErrorEstimate}; 0 if it reports
     * none.
     */
    public static int errorEstimate(final DirectBuffer buffer, final int offset) {
        return buffer.getShort(offset + ERROR_ESTIMATE_OFFSET) & 0xFFFF;
    }

    /** Adds the effective send time of an earlier reference: when it passed the sender point. */
    public static void followUp(
        final MutableDirectBuffer buffer, final int offset, final int sequenceNumber, final long sentNs) {
        buffer.putLong(offset + FOLLOW_UP_SENT_NS_OFFSET, sentNs);
        buffer.putInt(offset + FOLLOW_UP_SEQUENCE_NUMBER_OFFSET, sequenceNumber);
        buffer.putByte(offset + HAS_FOLLOW_UP_OFFSET, (byte)1);
    }

    public static int streamIndex(final DirectBuffer buffer, final int offset) {
        return buffer.getShort(offset + STREAM_INDEX_OFFSET) & 0xFFFF;
    }

    public static int sequenceNumber(final DirectBuffer buffer, final int offset) {
        return buffer.getInt(offset + SEQUENCE_NUMBER_OFFSET);
    }

    /** Reads the stamp that the reference carries, UNIX epoch, ns. */
    public static long stampNs(final DirectBuffer buffer, final int offset) {
        return buffer.getLong(offset + STAMP_NS_OFFSET);
    }

    /** Whether the reference carries the effective send time of an earlier one. */
    public static boolean hasFollowUp(final DirectBuffer buffer, final int offset) {
        return buffer.getByte(offset + HAS_FOLLOW_UP_OFFSET) != 0;
    }

    /** Reads the earlier reference's number; valid with a follow-up. */
    public static int followUpSequenceNumber(final DirectBuffer buffer, final int offset) {
        return buffer.getInt(offset + FOLLOW_UP_SEQUENCE_NUMBER_OFFSET);
    }

    /** Reads the earlier reference's effective send time, UNIX epoch, ns; valid with a follow-up. */
    public static long followUpSentNs(final DirectBuffer buffer, final int offset) {
        return buffer.getLong(offset + FOLLOW_UP_SENT_NS_OFFSET);
    }
}
