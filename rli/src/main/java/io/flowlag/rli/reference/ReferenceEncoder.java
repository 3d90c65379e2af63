package io.flowlag.rli.reference;

import io.flowlag.common.time.NtpTimestamp;
import org.agrona.MutableDirectBuffer;

import java.nio.ByteOrder;

import static io.flowlag.rli.reference.ReferenceDescriptor.FOLLOW_UP_LENGTH_BYTES;
import static io.flowlag.rli.reference.ReferenceDescriptor.FOLLOW_UP_METHOD_OFFSET;
import static io.flowlag.rli.reference.ReferenceDescriptor.FOLLOW_UP_SEQUENCE_NUMBER_OFFSET;
import static io.flowlag.rli.reference.ReferenceDescriptor.FOLLOW_UP_TIMESTAMP_OFFSET;
import static io.flowlag.rli.reference.ReferenceDescriptor.HMAC_OFFSET;
import static io.flowlag.rli.reference.ReferenceDescriptor.SEQUENCE_NUMBER_OFFSET;
import static io.flowlag.rli.reference.ReferenceDescriptor.TLV_FLAGS_OFFSET;
import static io.flowlag.rli.reference.ReferenceDescriptor.TLV_FLAG_UNRECOGNIZED;
import static io.flowlag.rli.reference.ReferenceDescriptor.TLV_HEADER_LENGTH_BYTES;
import static io.flowlag.rli.reference.ReferenceDescriptor.TLV_HMAC_LENGTH_BYTES;
import static io.flowlag.rli.reference.ReferenceDescriptor.TLV_HMAC_OFFSET;
import static io.flowlag.rli.reference.ReferenceDescriptor.TLV_TYPE_EXTRA_PADDING;
import static io.flowlag.rli.reference.ReferenceDescriptor.TLV_TYPE_FOLLOW_UP;
import static io.flowlag.rli.reference.ReferenceDescriptor.TLV_TYPE_HMAC;
import static io.flowlag.rli.reference.ReferenceDescriptor.TLV_TYPE_OFFSET;
import static io.flowlag.rli.reference.ReferenceDescriptor.TLV_VALUE_LENGTH_OFFSET;

/**
 * Writes a reference packet in the layout of {@link ReferenceDescriptor}: wrap, the fields of the base packet in any order,
 * {@link #followUp} if there is one, then {@link #sign} for an authenticated packet, then {@link #extraPadding} if wanted. One
 * thread; the caller owns the buffer. Allocates: never.
 */
public final class ReferenceEncoder {
    private static final ByteOrder WIRE_ORDER = ByteOrder.BIG_ENDIAN;

    private MutableDirectBuffer buffer;
    private int offset;
    private int limit;
    private int tlvLengthBytes;
    private boolean authenticated;

    /** Not wrapped. */
    public ReferenceEncoder() {
    }

    /**
     * The longest packet without padding.
     *
     * @param authenticated or not.
     * @return octets of a packet with a follow-up.
     */
    public static int maximumLengthBytes(final boolean authenticated) {
        return ReferenceDescriptor.baseLengthBytes(authenticated) + FOLLOW_UP_LENGTH_BYTES +
            (authenticated ? TLV_HMAC_LENGTH_BYTES : 0);
    }

    /** Begins a packet, all zero: authenticated with 112 octets and HMAC, or 44 octets without. */
    public ReferenceEncoder wrap(final MutableDirectBuffer buffer, final int offset, final boolean authenticated) {
        this.buffer = buffer;
        this.offset = offset;
        this.authenticated = authenticated;
        tlvLengthBytes = 0;
        limit = offset + ReferenceDescriptor.baseLengthBytes(authenticated);
        buffer.setMemory(offset, limit - offset, (byte)0);
        return this;
    }

    /** Writes the sequence number, unsigned, from 0 on in each session. */
    public ReferenceEncoder sequenceNumber(final int sequenceNumber) {
        buffer.putInt(offset + SEQUENCE_NUMBER_OFFSET, sequenceNumber, WIRE_ORDER);
        return this;
    }

    /** Writes the timestamp, ns since 1970, in NTP format. */
    public ReferenceEncoder stampNs(final long stampNs) {
        buffer.putLong(
            offset + ReferenceDescriptor.timestampOffset(authenticated), NtpTimestamp.ofEpochNs(stampNs), WIRE_ORDER);
        return this;
    }

    /** Writes the error estimate, as {@link ErrorEstimate#of} makes it. */
    public ReferenceEncoder errorEstimate(final int errorEstimate) {
        buffer.putShort(
            offset + ReferenceDescriptor.errorEstimateOffset(authenticated), (short)errorEstimate, WIRE_ORDER);
        return this;
    }

    /** Writes the STAMP session identifier, 1 to 65535. */
    public ReferenceEncoder ssid(final int ssid) {
        buffer.putShort(offset + ReferenceDescriptor.ssidOffset(authenticated), (short)ssid, WIRE_ORDER);
        return this;
    }

    /**
     * Appends the effective send time of an earlier packet of the session as a Follow-Up Telemetry TLV.
     *
     * @param sentNs since 1970, ns.
     * @param method by which the time was taken.
     */
    public ReferenceEncoder followUp(final int sequenceNumber, final long sentNs, final TimestampMethod method) {
        final int tlv = beginTlv(TLV_TYPE_FOLLOW_UP, FOLLOW_UP_LENGTH_BYTES);
        buffer.putInt(tlv + FOLLOW_UP_SEQUENCE_NUMBER_OFFSET, sequenceNumber, WIRE_ORDER);
        buffer.putLong(tlv + FOLLOW_UP_TIMESTAMP_OFFSET, NtpTimestamp.ofEpochNs(sentNs), WIRE_ORDER);
        buffer.putByte(tlv + FOLLOW_UP_METHOD_OFFSET, method.code());
        tlvLengthBytes += FOLLOW_UP_LENGTH_BYTES;
        return this;
    }

    /** Writes the HMAC of the base packet, and that of the TLVs if there are any. Every other field must have been written. */
    public ReferenceEncoder sign(final ReferenceMac mac) {
        mac.begin().update(buffer, offset, HMAC_OFFSET).write(buffer, offset + HMAC_OFFSET);
        if (tlvLengthBytes > 0) {
            final int tlvs = limit - tlvLengthBytes;
            final int tlv = beginTlv(TLV_TYPE_HMAC, TLV_HMAC_LENGTH_BYTES);
            mac.begin()
                .update(buffer, offset + SEQUENCE_NUMBER_OFFSET, 4)
                .update(buffer, tlvs, tlvLengthBytes)
                .write(buffer, tlv + TLV_HMAC_OFFSET);
        }
        return this;
    }

    /**
     * Appends zeros as an Extra Padding TLV, so that references differ in size.
     *
     * @param valueLengthBytes without the four octets of the TLV's header.
     */
    public ReferenceEncoder extraPadding(final int valueLengthBytes) {
        beginTlv(TLV_TYPE_EXTRA_PADDING, TLV_HEADER_LENGTH_BYTES + valueLengthBytes);
        return this;
    }

    /** {@return octets of the packet so far} */
    public int encodedLength() {
        return limit - offset;
    }

    private int beginTlv(final int type, final int lengthBytes) {
        final int tlv = limit;
        buffer.setMemory(tlv, lengthBytes, (byte)0);
        buffer.putByte(tlv + TLV_FLAGS_OFFSET, TLV_FLAG_UNRECOGNIZED);
        buffer.putByte(tlv + TLV_TYPE_OFFSET, (byte)type);
        buffer.putShort(tlv + TLV_VALUE_LENGTH_OFFSET, (short)(lengthBytes - TLV_HEADER_LENGTH_BYTES), WIRE_ORDER);
        limit = tlv + lengthBytes;
        return tlv;
    }
}
