package io.flowlag.rli.reference;

/** Verdict of a {@link ReferenceVerifier} on a packet on the reference port. */
public enum ReferenceVerdict {
    /** A valid reference. */
    ACCEPTED,
    /** Cut, or shorter than a test packet. */
    TOO_SHORT,
    /** Of a session that is not configured. */
    UNKNOWN_SESSION,
    /** Of a known session, from an address that is not the session's. */
    WRONG_SOURCE,
    /** The HMAC of the base packet is wrong: forged or damaged. */
    BAD_MAC,
    /** Not the next one of its session, in a flood of packets with a wrong HMAC: refused without a look at its own. */
    UNCHECKED,
    /** A TLV exceeds the packet, has a wrong length, or is redundant. */
    BAD_EXTENSION,
    /** The HMAC of the TLVs is missing, misplaced or wrong. */
    BAD_EXTENSION_MAC,
    /** Timestamp in PTP format. */
    WRONG_TIMESTAMP_FORMAT,
    /** Sent longer ago than the maximum delay: replayed, or the clocks differ. */
    LATE,
    /** Sent in the future by more than clocks may differ. */
    EARLY,
    /** The sequence number was seen: replayed, or duplicated on the way. */
    REPLAYED
}
