package io.flowlag.tests.lab.comparator;

import io.flowlag.sketch.estimate.SampleBound;
import io.flowlag.sketch.reconcile.AggregateEstimate;
import io.flowlag.sketch.reconcile.BankHashes;
import io.flowlag.sketch.reconcile.CellDelays;
import io.flowlag.sketch.reconcile.SynopsisFamily;
import io.flowlag.sketch.reconcile.SynopsisImage;
import io.flowlag.sketch.reconcile.SynopsisPairing;

/**
 * Compares two FineComb (RDA paper, section III-C): a cell counts if counts and parity strings agree. {@link #repair} removes
 * reordered packets by trying which of the stash's packets make a cell agree, within a limit of combinations. {@link
 * #repairIdeally} is the variant that the RDA paper compares with: the caller supplies the reordered packets. A cell with a lost
 * packet stays lost.
 *
 * <p>One thread at a time: {@link #pair}, then any repair, then {@link #estimate}. Takes 17 octets a cell, and room for the
 * stash, at construction; allocates nothing later.
 */
public final class FineCombEstimator {
    private final SampleBound bound;
    private final int capacity;
    private final CellDelays delays;
    private final boolean[] agrees;
    private final BankHashes hashes;
    private final int[] candidates;
    private final int[] chosen;
    private SynopsisImage sender;
    private SynopsisImage receiver;
    private SynopsisPairing pairing = SynopsisPairing.FAMILY;
    private long combinations;
    private long combinationsLeft;
    private int repairedCells;
    private int abandonedCells;

    /**
     * An estimator.
     *
     * @param capacity      most cells.
     * @param stashCapacity most packets of a stash.
     * @param seed          that both measurement points share.
     * @param confidence    of the bound, between 0 and 1.
     */
    public FineCombEstimator(final int capacity, final int stashCapacity, final long seed, final double confidence) {
        bound = new SampleBound(confidence);
        this.capacity = capacity;
        delays = new CellDelays(capacity);
        agrees = new boolean[capacity];
        hashes = new BankHashes(1, seed);
        candidates = new int[stashCapacity];
        chosen = new int[stashCapacity];
    }

    /** Takes a pair. Returns {@link SynopsisPairing#PAIRED}, or why the pair is refused. */
    public SynopsisPairing pair(final SynopsisImage senderImage, final SynopsisImage receiverImage) {
        sender = senderImage;
        receiver = receiverImage;
        combinations = 0;
        repairedCells = 0;
        abandonedCells = 0;
        pairing = SynopsisPairing.check(SynopsisFamily.FINE_COMB, sender, receiver);
        if (pairing == SynopsisPairing.PAIRED && receiver.cells() > capacity) {
            pairing = SynopsisPairing.TOO_LARGE;
        }
        if (pairing == SynopsisPairing.PAIRED) {
            delays.begin(1, receiver.cells());
            for (int cell = 0; cell < receiver.cells(); cell++) {
                delays.set(cell, receiver.timestampSumNs(cell) - sender.timestampSumNs(cell), receiver.count(cell));
                agrees[cell] = gained(cell) == 0 && parity(cell) == 0;
            }
        }
        return pairing;
    }

    /**
     * Repairs cells damaged only by reordered packets, by brute force: for a cell that gained r packets, it tries every choice of
     * r of the stash's packets, C(s, r) of them.
     *
     * @param wholeStash        true tries all of the stash's packets for every cell, as the RDA paper describes; false only those
     *                          that hash to the cell, which suffices.
     * @param combinationsLimit most combinations for one cell; a cell with more stays damaged and is counted.
     */
    public void repair(final FineCombStash stash, final boolean wholeStash, final long combinationsLimit) {
        for (int cell = 0; cell < receiver.cells(); cell++) {
            final long gained = gained(cell);
            if (!agrees[cell] && gained > 0) {
                final int count = findCandidates(stash, wholeStash, cell);
                combinationsLeft = combinationsLimit;
                if (gained <= count && find(stash, count, 0, 0, (int)gained, parity(cell))) {
                    for (int i = 0; i < gained; i++) {
                        delays.change(cell, -stash.timestampNs(candidates[chosen[i]]), 1);
                    }
                    agrees[cell] = true;
                    repairedCells++;
                } else if (combinationsLeft < 0) {
                    abandonedCells++;
                }
            }
        }
    }

    /**
     * Repairs all cells without a lost packet, given the lost and reordered packets.
     *
     * @param lost      identifiers of packets that only the sender has.
     * @param reordered identifiers of packets that only the receiver has.
     */
    public void repairIdeally(final long[] lost, final long[] reordered, final long[] timestampsNs) {
        for (int cell = 0; cell < receiver.cells(); cell++) {
            repairedCells += agrees[cell] ? 0 : 1;
            agrees[cell] = true;
        }
        for (int i = 0; i < reordered.length; i++) {
            delays.change(cell(reordered[i]), -timestampsNs[i], 1);
        }
        for (final long identifier : lost) {
            final int cell = cell(identifier);
            repairedCells -= agrees[cell] ? 1 : 0;
            agrees[cell] = false;
        }
    }

    /**
     * Estimates from all cells that agree; neighbouring cells are collapsed, as in LDA.
     *
     * @param result is filled; empty if the last pair was refused.
     */
    public void estimate(final AggregateEstimate result) {
        result.reset();
        if (pairing != SynopsisPairing.PAIRED) {
            return;
        }
        boolean complete = true;
        for (int cell = 0; cell < receiver.cells(); cell++) {
            if (!agrees[cell]) {
                delays.spoil(cell);
                complete = false;
            }
        }
        delays.estimate(bound, receiver.packets(), complete, result);
    }

    /** {@return deviation from neighbouring cells, after an estimate} */
    public CollapsedCells collapsed(final AggregateEstimate estimate) {
        return CollapsedCells.of(delays, false, estimate.meanNs());
    }

    /** Combinations that brute force tried since the pair was taken. */
    public long combinations() {
        return combinations;
    }

    /** Cells that were repaired. */
    public int repairedCells() {
        return repairedCells;
    }

    /** Cells left damaged by the limit of combinations. */
    public int abandonedCells() {
        return abandonedCells;
    }

    private int findCandidates(final FineCombStash stash, final boolean wholeStash, final int cell) {
        int count = 0;
        for (int i = 0; i < Math.min(stash.size(), candidates.length); i++) {
            if (wholeStash || cell == cell(stash.identifier(i))) {
                candidates[count++] = i;
            }
        }
        return count;
    }

    /** Chooses {@code wanted - depth} more of the candidates from {@code from} on so that their parity is {@code parity}. */
    private boolean find(
        final FineCombStash stash,
        final int count,
        final int from,
        final int depth,
        final int wanted,
        final long parity) {
        if (depth == wanted) {
            combinations++;
            combinationsLeft--;
            return parity == 0;
        }
        for (int i = from; i <= count - (wanted - depth) && combinationsLeft >= 0; i++) {
            chosen[depth] = i;
            if (find(stash, count, i + 1, depth + 1, wanted, parity ^ stash.identifier(candidates[i]))) {
                return true;
            }
        }
        return false;
    }

    private long gained(final int cell) {
        return receiver.count(cell) - sender.count(cell);
    }

    private long parity(final int cell) {
        return receiver.identifier(cell) ^ sender.identifier(cell);
    }

    private int cell(final long identifier) {
        return BankHashes.cell(hashes.mixed(0, identifier), receiver.cells());
    }
}
