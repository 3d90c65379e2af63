package io.flowlag.exporter.delay.interval.repair;

import io.flowlag.sketch.reconcile.PacketCache;
import io.flowlag.sketch.reconcile.SynopsisFamily;
import io.flowlag.sketch.reconcile.SynopsisGeometry;

/**
 * Sizes and times of reconciliation. Immutable.
 *
 * @param packets of an interval that each point remembers, 16 to 3/4 of 2^25; of more, those of a part of the flows.
 * @param cells   of an aggregator, over all banks, at most; at least {@link #LEAST_CELLS}.
 * @param waitNs  for which answers of a sender point in another process are waited for, after an interval's own answer.
 */
public record ReconcileSettings(int packets, int cells, long waitNs) {
    /** Cells over all banks, however small the difference: a standard deviation needs them; then it is 2.2 % off, typically. */
    public static final int LEAST_CELLS = 1024;

    /** Counts of the estimator of a difference: 8256 octets, 4.4 % standard deviation. */
    public static final int COUNTS = 1024;

    private static final int RECONCILER_CELL_BYTES = 61;
    private static final int DIFFERENCE_CELL_BYTES = 24;

    /**
     * The same with a shorter wait.
     *
     * @param mostWaitNs most that is waited.
     * @return these settings, or others that wait for that long.
     */
    public ReconcileSettings waitingAtMost(final long mostWaitNs) {
        return waitNs <= mostWaitNs ? this : new ReconcileSettings(packets, cells, mostWaitNs);
    }

    /** Memory of the packets of an interval at a point. Returns octets, by formula. */
    public long cacheBytes() {
        return PacketCache.memoryBytes(packets);
    }

    /** {@return the largest aggregator} */
    SynopsisGeometry largest() {
        return SynopsisGeometry.rda(1, cells);
    }

    /** {@return most packets that are asked for at once: those whose answer is no longer than the largest aggregator} */
    public int mostMissing() {
        return cells * SynopsisFamily.RDA.cellLength() / SynopsisFamily.MISSING_PACKETS.cellLength();
    }

    /** {@return most flows whose keys are asked for at once: those whose answer is no longer than the largest aggregator} */
    public int mostKeys() {
        return cells * SynopsisFamily.RDA.cellLength() / SynopsisFamily.FLOW_KEYS.cellLength();
    }

    /** {@return octets of the longest answer} */
    public int mostAnswerBytes() {
        return Math.max(largest().imageLength(), new SynopsisGeometry(SynopsisFamily.SIGNED_COUNTS, 1, COUNTS).imageLength());
    }

    /**
     * Memory of the point that answers: an estimator, an aggregator, and answers of missing packets and of flow keys. Returns
     * octets, by formula.
     */
    public long responderBytes() {
        return countsBytes() + largest().memoryBytes() +
            new SynopsisGeometry(SynopsisFamily.MISSING_PACKETS, 1, mostMissing()).memoryBytes() +
            new SynopsisGeometry(SynopsisFamily.FLOW_KEYS, 1, mostKeys()).memoryBytes();
    }

    /**
     * Memory of the point that asks: an estimator, two aggregators, 61 octets a cell, 8 and up to 16 for a missing packet, and 32
     * to 40 for a flow with losses; with several traffic classes the list of the whole, 24 octets a cell, and the missing packets
     * as they came, which are kept while the classes are compared. Returns octets, by formula.
     */
    public long reconcilerBytes(final int classCount) {
        final long kept = classCount == 1 ? 0 : (long)cells * DIFFERENCE_CELL_BYTES + missingImageBytes();
        return countsBytes() + 2 * largest().memoryBytes() + (long)cells * RECONCILER_CELL_BYTES +
            (long)mostMissing() * 3 * Long.BYTES + FlowLosses.memoryBytes(2 * cells) + kept;
    }

    /** {@return octets of the longest answer of missing packets} */
    int missingImageBytes() {
        return new SynopsisGeometry(SynopsisFamily.MISSING_PACKETS, 1, mostMissing()).imageLength();
    }

    private static long countsBytes() {
        return new SynopsisGeometry(SynopsisFamily.SIGNED_COUNTS, 1, COUNTS).memoryBytes();
    }
}
