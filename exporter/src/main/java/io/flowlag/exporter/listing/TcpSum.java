package io.flowlag.exporter.listing;

/** The TCP of some records; those of other protocols do not matter. One thread. */
final class TcpSum {
    private boolean isEmpty = true;
    private long handshakes;
    private double handshakesNs;
    private long synRoundTrips;
    private double synRoundTripsNs;
    private long roundTrips;
    private double roundTripsNs;
    private Long minimumNs = Long.MAX_VALUE;
    private Long maximumNs = 0L;
    private Long retransmitted = 0L;
    private Long retransmittedOctets = 0L;
    private Long outOfOrder = 0L;
    private Long zeroWindows = 0L;

    void add(final RowKey key, final RowTcp tcp) {
        if (tcp.equals(RowTcp.NONE) && key.protocol() != Protocols.TCP && key.protocol() != RowKey.NONE) {
            return;
        }
        isEmpty = false;
        if (tcp.handshakeNs() != null) {
            handshakes++;
            handshakesNs += tcp.handshakeNs();
        }
        if (tcp.synRoundTripNs() != null) {
            synRoundTrips++;
            synRoundTripsNs += tcp.synRoundTripNs();
        }
        if (tcp.roundTrips() != null && tcp.roundTripMeanNs() != null) {
            roundTrips += tcp.roundTrips();
            roundTripsNs += (double)tcp.roundTrips() * tcp.roundTripMeanNs();
            minimumNs = RowGroup.both(minimumNs, tcp.roundTripMinimumNs(), Math::min);
            maximumNs = RowGroup.both(maximumNs, tcp.roundTripMaximumNs(), Math::max);
        }
        retransmitted = RowGroup.sum(retransmitted, tcp.retransmitted());
        retransmittedOctets = RowGroup.sum(retransmittedOctets, tcp.retransmittedOctets());
        outOfOrder = RowGroup.sum(outOfOrder, tcp.outOfOrder());
        zeroWindows = RowGroup.sum(zeroWindows, tcp.zeroWindows());
    }

    RowTcp tcp() {
        final boolean isTimed = roundTrips > 0;
        return isEmpty ? RowTcp.NONE : new RowTcp(
            mean(handshakesNs, handshakes), mean(synRoundTripsNs, synRoundTrips), isTimed ? roundTrips : null,
            mean(roundTripsNs, roundTrips), isTimed ? minimumNs : null, isTimed ? maximumNs : null, retransmitted,
            retransmittedOctets, outOfOrder, zeroWindows);
    }

    private static Long mean(final double sumNs, final long count) {
        return count == 0 ? null : Long.valueOf(Math.round(sumNs / count));
    }
}
