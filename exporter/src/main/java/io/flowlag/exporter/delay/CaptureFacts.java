package io.flowlag.exporter.delay;

/**
 * What is known of two captures before they are measured. Immutable.
 *
 * @param digestBytes      of a packet, from its IP header on, that both captures hold.
 * @param joinedAboveBytes length of IP packets above which an offload joined them; {@link Integer#MAX_VALUE} if none did.
 * @param sides            which way packets go, where the captures hold both directions; else null.
 * @param isWhole          whether no packet was under way when the captures began and ended, so that their ends hide no loss.
 */
public record CaptureFacts(
    int digestBytes, int joinedAboveBytes, PacketSides sides, boolean isWhole) {
    /** Nothing is known. */
    public static final CaptureFacts NONE =
        new CaptureFacts(Integer.MAX_VALUE, Integer.MAX_VALUE, null, false);

    /** {@return the same, but all packets are taken to go one way} */
    public CaptureFacts oneWay() {
        return new CaptureFacts(digestBytes, joinedAboveBytes, null, isWhole);
    }
}
