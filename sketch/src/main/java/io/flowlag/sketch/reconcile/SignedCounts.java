package io.flowlag.sketch.reconcile;

import io.flowlag.common.hash.KeyedMix;

/**
 * Estimates the size of a set difference from r counts (Alon, Matias, Szegedy, "The space complexity of approximating the
 * frequency moments"; one count an item as in the Count sketch of Charikar, Chen, Farach-Colton). An item adds 1 or -1 to one
 * count. Common items cancel in the difference of the counts. The sum of its squares estimates the remaining items, with a
 * standard deviation of √(2 / r) of it, whatever the sets' size. An update is one hash and one addition.
 *
 * <p>One thread at a time; allocates at construction only.
 */
public final class SignedCounts extends Synopsis {
    /** No estimate: the images are not paired. */
    public static final double NO_ESTIMATE = Double.NaN;

    private final long hashSeed;
    private final int counts;

    /** An empty estimator; both measurement points share the seed. */
    public SignedCounts(final int counts, final long seed) {
        super(SynopsisFamily.SIGNED_COUNTS, new SynopsisGeometry(SynopsisFamily.SIGNED_COUNTS, 1, counts), seed);
        hashSeed = KeyedMix.derivedSeed(seed, SeedIndex.ESTIMATOR);
        this.counts = counts;
    }

    /** Adds the identifier of a packet, or of its group. */
    public void add(final long identifier) {
        countPackets(1);
        final long mixed = KeyedMix.mix(identifier, hashSeed);
        addLong(cellOffset(KeyedMix.reduceHigh(mixed, counts)), 1 - ((mixed & 1) << 1));
    }

    /**
     * Estimates the size of the difference.
     *
     * @param other image of the other point, verified.
     * @return items that only one of the two has; {@link #NO_ESTIMATE} if the two cannot be compared.
     */
    public double estimate(final SynopsisImage other) {
        if (SynopsisPairing.check(SynopsisFamily.SIGNED_COUNTS, image(), other) != SynopsisPairing.PAIRED) {
            return NO_ESTIMATE;
        }
        double squares = 0;
        for (int i = 0; i < counts; i++) {
            final double difference = image().value(i) - other.value(i);
            squares += difference * difference;
        }
        return squares;
    }

    /** Standard deviation of an estimate, as a share of it. Returns √(2 / r). */
    public static double relativeDeviation(final int counts) {
        return Math.sqrt(2.0 / counts);
    }
}
