package io.flowlag.exporter.listing;

/**
 * What is known of a row's TCP. Immutable. Null is unknown. Of several records the counters are sums, and the times of those that
 * know one.
 *
 * @param handshakeNs     from the SYN to its sender's first acknowledgement; the mean of several.
 * @param synRoundTripNs  from here to the destination and back, of the SYN; the mean of several.
 * @param roundTrips      of data.
 * @param roundTripMeanNs from here to the destination and back.
 * @param retransmitted   packets.
 * @param outOfOrder      packets.
 * @param zeroWindows     packets that close their sender's receive window.
 */
public record RowTcp(
    Long handshakeNs, Long synRoundTripNs, Long roundTrips, Long roundTripMeanNs, Long roundTripMinimumNs,
    Long roundTripMaximumNs, Long retransmitted, Long retransmittedOctets, Long outOfOrder, Long zeroWindows) {
    /** Nothing is known, or the flow is of another protocol. */
    public static final RowTcp NONE = new RowTcp(null, null, null, null, null, null, null, null, null, null);
}
