package io.flowlag.exporter.delay;

/**
 * Facts about two captures, known before they are measured. Immutable.
 *
 * @param payloadBytes     that a packet's digest covers: fewer than all where the captures have cut packets.
 * @param digestBytes      of a packet, from its IP header on, that both captures hold.
 * @param joinedAboveBytes length of IP packets above which an offload joined them; {@link Integer#MAX_VALUE} if none did.
 * @param sides            direction of packets, where the captures hold both; else null.
 * @param isWhole          whether no packet was under way when the captures began and ended, so that their ends hide no loss.
 * @param matchedOneIn     of so many flows at most one is matched; a power of two, 1 for each.
 * @param pairs            segments between interfaces of one host, if there are several.
 */
public record CaptureFacts(
    int payloadBytes, int digestBytes, int joinedAboveBytes, PacketSides sides, boolean isWhole, int matchedOneIn,
    SegmentPairs pairs) {
    /** Nothing is known. */
    public static final CaptureFacts NONE = cutAt(Integer.MAX_VALUE);

    /** Only the truncation of the captures is known: so many octets of a packet are in all of them. */
    public static CaptureFacts cutAt(final int digestBytes) {
        return new CaptureFacts(
            DelayWiring.DIGEST_PAYLOAD_BYTES, digestBytes, Integer.MAX_VALUE, null, false, 1, SegmentPairs.NONE);
    }

    /** Facts of live packets of several segments. */
    public static CaptureFacts of(final SegmentPairs pairs) {
        return new CaptureFacts(DelayWiring.DIGEST_PAYLOAD_BYTES, Integer.MAX_VALUE, Integer.MAX_VALUE, null, false, 1, pairs);
    }

    /** {@return whether the captures hold both directions} */
    boolean areBothWays() {
        return sides != null;
    }

    /** {@return 1 for the backward direction where the captures hold both, else 0} */
    int otherWays() {
        return areBothWays() ? 1 : 0;
    }

    /** The same for digests that cover other octets of the payload. */
    public CaptureFacts withPayload(final int newPayloadBytes) {
        return new CaptureFacts(newPayloadBytes, digestBytes, joinedAboveBytes, sides, isWhole, matchedOneIn, pairs);
    }

    /** {@return the same, with all packets in one direction} */
    public CaptureFacts oneWay() {
        return new CaptureFacts(payloadBytes, digestBytes, joinedAboveBytes, null, isWhole, matchedOneIn, pairs);
    }

    /** The same with fewer matched flows: one of so many. */
    public CaptureFacts matchingOneIn(final int oneIn) {
        return new CaptureFacts(payloadBytes, digestBytes, joinedAboveBytes, sides, isWhole, oneIn, pairs);
    }
}
