package io.flowlag.tests.lab.comparator;

import io.flowlag.common.hash.KeyedMix;
import io.flowlag.sketch.reconcile.SignedCounts;
import io.flowlag.sketch.reconcile.Synopsis;
import io.flowlag.sketch.reconcile.SynopsisFamily;
import io.flowlag.sketch.reconcile.SynopsisGeometry;
import io.flowlag.sketch.reconcile.SynopsisImage;
import io.flowlag.sketch.reconcile.SynopsisPairing;

import java.util.Arrays;

/**
 * Estimates the size of a set difference from the k least hashes of each set (Broder; RDA paper, section VIII). The share of the
 * union's k least that both have is J = |A ∩ B| / |A ∪ B|; the difference is (1 - J) / (1 + J) of |A| + |B|. It has the variance
 * of the paper's k hash functions at a hash an item. Of a small difference it sees nothing: of k values only k·(1 - J) differ.
 *
 * <p>One thread at a time; allocates at construction only.
 */
public final class MinHashEstimator extends Synopsis implements DifferenceEstimator {
    /** An empty place; it is also the largest hash, so no information is lost. */
    private static final long EMPTY = -1;

    private static final int SEED_INDEX = 96;

    private final long hashSeed;
    private final int places;
    private int used;

    /**
     * An empty estimator.
     *
     * @param seed that both measurement points share.
     */
    public MinHashEstimator(final int places, final long seed) {
        super(SynopsisFamily.MIN_HASH, new SynopsisGeometry(SynopsisFamily.MIN_HASH, 1, places), seed);
        hashSeed = KeyedMix.derivedSeed(seed, SEED_INDEX);
        this.places = places;
        empty();
    }

    /** Empties it. */
    public void empty() {
        clear();
        used = 0;
        for (int place = 0; place < places; place++) {
            putLong(cellOffset(place), EMPTY);
        }
    }

    /** Adds to a heap of the least hashes with the largest on top; one comparison refuses most items. */
    @Override
    public void add(final long identifier) {
        countPackets(1);
        final long hash = KeyedMix.mix(identifier, hashSeed);
        if (used < places) {
            siftUp(used++, hash);
        } else if (Long.compareUnsigned(hash, image().value(0)) < 0) {
            siftDown(hash);
        }
    }

    @Override
    public double estimate(final SynopsisImage other) {
        if (SynopsisPairing.check(SynopsisFamily.MIN_HASH, image(), other) != SynopsisPairing.PAIRED) {
            return SignedCounts.NO_ESTIMATE;
        }
        final long[] own = sorted(image());
        final long[] others = sorted(other);
        int union = 0;
        int both = 0;
        int i = 0;
        int j = 0;
        while (union < places && (i < places || j < places)) {
            final int order = i == places ? 1 : j == places ? -1 : Long.compareUnsigned(own[i], others[j]);
            if ((order <= 0 ? own[i] : others[j]) == EMPTY) {
                break;
            }
            union++;
            both += order == 0 ? 1 : 0;
            i += order <= 0 ? 1 : 0;
            j += order >= 0 ? 1 : 0;
        }
        final double similarity = union == 0 ? 1 : both / (double)union;
        return (1 - similarity) / (1 + similarity) * (image().packets() + other.packets());
    }

    /** Sorted as unsigned: the sign bit is turned over before and after. Allocates: an estimate is made once an interval. */
    private long[] sorted(final SynopsisImage from) {
        final long[] values = new long[places];
        for (int place = 0; place < places; place++) {
            values[place] = from.value(place) ^ Long.MIN_VALUE;
        }
        Arrays.sort(values);
        for (int place = 0; place < places; place++) {
            values[place] ^= Long.MIN_VALUE;
        }
        return values;
    }

    private void siftUp(final int start, final long hash) {
        int place = start;
        while (place > 0 && Long.compareUnsigned(image().value((place - 1) / 2), hash) < 0) {
            putLong(cellOffset(place), image().value((place - 1) / 2));
            place = (place - 1) / 2;
        }
        putLong(cellOffset(place), hash);
    }

    private void siftDown(final long hash) {
        int place = 0;
        while (2 * place + 1 < places) {
            int child = 2 * place + 1;
            if (child + 1 < places && Long.compareUnsigned(image().value(child), image().value(child + 1)) < 0) {
                child++;
            }
            if (Long.compareUnsigned(image().value(child), hash) <= 0) {
                break;
            }
            putLong(cellOffset(place), image().value(child));
            place = child;
        }
        putLong(cellOffset(place), hash);
    }
}
