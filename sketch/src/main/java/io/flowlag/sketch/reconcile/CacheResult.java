package io.flowlag.sketch.reconcile;

/** Result of offering a packet to a {@link PacketCache}. */
public enum CacheResult {
    /** It is the first of its identifier. */
    CACHED,
    /** One more of an identifier that is there, of the same flow: a duplicate, or an equal retransmission. */
    COPY,
    /** One more of an identifier that is there, but of another flow: two packets with one digest. */
    COLLISION,
    /** The identifier has more copies than can be counted: it is left out of everything. */
    SATURATED,
    /** Its flow is not in the sample. */
    NOT_SAMPLED
}
