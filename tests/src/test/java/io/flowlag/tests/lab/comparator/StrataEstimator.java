package io.flowlag.tests.lab.comparator;

import io.flowlag.common.hash.KeyedMix;
import io.flowlag.sketch.reconcile.BankHashes;
import io.flowlag.sketch.reconcile.DifferenceDecoder;
import io.flowlag.sketch.reconcile.PacketDifference;
import io.flowlag.sketch.reconcile.SignedCounts;
import io.flowlag.sketch.reconcile.Synopsis;
import io.flowlag.sketch.reconcile.SynopsisFamily;
import io.flowlag.sketch.reconcile.SynopsisGeometry;
import io.flowlag.sketch.reconcile.SynopsisImage;
import io.flowlag.sketch.reconcile.SynopsisPairing;

import java.nio.ByteOrder;

/**
 * Estimates the size of a set difference from strata (Eppstein, Goodrich, Uyeda, Varghese, "What's the Difference?", section
 * 3.1): stratum i takes an item in 2^(i+1), by the zeros that its hash begins with, into a small difference table. From the last
 * one on they are decoded; where one fails, what was found is scaled by the share that the strata before took.
 *
 * <p>One thread at a time; allocates at construction only.
 */
public final class StrataEstimator extends Synopsis implements DifferenceEstimator {
    /** Banks of each stratum's table. */
    private static final int TABLE_BANKS = 3;
    private static final int SEED_INDEX = 97;
    private static final int COUNT_OFFSET = 8;
    private static final int CHECK_OFFSET = 12;

    private final long hashSeed;
    private final BankHashes hashes;
    private final int strata;
    private final int stratumCells;
    private final int bankCells;
    private final DifferenceDecoder decoder;
    private final PacketDifference difference;

    /**
     * An empty estimator.
     *
     * @param strata    how many, 1 to 64.
     * @param bankCells cells of a bank; a stratum has three banks.
     * @param seed      that both measurement points share.
     */
    public StrataEstimator(final int strata, final int bankCells, final long seed) {
        super(
            SynopsisFamily.STRATA, new SynopsisGeometry(SynopsisFamily.STRATA, strata, TABLE_BANKS * bankCells), seed);
        hashSeed = KeyedMix.derivedSeed(seed, SEED_INDEX);
        hashes = new BankHashes(TABLE_BANKS, seed);
        this.strata = strata;
        this.bankCells = bankCells;
        stratumCells = TABLE_BANKS * bankCells;
        decoder = new DifferenceDecoder(stratumCells, seed);
        difference = decoder.newDifference();
    }

    @Override
    public void add(final long identifier) {
        countPackets(1);
        final int stratum =
            Math.min(strata - 1, Long.numberOfLeadingZeros(KeyedMix.mix(identifier, hashSeed)));
        for (int bank = 0; bank < TABLE_BANKS; bank++) {
            final long mixed = hashes.mixed(bank, identifier);
            final int cell = stratum * stratumCells + bank * bankCells + BankHashes.cell(mixed, bankCells);
            final int offset = cellOffset(cell);
            xorLong(offset, identifier);
            addInt(offset + COUNT_OFFSET, 1);
            addInt(offset + CHECK_OFFSET, BankHashes.check(mixed));
        }
    }

    @Override
    public double estimate(final SynopsisImage other) {
        if (SynopsisPairing.check(SynopsisFamily.STRATA, image(), other) != SynopsisPairing.PAIRED) {
            return SignedCounts.NO_ESTIMATE;
        }
        double found = 0;
        for (int stratum = strata - 1; stratum >= 0; stratum--) {
            decode(stratum, other);
            if (!difference.complete()) {
                return Math.scalb(found, stratum + 1);
            }
            found += difference.size();
        }
        return found;
    }

    private void decode(final int stratum, final SynopsisImage other) {
        difference.clear();
        decoder.begin(TABLE_BANKS, bankCells);
        for (int i = 0; i < stratumCells; i++) {
            final int cell = stratum * stratumCells + i;
            decoder.set(
                i,
                image().identifier(cell) ^ other.identifier(cell),
                field(other, cell, COUNT_OFFSET) - field(image(), cell, COUNT_OFFSET),
                field(other, cell, CHECK_OFFSET) - field(image(), cell, CHECK_OFFSET));
        }
        decoder.peel(difference);
    }

    private static int field(final SynopsisImage image, final int cell, final int offset) {
        return image.buffer().getInt(image.offset(cell) + offset, ByteOrder.LITTLE_ENDIAN);
    }
}
