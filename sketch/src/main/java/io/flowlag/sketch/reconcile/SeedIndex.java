package io.flowlag.sketch.reconcile;

/**
 * Indexes of the functions that come from one seed. Sketches have 0 to 31, the fingerprint -2, the laboratory's synopses 95 to
 * 97.
 */
final class SeedIndex {
    static final int FLOW_RANK = -3;
    static final int CACHE_SLOT = -4;
    static final int BANK = 64;
    static final int ESTIMATOR = 96;
    static final int COPIES = 128;

    private SeedIndex() {
    }
}
