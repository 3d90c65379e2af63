package io.flowlag.sketch.lda;

import io.flowlag.common.hash.KeyedMix;
import io.flowlag.sketch.image.Sketch;
import io.flowlag.sketch.image.SketchFamily;
import io.flowlag.sketch.image.SketchGeometry;

/**
 * Lossy Difference Aggregator (LDA paper, sections III-B and III-C), one measurement point's side of it: n banks of m cells. Each
 * bank requires a number of leading zeros of a packet's hash; the last bank whose requirement holds takes the packet. A packet is
 * thus in at most one bank, and no packet counts twice. {@link LdaEstimator} compares the two sides. One LDA serves one class of
 * traffic.
 *
 * <p>Packets are added in batches, so that the processor overlaps the cache misses of many cells.
 *
 * <p>One thread at a time. Allocates at construction; never on update.
 */
public final class LossyDifferenceAggregator extends Sketch {
    private static final int NOT_SAMPLED = -1;
    private static final int HASH_INDEX = 0;
    private static final int NO_BYTES = 0;
    private static final int GATHERED_LIMIT = 64;

    private final long hashSeed;
    private final int cells;
    private final int[] bankByLeadingZeros = new int[Long.SIZE + 1];
    private final long[] digests = new long[GATHERED_LIMIT];
    private final long[] timestampsNs = new long[GATHERED_LIMIT];
    private final int[] lengthsBytes = new int[GATHERED_LIMIT];
    private int gatheredCount;

    /** An empty aggregator; both measurement points share the seed. */
    public LossyDifferenceAggregator(final SketchGeometry geometry, final long seed) {
        super(SketchFamily.LDA, geometry, seed);
        hashSeed = KeyedMix.derivedSeed(seed, HASH_INDEX);
        cells = geometry.columns();
        for (int zeros = 0; zeros < bankByLeadingZeros.length; zeros++) {
            bankByLeadingZeros[zeros] = bankFor(geometry, zeros);
        }
    }

    /**
     * The memory of an aggregator, by formula. Returns octets: of its image, off the heap, and of the packets that are gathered.
     */
    public static long memoryBytes(final SketchGeometry geometry) {
        return SketchGeometry.memoryBytes(geometry) + GATHERED_LIMIT * (2 * Long.BYTES + Integer.BYTES);
    }

    /**
     * Adds a packet.
     *
     * @param timestampNs relative to the interval's start; it may lie outside the interval.
     * @param bytes       of the packet; counted in the preamble only.
     */
    public void update(final long packetDigest, final long timestampNs, final int bytes) {
        final int index = gatheredCount++;
        digests[index] = packetDigest;
        timestampsNs[index] = timestampNs;
        lengthsBytes[index] = bytes;
        if (gatheredCount == GATHERED_LIMIT) {
            settle();
        }
    }

    @Override
    protected void settle() {
        final int count = gatheredCount;
        gatheredCount = 0;
        update(digests, timestampsNs, 0, lengthsBytes, 0, count);
    }

    /**
     * Adds packets.
     *
     * @param packetTimesNs at this point, by whatever clock.
     * @param startNs       when the interval began, by the same clock.
     * @param packetBytes   of the packets; counted in the preamble only.
     * @param from          index of the first packet.
     * @param to            index behind the last one.
     */
    public void update(
        final long[] packetDigests, final long[] packetTimesNs, final long startNs, final int[] packetBytes, final int from,
        final int to) {
        long bytes = 0;
        for (int i = from; i < to; i++) {
            final long digest = packetDigests[i];
            final long packetMix = KeyedMix.mix(digest, hashSeed);
            final int bank = bankByLeadingZeros[Long.numberOfLeadingZeros(packetMix)];
            bytes += packetBytes[i];
            if (bank != NOT_SAMPLED) {
                addToCell(bank, KeyedMix.reduceLow(packetMix, cells), packetTimesNs[i] - startNs, 1, digest, NO_BYTES);
            }
        }
        addOffered(to - from, bytes);
    }

    private static int bankFor(final SketchGeometry geometry, final int zeros) {
        int bank = NOT_SAMPLED;
        for (int row = 0; row < geometry.rows(); row++) {
            bank = geometry.rate(row) <= zeros ? row : bank;
        }
        return bank;
    }
}
