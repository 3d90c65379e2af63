package io.flowlag.exporter.delay.interval.repair;

import io.flowlag.sketch.reconcile.PacketCache;
import io.flowlag.sketch.reconcile.SynopsisFamily;
import io.flowlag.sketch.reconcile.SynopsisGeometry;

/**
 * Sizes and times of reconciliation. Immutable.
 *
 * @param packets most packets of an interval that each point keeps, 16 to 3/4 of 2^25; beyond that, those of a sample of the
 *                flows.
 * @param cells   most cells of an aggregator, over all banks; at least {@link #LEAST_CELLS}.
 * @param waitNs  how long answers of a sender point in another process are awaited, after an interval's own answer.
 */
public record ReconcileSettings(int packets, int cells, long waitNs) {
    /** Settings of empty parts, where there is no reconciliation. */
    public static final ReconcileSettings OFF = new ReconcileSettings(16, 16, 0);
    /** Fewest cells over all banks, for any difference: a standard deviation needs them and is then typically 2.2 % off. */
    public static final int LEAST_CELLS = 1024;
    /** Counts of the estimator of a difference: 8256 octets, 4.4 % standard deviation. */
    public static final int COUNTS = 1024;

    private static final int RECONCILER_CELL_BYTES = 61;
    private static final int DIFFERENCE_CELL_BYTES = 24;

    /** {@return these settings, or a copy that waits no longer than a limit} */
    public ReconcileSettings waitingAtMost(final long mostWaitNs) {
        return waitNs <= mostWaitNs ? this : new ReconcileSettings(packets, cells, mostWaitNs);
    }

    /** Memory of an interval's packets at a point. Returns octets, by formula. */
    public long cacheBytes() {
        return PacketCache.memoryBytes(packets);
    }

    /** {@return the largest aggregator} */
    SynopsisGeometry largest() {
        return SynopsisGeometry.rda(1, cells);
    }

    /** {@return most packets of one request: those whose answer is no longer than the largest aggregator} */
    public int mostMissing() {
        return cells * SynopsisFamily.RDA.cellLength() / SynopsisFamily.MISSING_PACKETS.cellLength();
    }

    /** {@return most flow keys of one request: those whose answer is no longer than the largest aggregator} */
    public int mostKeys() {
        return cells * SynopsisFamily.RDA.cellLength() / SynopsisFamily.FLOW_KEYS.cellLength();
    }

    /** {@return octets of the longest answer} */
    public int mostAnswerBytes() {
        return Math.max(largest().imageLength(), new SynopsisGeometry(SynopsisFamily.SIGNED_COUNTS, 1, COUNTS).imageLength());
    }

    /**
     * Memory of the point that answers: an estimator, an aggregator, and answers with missing packets and flow keys. Returns
     * octets, by formula.
     */
    public long responderBytes() {
        return countsBytes() + largest().memoryBytes() +
            new SynopsisGeometry(SynopsisFamily.MISSING_PACKETS, 1, mostMissing()).memoryBytes() +
            new SynopsisGeometry(SynopsisFamily.FLOW_KEYS, 1, mostKeys()).memoryBytes();
    }

    /**
     * Memory of the point that requests: an estimator, two aggregators, 61 octets for each cell, up to 24 for each missing
     * packet, and 32 to 40 for each flow with losses. Several traffic classes add the list of the whole difference, 24 octets for
     * each cell, and the answer with missing packets. Returns octets, by formula.
     */
    public long reconcilerBytes(final int classCount) {
        final long kept = classCount == 1 ? 0 : (long)cells * DIFFERENCE_CELL_BYTES + missingImageBytes();
        return countsBytes() + 2 * largest().memoryBytes() + (long)cells * RECONCILER_CELL_BYTES +
            (long)mostMissing() * 3 * Long.BYTES + FlowLosses.memoryBytes(2 * cells) + kept;
    }

    /** {@return octets of the longest answer with missing packets} */
    int missingImageBytes() {
        return new SynopsisGeometry(SynopsisFamily.MISSING_PACKETS, 1, mostMissing()).imageLength();
    }

    private static long countsBytes() {
        return new SynopsisGeometry(SynopsisFamily.SIGNED_COUNTS, 1, COUNTS).memoryBytes();
    }
}
