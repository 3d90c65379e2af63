package io.flowlag.tests.lab.comparator;

import io.flowlag.common.hash.KeyedMix;
import io.flowlag.sketch.estimate.SampleBound;
import io.flowlag.sketch.reconcile.AggregateEstimate;
import io.flowlag.sketch.reconcile.BankHashes;
import io.flowlag.sketch.reconcile.CellDelays;
import io.flowlag.sketch.reconcile.ListedTimes;
import io.flowlag.sketch.reconcile.SynopsisFamily;
import io.flowlag.sketch.reconcile.SynopsisImage;
import io.flowlag.sketch.reconcile.SynopsisPairing;

import java.util.ArrayList;
import java.util.List;

/**
 * Compares two sRDA (RDA paper, section IV). As in the paper, neighbouring cells are collapsed for the standard deviation, which
 * leaves out packets that lie in both: {@link #collapsed} is too small. An identifier that a point saw twice is not
 * reconciled.
 */
public final class SimpleRdaReconciler {
    /**
     * A packet that only one point has.
     *
     * @param isLost whether the sender has it.
     */
    public record Item(long identifier, boolean isLost) {
    }

    private final SampleBound bound;
    private final int capacity;
    private final long[] identifiers;
    private final long[] identifierHashes;
    private final long[] counts;
    private final int[] pureCells;
    private final List<Item> listed = new ArrayList<>();
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
        bound = new SampleBound(confidence);
        this.capacity = capacity;
        identifiers = new long[capacity];
        identifierHashes = new long[capacity];
        counts = new long[capacity];
        pureCells = new int[capacity];
        delays = new CellDelays(capacity);
        hashes = new BankHashes(SynopsisFamily.SRDA.maxBanks(), seed);
        hashSeed = SimpleReconcilableDifferenceAggregator.hashSeed(seed);
    }

    /**
     * Lists the difference of the two. The images must not change until {@link #repair}. Returns {@link SynopsisPairing#PAIRED},
     * or why the pair is refused.
     */
    public SynopsisPairing decode(final SynopsisImage senderImage, final SynopsisImage receiverImage) {
        listed.clear();
        sender = senderImage;
        receiver = receiverImage;
        pairing = SynopsisPairing.check(SynopsisFamily.SRDA, sender, receiver);
        if (pairing == SynopsisPairing.PAIRED && receiver.cells() > capacity) {
            pairing = SynopsisPairing.TOO_LARGE;
        }
        if (pairing == SynopsisPairing.PAIRED) {
            subtract();
            peel();
        }
        return pairing;
    }

    /** {@return what {@link #decode} listed} */
    public List<Item> listed() {
        return List.copyOf(listed);
    }

    /** {@return whether every item of the difference is listed} */
    public boolean isComplete() {
        for (int cell = 0; cell < receiver.cells(); cell++) {
            if (!clean(cell)) {
                return false;
            }
        }
        return true;
    }

    /** {@return deviation from neighbouring cells, after a repair} */
    public CollapsedCells collapsed(final AggregateEstimate estimate) {
        return CollapsedCells.of(delays, false, estimate.meanNs());
    }

    /**
     * Removes the listed packets and estimates. Lost packets beyond the list are not counted.
     *
     * @param senderPackets   holds the packets of the sender.
     * @param receiverPackets holds the packets of the receiver.
     * @param result          is filled; empty if the last pair was refused.
     */
    public void repair(
        final ListedTimes senderPackets, final ListedTimes receiverPackets, final AggregateEstimate result) {
        result.reset();
        if (pairing != SynopsisPairing.PAIRED) {
            return;
        }
        delays.begin(1, receiver.cells());
        for (int cell = 0; cell < receiver.cells(); cell++) {
            delays.set(cell, receiver.timestampSumNs(cell) - sender.timestampSumNs(cell), receiver.count(cell));
            if (!clean(cell)) {
                delays.spoil(cell);
            }
        }
        boolean isComplete = isComplete();
        for (final Item item : listed) {
            isComplete &= takeOut(item, item.isLost() ? senderPackets : receiverPackets);
        }
        delays.estimate(bound, receiver.packets(), isComplete, result);
    }

    private void subtract() {
        for (int cell = 0; cell < receiver.cells(); cell++) {
            identifiers[cell] = sender.identifier(cell) ^ receiver.identifier(cell);
            identifierHashes[cell] = SimpleReconcilableDifferenceAggregator.identifierHash(sender, cell) ^
                SimpleReconcilableDifferenceAggregator.identifierHash(receiver, cell);
            counts[cell] = receiver.count(cell) - sender.count(cell);
        }
    }

    private void peel() {
        int found = 0;
        do {
            found = listed.size();
            for (int cell = 0; cell < receiver.cells(); cell++) {
                peelFrom(cell);
            }
        } while (listed.size() > found);
    }

    private void peelFrom(final int start) {
        int pureCount = 0;
        pureCells[pureCount++] = start;
        while (pureCount > 0) {
            final int cell = pureCells[--pureCount];
            if (pure(cell) && listed.size() < receiver.cells()) {
                final long identifier = identifiers[cell];
                final long sign = counts[cell];
                listed.add(new Item(identifier, sign < 0));
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
        return Math.abs(counts[cell]) == 1 &&
            KeyedMix.mix(identifiers[cell], hashSeed) == identifierHashes[cell];
    }

    private boolean clean(final int cell) {
        return counts[cell] == 0 && identifiers[cell] == 0 && identifierHashes[cell] == 0;
    }

    /** {@return whether the item's timestamp is known} */
    private boolean takeOut(final Item item, final ListedTimes source) {
        final int entry = source.find(item.identifier());
        final boolean known = entry != ListedTimes.NOT_FOUND && source.copies(entry) == 1;
        for (int choice = 0; choice < receiver.banks(); choice++) {
            final int cell = cell(choice, item.identifier());
            if (cell >= 0 && known) {
                final long timestampNs = source.timestampSumNs(entry);
                delays.change(cell, item.isLost() ? timestampNs : -timestampNs, item.isLost() ? 0 : 1);
            } else if (cell >= 0) {
                delays.spoil(cell);
            }
        }
        return known;
    }

    private int cell(final int choice, final long identifier) {
        return SimpleReconcilableDifferenceAggregator.cell(hashes, choice, identifier, receiver.cells());
    }
}
