package io.flowlag.sketch.reconcile;

/**
 * Indexes of the functions that come from one seed; those of sketches are from 0 to 31, the fingerprint's is -2. Constants, for
 * any thread.
 */
final class SeedIndex {
    static final int FLOW_RANK = -3;
    static final int CACHE_SLOT = -4;
    static final int BANK = 64;
    static final int SIMPLE_HASH = 95;
    static final int ESTIMATOR = 96;
    static final int STRATUM = 97;
    static final int COPIES = 128;

    private SeedIndex() {
    }
}
