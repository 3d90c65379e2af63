package io.flowlag.rli.reference;

/** What a {@link ReferenceVerifier} says of a packet on the reference port. */
public enum ReferenceVerdict {
    /** A reference of ours. */
    ACCEPTED,
    /** Cut, or shorter than a test packet. */
    TOO_SHORT,
    /** Of a session that is not configured. */
    UNKNOWN_SESSION,
    /** Of a known session, from an address that is not the session's. */
    WRONG_SOURCE,
    /** The HMAC of the base packet is wrong: forged or damaged. */
    BAD_MAC,
    /** A TLV runs over the end, has a wrong length or is one too many. */
    BAD_EXTENSION,
    /** The HMAC of the TLVs is missing, misplaced or wrong. */
    BAD_EXTENSION_MAC,
    /** Timestamp in PTP format. */
    WRONG_TIMESTAMP_FORMAT,
    /** Sent longer ago than a packet may be under way: replayed, or clocks that differ. */
    LATE,
    /** Sent in the future by more than clocks may differ. */
    EARLY,
    /** The sequence number was seen: replayed, or duplicated on the way. */
    REPLAYED
}
