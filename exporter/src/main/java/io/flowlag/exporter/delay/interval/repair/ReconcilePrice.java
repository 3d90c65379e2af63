package io.flowlag.exporter.delay.interval.repair;

import io.flowlag.sketch.reconcile.RdaSizing;
import io.flowlag.sketch.reconcile.SignedCounts;
import io.flowlag.sketch.reconcile.SynopsisFamily;
import io.flowlag.sketch.reconcile.SynopsisGeometry;

/** Cost of reconciling an interval, by formula. Stateless, any thread. */
public final class ReconcilePrice {
    private ReconcilePrice() {
    }

    /**
     * {@return cells of an aggregator, over all banks, for packets that only one point has: 1.7 for each and 68, at least
     * {@link ReconcileSettings#LEAST_CELLS}}
     */
    public static long cells(final long packets) {
        return RdaSizing.forEstimate(
            packets, SignedCounts.relativeDeviation(ReconcileSettings.COUNTS), ReconcileSettings.LEAST_CELLS,
            Integer.MAX_VALUE - 1).totalCells();
    }

    /**
     * {@return octets of the requests and answers about an interval with one class, without keys of flows, for packets that
     * only the sender has: three requests, the estimator, the aggregator, and 40 for each packet}
     */
    public static long exchangeBytes(final long packets) {
        final long requests = (packets > 0 ? 3L : 2L) * SynopsisRequest.FIXED_BYTES + packets * Long.BYTES;
        final long estimator = new SynopsisGeometry(SynopsisFamily.SIGNED_COUNTS, 1, ReconcileSettings.COUNTS).imageLength();
        final long aggregator = SynopsisGeometry.rda(1, 1).imageLength() +
            (cells(packets) - 1) * SynopsisFamily.RDA.cellLength();
        final long answer = packets == 0 ? 0 : SynopsisGeometry.rda(1, 1).imageLength() - SynopsisFamily.RDA.cellLength() +
            packets * SynopsisFamily.MISSING_PACKETS.cellLength();
        return requests + estimator + aggregator + answer;
    }

    /**
     * {@return octets of the request and answer about flows without a record at the receiver point: 0 if there are none, else
     * 120 and 64 for each}
     */
    public static long keyBytes(final long flows) {
        final SynopsisFamily family = SynopsisFamily.FLOW_KEYS;
        return flows == 0 ? 0 : SynopsisRequest.FIXED_BYTES + new SynopsisGeometry(family, 1, 1).imageLength() -
            family.cellLength() + flows * (Long.BYTES + family.cellLength());
    }

    /**
     * Octets of the request and answer about the delays of one of several traffic classes, where few marks change on the way.
     * Returns octets: a request, and the least aggregator.
     */
    public static long classBytes() {
        return SynopsisRequest.FIXED_BYTES + SynopsisGeometry.rda(1, ReconcileSettings.LEAST_CELLS).imageLength();
    }
}
