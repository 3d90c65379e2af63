package io.flowlag.sketch.reconcile;

import io.flowlag.common.hash.KeyedMix;

/**
 * Selects the measured flows when there are too many: those whose rank, a keyed hash of the segment flow hash, is below a
 * threshold. A lower threshold selects a subset, so two points with different thresholds share all flows of the lower. Stateless,
 * any thread; never allocates.
 */
public final class FlowSample {
    /** The threshold that takes all flows: ranks have 32 bits. */
    public static final long ALL = 1L << 32;

    private FlowSample() {
    }

    /**
     * The seed of ranks.
     *
     * @param seed that both measurement points share.
     * @return to be given to {@link #rank}.
     */
    public static long rankSeed(final long seed) {
        return KeyedMix.derivedSeed(seed, SeedIndex.FLOW_RANK);
    }

    /**
     * The rank of a flow.
     *
     * @param rankSeed of {@link #rankSeed}.
     * @return 0 to 2^32 - 1; the flow is in the sample if it is below the threshold.
     */
    public static long rank(final long flowHash, final long rankSeed) {
        return KeyedMix.mix(flowHash, rankSeed) >>> 32;
    }
}
