package io.flowlag.rli.reference;

import org.agrona.DirectBuffer;
import org.agrona.collections.Int2IntHashMap;

import java.nio.ByteOrder;
import java.util.Arrays;
import java.util.List;

import static io.flowlag.rli.reference.ReferenceDescriptor.FOLLOW_UP_LENGTH_BYTES;
import static io.flowlag.rli.reference.ReferenceDescriptor.HMAC_OFFSET;
import static io.flowlag.rli.reference.ReferenceDescriptor.SEQUENCE_NUMBER_OFFSET;
import static io.flowlag.rli.reference.ReferenceDescriptor.TLV_HEADER_LENGTH_BYTES;
import static io.flowlag.rli.reference.ReferenceDescriptor.TLV_HMAC_LENGTH_BYTES;
import static io.flowlag.rli.reference.ReferenceDescriptor.TLV_HMAC_OFFSET;
import static io.flowlag.rli.reference.ReferenceDescriptor.TLV_TYPE_EXTRA_PADDING;
import static io.flowlag.rli.reference.ReferenceDescriptor.TLV_TYPE_FOLLOW_UP;
import static io.flowlag.rli.reference.ReferenceDescriptor.TLV_TYPE_HMAC;
import static io.flowlag.rli.reference.ReferenceDescriptor.TLV_TYPE_OFFSET;
import static io.flowlag.rli.reference.ReferenceDescriptor.TLV_VALUE_LENGTH_OFFSET;

/**
 * Decides whether the payload of a UDP datagram is a reference packet of this session. Only here are its octets untrusted. HMACs
 * are verified before anything but the session identifier is used (RFC 8762 section 4.4, RFC 8972 section 4.8). A refused packet
 * changes only a counter and is treated as a regular packet.
 *
 * <p>A flood of forged packets costs little: beyond {@value #FAILURES_PER_SECOND} wrong HMACs a second, only packets with one of
 * the next sequence numbers and a plausible time are verified.
 *
 * <p>An authenticated session cannot be forged. It can be replayed only within the sequence window and the maximum delay, where
 * each number counts once. An unauthenticated session can be forged by anyone who knows identifier, address and time.
 *
 * <p>One thread. The caller keeps ownership of the octets. Allocates at construction.
 */
public final class ReferenceVerifier {
    private static final ByteOrder WIRE_ORDER = ByteOrder.BIG_ENDIAN;
    private static final int MISSING = -1;
    private static final int MAXIMUM_TLVS = 8;
    private static final int FAILURES_PER_SECOND = 1000;
    private static final long BURST_NS = 1_000_000_000L;
    private static final long FAILURE_NS = BURST_NS / FAILURES_PER_SECOND;

    private final ReferenceSession[] sessions;
    /** By session: its current key and any next one; none if it is unauthenticated. Replaced as a whole. */
    private volatile ReferenceMac[][] macs;
    private final SequenceWindow[] windows;
    private final Int2IntHashMap sessionBySsid = new Int2IntHashMap(MISSING);
    /** By session: when the allowance of failures is whole again; a failure moves it by {@link #FAILURE_NS}. */
    private final long[] wholeAgainNs;
    private final long maximumDelayNs;
    private final long maximumAdvanceNs;
    private final long[] counts = new long[ReferenceVerdict.values().length];
    private final ReferenceDecoder decoder = new ReferenceDecoder();
    private long sourceHigh;
    private long sourceLow;
    private int sessionIndex = MISSING;

    /**
     * A verifier for a fixed set of sessions.
     *
     * @param sessions         in the order of their indexes.
     * @param maximumDelayNs   the longest that a reference may be under way, clock difference included; more than 0.
     * @param maximumAdvanceNs how far a timestamp may lie in the future, that is, by how much clocks may differ; 0 or more.
     */
    public ReferenceVerifier(
        final List<ReferenceSession> sessions, final long maximumDelayNs, final long maximumAdvanceNs) {
        if (maximumDelayNs <= 0 || maximumAdvanceNs < 0) {
            throw new IllegalArgumentException(
                "maximumDelayNs=" + maximumDelayNs + " maximumAdvanceNs=" + maximumAdvanceNs);
        }
        this.sessions = sessions.toArray(new ReferenceSession[0]);
        this.maximumDelayNs = maximumDelayNs;
        this.maximumAdvanceNs = maximumAdvanceNs;
        macs = macs(sessions);
        windows = new SequenceWindow[this.sessions.length];
        wholeAgainNs = new long[this.sessions.length];
        Arrays.fill(wholeAgainNs, Long.MIN_VALUE / 2);
        for (int i = 0; i < this.sessions.length; i++) {
            final ReferenceSession session = this.sessions[i];
            if (sessionBySsid.put(session.ssid(), i) != MISSING) {
                throw new IllegalArgumentException("ssid=" + session.ssid() + " is given twice");
            }
            windows[i] = new SequenceWindow(maximumDelayNs + maximumAdvanceNs);
        }
    }

    private static ReferenceMac[][] macs(final List<ReferenceSession> sessions) {
        return sessions.stream()
            .map((session) -> session.keys().stream().map(ReferenceMac::new).toArray(ReferenceMac[]::new))
            .toArray(ReferenceMac[][]::new);
    }

    /** Verifies with the keys of the same sessions as they are now. Any thread; allocates. */
    public void renew(final List<ReferenceSession> newer) {
        macs = macs(newer);
    }

    /**
     * Sets where the next payloads came from.
     *
     * @param high first eight octets of the source address; 0 for IPv4.
     * @param low  last eight octets; for IPv4 the address.
     */
    public ReferenceVerifier from(final long high, final long low) {
        sourceHigh = high;
        sourceLow = low;
        return this;
    }

    /**
     * Verifies a UDP payload, of which nothing but padding may be cut off.
     *
     * @param offset      of its first octet.
     * @param lengthBytes that were captured of it.
     * @param arrivalNs   when it was seen, ns since 1970.
     * @return {@link ReferenceVerdict#ACCEPTED}, and only then {@link #sessionIndex} and {@link #decoder} hold it; or why not.
     */
    public ReferenceVerdict verify(
        final DirectBuffer buffer, final int offset, final int lengthBytes, final int wholeBytes, final long arrivalNs) {
        sessionIndex = MISSING;
        ReferenceVerdict verdict = identify(buffer, offset, lengthBytes);
        if (verdict == ReferenceVerdict.ACCEPTED) {
            verdict = verifyOctets(buffer, offset, lengthBytes, wholeBytes, arrivalNs);
        }
        if (verdict == ReferenceVerdict.ACCEPTED) {
            verdict = verifyTime(arrivalNs);
        }
        counts[verdict.ordinal()]++;
        return verdict;
    }

    /** {@return the index of the session of the accepted packet} */
    public int sessionIndex() {
        return sessionIndex;
    }

    /** {@return the accepted packet, until the next call of verify} */
    public ReferenceDecoder decoder() {
        return decoder;
    }

    /** How often a verdict was given. */
    public long count(final ReferenceVerdict verdict) {
        return counts[verdict.ordinal()];
    }

    private ReferenceVerdict identify(final DirectBuffer buffer, final int offset, final int lengthBytes) {
        if (lengthBytes < ReferenceDescriptor.BASE_LENGTH_BYTES) {
            return ReferenceVerdict.TOO_SHORT;
        }
        int index = sessionAt(buffer, offset, false);
        if (index == MISSING) {
            index = sessionAt(buffer, offset, true);
        }
        if (index == MISSING) {
            return ReferenceVerdict.UNKNOWN_SESSION;
        }
        final ReferenceSession session = sessions[index];
        if (lengthBytes < ReferenceDescriptor.baseLengthBytes(session.isAuthenticated())) {
            return ReferenceVerdict.TOO_SHORT;
        }
        if (session.isSourceChecked() && (session.sourceHigh() != sourceHigh || session.sourceLow() != sourceLow)) {
            return ReferenceVerdict.WRONG_SOURCE;
        }
        sessionIndex = index;
        return ReferenceVerdict.ACCEPTED;
    }

    /** The identifier is at another place in authenticated packets, so a session is only found at its own place. */
    private int sessionAt(final DirectBuffer buffer, final int offset, final boolean authenticated) {
        final int ssid = buffer.getShort(offset + ReferenceDescriptor.ssidOffset(authenticated), WIRE_ORDER) & 0xFFFF;
        final int index = sessionBySsid.get(ssid);
        return index != MISSING && sessions[index].isAuthenticated() == authenticated ? index : MISSING;
    }

    private ReferenceVerdict verifyOctets(
        final DirectBuffer buffer, final int offset, final int lengthBytes, final int wholeBytes, final long arrivalNs) {
        final boolean authenticated = sessions[sessionIndex].isAuthenticated();
        decoder.wrap(buffer, offset, authenticated, arrivalNs);
        if (authenticated && isFlooded(arrivalNs) && !isExpected(arrivalNs)) {
            return ReferenceVerdict.UNCHECKED;
        }
        final ReferenceMac mac = authenticated ? matching(macs[sessionIndex], buffer, offset) : null;
        if (authenticated && mac == null) {
            onFailure(arrivalNs);
            return ReferenceVerdict.BAD_MAC;
        }
        if (ErrorEstimate.isPtp(decoder.errorEstimate())) {
            return ReferenceVerdict.WRONG_TIMESTAMP_FORMAT;
        }
        return verifyTlvs(
            buffer, offset, offset + ReferenceDescriptor.baseLengthBytes(authenticated), offset + lengthBytes,
            offset + Math.max(lengthBytes, wholeBytes), mac);
    }

    /** That of the first key that the packet is made with; null if it is made with none. */
    private static ReferenceMac matching(final ReferenceMac[] accepted, final DirectBuffer buffer, final int offset) {
        for (final ReferenceMac mac : accepted) {
            if (mac.begin().update(buffer, offset, HMAC_OFFSET).matches(buffer, offset + HMAC_OFFSET)) {
                return mac;
            }
        }
        return null;
    }

    /** Whether the allowance of failures is used up; it is whole if time went back. */
    private boolean isFlooded(final long arrivalNs) {
        final long usedNs = wholeAgainNs[sessionIndex] - arrivalNs;
        return usedNs > BURST_NS - FAILURE_NS && usedNs <= BURST_NS;
    }

    private void onFailure(final long arrivalNs) {
        final long usedNs = wholeAgainNs[sessionIndex] - arrivalNs;
        wholeAgainNs[sessionIndex] =
            arrivalNs + Math.min(BURST_NS, (usedNs > BURST_NS ? 0 : Math.max(0, usedNs)) + FAILURE_NS);
    }

    /** By octets that are not verified yet. */
    private boolean isExpected(final long arrivalNs) {
        final long delayNs = arrivalNs - decoder.stampNs();
        return windows[sessionIndex].isNext(decoder.sequenceNumber()) && delayNs <= maximumDelayNs &&
            delayNs >= -maximumAdvanceNs;
    }

    private ReferenceVerdict verifyTlvs(
        final DirectBuffer buffer, final int offset, final int firstTlv, final int end, final int wholeEnd,
        final ReferenceMac mac) {
        boolean isMacWanted = false;
        boolean isMacSeen = false;
        int tlv = firstTlv;
        for (int i = 0; tlv < end; i++) {
            final int lengthBytes = tlvLengthBytes(buffer, tlv, end, wholeEnd);
            if (lengthBytes == MISSING || i == MAXIMUM_TLVS) {
                return ReferenceVerdict.BAD_EXTENSION;
            }
            final int type = buffer.getByte(tlv + TLV_TYPE_OFFSET) & 0xFF;
            if (mac != null && type != TLV_TYPE_EXTRA_PADDING) {
                if (isMacSeen) {
                    return ReferenceVerdict.BAD_EXTENSION_MAC;
                }
                isMacWanted = true;
                if (type == TLV_TYPE_HMAC) {
                    isMacSeen = lengthBytes == TLV_HMAC_LENGTH_BYTES && mac.begin()
                        .update(buffer, offset + SEQUENCE_NUMBER_OFFSET, 4)
                        .update(buffer, firstTlv, tlv - firstTlv)
                        .matches(buffer, tlv + TLV_HMAC_OFFSET);
                    if (!isMacSeen) {
                        return ReferenceVerdict.BAD_EXTENSION_MAC;
                    }
                }
            }
            if (type == TLV_TYPE_FOLLOW_UP && !takeFollowUp(tlv, lengthBytes)) {
                return ReferenceVerdict.BAD_EXTENSION;
            }
            tlv += lengthBytes;
        }
        if (decoder.hasFollowUp() && decoder.isFollowUpEmpty()) {
            decoder.followUpOffset(MISSING);
        }
        return isMacWanted && !isMacSeen ? ReferenceVerdict.BAD_EXTENSION_MAC : ReferenceVerdict.ACCEPTED;
    }

    private static int tlvLengthBytes(final DirectBuffer buffer, final int tlv, final int end, final int wholeEnd) {
        if (end - tlv < TLV_HEADER_LENGTH_BYTES) {
            return MISSING;
        }
        final int lengthBytes =
            TLV_HEADER_LENGTH_BYTES + (buffer.getShort(tlv + TLV_VALUE_LENGTH_OFFSET, WIRE_ORDER) & 0xFFFF);
        final boolean isPadding = (buffer.getByte(tlv + TLV_TYPE_OFFSET) & 0xFF) == TLV_TYPE_EXTRA_PADDING;
        return lengthBytes > (isPadding ? wholeEnd : end) - tlv ? MISSING : lengthBytes;
    }

    private boolean takeFollowUp(final int tlv, final int lengthBytes) {
        if (lengthBytes != FOLLOW_UP_LENGTH_BYTES || decoder.hasFollowUp()) {
            return false;
        }
        decoder.followUpOffset(tlv);
        return true;
    }

    private ReferenceVerdict verifyTime(final long arrivalNs) {
        final long stampNs = decoder.stampNs();
        final long delayNs = arrivalNs - stampNs;
        if (delayNs > maximumDelayNs) {
            return ReferenceVerdict.LATE;
        }
        if (delayNs < -maximumAdvanceNs) {
            return ReferenceVerdict.EARLY;
        }
        return switch (windows[sessionIndex].offer(decoder.sequenceNumber(), stampNs, arrivalNs)) {
            case DUPLICATE -> ReferenceVerdict.REPLAYED;
            case TOO_OLD -> ReferenceVerdict.LATE;
            default -> ReferenceVerdict.ACCEPTED;
        };
    }
}
