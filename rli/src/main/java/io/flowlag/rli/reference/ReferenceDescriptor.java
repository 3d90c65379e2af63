package io.flowlag.rli.reference;

/**
 * The layout of a reference packet, which is a STAMP Session-Sender test packet: RFC 8762 sections 4.2.1 and 4.2.2 with the
 * session identifier of RFC 8972 section 3. All fields are big-endian.
 * <pre>
 * unauthenticated, 44 octets            authenticated, 112 octets
 *   0  sequenceNumber      4              0  sequenceNumber      4
 *   4  timestamp           8  NTP         4  (zero)             12
 *  12  errorEstimate       2             16  timestamp           8  NTP
 *  14  ssid                2             24  errorEstimate       2
 *  16  (zero)             28             26  ssid                2
 *                                        28  (zero)             68
 *                                        96  hmac               16  over octets 0 to 95
 * </pre>
 * Behind the base packet come TLVs (RFC 8972 section 4), each with a header of four octets:
 * <pre>
 *   0  flags               1   U = 0x80 is set by the sender of a test packet, M = 0x40, I = 0x20
 *   1  type                1   1 Extra Padding, 7 Follow-Up Telemetry, 8 HMAC
 *   2  valueLength         2
 *
 * Follow-Up Telemetry (section 4.7)     HMAC (section 4.8)
 *   4  sequenceNumber      4              4  hmac               16  over the base packet's sequence number
 *   8  timestamp           8  NTP                                   and all TLVs before this one
 *  16  timestampMethod     1
 *  17  (zero)              3
 * </pre>
 * An authenticated packet with TLVs other than Extra Padding has an HMAC TLV behind them; only Extra Padding may follow it.
 *
 * <p>In RFC 8972 a Session-Sender leaves the Follow-Up Telemetry empty for the reflector to fill in. Here nothing is reflected,
 * and the sender fills it in for the receiver: an earlier reference's sequence number and effective send time. A reflector
 * overwrites both, as the RFC requires. Stateless, any thread; never allocates.
 */
final class ReferenceDescriptor {
    static final int BASE_LENGTH_BYTES = 44;
    static final int AUTHENTICATED_LENGTH_BYTES = 112;
    static final int HMAC_LENGTH_BYTES = 16;

    static final int SEQUENCE_NUMBER_OFFSET = 0;

    static final int TIMESTAMP_OFFSET = SEQUENCE_NUMBER_OFFSET + 4;
    static final int ERROR_ESTIMATE_OFFSET = TIMESTAMP_OFFSET + 8;
    static final int SSID_OFFSET = ERROR_ESTIMATE_OFFSET + 2;

    static final int AUTHENTICATED_TIMESTAMP_OFFSET = SEQUENCE_NUMBER_OFFSET + 4 + 12;
    static final int AUTHENTICATED_ERROR_ESTIMATE_OFFSET = AUTHENTICATED_TIMESTAMP_OFFSET + 8;
    static final int AUTHENTICATED_SSID_OFFSET = AUTHENTICATED_ERROR_ESTIMATE_OFFSET + 2;
    static final int HMAC_OFFSET = AUTHENTICATED_SSID_OFFSET + 2 + 68;

    static final int TLV_FLAGS_OFFSET = 0;
    static final int TLV_TYPE_OFFSET = TLV_FLAGS_OFFSET + 1;
    static final int TLV_VALUE_LENGTH_OFFSET = TLV_TYPE_OFFSET + 1;
    static final int TLV_HEADER_LENGTH_BYTES = TLV_VALUE_LENGTH_OFFSET + 2;

    static final byte TLV_FLAG_UNRECOGNIZED = (byte)0x80;
    static final int TLV_TYPE_EXTRA_PADDING = 1;
    static final int TLV_TYPE_FOLLOW_UP = 7;
    static final int TLV_TYPE_HMAC = 8;

    static final int FOLLOW_UP_SEQUENCE_NUMBER_OFFSET = TLV_HEADER_LENGTH_BYTES;
    static final int FOLLOW_UP_TIMESTAMP_OFFSET = FOLLOW_UP_SEQUENCE_NUMBER_OFFSET + 4;
    static final int FOLLOW_UP_METHOD_OFFSET = FOLLOW_UP_TIMESTAMP_OFFSET + 8;
    static final int FOLLOW_UP_LENGTH_BYTES = FOLLOW_UP_METHOD_OFFSET + 1 + 3;

    static final int TLV_HMAC_OFFSET = TLV_HEADER_LENGTH_BYTES;
    static final int TLV_HMAC_LENGTH_BYTES = TLV_HMAC_OFFSET + HMAC_LENGTH_BYTES;

    private ReferenceDescriptor() {
    }

    static int baseLengthBytes(final boolean authenticated) {
        return authenticated ? AUTHENTICATED_LENGTH_BYTES : BASE_LENGTH_BYTES;
    }

    static int timestampOffset(final boolean authenticated) {
        return authenticated ? AUTHENTICATED_TIMESTAMP_OFFSET : TIMESTAMP_OFFSET;
    }

    static int errorEstimateOffset(final boolean authenticated) {
        return authenticated ? AUTHENTICATED_ERROR_ESTIMATE_OFFSET : ERROR_ESTIMATE_OFFSET;
    }

    static int ssidOffset(final boolean authenticated) {
        return authenticated ? AUTHENTICATED_SSID_OFFSET : SSID_OFFSET;
    }
}
