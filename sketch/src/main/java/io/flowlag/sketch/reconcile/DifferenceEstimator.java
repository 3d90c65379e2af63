package io.flowlag.sketch.reconcile;

/**
 * Estimates how many items two points do not have in common, from little memory at each. Every item that a point has is added
 * once; then the two images are compared. One thread at a time. Owns its memory, allocated at construction.
 */
public interface DifferenceEstimator {
    /** No estimate: the images are not paired. */
    double NO_ESTIMATE = Double.NaN;

    /**
     * Adds an item.
     *
     * @param identifier of the packet, or of its group.
     */
    void add(long identifier);

    /**
     * This point's side of it.
     *
     * @return the image, to be sent or compared.
     */
    SynopsisImage image();

    /**
     * Estimates the size of the difference.
     *
     * @param other image of the other point, verified.
     * @return items that only one of the two has; {@link #NO_ESTIMATE} if the two cannot be compared.
     */
    double estimate(SynopsisImage other);
}
