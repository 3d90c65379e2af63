package io.flowlag.rli.reference;

import io.flowlag.common.time.NtpTimestamp;
import org.agrona.DirectBuffer;

import java.nio.ByteOrder;

import static io.flowlag.rli.reference.ReferenceDescriptor.FOLLOW_UP_METHOD_OFFSET;
import static io.flowlag.rli.reference.ReferenceDescriptor.FOLLOW_UP_SEQUENCE_NUMBER_OFFSET;
import static io.flowlag.rli.reference.ReferenceDescriptor.FOLLOW_UP_TIMESTAMP_OFFSET;
import static io.flowlag.rli.reference.ReferenceDescriptor.SEQUENCE_NUMBER_OFFSET;

/**
 * Reads a reference packet that a {@link ReferenceVerifier} has accepted. One thread; the octets stay the caller's. Allocates:
 * never.
 */
public final class ReferenceDecoder {
    private static final ByteOrder WIRE_ORDER = ByteOrder.BIG_ENDIAN;
    private static final int NO_FOLLOW_UP = -1;

    private DirectBuffer buffer;
    private int offset;
    private int followUpOffset = NO_FOLLOW_UP;
    private boolean authenticated;
    private long nearNs;

    /** Not wrapped. */
    public ReferenceDecoder() {
    }

    ReferenceDecoder wrap(final DirectBuffer buffer, final int offset, final boolean authenticated, final long nearNs) {
        this.buffer = buffer;
        this.offset = offset;
        this.authenticated = authenticated;
        this.nearNs = nearNs;
        followUpOffset = NO_FOLLOW_UP;
        return this;
    }

    /** Reads the sequence number of a packet made by this process. Returns the number, unsigned. */
    public static int sequenceNumberOf(final DirectBuffer buffer, final int offset) {
        return buffer.getInt(offset + SEQUENCE_NUMBER_OFFSET, WIRE_ORDER);
    }

    void followUpOffset(final int tlvOffset) {
        followUpOffset = tlvOffset;
    }

    /** {@return the sequence number, unsigned} */
    public int sequenceNumber() {
        return buffer.getInt(offset + SEQUENCE_NUMBER_OFFSET, WIRE_ORDER);
    }

    /** {@return when the sender made the packet, ns since 1970, in the NTP era nearest to the arrival} */
    public long stampNs() {
        return NtpTimestamp.toEpochNs(
            buffer.getLong(offset + ReferenceDescriptor.timestampOffset(authenticated), WIRE_ORDER), nearNs);
    }

    /** {@return the error of the timestamp, see {@link ErrorEstimate}} */
    public int errorEstimate() {
        return buffer.getShort(offset + ReferenceDescriptor.errorEstimateOffset(authenticated), WIRE_ORDER) & 0xFFFF;
    }

    /** {@return the session identifier} */
    public int ssid() {
        return buffer.getShort(offset + ReferenceDescriptor.ssidOffset(authenticated), WIRE_ORDER) & 0xFFFF;
    }

    /** {@return true if the packet carries the effective send time of an earlier one} */
    public boolean hasFollowUp() {
        return followUpOffset != NO_FOLLOW_UP;
    }

    /** {@return the sequence number of the earlier packet; only with a follow-up} */
    public int followUpSequenceNumber() {
        return buffer.getInt(followUpOffset + FOLLOW_UP_SEQUENCE_NUMBER_OFFSET, WIRE_ORDER);
    }

    /** {@return the effective send time of the earlier packet, ns since 1970; only with a follow-up} */
    public long followUpSentNs() {
        return NtpTimestamp.toEpochNs(buffer.getLong(followUpOffset + FOLLOW_UP_TIMESTAMP_OFFSET, WIRE_ORDER), nearNs);
    }

    /** {@return the {@link TimestampMethod#code} of the effective send time; only with a follow-up} */
    public int followUpMethod() {
        return buffer.getByte(followUpOffset + FOLLOW_UP_METHOD_OFFSET) & 0xFF;
    }

    boolean isFollowUpEmpty() {
        return buffer.getLong(followUpOffset + FOLLOW_UP_TIMESTAMP_OFFSET, WIRE_ORDER) == 0;
    }
}
