package io.flowlag.tests.lab.comparator;

import io.flowlag.sketch.reconcile.SignedCounts;
import io.flowlag.sketch.reconcile.SynopsisImage;

/**
 * Estimates how many items two points do not share, from little memory at each. Every item of a point is added once; then the two
 * images are compared. One thread at a time. Owns its memory, allocated at construction.
 */
public interface DifferenceEstimator {
    /**
     * Adds an item.
     *
     * @param identifier of the packet, or of its group.
     */
    void add(long identifier);

    /** This point's side of it. Returns the image, to be sent or compared. */
    SynopsisImage image();

    /**
     * Estimates the size of the difference.
     *
     * @param other image of the other point, verified.
     * @return items that only one of the two has; {@link SignedCounts#NO_ESTIMATE} if the two cannot be compared.
     */
    double estimate(SynopsisImage other);

    /** {@return the product's estimator} */
    static DifferenceEstimator of(final SignedCounts counts) {
        return new DifferenceEstimator() {
            @Override
            public void add(final long identifier) {
                counts.add(identifier);
            }

            @Override
            public SynopsisImage image() {
                return counts.image();
            }

            @Override
            public double estimate(final SynopsisImage other) {
                return counts.estimate(other);
            }
        };
    }
}
