package io.flowlag.sketch.reconcile;

import io.flowlag.common.hash.KeyedMix;
import io.flowlag.sketch.estimate.Hoeffding;

/**
 * Compares two sRDA (RDA paper, section IV). As in the paper, neighbouring cells are collapsed for the standard deviation, which
 * leaves out packets that lie in both: {@link AggregateEstimate#collapsedStandardDeviationNs} of this class is too small. One
 * thread; allocates at construction only. An identifier that a point saw twice cannot be reconciled here.
 */
public final class SimpleRdaReconciler {
    private final double boundFactor;
    private final int capacity;
    private final long[] identifiers;
    private final long[] identifierHashes;
    private final long[] counts;
    private final int[] pureCells;
    private final PacketDifference difference;
    private final CellDelays delays;
    private final BankHashes hashes;
    private final long hashSeed;
    private SynopsisImage sender;
    private SynopsisImage receiver;
    private SynopsisPairing pairing = SynopsisPairing.FAMILY;

    /**
     * A reconciler.
     *
     * @param capacity   most cells of an sRDA.
     * @param seed       that both measurement points share.
     * @param confidence of the bound, between 0 and 1.
     */
    public SimpleRdaReconciler(final int capacity, final long seed, final double confidence) {
        boundFactor = Hoeffding.factor(confidence);
        this.capacity = capacity;
        identifiers = new long[capacity];
        identifierHashes = new long[capacity];
        counts = new long[capacity];
        pureCells = new int[capacity];
        difference = new PacketDifference(capacity);
        delays = new CellDelays(capacity);
        hashes = new BankHashes(SynopsisFamily.SRDA.maxBanks(), seed, SeedIndex.BANK);
        hashSeed = SimpleReconcilableDifferenceAggregator.hashSeed(seed);
    }

    /**
     * Lists what the two do not have in common. The images must stay as they are until {@link #repair}.
     *
     * @param senderImage   verified.
     * @param receiverImage verified.
     * @return {@link SynopsisPairing#PAIRED}, or why the pair is refused.
     */
    public SynopsisPairing decode(final SynopsisImage senderImage, final SynopsisImage receiverImage) {
        difference.clear();
        sender = senderImage;
        receiver = receiverImage;
        pairing = SynopsisPairing.check(SynopsisFamily.SRDA, sender, receiver);
        if (SynopsisPairing.PAIRED == pairing && receiver.cells() > capacity) {
            pairing = SynopsisPairing.TOO_LARGE;
        }
        if (SynopsisPairing.PAIRED == pairing) {
            subtract();
            peel();
        }
        return pairing;
    }

    /**
     * What {@link #decode} listed.
     *
     * @return the one list of this reconciler.
     */
    public PacketDifference difference() {
        return difference;
    }

    /**
     * Takes the listed packets out and estimates. There is no count of lost packets beyond the list's.
     *
     * @param senderPackets   knows the packets of the sender.
     * @param receiverPackets knows the packets of the receiver.
     * @param result          is filled; empty if the last pair was refused.
     */
    public void repair(
        final ListedTimes senderPackets, final ListedTimes receiverPackets, final AggregateEstimate result) {
        result.reset();
        if (SynopsisPairing.PAIRED != pairing) {
            return;
        }
        delays.begin(1, receiver.cells());
        for (int cell = 0; cell < receiver.cells(); cell++) {
            delays.set(cell, receiver.timestampSumNs(cell) - sender.timestampSumNs(cell), receiver.count(cell));
            if (!clean(cell)) {
                delays.spoil(cell);
            }
        }
        for (int item = 0; item < difference.size(); item++) {
            takeOut(item, difference.lost(item) ? senderPackets : receiverPackets, result);
        }
        result.complete = difference.complete();
        delays.estimate(false, boundFactor, receiver.packets(), result);
    }

    private void subtract() {
        for (int cell = 0; cell < receiver.cells(); cell++) {
            identifiers[cell] = sender.identifier(cell) ^ receiver.identifier(cell);
            identifierHashes[cell] = sender.identifierHash(cell) ^ receiver.identifierHash(cell);
            counts[cell] = receiver.count(cell) - sender.count(cell);
        }
    }

    private void peel() {
        int found = 0;
        do {
            found = difference.size;
            for (int cell = 0; cell < receiver.cells(); cell++) {
                peelFrom(cell);
            }
        } while (difference.size > found);
        for (int cell = 0; cell < receiver.cells(); cell++) {
            difference.undecodedCells += clean(cell) ? 0 : 1;
        }
    }

    private void peelFrom(final int start) {
        int pureCount = 0;
        pureCells[pureCount++] = start;
        while (pureCount > 0) {
            final int cell = pureCells[--pureCount];
            if (pure(cell) && difference.size < receiver.cells()) {
                final long identifier = identifiers[cell];
                final long sign = counts[cell];
                difference.add(identifier, (int)sign);
                for (int choice = 0; choice < receiver.banks(); choice++) {
                    final int other = cell(choice, identifier);
                    if (other >= 0) {
                        identifiers[other] ^= identifier;
                        identifierHashes[other] ^= KeyedMix.mix(identifier, hashSeed);
                        counts[other] -= sign;
                        if (pureCount < capacity && pure(other)) {
                            pureCells[pureCount++] = other;
                        }
                    }
                }
            }
        }
    }

    private boolean pure(final int cell) {
        return 1 == Math.abs(counts[cell]) &&
            KeyedMix.mix(identifiers[cell], hashSeed) == identifierHashes[cell];
    }

    private boolean clean(final int cell) {
        return 0 == counts[cell] && 0 == identifiers[cell] && 0 == identifierHashes[cell];
    }

    private void takeOut(final int item, final ListedTimes source, final AggregateEstimate result) {
        final long identifier = difference.identifier(item);
        final int entry = source.find(identifier);
        final boolean known = ListedTimes.NOT_FOUND != entry && 1 == source.copies(entry);
        result.unrepairedItems += known ? 0 : 1;
        for (int choice = 0; choice < receiver.banks(); choice++) {
            final int cell = cell(choice, identifier);
            if (cell >= 0 && known) {
                final long timestampNs = source.timestampSumNs(entry);
                delays.change(cell, difference.lost(item) ? timestampNs : -timestampNs, difference.lost(item) ? 0 : 1);
            } else if (cell >= 0) {
                delays.spoil(cell);
            }
        }
    }

    private int cell(final int choice, final long identifier) {
        return SimpleReconcilableDifferenceAggregator.cell(hashes, choice, identifier, receiver.cells());
    }
}
