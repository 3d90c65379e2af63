package io.flowlag.rli.reference;

/** What a {@link ReferenceVerifier} says of a packet on the reference port. */
public enum ReferenceVerdict {
    /** A reference of ours. */
    ACCEPTED("references_accepted", "Verified reference packets."),
    /** Cut, or shorter than a test packet. */
    TOO_SHORT("references_too_short", "Refused: cut, or shorter than a STAMP test packet."),
    /** Of a session that is not configured. */
    UNKNOWN_SESSION("references_unknown_session", "Refused: session identifier is not configured."),
    /** Of a known session, from an address that is not the session's. */
    WRONG_SOURCE("references_wrong_source", "Refused: source address is not that of the session."),
    /** The HMAC of the base packet is wrong: forged or damaged. */
    BAD_MAC("references_bad_mac", "Refused: HMAC is wrong, forged or damaged."),
    /** A TLV runs over the end, has a wrong length or is one too many. */
    BAD_EXTENSION("references_bad_extension", "Refused: TLVs are malformed."),
    /** The HMAC of the TLVs is missing, misplaced or wrong. */
    BAD_EXTENSION_MAC("references_bad_extension_mac", "Refused: HMAC of the TLVs is missing or wrong."),
    /** Timestamp in PTP format. */
    WRONG_TIMESTAMP_FORMAT("references_wrong_timestamp_format", "Refused: timestamp is in PTP format, not NTP."),
    /** Sent longer ago than a packet may be under way: replayed, or clocks that differ. */
    LATE("references_late", "Refused: timestamp is older than the maximum delay, or number is below the replay window."),
    /** Sent in the future by more than clocks may differ. */
    EARLY("references_early", "Refused: timestamp is in the future by more than the allowed clock difference."),
    /** The sequence number was seen: replayed, or duplicated on the way. */
    REPLAYED("references_replayed", "Refused: sequence number seen before, replayed or duplicated on the way.");

    private final String label;
    private final String sentence;

    ReferenceVerdict(final String label, final String sentence) {
        this.label = label;
        this.sentence = sentence;
    }

    /** {@return the name of its counter} */
    public String label() {
        return label;
    }

    /** {@return what its counter counts} */
    public String sentence() {
        return sentence;
    }
}
