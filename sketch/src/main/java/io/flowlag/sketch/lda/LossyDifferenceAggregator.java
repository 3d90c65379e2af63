package io.flowlag.sketch.lda;

import io.flowlag.sketch.hash.KeyedMix;
import io.flowlag.sketch.image.Sketch;
import io.flowlag.sketch.image.SketchFamily;
import io.flowlag.sketch.image.SketchGeometry;

/**
 * Lossy Difference Aggregator (LDA paper, sections III-B and III-C), one measurement point's side of it: n banks of m cells.
 * A packet's hash begins with some zeros; the last bank that asks for no more of them takes the packet, so a packet is in one
 * bank at most, and all banks together count none twice. {@link LdaEstimator} compares the two sides. One LDA serves one
 * class of traffic.
 *
 * <p>One thread at a time. It owns {@link SketchGeometry#memoryBytes} octets off the heap. An update touches one cell and the
 * preamble. Allocates at construction; never on update.
 */
public final class LossyDifferenceAggregator extends Sketch {
    private static final int NOT_SAMPLED = -1;
    private static final int HASH_INDEX = 0;

    private final long hashSeed;
    private final int cells;
    private final int[] bankByLeadingZeros = new int[Long.SIZE + 1];

    /**
     * An empty aggregator.
     *
     * @param geometry of family LDA.
     * @param seed     that both measurement points share.
     */
    public LossyDifferenceAggregator(final SketchGeometry geometry, final long seed) {
        super(SketchFamily.LDA, geometry, seed);
        hashSeed = KeyedMix.derivedSeed(seed, HASH_INDEX);
        cells = geometry.columns();
        for (int zeros = 0; zeros < bankByLeadingZeros.length; zeros++) {
            bankByLeadingZeros[zeros] = bankFor(geometry, zeros);
        }
    }

    /**
     * Adds a packet.
     *
     * @param packetDigest of the packet.
     * @param timestampNs  relative to the interval's start; it may lie outside the interval.
     * @param bytes        of the packet.
     */
    public void update(final long packetDigest, final long timestampNs, final int bytes) {
        addOffered(1, bytes);
        final long packetMix = KeyedMix.mix(packetDigest, hashSeed);
        final int bank = bankByLeadingZeros[Long.numberOfLeadingZeros(packetMix)];
        if (NOT_SAMPLED != bank) {
            addToCell(bank, KeyedMix.reduceLow(packetMix, cells), timestampNs, packetDigest, bytes, 1);
        }
    }

    private static int bankFor(final SketchGeometry geometry, final int zeros) {
        int bank = NOT_SAMPLED;
        for (int row = 0; row < geometry.rows(); row++) {
            bank = geometry.rate(row) <= zeros ? row : bank;
        }
        return bank;
    }
}
