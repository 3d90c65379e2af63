package io.flowlag.sketch.reconcile;

import io.flowlag.common.hash.KeyedMix;

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
        hashSeed = KeyedMix.derivedSeed(seed, SeedIndex.STRATUM);
        hashes = new BankHashes(TABLE_BANKS, seed, SeedIndex.BANK);
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
            xorLong(offset + SynopsisDescriptor.CELL_IDENTIFIER_OFFSET, identifier);
            addInt(offset + SynopsisDescriptor.STRATUM_COUNT_OFFSET, 1);
            addInt(offset + SynopsisDescriptor.STRATUM_CHECK_OFFSET, BankHashes.check(mixed));
        }
    }

    @Override
    public double estimate(final SynopsisImage other) {
        if (SynopsisPairing.PAIRED != SynopsisPairing.check(SynopsisFamily.STRATA, image(), other)) {
            return NO_ESTIMATE;
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
                (int)(other.count(cell) - image().count(cell)),
                other.check(cell) - image().check(cell));
        }
        decoder.peel(difference);
    }
}
