package io.flowlag.exporter.delay;

/**
 * Facts about two captures, known before they are measured. Immutable.
 *
 * @param digestBytes      of a packet, from its IP header on, that both captures hold.
 * @param joinedAboveBytes length of IP packets above which an offload joined them; {@link Integer#MAX_VALUE} if none did.
 * @param sides            direction of packets, where the captures hold both; else null.
 * @param isWhole          whether no packet was under way when the captures began and ended, so that their ends hide no loss.
 * @param matchedOneIn     of so many flows at most one is matched; a power of two, 1 for each.
 */
public record CaptureFacts(
    int digestBytes, int joinedAboveBytes, PacketSides sides, boolean isWhole, int matchedOneIn) {
    /** Nothing is known. */
    public static final CaptureFacts NONE = cutAt(Integer.MAX_VALUE);

    /**
     * Only the truncation of the captures is known.
     *
     * @param digestBytes of a packet that all captures hold.
     */
    public static CaptureFacts cutAt(final int digestBytes) {
        return new CaptureFacts(digestBytes, Integer.MAX_VALUE, null, false, 1);
    }

    /** {@return the same, with all packets in one direction} */
    public CaptureFacts oneWay() {
        return new CaptureFacts(digestBytes, joinedAboveBytes, null, isWhole, matchedOneIn);
    }

    /**
     * The same with fewer matched flows.
     *
     * @param oneIn of so many flows one is matched.
     */
    public CaptureFacts matchingOneIn(final int oneIn) {
        return new CaptureFacts(digestBytes, joinedAboveBytes, sides, isWhole, oneIn);
    }
}
