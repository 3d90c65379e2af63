package io.flowlag.sketch.reconcile;

/** Whether two synopses can be compared; if not, the first field in which they differ. */
public enum SynopsisPairing {
    /** The two describe the same flows of the same interval with the same geometry and seed. */
    PAIRED,
    /** The families differ, or it is not the family that was asked for. */
    FAMILY,
    /** The banks or cells differ. */
    GEOMETRY,
    /** The geometry asks for more cells than the reader has memory for. */
    TOO_LARGE,
    SEED,
    /** The intervals have different lengths. */
    INTERVAL_LENGTH,
    /** The intervals have different numbers. */
    INTERVAL_NUMBER,
    /** The synopses were made of different samples of flows. */
    FLOW_THRESHOLD;

    /**
     * Compares what two images say of themselves.
     *
     * @param family that both must be of.
     * @return {@link #PAIRED}, or the first field in which they differ.
     */
    public static SynopsisPairing check(
        final SynopsisFamily family, final SynopsisImage sender, final SynopsisImage receiver) {
        if (family != sender.family() || family != receiver.family()) {
            return FAMILY;
        }
        if (sender.banks() != receiver.banks() || sender.cells() != receiver.cells()) {
            return GEOMETRY;
        }
        if (sender.seedFingerprint() != receiver.seedFingerprint()) {
            return SEED;
        }
        if (sender.intervalNs() != receiver.intervalNs()) {
            return INTERVAL_LENGTH;
        }
        if (sender.intervalNumber() != receiver.intervalNumber()) {
            return INTERVAL_NUMBER;
        }
        return sender.flowThreshold() == receiver.flowThreshold() ? PAIRED : FLOW_THRESHOLD;
    }
}
